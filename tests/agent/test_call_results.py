"""What becomes of a call's result: bounded whatever failed, kept whatever it carries, one also for a call that waits."""

from __future__ import annotations

import asyncio
import json
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from agent.core.agent import Agent
from agent.core.model import BlockDelta, BlockEnd, BlockStart, Done
from agent.core.response_assembler import parse_input
from agent.core.tool import Block, ChangeInput, HookContext, Tool, ToolContext, ToolOutput
from agent.core.tool_execution import LONGEST_ERROR
from agent.core.turns import CustomTurn, ToolCallTurn, ToolResultTurn, Turn, UserTurn
from agent.models.scripted import ScriptedModel, ToolUse, answer
from agent.transcript.session_log import Session
from agent.transcript.turn_records import as_json, from_record, to_record
from tests.support.virtual_time import LoopClock, run_virtually


class Said(BaseModel):
    text: str = "nothing"


async def repeat(given: Said, _ctx: ToolContext) -> str:
    return f"ran with {given.text}"


async def explode(_given: Said, _ctx: ToolContext) -> str:
    raise ValueError("x" * 300_000)


def raise_at_length(_context: HookContext) -> None:
    raise ValueError("y" * 300_000)


def results(turns: tuple[Turn, ...]) -> list[ToolResultTurn]:
    return [turn for turn in turns if isinstance(turn, ToolResultTurn)]


@pytest.mark.parametrize(
    ("call", "settings"),
    [
        (ToolUse("explode"), {}),
        (ToolUse("n" * 200_000), {}),
        (ToolUse("repeat", {"k" * 200_000: 1}), {}),
        (ToolUse("repeat"), {"before_tool_call": lambda _context: Block("z" * 300_000)}),
        (ToolUse("repeat"), {"before_tool_call": raise_at_length}),
        (ToolUse("repeat"), {"after_tool_call": raise_at_length}),
    ],
    ids=["exception", "unknown-tool", "unknown-field", "block", "before-hook", "after-hook"],
)
def test_why_a_call_failed_is_told_at_a_bounded_length(call: ToolUse, settings: dict[str, Any]) -> None:
    tools = [Tool("repeat", "d", "l", Said, repeat), Tool("explode", "d", "l", Said, explode)]
    model = ScriptedModel([answer(call), answer("ok")])
    end = run_virtually(Agent(model=model, tools=tools, clock=LoopClock(), **settings).prompt("x"))
    (result,) = results(end.turns)
    assert result.is_error
    assert len(result.output) < LONGEST_ERROR + 200


@pytest.mark.parametrize("details", [{"x": object()}, {"b": b"x", (1, 2): float("nan")}])
@pytest.mark.parametrize("hook", [None, lambda _context: ChangeInput({"text": "b"})])
def test_an_output_counts_whatever_its_details_are_and_is_there_after_a_restart(
    details: Any, hook: Any, tmp_path: Path
) -> None:
    async def act(_given: Said, _ctx: ToolContext) -> ToolOutput:
        return ToolOutput(output="done", details=details)

    failures: list[Exception] = []
    session = Session.create(tmp_path, "p", on_failure=failures.append)
    model = ScriptedModel([answer(ToolUse("act")), answer("ok")])
    tools = [Tool("act", "d", "l", Said, act)]
    agent = Agent(model=model, tools=tools, before_tool_call=hook, clock=LoopClock())
    session.attach(agent)
    end = asyncio.run(agent.prompt("x"))
    session.close()
    read = Session.open(session.path)
    assert (end.outcome, failures, read.problems) == ("completed", [], [])
    assert [(turn.output, turn.is_error) for turn in results((*end.turns, *read.turns))] == [
        ("done", False)
    ] * 2
    assert [turn.type for turn in read.turns] == ["user", "tool_call", "tool_result", "assistant_text"]


class Size(IntEnum):
    LARGE = 3


_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=2) | st.integers() | st.none(), inner, max_size=3)
        | st.tuples(inner, st.sampled_from([object(), Size.LARGE, 10**5000]))
    ),
    max_leaves=8,
)


