"""The two stall clocks of a request, one for bytes and one for content.

Pings keep the first one quiet and not the second; what they say is pure and depends on the times given.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from agent.core.cancellation import detach
from agent.core.clock import Clock
from agent.core.model import ModelError, Waiting


@dataclass(frozen=True, slots=True)
class StallLimits:
    """How long silence is borne, in seconds.

    Attributes:
        first_byte: until anything of the answer arrives (a local server reads the whole prompt first).
        between_bytes: between two arrivals afterwards; servers send pings meanwhile.
        content: between two pieces of content, pings not counted; real thinking takes minutes.
        after_end: once the answer is whole and only the mark of its end is missing.
        show_every: silence is shown each time it has grown by this much.
    """

    first_byte: float = 600.0
    between_bytes: float = 180.0
    content: float = 900.0
    after_end: float = 2.0
    show_every: float = 5.0


class StallClocks:
    """Remembers when bytes and content arrived last and says when that is too long ago."""

    def __init__(self, now: float, limits: StallLimits, endpoint: str) -> None:
        self._limits = limits
        self._endpoint = endpoint
        self._bytes_at = now
        self._content_at = now
        self._any_bytes = False
        self._shown_at = now
        self._whole_at: float | None = None

    def bytes_came(self, now: float) -> None:
        """Something arrived, if only a ping."""
        self._bytes_at = now
        self._any_bytes = True

    def content_came(self, now: float) -> None:
        """A part of the answer arrived."""
        self._content_at = self._shown_at = now

    def answer_is_whole(self, now: float) -> bool:
        """Nothing but the mark of its end is waited for from now on, whatever else keeps the line alive.

        Returns:
            Whether that is news, and `due` is earlier than it was.
        """
        is_news = self._whole_at is None
        if is_news:
            self._whole_at = now
        return is_news

    @property
    def due(self) -> float:
        """The time at which `report` may next have something to say."""
        return min(self._bytes_limit, self._content_limit, self._shown_at + self._limits.show_every)

    @property
    def _bytes_limit(self) -> float:
        limits = self._limits
        return self._bytes_at + (limits.between_bytes if self._any_bytes else limits.first_byte)

    @property
    def _content_limit(self) -> float:
        if self._whole_at is not None:
            return max(self._whole_at, self._content_at) + self._limits.after_end
        return self._content_at + self._limits.content

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
        if now >= self._shown_at + self._limits.show_every:
            self._shown_at = now
            return Waiting(now - self._content_at)
        return None


LEAVE = 0.05
"""Seconds a question that is called off may take to close its connection before it is left behind."""


async def waiting_for(
    question: asyncio.Future[Any], clock: Clock, every: float
) -> AsyncGenerator[Waiting, None]:
    """Yield how long a question has been open, each time that has grown by `every` seconds, until it is answered.

    Closed before that, it calls the question off.
    """
    since = clock.now()
    try:
        while not question.done():
            look = asyncio.get_running_loop().create_future()
            timer = clock.call_later(every, lambda look=look: look.done() or look.set_result(None))  # type: ignore[misc]
            try:
                await asyncio.wait({question, look}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                timer.cancel()
            if not question.done():
                yield Waiting(clock.now() - since)
    finally:
        if not question.done():
            question.cancel()
            try:
                await asyncio.wait({question}, timeout=LEAVE)
            finally:
                detach(question)
