"""Tasks that begin in any case: what is cancelled before its first step would else never close what it is to open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


def begin_task(coroutine: Coroutine[Any, Any, T], on_cancel: Callable[[], None]) -> asyncio.Task[T]:
    """Run a coroutine in a task of its own, from the loop's next turn on, whatever kind of tasks the loop makes.

    Args:
        coroutine: what to run.
        on_cancel: called in place of the cancellation when the task is cancelled before it has begun; the
            coroutine then begins all the same, and once it is through its task ends as cancelled.
    """
    return asyncio.Task(_Beginning(coroutine, on_cancel), loop=asyncio.get_running_loop())


def begin_plainly(coroutine: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> asyncio.Task[T]:
    """Run a coroutine in a task of its own, from the next turn of `loop` on, whatever kind of tasks that makes."""
    return asyncio.Task(coroutine, loop=loop)


class _Beginning(Coroutine[Any, Any, T], Generic[T]):
    """A coroutine that cannot be cancelled before its first step."""

    def __init__(self, coroutine: Coroutine[Any, Any, T], on_cancel: Callable[[], None]) -> None:
        self.__qualname__ = getattr(coroutine, "__qualname__", "coroutine")  # as asyncio shows it
        self._coroutine = coroutine
        self._on_cancel = on_cancel
        self._has_begun = False
        self._was_cancelled = False

    def send(self, value: Any) -> Any:
        self._has_begun = True
        try:
            return self._coroutine.send(value)
        except StopIteration:
            self._end()
            raise

    def throw(self, error: Any, *rest: Any) -> Any:
        if not self._has_begun and isinstance(error, asyncio.CancelledError):
            self._was_cancelled = True
            self._on_cancel()
            return self.send(None)
        try:
            return self._coroutine.throw(error, *rest)
        except StopIteration:
            self._end()
            raise

    def close(self) -> None:
        self._coroutine.close()

    def __await__(self) -> Any:
        return self._coroutine.__await__()

    def _end(self) -> None:
        """It is through.

        Raises:
            CancelledError: it had been cancelled before it began.
        """
        if self._was_cancelled:
            raise asyncio.CancelledError from None
