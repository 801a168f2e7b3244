"""One tool call on its way to its one result: the check before it, its tool, the check after it, and its cut.

Which calls run, and in what order, is the business of `calls`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from types import CoroutineType
from typing import Any

from pydantic import BaseModel

from agent.core.clock import Timer
from agent.core.detached_tasks import leave_behind
from agent.core.events import ToolEnd, ToolStart
from agent.core.limits import shorten
from agent.core.loop_config import OnLaunch
from agent.core.owned_task import begin_plainly
from agent.core.redaction import text_of
from agent.core.run import Cut, Run
from agent.core.tool import TASK_COMPLETE, Block, ChangeInput, HookContext, Tool, ToolContext, ToolOutput
from agent.core.tool_validation import InvalidInput, as_output, describe, validate
from agent.core.turns import ToolCallTurn, ToolResultTurn, freeze

NOT_RUN = "Cancelled: not run."
MAYBE = "Cancelled while running: it may have taken effect."
LONGEST_ERROR = 10_000
"""Characters that are kept of why a call was not made or went wrong, of an exception's text above all."""
RAN_WITH = "ran_with"
"""In the details of a call's end and result: the input that ran, where a hook changed the model's."""
SIBLING_FAILED = "The task goes on: another call of the same answer failed. Look at its result first."


def error_output(text: str) -> ToolOutput:
    """Return the output of a call that was not made or went wrong; `text` tells the model why, at any length."""
    return ToolOutput(output=shorten(text, LONGEST_ERROR), is_error=True)


def not_noted(why: str) -> ToolOutput:
    """Return the output of a call that was not made because the log could not be told of its start."""
    return error_output(f"Not run: its start could not be noted ({why}).")


