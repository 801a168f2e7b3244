"""The looks for changes from outside, a second apart."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.program import make_store, program


async def test_a_look_is_left_out_while_the_one_before_waits_for_a_disk_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path)) as p:
        assert p.main.documents is not None
        begun, disk = 0, asyncio.Event()

        async def hang() -> bool:
            nonlocal begun
            begun += 1
            await disk.wait()
            return False

        monkeypatch.setattr(p.main.documents, "look", lambda: hang())
        monkeypatch.setattr(p.main, "remember", lambda: hang())
        monkeypatch.setattr(p.main.conversation.history, "catch_up", lambda: hang())
        for _ in range(4):
            p.main._look()
            await p.pilot.pause()
        assert begun == 3
        disk.set()
        await p.pilot.pause()
        p.main._look()
        await p.until(lambda: begun >= 6)
