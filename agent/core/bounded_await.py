"""Waiting for code that need not come to an end: those who are told events, and streams that are closed."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Awaitable, Callable, Coroutine
from types import GeneratorType
from typing import Any, TypeGuard


class GivenUp(Exception):
    """Who was told an event did not return in time once the run was to end; it goes on by itself, cancelled."""


class Patience:
    """Waits for what those who are told return.

    They run in the task that tells them, so one that is done at once costs nothing more than its call. Once
    `hurry` was called each of them has `grace` seconds in all; who takes longer is cancelled, left to itself and
    not waited for again.

    Args:
        grace: in seconds.
        on_cancel: called when the task that tells them was cancelled from outside; they are told all the same.
        leave: is given the task in which one that was given up goes on.
    """

    def __init__(
        self,
        grace: float,
        *,
        on_cancel: Callable[[], None],
        leave: Callable[[asyncio.Future[Any]], None],
    ) -> None:
        self._grace = grace
        self._on_cancel = on_cancel
        self._leave = leave
        self._hurried = False
        self._loop = asyncio.get_running_loop()
        self._waits: set[_Wait] = set()
        self._left: dict[int, float] = {}  # seconds, by the id of who took some
        self._known: list[object] = []  # those, lest another gets their id

    def hurry(self) -> None:
        """From now on nobody is waited for longer than the grace period."""
        if not self._hurried:
            self._hurried = True
            for wait in self._waits:
                wait.expire_in(self._grace)

    def renew(self) -> None:
        """Give everyone the grace period anew, except who was given up."""
        self._left = {who: 0.0 for who, left in self._left.items() if left <= 0}

    async def wait(self, who: object, awaitable: Awaitable[Any]) -> BaseException | None:
        """Wait for what `who` returned; return what it raised, a `GivenUp` when it took too long, else None."""
        begun = as_coroutine(awaitable)
        done, given = _first_step(begun)
        return given if done else await self.wait_on(who, begun, given)

    async def wait_on(
        self, who: object, begun: Coroutine[Any, Any, Any], blocker: Any
    ) -> BaseException | None:
        """`wait` for a coroutine that was begun and now waits for `blocker`, a future of this loop or None."""
        wait = _Wait(self._loop)
        self._waits.add(wait)
        if self._hurried:
            wait.expire_in(self._left.get(id(who), self._grace))
        task = asyncio.current_task()
        cancelled_before = 0 if task is None else task.cancelling()
        try:
            raised = await self._finish(begun, blocker, wait)
            cancelled = 0
            while task is not None and task.cancelling() > cancelled_before:
                task.uncancel()
                cancelled += 1
            if cancelled <= len(wait.own_cancels):
                return raised
            self._on_cancel()  # the task that tells was cancelled, which is no failure of who was told
            return None if isinstance(raised, asyncio.CancelledError) else raised
        finally:
            self._waits.discard(wait)
            if (left := wait.end()) is not None:
                if id(who) not in self._left:
                    self._known.append(who)
                self._left[id(who)] = left

    async def _finish(
        self, begun: Coroutine[Any, Any, Any], blocker: Any, wait: _Wait
    ) -> BaseException | None:
        """Drive on a coroutine that waits for `blocker`, as its task would; return what it raised."""
        while True:
            if blocker is not None and not (asyncio.isfuture(blocker) and blocker.get_loop() is self._loop):
                begun.close()
                return RuntimeError(
                    f"It waits for {type(blocker).__name__}, which is nothing of this event loop."
                )
            try:
                await wait.until(blocker)
            except asyncio.CancelledError as cancelled:  # of the task that tells, by it or by others
                wait.own_cancels |= _cancelling_groups(begun)
                if blocker is not None:
                    blocker.cancel()
                step, given = begun.throw, cancelled
            else:
                if wait.expired:
                    return await self._give_up(begun, blocker)
                step, given = begun.send, None  # type: ignore[assignment]
            try:
                blocker = step(given)
            except StopIteration:
                return None
            except BaseException as error:  # noqa: BLE001 - for the caller to judge
                return error

    async def _give_up(self, begun: Coroutine[Any, Any, Any], blocker: Any) -> GivenUp:
        """Cancel what takes too long, in a task of its own: it may not react."""
        if blocker is not None:
            blocker.cancel()
        task: asyncio.Task[Any] = asyncio.Task(begun, loop=self._loop)
        task.cancel()  # before its first step: the coroutine gets it where it waits
        self._leave(task)
        return GivenUp(f"It did not return within {self._grace:g} s after the run was to end.")


class _Wait:
    """One wait that may be cut short."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.expired = False
        self.own_cancels: set[int] = set()  # task groups in what is waited for that have cancelled its task
        self._loop = loop
        self._wake: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def expire_in(self, seconds: float) -> None:
        """Cut it short after so long."""
        if seconds <= 0:
            self._expire()
        elif self._timer is None:
            self._timer = self._loop.call_later(seconds, self._expire)

    async def until(self, blocker: Any) -> None:
        """Return when a future is done, or at the next turn of the loop without one, or when the time is over."""
        if self.expired:
            return
        if blocker is None:
            await asyncio.sleep(0)
            return
        blocker._asyncio_future_blocking = False  # as a task does that takes up what it is to wait for
        self._wake = self._loop.create_future()
        blocker.add_done_callback(self._stir)
        try:
            await self._wake
        finally:
            self._wake = None
            blocker.remove_done_callback(self._stir)

    def end(self) -> float | None:
        """End it; return the seconds that were left of its time, None where it had no end."""
        if self.expired:
            return 0.0
        if self._timer is None:
            return None
        self._timer.cancel()
        return max(0.0, self._timer.when() - self._loop.time())

    def _expire(self) -> None:
        self.expired = True
        self._stir()

    def _stir(self, _done: object = None) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)


