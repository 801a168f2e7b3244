"""What is typed right behind a key that opens or closes something, or moves the focus, is kept until that has happened.

Over a slow line, from a macro or `tmux send-keys`, several keys come in one read; a dialog needs a moment to open, and
a key its way through the widgets. The letters meant for what comes would go to what was there before, or to a list that
takes them for commands. In the first moments, while the home is being read, what is for a pane that is not there yet is
kept as well, and is done in order once it is: `tui.screens.being_read` knows what is there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from textual import events
from textual.timer import Timer

from tui.commands import BY_ID, Command, command_of, keymap_of
from tui.sanitise import sanitise
from tui.screens.being_read import AT_ONCE
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

TELL_AFTER = 1.0
"""Seconds after which it is said that what is pressed waits for the home."""

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

NONE = Command("", "", "", "")
"""What a key that leads nowhere from everywhere stands for."""

CLOSING = frozenset({"submit", "accept", "choose", "cancel"})
"""Actions of a dialog that close it, unless what was given is refused."""


@dataclass(eq=False)
class Deed:
    """What a key or a command asked for; `text` was typed for it."""

    do: Callable[[], object]
    text: str = ""


class HeldKeys:
    """Holds back what is typed from such an action on until another widget has the keys.

    From any other key that may move the focus on it is held until that key has gone all its way.

    Args:
        app: whose keys these are.
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._held: list[Event | Deed] | None = None
        self._waiting: asyncio.Task[None] | None = None
        self._on_its_way = False  # what is waited for is a key, which may yet begin an action
        self._going: list[Event | Deed] = []  # what goes on just now, one after the other
        self._early = False  # what is held was pressed before the home was read
        self._notice: Timer | None = None
        self._under_way: set[asyncio.Task[Any]] = (
            set()
        )  # what such keys began, and what is behind them waits for
        self._refused = ""  # what was typed for a text that turned out to take none

    def hold(self) -> None:
        """Keep what is typed until `release`: the program begins, and nothing is there to take it."""
        self._held = []

    def release(self) -> None:
        """What `hold` kept goes on, and what is typed from now on."""
        if self._held is not None and self._waiting is None:
            self._app.call_later(self._go_on)

    def take(self, event: Event) -> bool:
        """Keep a key or a paste for later; False when nothing is awaited and it may go on."""
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            return False
        if self._held is None:
            if not self._is_for_what_is_read(event):
                return False
            self._begin_early([])
        elif self._early and self._passes(event):
            return False
        assert self._held is not None
        if not (self._early and self._quits(event)):
            self._held.append(event)
        return True

    # -- while the home is read -----------------------------------------------------------------------------

    def keep(self, deed: Callable[[], object], text: str = "") -> None:
        """Do something once what it works on is read, before what is pressed from now on.

        `text`: what was typed for it.
        """
        kept = Deed(deed, text)
        if (
            self._held is not None and self._on_its_way
        ):  # the key that asks for it was pressed before all that is held
            self._held.insert(0, kept)
            self._waiting, self._on_its_way = None, False
            self._begin_early(self._held)
        elif self._held is not None:
            self._held.append(kept)
        else:
            self._begin_early([kept])

    def follow(self, task: asyncio.Task[Any]) -> None:
        """A key or command began this: those that were pressed behind it before the home was read wait for it."""
        if self._early:
            self._under_way.add(task)

    def give_back(self) -> None:
        """Put the text among what waits for the home into the chat bar: it will not be there."""
        if not self._early:
            return
        held, self._held, self._waiting = [*self._going, *(self._held or [])], None, None
        self._going.clear()
        self._on_its_way = False
        if text := self._end_early() + "".join(map(_text_in, held)):
            self._give(text)

    def _begin_early(self, held: list[Event | Deed]) -> None:
        self._held = held
        if not self._early:
            self._early = True
            self._notice = self._app.set_timer(TELL_AFTER, self._say_held)

    def _end_early(self) -> str:
        """Nothing waits for the home any more; return the text that nothing took."""
        self._early = False
        self._under_way.clear()
        if self._notice is not None:
            self._notice.stop()
        refused, self._refused = self._refused, ""
        return refused

    def _give(self, text: str) -> None:
        if text.strip():
            self._app.screen_stack[0].give_text(text.strip("\n"))  # type: ignore[attr-defined]

    def _say_held(self) -> None:
        if self._held and len(self._app.screen_stack) == 1:
            self._app.screen.say_held()  # type: ignore[attr-defined]

    def _is_for_what_is_read(self, event: events.Key | events.Paste) -> bool:
        """Whether a key is for a pane that is there only when the first persona is."""
        app = self._app
        if len(app.screen_stack) != 1 or not app.screen.awaits_persona:  # type: ignore[attr-defined]
            return False
        if app.focused is app.screen.chat_bar.input:  # type: ignore[attr-defined]
            return False
        return not (isinstance(event, events.Key) and self._command(event).action in AT_ONCE)

    def _passes(self, event: events.Key | events.Paste) -> bool:
        """Whether a key waits for nothing: it is for a dialog that opened meanwhile, or ends the program."""
        if len(self._app.screen_stack) > 1:
            return self._waiting is None
        return isinstance(event, events.Key) and self._command(event).id == "quit"

    def _quits(self, event: events.Key | events.Paste) -> bool:
        """End the program if this is the second of two keys that do so; return whether it is."""
        last = self._held[-1] if self._held else None
        both = [
            one for one in (last, event) if isinstance(one, events.Key) and self._command(one).id == "copy"
        ]
        if self._held is None or len(both) < 2 or len(self._app.screen_stack) > 1:
            return False
        self._held.pop()
        self._app.screen.action_leave()  # type: ignore[attr-defined]
        return True

    def _command(self, event: events.Key) -> Command:
        return BY_ID.get(command_of("anywhere", event.key, keymap_of(self._app)), NONE)

    def _is_refused(self, item: Event | Deed) -> bool:
        """Whether this is text, held since before the home was read, for what turned out to take none."""
        return self._early and getattr(self._app.focused, "read_only", False) and bool(_text_in(item))

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

    async def _until_done(self, tasks: set[asyncio.Task[Any]]) -> None:
        """Wait until what was begun is done, or asks something."""
        while self._app.screen_stack and len(self._app.screen_stack) == 1 and tasks:
            _, tasks = await asyncio.wait(tasks, timeout=0.02)
        self._under_way.clear()
        self._end_wait()

    async def _go_on(self, waited: asyncio.Task[Any] | None = None) -> None:
        if waited is not self._waiting:  # something else is awaited by now
            return
        self._waiting = None
        held, self._held, self._on_its_way = self._held or [], None, False
        self._going = held
        while held:
            if busy := {task for task in self._under_way if not task.done()}:
                self._held, self._going = held, []
                self._begin(self._until_done(busy), on_its_way=False)
                return
            await self._do(held.pop(0))
            if self._held is not None:  # this key opens something in its turn
                self._held.extend(held)
                self._going = []
                return
        if self._early and (refused := self._end_early()):
            # Below what went there before it.
            self._app.screen_stack[0].chat_bar.input.after_typing(lambda: self._give(refused))  # type: ignore[attr-defined]

    async def _do(self, item: Event | Deed) -> None:
        if isinstance(item, Deed):
            if isawaitable(done := item.do()):
                await done
        elif self._is_refused(item):
            self._refused += _text_in(item)
        else:
            await self._app.on_event(item)


def _text_in(item: Event | Deed) -> str:
    """Return what of a text something that was pressed is, commands on lines of their own."""
    if isinstance(item, Deed):
        return item.text and f"\n{item.text}\n"
    if isinstance(item, events.Paste):
        return sanitise(item.text)
    if isinstance(item, events.Key):
        return "\n" if item.key == "enter" else (item.character or "") if item.is_printable else ""
    return ""
