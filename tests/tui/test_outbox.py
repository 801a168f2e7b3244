"""A message belongs to the persona it was written for, and is somewhere at every moment until a conversation has it."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from agent.jobs.agent_jobs import AgentJobs
from agent.models.scripted import ToolUse, answer
from personas.errors import StorageError
from personas.store import Store
from tests.support.drafts import recall
from tests.support.program import Gate, GatedModel, Program, make_store, program
from tui.app import emergency_save
from tui.chat.conversation_state import Conversation
from tui.chat.conversations import ConversationManager
from tui.drafts.outbox import Outbox
from tui.settings.schema import Settings


@pytest.fixture
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSONA_CONFIG", str(tmp_path / "config.toml"))


def hold_up(monkeypatch: pytest.MonkeyPatch, persona_id: str) -> threading.Event:
    """Have the conversation of a persona wait for the event before it is read."""
    go, load = threading.Event(), ConversationManager._load

    def slow(self: ConversationManager, talk: Conversation) -> Any:
        if talk.persona_id == persona_id:
            go.wait(60)
        return load(self, talk)

    monkeypatch.setattr(ConversationManager, "_load", slow)
    return go


def said_to(store: Store, persona_id: str) -> str:
    """What stands in the conversation about a persona."""
    session_id = store.session_of(persona_id)
    path = store.home.sessions / f"{session_id}.jsonl"
    return path.read_text() if session_id and path.exists() else ""


async def test_what_is_sent_before_the_conversation_is_there_is_not_lost_with_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    go = hold_up(monkeypatch, "one")
    async with program(store, answer("Yes."), ready=False) as p:
        try:
            await p.until(lambda: p.main.documents is not None and p.main.conversation.shown_id == "one")
            await p.say("sent early")
            await p.write("and more")
            await p.app.shutdown.leave(129)
        finally:
            go.set()
    assert recall(store.home).drafts == {"one": "sent early\nand more"}
    assert p.app.shutdown.last_words == ""


async def test_what_is_sent_while_another_persona_is_opened_goes_to_the_one_it_was_written_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    go = hold_up(monkeypatch, "two")
    async with program(store, answer("Yes."), persona_id="one") as p:
        try:
            p.main.start(p.main.view.open_persona("two"))
            await p.until(lambda: p.main.conversation.shown_id == "two")
            await p.say("for two only")
            p.main.start(p.main.view.open_persona("one"))
            await p.until(lambda: p.main.conversation.shown_id == "one")
            await p.write("for one")
            await p.main.remember()
            assert recall(store.home).drafts == {"one": "for one", "two": "for two only"}
        finally:
            go.set()
        await p.until(lambda: "for two only" in said_to(store, "two"))
        await p.until(
            lambda: set(p.main.conversation.badges) == {"two"} and not p.main.conversation.runs.working
        )
        await p.main.remember()
        assert recall(store.home).drafts == {"one": "for one"}
        assert not said_to(store, "one")


async def test_a_conversation_that_cannot_be_opened_gives_back_what_was_sent_and_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    load = ConversationManager._load

    def fail(_self: ConversationManager, _talk: Conversation) -> Any:
        raise RuntimeError("nobody foresaw this")

    monkeypatch.setattr(ConversationManager, "_load", fail)
    async with program(store, answer("Yes."), ready=False) as p:
        await p.notified("unexpectedly (RuntimeError)")
        await p.say("my words")
        await p.until(lambda: p.main.chat_bar.draft == "my words")
        await p.until(
            lambda: recall(store.home).drafts == {"one": "my words"}
        )  # the look every second is there
        monkeypatch.setattr(ConversationManager, "_load", load)
        await p.press("enter")
        await p.until(lambda: "my words" in said_to(store, "one"))
        await p.until(lambda: not p.main.conversation.running)


async def test_a_message_is_remembered_until_the_conversation_has_it(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store, answer("Yes.")) as p:
        hold = begin_late(p)
        await p.say("on its way")
        await p.until(lambda: p.main.conversation.running)
        await p.main.remember()
        assert recall(store.home).drafts == {"one": "on its way"}
        hold.set()
        await p.until(lambda: "on its way" in said_to(store, "one"))
        await p.until(lambda: recall(store.home).drafts == {})


def begin_late(p: Program) -> asyncio.Event:
    """Have runs begin only after the event, as where a disk is slow."""
    hold, talks = asyncio.Event(), p.main.conversation.conversations
    assert talks is not None
    start = talks.runner.start

    async def late(*arguments: Any, **options: Any) -> Any:
        await hold.wait()
        return await start(*arguments, **options)

    talks.runner.start = late  # type: ignore[method-assign]
    return hold


async def test_what_is_sent_while_the_last_run_is_looked_back_at_does_not_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    looks, go, find = asyncio.Event(), asyncio.Event(), AgentJobs.find

    async def slow(self: AgentJobs, at: Store, persona_id: str) -> Any:
        if not p.main.conversation.running:
            looks.set()
            await go.wait()
        return await find(self, at, persona_id)

    async with program(store, answer("Yes."), answer("Again.")) as p:
        monkeypatch.setattr(AgentJobs, "find", slow)
        await p.say("the first")
        await p.until(looks.is_set)
        hold = begin_late(p)
        await p.say("the second")
        await p.until(lambda: p.main.conversation.running)
        go.set()
        await p.pilot.pause()
        assert p.main.chat_bar.draft == ""
        await p.main.remember()
        assert recall(store.home).drafts == {"one": "the second"}
        hold.set()
        await p.until(lambda: "the second" in said_to(store, "one") and not p.main.conversation.running)
        assert p.main.chat_bar.draft == ""


@pytest.mark.parametrize("refuses", [False, True])
async def test_a_run_after_which_the_disk_fails_is_over_and_gives_back_what_was_queued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refuses: bool
) -> None:
    async def fail(*_: object) -> None:
        raise OSError("Input/output error")

    async def refuse(*_: object, **__: object) -> None:
        await hold.wait()
        raise StorageError("The disk is full.")

    store, hold = make_store(tmp_path), Gate()
    async with program(store, model=GatedModel([[hold, *answer("Yes.")]])) as p:
        if refuses:
            monkeypatch.setattr(AgentJobs, "start", refuse)
        await p.say("the first")
        await p.until(lambda: p.main.conversation.running)
        await p.say("and more")
        monkeypatch.setattr(AgentJobs, "find", fail)
        (hold.set if refuses else p.main.conversation.tasks.stop)()
        await p.until(lambda: not p.main.conversation.panel.in_flight)
        assert p.main.chat_bar.draft == ("the first\nand more" if refuses else "and more")
        assert p.main.chat_bar.mode != "running"


@pytest.mark.usefixtures("own_settings")
async def test_an_answer_that_is_not_taken_comes_back_to_its_own_persona(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    hold = asyncio.Event()

    async def refuse(*_: object) -> None:
        await hold.wait()
        raise StorageError("The disk is full.")

    asks = answer(ToolUse("ask_user", {"question": "Which one?"}))
    async with program(store, asks, settings=Settings(task_pause=0.0), persona_id="one") as p:
        await p.say("/task go")
        await p.until(lambda: p.main.conversation.question is not None)
        monkeypatch.setattr(ConversationManager, "answer", refuse)
        p.main.start(p.main.conversation.questions.answer(p.main.conversation.question.id, "the first"))  # type: ignore[union-attr]
        await p.main.remember()
        assert recall(store.home).drafts == {"one": "the first"}
        await p.open("two")
        await p.write("for two")
        hold.set()
        await p.notified("The disk is full.")
        await p.main.remember()
        assert recall(store.home).drafts == {"one": "the first", "two": "for two"}
        await p.open("one")
        await p.until(lambda: p.main.chat_bar.draft == "the first")


async def test_the_panel_goes_also_where_its_persona_was_shown_before_the_run_began(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer("Yes."), persona_id="one") as p:
        hold = begin_late(p)
        await p.say("hello")
        await p.open("two")
        await p.open("one")
        await p.until(lambda: p.main.conversation.current is not None)
        assert p.main.conversation.panel.in_flight
        hold.set()
        await p.until(lambda: not p.main.conversation.running)
        assert not p.main.conversation.panel.in_flight
        await p.press("escape")
        assert not p.main.conversation.panel_controller.panel_shown


def test_what_was_sent_before_a_persona_was_known_is_the_first_ones() -> None:
    outbox = Outbox()
    early, chosen = outbox.begin("", "early"), outbox.begin("one", "")
    late = outbox.begin("two", "late")
    assert [(message.persona_id, message.typed) for message in outbox] == [
        ("", "early"),
        ("one", ""),
        ("two", "late"),
    ]
    outbox.assign("one")
    more = outbox.begin("one", "more")
    assert [message.persona_id for message in outbox] == ["one", "one", "two", "one"]
    for message in (early, chosen, late):
        assert message in outbox
        outbox.end(message)
        assert message not in outbox
    assert list(outbox) == [more]


async def test_a_home_that_fails_unexpectedly_ends_the_program_and_keeps_what_was_sent_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emergency_save, "_folders", lambda: iter([tmp_path]))
    fails = threading.Event()

    def open_store() -> Store:
        fails.wait(60)
        raise OSError("surprise")

    async with program(make_store(tmp_path), open_store=open_store, ready=False) as p:
        p.main.chat_bar.set_draft("hello")
        p.main.chat_bar.input.focus()
        await p.press("enter")
        await p.until(lambda: not p.main.chat_bar.draft)
        fails.set()
        await p.until(lambda: p.app.return_code == 1)
        assert p.app.shutdown.failure == "unexpected OSError: surprise"
        assert "surprise" in (tmp_path / "fault.log").read_text()
        (kept,) = tmp_path.glob("unsaved-*.txt")
        assert "hello" in kept.read_text() and str(kept) in p.app.shutdown.last_words
