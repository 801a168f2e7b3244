"""When typed text is saved: after a pause, and at the latest some time after the first key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

PAUSE = 0.7
"""Seconds without a key after which a text is saved."""
LONGEST = 2.5
"""Seconds after which a text is saved although the typing goes on."""
TYPING = 2.0
"""Seconds without a key after which the person is no longer at the line they typed in."""
clock = monotonic


class Debounce:
    """Calls a function once the typing pauses.

    Args:
        action: what is called.
    """

    def __init__(self, action: Callable[[], object]) -> None:
        self._action = action
        self._timer: asyncio.TimerHandle | None = None
        self._since: float | None = None

    def key_pressed(self) -> None:
        """Something was typed: put the call off until the next pause."""
        now = clock()
        if self._since is None:
            self._since = now
        left = max(PAUSE, LONGEST) - (now - self._since)
        if left <= 0:
            self.now()
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(min(PAUSE, left), self.now)

    def now(self) -> None:
        """Call at once."""
        self.cancel()
        self._action()

    def cancel(self) -> None:
        """Call no more for what was typed so far."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._since = None
