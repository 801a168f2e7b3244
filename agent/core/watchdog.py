"""Alarms of a run: set by a timer, they have the run look what there is to do."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from agent.core.clock import Clock, Timer


class Flag:
    """Set by a timer; says so by calling `then`."""

    def __init__(self, then: Callable[[], None]) -> None:
        self.is_set = False
        self._then = then

    def set(self) -> None:
        """Set it, and say so."""
        self.is_set = True
        self._then()


class Alarm:
    """One alarm for all requests of a run: a timer for each, called off again, costs more than the rest of a wait.

    Args:
        clock: whose time it goes by.
        then: called when it rings.
    """

    def __init__(self, clock: Clock, then: Callable[[], None]) -> None:
        self._clock = clock
        self._then = then
        self._flag = Flag(then)
        self._due = inf
        self._timer: Timer | None = None

    @property
    def has_rung(self) -> bool:
        """Whether it rang since it was set last."""
        return self._flag.is_set

    def ring_by(self, due: float) -> None:
        """Have it ring at a time of the clock at the latest; one that rings earlier is left as it is."""
        if self.has_rung or due < self._due:
            self.call_off()
            self._flag, self._due = Flag(self._then), due
            self._timer = self._clock.call_later(max(0.0, due - self._clock.now()), self._flag.set)

    def call_off(self) -> None:
        """It does not ring any more until it is set again."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._due = None, inf
