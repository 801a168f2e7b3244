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
from personas.store import Store
from tests.tui.program import ONE, TWO, Program, make_store, program
from tui.document import missing_file as gone
from tui.screens.main import screen as main
from tui.widgets.text import document_editor as text_editor


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


async def test_a_persona_that_is_read_slowly_does_not_take_the_place_of_one_opened_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, reads = threading.Event(), threading.Event()
    get = Store.get

    def slow(store: Store, persona_id: str) -> object:
        found = get(store, persona_id)
        if persona_id == "one":
            reads.set()
            go.wait(60)
        return found

    files = {"one": ONE, "two": TWO, "three": TWO.replace("two", "three")}
    async with program(make_store(tmp_path, files), persona_id="three") as p:
        editing = p.main.editing
        assert editing is not None
        with monkeypatch.context() as disk:
            disk.setattr(Store, "get", slow)
            opening = asyncio.ensure_future(editing.open("one"))
            await p.until(reads.is_set)
            assert await editing.open("two")
            go.set()
            assert not await opening
        await p.pilot.pause()
        assert (editing.id, p.prompt.raw) == ("two", "I am two.")


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


async def test_the_open_persona_opened_again_changes_nothing_of_what_is_being_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path)) as p:
        editing = p.main.editing
        assert editing is not None
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


async def test_a_save_that_fails_after_another_was_opened_takes_no_place_of_what_was_typed_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path)) as p:
        editing = p.main.editing
        assert editing is not None
        await p.press("f3")
        writes, reads, refused, go = (asyncio.Event() for _ in range(4))
        find = editing.giving.find

        async def slow_find(persona_id: str) -> object:
            reads.set()
            await go.wait()
            return await find(persona_id)

        async def refuse(*_: Any) -> None:
            writes.set()
            await refused.wait()
            raise StorageError("The disk is full; nothing was written.")

        with monkeypatch.context() as disk:
            disk.setattr(editing.giving, "find", slow_find)
            disk.setattr(editing.workspace, "save_prompt", refuse)
            opening = asyncio.ensure_future(editing.open("two"))
            await p.until(reads.is_set)
            await p.write("my ")
            saving = asyncio.ensure_future(editing.save())
            await p.until(writes.is_set)
            await p.write("own ")
            go.set()
            assert await opening
            refused.set()
            await saving
        kept = editing.unsaved.held("one")
        assert kept is not None
        assert kept.text.startswith("my own first")


class SlowDisk:
    """A disk on which a persona is opened, and a text stored, when it is told to go on."""

    def __init__(self) -> None:
        self.writes, self.reads, self.stored, self.found = (asyncio.Event() for _ in range(4))


@asynccontextmanager
async def slow_disk(
    p: Program, monkeypatch: pytest.MonkeyPatch, save: str, *, to: str
) -> AsyncIterator[SlowDisk]:
    """Open the persona `to`, which waits for the disk as the call `save` of the workspace does; then both go on."""
    editing = p.main.editing
    assert editing is not None
    slow, find, write = SlowDisk(), editing.giving.find, getattr(editing.workspace, save)

    async def find_slowly(persona_id: str) -> object:
        slow.reads.set()
        await slow.found.wait()
        return await find(persona_id)

    async def write_slowly(*arguments: Any) -> object:
        slow.writes.set()
        await slow.stored.wait()
        return await write(*arguments)

    with monkeypatch.context() as disk:
        disk.setattr(editing.giving, "find", find_slowly)
        disk.setattr(editing.workspace, save, write_slowly)
        opening = asyncio.ensure_future(editing.open(to))
        await p.until(slow.reads.is_set)
        yield slow
        slow.found.set()
        assert await opening
        slow.stored.set()


async def test_what_was_typed_on_while_a_save_was_under_way_grew_from_that_where_another_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path)) as p:
        editing = p.main.editing
        assert editing is not None
        await p.press("f3")
        async with slow_disk(p, monkeypatch, "save_prompt", to="two") as disk:
            await p.write("my ")
            saving = asyncio.ensure_future(editing.save())
            await p.until(disk.writes.is_set)
            await p.write("own ")
        await saving
        await p.open("one")
        await p.until(lambda: p.on_disk("one").startswith("my own first line") and p.state == "saved")


async def test_what_was_typed_on_in_a_field_while_it_was_being_stored_meets_nothing_where_it_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path)) as p:
        editing = p.main.editing
        assert editing is not None
        field = p.main.settings.field("description")
        field.focus()
        await p.until(lambda: field.has_focus)
        async with slow_disk(p, monkeypatch, "change", to="two") as disk:
            await p.write("my")
            saving = asyncio.ensure_future(editing.fields.save("description"))
            await p.until(disk.writes.is_set)
            await p.write("own")
        await saving
        await p.open("one")
        await p.until(lambda: p.store.get("one").description == "myown")
        assert p.messages == []


async def test_what_was_typed_on_in_a_test_input_while_it_was_being_saved_comes_back_into_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path), persona_id="two") as p:
        editing, editor = p.main.editing, p.main.tests.editor
        assert editing is not None
        editor.focus()
        await p.until(lambda: editor.has_focus)
        async with slow_disk(p, monkeypatch, "save_test_input", to="one") as disk:
            await p.write("my ")
            editing.inputs.save_soon("sum")
            await p.until(disk.writes.is_set)
            await p.write("own ")
        await p.until(lambda: not editing.inputs.queue)
        assert [each.content for each in p.store.get("two").test_inputs] == ["my What is 2+2?"]
        await p.open("two")
        await p.until(lambda: not editing.unsaved.all_held("two"))
        assert [each.content for each in p.store.get("two").test_inputs] == ["my own What is 2+2?"]
