"""However the program ends, nothing that is on the screen alone goes with it unasked, and nothing holds the end up."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from agent.jobs.recovery import find_job
from agent.models.scripted import answer
from personas.errors import StorageError
from personas.store import Store
from tests.support.drafts import recall, unsaved
from tests.support.program import Gate, GatedModel, Program, make_store, program
from tui.app import shutdown
from tui.document import debounce
from tui.drafts.store import DraftStore
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.quit_dialog import QuitDialog
from tui.screens.dialogs.text_prompt import AskText


@pytest.fixture(autouse=True)
def quick(quick_typing: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def refuse(*_: object, **__: object) -> Any:
    raise StorageError("The disk is full; nothing was written.")


def elsewhere(tmp_path: Path) -> str:
    """What was written outside of the home."""
    files = (tmp_path / "state" / "persona-editor").glob("unsaved-*")
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


async def test_a_signal_ends_a_program_that_is_leaving_and_waits_for_a_disk_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutdown, "SAVE_WITHIN", 0.05)
    stuck, back = threading.Event(), threading.Event()
    save = DraftStore.save

    def hang(*arguments: Any, **options: Any) -> None:
        stuck.set()
        back.wait(60)
        save(*arguments, **options)

    async with program(make_store(tmp_path)) as p:
        monkeypatch.setattr(DraftStore, "save", hang)
        p.main.chat_bar.set_draft("a draft")
        leaving = asyncio.ensure_future(p.app.shutdown.leave(0))
        await p.until(stuck.is_set)
        p.app.shutdown.by_signal(129)
        await p.until(lambda: p.app._exit)
        assert "a draft" in elsewhere(tmp_path)
        words = p.app.shutdown.last_words
        back.set()
        await leaving
        assert (p.app.return_code, p.app.shutdown.last_words) == (129, words)


async def wait_then_type(p: Program, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Quit when the agent is done; the disk is full then, something is typed, and the agent ends."""
    await p.say("go")
    await p.until(lambda: p.main.conversation.running)
    p.main.action_leave()
    await p.dialog(QuitDialog)
    await p.press("w")
    await p.until(lambda: p.app.screen is p.main)
    monkeypatch.setattr(Store, "change", refuse)
    monkeypatch.setattr(DraftStore, "save", refuse)
    p.prompt.focus()
    await p.write("my ")
    await p.until(lambda: p.main.documents and p.main.documents.would_lose())
    gate.set()


async def test_who_quits_twice_in_one_go_is_asked_once(tmp_path: Path) -> None:
    gate = Gate()
    async with program(make_store(tmp_path), model=GatedModel([[gate, *answer("Done.")]])) as p:
        await p.say("go")
        await p.until(lambda: p.main.conversation.running)
        p.main.action_leave()
        p.main.action_leave()
        await p.dialog(QuitDialog)
        for _ in range(20):  # time enough for a second one
            await p.pilot.pause()
        assert len(p.app.screen_stack) == 2
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        p.main.action_leave()
        await p.dialog(QuitDialog)
        gate.set()


async def test_who_wanted_to_wait_is_asked_about_what_no_disk_took_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    async with program(make_store(tmp_path), model=GatedModel([[gate, *answer("Done.")]])) as p:
        await wait_then_type(p, gate, monkeypatch)
        dialog = await p.dialog(Confirm)
        assert "lose" in dialog._question
        await p.press("n")
        await p.until(lambda: p.app.screen is p.main)
        assert not p.app._exit and p.prompt.raw.startswith("my ")
        p.main.action_leave()
        await p.dialog(Confirm)
        await p.press("y")
        await p.until(lambda: p.app._exit)
    assert "my " not in elsewhere(tmp_path), "the person agreed to lose it"


@pytest.mark.parametrize("how", ["signal", "fault", "stop and quit"])
async def test_a_task_is_found_interrupted_unless_the_person_stopped_it(tmp_path: Path, how: str) -> None:
    store, gate = make_store(tmp_path), Gate()
    async with program(store, model=GatedModel([[gate, *answer("Done.")]])) as p:
        p.main.action_task_mode()
        await p.say("go")
        await p.until(lambda: p.main.conversation.runs.working)
        if how == "stop and quit":
            p.main.action_leave()
            await p.dialog(QuitDialog)
            await p.press("s")
        elif how == "signal":
            p.app.shutdown.by_signal(129)
        else:
            (running,) = p.main.conversation.conversations.runner._ends.values()  # type: ignore[union-attr]
            running.cancel()  # what the end of the loop does
            await p.until(lambda: not p.main.conversation.runs.working)
            p.main.action_leave()
        await p.until(lambda: p.app._exit)
    left = find_job(store, "one")
    assert left is not None and left.status == ("cancelled" if how == "stop and quit" else "interrupted")


async def test_what_is_typed_after_the_question_is_written_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path)) as p:
        monkeypatch.setattr(Store, "change", refuse)
        monkeypatch.setattr(DraftStore, "save", refuse)
        p.prompt.focus()
        await p.write("my ")
        await p.until(lambda: p.main.documents and p.main.documents.would_lose())
        assert p.main.documents is not None
        agreed = p.main.documents.memory_only()
        await p.write("own ")
        await p.app.shutdown.leave(0, given_up=agreed)
    assert "my own first line" in elsewhere(tmp_path)


async def test_a_fault_in_the_last_saving_keeps_nobody_from_leaving_and_nothing_from_being_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise RuntimeError("oops")

    store = make_store(tmp_path)
    monkeypatch.setattr(debounce, "PAUSE", 60)
    async with program(store) as p:
        assert p.main.documents is not None
        monkeypatch.setattr(p.main.documents, "flush", fail)
        monkeypatch.setattr(p.main.conversation, "stop_all", fail)
        p.prompt.focus()
        await p.write("my ")
        p.main.chat_bar.set_draft("a draft")
        p.main.action_leave()
        await p.notified("RuntimeError")
        await p.dialog(Confirm)
        await p.press("y")
        await p.until(lambda: p.app._exit)
        assert p.app.shutdown.failure == "unexpected RuntimeError: oops"
        assert "oops" in p.app.shutdown.fault_log.read_text()  # type: ignore[union-attr]
    assert recall(store.home).drafts == {"one": "a draft"}
    assert unsaved(store.home)["prompt"][1].startswith("my first line")


async def test_what_is_begun_in_a_dialog_is_not_lost_where_the_disk_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DraftStore, "save", refuse)
    async with program(make_store(tmp_path), persona_id="two") as p:
        for word in ("begun", " and more"):
            p.main.action_go("tests")
            await p.press("n")
            await p.dialog(AskText)
            await p.write(word)
            await p.press("escape")
            await p.until(lambda: p.app.screen is p.main)
            await p.notified("Could not save your draft to disk")
        await p.app.shutdown.leave(0)
    assert "begun and more" in elsewhere(tmp_path)


async def test_nobody_who_types_in_a_dialog_waits_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, back = threading.Event(), threading.Event()

    def hang(*_: object, **__: object) -> None:
        stuck.set()
        back.wait(60)

    monkeypatch.setattr(DraftStore, "save", hang)
    async with program(make_store(tmp_path), persona_id="two") as p:
        p.main.action_go("tests")
        await p.press("n")
        dialog = await p.dialog(AskText)
        await p.write("begun")
        await p.until(stuck.is_set)
        await p.write(" on")
        assert dialog._answer.raw == "begun on"
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        back.set()
