"""A message that is written in the person's editor: what comes back of it, and what the next program finds of it."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personas.errors import PersonaError, StorageError
from personas.files.home import Home
from tests.support.drafts import recall
from tests.support.program import ScriptedModel, make_store, program
from tui.app.emergency_save import write_fault
from tui.drafts import copies
from tui.drafts.chat_drafts import after_editor
from tui.drafts.unsaved_text import UnsavedText
from tui.external_editor.process import ExternalEditor, editor_command
from tui.screens import editor_launcher as launcher

GONE = "1-0123456789ab"


def leave(home: Home, text: str, what: str = "message") -> Path:
    """Leave a copy as a program does that is killed."""
    path = home.state / f"{what}.{GONE}.{len(list(home.state.iterdir())):08}.md"
    path.write_text(text)
    return path


def test_a_fault_log_that_is_a_pipe_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platformdirs.user_state_path", lambda *_, **__: tmp_path)
    os.mkfifo(tmp_path / "fault.log")
    path = write_fault("what happened")
    assert path is not None and path.parent != tmp_path and path.read_text() == "what happened"
    path.unlink()
    path.parent.rmdir()


async def test_what_an_ended_program_left_is_brought_back_by_up_or_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    home, outside = store.home, tmp_path / "outside"
    outside.mkdir()
    (outside / "message.md").write_text("a secret")
    (home.state / "editor-0123456789abcdef").symlink_to(outside)
    old = home.state / "editor-0123456789abcde0"
    old.mkdir()
    (old / "message.md").write_text("of an older program\n")
    leave(home, "a message\n")
    leave(home, " \n")
    mine = copies.hand_out_message(home, "being written")
    with monkeypatch.context() as full:
        full.setattr(UnsavedText, "write", lambda _: "The disk is full.")
        async with program(store, model=ScriptedModel([])) as p:
            await p.notified("The disk is full.")
    assert len(copies.left_copies(home.state)) == 3, "no disk has what they hold"
    odd = [home.state / f"message.{GONE}.abcdefgh.md", leave(home, "x = 1", "one")]
    odd[0].symlink_to(outside / "message.md")
    async with program(store, model=ScriptedModel([])) as p:
        await p.notified("Up brings it back")
        for path in odd:
            await p.notified(f"what your editor saved is in {path}")
        p.main.chat_bar.input.focus()
        await p.press("up")
        await p.until(lambda: p.main.chat_bar.draft in ("a message", "of an older program"))
        assert not (old / "message.md").exists()
        assert {path for _, path in copies.left_copies(home.state)} == set(odd)
        assert mine.read_text() == "being written" and (outside / "message.md").read_text() == "a secret"
    (stashed,) = recall(home).stashed.values()
    assert sorted(stashed) == ["a message", "of an older program"]


def test_a_message_lies_in_the_home_or_where_that_cannot_be_in_a_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    home = make_store(tmp_path).home
    for where, folder in ((home, home.state), (None, tmp_path)):
        copy = copies.hand_out_message(where, "half \ud800 of one\n")
        assert copy.parent == folder and copy.stat().st_mode & 0o777 == 0o600
        assert copies.read_copy(copy).removesuffix("\n") == copies.as_read("half \ud800 of one\n")
        copies.remove_copy(copy)
        os.mkfifo(copy)
        with pytest.raises(StorageError, match="not a regular file"):
            copies.read_copy(copy)


@given(st.text(), st.text(), st.text())
def test_nothing_of_two_drafts_is_lost_when_they_meet(before: str, now: str, written: str) -> None:
    both = after_editor(before, now, written)
    assert written.strip() in both
    assert now == before or now.strip() in both or now.endswith(f"\n{before}")


def test_what_came_back_into_the_draft_meanwhile_stays_before_what_was_written() -> None:
    assert after_editor("a draft", "never sent\na draft", "a message") == "never sent\na message"
    assert after_editor("", "never sent", "a message") == "never sent\na message"
    assert after_editor("a draft", "a draft", "") == ""


async def test_a_program_that_is_to_end_when_the_agent_is_done_waits_for_who_writes(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), model=ScriptedModel([])) as p:
        bar = p.main.chat_bar
        bar.set_mode("asking", "How?", asked="q1")
        bar.set_draft("for this question")
        assert bar.mode == "asking"
        bar.set_draft("from the editor", older=True)
        assert bar.mode == "running", "what was begun before the question is not its answer"
        bar.set_draft("")
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


async def test_a_message_that_an_editor_leaves_no_file_of_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    async with program(store, model=ScriptedModel([])) as p:
        for leaves, told in (("nothing", "removed its file"), ("a folder", "cannot be read .* is kept in")):

            async def edit(_self: object, _app: object, path: Path, leaves: str = leaves) -> bool:
                path.unlink()
                if leaves == "a folder":
                    path.mkdir()
                return True

            monkeypatch.setattr(ExternalEditor, "run", edit)
            p.main.chat_bar.set_draft("a draft")
            with pytest.raises(PersonaError, match=told):
                await launcher.edit_draft(p.app)
            assert p.main.chat_bar.draft == "a draft"


def test_an_editor_that_cannot_be_read_as_a_command_is_named() -> None:
    with pytest.raises(PersonaError, match="EDITOR is not a command"):
        editor_command({"EDITOR": "vim 'x"})


async def test_nobody_who_types_waits_for_the_file_of_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, go, hand_out = threading.Event(), threading.Event(), copies.hand_out_message

    async def edit(_self: object, _app: object, path: Path) -> bool:
        path.write_text("written")
        return True

    def hang(*arguments: Any) -> Path:
        stuck.set()
        go.wait(60)
        return hand_out(*arguments)

    monkeypatch.setattr(ExternalEditor, "run", edit)
    monkeypatch.setattr(copies, "hand_out_message", hang)
    store = make_store(tmp_path)
    async with program(store, model=ScriptedModel([])) as p:
        editing = asyncio.ensure_future(launcher.edit_draft(p.app))
        await p.until(stuck.is_set)
        await p.write("typed")
        assert p.main.chat_bar.draft == "typed"
        go.set()
        await editing
        assert p.main.chat_bar.draft == "typed\nwritten"
        assert not list(store.home.state.glob("message.*"))
