"""What a thread says of one persona is never taken for another that was opened meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from personas.errors import StorageError
from tests.support.drafts import unsaved
from tests.support.program import ONE, TWO, Program, make_store, program
from tui.document import debounce

FILES = {"one": ONE, "two": TWO, "three": ONE.replace("One", "Three")}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debounce, "PAUSE", 60)


async def test_what_waits_for_the_disk_does_nothing_to_the_persona_opened_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path, FILES), persona_id="three") as p:
        editing = p.main.documents
        assert editing is not None
        disk = p.store.hold("get", about="one", late=True)
        opening = asyncio.ensure_future(editing.open("one"))
        await p.until(disk.waits.is_set)
        assert await editing.open("two")
        disk.goes_on.set()
        assert not await opening
        await p.pilot.pause()
        assert (editing.id, p.prompt.raw) == ("two", "I am two.")

        await p.open("one")  # a step of undo that waits for the disk
        p.prompt.focus()
        await p.write("my ")
        await editing.flush()
        disk = p.store.hold("undo")
        step = asyncio.ensure_future(editing.undo.step("undo"))
        await p.until(disk.waits.is_set)
        await p.open("two")
        disk.goes_on.set()
        await step
        assert p.prompt.raw == p.on_disk("two") == "I am two."
        assert p.on_disk("one").startswith("first line")

        await p.open("one")  # opened again, while something is typed into it
        p.app.clear_notifications()
        reads, go = asyncio.Event(), asyncio.Event()
        get = editing.workspace.get

        async def slow(persona_id: str) -> object:
            found = await get(persona_id)
            reads.set()
            await go.wait()
            return found

        await p.press("f3")
        await p.write("my ")
        with monkeypatch.context() as disk:
            disk.setattr(editing.workspace, "get", slow)
            opening = asyncio.ensure_future(editing.open("one"))
            await p.until(reads.is_set)
            await p.write("own ")
            go.set()
            assert await opening
        assert p.prompt.raw.startswith("my own first line")
        assert p.prompt.cursor_location == (0, len("my own "))
        await p.write("and ")
        await editing.flush()
        await editing.look()
        assert p.on_disk("one").startswith("my own and first line")
        assert p.state == "saved"
        assert p.messages == []


class SlowDisk:
    """A disk on which a persona is read, and a text stored, when it is told to go on."""

    def __init__(self) -> None:
        self.writes, self.reads, self.stored, self.found = (threading.Event() for _ in range(4))


@asynccontextmanager
async def slow_disk(
    p: Program, monkeypatch: pytest.MonkeyPatch, *, to: str, error: Exception | None = None
) -> AsyncIterator[SlowDisk]:
    """Do something while a save waits for the disk, and open the persona `to`; then the save goes on, maybe to an error."""
    editing = p.main.documents
    assert editing is not None
    slow, read, save = SlowDisk(), editing._read, editing.workspace.save_text

    def read_slowly(persona_id: str) -> object:
        slow.reads.set()
        slow.found.wait(60)
        return read(persona_id)

    def save_slowly(*arguments: Any) -> object:
        slow.writes.set()
        slow.stored.wait(60)
        if error is not None:
            raise error
        return save(*arguments)

    with monkeypatch.context() as disk:
        disk.setattr(editing, "_read", read_slowly)
        disk.setattr(editing.workspace, "save_text", save_slowly)
        yield slow
        opening = asyncio.ensure_future(editing.open(to))
        await p.until(slow.reads.is_set)
        slow.found.set()
        assert await opening
        slow.stored.set()
        await editing.saver.queue.settled()


async def test_what_was_typed_on_during_a_save_grew_from_that_where_another_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = StorageError("The disk is full; nothing was written.")
    async with program(make_store(tmp_path, FILES), persona_id="one") as p:
        editing = p.main.documents
        assert editing is not None
        await p.press("f3")
        async with slow_disk(p, monkeypatch, to="two") as disk:
            await p.write("my ")
            editing.saver.save_now(p.prompt.slot)
            await p.until(disk.writes.is_set)
            await p.write("own ")
        await p.open("one")
        await p.until(lambda: p.on_disk("one").startswith("my own first line") and p.state == "saved")

        field = p.main.settings.field("description")
        field.focus()
        await p.until(lambda: field.has_focus)
        async with slow_disk(p, monkeypatch, to="two") as disk:
            await p.write("my")
            editing.saver.save_now(p.main.settings.slot("description"))
            await p.until(disk.writes.is_set)
            await p.write("own")
        await p.open("one")
        await p.until(lambda: p.store.get("one").description == "myown")
        assert p.messages == []

        await p.open("two")  # in a test input
        editor = p.main.tests.editor
        editor.focus()
        await p.until(lambda: editor.has_focus)
        async with slow_disk(p, monkeypatch, to="one") as disk:
            await p.write("my ")
            editing.saver.save_now(editor.slot)
            await p.until(disk.writes.is_set)
            await p.write("own ")
        await p.open("two")
        await p.until(lambda: not editing.not_saved())
        assert [each.content for each in p.store.get("two").test_inputs] == ["my own What is 2+2?"]

        await p.open("three")  # a save that fails takes no place of what was typed since
        await p.press("f3")
        async with slow_disk(p, monkeypatch, to="two", error=refused) as disk:
            await p.write("my ")
            editing.saver.save_now(p.prompt.slot)
            await p.until(disk.writes.is_set)
            await p.write("own ")
        assert unsaved(p.store.home, "three")["prompt"][1].startswith("my own first")
