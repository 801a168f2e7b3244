"""Texts begun in a dialog, and dialogs that wait for a slow disk: none lies over another; the newest text counts."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from personas.files.home import Home, open_home
from tests.tui.program import make_store, program
from tui.document.async_store import Workspace
from tui.drafts import dialog_drafts as begun
from tui.drafts.dialog_drafts import Begun
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.text_prompt import AskText

KEY = "test input of two"


async def test_what_is_written_while_the_disk_is_read_is_what_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = Begun(open_home(tmp_path / "home", env={}))
    texts.note(KEY, "old")
    assert await texts.write_down()
    was_read, may_go_on, read = threading.Event(), threading.Event(), begun.unfinished

    def slow(home: Home, key: str) -> str:
        text = read(home, key)
        was_read.set()
        assert may_go_on.wait(20)
        return text

    monkeypatch.setattr(begun, "unfinished", slow)
    asked = asyncio.create_task(texts.text(KEY))
    assert await asyncio.to_thread(was_read.wait, 20)
    texts.note(KEY, "old and what was typed since")
    assert await texts.write_down()
    may_go_on.set()
    assert await asked == "old and what was typed since"


async def test_a_second_n_on_a_slow_disk_opens_no_second_dialog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_read, may_go_on, read = threading.Event(), threading.Event(), begun.unfinished

    def slow(home: Home, key: str) -> str:
        is_read.set()
        assert may_go_on.wait(20)
        return read(home, key)

    monkeypatch.setattr(begun, "unfinished", slow)
    async with program(make_store(tmp_path), persona_id="two") as p:
        assert p.main.deeds is not None
        p.main.start(p.main.deeds.on_test_input("new", None))
        await p.until(is_read.is_set)
        p.main.start(p.main.deeds.on_test_input("new", None))
        await p.told("still waits for the disk")
        may_go_on.set()
        await p.dialog(AskText)
        await p.write("hello")
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        assert not p.store.get("two").test_inputs[1:]
        p.main.start(p.main.deeds.on_test_input("new", None))  # the one before has its answer
        dialog = await p.dialog(AskText)
        await p.until(lambda: dialog._answer.raw == "hello")
        assert len(p.app.screen_stack) == 2


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
