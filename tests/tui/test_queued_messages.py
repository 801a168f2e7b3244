"""What was said to an agent at work and not delivered comes back, however the program ends, and never twice."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent.core.turns import UserTurn
from agent.models.scripted import Hang, ToolUse, answer
from agent.transcript.session_store import read_history, session_lock
from personas.errors import StorageError
from personas.files.home import Home, open_home
from personas.store import Store
from tests.support.drafts import copy_drafts, leave_chat, recall
from tests.support.program import Gate, GatedModel, Program, make_store, program
from tui.chat.conversation_state import Conversation
from tui.drafts.draft import OutboxMessage
from tui.drafts.outbox import recover_messages
from tui.drafts.store import DraftStore
from tui.drafts.unsaved_text import UnsavedText
from tui.screens.dialogs.quit_dialog import QuitDialog
from tui.settings.schema import Settings

EDIT = ToolUse("edit_system_prompt", {"old": "second line", "new": "better line"})
DONE = ToolUse("task_complete", {"summary": "Done."})
ASK_ALL = Settings(approval="ask-all", task_pause=0.0)


pytestmark = pytest.mark.usefixtures("own_settings_file")


async def say_both(p: Program) -> None:
    """Say something for now and something for later, to an agent at work."""
    await p.until(lambda: p.main.conversation.running)
    await p.say("my precious words")
    p.main.chat_bar.set_draft("and later these")
    await p.press("tab")
    await p.until(lambda: "and later these" in noted(p.store))


def noted(store: Store) -> str:
    """The messages that are noted on the disk, and those alone."""
    return "\n".join(text for texts in recall(store.home).queued.values() for text in texts)


def copy_of(store: Store, place: Path) -> Store:
    """What a program finds that starts after this one was killed now."""
    shutil.copytree(store.home.root, place)
    copy = Store(open_home(place, env={"PERSONA_CONFIG": str(place.parent / "config.toml")}))
    copy_drafts(store.home, copy.home)
    return copy


async def draft_of_next_program(store: Store) -> str:
    async with program(store) as p:
        return p.main.chat_bar.draft


def given_back(store: Store) -> dict[str, str]:
    """What the next program gives back of the messages."""
    unsaved = UnsavedText(store.home, DraftStore(store.home.root), dict)
    try:
        return recover_messages(store, unsaved)
    finally:
        unsaved.store.close()


def hanging() -> list[Any]:
    return [*answer("I begin")[:2], Hang()]


async def test_stop_and_quit_gives_back_what_is_queued_at_the_next_start(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store, hanging()) as p:
        await p.say("go")
        await say_both(p)
        p.main.focus_chat()
        await p.write("half a")
        p.main.action_leave()
        await p.dialog(QuitDialog)
        await p.press("s")
        await p.until(lambda: not p.app.is_running or p.app._exit)
    assert await draft_of_next_program(store) == "my precious words\nand later these\nhalf a"
    assert await draft_of_next_program(store) == "my precious words\nand later these\nhalf a"


async def test_a_task_that_is_left_waiting_gives_back_what_is_queued(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    gate = Gate()
    model = GatedModel([[gate, *answer(EDIT)]])
    async with program(store, model=model, settings=ASK_ALL) as p:
        await p.say("/task go")
        await say_both(p)
        gate.set()
        await p.until(lambda: p.main.conversation.question is not None)
        p.main.action_leave()
        await p.until(lambda: p.app._exit)
    async with program(store, settings=ASK_ALL) as p:
        await p.until(lambda: p.main.conversation.question is not None)
        assert p.main.chat_bar.draft == "my precious words\nand later these"
        assert p.main.chat_bar.mode == "running", "it is no answer to what is asked"


async def test_a_killed_program_loses_nothing_queued_and_gives_nothing_delivered_back(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    gates = [Gate(), Gate(), Gate()]
    model = GatedModel([[gate, *answer(f"Answer {place}.")] for place, gate in enumerate(gates)])
    async with program(store, model=model) as p:
        await p.say("go")
        await say_both(p)
        killed_at_once = copy_of(store, tmp_path / "at_once" / "home")
        killed_between = tmp_path / "between" / "home"
        copy_drafts(store.home, Home(killed_between))  # not noted yet, but delivered
        gates[0].set()
        await p.until(lambda: noted(store) == "and later these")
        killed_later = copy_of(store, tmp_path / "later" / "home")
        shutil.copytree(store.home.root, killed_between)
        gates[1].set()
        gates[2].set()
        await p.until(lambda: not p.main.conversation.running and not noted(store))
        killed_done = copy_of(store, tmp_path / "done" / "home")
    assert await draft_of_next_program(killed_at_once) == "my precious words\nand later these"
    assert given_back(killed_later) == {"one": "and later these"}
    assert given_back(Store(Home(killed_between))) == {"one": "and later these"}
    assert given_back(killed_done) == {}


async def test_what_is_taken_back_is_noted_no_more(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store, hanging()) as p:
        await p.say("go")
        await say_both(p)
        p.main.focus_chat()
        await p.press("up")
        await p.until(lambda: noted(store) == "my precious words")
        assert p.main.chat_bar.draft == "and later these"
        await p.until(lambda: recall(store.home).drafts == {"one": "and later these"})


async def test_what_is_queued_behind_another_persona_is_given_back_to_its_own(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    gate = Gate()
    model = GatedModel([hanging(), [gate, *answer("Two.")]])
    async with program(store, model=model) as p:
        await p.say("go")
        await say_both(p)
        await p.open("two")
        await p.until(lambda: p.main.conversation.current is not None)
        await p.write("draft of two")
        p.app.shutdown.by_signal(129)
        await p.until(lambda: p.app._exit)
    async with program(store, persona_id="two") as p:
        assert p.main.chat_bar.draft == "draft of two"
        await p.open("one")
        await p.until(lambda: p.main.chat_bar.draft == "my precious words\nand later these")


async def test_a_message_that_could_not_be_sent_comes_back_when_another_persona_is_open(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    async with program(store, answer("Hello.")) as p:
        await p.run_to_end("hello")
        talk = p.main.conversation.current
        assert talk is not None and talk.chat is not None and talk.chat.session_id is not None
        with session_lock(store, talk.chat.session_id):
            await p.main.conversation.send("words for one")
            await p.open("two")
            await p.until(lambda: talk.failure)
        await p.open("one")
        await p.until(lambda: p.main.chat_bar.draft == "words for one")


def test_what_another_program_still_delivers_stays_with_it(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    from agent.transcript.session_store import start_session

    session_id = start_session(store, "one")
    messages = [
        OutboxMessage("one", "turn_1", "soon", session_id, "queued"),
        OutboxMessage("two", "turn_2", "for two", "", "queued"),
    ]
    leave_chat(store.home, queued=messages)
    with session_lock(store, session_id):
        assert given_back(store) == {"two": "for two"}
    assert given_back(store)["one"] == "soon"


def test_no_path_out_of_the_home_is_followed(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    (tmp_path / "secret.jsonl").write_text("{}")
    leave_chat(store.home, queued=[OutboxMessage("one", "turn_1", "soon", "../../secret", "queued")])
    assert given_back(store) == {"one": "soon"}


async def test_a_message_that_begins_with_a_slash_comes_back_as_it_was_typed(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store, hanging()) as p:
        await p.say("go")
        await p.until(lambda: p.main.conversation.running)
        p.main.chat_bar.set_draft("//clear the table")
        await p.press("tab")
        await p.until(lambda: "/clear the table" in noted(p.store))
        left = copy_of(store, tmp_path / "killed" / "home")
        await p.press("up")
        await p.until(lambda: p.main.chat_bar.draft == "//clear the table")
        await p.press("enter")
        await p.until(lambda: "/clear the table" in noted(p.store))
        await p.press("escape")  # what was queued comes back
        await p.until(lambda: not p.main.conversation.running)
        assert p.main.chat_bar.draft == "//clear the table"
        p.main.chat_bar.set_draft("")
        await p.press("up")
        assert p.main.chat_bar.draft == "//clear the table"
    assert await draft_of_next_program(left) == "//clear the table"


async def test_a_message_is_stored_under_the_id_that_its_turn_has_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, stored = DraftStore.put_in_outbox, dict[str, set[str]]()

    def note(store: DraftStore, message: OutboxMessage) -> None:
        stored.setdefault(message.text, set()).add(message.turn_id)
        put(store, message)

    monkeypatch.setattr(DraftStore, "put_in_outbox", note)
    store = make_store(tmp_path)
    gate = Gate()
    model = GatedModel([[gate, *answer(EDIT)], answer("Heard."), answer(DONE)])
    async with program(store, model=model, settings=Settings(max_steps=2, task_pause=0.0)) as p:
        await p.say("/task go")
        await p.until(lambda: p.main.conversation.running)
        await p.say("my precious words")
        await p.until(lambda: "my precious words" in noted(store))
        gate.set()
        await p.until(lambda: p.main.conversation.tasks.can_continue)
        await p.say("/continue and finish")
        await p.until(lambda: model.requests[2:] and not p.main.conversation.running)
    _, turns, _ = read_history(store, "one")
    said = {turn.content: {turn.id} for turn in turns if isinstance(turn, UserTurn)}
    as_stored = {"/task go": "go", "/continue and finish": "and finish"}
    assert {as_stored.get(text, text): ids for text, ids in stored.items()} == said


async def test_a_message_stays_in_the_outbox_while_the_log_of_the_conversation_refuses_its_turn() -> None:
    said = UserTurn(content="my precious words", id="turn_1")
    session = SimpleNamespace(failure=StorageError("The disk is full."), mark=("session_1", 1))
    chat: Any = SimpleNamespace(session=session, queued=((said,), ()))
    conversation = Conversation("one", chat=chat)
    assert [message.text for message in conversation.outbox()] == ["my precious words"]
    chat.queued, conversation.earlier = ((), ()), (said,)
    assert [message.text for message in conversation.outbox()] == ["my precious words"]
    session.failure = None
    assert conversation.outbox() == []
