"""Keys take effect in the order in which they were pressed, however close together they come.

Textual hands a letter at once to the widget with the focus, but lets a key with a binding first rise through all
parents up to the app, each with a queue of its own. Over SSH, or from `tmux send-keys`, several keys come in one read:
letters then went to what had the focus before the key in front of them had opened a dialog or moved the focus. So a
key that may do that is let through all those queues before the next key is handed out, and, for a moment, until a
document that it opened is read. A slow disk is not waited for: then the next key goes to a document that is still empty.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from textual import events
from textual.widgets import Input, TextArea

from tui.terminal.textual_compat.input_parser import UnmarkedPaste

if TYPE_CHECKING:
    from textual.app import App
    from textual.events import Event
    from textual.message_pump import MessagePump

LONGEST = 1.0
"""Seconds after which the next key goes on although a widget still works on the one before."""

READING = 0.5
"""Seconds for which keys wait for what is being read, which on an ordinary disk takes a hundredth of that."""

ROUNDS = 3
"""How often in a row nothing may have changed: a key becomes a message, that a task, and the task opens a dialog."""


class KeyQueue:
    """The keys of a program that wait for the one before them.

    Args:
        app: the program.
        is_reading: whether the home, or what is open, is being read.
    """

    def __init__(self, app: App[Any], is_reading: Callable[[], bool]) -> None:
        self._app = app
        self._is_reading = is_reading
        self._waiting: deque[Event] = deque()
        self._under_way: asyncio.Task[None] | None = None
        self._has_begun = False
        self.is_there = False
        """Whether the first screen is there; until then keys wait."""

    def begin(self) -> None:
        """The first screen is there: what was typed before goes to it."""
        self.is_there = True
        self._app.call_later(self._go_on)

    def hold(self, event: Event) -> bool:
        """Keep a key, a paste or a change of the terminal's focus behind the key that is under way; False where it may
        go on at once. (Textual takes a key as a sign that the terminal has the focus again.)
        """
        if isinstance(event, events.AppFocus | events.AppBlur) and self._under_way is not None:
            self._waiting.append(event)
            return True
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            return False
        if self.is_there and self._under_way is None:
            if (
                isinstance(event, UnmarkedPaste) and not self._types
            ):  # what came as one run is keys where nothing takes text
                self._waiting.extendleft(reversed(list(event.pressed())))
                self._follow(asyncio.sleep(0))
                return True
            if self._has_begun or self._is_text(event) or len(self._app.screen_stack) > 1:
                return False
            self._has_begun = (
                True  # the first key that is no text waits until it is read which personas there are
            )
            self._waiting.appendleft(event)
            self._follow(self._until_read())
        else:
            self._waiting.append(event)
        return True

    def forget(self) -> None:
        """Another program had the terminal: what was typed before it began is not for what is shown now."""
        self._waiting.clear()

    def may_move(self, event: Event) -> bool:
        """Whether this is a key that may move the focus or open something: no text for an editor."""
        return isinstance(event, events.Key) and not event.is_forwarded and not self._is_text(event)

    def follow(self) -> None:
        """Such a key was handed out: the next one waits for it."""
        self._follow(self._until_settled())

    @property
    def _types(self) -> bool:
        return bool(self._app.screen_stack) and isinstance(self._app.focused, Input | TextArea)

    def _is_text(self, event: events.Key | events.Paste) -> bool:
        return self._types and (isinstance(event, events.Paste) or event.is_printable)

    def _follow(self, wait: Coroutine[Any, Any, None]) -> None:
        self._under_way = asyncio.create_task(self._wait(wait))

    async def _wait(self, wait: Coroutine[Any, Any, None]) -> None:
        waiting = asyncio.create_task(wait)
        await asyncio.wait({waiting}, timeout=LONGEST)
        waiting.cancel()
        self._app.call_later(self._go_on)

    async def _go_on(self) -> None:
        self._under_way = None
        while self._waiting and self._under_way is None:
            await self._app.on_event(self._waiting.popleft())

    async def _until_read(self) -> None:
        looks = int(READING / 0.005)
        while looks > 0 and len(self._app.screen_stack) == 1 and self._is_reading():
            looks -= 1
            await asyncio.sleep(0.005)

    async def _until_settled(self) -> None:
        """Wait until all queues on the way of a key were worked off and neither screen nor focus has changed since."""
        unchanged, before = 0, self._place
        while self._app.screen_stack and unchanged < ROUNDS:
            for pump in self._way:
                await _reach(pump)
            now = self._place
            unchanged = unchanged + 1 if now == before and not self._is_opening else 0
            before = now
        await self._until_read()

    @property
    def _place(self) -> tuple[object, object] | None:
        return (self._app.screen, self._app.focused) if self._app.screen_stack else None

    @property
    def _is_opening(self) -> bool:
        """Whether a dialog has not given the focus to any of its widgets yet, or is about to close."""
        if getattr(self._app.screen, "is_closing", False):
            return True
        if len(self._app.screen_stack) < 2 or self._app.focused is not None:
            return False
        return bool(self._app.screen.focus_chain)

    @property
    def _way(self) -> list[MessagePump]:
        """The queues from the widget with the focus to the app."""
        if not self._app.screen_stack:
            return []
        return [*(self._app.focused or self._app.screen).ancestors_with_self]


async def _reach(pump: MessagePump) -> None:
    """Wait until a queue was worked off so far; one that is closed meanwhile is not waited for."""
    reached = asyncio.Event()
    if not pump.is_running or not pump.call_later(reached.set):
        await asyncio.sleep(0)
        return
    waiting = asyncio.create_task(reached.wait())
    try:
        while pump.is_running and not waiting.done():
            await asyncio.wait({waiting}, timeout=0.02)
    finally:
        waiting.cancel()
