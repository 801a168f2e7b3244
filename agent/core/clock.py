"""The clock that waiting code reads, injected so that tests can move it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """A call that can be called off."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """The time, injected: seconds from anywhere, and a call at a later time."""

    def now(self) -> float: ...

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer: ...


class SystemClock:
    """The running event loop's clock."""

    now = staticmethod(time.monotonic)
    """Return monotonic seconds."""

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Timer:
        """Call `callback` in `seconds` from the running loop."""
        return asyncio.get_running_loop().call_later(seconds, callback)
