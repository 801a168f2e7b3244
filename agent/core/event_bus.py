"""Listeners of a run's events: told in order, awaited one after the other, isolated from each other."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from agent.core.bounded_await import as_coroutine, is_awaitable
from agent.core.events import Event
from agent.core.redaction import report

log = logging.getLogger(__name__)

Listener = Callable[[Event], Any]
Wait = Callable[[object, Coroutine[Any, Any, Any], Any], Awaitable[BaseException | None]]
"""See `Patience.wait_on`."""


class Listeners:
    """Those who listen, in the order in which they subscribed."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._complained: set[int] = set()

    def add(self, listener: Listener, *, first: bool = False) -> Callable[[], None]:
        """Tell `listener` every event from now on, last or first; return the function that ends that."""
        self._listeners = [listener, *self._listeners] if first else [*self._listeners, listener]
        subscribed = True

        def unsubscribe() -> None:
            nonlocal subscribed
            if subscribed:
                subscribed = False
                listeners = self._listeners.copy()
                listeners.remove(listener)
                self._listeners = listeners
                self._complained.discard(id(listener))  # another may get its address

        return unsubscribe

    def tell(
        self, event: Event, those: Sequence[Listener] | None = None, leaving: BaseException | None = None
    ) -> Telling | None:
        """Call the listeners, or `those`; return what is left to do once one of them has to be waited for.

        Raises:
            KeyboardInterrupt, SystemExit: raised by a listener, or `leaving`; all were told first.
        """
        listeners = self._listeners if those is None else those
        for index, listener in enumerate(listeners):
            try:
                result = listener(event)
            except BaseException as error:  # noqa: BLE001 - a listener must not break the run
                leaving = self._complain(listener, error) or leaving
                continue
            if result is None or not is_awaitable(result):
                continue
            begun = as_coroutine(result)
            try:
                blocker = begun.send(None)
            except StopIteration:
                continue
            except BaseException as error:  # noqa: BLE001 - a listener must not break the run
                leaving = self._complain(listener, error) or leaving
                continue
            return Telling(self, event, listener, (begun, blocker), listeners[index + 1 :], leaving)
        if leaving is not None:
            raise leaving
        return None

    def _complain(self, listener: Listener, error: BaseException) -> BaseException | None:
        """Report a listener's failure, once for each listener; return it where it ends the program."""
        if isinstance(error, KeyboardInterrupt | SystemExit):
            return error
        if id(listener) not in self._complained:
            self._complained.add(id(listener))
            report(log, f"a listener failed; the run goes on: {_name_of(listener)}", error)
        return None


def _name_of(listener: Listener) -> str:
    """What a listener is, in a word: its own words may be anything."""
    try:
        return str(listener.__qualname__)
    except Exception:  # noqa: BLE001 - an object of foreign code
        return type(listener).__name__


class Telling:
    """An event of which not everyone was told yet, because an async listener is at work."""

    def __init__(
        self,
        listeners: Listeners,
        event: Event,
        listener: Listener,
        begun: tuple[Coroutine[Any, Any, Any], Any],
        others: Sequence[Listener],
        leaving: BaseException | None,
    ) -> None:
        self._listeners = listeners
        self._event = event
        self._listener = listener
        self._begun = begun
        self._others = others
        self._leaving = leaving

    async def finish(self, wait: Wait) -> None:
        """Wait for one listener with `wait`, then call the others in order and wait for them likewise.

        Raises:
            KeyboardInterrupt, SystemExit: raised by a listener; all were told first.
        """
        telling: Telling | None = self
        while telling is not None:
            error = await wait(telling._listener, *telling._begun)
            leaving = telling._leaving
            if error is not None:
                leaving = self._listeners._complain(telling._listener, error) or leaving
            telling = self._listeners.tell(self._event, telling._others, leaving)
