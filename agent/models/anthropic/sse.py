"""Bytes of a server-sent-event stream to events, in linear time and for any chunking.

Only `event:` and `data:` matter here; comments, ids and retry times are skipped. CR, LF and CRLF end a
line, bytes that are no UTF-8 become U+FFFD.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_EVENT = 32 * 1024 * 1024
"""Bytes one event may have; a server that sends more is not speaking to us."""


class OversizedEvent(ValueError):
    """One event is longer than the limit."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its name (`""` when the server gave none) and its data lines joined by newlines."""

    name: str
    data: str


class SSEParser:
    """Feed it bytes as they come; it returns the events that became whole.

    Args:
        max_event: bytes one event may have.
    """

    def __init__(self, max_event: int = MAX_EVENT) -> None:
        self._max_event = max_event
        self._tail: list[bytes] = []  # pieces of the line that has not ended yet
        self._size = 0  # bytes of the event that has not ended yet
        self._name = ""
        self._data: list[bytes] = []
        self._after_cr = False
        self._first_line = True

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Return the events completed by `chunk`.

        Raises:
            OversizedEvent: an event is longer than `max_event` bytes.
        """
        if self._after_cr and chunk:
            self._after_cr = False
            if chunk.startswith(b"\n"):
                chunk = chunk[1:]
        if not chunk:
            return []
        self._size += len(chunk)
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        first, *rest = chunk.split(b"\n")
        self._tail.append(first)
        events: list[ServerEvent] = []
        for piece in rest:
            line = b"".join(self._tail)
            self._tail = [piece]
            event = self._take_line(line)
            if event is not None:
                events.append(event)
            if not line:
                self._size = len(piece)
        if self._size > self._max_event:
            raise OversizedEvent(f"one event is longer than {self._max_event} bytes")
        return events

    def close(self) -> list[ServerEvent]:
        """Return what the end of the stream completes: a last event without its blank line."""
        line = b"".join(self._tail)
        self._tail = []
        events = [self._take_line(line) if line else None, self._dispatch()]
        return [event for event in events if event is not None]

    def _take_line(self, line: bytes) -> ServerEvent | None:
        if self._first_line:
            self._first_line = False
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" "))
        elif field == b"event":
            self._name = value.removeprefix(b" ").decode("utf-8", "replace")
        return None

    def _dispatch(self) -> ServerEvent | None:
        name, data = self._name, self._data
        self._name, self._data = "", []
        if not data:
            return None
        return ServerEvent(name, b"\n".join(data).decode("utf-8", "replace"))
