"""One step of a run: opening turns, the request and its answer, the tool calls, and whether the run ends there."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from agent.core.events import Outcome, StepEnd, StepStart
from agent.core.limits import RepeatWatch, Spending, reached
from agent.core.loop_config import AgentContext, Poll
from agent.core.messages import REFUSED, REFUSED_EMPTY
from agent.core.model import ModelError, Usage
from agent.core.model_requests import ModelRequests
from agent.core.redaction import report
from agent.core.repair import last_call_failed, missing_results, unanswered_calls
from agent.core.response_assembler import Answer
from agent.core.run import Run
from agent.core.tool_execution import NOT_RUN, BatchResult, answer_calls, run_calls
from agent.core.turns import NoticeTurn, ToolCallTurn, ToolResultTurn, Turn, UserTurn

log = logging.getLogger(__name__)

MOST_PAUSES = 5
"""How often in a row a `pause_turn` is resumed."""
_INCOMPLETE = (
    "Not run: the answer broke off before it was complete. Send the call again if it still makes sense."
)
_NEVER_RUN = {
    "max_tokens": "Not run: the answer was cut at its output limit, so this call may be incomplete. Send it again "
    "with a shorter input, or in several smaller calls.",
    "refusal": "Not run: the answer was refused.",
    "model_context_window_exceeded": "Not run: the conversation no longer fits the context window.",
}


@dataclass(slots=True)
class RunEnding:
    """How a run ends: its outcome, and the notice that says why, if one does."""

    outcome: Outcome
    notice: NoticeTurn | None = None
    error: ModelError | None = None


class RunEnded(Exception):
    """The run ends here."""

    def __init__(self, ending: RunEnding) -> None:
        super().__init__(ending.outcome)
        self.ending = ending


def _with_notice(outcome: Outcome, text: str) -> RunEnding:
    return RunEnding(outcome, NoticeTurn(content=text, kind=outcome))


class Steps:
    """The steps of one run: `open`, `ask` and `run_calls`, `close`; and what counts over all of them.

    Attributes:
        stop_reason: of the model's last answer.
        is_done: `task_complete` was the last thing the model did.
    """

    def __init__(self, run: Run, context: AgentContext) -> None:
        self.stop_reason = ""
        self.is_done = False
        self._run = run
        self._config = run.config
        self._context = context
        self._tools = {tool.name: tool for tool in context.tools}
        self._requests = ModelRequests(run, context)
        self._repeats = RepeatWatch(self._config.limits.max_repeats)
        self._spending = Spending(self._config.limits, run.model_name)
        self._truncations = 0
        self._pauses = 0
        self._answer: Answer | None = None  # of the step
        self._batch = BatchResult([])  # what came of the step's calls
        self._ending: RunEnding | None = None  # how the run ends after the step
        run.on_turn = self._requests.turns.append

    async def open(self, pending: list[Turn]) -> bool:
        """Say what opens the step; calls that still have no result are answered first.

        Returns:
            Whether the model is to be asked: not when a call that an earlier run left open, and that was made now,
            was the last thing to do, nor when a limit forbids it.
        """
        run = self._run
        run.step += 1
        self._answer, self._batch, self._ending = None, BatchResult([]), None
        self._find_tools()
        await run.emit(StepStart, step=run.step)
        if run.step == 1:
            given = {turn.tool_use_id for turn in pending if isinstance(turn, ToolResultTurn)}
            if self._config.make_left_open:
                await self._make_left_open(given)
            for result in missing_results(self._requests.turns):
                if result.tool_use_id not in given:  # the application answers that call itself
                    await run.append_turn(result)
        said = [*pending]
        while pending:
            await run.append_turn(pending.pop(0))
        if any(isinstance(turn, ToolCallTurn) for turn in said):
            for result in missing_results(self._requests.turns):
                await run.append_turn(result)
        made = self._batch
        for turn in made.steering:
            await run.append_turn(turn)
        if said or made.steering:  # there is something to answer
            made.ends_run = made.is_done = False
        self.is_done = made.is_done
        if made.ends_run or made.is_done:
            return False
        if run.step == 1 and (why := self._used_up_before()) is not None:
            self._ending = _with_notice("limit", why)
            return False
        return True

    async def ask(self) -> Answer:
        """Make the request and return its answer, all turns of which have ended."""
        self._answer = answer = await self._requests.ask()
        self.stop_reason = answer.stop_reason
        if answer.complete and answer.stop_reason == "refusal":
            await self._run.append_turn(_refusal(answer))  # right behind it: it is never sent again
        elif _has_nothing(answer) and self._run.stopped is None:
            called = any(isinstance(turn, ToolCallTurn) for turn in self._run.added)
            text = NOTHING_SAID if called else NOTHING_SAID_OR_DONE
            await self._run.append_turn(NoticeTurn(content=text, kind="empty"))
        return answer

    async def run_calls(self, answer: Answer) -> list[UserTurn]:
        """Run the calls of the answer, or say why they may not run; return what the user said meanwhile."""
        if (reason := self._why_not_run(answer)) is not None:
            self._batch = BatchResult(await answer_calls(self._run, answer.calls, reason))
        else:
            self._find_tools()
            self._batch = await self._run_batch(answer.calls)
            self._count_repeats(answer)
        self.is_done = self._batch.is_done
        return self._batch.steering

    async def close(self) -> bool:
        """End the step; return whether it left something for the model to answer.

        Raises:
            RunEnded: the run ends with this step.
        """
        answer, batch = self._answer, self._batch
        await self._run.emit(
            StepEnd,
            step=self._run.step,
            stop_reason="" if answer is None else answer.stop_reason,
            usage=Usage() if answer is None else self._requests.usage,
            tool_results=tuple(batch.results),
        )
        ending = None if answer is None else self._ending_of(answer)
        self._end(ending or self._ending or (RunEnding("completed") if batch.ends_run else None))
        if answer is None or self.is_done:
            return False
        return bool(answer.calls) or answer.stop_reason == "pause_turn"

    async def close_all(self) -> None:
        """Close everything after a fault in the middle of a step."""
        run = self._run
        run.on_turn = lambda _turn: None
        try:
            await self._requests.close()
        except Exception as error:  # noqa: BLE001 - the fault may be in the answer itself
            report(log, "the answer could not be closed", error, run.secrets.clean)
        await run.spans.end_all(run, stop_reason=self.stop_reason, usage=self._requests.usage)

    # Its calls

    def _find_tools(self) -> None:
        if self._config.more_tools is not None:
            tools = (*self._context.tools, *self._config.more_tools())
            self._tools = {tool.name: tool for tool in tools}
            self._requests.tools = list(self._tools.values())

    async def _run_batch(self, calls: Sequence[ToolCallTurn], *, sibling_failed: bool = False) -> BatchResult:
        poll = self._poll_steering if self._config.on_steer == "skip_remaining" else None
        return await run_calls(self._run, calls, self._tools, poll, sibling_failed=sibling_failed)

    async def _make_left_open(self, given: Collection[str]) -> None:
        """Make the calls of the last answer that have no result, all but those that are answered anyway."""
        turns = self._requests.turns
        calls = [call for call in unanswered_calls(turns) if call.tool_use_id not in given]
        if calls:
            self._batch = await self._run_batch(calls, sibling_failed=last_call_failed(turns))

    def _poll_steering(self) -> list[UserTurn]:
        """Steering during a batch; a poll that fails counts as nothing said, the next one will report it."""
        try:
            return poll_queue(self._run, self._config.get_steering)
        except Exception:  # noqa: BLE001 - a function of the application
            return []

    def _why_not_run(self, answer: Answer) -> str | None:
        """Why the calls of this answer may not run, in words for the model."""
        if self._run.stopped is not None:
            return NOT_RUN
        return _NEVER_RUN.get(answer.stop_reason) if answer.complete else _INCOMPLETE

    def _count_repeats(self, answer: Answer) -> None:
        """Have the run end when a call failed the same way too often."""
        for call, failed in self._batch.tried:
            why = self._repeats.record(call, is_error=failed, raw=answer.raw.get(call.id, ""))
            if why is not None:
                self._ending = _with_notice("limit", why)
        self._repeats.end_step()

    # Whether the run ends

    def stopped(self) -> RunEnding | None:
        """The ending of a run that was stopped."""
        if self._run.stopped is None:
            return None
        outcome, reason = self._run.stopped
        if self._run.stop_notice is None and outcome == "limit":
            return _with_notice("limit", reason)
        return RunEnding(outcome, self._run.stop_notice)

    def end_without_steps(self) -> None:
        """End the run if it may take no steps.

        Raises:
            RunEnded: it may take none.
        """
        if self._config.limits.max_steps <= 0:
            text = reached(self._config.limits, steps=0, usage=self._run.usage) or ""
            raise RunEnded(_with_notice("limit", text))

    def end_if_stopped(self) -> None:
        """End the run if it was stopped.

        Raises:
            RunEnded: it was.
        """
        self._end(None)

    def end_at_limit(self) -> None:
        """End the run if a limit forbids a further step.

        Raises:
            RunEnded: one does, or the run was stopped.
        """
        run, cost = self._run, self._spending.cost
        why = reached(self._config.limits, steps=run.step, usage=run.usage, cost=cost)
        self._end(_with_notice("limit", why) if why is not None else None)

    def _end(self, ending: RunEnding | None) -> None:
        """End the run if it was stopped, or for another reason."""
        if (ending := self.stopped() or ending) is not None:
            raise RunEnded(ending)

    def _used_up_before(self) -> str | None:
        """The sentence that forbids even the first request: what came before this run has used everything up."""
        limits = self._config.limits
        if not (limits.steps_before or limits.tokens_before or limits.spent):
            return None
        return reached(limits, steps=0, usage=Usage(), cost=limits.spent)

    def count_cost(self) -> None:
        """Price the requests of the step.

        Raises:
            Exception: whatever the price function of the application raised.
        """
        for usage in self._requests.requests:
            self._spending.add(usage)

    async def warn_of_unknown_price(self) -> None:
        """Say, once, that the budget cannot hold where that is so."""
        if (text := self._spending.unknown_price()) is not None:
            await self._run.append_turn(NoticeTurn(content=text, kind="budget"))

    def _ending_of(self, answer: Answer) -> RunEnding | None:
        """Whether this answer ends the run."""
        if answer.error is not None:
            return RunEnding("failed", error=answer.error)
        reason = answer.stop_reason
        self._pauses = self._pauses + 1 if reason == "pause_turn" else 0
        self._truncations = self._truncations + 1 if reason == "max_tokens" and answer.calls else 0
        if reason == "refusal":
            return RunEnding("refused")
        if reason == "model_context_window_exceeded":
            text = (
                "The conversation no longer fits the model's context window; shorten it or start a new one."
            )
            return _with_notice("truncated", text)
        if reason == "max_tokens" and not answer.calls:
            return _with_notice("truncated", "The answer was cut at the model's output limit.")
        if self._truncations >= 2:
            text = (
                "The answer was cut at the model's output limit twice in a row, in the middle of a tool call."
            )
            return _with_notice("truncated", text)
        if self._pauses > MOST_PAUSES:
            return _with_notice("limit", f"Stopped because the model paused {self._pauses} times in a row.")
        return None


NOTHING_SAID = "The model answered with nothing."
NOTHING_SAID_OR_DONE = "The model answered with nothing; nothing was changed."
"""The same in a run without a tool call."""


def _has_nothing(answer: Answer) -> bool:
    """Whether a whole answer has neither words nor calls, and no stop reason that has its own notice or goes on."""
    has_notice = answer.stop_reason in _NEVER_RUN or answer.stop_reason == "pause_turn"
    return answer.complete and not (answer.has_words or answer.calls or has_notice)


def _refusal(answer: Answer) -> NoticeTurn:
    """What the conversation says of a refused answer."""
    if not answer.shown:
        return NoticeTurn(content="The model refused to answer.", kind=REFUSED_EMPTY)
    text = "The model refused to answer; its answer is kept out of later requests."
    return NoticeTurn(content=text, kind=REFUSED)


def poll_queue(run: Run, poll: Poll | None) -> list[UserTurn]:
    """Return what the user said meanwhile; nothing is asked for once the run is stopped."""
    return [] if poll is None or run.stopped is not None else as_turns(poll(), UserTurn)


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
