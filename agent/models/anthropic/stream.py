"""One streamed answer from bytes to block events: pump, parser, reader and stall clocks put together."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from types import TracebackType
from typing import Protocol

from agent.core.cancellation import detach, retrieve
from agent.core.clock import Clock, Timer
from agent.core.model import BlockEvent, Done, ModelError, UsageSoFar, Waiting
from agent.models.anthropic.sse import ServerEvent, SSEParser
from agent.models.anthropic.stall_timeouts import StallClocks

Put = Callable[[bytes], Awaitable[None]]
Read = Callable[[Put], Awaitable[None]]

SETTLE = 0.5
"""Seconds a cancelled request may take to close its connection before it is left behind."""

LINGER = 0.05
"""Seconds a finished stream may take to close by itself and keep its connection."""


class EventReader(Protocol):
    """Makes block events of decoded events; what ends the answer is its last one."""

    finished: bool

    @property
    def is_whole(self) -> bool:
        """Whether the answer is complete, and only the mark of its end has not come yet."""

    def feed(self, event: object, name: str = "") -> list[BlockEvent]: ...

    def close(self) -> list[BlockEvent]: ...

    def fail(self, error: ModelError) -> list[BlockEvent]:
        """End the answer with this error."""

    def cut(self, error: ModelError) -> list[BlockEvent]:
        """The transport ended or fell silent: a whole answer is done, any other ends with this error."""


async def transfer(
    read: Read,
    reader: EventReader,
    *,
    clock: Clock,
    stalls: StallClocks,
    explain: Callable[[Exception], ModelError | None],
) -> AsyncGenerator[BlockEvent, None]:
    """Yield the block events of one answer, ended by exactly one `Done` or `Failed`.

    Args:
        read: makes the request and puts the bytes of its answer.
        reader: a fresh one.
        clock, stalls: for silence.
        explain: makes a `ModelError` of what `read` raised, or None to let it pass.

    Raises:
        Exception: only what `explain` lets pass.
    """
    parser = SSEParser()
    try:
        async with Pump(read, clock, stalls) as pump, aclosing(pump.chunks()) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, Waiting):
                    yield chunk
                    continue
                if isinstance(chunk, ModelError):
                    events = reader.cut(chunk)
                else:
                    events = _read_events(reader, parser.feed(chunk))
                if not all(isinstance(event, UsageSoFar) for event in events):
                    stalls.content_came(clock.now())
                if reader.is_whole and stalls.answer_is_whole(clock.now()):
                    pump.set_alarm()
                if events and isinstance(events[-1], Done) and not isinstance(chunk, ModelError):
                    await pump.finish(LINGER)
                for event in events:
                    yield event
                if reader.finished:
                    return
        last = [event for event in parser.close() if not _is_torn(event)]
        events = _read_events(reader, last) + reader.close()
    except Exception as error:  # a model never raises: what the client throws becomes a value
        explained = explain(error)
        if explained is None:
            raise
        events = reader.cut(explained)
    for event in events:
        yield event


def _read_events(reader: EventReader, server_events: list[ServerEvent]) -> list[BlockEvent]:
    return [event for server_event in server_events for event in read_event(reader, server_event)]


def _is_torn(server_event: ServerEvent) -> bool:
    """Whether the stream ended within this event, its last one; an error may come in any form."""
    if server_event.name == "error" or server_event.data.strip() in ("", "[DONE]"):
        return False
    try:
        json.loads(server_event.data)
    except (ValueError, RecursionError):
        return True
    return False


def read_event(reader: EventReader, server_event: ServerEvent) -> list[BlockEvent]:
    """Give one server-sent event to the reader; one that is no JSON ends the answer."""
    text = server_event.data.strip()
    if not text or text == "[DONE]":
        return []
    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        if server_event.name != "error":
            message = "The server sent an event that is not JSON; the answer stops there."
            return reader.fail(ModelError("protocol", message, retryable=True))
        event = text
    if server_event.name == "error" and not isinstance(event, dict):
        event = {"type": "error", "error": {"message": str(event)}, "message": str(event)}
    return reader.feed(event, server_event.name)


class Pump:
    """Runs `read(put)` in a task of its own and yields what it puts, with marks where it is silent too long.

    Closing the iterator cancels the task, which closes the connection at once.

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
