"""The log of a conversation: what it holds, and that it opens whatever happened to it."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.core.agent import Agent
from agent.core.limits import Limits
from agent.core.messages import to_messages
from agent.core.repair import NEVER_RAN, OUTCOME_UNKNOWN, missing_results
from agent.core.tool import Block, ChangeInput, HookContext, NoInput, Tool, ToolContext, ToolOutput
from agent.core.turns import (
    AssistantTextTurn,
    CustomTurn,
    NoticeTurn,
    ToolCallTurn,
    ToolResultTurn,
    Turn,
    UserTurn,
)
from agent.models.scripted import Act, ScriptedModel, Thought, ToolUse, answer
from agent.transcript.session_log import Session
from agent.transcript.turn_records import from_record, to_record
from personas.errors import BrokenFile, InvalidValue, PersonaError, StorageError
from tests.support.messages_rules import violations


async def look(_given: NoInput, _ctx: ToolContext) -> ToolOutput:
    return ToolOutput(output="nothing", details={"lines": [1, 2]})


LOOK = Tool("look", "d", "l", NoInput, look)


async def recorded(folder: Path) -> tuple[Session, Agent]:
    """A conversation of two runs with thinking, calls and text."""
    session = Session.create(folder, "optimist")
    model = ScriptedModel(
        [
            answer(Thought("hm"), "Let me look", ToolUse("look"), ToolUse("nope")),
            answer("Nothing there. \ud83d é"),
            answer(ToolUse("look", id="call_1")),
            answer("Still nothing."),
        ]
    )
    agent = Agent(model=model, tools=[LOOK])
    session.attach(agent)
    await agent.prompt("look around")
    await agent.prompt("again")
    return session, agent


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


async def test_a_session_is_a_header_and_what_happened_in_order(tmp_path: Path) -> None:
    session, _ = await recorded(tmp_path)
    lines = records(session.path)
    assert lines[0] == {
        "type": "session",
        "version": 1,
        "id": session.id,
        "persona_id": "optimist",
        "created_at": session.created_at,
    }
    assert [line["type"] for line in lines[1:14]] == [
        "run_start",
        "user",
        "thinking",
        "assistant_text",
        "tool_call",
        "tool_call",
        "started",
        "tool_result",
        "tool_result",
        "step_end",
        "assistant_text",
        "step_end",
        "run_end",
    ]
    assert lines[5]["tool_name"] == "look"
    assert lines[8] == {
        "type": "tool_result",
        "id": lines[8]["id"],
        "created_at": lines[8]["created_at"],
        "tool_use_id": "call_1",
        "output": "nothing",
        "is_error": False,
        "details": {"lines": [1, 2]},
    }
    assert lines[13]["outcome"] == "completed"
    assert lines[13]["usage"]["output_tokens"] == 2


async def test_a_session_opens_as_it_was(tmp_path: Path) -> None:
    session, agent = await recorded(tmp_path)
    opened = Session.open(session.path, persona_id="optimist")
    assert opened.turns == list(agent.turns)
    assert (opened.id, opened.persona_id, opened.created_at) == (session.id, "optimist", session.created_at)
    assert opened.problems == []


async def test_the_file_is_private(tmp_path: Path) -> None:
    session, _ = await recorded(tmp_path)
    assert session.path.stat().st_mode & 0o777 == 0o600


async def test_user_turns_are_written_before_the_request_and_calls_before_they_run(tmp_path: Path) -> None:
    seen: list[list[str]] = []
    session = Session.create(tmp_path, "p")

    def note() -> None:
        seen.append([record["type"] for record in records(session.path)])

    async def act(_given: NoInput, _ctx: ToolContext) -> str:
        note()
        return "ok"

    model = ScriptedModel([[Act(note), *answer(ToolUse("act"))], answer("done")])
    agent = Agent(model=model, tools=[Tool("act", "d", "l", NoInput, act)])
    session.attach(agent)
    await agent.prompt("hi")
    assert seen[0] == ["session", "run_start", "user"]
    assert seen[1] == ["session", "run_start", "user", "tool_call", "started"]


async def test_started_is_written_after_the_hook_agreed_and_not_when_it_blocks(tmp_path: Path) -> None:
    session = Session.create(tmp_path, "p")
    asked: list[list[str]] = []

    async def ask(context: HookContext) -> Block | None:
        asked.append([record["type"] for record in records(session.path)])
        return Block("no") if len(asked) == 1 else None

    model = ScriptedModel([answer(ToolUse("look"), ToolUse("look")), answer("done")])
    agent = Agent(model=model, tools=[LOOK], before_tool_call=ask)
    detach = session.attach(agent)
    await agent.prompt("hi")
    assert "started" not in asked[0] + asked[1]
    started = [record["tool_use_id"] for record in records(session.path) if record["type"] == "started"]
    assert started == ["call_2"]
    detach()
    assert agent.before_tool_call is ask and agent.on_launch is None


async def test_a_call_that_waits_for_a_free_slot_is_not_run_after_a_crash(tmp_path: Path) -> None:
    session = Session.create(tmp_path, "p")
    seen: list[str] = []

    async def act(_given: NoInput, _ctx: ToolContext) -> str:
        seen.extend(
            turn.output for turn in Session.open(session.path).turns if isinstance(turn, ToolResultTurn)
        )
        return "ok"

    model = ScriptedModel([answer(ToolUse("act"), ToolUse("look")), answer("done")])
    agent = Agent(
        model=model, tools=[Tool("act", "d", "l", NoInput, act), LOOK], limits=Limits(max_parallel_tools=1)
    )
    session.attach(agent)
    await agent.prompt("hi")
    assert seen == [OUTCOME_UNKNOWN, NEVER_RAN]


async def test_the_record_of_a_start_names_the_input_a_hook_gave(tmp_path: Path) -> None:
    session = Session.create(tmp_path, "p")
    answers: list[Any] = [ChangeInput({}), ChangeInput({"no": "such field"})]
    model = ScriptedModel([answer(ToolUse("look")), answer(ToolUse("look")), answer("done")])
    agent = Agent(model=model, tools=[LOOK], before_tool_call=lambda _context: answers.pop(0))
    session.attach(agent)
    await agent.prompt("hi")
    starts = [record for record in records(session.path) if record["type"] == "started"]
    assert [start.get("ran_with") for start in starts] == [{}]
    results = [turn for turn in Session.open(session.path).turns if isinstance(turn, ToolResultTurn)]
    assert [(result.details or {}).get("ran_with", "none") for result in results] == [{}, "none"]


async def test_a_call_whose_start_cannot_be_noted_is_not_run() -> None:
    ran: list[str] = []

    async def act(_given: NoInput, _ctx: ToolContext) -> str:
        ran.append("act")
        return "ok"

    def refuse(_call: ToolCallTurn, _changed: object) -> None:
        raise OSError("the disk is full")

    model = ScriptedModel([answer(ToolUse("act")), answer("done")])
    agent = Agent(model=model, tools=[Tool("act", "d", "l", NoInput, act)])
    agent.on_launch = refuse
    end = await agent.prompt("hi")
    results = [turn.output for turn in end.turns if isinstance(turn, ToolResultTurn)]
    assert ran == [] and end.outcome == "completed" and "the disk is full" in results[0]


async def test_the_listener_alone_notes_started_when_a_call_begins(tmp_path: Path) -> None:
    session = Session.create(tmp_path, "p")
    agent = Agent(model=ScriptedModel([answer(ToolUse("look")), answer("done")]), tools=[LOOK])
    agent.subscribe(session.record)
    await agent.prompt("hi")
    assert [record["type"] for record in records(session.path)].count("started") == 1


async def test_the_log_is_synced_at_the_end_of_a_step_off_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session.create(tmp_path, "p")
    threads: list[bool] = []
    monkeypatch.setattr(
        session, "sync", lambda **_: threads.append(threading.current_thread() is threading.main_thread())
    )
    agent = Agent(model=ScriptedModel([answer("a")]))
    order: list[tuple[str, int]] = []
    agent.subscribe(session.record)
    agent.subscribe(lambda event: order.append((event.type, len(threads))))
    await agent.prompt("hi")
    assert dict(order)["step_end"] == 1
    assert threads == [False, False]


@pytest.mark.parametrize("waited_for", [True, False])
async def test_a_disk_that_refuses_to_sync_is_told_on_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waited_for: bool
) -> None:
    heard: list[tuple[str, bool]] = []
    told = asyncio.Event()

    def hear(error: PersonaError) -> None:
        heard.append((type(error).__name__, threading.current_thread() is threading.main_thread()))
        told.set()
        agent.abort(str(error))

    session = Session.create(tmp_path, "p", on_failure=hear)
    answered = threading.Event()

    def refuse(_descriptor: int) -> None:
        answered.wait(5)
        raise OSError(errno.EIO, "EIO")

    monkeypatch.setattr(os, "fsync", refuse)
    agent = Agent(model=ScriptedModel([answer(ToolUse("look")), answer("never asked for")]), tools=[LOOK])
    agent.listener_grace = 0.0
    session.attach(agent)
    if waited_for:
        answered.set()
    else:
        agent.subscribe(lambda event: agent.abort() if event.type == "tool_end" else None)
    end = await agent.prompt("hi")
    assert end.outcome == "cancelled" and end.steps == 1
    answered.set()
    async with asyncio.timeout(5):
        await told.wait()
    assert set(heard) == {("StorageError", True)}
    assert isinstance(session.failure, StorageError)


async def test_a_conversation_cut_anywhere_opens_and_its_next_request_is_valid(tmp_path: Path) -> None:
    session, _ = await recorded(tmp_path)
    content = session.path.read_bytes()
    copy = tmp_path / "copy" / session.path.name
    copy.parent.mkdir()
    copy.write_bytes(content)
    boundaries = {0}
    for end in range(len(content), -1, -1):
        os.truncate(copy, end)
        cut = Session.open(copy)
        turns = cut.turns
        assert violations({"messages": to_messages([*turns, UserTurn(content="and?")])}) == []
        calls = [turn.tool_use_id for turn in turns if isinstance(turn, ToolCallTurn)]
        results = [turn.tool_use_id for turn in turns if isinstance(turn, ToolResultTurn)]
        assert sorted(calls) == sorted(results)
        boundaries.add(len(turns))
    assert len(boundaries) > 8


async def test_a_cut_conversation_goes_on_and_opens_again(tmp_path: Path) -> None:
    session, _ = await recorded(tmp_path)
    content = session.path.read_bytes()
    copy = tmp_path / "copy" / session.path.name
    copy.parent.mkdir()
    for end in range(content.index(b"\n") + 1, len(content), 97):
        copy.write_bytes(content[:end])
        cut = Session.open(copy)
        agent = Agent(model=ScriptedModel([answer("fine")]), turns=cut.turns)
        agent.subscribe(cut.record)
        assert (await agent.prompt("and?")).outcome == "completed"
        cut.close()
        again = Session.open(copy)
        assert [to_record(turn) for turn in again.turns] == [to_record(turn) for turn in agent.turns]
        assert violations({"messages": to_messages(again.turns)}) == []


def conversation_with_open_calls() -> list[Turn]:
    return [
        UserTurn(content="hi"),
        ToolCallTurn(tool_use_id="a", tool_name="look", input={}),
        ToolCallTurn(tool_use_id="b", tool_name="look", input={}),
        ToolCallTurn(tool_use_id="c", tool_name="look", input={}),
        ToolResultTurn(tool_use_id="a", output="done"),
    ]


def test_repair_tells_a_call_that_was_started_from_one_that_was_not() -> None:
    turns = conversation_with_open_calls()
    made_up = missing_results(turns, started={"a", "b"})
    assert [(turn.tool_use_id, turn.output, turn.is_error) for turn in made_up] == [
        ("b", OUTCOME_UNKNOWN, True),
        ("c", NEVER_RAN, True),
    ]
    assert missing_results([*turns, *made_up], started={"a", "b"}) == []


def test_opening_after_a_crash_answers_calls_and_writes_that_with_the_next_record(tmp_path: Path) -> None:
    session = Session.create(tmp_path, "p")
    turns = conversation_with_open_calls()
    for turn in turns[:4]:
        session.add(turn)
    session.started(turns[1])  # type: ignore[arg-type]
    before = session.path.read_bytes()
    opened = Session.open(session.path)
    assert session.path.read_bytes() == before
    assert [turn.output for turn in opened.turns if isinstance(turn, ToolResultTurn)] == [
        OUTCOME_UNKNOWN,
        NEVER_RAN,
        NEVER_RAN,
    ]
    opened.add(NoticeTurn(content="welcome back"))
    again = Session.open(session.path)
    assert again.turns == opened.turns
    assert [record["type"] for record in records(session.path)][-4:] == ["tool_result"] * 3 + ["notice"]


def test_the_end_of_a_session_is_read_first_and_the_rest_when_asked_for(tmp_path: Path) -> None:
    session = Session.create(tmp_path, "p")
    whole: list[Turn] = []
    for number in range(100):
        whole += [
            UserTurn(content=f"q{number}"),
            AssistantTextTurn(content="a"),
            AssistantTextTurn(content="b"),
        ]
    for turn in whole:
        session.add(turn)
    opened = Session.open(session.path, tail=10)
    assert opened.recent == whole[-12:]
    assert opened.earlier() == whole[:-12]
    assert opened.turns == whole
    opened.add(UserTurn(content="new"))
    assert opened.turns[:-1] == whole
    assert Session.open(session.path, tail=10_000).recent == opened.turns
    assert Session.open(session.path, tail=10, user_turns=30).recent == opened.turns[-88:]
    assert Session.open(session.path, tail=10, user_turns=1_000).recent == opened.turns


def test_a_long_session_opens_as_fast_as_a_short_one(tmp_path: Path) -> None:
    def opening(turns: int) -> float:
        session = Session.create(tmp_path, "p", session_id=f"s{turns}")
        for number in range(turns // 2):
            session.add(UserTurn(content=f"q{number} " + "word " * 20))
            session.add(AssistantTextTurn(content="word " * 60))
        times = []
        for _ in range(15):
            began = time.process_time()
            Session.open(session.path)
            times.append(time.process_time() - began)
        return min(times)

    assert opening(3000) < 3 * opening(100)  # a whole reading would take 30 times as long


def test_a_session_of_another_persona_is_refused(tmp_path: Path) -> None:
    session = Session.create(tmp_path, "optimist")
    with pytest.raises(InvalidValue, match="another persona"):
        Session.open(session.path, persona_id="cynic")


def test_a_session_of_a_newer_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"type": "session", "version": 2, "id": "s", "persona_id": "p", "created_at": ""}\n')
    with pytest.raises(BrokenFile, match="newer"):
        Session.open(path)


def test_a_missing_session_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(BrokenFile, match="no session"):
        Session.open(tmp_path / "nope.jsonl")


@pytest.mark.parametrize("session_id", ["../x", "a/b", "/x"])
def test_a_session_never_leaves_its_folder(tmp_path: Path, session_id: str) -> None:
    with pytest.raises(InvalidValue):
        Session.create(tmp_path, "p", session_id=session_id)


def test_a_taken_id_is_refused(tmp_path: Path) -> None:
    Session.create(tmp_path, "p", session_id="s")
    with pytest.raises(InvalidValue):
        Session.create(tmp_path, "p", session_id="s")


def test_a_symlink_is_not_followed(tmp_path: Path) -> None:
    session = Session.create(tmp_path, "p", session_id="s")
    (tmp_path / "t.jsonl").symlink_to(session.path)
    with pytest.raises(PersonaError):
        Session.open(tmp_path / "t.jsonl")


HOSTILE = [
    b"",
    b"\0" * 4096,
    b"not json",
    b"[" * 50_000,
    b'{"type": "user", "content": 1}',
    b'{"type": "user"}',
    b'{"type": 5, "content": "x"}',
    b'{"type": ["user"]}',
    b'{"type": "tool_call", "tool_use_id": "x", "tool_name": "a", "input": '
    + b'{"a":' * 900
    + b"1"
    + b"}" * 900
    + b"}",
    b'{"type": "tool_call", "tool_use_id": 1e999, "tool_name": "a", "input": {}}',
    b'{"type": "weather", "id": 7}',
    b'{"type": "weather", "number": ' + b"9" * 5000 + b"}",
    b'{"type": "started", "tool_use_id": {"a": 1}}',
    b'{"type": "session", "version": "x"}',
    b'{"type": "thinking", "content": "x", "signature": 5}',
    b'{"type": "tool_result", "tool_use_id": "orphan", "output": "\\ud800\\u0000"}',
    b'"just text"',
    b"\xff\xfe\x00",
]


@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("headed", [True, False])
def test_hostile_lines_are_skipped_and_the_rest_is_read(tmp_path: Path, line: bytes, headed: bool) -> None:
    path = tmp_path / "s.jsonl"
    header = b'{"type": "session", "version": 1, "id": "s", "persona_id": "p", "created_at": ""}\n'
    good = b'{"type": "user", "id": "u", "created_at": "", "content": "hi"}\n'
    path.write_bytes((header if headed else b"") + line + b"\n" + good)
    session = Session.open(path)
    assert [turn for turn in session.turns if isinstance(turn, UserTurn)][-1].content == "hi"
    assert violations({"messages": to_messages(session.turns)}) == []


def test_a_session_without_a_header_says_so(tmp_path: Path) -> None:
    (path := tmp_path / "s.jsonl").write_bytes(b'{"type": "user", "id": "u", "content": "hi"}\n')
    assert Session.open(path).problems == ["The session has no header; what can be read of it is shown."]


def test_what_was_skipped_is_told(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        b'{"type": "session", "version": 1, "id": "other", "persona_id": "p"}\n'
        b'{"type": "user", "content": 1}\nbroken\n'
        b'{"type": "user", "id": "u", "content": "a"}\n{"type": "user", "id": "u", "content": "b"}\n'
    )
    session = Session.open(path)
    told = " ".join(session.problems)
    assert "another session" in told
    assert "wrong type" in told
    assert "damaged" in told
    assert "second turn" in told
    assert [turn.content for turn in session.turns] == ["a"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("ends", "is_cut"),
    [
        (b'{"type": "run_end"}\n', False),
        (b"", True),
        (b'{"type": "notice", "id": "n", "content": "given up"}\n', False),
    ],
)
def test_a_run_without_an_end_or_a_notice_behind_it_was_cut(
    tmp_path: Path, ends: bytes, is_cut: bool
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        b'{"type": "session", "version": 1, "id": "s", "persona_id": "p"}\n{"type": "run_start"}\n'
        b'{"type": "user", "id": "u", "content": "hi"}\n' + ends
    )
    assert Session.open(path).was_cut is is_cut


def test_unknown_kinds_survive_as_they_are() -> None:
    record = {"type": "weather", "id": "w", "created_at": "now", "sky": {"blue": [1, None]}}
    turn = from_record(record)
    assert isinstance(turn, CustomTurn)
    assert to_record(turn) == record


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner, max_size=2),
    max_leaves=5,
)
KINDS = [
    "user",
    "assistant_text",
    "thinking",
    "tool_call",
    "tool_result",
    "notice",
    "session",
    "started",
    "weather",
]
FIELDS = ["id", "content", "input", "tool_use_id", "tool_name", "output", "is_error", "version", "signature"]


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(
        st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=5).flatmap(
            lambda fields: st.sampled_from(KINDS).map(lambda kind: {**fields, "type": kind})
        ),
        max_size=8,
    )
)
def test_forged_records_never_break_a_session(tmp_path: Path, forged: list[dict[str, Any]]) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in forged))
    try:
        session = Session.open(path)
    except PersonaError:
        return
    assert violations({"messages": to_messages(session.turns)}) == []


def test_what_the_disk_refuses_is_told_and_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[PersonaError] = []
    session = Session.create(tmp_path, "p", on_failure=told.append)
    append = session._journal.append

    def refuse(record: dict[str, Any], *, sync: bool = False) -> None:
        raise StorageError("The disk is full.")

    monkeypatch.setattr(session._journal, "append", refuse)
    session.add(UserTurn(content="one"))
    assert str(session.failure) == "The disk is full."
    assert len(told) == 1
    monkeypatch.setattr(session._journal, "append", append)
    session.add(UserTurn(content="two"))
    assert session.failure is None
    assert [turn.content for turn in Session.open(session.path).turns] == ["one", "two"]  # type: ignore[union-attr]


@pytest.mark.parametrize("content", ["x" * 2000, object()], ids=["too long", "no JSON"])
@pytest.mark.parametrize("disk_is_full", [False, True])
def test_a_turn_the_log_refuses_does_not_block_those_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: Any, disk_is_full: bool
) -> None:
    monkeypatch.setattr("personas.files.journal.LINE_LIMIT", 1000)
    told: list[PersonaError] = []
    session = Session.create(tmp_path, "p", on_failure=told.append)
    with monkeypatch.context() as patch:
        if disk_is_full:  # then both wait behind the first
            patch.setattr("os.write", lambda *_: 0)
        session.add(UserTurn(content="one"))
        session.add(UserTurn(content=content))
    session.add(UserTurn(content="two"))
    assert [turn.content for turn in Session.open(session.path).turns] == ["one", "two"]  # type: ignore[union-attr]
    assert any(isinstance(error, InvalidValue) for error in told)
    session.add(UserTurn(content="three"))
    assert session.failure is None


async def test_two_agents_do_not_share_a_log_by_accident(tmp_path: Path) -> None:
    first, second = Session.create(tmp_path, "p"), Session.create(tmp_path, "p")
    assert first.path != second.path
    one = Agent(model=ScriptedModel([answer("a")]))
    two = Agent(model=ScriptedModel([answer("b")]))
    one.subscribe(first.record)
    two.subscribe(second.record)
    await asyncio.gather(one.prompt("1"), two.prompt("2"))
    assert [turn.content for turn in Session.open(first.path).turns] == ["1", "a"]  # type: ignore[union-attr]


def test_a_call_left_open_gets_no_second_result_once_the_conversation_went_on(tmp_path: Path) -> None:
    session = Session.create(tmp_path, "optimist")
    session.add(UserTurn(content="go"))
    session.add(ToolCallTurn(tool_use_id="call_1", tool_name="ask_user", input={"question": "Which?"}))
    session.close()
    again = Session.open(session.path)
    assert [call.tool_use_id for call in again.left_open] == ["call_1"]
    again.add(UserTurn(content="something else"))
    assert again.left_open == []
    with pytest.raises(InvalidValue):
        again.settle(ToolResultTurn(tool_use_id="call_1", output="the first"))
    again.close()
    assert Session.open(session.path).turns == again.turns


def test_the_real_result_of_a_left_call_is_in_the_log_once_beside_those_of_the_others(tmp_path: Path) -> None:
    session = Session.create(tmp_path, "optimist")
    session.add(UserTurn(content="go"))
    for name in ("first", "second"):
        session.add(ToolCallTurn(tool_use_id=name, tool_name="ask_user", input={"question": "Which?"}))
    session.close()
    again = Session.open(session.path)
    again.settle(ToolResultTurn(tool_use_id="first", output="this"))
    again.close()
    read = Session.open(session.path)
    results = [turn for turn in read.turns if isinstance(turn, ToolResultTurn)]
    assert [turn.tool_use_id for turn in results] == ["first", "second"] and results[0].output == "this"
    assert read.problems == [] and read.path.read_bytes().count(b"tool_result") == 2
