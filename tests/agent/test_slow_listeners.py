"""The time that listeners take is not the model's silence, and hides none of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from agent.core.agent import Agent
from agent.core.events import AgentEnd, Event
from agent.core.limits import Limits
from agent.core.model import BlockDelta, BlockEnd, BlockEvent, BlockStart, Done, Request
from agent.core.retry import RetryPolicy
from tests.support.virtual_time import LoopClock, run_virtually


class Speaking:
    """Says a word, waits, and says it is done, if it says anything more at all."""

    name, endpoint = "speaking", "here"

    def __init__(self, pause: float | None) -> None:
        self._pause = pause

    async def stream(self, _request: Request) -> AsyncIterator[BlockEvent]:
        yield BlockStart(0, "text")
        yield BlockDelta(0, "word")
        await (asyncio.sleep(self._pause) if self._pause is not None else asyncio.Event().wait())
        yield BlockEnd(0)
        yield Done("end_turn")


def run(model: Speaking, takes: float = 50) -> tuple[AgentEnd, float]:
    """Return how a run ended whose listener `takes` so long a delta, of 20 s of silence, and after how long."""

    async def main() -> tuple[AgentEnd, float]:
        agent = Agent(model=model, limits=Limits(max_silence=20, max_duration=None), clock=LoopClock())
        agent.retry = RetryPolicy(retries=0)

        async def listen(event: Event) -> None:
            if event.type == "turn_delta":
                await asyncio.sleep(takes)

        agent.subscribe(listen)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        end = await agent.prompt("hi")
        return end, loop.time() - begun

    return run_virtually(main())


def test_a_model_that_falls_silent_while_a_listener_is_slow_is_given_up() -> None:
    end, seconds = run(Speaking(None))
    assert end.error is not None and end.error.kind == "stall"
    assert 70 <= seconds < 72


def test_a_model_that_goes_on_after_a_slow_listener_is_heard_to_its_end() -> None:
    end, seconds = run(Speaking(15))
    assert (end.outcome, end.error) == ("completed", None)
    assert 65 <= seconds < 67


def test_the_time_of_a_listener_that_is_done_before_the_silence_is_too_long_does_not_count_either() -> None:
    end, seconds = run(Speaking(15), takes=12)
    assert (end.outcome, end.error) == ("completed", None)
    assert 27 <= seconds < 29
    end, seconds = run(Speaking(None), takes=12)
    assert end.error is not None and end.error.kind == "stall"
    assert 32 <= seconds < 34
