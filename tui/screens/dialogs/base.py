"""What all dialogs share: Esc closes them, keys pressed before one appeared do not answer it, and they fit.

A dialog's buttons, field and hint are always on the screen: what may be long has the class `gives`, scrolls, and
gets the rows the others leave. What is told meanwhile stands in the dialog and covers nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, TypeVar

from textual import events
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget

from tui.app.notifications import current_operation
from tui.commands.registry import BY_ID, Keymap, binding, first_key, hint, keymap_of, keys_of, sentence
from tui.screens.too_small import TooSmallOverlay, is_click, is_too_small, is_unseen, too_small
from tui.terminal.textual_compat.screen_hooks import ScreenHooks
from tui.terminal.textual_compat.toasts import ToastRack, notifications
from tui.widgets.clickable_hints import key_under, press, pressing
from tui.widgets.plain_text import LiteralStatic
from tui.widgets.text.ellipsis import EllipsisStatic
from tui.widgets.text.virtual_static import VirtualStatic
from tui.widgets.virtual_list import VirtualList

Result = TypeVar("Result")

GRACE = 0.3
"""Seconds after its appearance, and after a key that came within them, in which a dialog takes no answer."""

NEWS_FOR = 8.0
"""Seconds for which what is told in a dialog stays there, errors longer."""

JUST_NOW = 2.0
"""Seconds for which an error of the operation that opens a dialog is what the dialog is about."""

SHORT = 20
"""Rows of a screen below which a dialog takes all of them and leaves no blanks."""


class DialogText(VerticalScroll, can_focus=False):
    """A text of any length above what a dialog asks."""

    def __init__(self, text: str) -> None:
        super().__init__(VirtualStatic(text, classes="dialog-text"), classes="gives")

    def on_resize(self) -> None:
        # What was called after a refresh may have come before the layout that it was to wait for.
        if isinstance(self.screen, Dialog):
            self.screen.fit_soon()


class DialogMessage(EllipsisStatic):
    """What is told while a dialog is open: the other parts make room for it."""

    def on_resize(self) -> None:
        self.screen.fit_soon()  # type: ignore[attr-defined]


class Dialog(ScreenHooks, ModalScreen[Result]):
    """A dialog over the screen."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    VERTICAL_BREAKPOINTS = [(0, "-short"), (SHORT, "-high")]  # noqa: RUF012 - declared by Textual

    BINDINGS: ClassVar[list[BindingType]] = [
        binding("dialog.close"),
        binding("dialog.page_up"),
        binding("dialog.page_down"),
        binding("redraw"),
        binding("agent.undo"),
        binding("agent.redo"),
    ]

    grace: ClassVar[float] = 0.0

    def __init__(self) -> None:
        super().__init__()
        self._appeared: float | None = None  # when it was painted, and keys typed blindly had ended
        self._error = ""
        self._opened_by = current_operation()  # the one that opens it
        self._refused = False  # whether the error is what is wrong with the answer
        self._notifications_shown = 0  # how often something was told
        self._given: list[Result | None] = []

    def on_mount(self) -> None:
        self._see()
        self.query(ToastRack).remove()
        errors = [one for one in notifications(self.app) if one.severity == "error"]
        mine = self._opened_by is not None and (
            self._opened_by,
            errors[-1].message if errors else "",
        ) == getattr(self.app, "last_error", None)
        if mine and time.time() - errors[-1].raised_at < JUST_NOW:
            self.show_notification(errors[-1].message, error=True)
        self.fit_soon()

    def on_resize(self) -> None:
        self.fit_soon()
        self._see()

    # -- a terminal that is too small: below a cover the dialog stays as it is ---------------------------------

    @property
    def shows_nothing(self) -> bool:
        """Whether only that is shown now."""
        return self.is_current and is_too_small(self.app.size)

    def ignores(self, event: events.Event) -> bool:
        """Whether a key or a paste is for what is not seen now."""
        return self.shows_nothing and is_unseen(event, self.keymap)

    def lets_through(self, event: events.Event) -> bool:
        return not (is_click(event) and self.shows_nothing)

    def _lay_cover(self) -> bool:
        """Lay the cover over the dialog, or take it away, as the size asks for; return whether it lies there."""
        is_small = is_too_small(self.app.size)
        if is_small and not self.query(TooSmallOverlay):
            self.mount(TooSmallOverlay(id="too-small"))
        for cover in self.query(TooSmallOverlay):
            cover.update(too_small(self.app.size))
            cover.display = is_small
        return is_small

    def moves_focus(self, widget: Widget, avoiding: list[Widget] | None) -> bool:
        return bool(avoiding) or not self.shows_nothing  # else it has no room now, and is seen again

    def _see(self) -> None:
        """It comes into sight with the next painting, unless the terminal is too small."""
        if self._lay_cover():
            self._appeared = None
        elif self._appeared is None:
            self.call_after_refresh(self._appear)

    def _appear(self) -> None:
        if self._appeared is None and not self.shows_nothing:
            self._appeared = time.monotonic()

    @property
    def ready(self) -> bool:
        """Whether a key now was meant for this dialog."""
        return not self._given and self._is_seen

    @property
    def _is_seen(self) -> bool:
        return not self.grace or (
            self._appeared is not None and time.monotonic() - self._appeared >= self.grace
        )

    def on_key(self) -> None:
        # Who is still typing has not read it: what is typed on in the same breath is no answer either.
        if self._appeared is not None and not self._is_seen:
            self._appeared = max(self._appeared, time.monotonic())

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close with an answer. The first one counts: a second Enter or click may be on its way behind it already.

        Textual would take away whichever screen lies on top. A dialog over this one is not this one's to close:
        this one then goes when that one has gone.
        """
        if self._given:
            return AwaitComplete()
        self._given.append(result)
        return self._go()

    def _go(self) -> AwaitComplete:
        return super().dismiss(self._given[0]) if self.app.screen is self else AwaitComplete()

    def on_screen_resume(self) -> None:
        if self._given:
            self._go()

    def action_cancel(self) -> None:
        """Close without an answer."""
        self.dismiss(None)

    def action_redraw(self) -> None:
        """Send the whole screen again."""
        self.app.redraw()  # type: ignore[attr-defined]

    def action_undo_agent(self) -> None:
        """Undo the agent's last run: wherever the focus is."""
        self._make_room()
        self.app.screen_stack[0].action_undo_agent()  # type: ignore[attr-defined]

    def action_redo_agent(self) -> None:
        """Redo the agent's last run."""
        self._make_room()
        self.app.screen_stack[0].action_redo_agent()  # type: ignore[attr-defined]

    def _make_room(self) -> None:
        """A page to read has no place for what is told, nor may what it shows be true any more: it closes."""
        if self.query("VerticalScroll.dialog"):
            self.dismiss(None)

    def action_page(self, by: int) -> None:
        """Scroll the text, where it does not fit."""
        for text in self.query(DialogText):
            text.scroll_relative(y=by * max(1, text.size.height - 1), animate=False)

    def action_scroll_by(self, by: int) -> None:
        """Scroll a page to read by lines."""
        self.query_one(VerticalScroll).scroll_relative(y=by, animate=False)

    def on_click(self, event: events.Click) -> None:
        if key := key_under(event):
            press(self.app, key)
        elif event.widget is self:
            self.action_cancel()

    # -- keys -----------------------------------------------------------------------------------------------

    @property
    def keymap(self) -> Keymap:
        """The person's own keys."""
        return keymap_of(self.app)

    def key_hint(self, command_id: str, template: str) -> Content:
        """Return what is told of a command's key, `told` with the key for `{}`; a click on it presses the key."""
        keys = keys_of(BY_ID[command_id], self.keymap)
        return pressing(sentence(command_id, self.keymap, template), keys[0]) if keys else Content()

    @property
    def closes(self) -> Content:
        """How it is closed, for the border."""
        return self.key_hint("dialog.close", "{} closes")

    def hint(self, *parts: str | tuple[str, str]) -> LiteralStatic:
        """Return the last line: texts as they are, and (command, word) with the command's key before it."""
        return LiteralStatic(self._last_line(parts), classes="dialog-hint")

    def say_hint(self, *parts: str | tuple[str, str]) -> None:
        """Say something else in the last line."""
        self.query_one(".dialog-hint", LiteralStatic).update(self._last_line(parts))

    def _last_line(self, parts: Sequence[str | tuple[str, str]]) -> Content:
        return Content(" · ").join(pressing(*part) for part in hint(self.keymap, *parts))

    def labelled(self, command_id: str, word: str) -> str:
        """Return what stands on the button of a command: its key, and the word."""
        return sentence(command_id, self.keymap, f"{{}} {word}", word)

    # -- what is told meanwhile ---------------------------------------------------------------------------

    def show_notification(self, message: str, *, error: bool = False) -> None:
        """Show what is told while the dialog is open: the last error, and what was told last."""
        if error or not self._error:
            self._error = message if error else ""
        else:
            message = f"{self._error}\n{message}"
        box = next(iter(self.query(".dialog")), None)
        if not isinstance(box, Vertical):
            return
        banner = next(iter(self.query(DialogMessage)), None)
        if banner is None:
            last = next(iter(box.query(".dialog-buttons, .dialog-hint")), None)
            banner = DialogMessage(message, id="dialog-message")
            box.mount(banner, before=last)
        else:
            banner.update(message)
        banner.set_class(bool(self._error), "-error")
        self._notifications_shown += 1
        if not error:
            self.set_timer(NEWS_FOR, partial(self._end_news, self._notifications_shown))

    def refuse(self, why: str) -> None:
        """Say why an answer is not taken. The dialog stays with what was written, until that is changed."""
        self._refused = True
        self.show_notification(why, error=True)

    def end_refusal(self) -> None:
        """Another answer is being written: what was said of the one before goes."""
        if self._refused:
            self._refused, self._error = False, ""
            self.query(DialogMessage).remove()
            self.fit_soon()

    def _end_news(self, number: int) -> None:
        """What was told has been read; an error before it stays."""
        banner = next(iter(self.query(DialogMessage)), None)
        if banner is not None and number == self._notifications_shown:
            if self._error:
                banner.update(self._error)
            else:
                banner.remove()
            self.fit_soon()

    # -- fitting ------------------------------------------------------------------------------------------

    def fit_soon(self) -> None:
        """Share out the rows once it is known how many each part has."""
        self.call_after_refresh(self.fit)

    def fit(self) -> None:
        """Give what may be long the rows that the other parts leave."""
        for box in self.query(".dialog"):
            giving = [part for part in box.children if part.display and part.has_class("gives")]
            if not giving:
                continue
            parts = [part.virtual_region.grow(part.styles.margin) for part in box.children if part.display]
            taken = max(part.bottom for part in parts) - min(part.y for part in parts)
            taken -= sum(part.outer_size.height for part in giving)
            height = self.size.height
            room = (height if height < SHORT else height * 9 // 10) - box.gutter.height - taken
            shares = share([self.desired_rows(part) for part in giving], max(len(giving), room))
            for part, rows in zip(giving, shares, strict=True):
                part.styles.max_height = rows
        self.call_after_refresh(self.on_fitted)

    def desired_rows(self, part: Widget) -> int:
        """Return the rows a part would take if there were room for all of it."""
        if isinstance(part, VirtualList):
            return max(1, len(part.rows))
        return part.virtual_size.height + part.gutter.height

    def on_fitted(self) -> None:
        """The parts have their rows: say so where there is more text than fits; keep the chosen row in sight."""
        for rows in self.query(VirtualList):
            rows.show_cursor()
        for box in self.query(".dialog").results(Vertical):
            if texts := list(box.query(DialogText)):
                box.border_subtitle = (
                    self.key_hint("dialog.page_down", "{}: more text")
                    if any(text.max_scroll_y > 0 for text in texts)
                    else Content()
                )


def arrows(keymap: Keymap, up: str, down: str, word: str) -> str:
    """Return which two keys go up and down, with a word; arrows as arrows."""
    keys = [first_key(up, keymap), first_key(down, keymap)]
    text = " ".join({"Up": "↑", "Down": "↓"}.get(key, key) for key in keys if key)
    return f"{text} {word}".strip() if text else ""


def choosing(keymap: Keymap, word: str = "choose") -> str:
    """Return which keys go from row to row in a dialog."""
    return arrows(keymap, "dialog.up", "dialog.down", word)


def share(wishes: Sequence[int], room: int) -> list[int]:
    """Return how `room` is shared out: nobody gets more than its wish, and the modest get all of theirs."""
    shares = [0] * len(wishes)
    order = sorted(range(len(wishes)), key=lambda place: wishes[place])
    for count, place in enumerate(order):
        shares[place] = max(1, min(wishes[place], room // (len(wishes) - count)))
        room -= shares[place]
    return shares
