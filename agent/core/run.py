"""The state of one run: its events, its turns, its stop, and calls of code that is not ours."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from agent.core.cancellation import CancelScope, detach, race, result_of
from agent.core.errors import ListenerTimeout
from agent.core.event_bus import EventBus, Listener
from agent.core.events import (
    Event,
    Outcome,
    StepEnd,
    StepStart,
    ToolEnd,
    ToolStart,
    TurnDelta,
    TurnEnd,
    TurnStart,
)
from agent.core.loop_config import LoopConfig
from agent.core.model import Usage, endpoint_of, name_of
from agent.core.redaction import Secrets
from agent.core.turns import (
    AssistantTextTurn,
    NoticeTurn,
    ThinkingTurn,
    ToolCallTurn,
    ToolResultTurn,
    Turn,
    new_id,
)

E = TypeVar("E", bound=Event)

BROKE = "The run broke: this call may or may not have taken effect. Look before calling again."
BROKE_BEFORE = "Not run: the run broke before this call started."


class Run:
    """The state of one run.

    Attributes:
        id: of this run.
        scope: cancelled once the run is to end early.
        added: the turns it has added, in order.
        on_turn: called with each of them.
        stopped: the outcome and the reason once it is to end early, else None.
        stop_notice: the notice that ends a run which was stopped, if whoever stopped it gave one.
        model_name, model_endpoint: who answers, as it said at the beginning.
        usage: tokens of all its requests so far.
        secrets: the keys it was given.
        step: the number of the step it is in.
        spans: what is open.
        open_calls: how each open call is cancelled, by the id of its turn and by its wire id.
        cancelled_outside: the run's own task was cancelled.
    """

    def __init__(self, config: LoopConfig, bus: EventBus) -> None:
        self.id = new_id("run")
        self.config = config
        self.scope = CancelScope(clock=config.clock, grace=config.grace)
        self.added: list[Turn] = []
        self.on_turn: Callable[[Turn], None] = lambda _turn: None
        self.stopped: tuple[Outcome, str] | None = None
        self.stop_notice: NoticeTurn | None = None
        self.model_name = name_of(config.model)
        self.model_endpoint = endpoint_of(config.model)
        self.usage = Usage()
        self.secrets = Secrets()
        self.step = 0
        self.spans = OpenSpans()
        self.open_calls: dict[str, Callable[[], None]] = {}
        self.cancelled_outside = False
        self.now = config.clock.now
        self._seq = 0
        self._bus = bus
        self._listener_grace = config.grace if config.listener_grace is None else config.listener_grace
        self._grace_left: dict[int, float] = {}  # by the id of each listener that took some after the stop

    # Events

    async def emit(self, kind: type[E], **fields: Any) -> E:
        """Send an event and return it once all listeners are done with it, in their order.

        What a listener raises changes nothing. It has all the time it wants until the run is stopped; then it has a
        grace period for all events together.
        """
        event: Any = kind(run_id=self.id, seq=self._seq, at=self.now(), **fields)
        self._seq += 1
        self.spans.note(event)
        for listener in self._bus.listeners:
            try:
                result = listener(event)
                if result is not None and inspect.isawaitable(result):
                    await self._wait_for_listener(listener, result)
            except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - it must not break the run
                self._bus.report(listener, error, self.secrets.clean)
        return event  # type: ignore[no-any-return]

    async def _wait_for_listener(self, listener: Listener, awaitable: Awaitable[Any]) -> None:
        """Wait for what a listener returned; one that takes too long is not waited for again in this run.

        Raises:
            ListenerTimeout: it took too long after the run was stopped.
            Exception: what it raised.
        """
        task = asyncio.ensure_future(awaitable)
        await race(task, self.scope)
        if not task.done():
            loop = asyncio.get_running_loop()
            left, began = self._grace_left.get(id(listener), self._listener_grace), loop.time()
            await race(task, within=left)
            self._grace_left[id(listener)] = left - (loop.time() - began) if task.done() else 0.0
        if not task.done():
            task.cancel()
            detach(task)
            raise ListenerTimeout(
                f"It did not return within {self._listener_grace:g} s after the run was to end."
            )
        result_of(task)

    async def emit_last(self, kind: type[E], **fields: Any) -> E:
        """`emit` the event that ends the run: each listener has its grace period anew, unless it was given up."""
        self._grace_left = {who: 0.0 for who, left in self._grace_left.items() if left <= 0}
        return await self.emit(kind, **fields)

    async def append_turn(self, turn: Turn) -> None:
        """Add a whole turn to the conversation."""
        await self.emit(TurnStart, turn=turn)
        await self.end_turn(turn)

    async def end_turn(self, turn: Turn) -> None:
        """Add a turn whose start was already sent."""
        await self.emit(TurnEnd, turn=turn)
        self.added.append(turn)
        self.on_turn(turn)

    # Stopping

    def stop(self, outcome: Outcome, reason: str, notice: NoticeTurn | None = None) -> None:
        """Have the run end with this outcome as soon as everything open is closed. The first stop counts."""
        if self.stopped is None:
            self.stopped = (outcome, reason)
            self.stop_notice = notice
            self.scope.cancel()

    def stop_from_outside(self) -> None:
        """The run's own task was cancelled."""
        self.cancelled_outside = True
        self.stop("cancelled", "the program cancelled the run")

    def cancel_call(self, call_id: str) -> bool:
        """Cancel one open tool call, by the id of its turn or its wire id."""
        cancel = self.open_calls.get(call_id)
        if cancel is not None:
            cancel()
        return cancel is not None

    # Waiting

    async def call(
        self,
        function: Callable[..., Any],
        *args: Any,
        scope: CancelScope | None = None,
    ) -> Any:
        """Call a function given to us, plain or async, and return what it returns; it has the hooks' timeout.

        Args:
            function: what to call.
            args: its arguments.
            scope: what ends the wait for it; by default the run.

        Raises:
            GaveUpWaiting: the run was stopped, the scope cancelled, or the time went by.
            Exception: whatever the function raised.
        """
        result = function(*args)
        if not inspect.isawaitable(result):
            return result
        within = self.config.limits.hook_timeout
        return await (scope or self.scope).wait(result, within=within)

    async def sleep_until(self, due: float) -> bool:
        """Wait for a time of the clock; return False when the run was stopped before."""
        while self.stopped is None and (left := due - self.now()) > 0:
            await race(None, self.scope, left, self.config.clock)
        return self.stopped is None


