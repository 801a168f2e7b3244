"""Running the tool calls of one answer: exactly one result each, whatever happens to them.

Preflight (look-up, validation, the before hook) is serial and in source order. Tools then run side by side,
or one after the other when one of them or the setting asks for it; control tools come last, alone.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from agent.checks import InvalidInput, as_output, describe, validate
from agent.events import ToolEnd, ToolProgress, ToolStart
from agent.run import Cut, Run, leave_behind
from agent.tool import TASK_COMPLETE, Block, ChangeInput, HookContext, Tool, ToolContext, ToolOutput
from agent.turns import ToolCallTurn, ToolResultTurn, UserTurn

NOT_RUN = "Cancelled: not run."
MAYBE = "Cancelled while running: it may have taken effect."
SKIPPED = "Skipped: not run, because the user sent a message. Read it before you go on."
SIBLING_FAILED = "The task goes on: another call of the same answer failed. Look at its result first."

Poll = Callable[[], Awaitable[Sequence[UserTurn]]]


@dataclass(slots=True, eq=False)
class _Call:
    """One call on its way to its result."""

    turn: ToolCallTurn
    tool: Tool | None = None
    input: BaseModel | None = None
    output: ToolOutput | None = None
    started_at: float = 0.0
    task: asyncio.Task[ToolOutput] | None = None
    cut: str | None = None
    ended: bool = False
    executed: bool = False


@dataclass(slots=True)
class Batch:
    """What came of an answer's calls.

    Attributes:
        results: one for each call, in the order of their events.
        steering: what the user said meanwhile and opens the next step.
        ends_run: the tools asked for the run to end.
        tried: the calls that were really tried, each with whether it failed, in source order.
    """

    results: list[ToolResultTurn]
    steering: list[UserTurn]
    ends_run: bool
    tried: list[tuple[ToolCallTurn, bool]]


async def answer_calls(run: Run, calls: Sequence[ToolCallTurn], reason: str) -> list[ToolResultTurn]:
    """Answer calls that may not run, whatever they are; `reason` goes to the model."""
    batch = _Runner(run, {}, None)
    entries = [_Call(turn) for turn in calls]
    for entry in entries:
        await batch.start(entry)
        await batch.end(entry, _error(reason))
    return [await batch.say_result(entry) for entry in entries]


async def run_calls(
    run: Run, calls: Sequence[ToolCallTurn], tools: Mapping[str, Tool], poll: Poll | None
) -> Batch:
    """Run the calls of a complete answer.

    Args:
        run: the run they belong to.
        calls: in source order.
        tools: by name.
        poll: gives what the user said meanwhile, after each tool; None when that waits for the batch's end.
    """
    runner = _Runner(run, tools, poll)
    entries = [_Call(turn, tools.get(turn.tool_name)) for turn in calls]
    control = [entry for entry in entries if entry.tool is not None and entry.tool.control]
    others = [entry for entry in entries if entry not in control] if control else entries
    one_by_one = run.config.tool_execution == "sequential" or any(
        entry.tool is not None and entry.tool.sequential for entry in others
    )
    results: list[ToolResultTurn] = []
    if one_by_one:
        for entry in others:
            await runner.run_alone(entry)
            results.append(await runner.say_result(entry))
    else:
        await runner.run_together(others)
        results.extend([await runner.say_result(entry) for entry in others])
    for entry in control:
        runner.sibling_failed = any(_failed(other) for other in entries if other.ended)
        await runner.run_alone(entry)
        results.append(await runner.say_result(entry))
    outputs = [entry.output for entry in entries if entry.output is not None]
    ends = bool(outputs) and all(output.terminate for output in outputs)
    ends = ends or any(entry.output is not None and entry.output.terminate for entry in control)
    tried = [(entry.turn, _failed(entry)) for entry in entries if entry.executed]
    return Batch(results, runner.steering, ends, tried)


class _Runner:
    """The calls of one batch and what they have in common."""

    def __init__(self, run: Run, tools: Mapping[str, Tool], poll: Poll | None) -> None:
        self.steering: list[UserTurn] = []
        self.sibling_failed = False
        self._run = run
        self._tools = tools
        self._poll = poll
        self._done: deque[_Call] = deque()
        self._progress: deque[tuple[_Call, str]] = deque()

    # One call

    async def start(self, entry: _Call) -> None:
        """Open a call: from now on it can be cancelled, and it will have its end."""
        run = self._run
        entry.started_at = run.config.clock.now()
        for call_id in {entry.turn.id, entry.turn.tool_use_id}:
            run.open_calls[call_id] = lambda: self._cut(entry, "Cancelled by the user")
        await run.emit(ToolStart, call=entry.turn, input=entry.turn.input)

    async def end(self, entry: _Call, output: ToolOutput) -> None:
        """Give a call its one output and tell everyone."""
        run = self._run
        if entry.tool is not None and entry.tool.control:
            if entry.tool.name == TASK_COMPLETE and not output.is_error and not output.terminate:
                output = replace(output, terminate=True)
            if output.terminate and self.sibling_failed:
                output = _error(SIBLING_FAILED)
        entry.output = output
        entry.ended = True
        run.open_calls.pop(entry.turn.id, None)
        run.open_calls.pop(entry.turn.tool_use_id, None)
        await run.emit(
            ToolEnd,
            call=entry.turn,
            output=output.output,
            is_error=output.is_error,
            duration=run.config.clock.now() - entry.started_at,
            details=output.details,
        )

    async def say_result(self, entry: _Call) -> ToolResultTurn:
        """Add the result of an ended call to the conversation."""
        output = entry.output
        assert output is not None, "a call is ended before its result is said"
        result = ToolResultTurn(
            tool_use_id=entry.turn.tool_use_id,
            output=output.output,
            is_error=output.is_error,
            details=output.details,
        )
        await self._run.say(result)
        return result

    async def preflight(self, entry: _Call) -> ToolOutput | None:
        """Look up, validate, ask the before hook; return the error that keeps the call from running."""
        turn, tool = entry.turn, entry.tool
        if turn.fault:
            return _error(turn.fault)
        if tool is None:
            names = ", ".join(self._tools) or "none"
            return _error(f"There is no tool named {turn.tool_name!r}. The tools are: {names}.")
        try:
            entry.input = validate(tool, turn.input)
            hook = self._run.config.before_tool_call
            if hook is None:
                return None
            answer = await self._run.call(
                hook,
                self._hook_context(entry, None),
                within=self._run.config.limits.hook_timeout,
                given_up=lambda: entry.cut,
            )
            if isinstance(answer, Block):
                return _error(f"Not run: {answer.reason}")
            if isinstance(answer, ChangeInput):
                entry.input = validate(tool, answer.input)
            elif answer is not None:
                return _error(f"Not run: the check before the call answered {type(answer).__name__}.")
        except InvalidInput as error:
            return _error(str(error))
        except Cut as cut:
            return _error(
                entry.cut or (NOT_RUN if self._run.stopped else f"Not run: the check failed, {cut}.")
            )
        except BaseException as error:  # noqa: BLE001 - a hook or a validator of the application
            return _error(f"Not run: the check before the call failed ({describe(self._run.fault(error))}).")
        return None

    async def execute(self, entry: _Call) -> ToolOutput:
        """Run the tool and the after hook. Runs in a task of its own."""
        tool = entry.tool
        assert tool is not None and entry.input is not None, "preflight comes first"
        run = self._run
        most = run.config.limits.max_output if tool.max_output is None else tool.max_output
        context = ToolContext(
            run_id=run.id,
            call_id=entry.turn.id,
            session_id=run.config.session_id,
            on_progress=lambda text: self._note_progress(entry, text),
        )
        try:
            value: Any = tool.execute(entry.input, context)
            if isinstance(value, Awaitable):
                value = await value
            output = as_output(value, most)
        except asyncio.CancelledError:
            raise  # the task is cancelled, or the tool cancelled itself
        except BaseException as error:  # noqa: BLE001 - whatever a tool raises is its result
            output = _error(describe(run.fault(error)))
        hook = run.config.after_tool_call
        if hook is None:
            return output
        try:
            given = self._hook_context(entry, output)
            answer = await run.call_aside(hook, given, within=run.config.limits.hook_timeout)
            return output if answer is None else as_output(answer, most)
        except Cut as cut:
            return _error(f"The call ran, but the check after it failed: {cut}.")
        except Exception as error:  # noqa: BLE001 - a hook of the application
            return _error(f"The call ran, but the check after it failed ({describe(error)}).")

    # Many calls

    async def run_alone(self, entry: _Call) -> None:
        """Take one call from its start to its end."""
        await self.start(entry)
        error = self._why_not() or await self.preflight(entry)
        if error is None and entry.cut is not None:
            error = _error(entry.cut)
        if error is None:
            error = self._why_not()
        if error is not None:
            entry.executed = self._counts(entry)
            await self.end(entry, error)
            await self._poll_steering()
        else:
            await self._execute([entry])

    async def run_together(self, entries: Sequence[_Call]) -> None:
        """Preflight in order, then all that may run at one time."""
        ready = []
        for entry in entries:
            await self.start(entry)
            error = self._why_not() or await self.preflight(entry)
            if error is not None:
                entry.executed = self._counts(entry)
                await self.end(entry, error)
            else:
                ready.append(entry)
        await self._execute(ready)

    async def _execute(self, ready: Sequence[_Call]) -> None:
        """Run calls side by side; end each as it finishes, and what may not start any more at once."""
        run = self._run
        running: list[_Call] = []
        try:
            await self._run_side_by_side(deque(ready), running)
        except BaseException:
            # a fault of our own: nothing may go on once the run is over
            await run.release([entry.task for entry in running if entry.task is not None])
            raise

    async def _run_side_by_side(self, waiting: deque[_Call], running: list[_Call]) -> None:
        run = self._run
        width = max(1, run.config.limits.max_parallel_tools)
        while waiting or running:
            while waiting and (len(running) < width or self._why_not() or waiting[0].cut):
                entry = waiting.popleft()
                if error := self._why_not() or (_error(entry.cut) if entry.cut else None):
                    await self.end(entry, error)
                else:
                    self._launch(entry)
                    running.append(entry)
            if not running:  # what waited was ended here: nothing will poke
                return
            if run.stopped is not None:
                await self._stop(running)
            elif not self._done:
                await run.wait()
            await self._send_progress()
            for entry in self._take_done():
                if not entry.ended:  # given up before, and then it ended by itself
                    running.remove(entry)
                    await self._settle(entry)

    def _launch(self, entry: _Call) -> None:
        assert entry.tool is not None, "only known tools run"
        entry.executed = True
        entry.task = asyncio.get_running_loop().create_task(self.execute(entry))
        timeout = entry.tool.timeout
        timer = None
        if timeout is not None:
            text = f"Timed out after {timeout:g} s"
            timer = self._run.config.clock.call_later(timeout, lambda: self._cut(entry, text))

        def finish(_task: object) -> None:
            if timer is not None:
                timer.cancel()
            if not entry.ended and entry not in self._done:
                self._done.append(entry)
                self._run.poke()

        entry.task.add_done_callback(finish)

    def _cut(self, entry: _Call, text: str) -> None:
        """Cancel one call; should its tool not react, it is given up after the grace period."""
        if entry.cut is not None or entry.ended:
            return
        if entry.task is None:
            entry.cut = f"{text}: not run."
        elif not entry.task.done():
            entry.cut = f"{text} while running: it may have taken effect."
            entry.task.cancel()
            asyncio.get_running_loop().call_later(self._run.config.grace, self._give_up, entry)
        self._run.poke()

    def _give_up(self, entry: _Call) -> None:
        """A tool had its grace period to react to its cancellation: do not wait for it any longer."""
        if not entry.ended and entry not in self._done:
            self._done.append(entry)
            self._run.poke()

    async def _stop(self, running: Sequence[_Call]) -> None:
        """The run is stopped: cancel what runs and have all of it settled within the grace period."""
        tasks = [entry.task for entry in running if entry.task is not None and not entry.task.done()]
        for entry in running:
            if entry.cut is None and entry.task in tasks:
                entry.cut = MAYBE
        await self._run.release(tasks)
        self._done.clear()
        self._done.extend(running)

    async def _settle(self, entry: _Call) -> None:
        """End a call whose task is done, or is left behind."""
        task = entry.task
        assert task is not None, "it was launched"
        if not task.done():
            leave_behind(task)
            output = _error(entry.cut or MAYBE)
        elif entry.cut is not None or task.cancelled():
            output = _error(entry.cut or "The tool cancelled itself: it may have taken effect.")
        else:
            output = task.result()
        await self.end(entry, output)
        await self._poll_steering()

    def _take_done(self) -> list[_Call]:
        done = list(self._done)
        self._done.clear()
        return done

    # What they share

    def _why_not(self) -> ToolOutput | None:
        """Why no further call may start, if so."""
        if self._run.stopped is not None:
            return _error(NOT_RUN)
        return _error(SKIPPED) if self.steering else None

    def _counts(self, entry: _Call) -> bool:
        """Whether a call that failed before it ran counts as tried by the model."""
        return self._run.stopped is None and not self.steering and entry.cut is None

    async def _poll_steering(self) -> None:
        if self._poll is not None and not self.steering and self._run.stopped is None:
            self.steering.extend(await self._poll())

    def _note_progress(self, entry: _Call, text: str) -> None:
        """A tool's progress, from whatever thread it runs in; after its end it is ignored."""
        if not entry.ended and not (entry.task is not None and entry.task.done()):
            self._progress.append((entry, str(text)))
            self._run.poke_from_anywhere()

    async def _send_progress(self) -> None:
        while self._progress:
            entry, text = self._progress.popleft()
            if not entry.ended:
                await self._run.emit(ToolProgress, call_id=entry.turn.id, text=text)

    def _hook_context(self, entry: _Call, output: ToolOutput | None) -> HookContext:
        assert entry.tool is not None and entry.input is not None, "hooks come after validation"
        return HookContext(
            run_id=self._run.id,
            step=self._run.step,
            call=entry.turn,
            tool=entry.tool,
            input=entry.input.model_copy(deep=True),
            session_id=self._run.config.session_id,
            output=output,
        )


def _error(text: str) -> ToolOutput:
    return ToolOutput(output=text, is_error=True)


def _failed(entry: _Call) -> bool:
    return entry.output is not None and entry.output.is_error
