"""How a tool's write gets to the disk: in a thread, whole once it has begun, and told as far as it came."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from agent.core.tool_execution import NOT_RUN
from personas.errors import PersonaError

T = TypeVar("T")

SETTLES_WITHIN = 2.0
"""Seconds for which a stop waits for a write that has begun, so that its result says what was done."""


class NotWritten(PersonaError):
    """The call was cancelled before anything of it was written, and nothing will be."""

    def __init__(self) -> None:
        super().__init__(NOT_RUN)


class Writes(Protocol):
    """Runs a blocking write in a thread, and to its end even if whoever waits for it is cancelled.

    Args:
        function: the write.
        then: called on the loop with what it returned, before anything else is written.
    """

    async def __call__(self, function: Callable[[], T], then: Callable[[T], object]) -> T: ...


async def write_aside(function: Callable[[], T], then: Callable[[T], object]) -> T:
    """Run a write as `Writes` does, for a program in which nobody else writes."""
    writing = asyncio.ensure_future(asyncio.to_thread(function))

    def tell(done: asyncio.Future[T]) -> None:
        if not done.cancelled() and done.exception() is None:
            then(done.result())

    writing.add_done_callback(tell)
    return await asyncio.shield(writing)


class Writing:
    """The writing of one tool call.

    Attributes:
        is_cancelled: whether the call was cancelled; nothing further is to be written then.
    """

    def __init__(self, writes: Writes) -> None:
        self.is_cancelled = False
        self._writes = writes
        self._lock = threading.Lock()
        self._has_begun = self._is_off = False
        self._task: asyncio.Task[Any] | None = (
            None  # the call's own, which may be cancelled and not know it yet
        )

    def begin(self) -> None:
        """In the thread, right before the disk is changed: from now on it is done to the end.

        Raises:
            NotWritten: the call was cancelled before.
        """
        with self._lock:
            if self._is_off or (self._task is not None and self._task.cancelling()):
                raise NotWritten
            self._has_begun = True

    async def run(self, function: Callable[[], T], then: Callable[[T], object]) -> T:
        """Run a write, which calls `begin`, and return what it returns, also when cancelled after it has begun.

        Raises:
            NotWritten: the call was cancelled before that.
            Exception: what `function` raised.
        """
        self._has_begun = False
        self._task = asyncio.current_task()
        writing: asyncio.Task[T] = asyncio.create_task(self._write(function, then))
        writing.add_done_callback(_look_at)
        while True:
            try:
                return await asyncio.shield(writing)
            except asyncio.CancelledError:
                if self.is_cancelled or writing.cancelled():
                    raise  # cancelled twice: nobody waits for it any more, and it goes on by itself
                self.is_cancelled = True
                if self._call_off():
                    writing.cancel()
                    raise NotWritten from None

    async def _write(self, function: Callable[[], T], then: Callable[[T], object]) -> T:
        return await self._writes(function, then)

    def _call_off(self) -> bool:
        """Keep it from beginning; return whether that was in time."""
        with self._lock:
            self._is_off = not self._has_begun
            return self._is_off


def _look_at(done: asyncio.Future[Any]) -> None:
    """Take note of how it ended, so that asyncio does not report what nobody waits for any more."""
    if not done.cancelled():
        done.exception()
