"""What is typed right behind a key that opens or closes something, or moves the focus, is kept until that has happened.

Over a slow line, from a macro or `tmux send-keys`, several keys come in one read; a dialog needs a moment to open, and
a key its way through the widgets. The letters meant for what comes would go to what was there before, or to a list that
takes them for commands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from textual import events

from tui.typed_runs import Typed
from tui.widgets.ordered_keys import OrderedKeys

if TYPE_CHECKING:
    from textual.app import App
    from textual.events import Event
    from textual.widget import Widget

LONGEST = 0.4
"""Seconds after which keys go on although nothing has opened: what the key asked for was refused, or takes its time."""

LONGEST_CLOSING = 0.1
"""The same for a dialog that is to close: it goes at once or, what was given being refused, not at all."""

OPENING = frozenset(
    {
        *("switch_persona", "find", "recall", "help", "compare", "choose_model", "program_settings"),
        *(
            "clear_conversation",
            "new",
            "new_persona",
            "rename",
            "edit",
            "delete",
            "restore",
            "filter",
            "choose",
        ),
    }
)
"""Actions of the main screen that open a dialog or a field."""

CLOSING = frozenset({"submit", "accept", "choose", "cancel"})
"""Actions of a dialog that close it, unless what was given is refused."""


class HeldKeys:
    """Holds back what is typed from such an action on until another widget has the keys.

    From any other key that may move the focus on it is held until that key has gone all its way.

    Args:
        app: whose keys these are.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._held: list[Event] | None = None
        self._waiting: asyncio.Task[None] | None = None
        self._on_its_way = False  # what is waited for is a key, which may yet begin an action

    def hold(self) -> None:
        """Keep what is typed until `release`: the program begins, and nothing is there to take it."""
        self._held = []

    def release(self) -> None:
        """What `hold` kept goes on, and what is typed from now on."""
        if self._held is not None and self._waiting is None:
            self._app.call_later(self._go_on)

    def take(self, event: Event) -> bool:
        """Keep a key or a paste for later; False when nothing is awaited and it may go on."""
        if self._held is None or not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            return False
        self._held.append(event)
        return True

    async def obey(self, event: Event) -> bool:
        """Do at once what a key means in a list; False where it goes its usual way, through the widget's queue.

        What came as one run of characters is keys again where nothing takes a text.
        """
        if isinstance(event, Typed) and not event.is_forwarded:
            if isinstance(self._app.focused, OrderedKeys):
                return False
            for key in event.pressed():
                await self._app.on_event(key)
            return True
        if not isinstance(event, events.Key) or event.is_forwarded:
            return False
        app = self._app
        if not app.screen_stack or not getattr(app.focused, "KEYS_ARE_COMMANDS", False):
            return False
        app.app_focus = True  # as any key tells, whatever the terminal said of its focus
        return await app._check_bindings(event.key, priority=True) or await app._check_bindings(event.key)

    def action_begins(self, action: str) -> None:
        """An action begins: hold what is typed from now on if it is one that gives the keys to something else."""
        name = action.partition("(")[0].rpartition(".")[2]
        names, longest = (
            (OPENING, LONGEST) if len(self._app.screen_stack) == 1 else (CLOSING, LONGEST_CLOSING)
        )
        if name not in names or (self._held is not None and not self._on_its_way):
            return
        self._begin(self._wait(self._app.focused, longest), on_its_way=False)

    def may_move(self, event: Event) -> bool:
        """Whether this is a key that may give the keys to something else, whichever widget it goes to.

        A letter where letters are written does not, nor does what moves a cursor there.
        """
        if self._held is not None or not isinstance(event, events.Key) or event.is_forwarded:
            return False
        if not self._app.screen_stack:
            return False
        focused = self._app.focused
        if not isinstance(focused, OrderedKeys):
            return True
        own = focused._bindings.key_to_bindings.get(event.key, ()) if event.key != "enter" else ()
        # A field scrolls nowhere: the key goes on from it.
        return not (event.is_printable or any(not one.action.startswith("scroll_") for one in own))

    def key_goes(self, before: Widget | None) -> None:
        """Such a key has been sent on its way, to `before` where it was for a widget: hold what comes behind it."""
        app = self._app
        if self._held is None and app.screen_stack and app.focused is before:
            self._begin(self._follow(before or app.screen), on_its_way=True)

    def _begin(self, wait: Coroutine[Any, Any, None], *, on_its_way: bool) -> None:
        self._held = self._held or []
        self._on_its_way = on_its_way
        self._waiting = asyncio.create_task(wait)

    async def _follow(self, first: Widget) -> None:
        """Wait until a key has gone from widget to widget up to the app, and then what these told in their turn."""
        clock = asyncio.get_running_loop().time
        end = clock() + LONGEST
        for widget in [*first.ancestors_with_self] * 2:
            reached = asyncio.Event()
            widget.call_later(reached.set)
            # One that goes tells nothing any more.
            while widget.is_running and not reached.is_set() and clock() < end:
                with suppress(TimeoutError):
                    await asyncio.wait_for(reached.wait(), 0.01)
        self._end_wait()

    async def _wait(self, before: Widget | None, longest: float) -> None:
        clock = asyncio.get_running_loop().time
        end = clock() + longest
        # A program that ends meanwhile has no screen any more.
        while (  # noqa: ASYNC110 - nobody tells of it
            self._app.screen_stack and self._app.focused in (before, None) and clock() < end
        ):
            await asyncio.sleep(0.005)
        self._end_wait()

    def _end_wait(self) -> None:
        self._app.call_later(self._go_on, asyncio.current_task())

    async def _go_on(self, waited: asyncio.Task[Any] | None = None) -> None:
        if waited is not self._waiting:  # something else is awaited by now
            return
        self._waiting = None
        held, self._held, self._on_its_way = self._held or [], None, False
        while held:
            await self._app.on_event(held.pop(0))
            if self._held is not None:  # this key opens something in its turn
                self._held.extend(held)
                return
