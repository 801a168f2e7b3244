"""The session a run is written into is the one that is locked, whatever others did to it meanwhile."""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from agent.chat.chat import OLDER_LEFT_OUT, Chat, ChatOptions
from agent.core.events import Event
from agent.core.turns import CustomTurn, NoticeTurn, ToolResultTurn, UserTurn
from agent.models.scripted import Act, ScriptedModel, ToolUse, answer
from agent.tools import context as base
from agent.tools.context import LONGEST_WAIT, ToolEnvironment
from agent.transcript.session_store import RECENT_TURNS, lock_path, open_session, session_lock, start_session
from personas import document
from personas.changes import SetName, SetPrompt
from personas.errors import Busy, StorageError
from personas.files.home import open_home
from personas.files.journal import Journal
from personas.files.lock import holder
from personas.persona import Persona
from personas.store import Store
from personas.versions.authorship import USER, Author
from tests.support.elsewhere import PID, held_elsewhere
from tests.support.faulty_store import FaultyStore
from tests.support.slow_fsync import SlowFsync
from tests.support.task_bench import ASK, PROMPT, Bench


@pytest.fixture
def store(tmp_path: Path) -> FaultyStore:
    store = FaultyStore(open_home(tmp_path / "home", {"PERSONA_CONFIG": str(tmp_path / "config.toml")}))
    store.create("Wren", system_prompt="One.\n")
    return store


def open_files(folder: Path) -> list[str]:
    """The files below a folder that this process has open."""
    links = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the one by which they are listed is closed again
            links.append(os.readlink(link))
    return [link for link in links if link.startswith(str(folder))]


def spoken_in(store: Store, words: str) -> list[str]:
    """Return the sessions that hold some words."""
    return [path.stem for path in store.home.sessions.glob("*.jsonl") if words in path.read_text()]


def move_on(store: Store, session_id: str) -> str:
    """Be another program: say something in a session, then begin a new one; return its id."""
    session = open_session(store, "wren", session_id)
    session.add(UserTurn(content="from elsewhere"))
    session.close()
    return start_session(store, "wren")


async def test_a_session_that_others_began_is_locked_before_it_is_written(store: Store) -> None:
    held: list[tuple[bool, bool]] = []

    def look() -> None:
        held.append(tuple(holder(lock_path(store, one)) is not None for one in (old, new)))  # type: ignore[arg-type]

    chat = Chat(store, "wren", ScriptedModel([answer("hi"), answer(Act(look), "two")]))
    await chat.send("one")
    old = chat.session_id
    assert old is not None
    new = move_on(store, old)
    await chat.send("two")
    assert chat.session_id == new and spoken_in(store, '"two"') == [new]
    assert held == [(False, True)]
    assert holder(lock_path(store, new)) is None


async def test_a_session_that_others_began_and_talk_in_is_busy(store: Store) -> None:
    chat = Chat(store, "wren", ScriptedModel([answer("hi")]))
    await chat.send("one")
    assert chat.session_id is not None
    with session_lock(store, move_on(store, chat.session_id)), pytest.raises(Busy):
        await chat.send("two")
    assert not spoken_in(store, '"two"')


@pytest.mark.parametrize("fate", ["deleted", "newer"])
async def test_words_for_a_session_that_cannot_be_opened_any_more_begin_a_new_one(
    store: Store, fate: str
) -> None:
    chat = Chat(store, "wren", ScriptedModel([answer("hi"), answer("two"), answer("three")]))
    await chat.send("one")
    file = store.home.sessions / f"{chat.session_id}.jsonl"
    if fate == "deleted":
        file.unlink()
    else:
        file.write_text(file.read_text().replace('"version":1', '"version":22', 1))
    end = await chat.send("precious words")
    assert end.outcome == "completed"
    assert chat.session_id != file.stem and spoken_in(store, "precious words") == [chat.session_id]
    assert "A new one begins" in chat.problems[0]
    await chat.send("and these")
    assert spoken_in(store, "and these") == [chat.session_id]


@pytest.mark.parametrize("then", ["stop", "go on"])
async def test_a_tool_that_waits_for_another_writer_holds_nothing_up(store: Store, then: str) -> None:
    change = ToolUse("edit_system_prompt", {"old": "One.", "new": "Two."})
    chat = Chat(store, "wren", ScriptedModel([answer(change), answer("done")]))
    loop, begun = asyncio.get_running_loop(), 0.0
    with ExitStack() as other:
        other.enter_context(held_elsewhere(store.home.locks / "persona-wren.lock"))

        def listen(event: Event) -> None:
            nonlocal begun
            if event.type == "tool_start":
                begun = loop.time()
                loop.call_later(0.05, other.close if then == "go on" else chat.abort)

        chat.subscribe(listen)
        end = await chat.send("go")
        assert loop.time() - begun < LONGEST_WAIT / 2
    assert end.outcome == ("cancelled" if then == "stop" else "completed")
    assert store.get("wren").system_prompt == ("One.\n" if then == "stop" else "Two.\n")


