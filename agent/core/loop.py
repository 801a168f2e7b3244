"""The loop of a run: prompts and a conversation go in, events come out until the run ends. It keeps nothing between runs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Coroutine, Iterator, Sequence
from typing import Any

from agent.core.cancellation import OwnedTask
from agent.core.errors import GaveUpWaiting, NothingToContinue
from agent.core.event_bus import EventBus
from agent.core.events import AgentEnd, AgentStart, Event
from agent.core.loop_config import AgentContext, LoopConfig, Poll
from agent.core.messages import GO_ON
from agent.core.model import ModelError
from agent.core.redaction import report
from agent.core.repair import is_aside
from agent.core.response_assembler import failure
from agent.core.run import Run
from agent.core.run_steps import RunEnded, RunEnding, Steps, as_turns, poll_queue
from agent.core.turns import (
    AssistantTextTurn,
    NoticeTurn,
    ThinkingTurn,
    ToolCallTurn,
    ToolResultTurn,
    Turn,
    UserTurn,
)

__all__ = [
    "AgentContext",
    "Loop",
    "LoopConfig",
    "NothingToContinue",
    "agent_loop",
    "agent_loop_continue",
    "find_continuation",
]

log = logging.getLogger(__name__)


def agent_loop(
    prompts: Sequence[Turn], context: AgentContext, config: LoopConfig
) -> AsyncGenerator[Event, None]:
    """Run from new prompts until idle; yield the events, the last being `agent_end`.

    The run waits for its reader at every event. Closing the iterator early aborts the run.
    """
    return _iterate(prompts, context, config)


def agent_loop_continue(context: AgentContext, config: LoopConfig) -> AsyncGenerator[Event, None]:
    """Run on from where the conversation stands; yield the events as `agent_loop` does.

    Raises:
        NothingToContinue: (on reading) the conversation is empty, or complete and nothing is queued.
    """
    return _iterate(None, context, config)


def find_continuation(turns: Sequence[Turn], polls: Sequence[Poll]) -> list[UserTurn]:
    """Return the turns with which a conversation goes on: none when its end needs an answer anyway.

    Args:
        turns: the conversation.
        polls: asked one after the other for what the user said, until one gives something.

    Raises:
        NothingToContinue: there is nothing to go on from.
    """
    last = next((turn for turn in reversed(turns) if not is_aside(turn)), None)
    if last is None:
        raise NothingToContinue("The conversation is empty; there is nothing to continue.")
    if isinstance(last, UserTurn | ToolResultTurn | ToolCallTurn):
        return []
    for poll in polls:
        if queued := list(poll()):
            return queued
    if isinstance(last, ThinkingTurn) or (isinstance(last, AssistantTextTurn) and last.interrupted):
        return [UserTurn(content=GO_ON)]
    raise NothingToContinue("The last answer is complete; send a message to go on.")


class Loop:
    """One run of the loop.

    Args:
        context: what it starts from.
        config: how it goes.
        bus: the listeners of its events.
    """

    def __init__(self, context: AgentContext, config: LoopConfig, bus: EventBus) -> None:
        self._run = Run(config, bus)
        self._config = config
        self._turns = context.turns
        self._steps = Steps(self._run, context)
        self._pending: list[Turn] = []  # what opens the next step and was not said yet

    async def _run_steps(self, *, poll_first: bool) -> None:
        """Go step by step until nothing is left to do.

        Raises:
            RunEnded: the run ends before that: stopped, failed, or at a limit.
        """
        config, steps, pending = self._config, self._steps, self._pending
        if poll_first:
            await self._poll_before_first_step()
        steps.end_without_steps()
        while True:
            if await steps.open(pending):
                answer = await steps.ask()  # transform_context, convert_to_llm, the request, its stream
                pending += await steps.run_calls(answer)
            goes_on = await steps.close()  # an error, an abort and a refusal end the run here
            if not pending:
                pending += self._poll(config.get_steering)
            await self._count_cost()
            if not goes_on and not pending:
                pending += self._when_idle() or self._poll(config.get_follow_up)
            if not goes_on and not pending:
                return
            steps.end_at_limit()

    async def _poll_before_first_step(self) -> None:
        """Let steering join the first step. What the user said is kept even when nothing can be asked."""
        try:
            self._pending += self._poll(self._config.get_steering)
        except RunEnded as ended:
            await self._steps.open(self._pending)
            with contextlib.suppress(RunEnded):
                await self._steps.close()
            raise ended from None

    def _poll(self, poll: Poll | None) -> list[UserTurn]:
        with self._application():
            return poll_queue(self._run, poll)

    async def _count_cost(self) -> None:
        self._steps.end_if_stopped()
        with self._application():
            self._steps.count_cost()
        await self._steps.warn_of_unknown_price()

    def _when_idle(self) -> list[Turn]:
        when_idle = self._config.when_idle
        if when_idle is None or self._steps.is_done or self._run.stopped is not None:
            return []
        with self._application():
            return as_turns(when_idle())

    @contextlib.contextmanager
    def _application(self) -> Iterator[None]:
        """End the run as failed when a function of the application raises.

        Raises:
            RunEnded: it did.
        """
        try:
            yield
        except Exception as error:  # noqa: BLE001 - functions of the application
            raise RunEnded(RunEnding("failed", error=self._failure(error))) from None

    def _failure(self, error: BaseException) -> ModelError:
        return failure("The agent", error, self._run.secrets.clean)

    # From its start to its end

    def start(self, coroutine: Coroutine[Any, Any, AgentEnd]) -> asyncio.Task[AgentEnd]:
        """Run `go`, or a coroutine around it, in a task of its own; cancelling that asks the run to stop."""
        return OwnedTask(coroutine, self._run.stop_from_outside)

    async def go(self, prompts: Sequence[Turn] | None, *, poll_first: bool = True) -> AgentEnd:
        """Run until idle, at most for its longest duration; an abort or a cancelled task ends it before.

        Args:
            prompts: what opens the first step; None to go on from where the conversation stands.
            poll_first: whether steering queued before the run joins the first step.

        Raises:
            NothingToContinue: there is nothing to go on from.
            CancelledError: its task was cancelled; everything was closed first.
        """
        run, config = self._run, self._config
        config.abort_controller.attach(run)
        duration = config.limits.max_duration
        timer = None
        if duration is not None:
            reason = f"Stopped after {duration / 60:.3g} minutes, the longest one run may take."
            timer = config.clock.call_later(duration, lambda: run.stop("limit", reason))
        try:
            if prompts is None:
                prompts = self._continuation()
                poll_first = not prompts
            self._pending += prompts
            end = await self._from_start_to_end(poll_first=poll_first)
        finally:
            if timer is not None:
                timer.cancel()
            config.abort_controller.detach(run)
        if run.cancelled_outside:
            raise asyncio.CancelledError
        return end

    def _continuation(self) -> Sequence[Turn]:
        run, config = self._run, self._config
        polls = [
            lambda poll=poll: poll_queue(run, poll) for poll in (config.get_steering, config.get_follow_up)
        ]
        try:
            return find_continuation(self._turns, polls)
        except NothingToContinue:
            if run.stopped is None:
                raise
            return []

    async def _from_start_to_end(self, *, poll_first: bool) -> AgentEnd:
        """Run from `agent_start` to `agent_end`."""
        run = self._run
        await run.emit(AgentStart)
        try:
            await self._run_steps(poll_first=poll_first)
            ending = self._steps.stopped() or RunEnding("completed")
        except RunEnded as ended:
            ending = ended.ending
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - the run still ends for everyone
            ending = await self._end_broken(error)
        notice = ending.notice or await self._notice_on(ending)
        if notice is not None:
            await run.append_turn(notice)
        return await run.emit_last(
            AgentEnd,
            turns=tuple(run.added),
            outcome=ending.outcome,
            stop_reason=self._steps.stop_reason,
            reason=run.stopped[1] if run.stopped is not None else "",
            error=ending.error,
            usage=run.usage,
            steps=run.step,
            undelivered=self._undelivered(),
        )

    async def _end_broken(self, fault: BaseException) -> RunEnding:
        """Close everything after a fault in the middle of a step."""
        report(log, "the run broke", fault, self._run.secrets.clean)
        await self._steps.close_all()
        return self._steps.stopped() or RunEnding("failed", error=self._failure(fault))

    async def _notice_on(self, ending: RunEnding) -> NoticeTurn | None:
        """What the application wants the conversation to say of a failure, or of a run that completed."""
        run, config = self._run, self._config
        try:
            notice = None
            if ending.error is not None and config.when_failed is not None:
                notice = config.when_failed(ending.error)
            elif ending.outcome == "completed" and config.when_done is not None:
                notice = await run.call(config.when_done, tuple(run.added))
            return None if notice is None else as_turns([notice], NoticeTurn)[0]
        except GaveUpWaiting:
            return None
        except Exception as fault:  # noqa: BLE001 - a function of the application
            self._report("the notice on the run could not be made", fault)
            return None

    def _undelivered(self) -> tuple[UserTurn, ...]:
        """What the user said and the model did not hear."""
        left = [turn for turn in self._pending if isinstance(turn, UserTurn)]
        try:
            left += as_turns(self._config.take_undelivered(), UserTurn)
        except Exception as fault:  # noqa: BLE001 - a function of the application; the run must have its end
            self._report("what is still queued could not be taken back", fault)
        return tuple(left)

    def _report(self, what: str, error: BaseException) -> None:
        report(log, what, error, self._run.secrets.clean)


async def _iterate(
    prompts: Sequence[Turn] | None, context: AgentContext, config: LoopConfig
) -> AsyncGenerator[Event, None]:
    """Run in a task of its own and yield each event; the run goes on once the reader asks for the next."""
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    taken: asyncio.Future[None] | None = None

    def sink(event: Event) -> Awaitable[None] | None:
        nonlocal taken
        if closed:
            return None
        events.put_nowait(event)
        taken = asyncio.get_running_loop().create_future()
        return taken

    def let_go_on() -> None:
        if taken is not None and not taken.done():
            taken.set_result(None)

    closed = False
    loop = Loop(context, config, EventBus(sink))
    task = loop.start(loop.go(prompts))
    task.add_done_callback(lambda _task: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
            let_go_on()
        await task
    finally:
        closed = True
        let_go_on()
        if not task.done():
            config.abort_controller.abort("the reader of the events went away")
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(task)
