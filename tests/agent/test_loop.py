"""The stateless loop as an iterator of events, without the agent around it."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from agent.core.agent import Agent
from agent.core.events import AgentEnd, Event
from agent.core.loop import NothingToContinue, agent_loop, agent_loop_continue
from agent.core.loop_config import AbortController, AgentContext, LoopConfig
from agent.core.model import BlockDelta
from agent.core.retry import RetryPolicy
from agent.core.tool import NoInput, Tool, ToolContext
from agent.core.turns import AssistantTextTurn, ToolCallTurn, ToolResultTurn, UserTurn
from agent.models.scripted import Hang, Pause, ScriptedModel, ToolUse, answer, failed
from tests.agent.invariants import broken_invariants
from tests.agent.scenario import tokens


async def look(_given: NoInput, _ctx: ToolContext) -> str:
    return "nothing"


LOOK = Tool("look", "d", "l", NoInput, look)


async def test_the_iterator_yields_every_event_up_to_agent_end() -> None:
    model = ScriptedModel([answer("Hm", ToolUse("look")), answer("done")])
    context = AgentContext(system_prompt="Be.", tools=[LOOK])
    events = [event async for event in agent_loop([UserTurn(content="hi")], context, LoopConfig(model=model))]
    expected = """agent_start step_start user text call tool_start:look tool_end:look result step_end
    step_start text step_end agent_end:completed"""
    assert tokens(events) == expected.split()
    assert broken_invariants(events, events[-1].turns) == []  # type: ignore[union-attr]
    assert model.requests[0].system == "Be."


async def test_the_context_is_not_changed() -> None:
    turns = [UserTurn(content="a"), AssistantTextTurn(content="b")]
    context = AgentContext(turns=turns)
    model = ScriptedModel([answer("c")])
    async for _ in agent_loop([UserTurn(content="hi")], context, LoopConfig(model=model)):
        pass
    assert len(turns) == 2
    assert len(model.requests[0].messages) == 3


async def test_the_run_waits_for_its_reader() -> None:
    model = ScriptedModel([answer("a"), answer("b")])
    seen: list[str] = []
    async for event in agent_loop([UserTurn(content="hi")], AgentContext(), LoopConfig(model=model)):
        if event.type == "step_start":
            await asyncio.sleep(0.01)
            assert model.requests == []
        seen.append(event.type)
    assert seen[-1] == "agent_end"


async def test_continue_runs_from_a_last_user_turn() -> None:
    context = AgentContext(turns=[UserTurn(content="hi")])
    model = ScriptedModel([answer("ok")])
    events = [event async for event in agent_loop_continue(context, LoopConfig(model=model))]
    assert " ".join(tokens(events)) == "agent_start step_start text step_end agent_end:completed"


async def test_a_call_that_is_said_without_its_result_gets_one() -> None:
    said = [UserTurn(content="hi"), ToolCallTurn(tool_use_id="c", tool_name="look", input={})]
    model = ScriptedModel([answer("ok")])
    *_, end = [event async for event in agent_loop(said, AgentContext(tools=[LOOK]), LoopConfig(model=model))]
    assert isinstance(end, AgentEnd)
    assert [turn.tool_use_id for turn in end.turns if isinstance(turn, ToolResultTurn)] == ["c"]


@pytest.mark.parametrize(
    "turns", [[], [UserTurn(content="a"), AssistantTextTurn(content="b")]], ids=["empty", "answered"]
)
async def test_continue_validates_the_conversation(turns: list[Any]) -> None:
    with pytest.raises(NothingToContinue):
        async for _ in agent_loop_continue(AgentContext(turns=turns), LoopConfig(model=ScriptedModel())):
            pass


async def test_steering_and_follow_ups_come_from_functions() -> None:
    steering = [[UserTurn(content="s")], []]
    follow_up = [[UserTurn(content="f")], []]

    config = LoopConfig(
        model=ScriptedModel([answer("a"), answer("b")]),
        get_steering=lambda: steering.pop(0) if steering else [],
        get_follow_up=lambda: follow_up.pop(0) if follow_up else [],
    )
    events = [event async for event in agent_loop([UserTurn(content="hi")], AgentContext(), config)]
    assert (
        " ".join(tokens(events))
        == "agent_start step_start user user text step_end step_start user text step_end agent_end:completed"
    )


async def test_of_steering_given_one_at_a_time_only_the_first_opens_a_step_that_goes_on() -> None:
    steering = [UserTurn(content="1"), UserTurn(content="2")]
    context = AgentContext(turns=[UserTurn(content="a"), AssistantTextTurn(content="b")])
    model = ScriptedModel([answer("c"), answer("d")])
    config = LoopConfig(model=model, get_steering=lambda: [steering.pop(0)] if steering else [])
    events = [event async for event in agent_loop_continue(context, config)]
    assert (
        " ".join(tokens(events))
        == "agent_start step_start user text step_end step_start user text step_end agent_end:completed"
    )


async def test_a_failing_steering_function_ends_the_run_cleanly() -> None:
    def broken() -> list[UserTurn]:
        raise RuntimeError("no queue")

    config = LoopConfig(model=ScriptedModel([answer("a")]), get_steering=broken)
    events = [event async for event in agent_loop([UserTurn(content="hi")], AgentContext(), config)]
    assert " ".join(tokens(events)) == "agent_start step_start user step_end agent_end:failed"


async def test_closing_the_iterator_aborts_the_run_and_leaves_nothing_behind() -> None:
    model = ScriptedModel([answer("Hello", Hang())])
    events = agent_loop([UserTurn(content="hi")], AgentContext(), LoopConfig(model=model))
    async for event in events:
        if event.type == "turn_delta":
            break
    await events.aclose()
    assert model.open_streams == 0
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_cancelling_the_reader_leaves_nothing_behind() -> None:
    model = ScriptedModel([answer("Hello", Hang())])

    async def read() -> None:
        async for _ in agent_loop([UserTurn(content="hi")], AgentContext(), LoopConfig(model=model)):
            pass

    task = asyncio.ensure_future(read())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert model.open_streams == 0
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_the_settings_of_an_aborted_loop_can_be_used_again() -> None:
    config = LoopConfig(model=ScriptedModel([answer("Hel", Hang()), answer("fine")]))
    async for event in agent_loop([UserTurn(content="hi")], AgentContext(), config):
        if event.type == "turn_delta":
            config.abort_controller.abort("enough")
    events = [event async for event in agent_loop([UserTurn(content="hi")], AgentContext(), config)]
    assert tokens(events)[-1] == "agent_end:completed"


async def test_a_failing_take_back_still_ends_the_run(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> list[UserTurn]:
        raise RuntimeError("no queue")

    config = LoopConfig(model=ScriptedModel([[failed("server")]]), take_undelivered=broken)
    events = [event async for event in agent_loop([UserTurn(content="hi")], AgentContext(), config)]
    assert tokens(events)[-1] == "agent_end:failed"


async def test_an_abort_controller_reaches_into_a_loop() -> None:
    abort_controller = AbortController()
    model = ScriptedModel([answer("Hel", Hang())])
    events: list[Event] = []
    config = LoopConfig(model=model, abort_controller=abort_controller)
    async for event in agent_loop([UserTurn(content="hi")], AgentContext(), config):
        events.append(event)
        if event.type == "turn_delta":
            abort_controller.abort("enough")
    assert isinstance(events[-1], AgentEnd)
    assert events[-1].outcome == "cancelled"


def test_a_program_that_ends_in_the_middle_of_a_run_closes_it() -> None:
    ends: list[AgentEnd] = []

    async def main() -> None:
        agent = Agent(model=ScriptedModel([answer("Hel", Hang())]))
        agent.subscribe(lambda event: ends.append(event) if isinstance(event, AgentEnd) else None)
        task = asyncio.ensure_future(agent.prompt("hi"))
        await asyncio.sleep(0.01)
        assert not task.done()

    asyncio.run(main())
    assert [end.outcome for end in ends] == ["cancelled"]


async def test_an_answer_cut_at_any_event_runs_nothing_and_loses_no_text() -> None:
    whole = answer("Let me look", ToolUse("look"), "and then", ToolUse("look"), chunk=4)
    for cut in range(len(whole)):
        executed: list[str] = []

        async def note(_given: NoInput, ctx: ToolContext, done: list[str] = executed) -> str:
            done.append(ctx.call_id)
            return "ok"

        agent = Agent(model=ScriptedModel([whole[:cut]]), tools=[Tool("look", "d", "l", NoInput, note)])
        agent.retry = RetryPolicy(retries=0)
        end = await agent.prompt("hi")
        arrived = "".join(
            event.text for event in whole[:cut] if isinstance(event, BlockDelta) and event.block in (0, 2)
        )
        kept = "".join(turn.content for turn in end.turns if isinstance(turn, AssistantTextTurn))
        assert (end.outcome, executed, kept) == ("failed", [], arrived)


async def test_the_last_tool_of_a_name_counts() -> None:
    async def other(_given: NoInput, _ctx: ToolContext) -> str:
        return "the other"

    model = ScriptedModel([answer(ToolUse("look")), answer("done")])
    agent = Agent(model=model, tools=[LOOK, Tool("look", "d", "l", NoInput, other)])
    await agent.prompt("hi")
    assert [tool.name for tool in model.requests[0].tools] == ["look"]
    assert agent.turns[2].output == "the other"  # type: ignore[union-attr]


async def test_a_tool_may_be_a_plain_function() -> None:
    def plain(_given: NoInput, _ctx: ToolContext) -> str:
        return "plain"

    agent = Agent(
        model=ScriptedModel([answer(ToolUse("plain")), answer("done")]),
        tools=[Tool("plain", "d", "l", NoInput, plain)],  # type: ignore[arg-type]
    )
    await agent.prompt("hi")
    assert agent.turns[2].output == "plain"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "where", ["connecting", "mid-stream", "stubborn stream", "tool", "stubborn tool", "retry"]
)
async def test_abort_settles_before_what_it_interrupts_on_the_real_clock(where: str) -> None:
    async def slow(_given: NoInput, _ctx: ToolContext) -> str:
        for _ in range(2 if where == "stubborn tool" else 1):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                if where == "tool":
                    raise
        return "late"

    scripts: dict[str, Any] = {
        "connecting": [Pause(60)],
        "mid-stream": [*answer("text")[:-1], Hang()],
        "stubborn stream": [*answer("text")[:-1], Hang(1)],
        "tool": answer(ToolUse("slow")),
        "stubborn tool": answer(ToolUse("slow")),
        "retry": [failed("overloaded", retryable=True, retry_after=50)],
    }
    model = ScriptedModel([scripts[where], answer("never")])
    agent = Agent(model=model, tools=[Tool("slow", "d", "l", NoInput, slow)])
    task = asyncio.ensure_future(agent.prompt("go"))
    await asyncio.sleep(0.02)
    began = time.perf_counter()
    agent.abort()
    await agent.wait_for_idle()
    assert time.perf_counter() - began < 20  # typically 0.2 ms, 50 ms for the stubborn ones
    assert (await task).outcome == "cancelled"
    assert len(model.requests) == 1


def test_a_tool_takes_its_timeout_by_the_seventh_place_and_the_rest_by_name() -> None:
    tool = Tool("look", "d", "l", NoInput, look, True, 2.5)
    assert (tool.sequential, tool.timeout) == (True, 2.5)
    assert (tool.control, tool.max_output) == (False, None)
    assert Tool("look", "d", "l", NoInput, look, control=True, max_output=9).control


@pytest.mark.parametrize("name", ["task_complete", "ask_user"])
def test_the_two_control_tools_are_so_by_their_name(name: str) -> None:
    assert Tool(name, "d", "l", NoInput, look).control
