"""Kept text can be discarded and brought back; it goes with a deleted persona and comes back with it."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from personas.files.home import Home
from personas.versions.authorship import USER
from tests.support.drafts import leave_behind, recall, unsaved
from tests.support.program import Program, make_store, program
from tui.document import debounce, document
from tui.drafts.draft import PROMPT
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.picker import Picker

pytestmark = pytest.mark.usefixtures("quick_typing")


def left(home: Home, persona_id: str = "one") -> dict[str, tuple[str, str]]:
    """What would be found on the disk if every program ended now: what each text grew from, and the text."""
    return unsaved(home, persona_id)


async def reach_conflict(p: Program) -> None:
    with pytest.MonkeyPatch.context() as slow:
        slow.setattr(debounce, "PAUSE", 60)
        await p.press("f3")
        await p.write("my ")
        p.file("one").write_text(p.file("one").read_text().replace("first", "their"))
        await p.until(lambda: p.state == "conflict" and left(p.store.home))


async def discard(p: Program) -> None:
    p.main.action_discard_unsaved()
    await p.dialog(Confirm)
    await p.press("y")
    await p.notified("Discarded. Up in the chat bar brings it back.")


async def up(p: Program) -> str:
    """What Up brings back in the chat bar."""
    p.main.chat_bar.set_draft("")
    p.main.chat_bar.input.focus()
    await p.until(lambda: p.main.chat_bar.input.has_focus)
    await p.press("up")
    await p.until(lambda: p.main.chat_bar.draft)
    return p.main.chat_bar.draft


async def test_what_is_not_saved_is_discarded_after_a_question_and_brought_back_by_up_after_a_restart_too(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    mine = "my first line\nsecond line\nthird line\n"
    async with program(store) as p:
        await reach_conflict(p)
        p.main.action_discard_unsaved()
        dialog = await p.dialog(Confirm)
        assert "the system prompt" in dialog._explanation and "Up in the chat bar" in dialog._explanation
        await p.press("n")
        await p.until(lambda: p.app.screen is p.main)
        assert p.state == "conflict"
        await discard(p)
        assert p.state == "saved"
        assert p.prompt.raw == p.on_disk("one") == "their line\nsecond line\nthird line\n"
        assert not left(store.home) and recall(store.home).stashed == {"one": [mine]}
        assert p.main.documents.not_saved() == []
        assert await up(p) == mine
        p.main.chat_bar.set_draft("")
        await p.press("f3")
        await p.write("so ")
        p.main.action_discard_unsaved()
        await p.notified("There is no unsaved text")
        assert p.on_disk("one").startswith("so their")
    async with program(store) as p:
        assert p.state == "saved" and await up(p) == mine


async def test_text_of_a_persona_whose_file_is_gone_is_brought_back_where_the_person_is_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "GONE_AFTER", 0.05)
    store = make_store(tmp_path)
    async with program(store) as p:
        content = p.file("one").read_text()
        with pytest.MonkeyPatch.context() as slow:
            slow.setattr(debounce, "PAUSE", 60)
            await p.press("f3")
            await p.write("my ")
            p.file("one").unlink()
            await p.until(lambda: p.state == "gone")
        await discard(p)
        await p.until(lambda: p.main.documents.id == "two")
        assert await p.main.documents.recovery.without_file() == []
        assert (await up(p)).startswith("my first line")
        p.file("one").write_text(content)  # it is an ordinary persona again
        await p.open("one")
        assert p.state == "saved"
        assert p.prompt.raw.startswith("first line")
        await p.press("f3")
        await p.write("new ")
        await p.until(lambda: p.on_disk("one").startswith("new first line"))


async def test_a_save_under_way_does_not_keep_again_what_is_discarded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "GONE_AFTER", 0.05)
    store, go = make_store(tmp_path), threading.Event()
    async with program(store) as p:
        editing = p.main.documents
        save, settled = editing.workspace.save_text, editing.workspace.settled

        def save_slowly(*given: Any) -> Any:
            go.wait(60)
            return save(*given)

        async def let_go_and_settle() -> None:
            go.set()
            await settled()

        with pytest.MonkeyPatch.context() as slow:
            slow.setattr(debounce, "PAUSE", 60)
            await p.press("f3")
            await p.write("my ")
            p.file("one").unlink()
            await p.until(lambda: p.state == "gone")
        p.main.action_discard_unsaved()
        await p.dialog(Confirm)
        await editing.workspace.settled()
        monkeypatch.setattr(editing.workspace, "save_text", save_slowly)
        monkeypatch.setattr(editing.workspace, "settled", let_go_and_settle)
        saving = asyncio.ensure_future(editing.flush())
        await p.press("y")
        await p.until(lambda: go.is_set() or editing.id == "two")
        go.set()
        await saving
        await p.until(lambda: editing.id == "two")
        assert editing.not_saved() == []


async def test_a_deleted_persona_takes_its_unsaved_text_along_and_brings_it_back(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        await reach_conflict(p)
        p.main.action_go("personas")
        await p.press("x")
        await p.dialog(Confirm)
        await p.press("y")
        await p.until(lambda: p.main.documents.id == "two")
        assert p.main.documents.not_saved() == []
        assert await p.main.documents.recovery.without_file() == []
        p.main.action_go("personas")
        await p.press("u")
        await p.dialog(Picker)
        await p.press("enter")
        await p.until(lambda: p.main.documents.id == "one" and p.state == "conflict")
        assert p.prompt.raw.startswith("my first line")
        assert p.on_disk("one").startswith("their line")


async def test_what_is_typed_in_the_moment_before_a_deletion_is_in_the_version_that_keeps_it(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        with pytest.MonkeyPatch.context() as slow:
            slow.setattr(debounce, "PAUSE", 60)
            p.main.action_go("personas")
            p.prompt.insert("my ", (0, 0))
            await p.press("x")
            await p.dialog(Confirm)
            await p.press("y")
            await p.until(lambda: p.main.documents.id == "two")
    restored = store.restore("one", store.log("one")[0].number, by=USER)
    assert restored.system_prompt.startswith("my first line")


async def test_text_of_a_persona_deleted_by_a_command_is_not_offered_and_comes_back_with_it(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        await reach_conflict(p)
        await p.main.remember()
    version = store.delete("one", by=USER)
    async with program(store) as p:
        assert p.main.documents.id == "two"
        p.main.action_write_back()
        await p.notified("No missing file has unsaved text")
    store.restore("one", version, by=USER)
    async with program(store, persona_id="one") as p:
        await p.until(lambda: p.state == "conflict")
        assert p.prompt.raw.startswith("my first line")


async def test_a_new_persona_with_the_same_name_gets_none_of_it(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    leave_behind(store.home, PROMPT, "first line", "mine")
    store.path("one").unlink()
    async with program(store) as p:
        p.main.action_new_persona()
        await p.answer("One")
        await p.until(lambda: len(store.ids()) == 2)
        (made,) = set(store.ids()) - {"two"}
        assert made != "one"
        await p.until(lambda: p.main.documents.id == made)
        assert p.prompt.raw == ""
        assert left(store.home) == {PROMPT: ("first line", "mine")}