async def wait_briefly(
    awaitable: Awaitable[Any], seconds: float, leave: Callable[[asyncio.Future[Any]], None]
) -> BaseException | None:
    """Wait so long at most; return what was raised, a `GivenUp` when it took too long. Never raises itself.

    Called in a task that is cancelled meanwhile, it hands the cancellation on and forgets it.
    """
    begun = as_coroutine(awaitable)
    try:
        given = begun.send(None)
    except StopIteration:
        return None
    except BaseException as error:  # noqa: BLE001 - for the caller to judge
        return error
    patience = Patience(seconds, on_cancel=_nothing, leave=leave)
    patience.hurry()
    return await patience.wait_on(None, begun, given)


def _first_step(begun: Coroutine[Any, Any, Any]) -> tuple[bool, Any]:
    """Begin a coroutine; return whether it is done, and what it raised then, else what it waits for."""
    try:
        return False, begun.send(None)
    except StopIteration:
        return True, None
    except BaseException as error:  # noqa: BLE001 - for the caller to judge
        return True, error


def _cancelling_groups(begun: Coroutine[Any, Any, Any]) -> set[int]:
    """The task groups in which a coroutine waits and which cancelled the task they are in because a child failed.

    Before Python 3.13 a group whose child fails while it waits for its end does not take that cancellation
    back; from the outside it would look as if somebody had cancelled the task.
    """
    found: set[int] = set()
    inner: Any = begun if sys.version_info < (3, 13) else None
    while inner is not None:
        frame = getattr(inner, "cr_frame", None)
        held = {} if frame is None else frame.f_locals
        group = held.get("self")
        if (
            isinstance(group, asyncio.TaskGroup)
            and held.get("et") is None
            and getattr(group, "_parent_cancel_requested", False)
        ):
            found.add(id(group))
        inner = getattr(inner, "cr_await", None)
    return found


def _nothing() -> None:
    pass


def is_awaitable(value: object) -> TypeGuard[Awaitable[Any]]:
    """Return what `inspect.isawaitable` says, sooner."""
    kind = type(value)
    return hasattr(kind, "__await__") or (kind is GeneratorType and inspect.isawaitable(value))


def as_coroutine(awaitable: Awaitable[Any]) -> Coroutine[Any, Any, Any]:
    """Return a coroutine that awaits it, itself where it is one."""
    return awaitable if asyncio.iscoroutine(awaitable) else _await(awaitable)


async def _await(awaitable: Awaitable[Any]) -> Any:
    return await awaitable
