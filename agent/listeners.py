"""Listeners of a run's events: told in order, awaited one after the other, isolated from each other."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from agent.events import Event

log = logging.getLogger(__name__)

Listener = Callable[[Event], Any]


class Listeners:
    """Those who listen, in the order in which they subscribed.

    Args:
        on_cancel: called when the task that tells them is cancelled meanwhile; they are told all the same.
    """

    def __init__(self, *, on_cancel: Callable[[], None]) -> None:
        self._listeners: list[Listener] = []
        self._complained: set[int] = set()
        self._on_cancel = on_cancel

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

        return unsubscribe

    def tell(self, event: Event) -> Awaitable[None] | None:
        """Call the listeners; return what is left to await once one of them is async."""
        listeners = self._listeners
        leaving: BaseException | None = None
        for index, listener in enumerate(listeners):
            try:
                result = listener(event)
            except BaseException as error:  # noqa: BLE001 - a listener must not break the run
                leaving = self._complain(listener, error) or leaving
                continue
            if result is not None and inspect.isawaitable(result):
                return self._go_on(event, result, listener, listeners[index + 1 :], leaving)
        if leaving is not None:
            raise leaving
        return None

    async def _go_on(
        self,
        event: Event,
        pending: Awaitable[Any],
        listener: Listener,
        others: Sequence[Listener],
        leaving: BaseException | None,
    ) -> None:
        """Await one listener, then call and await the others in order."""
        leaving = await self._await(pending, listener) or leaving
        for other in others:
            try:
                result = other(event)
            except BaseException as error:  # noqa: BLE001 - a listener must not break the run
                leaving = self._complain(other, error) or leaving
                continue
            if result is not None and inspect.isawaitable(result):
                leaving = await self._await(result, other) or leaving
        if leaving is not None:
            raise leaving

    async def _await(self, pending: Awaitable[Any], listener: Listener) -> BaseException | None:
        """Await one listener; return what ends the program, if it raised that."""
        try:
            await pending
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                self._on_cancel()  # the run closes everything, then ends
                task.uncancel()
            else:
                self._complain(listener, error)
        except BaseException as error:  # noqa: BLE001 - a listener must not break the run
            return self._complain(listener, error)
        return None

    def _complain(self, listener: Listener, error: BaseException) -> BaseException | None:
        """Report a listener's failure, once for each listener; return it where it ends the program."""
        if isinstance(error, KeyboardInterrupt | SystemExit):
            return error
        if id(listener) not in self._complained:
            self._complained.add(id(listener))
            log.error("a listener failed; the run goes on: %r", listener, exc_info=error)
        return None
