"""A model written from the interface alone, what it says of its failure, and what it refused to answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

from agent.core.agent import Agent
from agent.core.events import Event
from agent.core.limits import Limits
from agent.core.messages import to_messages
from agent.core.model import (
    BlockDelta,
    BlockEnd,
    BlockEvent,
    BlockStart,
    Done,
    Failed,
    ModelError,
    Request,
    Usage,
    endpoint_of,
    name_of,
    seconds_of,
)
from agent.core.tool import NoInput, Tool, ToolContext
from agent.core.turns import ThinkingTurn, UserTurn
from agent.models.anthropic.stream_accumulator import read_usage
from agent.models.context_fallback import ContextFallback
from agent.models.scripted import ScriptedModel, Thought, ToolUse, answer
from agent.transcript.session_log import Session
from tests.support.virtual_time import LoopClock, run_virtually


class Bare:
    """Has only what the interface says."""

    def __init__(self, *events: BlockEvent) -> None:
        self.events = events
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[BlockEvent]:
        self.requests.append(request)
        for event in self.events:
            yield event


HELLO = (
    BlockStart(0, "thinking"),
    BlockEnd(0, signature="s"),
    BlockStart(1, "text"),
    BlockDelta(1, "hi"),
    BlockEnd(1),
    Done("end_turn"),
)


def agent_of(model: Any, **settings: Any) -> Agent:
    return Agent(model=model, clock=LoopClock(), **settings)


@pytest.mark.parametrize("wrap", [lambda model: model, ContextFallback], ids=["alone", "shortened"])
def test_a_model_needs_nothing_but_its_stream(wrap: Any) -> None:
    model = wrap(Bare(*HELLO))
    end = run_virtually(
        agent_of(model, limits=Limits(max_cost=1.0, price=lambda _name, _usage: 0.1)).prompt("x")
    )
    thought = next(turn for turn in end.turns if isinstance(turn, ThinkingTurn))
    assert end.outcome == "completed"
    assert (thought.model, thought.endpoint) == (name_of(model), endpoint_of(model)) == ("Bare", "")


def test_a_failure_is_told_at_a_bounded_length() -> None:
    end = run_virtually(agent_of(Bare(Failed(ModelError("client", "x" * 10**6)))).prompt("x"))
    assert end.error is not None and len(end.error.message) == 2_000


@pytest.mark.parametrize("wait", ["5", float("nan"), -1, True, None, 10**400, float("inf"), 3])
def test_a_wait_that_is_no_number_of_seconds_is_none(wait: Any) -> None:
    seconds = seconds_of(wait)
    assert seconds is None or 3 <= seconds < 1e9


@pytest.mark.parametrize("count", [10**400, -5, True, 2.5, "7", 2**53 + 1])
def test_a_count_of_tokens_that_cannot_be_one_is_no_report(count: Any) -> None:
    assert read_usage(Usage(3, 4), {"input_tokens": count, "output_tokens": 9}) == Usage(3, 9)


def test_what_cannot_be_sent_as_unicode_is_replaced_everywhere_in_a_request() -> None:
    class Odd(BaseModel):
        text: str = Field("", description="a \ud800 field")

    async def act(_given: Odd, _ctx: ToolContext) -> str:
        return "done"

    model = Bare(*HELLO)
    tools = [Tool("act", "does \ud800", "l", Odd, act)]
    run_virtually(agent_of(model, system_prompt="bad \ud800 prompt", tools=tools).prompt("x \ud800"))
    (request,) = model.requests
    assert request.system == "bad \ufffd prompt"
    assert repr((request.system, request.messages, request.tools)).count("\\ud800") == 0
    assert request.tools[0].description == "does \ufffd"


async def test_a_model_that_never_waits_can_be_stopped() -> None:
    class Endless(Bare):
        async def stream(self, request: Request) -> AsyncIterator[BlockEvent]:
            yield BlockStart(0, "text")
            while True:
                yield BlockDelta(0, "x")

    agent = Agent(model=Endless())
    run = asyncio.create_task(agent.prompt("x"))
    await asyncio.sleep(0)
    asyncio.get_running_loop().call_later(0.001, agent.abort)
    assert (await run).outcome == "cancelled"


@pytest.mark.parametrize("said", [(), ("",), ("  \n",), (Thought("hm", signature=""),)])
def test_an_empty_refusal_does_not_take_the_answer_before_it_out_of_later_requests(said: Any) -> None:
    async def act(_given: NoInput, _ctx: ToolContext) -> str:
        return "written"

    model = ScriptedModel(
        [answer(ToolUse("act", id="c1")), answer(*said, stop_reason="refusal"), answer("ok"), answer("ok")]
    )
    agent = agent_of(model, tools=[Tool("act", "d", "l", NoInput, act)])
    first = run_virtually(agent.prompt("do it"))
    assert first.outcome == "refused"
    run_virtually(agent.prompt("and now?"))
    kinds = [block["type"] for message in model.requests[-1].messages for block in message["content"]]
    assert kinds == ["text", "tool_use", "tool_result", "text"]


def test_a_refused_answer_is_kept_out_with_its_calls_and_nothing_else_is() -> None:
    async def act(_given: NoInput, _ctx: ToolContext) -> str:
        return "written"

    refused = answer("secret", ToolUse("act", id="c2"), stop_reason="refusal")
    model = ScriptedModel([answer(ToolUse("act", id="c1")), refused, answer("ok")])
    agent = agent_of(model, tools=[Tool("act", "d", "l", NoInput, act)])
    run_virtually(agent.prompt("do it"))
    run_virtually(agent.prompt("and now?"))
    sent = repr(model.requests[-1].messages)
    assert "c1" in sent
    assert "written" in sent
    assert "secret" not in sent
    assert "c2" not in sent


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("assistant_text", ["secret"]),
        ("tool_call", ["secret", ToolUse("act")]),
        ("notice", ["secret", ToolUse("act")]),
        ("step_end", ["secret"]),
    ],
)
def test_a_refused_answer_is_kept_out_also_when_the_run_is_stopped_around_its_refusal(
    when: str, said: Any
) -> None:
    model = ScriptedModel([answer(*said, stop_reason="refusal"), answer("ok")])
    agent = agent_of(model)

    def stop(event: Event) -> None:
        turn = getattr(event, "turn", None)
        if event.type in ("turn_end", "step_end") and when == (turn.type if turn is not None else "step_end"):
            agent.abort()

    unsubscribe = agent.subscribe(stop)
    assert run_virtually(agent.prompt("x")).outcome == "cancelled"
    unsubscribe()
    assert [turn.type for turn in agent.turns].count("notice") == 1
    run_virtually(agent.prompt("y"))
    assert "secret" not in repr(model.requests[-1].messages)
    assert "tool_result" not in repr(model.requests[-1].messages)


async def test_a_refused_answer_is_kept_out_also_when_the_program_ends_behind_it(tmp_path: Path) -> None:
    session = Session.create(tmp_path, "p")
    agent = Agent(model=ScriptedModel([answer("secret", ToolUse("act"), stop_reason="refusal")]))
    session.attach(agent)
    await agent.prompt("x")
    session.close()
    lines = session.path.read_bytes().splitlines(keepends=True)
    refused = next(at for at, line in enumerate(lines) if line.startswith(b'{"type":"notice"'))
    for end in range(refused + 1, len(lines) + 1):
        session.path.write_bytes(b"".join(lines[:end]))
        turns = Session.open(session.path).turns
        assert "secret" not in repr(to_messages([*turns, UserTurn(content="y")]))


def test_tokens_of_failed_attempts_count() -> None:
    busy = ModelError("overloaded", "Busy.", retryable=True)
    model = ScriptedModel([[Failed(busy, Usage(5, 1))], answer("ok", usage=Usage(7, 2))])
    end = run_virtually(agent_of(model).prompt("x"))
    assert (end.outcome, end.usage) == ("completed", Usage(12, 3))


@pytest.mark.parametrize("how", ["to its end", "stopped"])
def test_a_stream_lives_in_one_task_from_its_first_event_to_its_closing(how: str) -> None:
    tasks: set[object] = set()

    class Bounded(Bare):
        async def stream(self, request: Request) -> AsyncIterator[BlockEvent]:
            async with asyncio.timeout(50):  # belongs to the task that enters it
                try:
                    for event in self.events:
                        tasks.add(asyncio.current_task())
                        yield event
                        await asyncio.sleep(1)
                finally:
                    tasks.add(asyncio.current_task())

    async def main() -> str:
        agent = agent_of(Bounded(*HELLO))
        if how == "stopped":
            asyncio.get_running_loop().call_later(2.5, agent.abort)
        return (await agent.prompt("x")).outcome

    assert run_virtually(main()) == ("completed" if how == "to its end" else "cancelled")
    assert len(tasks) == 1
