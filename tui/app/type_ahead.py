"""What is typed right behind a key that opens or closes something, or moves the focus, is kept until that has happened.

Over a slow line, from a macro or `tmux send-keys`, several keys come in one read; a dialog needs a moment to open, and
a key its way through the widgets. The letters meant for what comes would go to what was there before, or to a list that
takes them for commands. What takes time, as opening a persona from a slow disk, is waited for however long that is:
`tui.ways` knows what is under way. In the first moments, while the home is being read, what is for a pane that is not
there yet is kept as well, and is done in order once it is: `tui.screens.being_read` knows what is there.
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

from tui.app.loading_gate import AT_ONCE
from tui.app.navigation import Ways
from tui.commands.registry import BY_ID, Command, command_of, keymap_of
from tui.terminal.sanitise import sanitise
from tui.terminal.textual_compat.input_parser import UnmarkedPaste
from tui.terminal.textual_compat.ordered_keys import OrderedKeys

if TYPE_CHECKING:
    from textual.app import App
    from textual.events import Event
    from textual.widget import Widget

LONGEST = 0.4
"""Seconds after which keys go on although nothing has opened or begun: what the key asked for was refused."""

LONGEST_CLOSING = 0.1
"""The same for a dialog that is to close: it goes at once or, what was given being refused, not at all."""

LOOK_EVERY = 0.005
"""Seconds between two looks whether that is so. Looks are counted, not seconds: of these a busy machine takes more."""

TELL_AFTER = 1.0
"""Seconds after which it is said that what is pressed waits for the home."""

SLOW_AFTER = 1.0
"""The same for what was asked for; from then on Esc ends the waiting."""

SAY_AGAIN = 4.0
"""Seconds for which that stands there."""

OPENING = frozenset(
    {
        *("switch_persona", "find", "recall", "help", "compare", "choose_model", "program_settings"),
        *(
            "clear_conversation",
            "new",
            "new_persona",
            "duplicate",
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

NOT_WAITED_FOR = "That is not waited for any more."
"""What is told where the person ends the waiting."""

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
        self.ways = Ways(self._way_begins)
        self._led = False  # what is under way is waited for, or a dialog over the screen
        self._behind = False  # that was waited for before what goes on
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
        elif self._passes(event):
            return False
        assert self._held is not None
        if not (self._quits(event) or self._ends_waiting(event)):
            self._held.append(event)
        return True

    # -- while something is under way -----------------------------------------------------------------------

    def _way_begins(self) -> None:
        """Something that leads elsewhere is under way: hold what is typed until it is there."""
        self._behind = True
        if self._app.screen_stack:
            self._begin(self._until_there(), on_its_way=False)
            self._led = True
            self._say_later(SLOW_AFTER)

    async def _until_there(self) -> None:
        """Wait until nothing is under way, and no dialog to which that did not lead lies over the screen."""
        while self._app.screen_stack and (self.ways.busy or self._is_covered):
            await self.ways.news(0.05)
        if self._app.screen_stack and len(self._app.screen_stack) > 1:
            await self._until_focused(None, LONGEST)
        self._end_wait()

    @property
    def _is_covered(self) -> bool:
        """Whether what has the keys is a dialog for which nothing was pressed that is held."""
        top = self._app.screen
        return len(self._app.screen_stack) > 1 and (
            top is not self.ways.dialog or not getattr(top, "may_take", True)
        )

    def _is_for_a_row(self, event: events.Key) -> bool:
        focused = self._app.focused
        if focused is None or not getattr(focused, "KEYS_ARE_COMMANDS", False):
            return False
        return event.is_printable or event.key in focused._bindings.key_to_bindings

    def _pressed_later(self, event: Event) -> bool:
        """Whether a key was pressed when it was to be seen that what is under way takes its time."""
        return self.ways.busy and event.time - self.ways.since >= SLOW_AFTER

    def _ends_waiting(self, event: events.Key | events.Paste) -> bool:
        """Wait no longer if Esc was pressed and a slow disk is waited for; return whether it was."""
        if not (isinstance(event, events.Key) and self._pressed_later(event)):
            return False
        if self._command(event).id != "back" or len(self._app.screen_stack) != 1:
            return False
        self.ways.leave()
        self._app.screen.leave_opening()  # type: ignore[attr-defined]
        self.give_back(NOT_WAITED_FOR, always=True)
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

    def give_back(self, why: str = "", *, always: bool = False) -> None:
        """Put the text among what waits for the home into the chat bar: it will not be there.

        `why`: what is told then; `always`: whatever it waits for, and also where there is no text.
        """
        if not (self._early or always):
            return
        held, self._held, self._waiting = [*self._going, *(self._held or [])], None, None
        self._going.clear()
        self._on_its_way = False
        self._give(self._end() + "".join(map(_text_in, held)), why)

    def _begin_early(self, held: list[Event | Deed]) -> None:
        self._held = held
        if not self._early:
            self._early = True
            self._say_later(TELL_AFTER)

    def _end(self) -> str:
        """Nothing is waited for any more; return the text that nothing took."""
        self._early = self._led = self._behind = False
        self._under_way.clear()
        if self._notice is not None:
            self._notice.stop()
        refused, self._refused = self._refused, ""
        return refused

    def _give(self, text: str, why: str = "") -> None:
        if text.strip() or why:
            self._app.screen_stack[0].give_text(text.strip("\n"), why)  # type: ignore[attr-defined]

    def _say_later(self, seconds: float) -> None:
        if self._notice is not None:
            self._notice.stop()
        self._notice = self._app.set_timer(seconds, self._say_held)

    def _say_held(self) -> None:
        if self._held is not None and len(self._app.screen_stack) == 1:
            if self.ways.busy:
                self._app.screen.say_slow()  # type: ignore[attr-defined]
                self._say_later(SAY_AGAIN)
            elif self._held and self._early:
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
        if not (self._early or self._led):
            return False
        if len(self._app.screen_stack) > 1:
            top = self._app.screen
            for_it = top is not self.ways.dialog and getattr(top, "may_take", True)
            return for_it if self._led else self._waiting is None
        if not isinstance(event, events.Key):
            return False
        if self._led and not self._held and not self.ways.lists_wait and self._is_for_a_row(event):
            return True
        command = self._command(event).id
        return command == "quit" or (command == "copy" and self._pressed_later(event))

    def _quits(self, event: events.Key | events.Paste) -> bool:
        """End the program if this is the second of two keys that do so; return whether it is."""
        if not (self._early or self.ways.busy):
            return False
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
        """Whether this is text, held for what was not there yet, that turned out to take none."""
        return (
            (self._early or self._behind)
            and getattr(self._app.focused, "read_only", False)
            and bool(_text_in(item))
        )

    async def obey(self, event: Event) -> bool:
        """Do at once what a key means in a list; False where it goes its usual way, through the widget's queue.

        What came as one run of characters is keys again where nothing takes a text.
        """
        if isinstance(event, UnmarkedPaste) and not event.is_forwarded:
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
        self._on_its_way, self._led = on_its_way, False
        self._waiting = asyncio.create_task(wait)

    async def _follow(self, first: Widget) -> None:
        """Wait until a key has gone from widget to widget up to the app, and then what these told in their turn."""
        looks = int(LONGEST / LOOK_EVERY)
        for widget in [*first.ancestors_with_self] * 2:
            reached = asyncio.Event()
            widget.call_later(reached.set)
            # One that goes tells nothing any more.
            while widget.is_running and not reached.is_set() and looks > 0:
                looks -= 1
                with suppress(TimeoutError):
                    await asyncio.wait_for(reached.wait(), LOOK_EVERY)
        self._end_wait()

    async def _wait(self, before: Widget | None, longest: float) -> None:
        await self._until_focused(before, longest)
        self._end_wait()

    async def _until_focused(self, before: Widget | None, longest: float) -> None:
        """Wait until another widget than `before` has the keys."""
        looks = int(longest / LOOK_EVERY)
        # A program that ends meanwhile has no screen any more.
        while self._app.screen_stack and self._app.focused in (before, None) and looks > 0:
            looks -= 1
            await asyncio.sleep(LOOK_EVERY)

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
        self._waiting, self._led = None, False
        if self.ways.take_failure():
            self.give_back(always=True)
            return
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
        if refused := self._end():
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
