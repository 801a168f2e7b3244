"""Running the tool calls of one answer: exactly one result each, whatever happens to them.

Preflight (look-up, validation, the before hook) is serial and in source order. Tools then run side by side; where one
of them or the setting asks for it, and for control tools, which come last, each has its preflight and runs alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from agent.core.cancellation import CancelScope, detach, result_of, settle
from agent.core.clock import Timer
from agent.core.errors import GaveUpWaiting, InvalidInput
from agent.core.events import ToolEnd, ToolProgress, ToolStart
from agent.core.limits import shorten
from agent.core.loop_config import OnLaunch
from agent.core.redaction import text_of
from agent.core.run import Run
from agent.core.tool import TASK_COMPLETE, Block, ChangeInput, HookContext, Tool, ToolContext, ToolOutput
from agent.core.tool_validation import as_output, describe, validate
from agent.core.turns import ToolCallTurn, ToolResultTurn, UserTurn, freeze

NOT_RUN = "Cancelled: not run."
MAYBE = "Cancelled while running: it may have taken effect."
SKIPPED = "Skipped: not run, because the user sent a message. Read it before you go on."
SIBLING_FAILED = "The task goes on: another call of the same answer failed. Look at its result first."
LONGEST_ERROR = 10_000
"""Characters that are kept of why a call was not made or went wrong, of an exception's text above all."""
RAN_WITH = "ran_with"
"""In the details of a call's end and result: the input that ran, where a hook changed the model's."""

PollSteering = Callable[[], Sequence[UserTurn]]


def error_output(text: str) -> ToolOutput:
    """Return the output of a call that was not made or went wrong; `text` says why to the model, at any length."""
    return ToolOutput(output=shorten(text, LONGEST_ERROR), is_error=True)


def not_noted(why: str) -> ToolOutput:
    """Return the output of a call that was not made because its start could not be logged."""
    return error_output(f"Not run: its start could not be noted ({why}).")


@dataclass(slots=True)
class BatchResult:
    """What came of an answer's calls.

    Attributes:
        results: one for each call, in the order of their events.
        steering: what the user said meanwhile and opens the next step.
        ends_run: the tools asked for the run to end.
        is_done: `task_complete` said that there is nothing left to do; what was said meanwhile is heard still.
        tried: the calls that were really tried, each with whether it failed, in source order.
    """

    results: list[ToolResultTurn]
    steering: list[UserTurn] = field(default_factory=list)
    ends_run: bool = False
    is_done: bool = False
    tried: list[tuple[ToolCallTurn, bool]] = field(default_factory=list)


async def answer_calls(run: Run, calls: Sequence[ToolCallTurn], reason: str) -> list[ToolResultTurn]:
    """Answer calls that may not run, whatever they are; `reason` goes to the model."""
    refused = [Call(run, turn) for turn in calls]
    for call in refused:
        await call.start()
        await call.end(error_output(reason))
    return [await call.append_result() for call in refused]


async def run_calls(
    run: Run,
    calls: Sequence[ToolCallTurn],
    tools: Mapping[str, Tool],
    poll: PollSteering | None,
    *,
    sibling_failed: bool = False,
) -> BatchResult:
    """Run the calls of a complete answer.

    Args:
        run: the run they belong to.
        calls: in source order.
        tools: by name.
        poll: gives what the user said meanwhile, after each tool; None when that waits for the batch's end.
        sibling_failed: whether a call of the same answer, made before, has failed.
    """
    batch = _Batch(run, tools, poll)
    made = [batch.make(turn) for turn in calls]
    others = [call for call in made if not call.is_control]
    sequential = run.config.tool_execution == "sequential"
    if sequential or any(call.tool is not None and call.tool.sequential for call in others):
        groups = [[call] for call in others]
    else:
        groups = [others]
    groups += [[call] for call in made if call.is_control]
    results: list[ToolResultTurn] = []
    for group in groups:
        for call in group:
            call.sibling_failed = sibling_failed or any(other.failed for other in made)
        await batch.run(group)
        for call in group:
            results.append(await call.append_result())
    completing = [call for call in made if call.turn.tool_name == TASK_COMPLETE]
    return BatchResult(
        results=results,
        steering=batch.steering,
        ends_run=bool(made) and len(completing) < len(made) and all(call.terminates for call in made),
        is_done=any(call.terminates for call in completing),
        tried=[(call.turn, call.failed) for call in made if call.was_tried],
    )