class Call:
    """One call of the model. Belongs to the thread of the run's event loop.

    Args:
        run: the run it belongs to.
        turn: the call as the model made it.
        tool: the tool it names; None where there is none of that name.
        on_settled: told, perhaps more than once, when its launched tool has ended or is not waited for any longer.
        on_progress: told what its tool reports, from whatever thread it runs in.

    Attributes:
        output: what came of it, None until it has its end.
        ended: whether it has its output.
        cut: what its result says because it was cut, None as long as it was not.
        executed: whether its tool has begun, or it counts as tried by the model all the same.
        sibling_failed: whether a call of the same answer failed before it; `task_complete` then ends nothing.
    """

    def __init__(
        self,
        run: Run,
        turn: ToolCallTurn,
        tool: Tool | None = None,
        *,
        on_settled: Callable[[Call], None] = lambda _call: None,
        on_progress: Callable[[Call, str], None] = lambda _call, _text: None,
    ) -> None:
        self.turn = turn
        self.tool = tool
        self.output: ToolOutput | None = None
        self.ended = False
        self.cut: str | None = None
        self.executed = False
        self.sibling_failed = False
        self._run = run
        self._on_settled = on_settled
        self._on_progress = on_progress
        self._input: BaseModel | None = None
        self._changed: Mapping[str, Any] | None = None  # the input a hook gave in place of the model's
        self._started_at = 0.0
        self._task: asyncio.Task[ToolOutput] | None = None
        self._timer: Timer | None = None  # of the tool's timeout

    @property
    def failed(self) -> bool:
        """Whether its output says that it was not made or went wrong."""
        return self.output is not None and self.output.is_error

    @property
    def terminates(self) -> bool:
        """Whether its output asks for the run to end."""
        return self.output is not None and self.output.terminate

    @property
    def running(self) -> asyncio.Task[ToolOutput] | None:
        """The task its tool runs in, None before that and after."""
        return self._task if self._task is not None and not self._task.done() else None

    @property
    def settles_within(self) -> float | None:
        """The seconds its tool has to come to its end when it is cancelled; None: the grace period."""
        return None if self.tool is None else self.tool.settles_within

    # From its start to its result

    def put_in_reach(self) -> None:
        """From now on it can be cancelled, also while it waits for its turn."""
        open_calls = self._run.open_calls
        open_calls[self.turn.id] = open_calls[self.turn.tool_use_id] = self._cancel_for_user

    async def start(self) -> None:
        """Open the call: from now on it will have its end."""
        run = self._run
        self._started_at = run.now()
        await run.emit(ToolStart, self.turn, self.turn.input)

    async def end(self, output: ToolOutput) -> None:
        """Give the call its one output and tell everyone."""
        run = self._run
        if self.tool is not None and self.tool.control:
            if self.tool.name == TASK_COMPLETE and not output.is_error and not output.terminate:
                output = replace(output, terminate=True)
            if output.terminate and self.sibling_failed:
                output = error_output(SIBLING_FAILED)
        if self._changed is not None and self.executed:
            output = replace(output, details=freeze({**(output.details or {}), RAN_WITH: self._changed}))
        self.output, self.ended = output, True
        run.open_calls.pop(self.turn.id, None)
        run.open_calls.pop(self.turn.tool_use_id, None)
        duration = run.now() - self._started_at
        await run.emit(ToolEnd, self.turn, output.output, output.is_error, duration, output.details)

    async def say_result(self) -> ToolResultTurn:
        """Add the result of the ended call to the conversation."""
        output = self.output
        assert output is not None, "a call is ended before its result is said"
        result = ToolResultTurn.make(
            tool_use_id=self.turn.tool_use_id,
            output=output.output,
            is_error=output.is_error,
            details=output.details,
        )
        await self._run.say(result)
        return result

    # What comes before its tool

    async def preflight(self, tool_names: Iterable[str]) -> ToolOutput | None:
        """Look up, validate, ask the before hook; return the error that keeps the call from running.

        Args:
            tool_names: of all tools there are, for a call that names another one.
        """
        turn, tool, run = self.turn, self.tool, self._run
        if self.cut is not None:
            return error_output(self.cut)
        if turn.fault:
            return error_output(turn.fault)
        if tool is None:
            names = ", ".join(tool_names) or "none"
            return error_output(f"There is no tool named {turn.tool_name!r}. The tools are: {names}.")
        try:
            self._input = validate(tool, turn.input)
            hook = run.config.before_tool_call
            if hook is None:
                return None
            answer = await run.call(
                hook,
                self._hook_context(None),
                within=run.config.limits.hook_timeout,
                given_up=lambda: self.cut,
            )
            if isinstance(answer, Block):
                return error_output(f"Not run: {answer.reason}")
            if isinstance(answer, ChangeInput):
                self._input = validate(tool, answer.input)
                self._changed = freeze(answer.input)
            elif answer is not None:
                return error_output(f"Not run: the check before the call answered {type(answer).__name__}.")
        except InvalidInput as error:
            return error_output(text_of(error))
        except Cut as cut:
            return error_output(
                self.cut or (NOT_RUN if run.stopped else f"Not run: the check failed, {cut}.")
            )
        except BaseException as error:  # noqa: BLE001 - a hook or a validator of the application
            return error_output(f"Not run: the check before the call failed ({self._words_of(error)}).")
        return None

    def announce(self, announce: OnLaunch) -> ToolOutput | None:
        """Say that the call is about to act; return the error that keeps it from acting after all."""
        try:
            announce(self.turn, self._changed)
        except BaseException as error:  # noqa: BLE001 - a function of the application
            return not_noted(self._words_of(error))
        return None

    # Its tool

    def launch(self) -> None:
        """Run the tool in a task of its own; `on_settled` hears when that is over."""
        assert self.tool is not None, "only known tools run"
        self._task = begin_plainly(self._execute(), self._run.loop)
        timeout = self.tool.timeout
        if timeout is not None:
            text = f"Timed out after {timeout:g} s"
            self._timer = self._run.config.clock.call_later(timeout, lambda: self.cancel(text))

        self._task.add_done_callback(self._settle)

    def _settle(self, _task: object = None) -> None:
        """The task of its tool is over, or ends with this very step."""
        if self._timer is not None:
            self._timer.cancel()
        if not self.ended:
            self._on_settled(self)

    async def _execute(self) -> ToolOutput:
        """Run the tool and the after hook."""
        tool, run = self.tool, self._run
        assert tool is not None and self._input is not None, "preflight comes first"
        if run.stopped is not None:
            return error_output(NOT_RUN)
        self.executed = True
        most = run.config.limits.max_output if tool.max_output is None else tool.max_output
        context = ToolContext.make(
            run_id=run.id,
            call_id=self.turn.id,
            session_id=run.config.session_id,
            on_progress=self._note_progress,
        )
        try:
            value: Any = tool.execute(self._input, context)
            if type(value) is CoroutineType or isinstance(value, Awaitable):
                value = await value
            output = as_output(value, most)
        except asyncio.CancelledError:
            raise  # the task is cancelled, or the tool cancelled itself
        except BaseException as error:  # noqa: BLE001 - whatever a tool raises is its result
            output = error_output(shorten(self._words_of(error), most))
        if self._timer is not None:
            self._timer.cancel()  # the tool came to its end in time; the hook has a time of its own
        hook = run.config.after_tool_call
        if hook is None or self.ended or self.cut is not None or run.stopped is not None:
            self._settle()  # not by way of the task's end only, which takes another turn of the loop
            return output  # what came too late is dropped, and no hook may act on it
        try:
            given = self._hook_context(output)
            answer = await run.call_in_task(hook, given, within=run.config.limits.hook_timeout)
            return output if answer is None else as_output(answer, most)
        except Cut as cut:
            return error_output(f"The call ran, but the check after it failed: {cut}.")
        except Exception as error:  # noqa: BLE001 - a hook of the application
            return error_output(f"The call ran, but the check after it failed ({self._words_of(error)}).")

    def _words_of(self, error: BaseException) -> str:
        """What code given to us raised, in words for the model, without the run's keys."""
        return self._run.secrets.clean(describe(self._run.fault(error)))

    def take_output(self) -> ToolOutput:
        """Return what came of the launched tool; one that goes on in spite of its cancellation is left behind.

        What it returned after that counts only where it says itself how far it came.
        """
        task = self._task
        assert task is not None, "it was launched"
        if not task.done():
            leave_behind(task)
            return error_output(self.cut or MAYBE)
        if not self.executed:
            return error_output(self.cut or NOT_RUN)
        counts = self.cut is None or self.settles_within is not None
        if not counts or task.cancelled():
            return error_output(self.cut or "The tool cancelled itself: it may have taken effect.")
        return task.result()

    # Its cut

    def cancel(self, text: str) -> None:
        """Cancel this one call; should its tool not react, it is given up after the time it has for that.

        Args:
            text: why, as the beginning of a sentence that says whether it ran.
        """
        if self.cut is not None or self.ended:
            return
        if self._task is None:
            self.cut = f"{text}: not run."
        elif (running := self.running) is not None:
            while_running = self._when_cut() or f"{text} while running: it may have taken effect."
            self.cut = while_running if self.executed else f"{text}: not run."
            running.cancel()
            grace = self._run.config.grace if self.settles_within is None else self.settles_within
            self._run.loop.call_later(grace, self._on_settled, self)
        self._run.poke()

    def _cancel_for_user(self) -> None:
        self.cancel("Cancelled by the user")

    def note_stop(self) -> None:
        """The run is stopped: what still runs is about to be cancelled with it."""
        if self.cut is None and self.running is not None and self.executed:
            self.cut = self._when_cut() or MAYBE

    def _when_cut(self) -> str | None:
        """What the tool itself wants said of a call that is cut while it runs."""
        return self.tool.when_cut if self.tool is not None else None

    # What others are told

    def _note_progress(self, text: str) -> None:
        """A tool's progress, from whatever thread it runs in; after its end it is ignored."""
        if not self.ended and not (self._task is not None and self._task.done()):
            self._on_progress(self, str(text))

    def _hook_context(self, output: ToolOutput | None) -> HookContext:
        assert self.tool is not None and self._input is not None, "hooks come after validation"
        return HookContext(
            run_id=self._run.id,
            step=self._run.step,
            call=self.turn,
            tool=self.tool,
            input=self._input.model_copy(deep=True),
            session_id=self._run.config.session_id,
            output=output,
        )
