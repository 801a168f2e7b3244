"""Code given to a run may hang anywhere, and may ignore its cancellation: the run settles all the same once it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import pytest

from agent.core import cancellation
from agent.core.agent import Agent
from agent.core.events import Event, StepEnd
from agent.core.limits import Limits
from agent.core.loop import AgentContext, LoopConfig, agent_loop
from agent.core.model import BlockDelta, BlockEnd, BlockEvent, BlockStart, Done, Request
from agent.core.tool import HookContext, NoInput, Tool, ToolContext
from agent.core.turns import Turn, UserTurn
from tests.agent.invariants import broken_invariants
from tests.support.virtual_time import LoopClock, run_virtually

STOPPED_AT = 10.0
GRACE = 0.05
BOUND = GRACE + 0.1

EVENTS = ("agent_start", "step_start", "turn_start", "turn_delta", "turn_end", "tool_start", "tool_progress")
EVENTS += ("tool_end", "step_end", "agent_end")
FUNCTIONS = (
    "transform_context",
    "convert_to_llm",
    "get_api_key",
    "before_tool_call",
    "after_tool_call",
    "tool",
)
STREAM = ("stream, before its first event", "stream, in the middle", "stream, in closing")


class Hanging:
    """Hangs when it is called for its place, the first time or every time."""

    def __init__(self, place: str, *, obeys: bool, for_ever: bool = False) -> None:
        self.place = place
        self.times = 0
        self._obeys = obeys
        self._for_ever = for_ever

    async def at(self, place: str) -> None:
        if place != self.place or (self.times and not self._for_ever):
            return
        self.times += 1
        for _ in range(1 if self._obeys else 2):
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                if self._obeys:
                    raise


class HangingModel:
    """Calls the one tool, then says a word."""

    name, endpoint = "hanging", "here"

    def __init__(self, hanging: Hanging) -> None:
        self._hanging = hanging
        self._requests = 0

    async def stream(self, _request: Request) -> AsyncIterator[BlockEvent]:
        self._requests += 1
        await self._hanging.at("stream, before its first event")
        try:
            yield BlockStart(0, "text")
            yield BlockDelta(0, "a word")
            await self._hanging.at("stream, in the middle")
            yield BlockEnd(0)
            if self._requests == 1:
                yield BlockStart(1, "tool_call", "call", "work")
                yield BlockEnd(1, input_json="{}")
            yield Done("tool_use" if self._requests == 1 else "end_turn")
        finally:
            await self._hanging.at("stream, in closing")


def functions(hanging: Hanging) -> dict[str, Any]:
    """Those of a run that may hang."""

    async def transform_context(turns: Sequence[Turn]) -> Sequence[Turn]:
        await hanging.at("transform_context")
        return turns

    async def convert_to_llm(turns: Sequence[Turn]) -> list[Any]:
        await hanging.at("convert_to_llm")
        return [{"role": "user", "content": f"{len(turns)} turns"}]

    async def get_api_key() -> str:
        await hanging.at("get_api_key")
        return "key"

    async def before_tool_call(_hook: HookContext) -> None:
        await hanging.at("before_tool_call")

    async def after_tool_call(_hook: HookContext) -> None:
        await hanging.at("after_tool_call")

    return {
        "transform_context": transform_context,
        "convert_to_llm": convert_to_llm,
        "get_api_key": get_api_key,
        "before_tool_call": before_tool_call,
        "after_tool_call": after_tool_call,
    }


def tool(hanging: Hanging) -> Tool:
    async def work(_given: NoInput, ctx: ToolContext) -> str:
        ctx.on_progress("half")
        await asyncio.sleep(0.5)
        await hanging.at("tool")
        return "done"

    return Tool("work", "d", "l", NoInput, work)


async def settle(
    start: Callable[[], Awaitable[object]], how: str, abort: Callable[[], None], events: list[Event]
) -> float:
    """Run, stop it that way at its time, and return how many seconds later it was settled."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    task = asyncio.ensure_future(start())
    if how == "abort":
        loop.call_later(STOPPED_AT, abort)
    elif how == "cancel":
        loop.call_later(STOPPED_AT, task.cancel)
    await asyncio.wait({task})
    took = loop.time() - began - STOPPED_AT
    assert task.cancelled() == (how == "cancel")
    assert all(left in cancellation.detached for left in asyncio.all_tasks() - {asyncio.current_task()})
    count = len(events)
    await asyncio.sleep(5000)
    assert len(events) == count, "nothing is told after the end"
    return took


