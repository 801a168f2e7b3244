"""One run while it goes: its events, its stop, and the one way it awaits code that is not ours.

The run's own task is never cancelled from inside. Foreign code (a model, a tool, a hook) runs in tasks of
its own; the run waits for whichever comes first: the code's end, a stop, a timeout. Code that does not
react to its cancellation is left behind after a grace period.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable, Iterable
from math import inf
from types import CoroutineType
from typing import TYPE_CHECKING, Any, TypeVar

from agent.core.bounded_await import Patience, is_awaitable
from agent.core.detached_tasks import leave_behind, look_at
from agent.core.event_bus import Telling
from agent.core.events import Event, Outcome, StepEnd, TurnDelta, TurnEnd, TurnStart
from agent.core.model import Usage, endpoint_of, name_of
from agent.core.open_spans import Unfinished
from agent.core.redaction import Secrets, report, text_of
from agent.core.turns import TURN_KINDS, NoticeTurn, Turn, new_id
from agent.core.watchdog import Alarm, Flag

if TYPE_CHECKING:
    from agent.core.loop_config import LoopConfig

log = logging.getLogger(__name__)

E = TypeVar("E", bound=Event)
Sink = Callable[[Event], Awaitable[None] | Telling | None]


class Cut(Exception):
    """Foreign code was not waited for to its end; the message says why."""


class Fault(Exception):
    """Foreign code raised what is no ordinary exception; the message says what."""


class Run:
    """The state of one run.

    Attributes:
        id: of this run.
        added: the turns it has added, in order.
        stopped: the outcome and the reason once it is to end early, else None.
        stop_notice: the notice that ends a run which was stopped, if whoever stopped it gave one.
        model_name, model_endpoint: who answers, as it said at the beginning.
        usage: tokens of all its requests so far.
        secrets: the keys it was given.
        step: the number of the step it is in.
        unfinished: what is open.
        alarm: rings when nothing has come for too long.
        loop: the event loop it runs in.
        now: the time of its clock.
        cancelled_outside: the run's own task was cancelled.
        leaving: a `KeyboardInterrupt` or `SystemExit` that came up meanwhile, to be raised once all is closed.
    """

    def __init__(self, config: LoopConfig, sink: Sink) -> None:
        self.id = new_id("run")
        self.config = config
        self.added: list[Turn] = []
        self.stopped: tuple[Outcome, str] | None = None
        self.stop_notice: NoticeTurn | None = None
        self.model_name = name_of(config.model)
        self.model_endpoint = endpoint_of(config.model)
        self.usage = Usage()
        self.secrets = Secrets()
        self.step = 0
        self.unfinished = Unfinished()
        self.cancelled_outside = False
        self.leaving: BaseException | None = None
        self.open_calls: dict[str, Callable[[], None]] = {}
        self.on_turn: Callable[[Turn], None] = lambda _turn: None
        self._sink = sink
        self._seq = 0
        self._emitting = False
        self._poke_when_told = False
        self._told_at = -inf  # when listeners were done that took time
        self._complained = False
        self._waiter: asyncio.Future[None] | None = None
        self._poked = False
        self.alarm = Alarm(config.clock, self.poke)
        self.loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self.now = config.clock.now
        grace = config.grace if config.listener_grace is None else config.listener_grace
        self._patience = Patience(grace, on_cancel=self._cancelled, leave=leave_behind)

    # Events

    async def emit(self, kind: type[E], *fields: Any, **named: Any) -> E:
        """Send an event, its fields in order or by name, and return it once seen; what the sink raises ends nothing."""
        event: Any = kind.make(self.id, self._seq, self.now(), *fields, **named)
        self._seq += 1
        if kind is StepEnd:
            self.unfinished.end_step()
        elif kind is not TurnDelta:
            self.unfinished.note(event)
        self._emitting = True
        try:
            pending = self._sink(event)
        except BaseException as error:  # noqa: BLE001 - who reads the events must not break the run
            self._complain(self.fault(error))
            pending = None
        if pending is not None:
            await self._wait_until_told(pending)
        elif self.stopped is not None or self._poke_when_told:
            self._note_told()
        else:
            self._emitting = False
        return event  # type: ignore[no-any-return]

    async def _wait_until_told(self, pending: Awaitable[None] | Telling) -> None:
        """Wait for who takes time to be told."""
        try:
            if isinstance(pending, Telling):
                await pending.finish(self._patience.wait_on)
            elif (error := await self._patience.wait(self._sink, pending)) is not None:
                self._complain(self.fault(error))
        except BaseException as error:  # noqa: BLE001 - who reads the events must not break the run
            self._complain(self.fault(error))
        finally:
            self._told_at = self.now()
            self._note_told()

    def _note_told(self) -> None:
        """Everyone was told."""
        self._emitting = False
        if self.stopped is not None or self._poke_when_told:
            self._poke_when_told = False
            self.poke()

    async def emit_last(self, kind: type[E], **fields: Any) -> E:
        """`emit` the event that ends the run: who reads the events has time for it as for nothing else."""
        self._patience.renew()
        return await self.emit(kind, **fields)

    def _cancelled(self) -> None:
        """A task of the run was cancelled from outside."""
        self.cancelled_outside = True
        self.stop("cancelled", "the program cancelled the run")

    def _complain(self, error: Exception) -> None:
        """Report what the sink raised, once in a run."""
        if not self._complained:
            self._complained = True
            report(log, "what reads the events failed; the run goes on", error, self.secrets.clean)

    async def say(self, turn: Turn) -> None:
        """Add a whole turn to the conversation.

        Raises:
            TypeError: it is none.
        """
        if type(turn) not in TURN_KINDS and not isinstance(turn, Turn):
            raise TypeError(f"{type(turn).__name__} is no turn")
        await self.emit(TurnStart, turn)
        await self.end_turn(turn)

    async def end_turn(self, turn: Turn) -> None:
        """Add a turn whose start was already sent."""
        await self.emit(TurnEnd, turn)
        self.added.append(turn)
        self.on_turn(turn)

    # Stopping

    def stop(self, outcome: Outcome, reason: str, notice: NoticeTurn | None = None) -> None:
        """Have the run end with this outcome as soon as everything open is closed. The first stop counts."""
        if self.stopped is None:
            self.stopped = (outcome, reason)
            self.stop_notice = notice
        self._patience.hurry()
        self.poke()

    def fault(self, error: BaseException) -> Exception:
        """Return what foreign code raised as an ordinary exception.

        `KeyboardInterrupt` and `SystemExit` stop the run as well; they are raised again at its end.

        Raises:
            GeneratorExit: the event loop is gone and Python clears a forgotten run away.
        """
        if isinstance(error, Exception):
            return error
        if isinstance(error, GeneratorExit) and asyncio._get_running_loop() is None:
            raise error
        if isinstance(error, KeyboardInterrupt | SystemExit):
            self.leaving = self.leaving or error
            self.stop("cancelled", "the program is being left")
        text = text_of(error)
        return Fault(f"{type(error).__name__} was raised{': ' if text else ''}{text}")

    def cancel_call(self, call_id: str) -> bool:
        """Cancel one open tool call, by the id of its turn or its wire id."""
        cancel = self.open_calls.get(call_id)
        if cancel is None:
            return False
        cancel()
        self.poke()
        return True

    # Waiting

    def poke(self, _done: object = None) -> None:
        """Have `wait` return: something may have changed."""
        self._poked = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def poke_from_anywhere(self) -> None:
        """`poke`, also from another thread."""
        if threading.get_ident() == self._thread:
            self.poke()
        else:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self.loop.call_soon_threadsafe(self.poke)

    async def wait(self) -> None:
        """Return when the run was poked since the last return. Our own cancellation becomes a stop."""
        if not self._poked:
            self._waiter = self.loop.create_future()
            try:
                await self._waiter
            except asyncio.CancelledError:
                self._cancelled()
            finally:
                self._waiter = None
        self._poked = False

    async def sleep_until(self, due: float) -> bool:
        """Wait for a time of the clock; return False when the run was stopped before."""
        clock = self.config.clock
        while self.stopped is None and (left := due - clock.now()) > 0:
            timer = clock.call_later(left, self.poke)
            try:
                await self.wait()
            finally:
                timer.cancel()
        return self.stopped is None

    async def call(
        self,
        function: Callable[..., Any],
        *args: Any,
        within: float | None = None,
        given_up: Callable[[], str | None] = lambda: None,
        takes: bool = False,
    ) -> Any:
        """Call a function given to us, plain or async, and return what it returns.

        One that `takes` something away, which would be lost with its result, has half of the grace period to end by
        itself, and what it returns until the end of that period counts.

        Raises:
            Cut: the run was stopped, `given_up` gave a reason, or `within` seconds went by.
            Exception: whatever the function raised.
        """
        task = self.begin(function, *args)
        if isinstance(task, tuple):
            return task[0]
        return await self.finish(task, within, given_up, takes)

    async def finish(
        self,
        task: asyncio.Future[Any],
        within: float | None = None,
        given_up: Callable[[], str | None] = lambda: None,
        takes: bool = False,
    ) -> Any:
        """Wait for what `begin` began, and return what comes of it; see `call`."""
        task.add_done_callback(self.poke)
        clock = self.config.clock
        late = Flag(self.poke)
        timer = None if within is None else clock.call_later(within, late.set)
        try:
            while not task.done():
                await self.wait()
                reason = given_up()
                if self.stopped is not None:
                    reason = "cancelled"
                elif late.is_set:
                    reason = f"it took longer than {within:g} s"
                if reason is not None and not task.done():
                    await self.release([task], gently=takes)
                    if takes and task.done() and not task.cancelled() and task.exception() is None:
                        break
                    raise Cut(reason)
        finally:
            if timer is not None:
                timer.cancel()
        return _result_of(task)

    def begin(self, function: Callable[..., Any], *args: Any) -> asyncio.Future[Any] | tuple[Any]:
        """Call a function given to us; return the task that awaits its result, or the result in a tuple.

        Raises:
            Exception: whatever the function raised, made an ordinary exception.
        """
        try:
            result = function(*args)
        except Exception:
            raise
        except BaseException as error:
            raise self.fault(error) from error
        if type(result) is list:  # the commonest answer, seen soonest
            return (result,)
        is_coroutine = type(result) is CoroutineType
        if not is_coroutine and not is_awaitable(result):
            return (result,)
        task = self.loop.create_task(self._guard(result))
        if is_coroutine:
            # cancelled before it began, the coroutine was never awaited
            task.add_done_callback(lambda _task: result.close())
        return task

    async def _guard(self, awaitable: Awaitable[Any]) -> Any:
        """Await foreign code in a task of its own, such that it cannot take the event loop down."""
        try:
            return await awaitable
        except (KeyboardInterrupt, SystemExit) as error:
            raise self.fault(error) from error

    async def call_in_task(self, function: Callable[..., Any], *args: Any, within: float | None) -> Any:
        """`call` for a task that is not the run's own, and ends by its own cancellation when the run stops.

        Raises:
            Cut: `within` seconds went by.
            Exception: whatever the function raised.
        """
        task = self.begin(function, *args)
        if isinstance(task, tuple):
            return task[0]
        late: asyncio.Future[None] = self.loop.create_future()

        def expire() -> None:
            late.cancel()

        timer = None if within is None else self.config.clock.call_later(within, expire)
        try:
            await asyncio.wait({task, late}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=self.config.grace)
                raise Cut(f"it took longer than {within:g} s")
        finally:
            if timer is not None:
                timer.cancel()
            if task.done():
                look_at(task)  # it may have raised as it was given up
            else:
                task.cancel()
                leave_behind(task)
        return _result_of(task)

    async def watch(
        self, task: asyncio.Task[None], last: Callable[[], float] | None = None, silence: float = 0.0
    ) -> bool:
        """Wait for a task that sends events itself; stop it between two of them, never within one.

        Args:
            task: what to wait for.
            last: the time of the clock, which may move, at which something came last; None: it may take any time.
            silence: seconds since then after which the task is given up; time that listeners took does not count.

        Returns:
            Whether it was given up because its time came.
        """
        is_over = False

        def tell(_task: object) -> None:
            if not is_over:  # else a wait for something else would be disturbed
                self.poke()

        task.add_done_callback(tell)
        late = False
        if last is not None:
            self.alarm.ring_by(last() + silence)
        try:
            while not task.done():
                await self.wait()
                if last is not None and self.alarm.has_rung:
                    if self._emitting:
                        self._poke_when_told = True
                    else:
                        due = max(last(), self._told_at) + silence
                        late = due - self.now() <= 0.001
                        if not late:
                            self.alarm.ring_by(due)
                if (late or self.stopped is not None) and not self._emitting and not task.done():
                    await self.release([task])
                    return late
        finally:
            is_over = True
        look_at(task)
        return False

    async def release(self, tasks: Iterable[asyncio.Future[Any]], *, gently: bool = False) -> None:
        """Cancel tasks, `gently` after half of the grace period only; those that go on after it are left behind."""
        waiting = [task for task in tasks if not task.done()]
        grace = self.config.grace / 2 if gently else self.config.grace
        if gently:
            await self.wait_for(waiting, grace)
        for task in waiting:
            task.cancel()
        await self.wait_for(waiting, grace)
        for task in waiting:
            if task.done():
                look_at(task)
            else:
                leave_behind(task)

    async def wait_for(self, tasks: Iterable[asyncio.Future[Any]], seconds: float) -> None:
        """Wait so long at most for tasks to be done."""
        waiting = [task for task in tasks if not task.done()]
        if not waiting:
            return
        over = Flag(self.poke)
        timer = self.loop.call_later(seconds, over.set)
        for task in waiting:
            task.add_done_callback(self.poke)
        try:
            while not over.is_set and not all(task.done() for task in waiting):
                await self.wait()
        finally:
            timer.cancel()


def _result_of(task: asyncio.Future[Any]) -> Any:
    """What foreign code in a task of its own returned.

    Raises:
        Exception: what it raised.
    """
    if task.cancelled():
        raise Cut("it cancelled itself")
    error = task.exception()
    if error is not None and not isinstance(error, Exception):
        raise Fault(f"{type(error).__name__} was raised") from error
    return task.result()
