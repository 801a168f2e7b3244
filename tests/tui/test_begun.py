"""Dialogs that wait for a slow disk: none lies over another."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.tui.program import make_store, program
from tui.document.async_store import Workspace
from tui.screens.dialogs.confirm import Confirm


async def test_each_deed_that_waits_for_the_disk_before_it_asks_waits_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, get, waiting = asyncio.Event(), Workspace.get, asyncio.Event()

    async def slow(workspace: Workspace, persona_id: str) -> object:
        waiting.set()
        await disk.wait()
        return await get(workspace, persona_id)

    async with program(make_store(tmp_path), persona_id="two") as p:
        assert p.main.deeds is not None
        monkeypatch.setattr(Workspace, "get", slow)
        p.main.start(p.main.deeds.on_persona("delete", "one"))
        await p.until(waiting.is_set)
        for begin in (
            lambda: p.main.start(p.main.deeds.on_persona("delete", "one")),  # type: ignore[union-attr]
            lambda: p.main.start(p.main.deeds.on_persona("rename", "two")),  # type: ignore[union-attr]
            p.main.action_compare,
            p.main.action_write_back,
            p.main.action_throw_away,
            p.main.action_clear_conversation,
        ):
            p.app.clear_notifications()
            begin()
            await p.told("still waits for the disk")
        disk.set()
        await p.dialog(Confirm)
        assert len(p.app.screen_stack) == 2
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        assert p.store.ids() == ["one", "two"]
