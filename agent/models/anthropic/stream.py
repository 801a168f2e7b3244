"""One streamed answer from bytes to block events: pump, parser, reader and stall clocks put together."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Protocol

from agent.core.clock import Clock
from agent.core.model import BlockEvent, Done, ModelError, UsageSoFar, Waiting
from agent.models.anthropic.sse import ServerEvent, SSEParser
from agent.models.anthropic.stall_timeouts import StallClocks
from agent.models.anthropic.stream_pump import Pump, Read

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
