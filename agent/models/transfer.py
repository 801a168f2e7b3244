"""One streamed answer from bytes to block events: pump, parser, reader and stall clocks put together."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Protocol

from agent.models.base import BlockEvent, Done, ModelError, UsageSoFar, Waiting
from agent.models.errors import EXCERPT
from agent.models.pump import Pump, Read
from agent.models.sse import ServerEvent, SSEParser
from agent.models.stalls import Clock, StallClocks

LINGER = 0.05
"""Seconds a finished stream may take to close by itself and keep its connection."""


class EventReader(Protocol):
    """Makes block events of decoded events; what ends the answer is its last one."""

    finished: bool

    def feed(self, event: object, name: str = "") -> list[BlockEvent]: ...

    def close(self) -> list[BlockEvent]: ...

    def fail(self, error: ModelError) -> list[BlockEvent]: ...


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
                    events = reader.fail(chunk)
                else:
                    events = _read_events(reader, parser.feed(chunk))
                if not all(isinstance(event, UsageSoFar) for event in events):
                    stalls.content_came(clock.now())
                if events and isinstance(events[-1], Done):
                    await pump.finish(LINGER)
                for event in events:
                    yield event
                if reader.finished:
                    return
        events = _read_events(reader, parser.close()) + reader.close()
    except Exception as error:  # a model never raises: what the client throws becomes a value
        explained = explain(error)
        if explained is None:
            raise
        events = reader.fail(explained)
    for event in events:
        yield event


def _read_events(reader: EventReader, server_events: list[ServerEvent]) -> list[BlockEvent]:
    return [event for server_event in server_events for event in read_event(reader, server_event)]


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


async def read_beginning(chunks: AsyncIterator[bytes]) -> str:
    """Return how a body that is no event stream begins, without waiting for all of it."""
    start = b""
    async for chunk in chunks:
        start += chunk
        if len(start) >= 4 * EXCERPT:
            break
    return start.decode("utf-8", "replace")
