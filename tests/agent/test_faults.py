"""Code given to a run may raise or answer anything: the run still closes everything and says how it ended."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from agent.core import run as agent_run
from agent.core.agent import Agent
from agent.core.events import AgentEnd, Event, ModelNotice
from agent.core.limits import Limits
from agent.core.loop import agent_loop
from agent.core.loop_config import AgentContext, LoopConfig
from agent.core.model import (
    BlockDelta,
    BlockEnd,
    BlockStart,
    Done,
)
from agent.core.retry import RetryPolicy
from agent.core.tool import HookContext, NoInput, Tool, ToolContext, ToolOutput
from agent.core.turns import AssistantTextTurn, NoticeTurn, ToolResultTurn, UserTurn
from agent.models.scripted import Raise, ScriptedModel, ToolUse, answer
from tests.agent.invariants import broken_invariants
from tests.support.virtual_time import LoopClock, run_virtually

PLACES = [
    "before_tool_call",
    "after_tool_call",
    "transform_context",
    "convert_to_llm",
    "get_api_key",
    "listener",
    "tool",
    "stream",
]


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL + 1, logger="agent")


async def look(_given: NoInput, _ctx: ToolContext) -> str:
    return "nothing"


LOOK = Tool("look", "d", "l", NoInput, look)


@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_what_cancels_itself_does_not_break_out(place: str, wait: bool) -> None:
    async def give_up(*_args: object) -> Any:
        if wait:
            await asyncio.sleep(0.01)
        raise asyncio.CancelledError

    script = [BlockStart(0, "text"), BlockDelta(0, "a"), Raise(asyncio.CancelledError())]
    agent = Agent(
        model=ScriptedModel(
            [script]
            if place == "stream"
            else [answer("hm", ToolUse("look"), ToolUse("look")), answer("done")]
        ),
        tools=[Tool("look", "d", "l", NoInput, give_up if place == "tool" else look)],
        clock=LoopClock(),
        **({place: give_up} if place.endswith(("call", "context", "llm", "key")) else {}),  # type: ignore[arg-type]
    )
    agent.retry = RetryPolicy(retries=0)
    events: list[Event] = []
    if place == "listener":
        agent.subscribe(give_up)
    agent.subscribe(events.append)
    end = run_virtually(agent.prompt("Hello"))
    assert broken_invariants(events, agent.turns) == []
    fails = place in ("stream", "transform_context", "convert_to_llm", "get_api_key")
    assert (events[-1], end.outcome) == (end, "failed" if fails else "completed")


@pytest.mark.parametrize("place", ["transform_context", "convert_to_llm", "get_api_key"])
@pytest.mark.parametrize("given", [None, 5])
def test_what_is_nothing_to_send_fails_the_run(place: str, given: Any) -> None:
    options: dict[str, Any] = {place: lambda *_args: given}
    agent = Agent(model=ScriptedModel([answer("ok")]), clock=LoopClock(), **options)
    events: list[Event] = []
    agent.subscribe(events.append)
    end = run_virtually(agent.prompt("Hello"))
    assert broken_invariants(events, agent.turns) == []
    assert end.outcome == ("completed" if (place, given) == ("get_api_key", None) else "failed")


START = [BlockStart(0, "text"), BlockDelta(0, "a"), BlockEnd(0)]
BAD_EVENTS: dict[str, tuple[list[Any], str]] = {
    "a blank stop reason": ([*START, Done(" ")], "failed"),
    "no stop reason": ([*START, Done(None)], "failed"),  # type: ignore[arg-type]
    "a number that is a list": ([BlockStart([], "text"), Done("x")], "failed"),  # type: ignore[arg-type]
    "nothing at all": ([None, *START, Done("x")], "completed"),
}


@pytest.mark.parametrize("name", BAD_EVENTS)
def test_bad_values_from_a_model_leave_nothing_open(name: str) -> None:
    script, outcome = BAD_EVENTS[name]
    agent = Agent(model=ScriptedModel([script, answer("again")]), tools=[LOOK], clock=LoopClock())
    agent.retry = RetryPolicy(retries=0)
    events: list[Event] = []
    agent.subscribe(events.append)
    end = run_virtually(agent.prompt("Hello"))
    assert end.outcome == outcome
    assert broken_invariants(events, agent.turns) == []


def test_calls_of_an_answer_without_a_stop_reason_do_not_run() -> None:
    ran = []

    async def act(_given: NoInput, _ctx: ToolContext) -> str:
        ran.append(1)
        return "done"

    script = [BlockStart(0, "tool_call", "c", "act"), BlockEnd(0, "{}"), Done("")]
    agent = Agent(
        model=ScriptedModel([script]), tools=[Tool("act", "d", "l", NoInput, act)], clock=LoopClock()
    )
    end = run_virtually(agent.prompt("Hello"))
    assert (end.outcome, ran) == ("failed", [])
    assert end.error is not None
    assert end.error.kind == "incomplete"


def test_a_block_of_an_unknown_kind_is_left_out_with_one_notice() -> None:
    odd: list[Any] = [
        BlockStart(0, "image", "c", "look"),  # type: ignore[arg-type]
        BlockDelta(0, "x"),
        BlockEnd(0, "{}"),
        BlockStart(1, "image"),  # type: ignore[arg-type]
        BlockStart(2, "text"),
        BlockDelta(2, "a picture"),
        BlockEnd(2),
        Done("end_turn"),
    ]
    agent = Agent(model=ScriptedModel([odd]), tools=[LOOK], clock=LoopClock())
    events: list[Event] = []
    agent.subscribe(events.append)
    end = run_virtually(agent.prompt("Hello"))
    assert [turn.type for turn in end.turns] == ["user", "assistant_text"]
    assert [event.message for event in events if isinstance(event, ModelNotice)] == [
        "The model sent a block of an unknown kind (image); it was left out."
    ]


@pytest.mark.parametrize("said", [None, 5, b"x", [5], ["x"], {"type": "user"}, UserTurn(content=5)])  # type: ignore[arg-type]
def test_what_is_no_turn_is_refused_at_the_call(said: Any) -> None:
    async def scene() -> None:
        agent = Agent(model=ScriptedModel([answer("ok")]))
        with pytest.raises(TypeError):
            await agent.prompt(said)
        for queue in (agent.steer, agent.follow_up):
            with pytest.raises(TypeError):
                queue(said)
        assert not agent.is_streaming
        assert agent.steering_queue == agent.follow_up_queue == agent.turns == ()
        assert (await agent.prompt("Hello")).outcome == "completed"

    run_virtually(scene())


@pytest.mark.parametrize("place", ["get_steering", "get_follow_up", "when_idle", "take_undelivered"])
@pytest.mark.parametrize("given", [[5], 5, "text", None])
def test_functions_that_give_no_turns_end_the_run_cleanly(place: str, given: Any) -> None:
    async def scene() -> list[Event]:
        model = ScriptedModel([answer(ToolUse("look")), answer("ok")])
        config = LoopConfig(model=model, clock=LoopClock(), **{place: lambda: given})
        return [
            event async for event in agent_loop([UserTurn(content="Hi")], AgentContext(tools=[LOOK]), config)
        ]

    events = run_virtually(scene())
    end = events[-1]
    assert isinstance(end, AgentEnd)
    assert broken_invariants(events, end.turns) == []
    assert end.outcome == ("completed" if place == "take_undelivered" else "failed")


@pytest.mark.parametrize(
    "given", [NoticeTurn(content="It failed."), None, UserTurn(content="Hi"), 5, KeyError]
)
@pytest.mark.parametrize("outcome", ["failed", "completed"])
def test_a_run_ends_with_the_notice_the_application_gives_and_with_nothing_else(
    given: Any, outcome: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, logger="agent")
    others: list[object] = []

    def gives(_about: object) -> Any:
        if given is KeyError:
            raise KeyError("no")
        return given

    async def scene() -> list[Event]:
        model = ScriptedModel([] if outcome == "failed" else [answer("ok")])
        asked = {"when_failed": others.append, "when_done": others.append}
        asked["when_failed" if outcome == "failed" else "when_done"] = gives
        config = LoopConfig(model=model, clock=LoopClock(), **asked)  # type: ignore[arg-type]
        return [event async for event in agent_loop([UserTurn(content="Hi")], AgentContext(), config)]

    events = run_virtually(scene())
    end = events[-1]
    assert isinstance(end, AgentEnd) and end.outcome == outcome
    assert broken_invariants(events, end.turns) == []
    said = [turn for turn in end.turns if not isinstance(turn, UserTurn | AssistantTextTurn)]
    assert said == ([given] if isinstance(given, NoticeTurn) else []) and others == []
    assert ("the notice on the run could not be made" in caplog.text) is (
        not isinstance(given, NoticeTurn | None)
    )
    assert [turn for turn in end.turns if isinstance(turn, UserTurn)] == list(end.turns[:1])


@pytest.mark.parametrize("how", ["parallel", "sequential"])
def test_a_fault_of_our_own_at_any_event_closes_everything_and_is_logged(
    how: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, logger="agent")
    emit = agent_run.Run.emit
    outcomes = []
    for nth in range(1, 60):
        count = 0

        async def fail_once(self: agent_run.Run, kind: Any, nth: int = nth, **fields: Any) -> Event:
            nonlocal count
            count += kind is not AgentEnd
            if count == nth + 1 and kind is not AgentEnd:
                raise RuntimeError("a fault of our own")
            return await emit(self, kind, **fields)

        monkeypatch.setattr(agent_run.Run, "emit", fail_once)
        model = ScriptedModel([answer("Let me see", ToolUse("look"), ToolUse("look")), answer("all done")])
        agent = Agent(model=model, tools=[LOOK], clock=LoopClock(), tool_execution=how)
        agent.retry = RetryPolicy(retries=0)
        events: list[Event] = []
        agent.subscribe(events.append)
        end = run_virtually(agent.prompt("Hello"))
        assert broken_invariants(events, agent.turns) == [], nth
        assert [turn for turn in end.turns if isinstance(turn, AssistantTextTurn) and not turn.content] == []
        outcomes.append(end.outcome)
    assert set(outcomes) == {"failed", "completed"}
    assert outcomes.count("failed") > 25
    assert "the run broke: RuntimeError: a fault of our own" in caplog.text


class Stubborn:
    """A hook that ignores its cancellation."""

    def __init__(self) -> None:
        self.cancelled = 0

    async def __call__(self, _context: HookContext) -> ToolOutput | None:
        for _ in range(100):
            try:
                await asyncio.sleep(1000)
                break
            except asyncio.CancelledError:
                self.cancelled += 1
                if self.cancelled > 5:
                    raise
        return None


@pytest.mark.parametrize("place", ["before_tool_call", "after_tool_call"])
def test_a_stubborn_hook_is_given_up_after_its_time(place: str) -> None:
    async def scene() -> tuple[AgentEnd, float]:
        hook = Stubborn()
        options: dict[str, Any] = {place: hook}
        agent = Agent(
            model=ScriptedModel([answer(ToolUse("look")), answer("ok")]),
            tools=[LOOK],
            limits=Limits(hook_timeout=2),
            clock=LoopClock(),
            **options,
        )
        loop = asyncio.get_running_loop()
        began = loop.time()
        end = await agent.prompt("Hello")
        took = loop.time() - began
        for _ in range(10):  # it was left behind and ends on its last cancellation
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            await asyncio.sleep(0)
        return end, took

    end, took = run_virtually(scene())
    assert took <= 2.1
    result = next(turn for turn in end.turns if isinstance(turn, ToolResultTurn))
    assert "took longer than 2 s" in result.output


def test_an_abort_does_not_wait_for_a_stubborn_hook_after_a_call() -> None:
    async def scene() -> tuple[AgentEnd, float]:
        agent = Agent(
            model=ScriptedModel([answer(ToolUse("look")), answer("ok")]),
            tools=[LOOK],
            after_tool_call=Stubborn(),
            clock=LoopClock(),
        )
        loop = asyncio.get_running_loop()
        loop.call_later(1, agent.abort)
        began = loop.time()
        end = await agent.prompt("Hello")
        took = loop.time() - began
        for _ in range(10):
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            await asyncio.sleep(0)
        return end, took

    end, took = run_virtually(scene())
    assert end.outcome == "cancelled"
    assert took <= 1.1