@given(fields=st.dictionaries(st.text(max_size=3), _anything, max_size=3))
def test_any_turn_can_be_written_and_read(fields: dict[str, Any]) -> None:
    for turn in (
        ToolResultTurn(tool_use_id="c", output="o", details=fields),
        CustomTurn(type="weather", fields=fields),
        ToolCallTurn(tool_use_id="c", tool_name="t", input=fields),
    ):
        read = from_record(json.loads(json.dumps(to_record(turn), allow_nan=False)))
        assert (read.type, read.id) == (turn.type, turn.id)


@pytest.mark.parametrize("levels", [99, 100, 101, 102])
def test_an_input_that_may_run_can_be_read_again(levels: int) -> None:
    value, fault = parse_input('{"a":' * levels + "1" + "}" * levels)
    assert bool(fault) == (levels > 101)
    call = ToolCallTurn(tool_use_id="c", tool_name="t", input=value)
    assert from_record(json.loads(json.dumps(to_record(call)))) == call


def test_what_is_nested_too_deeply_ends_in_a_text() -> None:
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    assert from_record(to_record(ToolResultTurn(tool_use_id="c", output="o", details={"deep": deep})))
    assert as_json([Size.LARGE, 1.5, None]) == [3, 1.5, None]


def test_details_in_a_log_that_are_none_do_not_cost_the_result() -> None:
    record = to_record(ToolResultTurn(tool_use_id="c", output="o"))
    read = from_record({**record, "details": [1]})
    assert isinstance(read, ToolResultTurn)
    assert (read.output, read.details) == ("o", None)


def test_the_timeout_of_a_tool_is_for_the_tool_and_not_for_the_check_after_it() -> None:
    async def look(_context: HookContext) -> None:
        await asyncio.sleep(5)

    tool = Tool("repeat", "d", "l", Said, repeat, timeout=1.0)
    model = ScriptedModel([answer(ToolUse("repeat", {"text": "a"})), answer("ok")])
    end = run_virtually(Agent(model=model, tools=[tool], after_tool_call=look, clock=LoopClock()).prompt("x"))
    assert [(turn.output, turn.is_error) for turn in results(end.turns)] == [("ran with a", False)]


@pytest.mark.parametrize("how", ["sequential-setting", "sequential-tool", "control-tool"])
def test_a_call_that_waits_for_its_turn_can_be_cancelled(how: str) -> None:
    ran: list[str] = []

    async def act(given: Said, _ctx: ToolContext) -> str:
        ran.append(given.text)
        if given.text == "first":
            second = [turn for turn in agent.turns if isinstance(turn, ToolCallTurn)][1]
            assert agent.cancel_tool(second.id)
            await asyncio.sleep(1)
        return "ran"

    tools = [
        Tool("act", "d", "l", Said, act, sequential=how == "sequential-tool"),
        Tool("ask_user", "d", "l", Said, act),
    ]
    second = ToolUse("ask_user" if how == "control-tool" else "act", {"text": "second"})
    model = ScriptedModel([answer(ToolUse("act", {"text": "first"}), second), answer("ok")])
    agent = Agent(
        model=model,
        tools=tools,
        tool_execution="sequential" if how == "sequential-setting" else "parallel",
        clock=LoopClock(),
    )
    end = run_virtually(agent.prompt("x"))
    assert (end.outcome, ran) == ("completed", ["first"])
    assert [turn.output for turn in results(end.turns)] == ["ran", "Cancelled by the user: not run."]


@pytest.mark.parametrize("repeated", [True, False])
def test_a_call_runs_with_the_input_that_came_in_deltas(repeated: bool) -> None:
    raw = '{"text": "hello"}'
    call = [
        BlockStart(0, "tool_call", "c1", "repeat"),
        *(BlockDelta(0, piece) for piece in raw),
        BlockEnd(0, input_json=raw if repeated else ""),
        Done("tool_use"),
    ]
    model = ScriptedModel([call, answer("ok")])
    agent = Agent(model=model, tools=[Tool("repeat", "d", "l", Said, repeat)], clock=LoopClock())
    end = run_virtually(agent.prompt(UserTurn(content="x")))
    assert [turn.output for turn in results(end.turns)] == ["ran with hello"]


@pytest.mark.parametrize(
    "kind", ["", "user", "tool_result", "session", "started", "run_start", "run_end", "step_end"]
)
def test_a_kind_of_an_applications_own_is_none_that_the_log_knows(kind: str) -> None:
    with pytest.raises(ValueError, match="cannot be of the kind"):
        CustomTurn(type=kind, fields={})