async def test_a_writer_that_does_not_end_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "LONGEST_WAIT", 0.0)
    change = ToolUse("edit_system_prompt", {"old": "One.", "new": "Two."})
    chat = Chat(store, "wren", ScriptedModel([answer(change), answer("done")]))
    with held_elsewhere(store.home.locks / "persona-wren.lock"):
        await chat.send("go")
    results = [turn for turn in chat.turns if isinstance(turn, ToolResultTurn)]
    assert results[0].is_error and f"is busy (pid {PID})" in results[0].output


async def test_who_writes_in_the_same_program_is_waited_for_however_slow_the_disk_is(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (base, document):
        monkeypatch.setattr(module, "LONGEST_WAIT", 0.001)
    change = ToolUse("edit_system_prompt", {"old": "One.", "new": "Two."})
    chat = Chat(store, "wren", ScriptedModel([answer(change), answer("done")]))
    disk = SlowFsync(monkeypatch)
    disk.hold()
    saving = asyncio.ensure_future(
        asyncio.to_thread(store.change, "wren", SetName("Jay"), revision=None, by=USER)
    )
    assert await asyncio.to_thread(disk.waits.wait, 20)
    loop = asyncio.get_running_loop()
    chat.subscribe(lambda event: event.type == "tool_start" and loop.call_later(0.05, disk.let_go))
    await asyncio.gather(chat.send("go"), saving)
    results = [turn for turn in chat.turns if isinstance(turn, ToolResultTurn)]
    assert not results[0].is_error, results[0].output
    assert (store.get("wren").name, store.get("wren").system_prompt) == ("Jay", "Two.\n")


@pytest.mark.parametrize("known", [True, False])
async def test_a_writer_that_does_not_end_is_told_as_by_the_store(
    store: Store, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    for module in (base, document):
        monkeypatch.setattr(module, "LONGEST_WAIT", 0.0)
    with held_elsewhere(store.home.locks / "persona-wren.lock", PID if known else None):
        with pytest.raises(Busy) as waited:
            await ToolEnvironment(store, "wren").wait_unlocked()
        with pytest.raises(Busy) as written:
            store.change("wren", SetPrompt("x"), revision=None, by=USER)
    assert (str(waited.value), waited.value.pid) == (str(written.value), written.value.pid)


async def test_that_older_turns_are_not_sent_is_said_once_also_where_only_the_end_is_loaded(
    store: Store,
) -> None:
    session = open_session(store, "wren", start_session(store, "wren"))
    session.add(UserTurn(content="the first"))
    session.add(NoticeTurn(content="From here on …", kind=OLDER_LEFT_OUT))
    for number in range(RECENT_TURNS):
        session.add(UserTurn(content=f"message {number}"))
    session.close()
    chat = Chat(store, "wren", ScriptedModel([answer("hi")]), options=ChatOptions(sent_turns=2))
    chat.load()
    await chat.send("one more")
    assert chat.session_id == session.id
    assert not any(isinstance(turn, NoticeTurn) for turn in chat.turns)


async def test_as_much_is_sent_of_a_conversation_after_a_restart_as_before_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.transcript.session_store.RECENT_TURNS", 4)
    for number, model in enumerate([ScriptedModel([answer("hi")]) for _ in range(8)]):
        chat = Chat(store, "wren", model, options=ChatOptions(sent_turns=5))
        await chat.send(f"message {number}")
        await chat.close()
    said = [one["content"][0]["text"] for one in model.requests[0].messages if one["role"] == "user"]
    assert said == [f"message {number}" for number in range(3, 8)]


async def test_more_of_a_conversation_is_sent_as_soon_as_the_setting_says_so(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.transcript.session_store.RECENT_TURNS", 4)
    before = Chat(store, "wren", ScriptedModel([answer("hi")] * 6))
    for number in range(6):
        await before.send(f"message {number}")
    await before.close()
    model = ScriptedModel([answer("hi")] * 2)
    chat = Chat(store, "wren", model, options=ChatOptions(sent_turns=2))
    await chat.send("message 6")
    chat.set_options(ChatOptions(sent_turns=6))
    await chat.send("message 7")
    said = [one["content"][0]["text"] for one in model.requests[1].messages if one["role"] == "user"]
    assert said == [f"message {number}" for number in range(2, 8)]


async def test_a_setting_that_changes_while_the_agent_works_holds_from_the_next_run_on(store: Store) -> None:
    look = ToolUse("get_persona")
    model = ScriptedModel([answer("hi"), answer(look), answer("done"), answer("and on")])
    chat = Chat(store, "wren", model)
    await chat.send("one")

    def change(event: Event) -> None:
        if event.type == "tool_start":
            chat.set_options(ChatOptions(sent_turns=1))

    chat.subscribe(change)
    await chat.send("two")
    await chat.send("three")
    first = [request.messages[0]["content"][0]["text"] for request in model.requests]
    assert first == ["one", "one", "one", "three"]


async def test_a_disk_that_fails_an_old_conversation_does_not_stop_the_new_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_journal: Journal, _record: object) -> None:
        raise StorageError("The disk is full.")

    chat = Chat(store, "wren", ScriptedModel([answer("hi")]))
    await chat.send("one")
    session = chat.session._session
    assert session is not None
    chat.clear()
    monkeypatch.setattr(Journal, "append", refuse)
    session.add(UserTurn(content="late"))
    assert chat.session.failure is None
    assert chat.session._session is not None
    chat.session._session.add(UserTurn(content="now"))
    assert chat.session.failure is not None


async def test_where_the_text_the_agent_saw_is_damaged_it_is_told_that_the_file_was_changed(
    store: Store,
) -> None:
    chat = Chat(store, "wren", ScriptedModel([answer("hi"), answer("so it was")]))
    await chat.send("one")
    seen = store.get("wren").revision
    store.change("wren", SetName("Robin"), revision=None, by=Author("user"))
    (store.home.versions / "wren" / "texts" / f"{seen}.z").write_bytes(b"")
    await chat.send("two")
    assert any(isinstance(turn, CustomTurn) for turn in chat.turns) and spoken_in(store, '"two"')


async def test_what_the_disk_refused_is_there_again_whatever_others_wrote_meanwhile(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = Chat(store, "wren", ScriptedModel([answer("hi"), answer("two"), answer("three")]))
    await chat.send("one")
    assert chat.session_id is not None

    def full(_self: Journal, _record: object) -> None:
        raise StorageError("The disk is full.")

    monkeypatch.setattr(Journal, "append", full)
    with pytest.raises(StorageError):
        await chat.send("precious words")
    chat.load()
    assert "precious words" in str(chat.turns), "what only the program has is not given up"
    monkeypatch.undo()
    other = open_session(store, "wren", chat.session_id)
    other.add(UserTurn(content="from elsewhere"))
    other.close()
    await chat.send("and these")
    for words in ("precious words", "from elsewhere", "and these"):
        assert words in str(chat.turns) and spoken_in(store, words) == [chat.session_id]


def refuse_sessions(monkeypatch: pytest.MonkeyPatch, *, times: int = 1_000_000) -> None:
    """Let the disk refuse so many records of conversations, and take those after them."""
    append, left = Journal.append, iter(range(times))

    def refuse(journal: Journal, record: dict[str, object], *, sync: bool = False) -> None:
        if journal.path.name.startswith("session_") and next(left, None) is not None:
            raise StorageError("The disk is full.")
        append(journal, record, sync=sync)

    monkeypatch.setattr(Journal, "append", refuse)


@pytest.mark.parametrize("how", ["clear", "close"])
async def test_what_the_disk_refused_is_written_before_its_conversation_is_left(
    store: Store, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    chat = Chat(store, "wren", ScriptedModel([answer("hi"), answer("two")]))
    await chat.send("one")
    old = chat.session_id
    with monkeypatch.context() as full:
        refuse_sessions(full)
        with pytest.raises(StorageError):
            await chat.send("precious words")
        if how == "clear":
            with pytest.raises(StorageError, match="stays open, not all of it could be saved"):
                chat.clear()
            assert chat.session_id == old == store.session_of("wren") and "precious words" in str(chat.turns)
    if how == "clear":
        assert chat.clear() != old
    else:
        await chat.close()
    assert spoken_in(store, "precious words") == [old]


async def test_a_disk_that_refused_for_a_moment_before_a_run_fails_it_not(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = Chat(store, "wren", ScriptedModel([answer("hi"), answer("two"), answer("three")]))
    await chat.send("one")
    with monkeypatch.context() as full, pytest.raises(StorageError):
        refuse_sessions(full)
        await chat.send("precious words")
    refuse_sessions(monkeypatch, times=1)
    end = await chat.send("and these")
    assert end.outcome == "completed" and chat.session.failure is None
    assert spoken_in(store, "precious words") == spoken_in(store, "and these") == [chat.session_id]


async def test_a_run_that_a_disk_stopped_for_a_moment_says_why(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = Chat(store, "wren", ScriptedModel([answer("hi"), answer("two")]))
    await chat.send("one")
    refuse_sessions(monkeypatch, times=1)
    with pytest.raises(StorageError):
        await chat.send("and these")
    assert chat.session.failure is None and spoken_in(store, "and these") == [chat.session_id]


async def test_nothing_else_is_read_or_begun_while_a_run_holds_a_conversation(store: Store) -> None:
    def meddle() -> None:
        began.append(start_session(store, "wren"))
        chat.load()
        with pytest.raises(Busy):
            chat.clear()

    began: list[str] = []
    chat = Chat(store, "wren", ScriptedModel([answer("hi"), answer(Act(meddle), "two")]))
    await chat.send("one")
    old = chat.session_id
    await chat.send("two")
    assert chat.session_id == old and spoken_in(store, '"two"') == [old]
    chat.load()
    assert [chat.session_id] == began


async def test_a_conversation_that_others_began_is_the_one_that_goes_on(store: Store) -> None:
    chat = Chat(store, "wren", ScriptedModel([answer("hi"), answer("two")]))
    await chat.send("one")
    old = chat.session_id
    new = start_session(store, "wren")
    assert chat.session.mark_on_disk() != chat.session.mark
    await chat.send("two")
    assert chat.session_id == new != old and spoken_in(store, '"two"') == [new]


async def test_a_first_conversation_that_others_began_is_not_replaced(store: Store) -> None:
    chat = Chat(store, "wren", ScriptedModel([answer("hi")]))
    chat.load()
    new = start_session(store, "wren")
    await chat.send("one")
    assert chat.session_id == new


async def test_a_message_that_was_cancelled_as_it_began_holds_the_next_one_up_in_nothing(
    store: Store,
) -> None:
    chat = Chat(store, "wren", ScriptedModel([answer("hi"), answer("two")]))
    await chat.send("one")
    chat.session.open_run(ExitStack())  # in a thread for which nobody waited
    new = start_session(store, "wren")
    await chat.send("two")
    assert chat.session_id == new and spoken_in(store, '"two"') == [new]
    chat.load()
    assert chat.clear() != new


async def test_a_message_that_is_cancelled_as_its_conversation_is_read_lets_that_go(
    store: FaultyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = Chat(store, "wren", ScriptedModel([answer("hi"), answer("two")]))
    await chat.send("one")
    opened, open_run = threading.Event(), chat.session.open_run

    def noted(held: ExitStack) -> Persona:
        try:
            return open_run(held)
        finally:
            opened.set()

    with monkeypatch.context() as disk:
        disk.setattr(chat.session, "open_run", noted)
        held = store.hold("get")
        sending = asyncio.ensure_future(chat.send("two"))
        await asyncio.to_thread(held.waits.wait)
        sending.cancel()
        await asyncio.wait({sending})
        held.goes_on.set()
        await asyncio.to_thread(opened.wait)
        if rest := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(rest)
        await asyncio.sleep(0)  # what is called when they are done
    assert chat.clear() and (await chat.send("three")).outcome == "completed"


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the system does not list open files")
async def test_no_file_stays_open_between_runs(store: Store) -> None:
    chats = []
    for number in range(5):
        persona = store.create(f"Wren {number}", system_prompt="One.\n")
        chats.append(Chat(store, persona.id, ScriptedModel([answer("hi"), answer("again")])))
    await asyncio.gather(*(chat.send("one") for chat in chats))
    await asyncio.gather(*(chat.send("two") for chat in chats))
    assert open_files(store.home.root) == []
    assert [turn.content for turn in chats[0].turns if isinstance(turn, UserTurn)] == ["one", "two"]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the system does not list open files")
async def test_no_file_stays_open_of_a_task_that_is_left_waiting(store: Store) -> None:
    store.create("kept", system_prompt=PROMPT)
    bench = Bench(store, [answer(ASK)])
    await bench.runner.start(bench.chat, "Do it.")
    await bench.until("waiting_user")
    bench.runner.suspend("kept")
    await bench.runner.wait("kept")
    assert open_files(store.home.root) == []
