"""What the person asked for that leads elsewhere and is under way: what is pressed behind it waits until it is there.

A way begins with a command that opens a persona or a dialog, and again with the answer given to a dialog. It ends where
it has led: the persona is shown, the dialog is open, the deed is done; or it fails.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    from tui.screens.dialogs.base import Dialog


class Ways:
    """The ways that are under way, each as the task that goes it.

    Args:
        began: called when one begins.
    """

    def __init__(self, began: Callable[[], None]) -> None:
        self._began = began
        self._under_way: set[asyncio.Task[Any]] = set()
        self._watched: WeakSet[asyncio.Task[Any]] = WeakSet()
        self._left: WeakSet[asyncio.Task[Any]] = WeakSet()
        self._in_list: WeakSet[asyncio.Task[Any]] = WeakSet()
        self._failed = False
        self._news = asyncio.Event()
        self.dialog: Dialog[Any] | None = None
        """The dialog to which the last one has led."""
        self.since = monotonic()
        """When the first of those under way began."""

    @property
    def busy(self) -> bool:
        """Whether one is under way."""
        return bool(self._under_way)

    @property
    def lists_wait(self) -> bool:
        """Whether also a key for a row of a list waits for one of them."""
        return not self._under_way <= self._in_list

    def lists_go_on(self) -> None:
        """A key for a row does not wait for the task that calls: it is for the row that is seen, by whom it is checked."""
        if (task := asyncio.current_task()) is not None:
            self._in_list.add(task)

    def begin(self, task: asyncio.Task[Any] | None = None) -> None:
        """A task, by default the one that calls, leads elsewhere; one that is not waited for any more stays so."""
        task = task or asyncio.current_task()
        if task is None or task.done() or task in self._left or task in self._under_way:
            return
        if not self._under_way:
            self.since = monotonic()
        self._under_way.add(task)
        if task not in self._watched:
            self._watched.add(task)
            task.add_done_callback(self._end)
        self._began()

    def arrive(self, dialog: Dialog[Any] | None = None) -> None:
        """The task that calls is where it leads: to a dialog, or what is shown on the main screen."""
        task = asyncio.current_task()
        if task is not None and task in self._watched:
            self.dialog = dialog or self.dialog
            self._end(task)

    def fail(self) -> None:
        """The task that calls does not get where it should lead, which is told by who calls."""
        if (task := asyncio.current_task()) in self._under_way and task is not None:
            self._failed = True
            self._end(task)

    def take_failure(self) -> bool:
        """Return whether one has failed since the last time this was asked."""
        failed, self._failed = self._failed, False
        return failed

    def leave(self) -> None:
        """The person waits no longer for those that are under way."""
        self._left.update(self._under_way)
        self._under_way.clear()
        self._news.set()

    @property
    def is_left(self) -> bool:
        """Whether the task that calls is not waited for any more."""
        return asyncio.current_task() in self._left

    async def news(self, within: float) -> None:
        """Wait until one has ended, at most so many seconds."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), within)
        self._news.clear()

    def _end(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        self._news.set()
