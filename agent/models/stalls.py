"""The two stall clocks of a request, one for bytes and one for content, and the clock they read.

Pings keep the first one quiet and not the second; what they say is pure and depends on the times given.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from agent.models.base import ModelError, Waiting


class Timer(Protocol):
    """A call that can be called off."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """The time of a model: seconds from anywhere, and a call at a later time."""

    def now(self) -> float: ...

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer: ...


class SystemClock:
    """The running event loop's clock."""

    def now(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call `callback` in `seconds` from the running loop."""
        return asyncio.get_running_loop().call_later(seconds, callback)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long silence is borne, in seconds.

    Attributes:
        first_byte: until anything of the answer arrives (a local server reads the whole prompt first).
        between_bytes: between two arrivals afterwards; servers send pings meanwhile.
        content: between two pieces of content, pings not counted; real thinking takes minutes.
        show_every: silence is shown each time it has grown by this much.
    """

    first_byte: float = 600.0
    between_bytes: float = 180.0
    content: float = 900.0
    show_every: float = 5.0


class StallClocks:
    """Remembers when bytes and content arrived last and says when that is too long ago."""

    def __init__(self, now: float, patience: Patience, endpoint: str) -> None:
        self._patience = patience
        self._endpoint = endpoint
        self._bytes_at = now
        self._content_at = now
        self._any_bytes = False
        self._shown_at = now

    def bytes_came(self, now: float) -> None:
        """Something arrived, if only a ping."""
        self._bytes_at = now
        self._any_bytes = True

    def content_came(self, now: float) -> None:
        """A part of the answer arrived."""
        self._content_at = self._shown_at = now

    @property
    def due(self) -> float:
        """The time at which `report` may next have something to say."""
        return min(self._bytes_limit, self._content_limit, self._shown_at + self._patience.show_every)

    @property
    def _bytes_limit(self) -> float:
        patience = self._patience
        return self._bytes_at + (patience.between_bytes if self._any_bytes else patience.first_byte)

    @property
    def _content_limit(self) -> float:
        return self._content_at + self._patience.content

    def report(self, now: float) -> Waiting | ModelError | None:
        """Return the stall, or the silence to show, or None when nothing is due."""
        if now >= self._bytes_limit:
            silent = now - self._bytes_at
            message = f"No sign of life from {self._endpoint} for {silent:.0f} s; the request was given up."
            return ModelError("stall", message, retryable=True)
        if now >= self._content_limit:
            silent = now - self._content_at
            message = (
                f"{self._endpoint} is alive but sent nothing of the answer for {silent:.0f} s; given up."
            )
            return ModelError("stall", message, retryable=True)
        if now >= self._shown_at + self._patience.show_every:
            self._shown_at = now
            return Waiting(now - self._content_at)
        return None
