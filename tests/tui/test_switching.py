"""What a thread says of one persona is never taken for another that was opened meanwhile."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from personas.errors import StorageError
from personas.store import Store
from tests.tui.program import ONE, TWO, make_store, program
from tui import gone
from tui.screens import main
from tui.widgets import text_editor


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_editor, "PAUSE", 60)
    monkeypatch.setattr(main, "LOOK_EVERY", 0.12)


async def test_a_file_that_is_read_slowly_is_not_taken_for_that_of_the_persona_opened_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, read = threading.Event(), threading.Event()
    text = Store.text

    def slow(store: Store, persona_id: str) -> str:
        found = text(store, persona_id)
        if persona_id == "one":
            go.wait(60)
            read.set()
        return found

    time = [100.0]
    monkeypatch.setattr(gone, "clock", lambda: time[0])
    async with program(make_store(tmp_path), persona_id="two") as p:
        editing = p.main.editing
        assert editing is not None
        monkeypatch.setattr(Store, "text", slow)
        await p.open("one")
        await p.open("two")
        await p.until(lambda: editing.file_text == TWO)
        go.set()
        await p.until(read.is_set)
        assert editing.file_text == TWO
        p.prompt.focus()
        await p.write("my ")
        p.file("two").unlink()
        await p.until(lambda: editing._absence.noted)
        time[0] += 3
        await p.until(lambda: p.state == "gone")
        await editing.write_back()
        assert p.file("two").read_text() == TWO.replace("I am", "my I am")


async def test_a_step_of_undo_that_waits_for_the_disk_does_nothing_to_the_persona_opened_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise StorageError("The disk is full; nothing was written.")

    typed = ONE.replace("first", "my first")
    async with program(make_store(tmp_path, {"one": ONE, "two": typed.replace("One", "Two")})) as p:
        editing = p.main.editing
        assert editing is not None
        waits, go = asyncio.Event(), asyncio.Event()

        async def keep(*_: Any) -> None:
            waits.set()
            await go.wait()

        with monkeypatch.context() as disk:
            disk.setattr(Store, "change", refuse)
            disk.setattr(editing.workspace, "keep_version", keep)
            p.prompt.focus()
            await p.write("my ")
            step = asyncio.ensure_future(editing.walk("undo", editor=p.prompt))
            await p.until(waits.is_set)
            await p.open("two")
        go.set()
        await step
        assert p.prompt.raw == p.on_disk("two") == "my first line\nsecond line\nthird line\n"
        await p.open("one")
        await p.until(lambda: p.on_disk("one").startswith("my first"))
