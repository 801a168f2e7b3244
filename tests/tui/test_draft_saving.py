"""A draft that the disk refuses is said, once; what it refuses at the end is written elsewhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from personas.errors import StorageError
from tests.support.drafts import leave_chat, recall
from tests.support.program import make_store, program
from tests.tui.test_opening import begun, slow
from tui.app import ui_state
from tui.drafts.draft import OutboxMessage
from tui.drafts.store import DraftStore
from tui.drafts.unsaved_text import UnsavedText
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.text_prompt import AskText


async def test_a_draft_that_cannot_be_stored_is_said_once_and_stored_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = DraftStore.save

    def full(*_: object, **__: object) -> None:
        raise StorageError("No space left on device.")

    store = make_store(tmp_path)
    async with program(store) as p:
        monkeypatch.setattr(DraftStore, "save", full)
        p.main.chat_bar.set_draft("a draft")
        told = "Could not save your draft to disk: No space left on device."
        await p.main.remember()
        await p.until(lambda: told in p.messages)
        p.app.clear_notifications()
        await p.main.remember()
        await p.pilot.pause()
        assert told not in p.messages
        monkeypatch.setattr(DraftStore, "save", room)
        await p.main.remember()
        assert recall(store.home).drafts == {"one": "a draft"}


async def test_a_home_that_takes_nothing_loses_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ui_state, "replace_file", full)
    store = make_store(tmp_path)
    async with program(store) as p:
        p.main.chat_bar.set_draft("a draft")
        await p.app.shutdown.leave(0)
        assert p.app.shutdown.last_words == "" and p.messages == []
    async with program(store) as p:
        assert p.main.chat_bar.draft == "a draft"


async def test_every_text_that_a_vanished_home_cannot_take_at_the_end_is_written_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    store = make_store(tmp_path)
    async with program(store, persona_id="two", size=(120, 40)) as p:
        p.main.chat_bar.set_draft("a draft")
        await p.main.remember()
        p.main.action_go("tests")
        p.main.tests.editor.focus()
        shutil.rmtree(store.home.root)
        await p.write("Please: ")
        p.main.prompt.focus()
        await p.write("Mind: ")
        p.main.settings.query_one("#setting-name").focus()
        await p.press("end")
        await p.write("fold")
        p.main.start(p.main.persona_commands.on_test_input("new", None))
        dialog = await p.dialog(AskText)
        await p.write("begun")
        await p.until(lambda: dialog._answer.raw == "begun")
        await p.app.shutdown.leave(143)
    (file,) = (tmp_path / "state" / "persona-editor").glob("unsaved-*")
    assert set(file.read_text().split("--- ")) == {
        "",
        "two, the system prompt ---\nMind: I am two.\n\n",
        "two, the test input sum ---\nPlease: What is 2+2?\n\n",
        "two, the field name ---\nTwofold\n\n",
        "two, the draft ---\na draft\n\n",
        "begun in a dialog ---\nbegun\n",
    }
    assert p.app.shutdown.last_words == f"unsaved text is in {file}"
    assert not store.home.root.exists()


async def test_what_is_typed_before_the_stored_draft_is_known_stands_below_it(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    leave_chat(store.home, {"one": "from before"})
    with slow(store) as (open_slowly, go):
        async with program(store, open_store=open_slowly, ready=False) as p:
            await begun(p)
            p.main.chat_bar.set_draft("typed ahead")
            go.set()
            await p.until(lambda: p.main.conversation.current is not None)
            assert p.main.chat_bar.draft == "from before\ntyped ahead"
            await p.main.remember()
            assert recall(store.home).drafts == {"one": "from before\ntyped ahead"}


async def test_the_draft_that_waits_behind_a_recalled_message_is_the_one_that_is_kept(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        await p.run_to_end("list the test inputs")
        p.main.chat_bar.set_draft("a draft")
        await p.press("up")
        assert p.main.chat_bar.draft == "list the test inputs"
        await p.open("two")
        assert p.main.chat_bar.draft == ""
        await p.open("one")
        assert p.main.chat_bar.draft == "a draft"
        await p.press("up")
        await p.main.remember()
        assert recall(store.home).drafts == {"one": "a draft"}


async def test_the_draft_of_a_deleted_persona_is_not_the_next_ones_and_comes_back_with_it(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    leave_chat(store.home, {"one": "for one", "two": "for two"})
    async with program(store) as p:
        await p.until(lambda: p.main.chat_bar.draft == "for one")
        p.main.chat_bar.set_draft("for one alone")
        p.main.start(p.main.persona_commands.on_persona("delete", "one"))
        await p.dialog(Confirm)
        await p.press("y")
        await p.until(lambda: p.main.conversation.shown_id == "two")
        await p.until(lambda: p.main.chat_bar.draft == "for two")
        await p.main.remember()
        drafts = {"one": "for one alone", "two": "for two"}
        assert recall(store.home).drafts == drafts
        p.main.chat_bar.input.undo()
        assert p.main.chat_bar.draft == "for two"
        p.main.start(p.main.persona_commands.on_persona("restore", None))
        await p.dialog(Picker)
        await p.press("enter")
        await p.until(lambda: p.main.chat_bar.draft == "for one alone")
        await p.main.remember()
        assert recall(store.home).drafts == drafts


def test_what_was_stored_is_stored_again_where_the_database_is_deleted_meanwhile(tmp_path: Path) -> None:
    home, folder = make_store(tmp_path).home, tmp_path / "drafts"
    unsaved = UnsavedText(home, DraftStore(home.root, folder), dict)
    unsaved.note_dialog("one", "name", "begun")
    unsaved.note_chat({("one", "chat"): ("", "dra")}, [OutboxMessage("one", "turn-1", "sent")])
    assert unsaved.write() == ""
    shutil.rmtree(folder)
    unsaved.note_chat({("one", "chat"): ("", "draft")}, [OutboxMessage("one", "turn-1", "sent")])
    assert unsaved.write() == ""
    unsaved.store.close()
    following = DraftStore(home.root, folder)
    assert {draft.text for draft in following.orphans()} == {"begun", "draft"}
    assert [message.text for message in following.unsent()] == ["sent"]
    following.close()


async def test_a_folder_for_drafts_that_cannot_be_used_keeps_no_persona_from_being_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    store = make_store(tmp_path)
    async with program(store, persona_id="two", ready=False) as p:
        await p.notified("The drafts cannot be stored")
        await p.until(lambda: p.main.conversation.current is not None)
        assert p.state == "saved"
