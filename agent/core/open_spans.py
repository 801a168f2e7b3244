"""What of a run has begun and not ended, and how all of it is ended when the run breaks in the middle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.core.events import Event, StepEnd, StepStart, ToolEnd, ToolStart, TurnEnd, TurnStart
from agent.core.model import Usage
from agent.core.turns import AssistantTextTurn, ThinkingTurn, ToolCallTurn, ToolResultTurn, Turn

if TYPE_CHECKING:
    from agent.core.run import Run

BROKE = "The run broke: this call may or may not have taken effect. Look before calling again."
BROKE_BEFORE = "Not run: the run broke before this call started."


class Unfinished:
    """Keeps the events of a run's step, and knows what is open after them once somebody has to know.

    Attributes:
        note: takes up an event, any but the deltas and the end of a step.
    """

    def __init__(self) -> None:
        self._events: list[Event] = []  # since the last step ended, when nothing was open
        self.note: Callable[[Event], None] = self._events.append
        self._turns: dict[str, Turn] = {}
        self._calls: dict[str, ToolCallTurn] = {}  # ended turns without a result, by wire id
        self._started: dict[str, float] = {}  # by the id of the call's turn: when
        self._ended: dict[str, ToolEnd] = {}
        self._results: list[ToolResultTurn] = []  # of the step
        self._in_step = False

    def end_step(self) -> None:
        """A step has ended: nothing is open."""
        self._events.clear()

    def _follow(self, event: Event) -> None:
        """Note what an event opens and closes."""
        if isinstance(event, TurnStart):
            self._turns[event.turn.id] = event.turn
        elif isinstance(event, TurnEnd):
            turn = event.turn
            self._turns.pop(turn.id, None)
            if isinstance(turn, ToolCallTurn):
                self._calls[turn.tool_use_id] = turn
            elif isinstance(turn, ToolResultTurn) and turn.tool_use_id in self._calls:
                del self._calls[turn.tool_use_id]
                self._results.append(turn)
        elif isinstance(event, ToolStart):
            self._started[event.call.id] = event.at
        elif isinstance(event, ToolEnd):
            self._ended[event.call.id] = event
        elif isinstance(event, StepStart):
            self._in_step = True

    async def end_all(self, run: Run, *, stop_reason: str, usage: Usage) -> None:
        """End every open turn, give every open call its end and its result, and end the step."""
        self.note = self._follow
        for event in self._events:
            self._follow(event)
        for turn in list(self._turns.values()):
            if isinstance(turn, AssistantTextTurn | ThinkingTurn):
                turn = replace(turn, interrupted=True)
            elif isinstance(turn, ToolCallTurn):
                turn = replace(turn, fault=BROKE_BEFORE)
            await run.end_turn(turn)
        calls = list(self._calls.values())
        for call in calls:
            if call.id not in self._ended:
                await self._end_call(run, call)
        for call in calls:
            end = self._ended[call.id]
            await run.say(
                ToolResultTurn(
                    tool_use_id=call.tool_use_id,
                    output=end.output,
                    is_error=end.is_error,
                    details=end.details,
                )
            )
        if self._in_step:
            results = tuple(self._results)
            await run.emit(StepEnd, step=run.step, stop_reason=stop_reason, usage=usage, tool_results=results)

    async def _end_call(self, run: Run, call: ToolCallTurn) -> None:
        text = BROKE
        if call.id not in self._started:
            text = call.fault or BROKE_BEFORE
            await run.emit(ToolStart, call, call.input)
        duration = run.config.clock.now() - self._started[call.id]
        await run.emit(ToolEnd, call=call, output=text, is_error=True, duration=duration)