def limits(how: str) -> Limits:
    return Limits(max_duration=STOPPED_AT if how == "limit" else None)


@pytest.mark.parametrize("obeys", [True, False], ids=["obeys", "ignores its cancellation"])
@pytest.mark.parametrize(
    ("place", "how"),
    [
        *((place, "abort") for place in (*EVENTS, *FUNCTIONS, *STREAM[:2])),
        *((place, how) for place in ("turn_delta", "tool", STREAM[1]) for how in ("limit", "cancel")),
    ],
)
def test_a_stopped_run_settles_wherever_code_hangs(place: str, how: str, obeys: bool) -> None:
    hanging = Hanging(place, obeys=obeys)
    events: list[Event] = []

    async def main() -> float:
        agent = Agent(
            model=HangingModel(hanging),
            tools=[tool(hanging)],
            limits=limits(how),
            clock=LoopClock(),
            **functions(hanging),
        )
        agent.subscribe(events.append)

        async def listen(event: Event) -> None:
            await hanging.at(event.type)

        agent.subscribe(listen)
        took = await settle(lambda: agent.prompt("x"), how, agent.abort, events)
        assert not agent.is_streaming
        return took

    took = run_virtually(main())
    assert 0 <= took <= BOUND
    assert hanging.times == 1
    assert broken_invariants(events, getattr(events[-1], "turns", ())) == []
    wanted = "completed" if place == "agent_end" else "limit" if how == "limit" else "cancelled"
    assert getattr(events[-1], "outcome", None) == wanted


@pytest.mark.parametrize("kind", ["step_start", "turn_delta", "tool_start", "step_end"])
def test_an_aborted_loop_settles_though_nobody_reads_on_and_what_it_said_can_be_read_later(kind: str) -> None:
    async def main() -> list[str]:
        hanging = Hanging("tool", obeys=True)
        config = LoopConfig(model=HangingModel(hanging), clock=LoopClock())
        said = [UserTurn(content="x")]
        read = agent_loop(said, AgentContext(tools=[tool(hanging)]), config)
        kinds = []
        async for event in read:
            kinds.append(event.type)
            if event.type == kind:
                break
        config.abort_controller.abort()
        await asyncio.sleep(BOUND)
        assert len(asyncio.all_tasks()) == 1, "the run is over"
        return kinds + [event.type async for event in read]

    assert run_virtually(main())[-1] == "agent_end"


