"""The stateful agent: its state, its queues, its listeners, and what it refuses while it works."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from typing import Any

import pytest
from pydantic import BaseModel

from agent.core.agent import Agent, AgentBusy
from agent.core.events import AgentEnd, Event, StepStart, ToolEnd, TurnEnd, TurnStart
from agent.core.limits import Limits
from agent.core.loop import NothingToContinue
from agent.core.tool import HookContext, NoInput, Tool, ToolContext
from agent.core.turns import AssistantTextTurn, NoticeTurn, ToolResultTurn, UserTurn
from agent.models.scripted import Act, Hang, Pause, ScriptedModel, ToolUse, answer, failed
from tests.support.virtual_time import LoopClock, run_virtually


class Words(BaseModel, extra="forbid"):
    text: str


async def shout(given: Words, _ctx: ToolContext) -> str:
    return given.text.upper()


SHOUT = Tool("shout", "Say it loudly.", "Shout", Words, shout)


def texts(agent: Agent) -> list[str]:
    return [turn.content for turn in agent.turns if isinstance(turn, AssistantTextTurn)]


def test_default_state() -> None:
    model = ScriptedModel()
    state = Agent(model=model).state
    assert (state.system_prompt, state.thinking, state.tools, state.turns) == ("", "off", (), ())
    assert state.model is model
    assert (state.is_streaming, state.streaming_turn, state.error) == (False, None, None)
    assert state.pending_tool_calls == frozenset()


def test_state_is_read_only() -> None:
    state = Agent(model=ScriptedModel()).state
    with pytest.raises(dataclasses.FrozenInstanceError):
        state.system_prompt = "mine"  # type: ignore[misc]


def test_state_mutators() -> None:
    agent = Agent(model=ScriptedModel())
    other = ScriptedModel(name="other")
    agent.system_prompt = "Be brief."
    agent.model = other
    agent.thinking = "high"
    agent.tools = [SHOUT]
    agent.turns = [UserTurn(content="hi"), NoticeTurn(content="noted")]
    state = agent.state
    assert (state.system_prompt, state.model, state.thinking) == ("Be brief.", other, "high")
    assert state.tools == (SHOUT,)
    assert [turn.type for turn in state.turns] == ["user", "notice"]


async def test_a_list_handed_over_is_not_the_agents_own() -> None:
    turns = [UserTurn(content="one")]
    agent = Agent(model=ScriptedModel([answer("ok")]), turns=turns)
    turns.append(UserTurn(content="two"))
    assert len(agent.turns) == 1


async def test_subscribe_and_unsubscribe() -> None:
    agent = Agent(model=ScriptedModel([answer("a"), answer("b")]))
    seen: list[str] = []
    unsubscribe = agent.subscribe(lambda event: seen.append(event.type))
    await agent.prompt("hi")
    count = len(seen)
    assert count > 0
    unsubscribe()
    unsubscribe()
    await agent.prompt("again")
    assert len(seen) == count


async def test_listeners_are_awaited_one_after_the_other_in_order() -> None:
    agent = Agent(model=ScriptedModel([answer("a")]))
    seen: list[str] = []

    async def slow(event: Event) -> None:
        await asyncio.sleep(0)
        seen.append(f"slow {event.seq}")

    agent.subscribe(slow)
    agent.subscribe(lambda event: seen.append(f"quick {event.seq}"))
    await agent.prompt("hi")
    assert seen == [f"{who} {seq}" for seq in range(len(seen) // 2) for who in ("slow", "quick")]


async def test_turn_end_is_a_barrier_before_tools_start() -> None:
    order: list[str] = []

    async def note(given: Words, ctx: ToolContext) -> str:
        order.append("tool")
        return "ok"

    agent = Agent(
        model=ScriptedModel([answer(ToolUse("note", {"text": "x"})), answer("done")]),
        tools=[Tool("note", "d", "l", Words, note)],
    )

    async def slow(event: Event) -> None:
        if isinstance(event, TurnEnd) and event.turn.type == "tool_call":
            await asyncio.sleep(0.01)
            order.append("listener")

    agent.subscribe(slow)
    await agent.prompt("hi")
    assert order == ["listener", "tool"]


async def test_a_listener_that_raises_is_reported_once_and_changes_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    agent = Agent(model=ScriptedModel([answer("a")]))
    seen: list[str] = []

    def broken(_event: Event) -> None:
        raise RuntimeError("sync")

    async def broken_later(_event: Event) -> None:
        raise RuntimeError("async")

    agent.subscribe(broken)
    agent.subscribe(broken_later)
    agent.subscribe(lambda event: seen.append(event.type))
    with caplog.at_level(logging.ERROR):
        end = await agent.prompt("hi")
    assert end.outcome == "completed"
    assert seen[-1] == "agent_end"
    assert len(caplog.records) == 2


async def test_prompt_while_streaming_raises() -> None:
    agent = Agent(model=ScriptedModel([answer("a", Pause(0.01))]))
    running = asyncio.ensure_future(agent.prompt("hi"))
    await asyncio.sleep(0)
    with pytest.raises(AgentBusy):
        await agent.prompt("again")
    assert (await running).outcome == "completed"


async def test_continue_while_streaming_raises() -> None:
    agent = Agent(model=ScriptedModel([answer("a", Pause(0.01))]))
    running = asyncio.ensure_future(agent.prompt("hi"))
    await asyncio.sleep(0)
    with pytest.raises(AgentBusy):
        await agent.continue_()
    await running


async def test_reset_during_a_run_raises_and_idle_it_clears() -> None:
    agent = Agent(model=ScriptedModel([[failed("server")]]))
    refused: list[bool] = []

    def try_reset(_event: Event) -> None:
        with pytest.raises(AgentBusy):
            agent.reset()
        refused.append(True)

    unsubscribe = agent.subscribe(try_reset)
    await agent.prompt("hi")
    unsubscribe()
    agent.steer("s")
    agent.follow_up("f")
    assert refused and agent.state.error is not None
    agent.reset()
    state = agent.state
    assert (state.turns, state.error, agent.steering_queue, agent.follow_up_queue) == ((), None, (), ())


async def test_the_conversation_cannot_be_replaced_during_a_run() -> None:
    agent = Agent(model=ScriptedModel([answer("a")]))
    refused: list[str] = []

    def try_it(event: Event) -> None:
        if isinstance(event, StepStart):
            with pytest.raises(AgentBusy):
                agent.turns = []
            refused.append("yes")

    agent.subscribe(try_it)
    await agent.prompt("hi")
    assert refused == ["yes"]
    assert [turn.type for turn in agent.turns] == ["user", "assistant_text"]


async def test_session_id_is_forwarded_to_the_model_and_the_tools() -> None:
    seen: list[str | None] = []

    async def note(_given: NoInput, ctx: ToolContext) -> str:
        seen.append(ctx.session_id)
        return "ok"

    model = ScriptedModel([answer(ToolUse("note")), answer("done")])
    agent = Agent(model=model, tools=[Tool("note", "d", "l", NoInput, note)], session_id="s1")
    await agent.prompt("hi")
    assert [request.session_id for request in model.requests] == ["s1", "s1"]
    assert seen == ["s1"]


async def test_thinking_and_tools_go_into_the_request() -> None:
    model = ScriptedModel([answer("ok")])
    agent = Agent(model=model, tools=[SHOUT], thinking="max", system_prompt="Be loud.")
    agent.max_tokens = 77
    await agent.prompt("hi")
    request = model.requests[0]
    assert (request.thinking, request.max_tokens, request.system) == ("max", 77, "Be loud.")
    assert [tool.name for tool in request.tools] == ["shout"]
    assert request.tools[0].input_schema["properties"]["text"] == {"title": "Text", "type": "string"}


async def test_changes_during_a_run_apply_to_the_next() -> None:
    other = ScriptedModel([answer("other")], name="other")
    agent = Agent(model=ScriptedModel([]), system_prompt="one")

    def change() -> None:
        agent.model, agent.system_prompt, agent.thinking, agent.tools = other, "two", "low", [SHOUT]

    first = ScriptedModel([answer(ToolUse("nope"), Act(change)), answer("first")])
    agent.model = first
    await agent.prompt("hi")
    assert [(request.system, request.thinking, len(request.tools)) for request in first.requests] == [
        ("one", "off", 0),
        ("one", "off", 0),
    ]
    await agent.prompt("again")
    assert (other.requests[0].system, other.requests[0].thinking, len(other.requests[0].tools)) == (
        "two",
        "low",
        1,
    )


async def test_wait_for_idle_returns_after_the_listeners_of_agent_end() -> None:
    agent = Agent(model=ScriptedModel([answer("a")]))
    done: list[bool] = []

    async def slow(event: Event) -> None:
        if isinstance(event, AgentEnd):
            await asyncio.sleep(0.01)
            done.append(True)

    agent.subscribe(slow)
    running = asyncio.ensure_future(agent.prompt("hi"))
    await asyncio.sleep(0)
    assert agent.is_streaming
    await agent.wait_for_idle()
    assert done == [True]
    assert not agent.is_streaming
    await running


async def test_wait_for_idle_returns_at_once_when_idle() -> None:
    await asyncio.wait_for(Agent(model=ScriptedModel()).wait_for_idle(), 30)


def test_queues_can_be_filled_inspected_and_cleared() -> None:
    agent = Agent(model=ScriptedModel())
    agent.steer("a")
    agent.steer(UserTurn(content="b"))
    agent.follow_up("c")
    assert [turn.content for turn in agent.steering_queue] == ["a", "b"]
    assert [turn.content for turn in agent.follow_up_queue] == ["c"]
    assert [turn.content for turn in agent.clear_steering_queue()] == ["a", "b"]
    assert [turn.content for turn in agent.clear_follow_up_queue()] == ["c"]
    agent.steer("d")
    agent.follow_up("e")
    assert [turn.content for turn in agent.clear_all_queues()] == ["d", "e"]
    assert agent.steering_queue == agent.follow_up_queue == ()


def test_queue_modes_can_be_read_and_set() -> None:
    agent = Agent(model=ScriptedModel())
    assert (agent.steering_mode, agent.follow_up_mode) == ("one_at_a_time", "one_at_a_time")
    agent.steering_mode = agent.follow_up_mode = "all"
    assert (agent.steering_mode, agent.follow_up_mode) == ("all", "all")


async def test_transform_comes_before_convert() -> None:
    order: list[str] = []

    def transform(turns: list[Any]) -> list[Any]:
        order.append("transform")
        return turns

    async def convert(turns: list[Any]) -> list[dict[str, Any]]:
        order.append("convert")
        return [{"role": "user", "content": str(len(turns))}]

    agent = Agent(model=ScriptedModel([answer("a")]), transform_context=transform, convert_to_llm=convert)
    await agent.prompt("hi")
    assert order == ["transform", "convert"]


@pytest.mark.parametrize(
    "turns",
    [[], [NoticeTurn(content="n")], [UserTurn(content="a"), AssistantTextTurn(content="b")]],
    ids=["empty", "only notices", "complete"],
)
async def test_continue_rejects_what_cannot_go_on(turns: list[Any]) -> None:
    agent = Agent(model=ScriptedModel([answer("never")]), turns=turns)
    with pytest.raises(NothingToContinue):
        await agent.continue_()
    assert not agent.is_streaming
    assert (await agent.prompt("hi")).outcome == "completed"


async def test_the_streaming_turn_shows_what_has_come_so_far() -> None:
    agent = Agent(model=ScriptedModel([]))
    seen: list[Any] = []
    agent.model = ScriptedModel(
        [answer("Hello", Act(lambda: seen.append(agent.state.streaming_turn)), Pause(0), chunk=2)]
    )
    await agent.prompt("hi")
    assert isinstance(seen[0], AssistantTextTurn)
    assert seen[0].content == "Hello"
    assert agent.state.streaming_turn is None


async def test_pending_tool_calls_are_those_between_start_and_end() -> None:
    seen: list[frozenset[str]] = []
    agent = Agent(model=ScriptedModel([answer(ToolUse("look"), ToolUse("look")), answer("done")]))

    async def look(_given: NoInput, _ctx: ToolContext) -> str:
        seen.append(agent.state.pending_tool_calls)
        return "ok"

    agent.tools = [Tool("look", "d", "l", NoInput, look)]
    await agent.prompt("hi")
    assert [len(pending) for pending in seen] == [2, 2]
    assert agent.state.pending_tool_calls == frozenset()


async def test_the_error_of_a_failed_run_is_kept_until_the_next() -> None:
    agent = Agent(model=ScriptedModel([[failed("server", "It broke.")], answer("ok")]))
    assert (await agent.prompt("hi")).outcome == "failed"
    assert agent.state.error is not None and agent.state.error.message == "It broke."
    await agent.prompt("again")
    assert agent.state.error is None


async def test_events_and_their_turns_never_change() -> None:
    agent = Agent(
        model=ScriptedModel([answer("Hello", ToolUse("shout", {"text": "a"}), chunk=2), answer("b")])
    )
    agent.tools = [SHOUT]
    kept: list[tuple[Event, str]] = []
    agent.subscribe(lambda event: kept.append((event, repr(event))))
    await agent.prompt("hi")
    assert all(repr(event) == before for event, before in kept)
    with pytest.raises(dataclasses.FrozenInstanceError):
        kept[0][0].seq = 5  # type: ignore[misc]
    call = next(event.call for event, _ in kept if isinstance(event, ToolEnd))
    with pytest.raises(TypeError):
        call.input["text"] = "b"  # type: ignore[index]


async def test_cancelling_the_caller_aborts_and_settles_first() -> None:
    agent = Agent(model=ScriptedModel([answer("Hel", Hang())]))
    ends: list[AgentEnd] = []
    agent.subscribe(lambda event: ends.append(event) if isinstance(event, AgentEnd) else None)
    running = asyncio.ensure_future(agent.prompt("hi"))
    await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [end.outcome for end in ends] == ["cancelled"]
    assert not agent.is_streaming


async def test_abort_when_idle_does_nothing() -> None:
    agent = Agent(model=ScriptedModel([answer("a")]))
    agent.abort()
    assert (await agent.prompt("hi")).outcome == "completed"


async def test_a_tool_may_report_progress_from_a_thread() -> None:
    seen: list[str] = []

    async def work(_given: NoInput, ctx: ToolContext) -> str:
        await asyncio.to_thread(lambda: ctx.on_progress("from a thread"))
        await asyncio.sleep(0.01)
        return "ok"

    agent = Agent(
        model=ScriptedModel([answer(ToolUse("work")), answer("b")]),
        tools=[Tool("work", "d", "l", NoInput, work)],
    )
    agent.subscribe(lambda event: seen.append(event.text) if event.type == "tool_progress" else None)
    await agent.prompt("hi")
    assert seen == ["from a thread"]


async def test_a_cost_budget_ends_the_run() -> None:
    limits = Limits(max_cost=1.0, price=lambda model, usage: usage.output_tokens * 0.6)
    model = ScriptedModel([answer(ToolUse("nope")), answer(ToolUse("nope", {"a": 1})), answer("never")])
    end = await Agent(model=model, limits=limits).prompt("hi")
    assert (end.outcome, len(model.requests)) == ("limit", 2)


async def test_an_unknown_price_holds_nobody_up() -> None:
    limits = Limits(max_cost=1.0, price=lambda model, usage: None)
    model = ScriptedModel([answer(ToolUse("nope")), answer("done")])
    end = await Agent(model=model, limits=limits).prompt("hi")
    assert end.outcome == "completed"
    notices = [turn for turn in end.turns if isinstance(turn, NoticeTurn)]
    assert [notice.kind for notice in notices] == ["budget"]


async def test_a_hook_gets_its_own_copy_and_the_call() -> None:
    seen: list[HookContext] = []

    def before(context: HookContext) -> None:
        seen.append(context)

    agent = Agent(
        model=ScriptedModel([answer(ToolUse("shout", {"text": "a"})), answer("b")]),
        tools=[SHOUT],
        before_tool_call=before,
    )
    await agent.prompt("hi")
    assert seen[0].call.tool_name == "shout"
    assert seen[0].input == Words(text="a")
    assert [turn.output for turn in agent.turns if isinstance(turn, ToolResultTurn)] == ["A"]


async def test_a_turn_keeps_its_identity_from_start_to_end() -> None:
    agent = Agent(model=ScriptedModel([answer("Hello", chunk=1)]))
    starts: dict[str, str] = {}
    ends: dict[str, str] = {}

    def listen(event: Event) -> None:
        if isinstance(event, TurnStart):
            starts[event.turn.id] = event.turn.created_at
        elif isinstance(event, TurnEnd):
            ends[event.turn.id] = event.turn.created_at

    agent.subscribe(listen)
    await agent.prompt("hi")
    assert starts == ends


async def scenario_of_a_late_result() -> tuple[list[str], AgentEnd]:
    """A tool that ignores cancellation for two seconds and then writes something."""
    written: list[str] = []

    async def stubborn(_given: NoInput, ctx: ToolContext) -> str:
        for _ in range(4):
            try:
                await asyncio.sleep(0.5)
            except asyncio.CancelledError:
                continue
        ctx.on_progress("late")
        written.append("late")
        return "late"

    agent = Agent(
        model=ScriptedModel([answer(ToolUse("stubborn")), answer("never")]),
        tools=[Tool("stubborn", "d", "l", NoInput, stubborn)],
        clock=LoopClock(),
    )
    seen: list[str] = []
    agent.subscribe(lambda event: seen.append(event.type))
    asyncio.get_running_loop().call_later(0.2, agent.abort)
    end = await agent.prompt("hi")
    count = len(seen)
    await asyncio.sleep(5)
    assert written == ["late"]
    assert len(seen) == count
    return seen, end


def test_a_late_result_is_dropped() -> None:
    seen, end = run_virtually(scenario_of_a_late_result())
    assert end.outcome == "cancelled"
    assert seen[-1] == "agent_end"
