"""Writes of one program take turns."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from personas.files.home import open_home
from personas.store import Store
from tui.document.async_store import AsyncStore


async def test_a_write_keeps_its_turn_to_its_end_although_its_caller_is_cancelled(tmp_path: Path) -> None:
    workspace = AsyncStore(Store(open_home(tmp_path / "home", {"PERSONA_CONFIG": str(tmp_path / "c.toml")})))
    begun, may_end = threading.Event(), threading.Event()
    order: list[str] = []

    def first() -> None:
        begun.set()
        may_end.wait(20)
        order.append("first")

    caller = asyncio.create_task(workspace.write(first))
    await asyncio.to_thread(begun.wait, 20)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    second = asyncio.create_task(workspace.write(order.append, "second"))
    await asyncio.sleep(0)
    assert workspace.writing and order == []
    may_end.set()
    await second
    assert order == ["first", "second"]


async def test_a_write_that_fails_gives_its_turn_to_the_next(tmp_path: Path) -> None:
    workspace = AsyncStore(Store(open_home(tmp_path / "home", {"PERSONA_CONFIG": str(tmp_path / "c.toml")})))

    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await workspace.write(fail)
    assert await workspace.write(str, 5) == "5"


async def test_what_is_stored_counts_as_being_written_until_who_wrote_it_has_taken_it_in(
    tmp_path: Path,
) -> None:
    workspace = AsyncStore(Store(open_home(tmp_path / "home", {"PERSONA_CONFIG": str(tmp_path / "c.toml")})))
    taken_in = False

    async def watch() -> None:
        await asyncio.sleep(0)
        while not taken_in:
            assert workspace.writing
            await asyncio.sleep(0)

    async def write() -> None:
        nonlocal taken_in
        await workspace.write(str, 5)
        taken_in = True

    await asyncio.gather(write(), watch())
    await workspace.settled()
    assert not workspace.writing