class OpenSpans:
    """Follows the events of a run: the turns and calls that are open, and the step."""

    def __init__(self) -> None:
        self._turns: dict[str, Turn] = {}
        self._calls: dict[str, ToolCallTurn] = {}  # ended turns without a result, by wire id
        self._started: dict[str, float] = {}  # by the id of the call's turn: when
        self._ended: dict[str, ToolEnd] = {}
        self._results: list[ToolResultTurn] = []  # of the step
        self._in_step = False

    def note(self, event: Event) -> None:
        """Note what an event opens and closes."""
        if isinstance(event, TurnDelta):
            return
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
            self._calls[event.call.tool_use_id] = event.call
            self._started[event.call.id] = event.at
        elif isinstance(event, ToolEnd):
            self._ended[event.call.id] = event
        elif isinstance(event, StepStart | StepEnd):
            for kept in (self._turns, self._calls, self._started, self._ended, self._results):
                kept.clear()
            self._in_step = isinstance(event, StepStart)

    async def end_all(self, run: Run, *, stop_reason: str, usage: Usage) -> None:
        """End every open turn, give every open call its end and its result, and end the step."""
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
            await run.append_turn(
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
            await run.emit(ToolStart, call=call, input=call.input)
        duration = run.config.clock.now() - self._started[call.id]
        await run.emit(ToolEnd, call=call, output=text, is_error=True, duration=duration)