class _Batch:
    """Runs calls of one answer at one time, and hears what the user says meanwhile."""

    def __init__(self, run: Run, tools: Mapping[str, Tool], poll: PollSteering | None) -> None:
        self.steering: list[UserTurn] = []
        self._run = run
        self._tools = tools
        self._poll = poll
        self._running: list[Call] = []
        self._news = asyncio.Event()  # something settled, was reported, cancelled, or the run was stopped
        self._settled: deque[Call] = deque()
        self._progress: deque[tuple[Call, str]] = deque()
        self._loop = asyncio.get_running_loop()

    def make(self, turn: ToolCallTurn) -> Call:
        """Return a call of the answer, not started, which can be cancelled already."""
        tool = self._tools.get(turn.tool_name)
        call = Call(self._run, turn, tool, on_settled=self._note_settled, on_progress=self._note_progress)
        self._run.open_calls[turn.id] = self._run.open_calls[turn.tool_use_id] = call.cancel_for_user
        return call

    async def run(self, calls: Sequence[Call]) -> None:
        """Take calls from their start to their end: preflight in order, then all that may run at one time."""
        ready: deque[Call] = deque()
        for call in calls:
            await call.start()
            error = self._why_not() or await call.preflight(self._tools) or self._why_not()
            if error is not None:
                # the model tried it, unless something else kept it from running
                call.was_tried = self._run.stopped is None and not self.steering and call.cancel_text is None
                await self._end(call, error)
            else:
                ready.append(call)
        self._run.scope.add_callback(self._stop)
        try:
            await self._run_side_by_side(ready)
        except Exception:
            for call in self._running:  # a fault of our own: nothing may go on once the run is over
                call.stop()
            await self._settle_running()
            raise
        finally:
            self._run.scope.remove_callback(self._stop)

    async def _run_side_by_side(self, waiting: deque[Call]) -> None:
        """Run calls side by side; end each as it finishes, and what may not start any more at once."""
        run, running = self._run, self._running
        width = max(1, run.config.limits.max_parallel_tools)
        while waiting or running:
            while waiting and (len(running) < width or self._why_not() or waiting[0].cancel_text):
                call = waiting.popleft()
                if (error := self._why_not() or call.announce() or self._why_not()) is not None:
                    await self._end(call, error)
                else:
                    call.launch()
                    running.append(call)
            if run.stopped is not None:
                for call in running:
                    call.stop()
                await self._settle_running()
                self._settled = deque(running)
            elif running and not self._settled:
                await self._news.wait()
            self._news.clear()
            await self._send_progress()
            settled, self._settled = self._settled, deque()
            for call in settled:
                if not call.ended:  # given up before, and then it ended by itself
                    running.remove(call)
                    await self._end(call, call.take_output())

    def _stop(self) -> None:
        """Cancel what runs as soon as the run is stopped: a moment later it could still begin to write."""
        for call in self._running:
            call.stop()
        self._news.set()

    async def _settle_running(self) -> None:
        """Wait until what was cancelled has ended, for each call as long as it has for that."""
        await settle({call.task: call.grace for call in self._running if call.task is not None})

    async def _end(self, call: Call, output: ToolOutput) -> None:
        """End a call, then hear what the user said."""
        await call.end(output)
        if self._poll is not None and not self.steering and self._run.stopped is None:
            self.steering.extend(self._poll())

    def _why_not(self) -> ToolOutput | None:
        """Why no further call may start, if so."""
        if self._run.stopped is not None:
            return error_output(NOT_RUN)
        return error_output(SKIPPED) if self.steering else None

    def _note_settled(self, call: Call) -> None:
        """A call's tool has ended, or had its grace period to react to its cancellation."""
        if not call.ended and call not in self._settled:
            self._settled.append(call)
        self._news.set()

    def _note_progress(self, call: Call, text: str) -> None:
        """A tool's progress, from whatever thread it runs in."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._take_progress, call, text)

    def _take_progress(self, call: Call, text: str) -> None:
        self._progress.append((call, text))
        self._news.set()

    async def _send_progress(self) -> None:
        while self._progress:
            call, text = self._progress.popleft()
            if not call.ended:
                await self._run.emit(ToolProgress, call_id=call.turn.id, text=text)


class Call:
    """One call of the model on its way to its one result. Belongs to the thread of the run's event loop.

    Args:
        run: the run it belongs to.
        turn: the call as the model made it.
        tool: the tool it names; None where there is none of that name.
        on_settled: called, perhaps more than once, when its tool has ended or is not waited for any longer.
        on_progress: called with what its tool reports, from whatever thread it runs in.

    Attributes:
        output: what came of it, None until it has its end.
        task: the task its tool runs in, None before that.
        cancel_text: what its result says because it was cancelled, None as long as it was not.
        was_tried: whether its tool has begun, or would have had the call passed the checks before it.
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
        self.task: asyncio.Task[ToolOutput] | None = None
        self.cancel_text: str | None = None
        self.was_tried = False
        self.sibling_failed = False
        self._run = run
        self._on_settled = on_settled
        self._on_progress = on_progress
        self._scope = CancelScope(run.scope)
        self._input: BaseModel | None = None
        self._changed: Mapping[str, Any] | None = None  # the input a hook gave in place of the model's
        self._started_at = 0.0
        self._is_stopped = False
        self._timer: Timer | None = None  # of the tool's timeout

    @property
    def ended(self) -> bool:
        """Whether it has its output."""
        return self.output is not None

    @property
    def failed(self) -> bool:
        """Whether its output says that it was not made or went wrong."""
        return self.output is not None and self.output.is_error

    @property
    def terminates(self) -> bool:
        """Whether its output asks for the run to end."""
        return self.output is not None and self.output.terminate

    @property
    def is_control(self) -> bool:
        """Whether it runs after its siblings, alone."""
        return self.tool is not None and self.tool.control

    @property
    def grace(self) -> float:
        """The seconds its tool has to come to its end when it is cancelled."""
        return self._run.config.grace if self._settles_within is None else self._settles_within

    @property
    def _settles_within(self) -> float | None:
        return None if self.tool is None else self.tool.settles_within

    # From its start to its result

    async def start(self) -> None:
        """Open the call: from now on it will have its end."""
        self._started_at = self._run.now()
        await self._run.emit(ToolStart, call=self.turn, input=self.turn.input)

    async def end(self, output: ToolOutput) -> None:
        """Give the call its one output and emit its end."""
        run = self._run
        if self.is_control:
            if self.turn.tool_name == TASK_COMPLETE and not output.is_error:
                output = replace(output, terminate=True)
            if output.terminate and self.sibling_failed:
                output = error_output(SIBLING_FAILED)
        if self._changed is not None and self.was_tried:
            output = replace(output, details=freeze({**(output.details or {}), RAN_WITH: self._changed}))
        self.output = output
        self._scope.close()
        run.open_calls.pop(self.turn.id, None)
        run.open_calls.pop(self.turn.tool_use_id, None)
        await run.emit(
            ToolEnd,
            call=self.turn,
            output=output.output,
            is_error=output.is_error,
            duration=run.now() - self._started_at,
            details=output.details,
        )

    async def append_result(self) -> ToolResultTurn:
        """Add the result of the ended call to the conversation."""
        output = self.output
        assert output is not None, "a call is ended before its result is said"
        result = ToolResultTurn(
            tool_use_id=self.turn.tool_use_id,
            output=output.output,
            is_error=output.is_error,
            details=output.details,
        )
        await self._run.append_turn(result)
        return result

    # What comes before its tool

    async def preflight(self, tool_names: Iterable[str]) -> ToolOutput | None:
        """Look up, validate, ask the before hook; return the error that keeps the call from running.

        Args:
            tool_names: of all tools there are, for a call that names another one.
        """
        turn, tool, run = self.turn, self.tool, self._run
        if why := self.cancel_text or turn.fault:
            return error_output(why)
        if tool is None:
            names = ", ".join(tool_names) or "none"
            return error_output(f"There is no tool named {turn.tool_name!r}. The tools are: {names}.")
        try:
            self._input = validate(tool, turn.input)
            hook = run.config.before_tool_call
            if hook is None:
                return None
            answer = await run.call(hook, self._hook_context(None), scope=self._scope)
            if isinstance(answer, Block):
                return error_output(f"Not run: {answer.reason}")
            if isinstance(answer, ChangeInput):
                self._input = validate(tool, answer.input)
                self._changed = freeze(answer.input)
            elif answer is not None:
                return error_output(f"Not run: the check before the call answered {type(answer).__name__}.")
        except InvalidInput as error:
            return error_output(text_of(error))
        except GaveUpWaiting as error:
            return error_output(
                self.cancel_text or (NOT_RUN if run.stopped else f"Not run: the check failed, {error}.")
            )
        except Exception as error:  # noqa: BLE001 - a hook or a validator of the application
            return error_output(f"Not run: the check before the call failed ({self._words_of(error)}).")
        return None

    def announce(self) -> ToolOutput | None:
        """Announce that the call is about to act; return the error that keeps it from acting after all."""
        announce: OnLaunch | None = self._run.config.on_launch
        if self.cancel_text is not None:
            return error_output(self.cancel_text)
        if announce is None:
            return None
        try:
            announce(self.turn, self._changed)
        except Exception as error:  # noqa: BLE001 - a function of the application
            return not_noted(self._words_of(error))
        return None

    # Its tool

    def launch(self) -> None:
        """Run the tool in a task of its own; `on_settled` is called when that is over."""
        assert self.tool is not None, "only known tools run"
        self.task = asyncio.create_task(self._execute(self.tool))
        self.task.add_done_callback(self._settle)
        timeout = self.tool.timeout
        if timeout is not None:
            text = f"Timed out after {timeout:g} s"
            self._timer = self._run.config.clock.call_later(timeout, lambda: self.cancel(text))

    def _settle(self, _task: object = None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._on_settled(self)

    async def _execute(self, tool: Tool) -> ToolOutput:
        """Run the tool and the after hook."""
        run = self._run
        if run.stopped is not None:
            return error_output(NOT_RUN)
        self.was_tried = True
        most = run.config.limits.max_output if tool.max_output is None else tool.max_output
        context = ToolContext(
            run_id=run.id,
            call_id=self.turn.id,
            session_id=run.config.session_id,
            on_progress=self._note_progress,
        )
        try:
            value: Any = tool.execute(self._input, context)
            if inspect.isawaitable(value):
                value = await value
            output = as_output(value, most)
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is its result
            output = error_output(shorten(self._words_of(error), most))
        if self._timer is not None:
            self._timer.cancel()  # the tool came to its end in time; the hook has a time of its own
        hook = run.config.after_tool_call
        if hook is None or self.ended or self.cancel_text is not None or run.stopped is not None:
            return output  # what came too late is dropped, and no hook may act on it
        try:
            # The hook ends with this task, not with the run: it may still replace what the tool did.
            own = CancelScope(clock=run.config.clock, grace=run.config.grace)
            answer = await run.call(hook, self._hook_context(output), scope=own)
            return output if answer is None else as_output(answer, most)
        except GaveUpWaiting as error:
            return error_output(f"The call ran, but the check after it failed: {error}.")
        except Exception as error:  # noqa: BLE001 - a hook of the application
            return error_output(f"The call ran, but the check after it failed ({self._words_of(error)}).")

    def _words_of(self, error: Exception) -> str:
        """What code given to us raised, in words for the model, without the run's keys."""
        return self._run.secrets.clean(describe(error))

    def take_output(self) -> ToolOutput:
        """Return what came of the launched tool; one that goes on in spite of its cancellation is left behind.

        What it returned after that counts only where it says itself how far it came.
        """
        task = self.task
        assert task is not None, "it was launched"
        if not task.done():
            detach(task)
            return error_output(self.cancel_text or MAYBE)
        if not self.was_tried:
            return error_output(self.cancel_text or NOT_RUN)
        counts = self.cancel_text is None or self._settles_within is not None
        if not counts or task.cancelled():
            return error_output(self.cancel_text or "The tool cancelled itself: it may have taken effect.")
        return result_of(task)

    # Its cancellation

    def cancel(self, text: str) -> None:
        """Cancel this one call; should its tool not react, it is given up after the time it has for that.

        Args:
            text: why, as the beginning of a sentence that says whether it ran.
        """
        if self.cancel_text is not None or self.ended:
            return
        if self.task is None:
            self.cancel_text = f"{text}: not run."
        elif not self.task.done():
            self.cancel_text = f"{text}: not run."
            if self.was_tried:
                self.cancel_text = self._when_cut() or f"{text} while running: it may have taken effect."
            self.task.cancel()
            asyncio.get_running_loop().call_later(self.grace, self._on_settled, self)
        self._scope.cancel()

    def cancel_for_user(self) -> None:
        """Cancel it because the user said so."""
        self.cancel("Cancelled by the user")

    def stop(self) -> None:
        """Cancel it with the run, once. A tool that stops the run itself has until its next wait to come to its end."""
        task = self.task
        if self._is_stopped or task is None or task.done() or task is asyncio.current_task(task.get_loop()):
            return
        self._is_stopped = True
        if self.cancel_text is None and self.was_tried:
            self.cancel_text = self._when_cut() or MAYBE
        task.cancel()

    def _when_cut(self) -> str | None:
        """What the tool itself wants said of a call that is cancelled while it runs."""
        return self.tool.when_cut if self.tool is not None else None

    # What others hear

    def _note_progress(self, text: str) -> None:
        """A tool's progress, from whatever thread it runs in; after its end it is ignored."""
        if not self.ended and not (self.task is not None and self.task.done()):
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
