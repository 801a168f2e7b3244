"""The file of a message that is written in the person's editor: what comes back of it, and what is left alone."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personas.errors import PersonaError
from personas.files.home import Home, open_home
from personas.files.lock import hold
from tests.support.program import ScriptedModel, make_store, program
from tui.app.emergency_save import write_fault
from tui.drafts import message_file as editor_drafts
from tui.drafts.message_file import BACK, DraftFile, hand_out, merged, take_back
from tui.external_editor.process import ExternalEditor, editor_command
from tui.screens import editor_launcher as external

IDS = ["optimist"]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return open_home(tmp_path / "home", {"PERSONA_CONFIG": str(tmp_path / "config.toml")})


def leave(home: Home, before: str, written: str | None = None, persona_id: str = "optimist") -> DraftFile:
    """Hand a draft out, let an editor write, and let the program end: its lock is free then."""
    draft = hand_out(home, persona_id, before)
    if written is not None:
        draft.path.write_text(written)
    assert draft.lock is not None
    os.close(draft.lock)
    return draft


def back(home: Home, **drafts: str) -> tuple[dict[str, str], list[str]]:
    """Start anew with these drafts: return which there are then, and what is said."""
    return take(home, drafts, lambda _: True)


def take(
    home: Home, drafts: dict[str, str], store: Callable[[dict[str, str]], bool]
) -> tuple[dict[str, str], list[str]]:
    found = dict(drafts)

    def keep(texts: Mapping[str, str]) -> bool:
        found.update(texts)
        return store(found)

    said = take_back(home, drafts, lambda: IDS, keep)
    return found, said


def test_what_is_no_file_any_more_is_not_waited_for(home: Home) -> None:
    draft = hand_out(home, "optimist", "before")
    draft.path.unlink()
    os.mkfifo(draft.path)
    with pytest.raises(OSError, match="not a regular file"):
        draft.read()
    draft.remove()


def test_a_fault_log_that_is_a_pipe_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platformdirs.user_state_path", lambda *_, **__: tmp_path)
    os.mkfifo(tmp_path / "fault.log")
    path = write_fault("what happened")
    assert path is not None and path.parent != tmp_path and path.read_text() == "what happened"
    path.unlink()
    path.parent.rmdir()


def test_what_was_written_takes_the_place_of_the_draft_and_its_file_goes(home: Home) -> None:
    draft = leave(home, "before", "after\n")
    assert back(home, optimist="before") == ({"optimist": "after"}, [BACK])
    assert not draft.folder.exists()
    assert draft.lock_path is not None and not draft.lock_path.exists()


@pytest.mark.parametrize("before", ["", "before", "before\n", "half \ud800 of one"])
def test_a_file_in_which_nothing_was_written_goes_without_a_word(home: Home, before: str) -> None:
    draft = leave(home, before)
    assert back(home, optimist=before) == ({"optimist": before}, [])
    assert not draft.folder.exists()


def test_a_file_that_is_being_written_is_left_to_whoever_does(home: Home) -> None:
    draft = hand_out(home, "optimist", "before")
    draft.path.write_text("after")
    assert back(home, optimist="before") == ({"optimist": "before"}, [])
    assert draft.path.read_text() == "after"
    draft.remove()


def test_what_lies_beside_the_message_stays_and_is_named_at_each_start(home: Home) -> None:
    draft = leave(home, "before", "after")
    (draft.folder / ".message.md.swp").write_text("more")
    drafts, said = back(home, optimist="before")
    assert drafts == {"optimist": "after"}
    assert said[0] == BACK and str(draft.folder) in said[1]
    drafts, said = back(home, optimist="after, and on")
    assert drafts == {"optimist": "after, and on"}
    assert len(said) == 1 and str(draft.folder) in said[0]
    (draft.folder / ".message.md.swp").unlink()
    assert back(home) == ({}, [])
    assert not draft.folder.exists()


def test_a_backup_and_a_sign_of_who_edits_are_nothing_to_keep(home: Home) -> None:
    draft = leave(home, "before")
    (draft.folder / "message.md~").write_text("before")
    (draft.folder / ".#message.md").symlink_to("me@here.1234")
    assert back(home) == ({}, [])
    assert not draft.folder.exists()


def test_a_message_for_a_persona_that_is_gone_is_kept_and_named(home: Home) -> None:
    draft = leave(home, "before", "after", persona_id="gone")
    drafts, said = back(home)
    assert drafts == {} and str(draft.path) in said[0]
    assert draft.path.read_text() == "after"


def test_a_message_too_large_to_be_remembered_is_kept_and_named(home: Home) -> None:
    draft = leave(home, "before", "x" * (editor_drafts._LARGEST + 1))
    drafts, said = back(home, optimist="before")
    assert drafts == {"optimist": "before"} and str(draft.path) in said[0]
    assert draft.path.exists()


def test_where_the_draft_cannot_be_stored_the_file_stays(home: Home) -> None:
    draft = leave(home, "before", "after")
    assert take(home, {"optimist": "before"}, lambda _: False) == ({"optimist": "after"}, [BACK])
    assert draft.path.read_text() == "after"
    assert back(home, optimist="after") == ({"optimist": "after"}, [BACK])
    assert not draft.folder.exists()


@pytest.mark.parametrize("about", ["", "{", "[]", '{"persona_id": 3, "before": []}', "[" * 100_000])
def test_what_a_stranger_put_there_does_no_harm(home: Home, tmp_path: Path, about: str) -> None:
    draft = leave(home, "before", "after")
    (draft.folder / ".draft.json").write_text(about)
    drafts, said = back(home, optimist="before")
    assert drafts == {"optimist": "before"} and str(draft.path) in said[0]


def test_nothing_outside_the_home_is_read_or_removed(home: Home, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "message.md").write_text("a secret")
    (home.state / "editor-0123456789abcdef").symlink_to(outside)
    draft = leave(home, "before")
    draft.path.unlink()
    draft.path.symlink_to(outside / "message.md")
    drafts, _ = back(home)
    assert drafts == {}
    assert (outside / "message.md").read_text() == "a secret"


def test_without_a_place_in_the_home_the_file_lies_in_a_private_temporary_folder(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    home.locks.rmdir()
    home.locks.write_text("no folder")
    for where in (home, None):
        draft = hand_out(where, "optimist", "before")
        assert draft.folder.parent == tmp_path
        assert draft.folder.stat().st_mode & 0o777 == 0o700
        assert draft.read() == "before"
        draft.remove()
        assert not draft.folder.exists()


@given(st.text(), st.text(), st.text())
def test_nothing_of_two_drafts_is_lost_when_they_meet(before: str, now: str, written: str) -> None:
    both = merged(before, now, written)
    assert written.strip() in both
    assert now == before or now.strip() in both or now.endswith(f"\n{before}")


def test_what_came_back_into_the_draft_meanwhile_stays_before_what_was_written() -> None:
    assert merged("a draft", "never sent\na draft", "a message") == "never sent\na message"
    assert merged("", "never sent", "a message") == "never sent\na message"
    assert merged("a draft", "a draft", "") == ""


async def test_text_begun_before_a_question_came_is_not_its_answer(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), model=ScriptedModel([])) as p:
        bar = p.main.chat_bar
        bar.set_mode("asking", "How?", asked="q1")
        bar.set_draft("for this question")
        assert bar.mode == "asking"
        bar.set_draft("from the editor", older=True)
        assert bar.mode == "running"


async def test_a_program_that_is_to_end_when_the_agent_is_done_waits_for_who_writes(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), model=ScriptedModel([])) as p:
        async with p.app.external_editor.reserved() as is_free:
            assert is_free
            async with p.app.external_editor.reserved() as second:
                assert not second
            leaving = asyncio.ensure_future(p.app.shutdown.leave(0))
            await p.press("a")
            await p.until(lambda: p.main.chat_bar.draft == "a")
            assert not leaving.done()
        await leaving
        assert p.app.return_code == 0


def test_what_is_noted_beside_a_message_is_only_for_this_person(home: Home) -> None:
    draft = hand_out(home, "optimist", "before")
    assert json.loads((draft.folder / ".draft.json").read_text()) == {
        "persona_id": "optimist",
        "before": "before",
    }
    assert {path.stat().st_mode & 0o777 for path in draft.folder.iterdir()} == {0o600}
    assert draft.folder.stat().st_mode & 0o777 == 0o700
    draft.remove()


@pytest.mark.parametrize("leaves", ["nothing", "a folder"])
async def test_a_message_that_an_editor_leaves_no_file_of_is_said_and_its_lock_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leaves: str
) -> None:
    async def edit(_self: object, _app: object, path: Path, keep: object = ()) -> bool:
        path.unlink()
        if leaves == "a folder":
            path.mkdir()
        return True

    monkeypatch.setattr(ExternalEditor, "run", edit)
    store = make_store(tmp_path)
    async with program(store, model=ScriptedModel([])) as p:
        p.main.chat_bar.set_draft("a draft")
        with pytest.raises(
            PersonaError, match="removed the file" if leaves == "nothing" else "cannot be read"
        ):
            await external.edit_draft(p.app)
        assert p.main.chat_bar.draft == "a draft"
        for left in store.home.locks.glob("editor-*"):
            with hold(left):  # nobody is at it any more
                pass
        assert len(list(store.home.state.glob("editor-*"))) == (leaves != "nothing")


def test_an_editor_that_cannot_be_read_as_a_command_is_named() -> None:
    with pytest.raises(PersonaError, match="EDITOR is not a command"):
        editor_command({"EDITOR": "vim 'x"})


async def test_nobody_who_types_waits_for_the_file_of_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, go = threading.Event(), threading.Event()

    async def edit(_self: object, _app: object, path: Path, keep: object = ()) -> bool:
        path.write_text("written")
        return True

    def hang(*arguments: Any) -> DraftFile:
        stuck.set()
        go.wait(60)
        return hand_out(*arguments)

    monkeypatch.setattr(ExternalEditor, "run", edit)
    monkeypatch.setattr(editor_drafts, "hand_out", hang)
    async with program(make_store(tmp_path), model=ScriptedModel([])) as p:
        editing = asyncio.ensure_future(external.edit_draft(p.app))
        await p.until(stuck.is_set)
        await p.write("typed")
        assert p.main.chat_bar.draft == "typed"
        go.set()
        await editing
        assert p.main.chat_bar.draft == "typed\nwritten"
