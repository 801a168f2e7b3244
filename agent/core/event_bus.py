"""The listeners of an agent's events, in their order. `run.py` calls them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from agent.core.events import Event
from agent.core.redaction import report

log = logging.getLogger(__name__)

Listener = Callable[[Event], Any]


class EventBus:
    """The listeners, in the order in which they subscribed.

    Args:
        owner: a listener that comes before all others.
    """

    def __init__(self, owner: Listener | None = None) -> None:
        self._owner = () if owner is None else (owner,)
        self.listeners: tuple[Listener, ...] = self._owner
        self._reported: set[int] = set()

    def subscribe(self, listener: Listener, *, first: bool = False) -> Callable[[], None]:
        """Call `listener` with every event from now on, last or first; return the function that ends that."""
        own, others = self._owner, self.listeners[len(self._owner) :]
        self.listeners = (*own, listener, *others) if first else (*own, *others, listener)
        subscribed = True

        def unsubscribe() -> None:
            nonlocal subscribed
            if subscribed:
                subscribed = False
                listeners = list(self.listeners)
                listeners.remove(listener)
                self.listeners = tuple(listeners)
                self._reported.discard(
                    id(listener)
                )  # it holds id()s: a later listener could get the same one

        return unsubscribe

    def report(self, listener: Listener, error: BaseException, clean: Callable[[str], str]) -> None:
        """Log a listener's failure, once for each listener."""
        if id(listener) not in self._reported:
            self._reported.add(id(listener))
            name = getattr(listener, "__qualname__", type(listener).__name__)
            report(log, f"a listener failed; the run goes on: {name}", error, clean)
