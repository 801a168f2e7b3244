"""The pump: makes a request in a task of its own and yields its bytes in order, with marks where it is silent too long.

Closing the iterator cancels the task, which closes the connection at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from types import TracebackType

from agent.core.cancellation import detach, retrieve
from agent.core.clock import Clock, Timer
from agent.core.model import ModelError, Waiting
from agent.models.anthropic.stall_timeouts import StallClocks

Put = Callable[[bytes], Awaitable[None]]
Read = Callable[[Put], Awaitable[None]]

SETTLE = 0.5
"""Seconds a cancelled request may take to close its connection before it is left behind."""


class Pump:
    """Runs `read(put)` and hands over what it puts.

    Args:
        read: makes the request and puts each chunk of the answer; what it raises, `chunks` raises.
        clock: for the stall clocks.
        stalls: notified here about bytes; the caller notifies it about content.
    """

    def __init__(self, read: Read, clock: Clock, stalls: StallClocks) -> None:
        self._read = read
        self._clock = clock
        self._stalls = stalls
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=64)
        self._task: asyncio.Task[None] | None = None
        self._timer: Timer | None = None

    async def __aenter__(self) -> Pump:
        self._task = asyncio.create_task(self._run())
        self.set_alarm()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None and not self._task.done():
            self._task.cancel()
            try:
                await asyncio.wait({self._task}, timeout=SETTLE)
            finally:
                detach(self._task)
        elif self._task is not None:
            retrieve(self._task)

    async def chunks(self) -> AsyncGenerator[bytes | Waiting | ModelError, None]:
        """Yield bytes as they come, `Waiting` in silences, and a stall's `ModelError` as the last thing.

        Raises:
            Exception: whatever `read` raised, after the bytes that came before it.
        """
        assert self._task is not None, "enter the pump first"
        while True:
            if self._task.done() and self._queue.empty():
                self._task.result()
                return
            item = await self._queue.get()
            if item:
                yield item
            now = self._clock.now()
            # What waits in the queue is news: silence is only judged when there is none.
            if self._queue.empty() and not self._task.done() and now >= self._stalls.due:
                report = self._stalls.report(now)
                if report is not None:
                    yield report
                if isinstance(report, ModelError):
                    return

    async def finish(self, seconds: float) -> None:
        """Give the request a moment to end by itself, so that its connection can be used again."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=seconds)

    async def _run(self) -> None:
        try:
            await self._read(self._put)
        finally:
            self._wake()

    async def _put(self, chunk: bytes) -> None:
        if chunk:
            self._stalls.bytes_came(self._clock.now())
            await self._queue.put(chunk)

    def _wake(self) -> None:
        """Make `chunks` look up; a full queue means it has enough to look at."""
        if not self._queue.full():
            self._queue.put_nowait(None)

    def set_alarm(self) -> None:
        """Look at the clocks when they are due next; they may have become shorter."""
        if self._timer is not None:
            self._timer.cancel()
        delay = max(0.05, self._stalls.due - self._clock.now())
        self._timer = self._clock.call_later(delay, self._ring)

    def _ring(self) -> None:
        if self._queue.empty() and self._clock.now() >= self._stalls.due:
            self._wake()
        self.set_alarm()
