"""A terminal that is too small: it shows only that it is, and no key or click does anything that is not seen.

That holds for the main screen (`TooSmall`) and for a dialog over it (`TooSmallDialog`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from textual import events
from textual.screen import Screen
from textual.widget import Widget

from tui.commands.registry import BY_ID, keymap_of, keys_of
from tui.screens.main.layout import SMALLEST, too_small
from tui.widgets.plain_text import LiteralStatic

if TYPE_CHECKING:
    from tui.screens.main.screen import MainScreen

Result = TypeVar("Result")

STILL = ("copy", "quit", "redraw")
"""Commands whose keys work all the same: one can always stop what runs, and leave."""


class _Blind(Screen[Result]):
    """A screen that shows nothing of itself while the terminal is too small."""

    @property
    def shows_nothing(self) -> bool:
        """Whether only that is shown now."""
        width, height = self.app.size
        return self.is_current and (width < SMALLEST[0] or height < SMALLEST[1])

    def is_blind_to(self, event: events.Event) -> bool:
        """Whether a key or a paste is for what is not seen now."""
        if not isinstance(event, events.Key | events.Paste) or not self.shows_nothing:
            return False
        if isinstance(event, events.Paste):
            return self._lets_go_by(event)
        keymap = keymap_of(self.app)
        if any(event.key in keys_of(BY_ID[name], keymap) for name in STILL):
            return False
        return not event.is_printable or self._lets_go_by(event)

    def _lets_go_by(self, text: events.Key | events.Paste) -> bool:
        """Whether what is typed goes nowhere now."""
        return True

    def _forward_event(self, event: events.Event) -> None:
        # What was pressed before can be let go of.
        if (
            isinstance(event, events.MouseEvent)
            and not isinstance(event, events.MouseUp)
            and self.shows_nothing
        ):
            return
        super()._forward_event(event)


class TooSmall(_Blind[None]):
    """The main screen. What is written in its chat bar is kept, not sent."""

    def _lets_go_by(self, text: events.Key | events.Paste) -> bool:
        # A text that is begun now would be no answer to a question that nobody sees, and a digit would pick one.
        bar = cast("MainScreen", self).chat_bar
        return self.focused is not bar.input or bar.mode == "asking"


class TooSmallDialog(_Blind[Result]):
    """A dialog: below a cover it stays as it is, and is there again when the terminal grows."""

    def cover(self) -> bool:
        """Lay the cover over the dialog, or take it away, as the size asks for; return whether it lies there."""
        width, height = self.app.size
        is_small = width < SMALLEST[0] or height < SMALLEST[1]
        if is_small and not self.query("#too-small"):
            self.mount(LiteralStatic(too_small(width, height), id="too-small"))
        for cover in self.query("#too-small").results(LiteralStatic):
            cover.update(too_small(width, height))
            cover.display = is_small
        return is_small

    def _reset_focus(self, widget: Widget, avoiding: list[Widget] | None = None) -> None:
        if avoiding or not self.shows_nothing:  # else it has no room now, and is seen again
            super()._reset_focus(widget, avoiding)
