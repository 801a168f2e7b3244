"""What code given to a run may do beside raising: steer in a check, answer a call itself, not close."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator

import pytest

from agent.core.agent import Agent
from agent.core.events import Event
from agent.core.limits import Limits
from agent.core.model import BlockDelta, BlockEnd, BlockEvent, BlockStart, Done, Request
from agent.core.tool import Block, HookContext, NoInput, Tool, ToolContext
from agent.core.turns import ToolCallTurn, ToolResultTurn, UserTurn
from agent.models.scripted import ScriptedModel, ToolUse, answer
from tests.support.virtual_time import LoopClock, run_virtually


async def work(_given: NoInput, _ctx: ToolContext) -> str:
    return "done"


def results(turns: tuple[object, ...]) -> list[str]:
    return [turn.output for turn in turns if isinstance(turn, ToolResultTurn)]


async def test_each_new_listener_that_fails_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(5):
        agent_model = ScriptedModel([answer("ok")])
        agent = Agent(model=agent_model)

        def fail(_event: Event) -> None:
            raise ValueError("no")

        for _again in range(2):
            agent.model = ScriptedModel([answer("ok")])
            unsubscribe = agent.subscribe(fail)
            await agent.prompt("x")
            unsubscribe()
    assert len([record for record in caplog.records if "a listener failed" in record.message]) == 10


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
async def test_steering_in_the_check_of_a_call_skips_those_that_have_not_started(mode: str) -> None:
    ran: list[str] = []

    async def note(_given: NoInput, ctx: ToolContext) -> str:
        ran.append(ctx.call_id)
        return "ran"

    def check(_hook: HookContext) -> Block:
        agent.steer("stop!")
        return Block("denied")

    model = ScriptedModel([answer(ToolUse("a"), ToolUse("a"), ToolUse("a")), answer("ok")])
    tools = [Tool("a", "d", "l", NoInput, note)]
    agent = Agent(model=model, tools=tools, before_tool_call=check, tool_execution=mode)  # type: ignore[arg-type]
    end = await agent.prompt("x")
    assert ran == []
    assert [text.split(":")[0] for text in results(end.turns)] == ["Not run", "Skipped", "Skipped"]


async def test_a_result_the_application_gives_is_the_only_one_of_its_call() -> None:
    call = ToolCallTurn(tool_use_id="c1", tool_name="a", input={})
    model = ScriptedModel([answer("ok")])
    agent = Agent(model=model, turns=[UserTurn(content="q"), call])
    end = await agent.prompt(ToolResultTurn(tool_use_id="c1", output="the real one"))
    assert results(end.turns) == ["the real one"]
    assert "the real one" in str(model.requests[0].messages)


class SlowToClose:
    name, endpoint = "slow", "here"

    async def stream(self, _request: Request) -> AsyncIterator[BlockEvent]:
        try:
            for event in (BlockStart(0, "text"), BlockDelta(0, "hi"), BlockEnd(0), Done("end_turn")):
                yield event
        finally:
            await asyncio.sleep(1000)


async def test_a_complete_answer_does_not_wait_for_its_stream_to_close() -> None:
    agent = Agent(model=SlowToClose(), limits=Limits(max_silence=300))
    end = await asyncio.wait_for(agent.prompt("x"), 30)
    assert (end.outcome, end.error) == ("completed", None)


@pytest.mark.parametrize("ticks", range(8))
async def test_no_request_leaves_after_an_abort(ticks: int) -> None:
    order: list[str] = []

    class Noting:
        name, endpoint = "n", "here"

        async def stream(self, _request: Request) -> AsyncIterator[BlockEvent]:
            order.append("request")
            await asyncio.sleep(1)
            yield Done("end_turn")

    agent = Agent(model=Noting())
    task = asyncio.ensure_future(agent.prompt("x"))
    for _ in range(ticks):
        await asyncio.sleep(0)
    order.append("abort")
    agent.abort()
    if ticks:
        assert (await task).outcome == "cancelled"
    else:
        task.cancel()
    assert "request" not in order[order.index("abort") :]


async def fail(_given: NoInput, _ctx: ToolContext) -> str:
    raise ValueError("no")


async def test_two_calls_that_fail_in_every_step_end_the_run() -> None:
    model = ScriptedModel([answer(ToolUse("a"), ToolUse("b")) for _ in range(9)])
    tools = [Tool(name, "d", "l", NoInput, fail) for name in ("a", "b")]
    end = await Agent(model=model, tools=tools).prompt("x")
    assert (end.outcome, end.steps) == ("limit", 3)


@pytest.mark.parametrize("how", ["it takes too long", "the run is stopped as it ends"])
def test_what_a_late_check_after_a_call_raises_is_reported_by_nobody_else(how: str) -> None:
    async def main() -> None:
        waits: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def after(_context: HookContext) -> None:
            try:
                await waits
            except asyncio.CancelledError:
                raise ValueError("sk-ant-a-key") from None
            agent.abort()
            raise ValueError("sk-ant-a-key")

        agent = Agent(
            model=ScriptedModel([answer(ToolUse("work")), answer("ok")]),
            tools=[Tool("work", "Works.", "Work", NoInput, work)],
            after_tool_call=after,
            limits=Limits(hook_timeout=5 if how == "it takes too long" else None),
            clock=LoopClock(),
        )
        if how != "it takes too long":
            asyncio.get_running_loop().call_later(1, waits.set_result, None)
        await agent.prompt("x")
        gc.collect()

    run_virtually(main())
