"""Cancellation: scopes, grace periods, and waiting for code that is not ours.

Foreign code runs in a task of its own. Once it is cancelled it has a grace period to end; a task that goes on
after that is detached and logged, and nobody waits for it any more.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar

from agent.core.clock import Clock, SystemClock
from agent.core.errors import GaveUpWaiting

log = logging.getLogger(__name__)

T = TypeVar("T")

GRACE = 0.05
"""Seconds that cancelled code has to end before nobody waits for it any more."""

detached: set[asyncio.Future[Any]] = set()
"""The tasks that ignore their cancellation and go on by themselves."""


def detach(task: asyncio.Future[Any]) -> None:
    """Wait for a task no longer; what it still returns is dropped, what it raised counts as seen."""
    if task.done():
        retrieve(task)
    elif task not in detached:
        detached.add(task)
        task.add_done_callback(_log_late_end)


def _log_late_end(task: asyncio.Future[Any]) -> None:
    """Log how it ended, by types: what it returned, and the words of what it raised, may be a key."""
    detached.discard(task)
    retrieve(task)
    error = None if task.cancelled() else task.exception()
    how = "" if error is None else f": it raised {type(error).__name__}"
    log.info("what ended after its run had settled was dropped%s", how)


def retrieve(task: asyncio.Future[Any]) -> None:
    """Take note of how a task ended, so that asyncio does not report an exception nobody fetched."""
    if not task.cancelled():
        task.exception()


def result_of(task: asyncio.Future[T]) -> T:
    """Return what foreign code in a task of its own returned.

    Raises:
        GaveUpWaiting: it cancelled itself.
        Exception: what it raised.
    """
    if task.cancelled():
        raise GaveUpWaiting("it cancelled itself")
    return task.result()


class OwnedTask(asyncio.Task[T]):
    """A task that closes what it has open before it ends: its cancellation is a request to stop.

    Args:
        coroutine: what it runs; ends by itself, soon after the request.
        on_cancel: makes the request.
    """

    def __init__(self, coroutine: Coroutine[Any, Any, T], on_cancel: Callable[[], None]) -> None:
        super().__init__(coroutine, loop=asyncio.get_running_loop())
        self._on_cancel = on_cancel

    def cancel(self, msg: Any | None = None) -> bool:
        """Ask it to stop; return whether it was still at work."""
        if self.done():
            return False
        self._on_cancel()
        return True


async def race(
    task: asyncio.Future[Any] | None,
    stop: CancelScope | None = None,
    within: float | None = None,
    clock: Clock | None = None,
) -> None:
    """Return once the task is done, the scope is cancelled, or the time is up. Cancels nothing itself."""
    if (task is not None and task.done()) or (stop is not None and stop.is_cancelled):
        return
    loop = asyncio.get_running_loop()
    waiter: asyncio.Future[None] = loop.create_future()

    def wake(_done: object = None) -> None:
        if not waiter.done():
            waiter.set_result(None)

    timer = None if within is None else (clock or SystemClock()).call_later(max(0.0, within), wake)
    if task is not None:
        task.add_done_callback(wake)
    if stop is not None:
        stop.add_callback(wake)
    try:
        await waiter
    finally:
        if timer is not None:
            timer.cancel()
        if task is not None:
            task.remove_done_callback(wake)
        if stop is not None:
            stop.remove_callback(wake)


async def settle(tasks: Mapping[asyncio.Task[T], float]) -> None:
    """Wait until tasks are done, for each as many seconds as it has at most; detach those that go on."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    for task, seconds in sorted(tasks.items(), key=lambda item: item[1]):
        await race(task, within=seconds - (loop.time() - began))
        detach(task)


class CancelScope:
    """Everything that one owner waits for, and that ends together when the scope is cancelled.

    Args:
        parent: a scope whose cancellation cancels this one as well, and whose other arguments this one has.
        clock: by which timeouts go.
        grace: seconds that cancelled code has to end.
    """

    def __init__(
        self,
        parent: CancelScope | None = None,
        *,
        clock: Clock | None = None,
        grace: float = GRACE,
    ) -> None:
        self.is_cancelled = False
        self._callbacks: dict[Callable[[], object], None] = {}
        self._parent = parent
        self._clock: Clock = (clock or SystemClock()) if parent is None else parent._clock
        self._grace: float = grace if parent is None else parent._grace
        if parent is not None:
            parent.add_callback(self.cancel)

    def cancel(self) -> None:
        """Cancel what is waited for, at once: until its owner hears of it, it could still begin something."""
        if not self.is_cancelled:
            self.is_cancelled = True
            for callback in list(self._callbacks):
                callback()

    def add_callback(self, callback: Callable[[], object]) -> None:
        """Call a function when the scope is cancelled; at once where it is already."""
        if self.is_cancelled:
            callback()
        else:
            self._callbacks[callback] = None

    def remove_callback(self, callback: Callable[[], object]) -> None:
        """Do not call a function any more."""
        self._callbacks.pop(callback, None)

    def close(self) -> None:
        """End the tie to the parent."""
        if self._parent is not None:
            self._parent.remove_callback(self.cancel)

    async def wait(
        self,
        awaitable: Awaitable[T],
        *,
        within: float | None = None,
        cancels: bool = True,
    ) -> T:
        """Await code in a task of its own and return what it returns.

        Args:
            awaitable: the code.
            within: seconds it may take.
            cancels: whether it is cancelled when it is given up; else it goes on unattended.

        Raises:
            GaveUpWaiting: it was given up; the message says why.
            Exception: whatever it raised.
        """
        if self.is_cancelled:
            if inspect.iscoroutine(awaitable):
                awaitable.close()  # most code acts before it first waits: it must not begin
            elif isinstance(awaitable, asyncio.Future) and cancels:
                awaitable.cancel()
            raise GaveUpWaiting("it was stopped")
        task = asyncio.create_task(self._begin(awaitable))
        if inspect.iscoroutine(awaitable):
            # cancelled before it began, the coroutine was never awaited
            task.add_done_callback(lambda _task: awaitable.close())
        was_cancelled = False

        def cancel() -> None:
            nonlocal was_cancelled
            was_cancelled = task.cancel()

        if cancels:
            self.add_callback(cancel)
        try:
            await race(task, self, within, self._clock)
            if was_cancelled or not task.done():
                if cancels:
                    if not was_cancelled:
                        task.cancel()
                    await race(task, within=self._grace)
                raise GaveUpWaiting(
                    "it was stopped" if self.is_cancelled else f"it took longer than {within:g} s"
                )
        except asyncio.CancelledError:
            if cancels:
                task.cancel()
            raise
        finally:
            self.remove_callback(cancel)
            detach(task)
        return result_of(task)

    async def _begin(self, awaitable: Awaitable[T]) -> T:
        """Await code, unless the scope was cancelled between being asked for it and its first step."""
        if self.is_cancelled:
            raise GaveUpWaiting("it was stopped")
        return await awaitable
