"""How a run begins, or does not: cancelled before its first step, with nothing to say, with a setting that is none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.core.agent import Agent, AgentBusy
from agent.core.events import AgentEnd, Event
from agent.core.loop import AgentContext, LoopConfig, NothingToContinue, agent_loop
from agent.core.model import Failed, ModelError
from agent.core.turns import AssistantTextTurn, ToolCallTurn, ToolResultTurn, UserTurn
from agent.models.scripted import Pause, ScriptedModel, answer
from agent.transcript.session_log import Session
from tests.support.virtual_time import LoopClock, run_virtually


def agent_of(*answers: Any) -> Agent:
    scripts = [answer(*given) if isinstance(given, tuple) else answer(given) for given in answers]
    return Agent(model=ScriptedModel(scripts), clock=LoopClock())


def cancel_all_but_me() -> None:
    for task in asyncio.all_tasks():
        if task is not asyncio.current_task():
            task.cancel()


@pytest.mark.parametrize("ticks", range(6))
@pytest.mark.parametrize("how", ["prompt", "continue"])
def test_a_run_whose_tasks_are_all_cancelled_at_its_beginning_is_over_and_kept(how: str, ticks: int) -> None:
    async def scene() -> None:
        agent = agent_of("first", (Pause(9), "slow"), (Pause(9), "slow"))
        events: list[Event] = []
        agent.subscribe(events.append)
        await agent.prompt("before")
        events.clear()
        if how == "continue":
            agent.steer("precious")
            run = asyncio.ensure_future(agent.continue_())
        else:
            run = asyncio.ensure_future(agent.prompt("precious"))
        for _ in range(ticks):
            await asyncio.sleep(0)
        cancel_all_but_me()
        await asyncio.wait({run})
        await agent.wait_for_idle()
        assert not agent.is_streaming
        if ticks:  # else `prompt` was never called
            ends = [event for event in events if isinstance(event, AgentEnd)]
            assert run.cancelled()
            assert [end.outcome for end in ends] == ["cancelled"]
            assert [turn.content for turn in agent.turns if isinstance(turn, UserTurn)][-1:] == ["precious"]
        assert (await agent.prompt("again")).outcome == "completed"
        agent.reset()

    run_virtually(scene())


@pytest.mark.parametrize("ticks", range(5))
def test_a_loop_whose_task_is_cancelled_at_its_beginning_still_says_that_it_ended(ticks: int) -> None:
    async def scene() -> list[str]:
        config = LoopConfig(model=ScriptedModel([answer(Pause(5), "never")]), clock=LoopClock())
        seen: list[str] = []

        async def read() -> None:
            async for event in agent_loop([UserTurn(content="x")], AgentContext(), config):
                seen.append(event.type)

        reading = asyncio.ensure_future(read())
        await asyncio.sleep(0)
        mine = {asyncio.current_task(), reading}
        for _ in range(ticks):
            await asyncio.sleep(0)
        for task in asyncio.all_tasks() - mine:  # type: ignore[operator]
            task.cancel()
        await asyncio.wait({reading})
        return seen

    seen = run_virtually(scene())
    assert (seen[0], seen[-1]) == ("agent_start", "agent_end")


@pytest.mark.parametrize(
    "said", ["", " \n", UserTurn(content=""), [UserTurn(content="a"), UserTurn(content=" ")]]
)
def test_a_message_without_words_is_refused_at_the_call(said: Any) -> None:
    agent = agent_of("ok")
    with pytest.raises(ValueError, match="needs words"):
        run_virtually(agent.prompt(said))
    if not isinstance(said, list):
        for queue in (agent.steer, agent.follow_up):
            with pytest.raises(ValueError, match="needs words"):
                queue(said)
    assert (agent.turns, agent.steering_queue, agent.follow_up_queue) == ((), (), ())


def test_a_prompt_of_nothing_continues_as_continue_does() -> None:
    agent = agent_of("ok", "more", "and more")
    agent.steer("y")
    with pytest.raises(NothingToContinue):
        run_virtually(agent.prompt([]))
    agent.turns = [UserTurn(content="x")]
    assert run_virtually(agent.prompt([])).outcome == "completed"
    with pytest.raises(NothingToContinue):
        run_virtually(agent.prompt([]))
    agent.follow_up("z")
    assert run_virtually(agent.prompt([])).outcome == "completed"
    assert [turn.content for turn in agent.turns if isinstance(turn, UserTurn)] == ["x", "y", "z"]


def test_a_call_that_is_said_to_the_agent_has_its_one_result() -> None:
    agent = agent_of("ok", "ok")
    call = ToolCallTurn(tool_use_id="c1", tool_name="t", input={})
    end = run_virtually(agent.prompt([UserTurn(content="x"), call]))
    assert [turn.type for turn in end.turns] == ["user", "tool_call", "tool_result", "assistant_text"]
    given = ToolResultTurn(tool_use_id="c2", output="mine")
    end = run_virtually(agent.prompt([ToolCallTurn(tool_use_id="c2", tool_name="t", input={}), given]))
    assert [turn.type for turn in end.turns] == ["tool_call", "tool_result", "assistant_text"]


@pytest.mark.parametrize("name", ["on_steer", "tool_execution", "thinking"])
def test_what_is_queued_stays_queued_when_a_setting_is_no_known_word(name: str) -> None:
    agent = agent_of("ok", "more")
    run_virtually(agent.prompt("x"))
    agent.steer("precious")
    setattr(agent, name, "bogus")
    with pytest.raises(ValueError, match=f"{name} must be one of"):
        run_virtually(agent.continue_())
    assert [turn.content for turn in agent.steering_queue] == ["precious"]


def test_the_same_turn_said_again_is_a_turn_of_its_own_also_after_a_restart(tmp_path: Path) -> None:
    session = Session.create(tmp_path, "p")
    failing = [Failed(ModelError("client", "no"))]
    agent = Agent(model=ScriptedModel([failing, answer("ok"), answer("ok")]), clock=LoopClock())
    session.attach(agent)
    turn = UserTurn(content="important")
    for say in (agent.prompt, agent.prompt):
        asyncio.run(say(turn))
    queued = [agent.steer(turn), agent.follow_up(turn)]
    assert len({turn.id, *(one.id for one in queued)}) == 3
    agent.clear_follow_up_queue()
    asyncio.run(agent.continue_())
    session.close()
    read = Session.open(session.path)
    assert read.problems == []
    assert [one.type for one in read.turns] == [one.type for one in agent.turns]
    assert [one.content for one in read.turns if isinstance(one, UserTurn)] == ["important"] * 3
    assert isinstance(read.turns[-1], AssistantTextTurn)


def test_a_busy_agent_is_busy_until_its_run_has_ended() -> None:
    async def scene() -> list[str]:
        agent = agent_of("ok")
        refused: list[str] = []
        calls: list[Callable[[], Any]] = [lambda: agent.prompt("y"), agent.continue_]

        async def listen(event: Event) -> None:
            if isinstance(event, AgentEnd):
                for call in calls:
                    try:
                        await call()
                    except AgentBusy:
                        refused.append("busy")

        agent.subscribe(listen)
        await agent.prompt("x")
        return refused

    assert run_virtually(scene()) == ["busy"] * 2
