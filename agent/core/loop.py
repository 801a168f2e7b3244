"""The stateless loop: prompts and a conversation go in, events come out until the agent is idle.

Steering is polled, then step follows step: a request, its answer, its tool calls, and steering again. When
nothing is left to answer, or `task_complete` was called, follow-ups are polled; without any the run ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from typing import Any

from agent.core.abort_controller import Interrupts
from agent.core.events import AgentEnd, Event
from agent.core.loop_config import AgentContext, LoopConfig, Poll
from agent.core.messages import GO_ON
from agent.core.owned_task import begin_task
from agent.core.repair import is_aside
from agent.core.run import Run, Sink
from agent.core.run_loop import Steps, poll_queue
from agent.core.turns import (
    AssistantTextTurn,
    ThinkingTurn,
    ToolCallTurn,
    ToolResultTurn,
    Turn,
    UserTurn,
)
from personas.errors import PersonaError

__all__ = [
    "AgentContext",
    "LoopConfig",
    "NothingToContinue",
    "agent_loop",
    "agent_loop_continue",
    "find_continuation",
    "run_loop",
]

log = logging.getLogger(__name__)


class NothingToContinue(PersonaError):
    """The conversation has nothing the model could go on from."""


def agent_loop(
    prompts: Sequence[Turn], context: AgentContext, config: LoopConfig
) -> AsyncGenerator[Event, None]:
    """Run from new prompts until idle; yield the events, the last being `agent_end`.

    The run waits for its reader at every event. Closing the iterator early aborts the run.
    """
    return _iterate(lambda sink: run_loop(prompts, context, config, sink), config.interrupts)


def agent_loop_continue(context: AgentContext, config: LoopConfig) -> AsyncGenerator[Event, None]:
    """Run on from where the conversation stands; yield the events as `agent_loop` does.

    Raises:
        NothingToContinue: (on reading) the conversation is empty, or complete and nothing is queued.
    """
    return _iterate(lambda sink: continue_loop(context, config, sink), config.interrupts)


async def find_continuation(
    turns: Sequence[Turn],
    get_steering: Poll | None,
    get_follow_up: Poll | None,
    ask: Callable[[Poll | None], Awaitable[list[UserTurn]]] = poll_queue,
) -> list[UserTurn]:
    """Return the turns with which a conversation goes on: none when its end needs an answer anyway.

    Args:
        turns: the conversation.
        get_steering: asked first for what the user said.
        get_follow_up: asked when that gave nothing.
        ask: how they are asked.

    Raises:
        NothingToContinue: there is nothing to go on from.
    """
    last = next((turn for turn in reversed(turns) if not is_aside(turn)), None)
    if last is None:
        raise NothingToContinue("The conversation is empty; there is nothing to continue.")
    if isinstance(last, UserTurn | ToolResultTurn | ToolCallTurn):
        return []
    for poll in (get_steering, get_follow_up):
        if queued := await ask(poll):
            return queued
    if isinstance(last, ThinkingTurn) or (isinstance(last, AssistantTextTurn) and last.interrupted):
        return [UserTurn(content=GO_ON)]
    raise NothingToContinue("The last answer is complete; send a message to go on.")


async def run_loop(
    prompts: Sequence[Turn],
    context: AgentContext,
    config: LoopConfig,
    sink: Sink,
    *,
    poll_first: bool = True,
) -> AgentEnd:
    """Run until idle, handing each event to `sink`; return the last one.

    Args:
        prompts: what opens the first step.
        context: what the run starts from.
        config: how it goes.
        sink: called with each event; what it returns, if anything, is awaited.
        poll_first: whether steering queued before the run joins the first step.

    Raises:
        CancelledError: the task was cancelled from outside; everything was closed first.
        KeyboardInterrupt, SystemExit: came up in code the run called; everything was closed first.
    """
    loop = Steps(Run(config, sink), context)
    with loop.in_reach():
        return await loop.go(prompts, poll_first=poll_first)


async def continue_loop(context: AgentContext, config: LoopConfig, sink: Sink) -> AgentEnd:
    """`run_loop` from where the conversation stands.

    Raises:
        NothingToContinue: there is nothing to go on from, and the run was not stopped while that was found out.
        CancelledError, KeyboardInterrupt, SystemExit: as `run_loop`.
    """
    run = Run(config, sink)
    loop = Steps(run, context)
    with loop.in_reach():
        try:
            prompts = await find_continuation(
                context.turns, config.get_steering, config.get_follow_up, loop.ask_for
            )
        except NothingToContinue:
            if run.stopped is None:
                raise
            prompts = []
        return await loop.go(prompts, poll_first=not prompts)


async def _iterate(
    start: Callable[[Sink], Coroutine[Any, Any, AgentEnd]], interrupts: Interrupts
) -> AsyncGenerator[Event, None]:
    """Run in a task of its own and yield each event; the run goes on once the reader asks for the next."""
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    taken: asyncio.Future[None] | None = None

    def sink(event: Event) -> Awaitable[None] | None:
        nonlocal taken
        if closed:
            return None
        events.put_nowait(event)
        taken = loop.create_future()
        return taken

    closed = False
    loop = asyncio.get_running_loop()
    task = begin_task(start(sink), lambda: interrupts.abort("the program cancelled the run"))
    task.add_done_callback(lambda _task: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
            if taken is not None and not taken.done():
                taken.set_result(None)
        await task
    finally:
        closed = True
        if taken is not None and not taken.done():
            taken.set_result(None)
        if not task.done():
            interrupts.abort("the reader of the events went away")
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(task)
