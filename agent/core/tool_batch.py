"""Running the tool calls of one answer: exactly one result each, whatever happens to them.

Preflight (look-up, validation, the before hook) is serial and in source order. Tools then run side by side,
or one after the other when one of them or the setting asks for it; control tools come last, alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from agent.core.detached_tasks import leave_behind
from agent.core.events import ToolProgress
from agent.core.run import Run
from agent.core.tool import TASK_COMPLETE, Tool, ToolOutput
from agent.core.tool_execution import NOT_RUN, Call, error_output
from agent.core.turns import ToolCallTurn, ToolResultTurn, UserTurn

SKIPPED = "Skipped: not run, because the user sent a message. Read it before you go on."

Poll = Callable[[], Awaitable[Sequence[UserTurn]]]


@dataclass(slots=True)
class Batch:
    """What came of an answer's calls.

    Attributes:
        results: one for each call, in the order of their events.
        steering: what the user said meanwhile and opens the next step.
        ends_run: the tools asked for the run to end.
        is_done: `task_complete` said that there is nothing left to do; what was said meanwhile is heard still.
        tried: the calls that were really tried, each with whether it failed, in source order.
    """

    results: list[ToolResultTurn]
    steering: list[UserTurn]
    ends_run: bool
    is_done: bool
    tried: list[tuple[ToolCallTurn, bool]]


async def answer_calls(run: Run, calls: Sequence[ToolCallTurn], reason: str) -> list[ToolResultTurn]:
    """Answer calls that may not run, whatever they are; `reason` goes to the model."""
    refused = [Call(run, turn) for turn in calls]
    for call in refused:
        await call.start()
        await call.end(error_output(reason))
    return [await call.say_result() for call in refused]


async def run_calls(
    run: Run,
    calls: Sequence[ToolCallTurn],
    tools: Mapping[str, Tool],
    poll: Poll | None,
    *,
    sibling_failed: bool = False,
) -> Batch:
    """Run the calls of a complete answer.

    Args:
        run: the run they belong to.
        calls: in source order.
        tools: by name.
        poll: gives what the user said meanwhile, after each tool; None when that waits for the batch's end.
        sibling_failed: whether a call of the same answer, made before, has failed.
    """
    together = _Together(run, tools, poll)
    made, others, control = [], [], []
    one_by_one = run.config.tool_execution == "sequential"
    for turn in calls:
        made.append(call := together.make(turn))
        tool = call.tool
        if tool is not None and tool.control:
            control.append(call)
        else:
            others.append(call)
            one_by_one = one_by_one or (tool is not None and tool.sequential)
    results: list[ToolResultTurn] = []
    if one_by_one:
        for call in others:
            await together.run([call])
            results.append(await call.say_result())
    else:
        await together.run(others)
        for call in others:
            results.append(await call.say_result())
    for call in control:
        call.sibling_failed = sibling_failed or any(other.failed for other in made)
        await together.run([call])
        results.append(await call.say_result())
    ends, is_done, tried = bool(made), False, []
    complete = 0
    for call in made:
        terminates = call.terminates
        ends = ends and terminates
        if call.turn.tool_name == TASK_COMPLETE:
            complete += 1
            is_done = is_done or terminates
        if call.executed:
            tried.append((call.turn, call.failed))
    return Batch(results, together.steering, ends and complete < len(made), is_done, tried)


class _Together:
    """Runs calls of one answer at one time, and hears what the user says meanwhile."""

    def __init__(self, run: Run, tools: Mapping[str, Tool], poll: Poll | None) -> None:
        self.steering: list[UserTurn] = []
        self._run = run
        self._tools = tools
        self._poll = poll
        self._settled: deque[Call] = deque()
        self._progress: deque[tuple[Call, str]] = deque()

    def make(self, turn: ToolCallTurn) -> Call:
        """Return a call of the answer, not started, which can be cancelled already."""
        tool = self._tools.get(turn.tool_name)
        call = Call(self._run, turn, tool, on_settled=self._note_settled, on_progress=self._note_progress)
        call.put_in_reach()
        return call

    async def run(self, calls: Sequence[Call]) -> None:
        """Take calls from their start to their end: preflight in order, then all that may run at one time."""
        ready: deque[Call] = deque()
        for call in calls:
            await call.start()
            error = self._why_not() or await call.preflight(self._tools) or self._why_not()
            if error is not None:
                call.executed = self._counts(call)
                await call.end(error)
                await self._poll_steering()
            else:
                ready.append(call)
        running: list[Call] = []
        try:
            await self._run_side_by_side(ready, running)
        except BaseException:
            # a fault of our own: nothing may go on once the run is over
            await self._release(running)
            raise

    async def _run_side_by_side(self, waiting: deque[Call], running: list[Call]) -> None:
        """Run calls side by side; end each as it finishes, and what may not start any more at once."""
        run = self._run
        width = max(1, run.config.limits.max_parallel_tools)
        while waiting or running:
            while waiting and (len(running) < width or self._why_not() or waiting[0].cut):
                call = waiting.popleft()
                error = self._why_not() or (error_output(call.cut) if call.cut else None)
                if error is None and run.config.on_launch is not None:
                    error = call.announce(run.config.on_launch) or self._why_not()
                if error is not None:
                    await call.end(error)
                    await self._poll_steering()
                else:
                    call.launch()
                    running.append(call)
            if not running:  # what waited was ended here: nothing will poke
                return
            if run.stopped is not None:
                await self._stop(running)
            elif not self._settled:
                await run.wait()
            if self._progress:
                await self._send_progress()
            settled, self._settled = self._settled, deque()
            for call in settled:
                if not call.ended:  # given up before, and then it ended by itself
                    running.remove(call)
                    await call.end(call.take_output())
                    await self._poll_steering()

    async def _stop(self, running: Sequence[Call]) -> None:
        """The run is stopped: cancel what runs and have all of it settled within the time it has for that."""
        for call in running:
            call.note_stop()
        await self._release(running)
        self._settled.clear()
        self._settled.extend(running)

    async def _release(self, calls: Sequence[Call]) -> None:
        running = [(task, call.settles_within) for call in calls if (task := call.running) is not None]
        settling = {task: seconds for task, seconds in running if seconds is not None}
        for task in settling:
            task.cancel()
        await self._run.release([task for task, seconds in running if seconds is None])
        await self._run.wait_for(settling, max(settling.values(), default=0.0))
        for task in settling:
            if not task.done():
                leave_behind(task)

    # What they share

    def _why_not(self) -> ToolOutput | None:
        """Why no further call may start, if so."""
        if self._run.stopped is not None:
            return error_output(NOT_RUN)
        return error_output(SKIPPED) if self.steering else None

    def _counts(self, call: Call) -> bool:
        """Whether a call that failed before it ran counts as tried by the model."""
        return self._run.stopped is None and not self.steering and call.cut is None

    async def _poll_steering(self) -> None:
        if self._poll is not None and not self.steering and self._run.stopped is None:
            self.steering.extend(await self._poll())

    def _note_settled(self, call: Call) -> None:
        """A call's tool has ended, or had its grace period to react to its cancellation."""
        if not call.ended and call not in self._settled:
            self._settled.append(call)
            self._run.poke()

    def _note_progress(self, call: Call, text: str) -> None:
        """A tool's progress, from whatever thread it runs in."""
        self._progress.append((call, text))
        self._run.poke_from_anywhere()

    async def _send_progress(self) -> None:
        while self._progress:
            call, text = self._progress.popleft()
            if not call.ended:
                await self._run.emit(ToolProgress, call.turn.id, text)
