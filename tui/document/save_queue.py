"""The texts of slots on their way into their files, one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tui.document.document import OpenDocument
    from tui.document.text_slot import TextSlot


class SaveQueue:
    """Saves slots in the order in which that is asked for; one that waits already is not queued twice.

    Args:
        save: saves a slot; it calls `begins` when it takes the slot's text.
        start: runs something beside the screen.
    """

    def __init__(
        self,
        save: Callable[[OpenDocument, TextSlot], Coroutine[Any, Any, None]],
        start: Callable[[Coroutine[Any, Any, Any]], Any],
    ) -> None:
        self._save, self._start = save, start
        self._waiting: dict[TextSlot, Awaitable[Any]] = {}
        self._all: set[asyncio.Task[Any]] = set()

    def __bool__(self) -> bool:
        return bool(self._all)

    def request(self, document: OpenDocument, slot: TextSlot) -> None:
        """Have a slot saved as it is when its turn comes."""
        if slot not in self._waiting:
            task = self._waiting[slot] = self._start(self._save(document, slot))
            self._all.add(task)
            task.add_done_callback(self._all.discard)
            task.add_done_callback(lambda _: self._end(slot, task))

    def begins(self, slot: TextSlot) -> None:
        """A slot's text is taken to be saved: what is typed from now on needs another turn."""
        self._waiting.pop(slot, None)

    def _end(self, slot: TextSlot, task: Awaitable[Any]) -> None:
        if self._waiting.get(slot) is task:
            del self._waiting[slot]

    async def settled(self) -> None:
        """Wait until everything that was asked for is saved, or could not be."""
        while self._all:
            await asyncio.wait(set(self._all))
