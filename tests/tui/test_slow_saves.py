"""A disk that is slower than the person pauses: no save takes what the one before stores for another's deed."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from personas.changes import DeleteTestInput
from personas.store import Store
from tests.tui.program import make_store, program
from tests.tui.test_typing_meets_agent import TWO_INPUTS, agent, contents
from tui.widgets import text_editor


class SlowDisk:
    """Lets each change wait until it is told to go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.waits, self.goes_on = threading.Event(), threading.Event()
        change = Store.change

        def slowly(store: Store, *arguments: object, **named: object) -> object:
            self.waits.set()
            self.goes_on.wait(60)
            return change(store, *arguments, **named)  # type: ignore[arg-type]

        monkeypatch.setattr(Store, "change", slowly)
        monkeypatch.setattr(text_editor, "PAUSE", 0.02)


@pytest.mark.parametrize("where", ["prompt", "test input"])
async def test_what_is_typed_while_the_last_save_is_under_way_is_no_conflict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    async with program(make_store(tmp_path, {"one": TWO_INPUTS})) as p:
        editor = p.prompt if where == "prompt" else p.main.tests.editor
        editor.focus()
        await p.until(lambda: editor.has_focus)
        disk = SlowDisk(monkeypatch)
        for letter in "abc":
            await p.write(letter)
            await p.until(disk.waits.is_set, 20)
            await p.pilot.pause()
            await p.pilot.pause()
        disk.goes_on.set()
        await p.until(lambda: not editor.unsaved and p.state == "saved")
        assert editor.clash is None and p.messages == []
        stored = p.on_disk("one") if where == "prompt" else contents(p)["a"]
        assert stored == editor.raw and stored.startswith("abc")


async def test_what_is_typed_on_in_a_deleted_test_input_becomes_one_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path, {"one": TWO_INPUTS})) as p:
        editor = p.main.tests.editor
        editor.focus()
        await p.until(lambda: editor.has_focus)
        agent(p, DeleteTestInput("a"))
        await p.told("deleted the test input a while you were in it")
        disk = SlowDisk(monkeypatch)
        for letter in "abc":
            await p.write(letter)
            await p.until(disk.waits.is_set, 20)
            await p.pilot.pause()
            await p.pilot.pause()
        disk.goes_on.set()
        await p.until(lambda: "abcca" in contents(p).values() and not editor.unsaved)
        assert sorted(contents(p).values()) == ["abcca", "cb"]
