"""Moments at which two things happen at once: an abort, a slow listener, a late event, a progress report."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable

import pytest

from agent.core.agent import Agent
from agent.core.events import AgentEnd, Event, ToolEnd, ToolProgress, TurnDelta, TurnEnd
from agent.core.model import BlockDelta, BlockEnd, BlockEvent, BlockStart, Done, Request
from agent.core.tool import HookContext, NoInput, Tool, ToolContext
from agent.core.turns import AssistantTextTurn, ToolResultTurn
from agent.models.scripted import Hang, ScriptedModel, ToolUse, answer
from tests.support.virtual_time import LoopClock, run_virtually


class Defiant:
    """Goes on streaming after its cancellation, at once or after a while."""

    name, endpoint = "defiant", "embedded"

    def __init__(self, waits: float) -> None:
        self.waits = waits

    async def stream(self, _request: Request) -> AsyncIterator[BlockEvent]:
        yield BlockStart(0, "text")
        yield BlockDelta(0, "in time")
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            await asyncio.sleep(self.waits)
        yield BlockDelta(0, " and late")
        yield Done("end_turn")


@pytest.mark.parametrize("waits", [0.0, 0.01, 5.0], ids=["at once", "within the grace period", "after it"])
def test_what_a_stream_says_after_an_abort_is_dropped(waits: float) -> None:
    async def main() -> tuple[list[Event], str, int]:
        agent = Agent(model=Defiant(waits), clock=LoopClock())
        seen: list[Event] = []
        agent.subscribe(seen.append)
        asyncio.get_running_loop().call_later(1, agent.abort)
        end = await agent.prompt("hi")
        count = len(seen)
        await asyncio.sleep(20)
        text = next(turn.content for turn in end.turns if isinstance(turn, AssistantTextTurn))
        return seen, text, count

    seen, text, count = run_virtually(main())
    assert text == "in time"
    assert len(seen) == count
    assert [event.text for event in seen if isinstance(event, TurnDelta)] == ["in time"]


def test_an_abort_cancels_no_listener_that_ends_within_the_grace_period() -> None:
    finished: list[str] = []

    async def main() -> str:
        agent = Agent(model=ScriptedModel([answer("text", Hang())]), clock=LoopClock())
        agent.grace = 4.0

        async def slow(event: Event) -> None:
            await asyncio.sleep(1)
            finished.append(event.type)

        agent.subscribe(slow)
        # agent_start, step_start, turn_start, turn_end, turn_start take a second each: at 5.5 a delta is told
        asyncio.get_running_loop().call_later(5.5, agent.abort)
        return (await agent.prompt("hi")).outcome

    assert run_virtually(main()) == "cancelled"
    assert finished[5:] == ["turn_delta", "turn_end", "step_end", "agent_end"]


def test_progress_reported_while_a_listener_is_busy_is_told_before_the_tool_ends() -> None:
    async def main() -> list[tuple[str, float]]:
        loop = asyncio.get_running_loop()
        began = loop.time()

        async def work(_given: NoInput, ctx: ToolContext) -> str:
            ctx.on_progress("one")
            await asyncio.sleep(0.5)
            ctx.on_progress("two")
            await asyncio.sleep(10)
            return "ok"

        agent = Agent(
            model=ScriptedModel([answer(ToolUse("work")), answer("done")]),
            tools=[Tool("work", "d", "l", NoInput, work)],
            clock=LoopClock(),
        )
        told: list[tuple[str, float]] = []

        async def listen(event: Event) -> None:
            if isinstance(event, ToolProgress):
                told.append((event.text, round(loop.time() - began, 3)))
                await asyncio.sleep(1)
            elif isinstance(event, ToolEnd):
                told.append(("end", round(loop.time() - began, 3)))

        agent.subscribe(listen)
        await agent.prompt("hi")
        return told

    assert run_virtually(main()) == [("one", 0.0), ("two", 1.0), ("end", 10.5)]


def test_progress_after_the_end_of_a_call_is_not_told() -> None:
    async def main() -> list[str]:
        reports: list[ToolContext] = []

        async def quick(_given: NoInput, ctx: ToolContext) -> str:
            reports.append(ctx)
            return "ok"

        async def long(_given: NoInput, _ctx: ToolContext) -> str:
            await asyncio.sleep(1)
            reports[0].on_progress("late")
            await asyncio.sleep(1)
            return "ok"

        agent = Agent(
            model=ScriptedModel([answer(ToolUse("quick"), ToolUse("long")), answer("done")]),
            tools=[Tool("quick", "d", "l", NoInput, quick), Tool("long", "d", "l", NoInput, long)],
            clock=LoopClock(),
        )
        told: list[str] = []
        agent.subscribe(lambda event: told.append(event.text) if isinstance(event, ToolProgress) else None)
        await agent.prompt("hi")
        return told

    assert run_virtually(main()) == []


def test_progress_reported_while_another_call_is_ended_is_told_at_once() -> None:
    async def main() -> list[tuple[str, float]]:
        loop = asyncio.get_running_loop()
        began = loop.time()

        async def quick(_given: NoInput, _ctx: ToolContext) -> str:
            await asyncio.sleep(1)
            return "ok"

        async def long(_given: NoInput, ctx: ToolContext) -> str:
            await asyncio.sleep(1.5)
            ctx.on_progress("half")
            await asyncio.sleep(10)
            return "ok"

        agent = Agent(
            model=ScriptedModel([answer(ToolUse("quick"), ToolUse("long")), answer("done")]),
            tools=[Tool("quick", "d", "l", NoInput, quick), Tool("long", "d", "l", NoInput, long)],
            clock=LoopClock(),
        )
        told: list[tuple[str, float]] = []

        async def listen(event: Event) -> None:
            if isinstance(event, ToolProgress):
                told.append((event.text, round(loop.time() - began, 3)))
            elif isinstance(event, ToolEnd):
                await asyncio.sleep(1)

        agent.subscribe(listen)
        await agent.prompt("hi")
        return told

    assert run_virtually(main()) == [("half", 2.0)]


def test_calls_given_up_while_the_run_is_aborted_are_looked_after() -> None:
    async def main() -> list[str]:
        ended: list[str] = []

        async def stubborn(_given: NoInput, _ctx: ToolContext) -> str:
            for _ in range(5):
                try:
                    await asyncio.sleep(1)
                except asyncio.CancelledError:
                    continue
            ended.append("stubborn")
            raise RuntimeError("nobody hears this")

        agent = Agent(
            model=ScriptedModel([answer(ToolUse("stubborn"), ToolUse("stubborn"))]),
            tools=[Tool("stubborn", "d", "l", NoInput, stubborn)],
            clock=LoopClock(),
        )
        loop = asyncio.get_running_loop()
        loop.call_later(0.5, agent.cancel_tool, "call_1")
        loop.call_later(0.5, agent.cancel_tool, "call_2")
        agent.subscribe(lambda event: agent.abort() if isinstance(event, ToolEnd) else None)
        complaints: list[str] = []
        loop.set_exception_handler(lambda _loop, context: complaints.append(str(context)))
        end = await agent.prompt("hi")
        await asyncio.sleep(10)
        gc.collect()
        return [end.outcome, *ended, *complaints]

    assert run_virtually(main()) == ["cancelled", "stubborn", "stubborn"]


def test_a_call_that_ends_by_itself_just_after_it_was_given_up_is_ended_once() -> None:
    async def main() -> tuple[str, list[bool]]:
        async def stubborn(_given: NoInput, _ctx: ToolContext) -> str:
            for _ in range(2):
                try:
                    await asyncio.sleep(0.4)
                except asyncio.CancelledError:
                    continue
            return "late"

        async def long(_given: NoInput, _ctx: ToolContext) -> str:
            await asyncio.sleep(20)
            return "ok"

        agent = Agent(
            model=ScriptedModel(
                [answer(ToolUse("stubborn"), ToolUse("stubborn"), ToolUse("long")), answer("done")]
            ),
            tools=[
                Tool("stubborn", "d", "l", NoInput, stubborn),
                Tool("long", "d", "l", NoInput, long),
            ],
            clock=LoopClock(),
        )
        loop = asyncio.get_running_loop()
        loop.call_later(0.1, agent.cancel_tool, "call_1")
        loop.call_later(0.1, agent.cancel_tool, "call_2")
        ends: list[bool] = []

        async def slow(event: Event) -> None:
            if isinstance(event, ToolEnd):
                ends.append(event.is_error)
                await asyncio.sleep(2)

        agent.subscribe(slow)
        return (await agent.prompt("hi")).outcome, ends

    assert run_virtually(main()) == ("completed", [True, True, False])


def outputs(end: AgentEnd) -> list[str]:
    return [turn.output for turn in end.turns if isinstance(turn, ToolResultTurn)]


def test_a_tool_takes_no_further_step_after_an_abort() -> None:
    ran: list[str] = []

    async def main() -> AgentEnd:
        reached, ready = asyncio.Event(), asyncio.Event()

        async def writes(_given: NoInput, _ctx: ToolContext) -> str:
            reached.set()
            await ready.wait()
            ran.append("written")
            return "done"

        agent = Agent(
            model=ScriptedModel([answer(ToolUse("a"))]),
            tools=[Tool("a", "d", "l", NoInput, writes)],
            clock=LoopClock(),
        )
        running = asyncio.ensure_future(agent.prompt("hi"))
        await reached.wait()
        ready.set()
        agent.abort()
        return await running

    assert outputs(run_virtually(main())) == ["Cancelled while running: it may have taken effect."]
    assert ran == []


def test_a_parallel_tool_does_not_start_after_an_abort_in_the_one_before_it() -> None:
    ran: list[str] = []

    async def main() -> AgentEnd:
        async def aborting(_given: NoInput, _ctx: ToolContext) -> str:
            ran.append("a")
            agent.abort()
            return "done"

        async def plain(_given: NoInput, _ctx: ToolContext) -> str:
            ran.append("b")
            return "done"

        agent = Agent(
            model=ScriptedModel([answer(ToolUse("a"), ToolUse("b"))]),
            tools=[Tool("a", "d", "l", NoInput, aborting), Tool("b", "d", "l", NoInput, plain)],
            clock=LoopClock(),
        )
        return await agent.prompt("hi")

    assert outputs(run_virtually(main())) == ["done", "Cancelled: not run."]
    assert ran == ["a"]


@pytest.mark.parametrize("settles_within", [None, 1.0], ids=["plain tool", "tool that settles by itself"])
@pytest.mark.parametrize(
    ("interrupt", "said"),
    [
        (lambda agent: agent.abort(), "Cancelled: not run."),
        (lambda agent: agent.cancel_tool("call_1"), "Cancelled by the user: not run."),
    ],
    ids=["abort", "cancel_tool"],
)
def test_a_tool_that_is_stopped_between_launch_and_first_step_does_not_start(
    interrupt: Callable[[Agent], object], said: str, settles_within: float | None
) -> None:
    ran: list[str] = []

    async def main() -> AgentEnd:
        async def work(_given: NoInput, _ctx: ToolContext) -> str:
            ran.append("work")
            return "done"

        tool = Tool("work", "d", "l", NoInput, work, when_cut="Cut at work.", settles_within=settles_within)
        agent = Agent(
            model=ScriptedModel([answer(ToolUse("work")), answer("ok")]), tools=[tool], clock=LoopClock()
        )
        loop = asyncio.get_running_loop()
        agent.on_launch = lambda _call, _input: loop.call_soon(interrupt, agent)  # type: ignore[func-returns-value]
        return await agent.prompt("hi")

    assert outputs(run_virtually(main())) == [said]
    assert ran == []


@pytest.mark.parametrize("is_async", [False, True])
def test_an_abort_in_a_before_hook_ends_its_own_call_first(is_async: bool) -> None:
    async def main() -> tuple[list[str], list[str]]:
        def check(context: HookContext) -> None:
            if context.tool.name == "b":
                agent.abort()

        async def check_later(context: HookContext) -> None:
            check(context)

        async def work(_given: NoInput, _ctx: ToolContext) -> str:
            return "done"

        agent = Agent(
            model=ScriptedModel([answer(ToolUse("a"), ToolUse("b"), ToolUse("c"))]),
            tools=[Tool(name, "d", "l", NoInput, work) for name in "abc"],
            before_tool_call=check_later if is_async else check,
            clock=LoopClock(),
        )
        ended: list[str] = []
        agent.subscribe(
            lambda event: ended.append(event.call.tool_name) if isinstance(event, ToolEnd) else None
        )
        return ended, outputs(await agent.prompt("hi"))

    assert run_virtually(main()) == (["b", "c", "a"], ["Cancelled: not run."] * 3)


@pytest.mark.parametrize(
    "after",
    [
        [BlockStart(1, "text"), BlockDelta(1, "more")],
        [BlockStart(1, "tool_call", "call_1", "work")],
        [BlockDelta(0, "more")],
        [BlockDelta(1, "more")],
    ],
    ids=["text", "call", "text after its end", "text without a start"],
)
def test_no_turn_is_opened_after_an_abort_at_the_end_of_a_text(after: list[BlockEvent]) -> None:
    async def main() -> list[str]:
        first: list[BlockEvent] = [BlockStart(0, "text"), BlockDelta(0, "one"), BlockEnd(0)]
        agent = Agent(model=ScriptedModel([[*first, *after, Done("end_turn")]]), clock=LoopClock())

        def stop(event: Event) -> None:
            if isinstance(event, TurnEnd) and isinstance(event.turn, AssistantTextTurn):
                agent.abort()

        agent.subscribe(stop)
        return [turn.type for turn in (await agent.prompt("hi")).turns]

    assert run_virtually(main()) == ["user", "assistant_text"]
