"""Code that is awaited outside of a run, within reach of whoever wants to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from agent.core.detached_tasks import leave_behind
from agent.core.run import Cut

T = TypeVar("T")

GRACE = 0.05
"""Seconds that cancelled code has to end before nobody waits for it any more."""


class Reach:
    """Waits for code until it ends, or until it is `cut` off."""

    def __init__(self) -> None:
        self._cut = asyncio.Event()
        self._waited_for: set[asyncio.Future[Any]] = set()  # what is cancelled when it is cut off

    @property
    def is_cut(self) -> bool:
        """Whether nothing is waited for any more."""
        return self._cut.is_set()

    def cut(self) -> None:
        """Have everything that is or will be waited for be given up."""
        if self._cut.is_set():
            return
        self._cut.set()
        # At once, not when whoever waits hears of it: until then it could still begin something.
        self._waited_for = {task for task in self._waited_for if task.cancel()}

    async def wait(
        self,
        awaitable: Awaitable[T],
        *,
        within: float | None = None,
        cancels: bool = True,
        settles_within: float | None = None,
    ) -> T:
        """Await code and return what it returns.

        Args:
            awaitable: the code.
            within: seconds it may take.
            cancels: whether it is cancelled when it is given up; else it goes on unattended.
            settles_within: seconds it has to come to its end once it is cancelled, if what it returns by then counts.

        Raises:
            Cut: it was given up; the message says why.
            Exception: whatever it raised.
        """
        if self._cut.is_set():
            if asyncio.iscoroutine(awaitable):
                awaitable.close()  # most code acts before it first waits: it must not begin
            elif isinstance(awaitable, asyncio.Future) and cancels:
                awaitable.cancel()
            raise Cut("it was stopped")
        task = asyncio.ensure_future(self._begin(awaitable))
        if asyncio.iscoroutine(awaitable):
            # cancelled before it began, the coroutine was never awaited
            task.add_done_callback(lambda _task: awaitable.close())
        cut = asyncio.ensure_future(self._cut.wait())
        if cancels:
            self._waited_for.add(task)
        try:
            await asyncio.wait({task, cut}, timeout=within, return_when=asyncio.FIRST_COMPLETED)
            was_cancelled = self._cut.is_set() and task in self._waited_for
            self._waited_for.discard(task)
            if was_cancelled or not task.done():
                if cancels and not was_cancelled:
                    task.cancel()
                if cancels:
                    await asyncio.wait({task}, timeout=GRACE if settles_within is None else settles_within)
                if settles_within is None or not task.done() or task.cancelled():
                    raise Cut("it was stopped" if self._cut.is_set() else f"it took longer than {within:g} s")
        except asyncio.CancelledError:
            if cancels:
                task.cancel()
            raise
        finally:
            cut.cancel()
            self._waited_for.discard(task)
            if not task.done():
                leave_behind(task)
            elif not task.cancelled():
                task.exception()
        if task.cancelled():
            raise Cut("it cancelled itself")
        return task.result()

    async def _begin(self, awaitable: Awaitable[T]) -> T:
        """Await code, unless all was cut off between being asked for it and its first step."""
        if self._cut.is_set():
            raise Cut("it was stopped")
        return await awaitable
