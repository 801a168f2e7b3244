"""The stateless loop: prompts and a conversation go in, events come out until the agent is idle.

Steering is polled, then step follows step: a request, its answer, its tool calls, and steering again. When
nothing is left to answer, follow-ups are polled; without any the run ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agent.answer import Answer, failure
from agent.asking import Asking
from agent.calls import answer_calls, run_calls
from agent.config import AgentContext, LoopConfig, Poll
from agent.events import AgentEnd, AgentStart, Event, Outcome, StepEnd, StepStart
from agent.interrupts import Interrupts
from agent.limits import RepeatWatch, reached
from agent.messages import GO_ON, REFUSED
from agent.models.base import ModelError, Usage
from agent.repair import is_aside, missing_results
from agent.run import Cut, Run, Sink
from agent.turns import (
    AssistantTextTurn,
    NoticeTurn,
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

MOST_PAUSES = 5
"""How often in a row a `pause_turn` is resumed."""


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

    async def start(sink: Sink) -> AgentEnd:
        prompts = await find_continuation(context.turns, config.get_steering, config.get_follow_up)
        return await run_loop(prompts, context, config, sink, poll_first=not prompts)

    return _iterate(start, config.interrupts)


async def find_continuation(
    turns: Sequence[Turn], get_steering: Poll | None, get_follow_up: Poll | None
) -> list[UserTurn]:
    """Return the turns with which a conversation goes on: none when its end needs an answer anyway.

    Raises:
        NothingToContinue: there is nothing to go on from.
    """
    last = next((turn for turn in reversed(turns) if not is_aside(turn)), None)
    if last is None:
        raise NothingToContinue("The conversation is empty; there is nothing to continue.")
    if isinstance(last, UserTurn | ToolResultTurn | ToolCallTurn):
        return []
    for poll in (get_steering, get_follow_up):
        if queued := await _poll(poll):
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
    run = Run(config, sink)
    end = await _Loop(run, context).go(prompts, poll_first=poll_first)
    if run.leaving is not None:
        raise run.leaving
    if run.cancelled_outside:
        raise asyncio.CancelledError
    return end


@dataclass(slots=True)
class _Ending:
    """How a run ends: its outcome, and the notice that says why, if one does."""

    outcome: Outcome
    notice: NoticeTurn | None = None
    error: ModelError | None = None


class _Loop:
    """One run of the loop."""

    def __init__(self, run: Run, context: AgentContext) -> None:
        self._run = run
        self._config = run.config
        self._tools = {tool.name: tool for tool in context.tools}
        self._asking = Asking(run, context)
        self._repeats = RepeatWatch(self._config.limits.max_repeats)
        self._stop_reason = ""
        self._truncations = 0
        self._pauses = 0
        run.on_turn = self._asking.keep

    async def go(self, prompts: Sequence[Turn], *, poll_first: bool) -> AgentEnd:
        """Run from `agent_start` to `agent_end`."""
        run, config = self._run, self._config
        pending: list[Turn] = list(prompts)
        config.interrupts.attach(run)
        duration = config.limits.max_duration
        timer = None
        if duration is not None:
            reason = f"Stopped after {duration / 60:.3g} minutes, the longest one run may take."
            timer = config.clock.call_later(duration, lambda: run.stop("limit", reason))
        try:
            await run.emit(AgentStart)
            try:
                ending = await self._steps(pending, poll_first=poll_first)
            except BaseException as error:  # noqa: BLE001 - a fault of our own still ends the run for everyone
                ending = await self._end_broken(error)
            if ending.notice is not None:
                await run.say(ending.notice)
        finally:
            if timer is not None:
                timer.cancel()
            config.interrupts.detach(run)
        undelivered = [turn for turn in pending if isinstance(turn, UserTurn)]
        try:
            undelivered.extend(_as_turns(config.take_undelivered(), UserTurn))
        except BaseException as error:
            log.error("what is still queued could not be taken back", exc_info=run.fault(error))
        end = AgentEnd(
            **run.stamp(),
            turns=tuple(run.added),
            outcome=ending.outcome,
            stop_reason=self._stop_reason,
            reason=run.stopped[1] if run.stopped is not None else "",
            error=ending.error,
            usage=run.usage,
            steps=run.step,
            undelivered=tuple(undelivered),
        )
        await run.send(end)
        return end

    async def _end_broken(self, error: BaseException) -> _Ending:
        """Close everything after a fault in the middle of a step."""
        run = self._run
        fault = run.fault(error)
        log.error("the run broke", exc_info=fault)
        run.on_turn = lambda _turn: None
        try:
            await self._asking.close()
        except Exception:  # the fault may be in the answer itself
            log.exception("the answer could not be closed")
        await run.unfinished.end_all(run, stop_reason=self._stop_reason, usage=self._asking.usage)
        return self._stopped() or _Ending("failed", error=failure("The agent", fault))

    async def _steps(self, pending: list[Turn], *, poll_first: bool) -> _Ending:
        """Go step by step; `pending` always holds what opens the next step and was not said yet."""
        run, config = self._run, self._config
        try:
            if poll_first:
                pending.extend(await self._ask_for(config.get_steering))
        except Exception as error:  # noqa: BLE001 - functions of the application
            return await self._fail_first_step(pending, failure("The agent", error))
        if config.limits.max_steps <= 0:
            text = reached(config.limits, steps=0, usage=run.usage, model=config.model.name) or ""
            return _Ending("limit", NoticeTurn(content=text, kind="limit"))
        while True:
            ending, more = await self._step(pending)
            if ending is not None:
                return ending
            try:
                if not more and not pending:
                    pending.extend(await self._ask_for(config.get_follow_up))
                    if not pending and config.when_idle is not None and run.stopped is None:
                        pending.extend(_as_turns(config.when_idle()))
                    if not pending:
                        return self._stopped() or _Ending("completed")
                why = reached(config.limits, steps=run.step, usage=run.usage, model=config.model.name)
            except Exception as error:  # noqa: BLE001 - functions of the application
                return _Ending("failed", error=failure("The agent", error))
            if why is not None:
                return _Ending("limit", NoticeTurn(content=why, kind="limit"))
            if (stopped := self._stopped()) is not None:
                return stopped

    async def _step(self, pending: list[Turn]) -> tuple[_Ending | None, bool]:
        """One request, its answer and its calls. Returns how the run ends, or whether the model goes on."""
        run, config = self._run, self._config
        await self._open_step(pending)
        answer = await self._asking.ask()
        self._stop_reason = answer.stop_reason
        results: list[ToolResultTurn] = []
        ending: _Ending | None = None
        ends_run = False
        if (reason := self._why_not_run(answer)) is not None:
            results = await answer_calls(run, answer.calls, reason)
        elif answer.calls:
            poll = self._poll_steering if config.on_steer == "skip_remaining" else None
            batch = await run_calls(run, answer.calls, self._tools, poll)
            results, ends_run = batch.results, batch.ends_run
            pending.extend(batch.steering)
            for call, failed in batch.tried:
                raw = answer.raw.get(call.id, "")
                if (why := self._repeats.saw(call, is_error=failed, raw=raw)) is not None:
                    ending = _Ending("limit", NoticeTurn(content=why, kind="limit"))
        await run.emit(
            StepEnd,
            step=run.step,
            stop_reason=answer.stop_reason,
            usage=self._asking.usage,
            tool_results=tuple(results),
        )
        ending = self._ending_of(answer) or ending
        if ending is None and ends_run:
            ending = _Ending("completed")
        if ending is None and not pending:
            try:
                pending.extend(await self._ask_for(config.get_steering))
            except Exception as error:  # noqa: BLE001 - a function of the application
                ending = _Ending("failed", error=failure("The agent", error))
        more = bool(answer.calls) or answer.stop_reason == "pause_turn"
        return self._stopped() or ending, more

    async def _open_step(self, pending: list[Turn]) -> None:
        """Say what opens the step; calls that still have no result are answered first."""
        run = self._run
        run.step += 1
        await run.emit(StepStart, step=run.step)
        if run.step == 1:
            for result in missing_results(self._asking.turns):
                await run.say(result)
        while pending:
            await run.say(pending.pop(0))

    async def _fail_first_step(self, pending: list[Turn], error: ModelError) -> _Ending:
        """What the user said is kept even when nothing can be asked."""
        await self._open_step(pending)
        await self._run.emit(StepEnd, step=self._run.step, stop_reason="", usage=Usage(), tool_results=())
        return _Ending("failed", error=error)

    # Deciding

    def _why_not_run(self, answer: Answer) -> str | None:
        """Why the calls of this answer may not run, in words for the model."""
        if self._run.stopped is not None:
            return "Cancelled: not run."
        if not answer.complete:
            return "Not run: the answer broke off before it was complete. Send the call again if it still makes sense."
        return _NEVER_RUN.get(answer.stop_reason)

    def _ending_of(self, answer: Answer) -> _Ending | None:
        """Whether this answer ends the run."""
        if answer.error is not None:
            return _Ending("failed", error=answer.error)
        reason = answer.stop_reason
        self._pauses = self._pauses + 1 if reason == "pause_turn" else 0
        self._truncations = self._truncations + 1 if reason == "max_tokens" and answer.calls else 0
        if reason == "refusal":
            text = "The model refused to answer; its answer is kept out of later requests."
            return _Ending("refused", NoticeTurn(content=text, kind=REFUSED))
        if reason == "model_context_window_exceeded":
            text = (
                "The conversation no longer fits the model's context window; shorten it or start a new one."
            )
            return _Ending("truncated", NoticeTurn(content=text, kind="truncated"))
        if reason == "max_tokens" and (not answer.calls or self._truncations >= 2):
            text = "The answer was cut at the model's output limit."
            if answer.calls:
                text = "The answer was cut at the model's output limit twice in a row, in the middle of a tool call."
            return _Ending("truncated", NoticeTurn(content=text, kind="truncated"))
        if self._pauses > MOST_PAUSES:
            text = f"Stopped because the model paused {self._pauses} times in a row."
            return _Ending("limit", NoticeTurn(content=text, kind="limit"))
        return None

    def _stopped(self) -> _Ending | None:
        """The ending of a run that was stopped."""
        if self._run.stopped is None:
            return None
        outcome, reason = self._run.stopped
        notice = self._run.stop_notice
        if notice is None and outcome == "limit":
            notice = NoticeTurn(content=reason, kind="limit")
        return _Ending(outcome, notice)

    # What the user said meanwhile

    async def _ask_for(self, poll: Poll | None) -> list[UserTurn]:
        """What the user said meanwhile; nothing when the run is stopped before or while asking."""
        if poll is None or self._run.stopped is not None:
            return []
        try:
            return _as_turns(await self._run.call(poll, within=self._config.limits.hook_timeout), UserTurn)
        except Cut:
            return []

    async def _poll_steering(self) -> list[UserTurn]:
        """Steering during a batch; a poll that fails counts as nothing said, the next one will tell."""
        try:
            return await self._ask_for(self._config.get_steering)
        except Exception:  # noqa: BLE001 - a function of the application
            return []


_NEVER_RUN = {
    "max_tokens": "Not run: the answer was cut at its output limit, so this call may be incomplete. Send it again "
    "with a shorter input, or in several smaller calls.",
    "refusal": "Not run: the answer was refused.",
    "model_context_window_exceeded": "Not run: the conversation no longer fits the context window.",
}


def _as_turns(said: Any, kind: Any = Turn) -> list[Any]:
    """What a function of the application gave, as the turns it must be.

    Raises:
        TypeError: it is something else.
    """
    turns = list(said)
    for turn in turns:
        if not isinstance(turn, kind):
            raise TypeError(f"turns are wanted, not {type(turn).__name__}")
    return turns


async def _poll(poll: Poll | None) -> list[UserTurn]:
    if poll is None:
        return []
    queued = poll()
    return _as_turns(await queued if inspect.isawaitable(queued) else queued, UserTurn)


async def _iterate(
    start: Callable[[Sink], Awaitable[AgentEnd]], interrupts: Interrupts
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
    task = asyncio.ensure_future(start(sink))
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
