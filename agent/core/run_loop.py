"""One run, step after step: a request, its answer, its tool calls, and steering; at the end, follow-ups."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agent.core.bounded_await import is_awaitable
from agent.core.events import AgentEnd, AgentStart, Outcome, StepEnd, StepStart
from agent.core.limits import RepeatWatch, Spending, reached
from agent.core.loop_config import AgentContext, Poll
from agent.core.messages import REFUSED, REFUSED_EMPTY
from agent.core.model import ModelError, Usage
from agent.core.model_requests import Asking
from agent.core.redaction import report
from agent.core.repair import last_call_failed, missing_results, unanswered_calls
from agent.core.response_assembler import Answer, failure
from agent.core.run import Cut, Run
from agent.core.tool_batch import Batch, answer_calls, run_calls
from agent.core.turns import (
    NoticeTurn,
    ToolCallTurn,
    ToolResultTurn,
    Turn,
    UserTurn,
)

log = logging.getLogger(__name__)

MOST_PAUSES = 5
"""How often in a row a `pause_turn` is resumed."""


async def poll_queue(poll: Poll | None) -> list[UserTurn]:
    """Return what a queue gives now; its errors pass through."""
    if poll is None:
        return []
    queued = poll()
    return as_turns(await queued if is_awaitable(queued) else queued, UserTurn)


@dataclass(slots=True)
class _Ending:
    """How a run ends: its outcome, and the notice that says why, if one does."""

    outcome: Outcome
    notice: NoticeTurn | None = None
    error: ModelError | None = None


class Steps:
    """One run of the loop."""

    def __init__(self, run: Run, context: AgentContext) -> None:
        self._run = run
        self._config = run.config
        self._tools = {tool.name: tool for tool in context.tools}
        self._asking = Asking(run, context)
        self._repeats = RepeatWatch(self._config.limits.max_repeats)
        self._spending = Spending(self._config.limits, run.model_name)
        self._is_done = False  # task_complete was the last thing the model did
        self._stop_reason = ""
        self._truncations = 0
        self._pauses = 0
        run.on_turn = self._asking.turns.append

    @contextlib.contextmanager
    def in_reach(self) -> Iterator[None]:
        """Let the outside and the longest duration reach the run; raise at its end what ends the program.

        Raises:
            CancelledError: the task was cancelled from outside.
            KeyboardInterrupt, SystemExit: came up in code the run called.
        """
        run, config = self._run, self._config
        config.interrupts.attach(run)
        duration = config.limits.max_duration
        timer = None
        if duration is not None:
            reason = f"Stopped after {duration / 60:.3g} minutes, the longest one run may take."
            timer = config.clock.call_later(duration, lambda: run.stop("limit", reason))
        try:
            yield
        finally:
            if timer is not None:
                timer.cancel()
            run.alarm.call_off()
            config.interrupts.detach(run)
            if run.leaving is not None:
                raise run.leaving
        if run.cancelled_outside:
            raise asyncio.CancelledError

    async def go(self, prompts: Sequence[Turn], *, poll_first: bool) -> AgentEnd:
        """Run from `agent_start` to `agent_end`."""
        run, config = self._run, self._config
        pending: list[Turn] = list(prompts)
        await run.emit(AgentStart)
        try:
            ending = await self._steps(pending, poll_first=poll_first)
        except BaseException as error:  # noqa: BLE001 - a fault of our own still ends the run for everyone
            ending = await self._end_broken(error)
        notice = ending.notice or await self._notice_on(ending)
        if notice is not None:
            await run.say(notice)
        undelivered = [turn for turn in pending if isinstance(turn, UserTurn)]
        try:
            undelivered.extend(as_turns(config.take_undelivered(), UserTurn))
        except BaseException as error:  # noqa: BLE001 - a function of the application; the run must have its end
            report(
                log, "what is still queued could not be taken back", run.fault(error), self._run.secrets.clean
            )
        return await run.emit_last(
            AgentEnd,
            turns=tuple(run.added),
            outcome=ending.outcome,
            stop_reason=self._stop_reason,
            reason=run.stopped[1] if run.stopped is not None else "",
            error=ending.error,
            usage=run.usage,
            steps=run.step,
            undelivered=tuple(undelivered),
        )

    async def _notice_on(self, ending: _Ending) -> NoticeTurn | None:
        """What the application wants the conversation to say of a failure, or of a run that completed."""
        run, config = self._run, self._config
        try:
            notice = None
            if ending.error is not None and config.when_failed is not None:
                notice = config.when_failed(ending.error)
            elif ending.outcome == "completed" and config.when_done is not None:
                notice = await run.call(config.when_done, tuple(run.added))
            return None if notice is None else as_turns([notice], NoticeTurn)[0]
        except Cut:
            return None
        except BaseException as fault:  # noqa: BLE001 - a function of the application
            report(log, "what to say of the run could not be asked", run.fault(fault), run.secrets.clean)
            return None

    def _failure(self, error: BaseException) -> ModelError:
        return failure("The agent", error, self._run.secrets.clean)

    async def _end_broken(self, error: BaseException) -> _Ending:
        """Close everything after a fault in the middle of a step."""
        run = self._run
        fault = run.fault(error)
        report(log, "the run broke", fault, self._run.secrets.clean)
        run.on_turn = lambda _turn: None
        try:
            await self._asking.close()
        except Exception as again:  # noqa: BLE001 - the fault may be in the answer itself
            report(log, "the answer could not be closed", again, self._run.secrets.clean)
        await run.unfinished.end_all(run, stop_reason=self._stop_reason, usage=self._asking.usage)
        return self._stopped() or _Ending("failed", error=self._failure(fault))

    async def _steps(self, pending: list[Turn], *, poll_first: bool) -> _Ending:
        """Go step by step; `pending` always holds what opens the next step and was not said yet."""
        run, config = self._run, self._config
        try:
            if poll_first:
                pending.extend(await self.ask_for(config.get_steering))
        except Exception as error:  # noqa: BLE001 - functions of the application
            return await self._fail_first_step(pending, self._failure(error))
        if config.limits.max_steps <= 0:
            text = reached(config.limits, steps=0, usage=run.usage) or ""
            return _Ending("limit", NoticeTurn(content=text, kind="limit"))
        while True:
            ending, more = await self._step(pending)
            if ending is not None:
                return ending
            try:
                if config.limits.max_cost is not None:
                    await self._count_cost()
                if not more and not pending:
                    if config.when_idle is not None and not self._is_done and run.stopped is None:
                        pending.extend(as_turns(config.when_idle()))
                    if not pending:
                        pending.extend(await self.ask_for(config.get_follow_up))
                    if not pending:
                        return self._stopped() or _Ending("completed")
                why = reached(config.limits, steps=run.step, usage=run.usage, cost=self._spending.cost)
            except Exception as error:  # noqa: BLE001 - functions of the application
                return _Ending("failed", error=self._failure(error))
            if why is not None:
                return _Ending("limit", NoticeTurn(content=why, kind="limit"))
            if run.stopped is not None and (stopped := self._stopped()) is not None:
                return stopped

    async def _step(self, pending: list[Turn]) -> tuple[_Ending | None, bool]:
        """One request, its answer and its calls. Returns how the run ends, or whether the model goes on."""
        run, config = self._run, self._config
        left = await self._open_step(pending)
        if left is not None and (left.ends_run or left.is_done):
            return await self._end_without_request(left)
        if run.step == 1 and (why := self._used_up_before()) is not None:
            made = tuple(left.results) if left is not None else ()
            await run.emit(StepEnd, step=run.step, stop_reason="", usage=Usage(), tool_results=made)
            return self._stopped() or _Ending("limit", NoticeTurn(content=why, kind="limit")), False
        answer = await self._asking.ask()
        self._stop_reason = answer.stop_reason
        if answer.complete and answer.stop_reason == "refusal":
            await run.say(_refusal(answer))  # right behind it, whatever happens next: it is never sent again
        elif _has_nothing(answer) and run.stopped is None:
            called = any(isinstance(turn, ToolCallTurn) for turn in run.added)
            await run.say(NoticeTurn(content=NOTHING_SAID if called else NOTHING_SAID_OR_DONE, kind="empty"))
        results: list[ToolResultTurn] = []
        ending: _Ending | None = None
        ends_run = self._is_done = False
        if (reason := self._why_not_run(answer)) is not None:
            results = await answer_calls(run, answer.calls, reason)
        elif answer.calls:
            batch = await self._run_calls(answer.calls)
            results, ends_run, self._is_done = batch.results, batch.ends_run, batch.is_done
            pending.extend(batch.steering)
            for call, failed in batch.tried:
                raw = answer.raw.get(call.id, "")
                if (why := self._repeats.saw(call, is_error=failed, raw=raw)) is not None:
                    ending = _Ending("limit", NoticeTurn(content=why, kind="limit"))
        if reason is None:
            self._repeats.end_step()
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
                pending.extend(await self.ask_for(config.get_steering))
            except Exception as error:  # noqa: BLE001 - a function of the application
                ending = _Ending("failed", error=self._failure(error))
        more = (bool(answer.calls) or answer.stop_reason == "pause_turn") and not self._is_done
        return ending if run.stopped is None else self._stopped(), more

    async def _open_step(self, pending: list[Turn]) -> Batch | None:
        """Say what opens the step; calls that still have no result are answered first.

        Returns what came of calls that were left open and made now; None where there were none.
        """
        run = self._run
        run.step += 1
        await run.emit(StepStart, run.step)
        left = None
        if run.step == 1:
            given = {turn.tool_use_id for turn in pending if isinstance(turn, ToolResultTurn)}
            if self._config.make_left_open:
                left = await self._make_left_open(given)
            for result in missing_results(self._asking.turns):
                if result.tool_use_id not in given:  # the application answers that call itself
                    await run.say(result)
        said = bool(pending)
        is_call_said = False
        while pending:
            is_call_said = is_call_said or isinstance(pending[0], ToolCallTurn)
            await run.say(pending.pop(0))
        for result in missing_results(self._asking.turns) if is_call_said else ():
            await run.say(result)
        if left is not None:
            for turn in left.steering:
                await run.say(turn)
            if said or left.steering:  # there is something to answer
                left.ends_run = left.is_done = False
        return left

    async def _make_left_open(self, given: Collection[str]) -> Batch | None:
        """Make the calls of the last answer that have no result, all but those that are answered anyway."""
        calls = [call for call in unanswered_calls(self._asking.turns) if call.tool_use_id not in given]
        if not calls:
            return None
        return await self._run_calls(calls, sibling_failed=last_call_failed(self._asking.turns))

    async def _run_calls(self, calls: Sequence[ToolCallTurn], *, sibling_failed: bool = False) -> Batch:
        poll = self._poll_steering if self._config.on_steer == "skip_remaining" else None
        return await run_calls(self._run, calls, self._tools, poll, sibling_failed=sibling_failed)

    async def _end_without_request(self, left: Batch) -> tuple[_Ending | None, bool]:
        """A call that was left open ended the run, so the model is not asked."""
        self._is_done = left.is_done
        step, results = self._run.step, tuple(left.results)
        await self._run.emit(StepEnd, step=step, stop_reason="", usage=Usage(), tool_results=results)
        return self._stopped() or (_Ending("completed") if left.ends_run else None), False

    def _used_up_before(self) -> str | None:
        """The sentence that forbids even the first request: what came before this run has used everything up."""
        limits = self._config.limits
        if not (limits.steps_before or limits.tokens_before or limits.spent):
            return None
        return reached(limits, steps=0, usage=Usage(), cost=limits.spent)

    async def _count_cost(self) -> None:
        """Price the requests of the step; say once that the budget cannot hold where that is so."""
        for usage in self._asking.requests:
            self._spending.add(usage)
        if (text := self._spending.tell_unknown()) is not None:
            await self._run.say(NoticeTurn(content=text, kind="budget"))

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
            return _Ending("refused")
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

    async def ask_for(self, poll: Poll | None) -> list[UserTurn]:
        """What the user said meanwhile; nothing is asked for once the run is stopped.

        What was taken from a queue by then is returned all the same: it is not in that queue any more.
        """
        if poll is None or self._run.stopped is not None:
            return []
        said = self._run.begin(poll)
        if isinstance(said, tuple):  # the usual poll: nothing to wait for
            return [] if type(said[0]) is list and not said[0] else as_turns(said[0], UserTurn)
        try:
            within = self._config.limits.hook_timeout
            return as_turns(await self._run.finish(said, within, takes=True), UserTurn)
        except Cut:
            return []

    async def _poll_steering(self) -> list[UserTurn]:
        """Steering during a batch; a poll that fails counts as nothing said, the next one will tell."""
        try:
            return await self.ask_for(self._config.get_steering)
        except Exception:  # noqa: BLE001 - a function of the application
            return []


NOTHING_SAID = "The model answered with nothing."
NOTHING_SAID_OR_DONE = "The model answered with nothing; nothing was changed."
"""The same in a run without a tool call."""


def _has_nothing(answer: Answer) -> bool:
    """Whether a whole answer has neither words nor calls, and no stop reason that is told by itself or goes on."""
    told = answer.stop_reason in _NEVER_RUN or answer.stop_reason == "pause_turn"
    return answer.complete and not (answer.has_words or answer.calls or told)


def _refusal(answer: Answer) -> NoticeTurn:
    """What the conversation says of a refused answer."""
    if not answer.shown:
        return NoticeTurn(content="The model refused to answer.", kind=REFUSED_EMPTY)
    text = "The model refused to answer; its answer is kept out of later requests."
    return NoticeTurn(content=text, kind=REFUSED)


_NEVER_RUN = {
    "max_tokens": "Not run: the answer was cut at its output limit, so this call may be incomplete. Send it again "
    "with a shorter input, or in several smaller calls.",
    "refusal": "Not run: the answer was refused.",
    "model_context_window_exceeded": "Not run: the conversation no longer fits the context window.",
}


def as_turns(said: Any, kind: Any = Turn) -> list[Any]:
    """What a function of the application gave, as the turns it must be.

    Raises:
        TypeError: it is something else.
    """
    turns = list(said)
    for turn in turns:
        if not isinstance(turn, kind):
            raise TypeError(f"turns are wanted, not {type(turn).__name__}")
    return turns