@pytest.mark.parametrize("kind", ["agent_start", "turn_delta", "tool_progress", "agent_end"])
def test_a_listener_that_hangs_at_every_event_costs_the_grace_period_once_and_is_reported_once(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> tuple[float, list[str]]:
        hanging = Hanging("listener", obeys=False, for_ever=True)
        agent = Agent(
            model=HangingModel(hanging),
            tools=[tool(hanging)],
            clock=LoopClock(),
        )
        events: list[Event] = []
        after: list[str] = []

        async def listen(event: Event) -> None:
            if after or event.type == kind:
                await hanging.at("listener")

        async def told_after(event: Event) -> None:
            await asyncio.sleep(0)
            if hanging.times:
                after.append(event.type)

        agent.subscribe(events.append)
        agent.subscribe(listen)
        agent.subscribe(told_after)
        took = await settle(lambda: agent.prompt("x"), "abort", agent.abort, events)
        return took, after

    took, after = run_virtually(main())
    assert took == pytest.approx(GRACE)
    assert (after[0], after[-1]) == (kind, "agent_end")  # the others are told all the same
    assert len([record for record in caplog.records if "a listener failed" in record.message]) == 1


def test_a_slow_listener_has_the_grace_period_in_all_after_an_abort_and_once_more_for_the_end() -> None:
    finished: list[str] = []

    async def main() -> float:
        agent = Agent(model=HangingModel(Hanging("stream, in the middle", obeys=True)), clock=LoopClock())
        agent.grace = 1.0

        async def slow(event: Event) -> None:
            await asyncio.sleep(0.4)
            finished.append(event.type)

        agent.subscribe(slow)
        events: list[Event] = []
        return await settle(lambda: agent.prompt("x"), "abort", agent.abort, events)

    assert run_virtually(main()) == pytest.approx(0.4 + 0.4 + 0.4)
    assert finished[-3:] == ["turn_end", "step_end", "agent_end"]


def test_a_listener_may_have_more_time_than_cancelled_code() -> None:
    async def main() -> list[str]:
        finished: list[str] = []
        agent = Agent(model=HangingModel(Hanging("stream, in the middle", obeys=True)), clock=LoopClock())
        agent.listener_grace = 5.0

        async def save(event: Event) -> None:
            if isinstance(event, StepEnd):
                await asyncio.sleep(3)
                finished.append("saved")

        agent.subscribe(save)
        await settle(lambda: agent.prompt("x"), "abort", agent.abort, [])
        return finished

    assert run_virtually(main()) == ["saved"]


def test_a_listener_may_bound_its_own_work_and_that_cancels_nothing_else() -> None:
    timed_out: list[str] = []

    async def main() -> str:
        agent = Agent(model=HangingModel(Hanging("", obeys=True)), clock=LoopClock())

        async def impatient(event: Event) -> None:
            try:
                async with asyncio.timeout(0.5):
                    await asyncio.get_running_loop().create_future()
            except TimeoutError:
                timed_out.append(event.type)

        agent.subscribe(impatient)
        return (await agent.prompt("x")).outcome

    assert run_virtually(main()) == "completed"
    assert "turn_delta" in timed_out
    assert timed_out[-1] == "agent_end"


@pytest.mark.parametrize("obeys", [True, False], ids=["obeys", "ignores its cancellation"])
def test_a_complete_answer_whose_stream_hangs_in_closing_counts_after_the_grace_period(obeys: bool) -> None:
    async def main() -> tuple[str, float]:
        hanging = Hanging("stream, in closing", obeys=obeys)
        loop = asyncio.get_running_loop()
        began = loop.time()
        agent = Agent(model=HangingModel(hanging), tools=[tool(hanging)], clock=LoopClock())
        end = await agent.prompt("x")
        took = loop.time() - began
        await asyncio.sleep(5000)
        return end.outcome, took

    outcome, took = run_virtually(main())
    assert outcome == "completed"
    assert took == pytest.approx(0.5 + GRACE)  # the tool's half second


@pytest.mark.parametrize("how", ["abort", "timeout", "cancel_tool"])
def test_no_after_hook_is_asked_for_a_call_that_was_given_up(how: str) -> None:
    asked: list[str] = []

    async def main() -> str:
        async def stubborn(_given: NoInput, _ctx: ToolContext) -> str:
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                await asyncio.sleep(1)
            return "late"

        async def after(hook: HookContext) -> None:
            asked.append(hook.call.id)

        timeout = 5.0 if how == "timeout" else None
        agent = Agent(
            model=HangingModel(Hanging("", obeys=True)),
            tools=[Tool("work", "d", "l", NoInput, stubborn, timeout=timeout)],
            after_tool_call=after,
            clock=LoopClock(),
        )
        if how == "abort":
            asyncio.get_running_loop().call_later(5, agent.abort)
        elif how == "cancel_tool":
            asyncio.get_running_loop().call_later(5, agent.cancel_tool, "call")
        end = await agent.prompt("x")
        await asyncio.sleep(5000)
        return end.outcome

    assert run_virtually(main()) == ("cancelled" if how == "abort" else "completed")
    assert asked == []
