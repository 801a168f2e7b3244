"""A message that was taken from a queue when the run is stopped is said, or goes back to whoever typed it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from agent.core.events import AgentEnd, Event
from agent.core.limits import Limits
from agent.core.loop import AgentContext, LoopConfig, agent_loop, agent_loop_continue
from agent.core.tool import NoInput, Tool, ToolContext
from agent.core.turns import AssistantTextTurn, UserTurn
from agent.models.scripted import ScriptedModel, ToolUse, answer
from tests.support.virtual_time import LoopClock, run_virtually

PRECIOUS = "precious"


class Inbox:
    """A queue that is asked in its own time: it gives its message a while after it was taken out.

    Args:
        nth: how often it was asked when it has something.
        takes: seconds until it gives it.
        stop: called once it has taken it.
        obeys: whether it is gone with the message when it is cancelled.
    """

    def __init__(self, nth: int, *, takes: float, obeys: bool) -> None:
        self.nth = nth
        self.takes = takes
        self.obeys = obeys
        self.stop = lambda: None

    async def poll(self) -> list[UserTurn]:
        self.nth -= 1
        if self.nth:
            return []
        self.stop()
        try:
            await asyncio.sleep(self.takes)
        except asyncio.CancelledError:
            if self.obeys:
                raise
        return [UserTurn(content=PRECIOUS)]


def play(inbox: Inbox, *, follow_up: bool, continues: bool, how: str) -> tuple[AgentEnd, float]:
    """Run, stop while the inbox is asked; return the end and the seconds from the stop to it."""

    async def noop(_input: NoInput, _ctx: ToolContext) -> str:
        return "done"

    async def main() -> tuple[AgentEnd, float]:
        loop = asyncio.get_running_loop()
        config = LoopConfig(
            model=ScriptedModel([answer(ToolUse("noop")), answer("b")]),
            get_follow_up=inbox.poll if follow_up else None,
            get_steering=None if follow_up else inbox.poll,
            limits=Limits(hook_timeout=1.0) if how == "timeout" else Limits(),
            clock=LoopClock(),
        )
        stopped_at = 0.0

        def stop() -> None:
            nonlocal stopped_at
            stopped_at = loop.time() + (1.0 if how == "timeout" else 0.001)
            if how == "abort":
                loop.call_later(0.001, config.interrupts.abort)

        inbox.stop = stop
        tools = [Tool("noop", "d", "l", NoInput, noop)]
        events: AsyncIterator[Event]
        if continues:
            turns = [UserTurn(content="a"), AssistantTextTurn(content="b")]
            events = agent_loop_continue(AgentContext(turns=turns, tools=tools), config)
        else:
            events = agent_loop([UserTurn(content="x")], AgentContext(tools=tools), config)
        last = [event async for event in events][-1]
        assert isinstance(last, AgentEnd)
        await asyncio.sleep(100)
        return last, last.at - stopped_at

    return run_virtually(main())


@pytest.mark.parametrize(("takes", "obeys"), [(0.02, True), (100.0, False)], ids=["in a moment", "cancelled"])
@pytest.mark.parametrize(
    ("place", "nth"), [("steering", 1), ("steering", 2), ("steering", 3), ("follow-up", 1), ("continue", 1)]
)
def test_a_message_taken_when_the_run_is_stopped_is_not_lost(
    place: str, nth: int, takes: float, obeys: bool
) -> None:
    inbox = Inbox(nth, takes=takes, obeys=obeys)
    follow_up = place == "follow-up"
    end, took = play(inbox, follow_up=follow_up, continues=place == "continue", how="abort")
    assert end.outcome == "cancelled" and took <= 0.051
    said = [turn.content for turn in end.turns if isinstance(turn, UserTurn)]
    back = [turn.content for turn in end.undelivered]
    assert (said + back).count(PRECIOUS) == 1


def test_a_message_that_comes_right_when_its_time_is_over_is_heard() -> None:
    end, _ = play(Inbox(1, takes=1.01, obeys=True), follow_up=False, continues=False, how="timeout")
    assert end.outcome == "completed"
    assert [turn.content for turn in end.turns if isinstance(turn, UserTurn)] == ["x", PRECIOUS]


@pytest.mark.parametrize("obeys", [True, False])
def test_a_queue_that_gives_nothing_holds_a_stop_up_for_the_grace_period_at_most(obeys: bool) -> None:
    class Never(Inbox):
        async def poll(self) -> list[UserTurn]:
            self.stop()
            try:
                await asyncio.sleep(50)
            except asyncio.CancelledError:
                if self.obeys:
                    raise
                await asyncio.sleep(40)
            return [UserTurn(content=PRECIOUS)]

    end, took = play(Never(1, takes=0, obeys=obeys), follow_up=False, continues=False, how="abort")
    assert end.outcome == "cancelled" and took <= (0.026 if obeys else 0.051)
