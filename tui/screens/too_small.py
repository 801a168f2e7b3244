"""A terminal that is too small: it shows only that it is, and no key or click does anything that is not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual import events
from textual.screen import Screen

from tui.commands import BY_ID, keys_of
from tui.screens.main_layout import SMALLEST

if TYPE_CHECKING:
    from tui.screens.main import MainScreen
else:
    MainScreen = Any

STILL = ("copy", "quit", "redraw")
"""Commands whose keys work all the same: one can always stop what runs, and leave."""


class TooSmall(Screen[None]):
    """The main screen while it shows nothing of itself. A dialog over it shows itself, at any size."""

    @property
    def _shows_nothing(self) -> bool:
        width, height = self.app.size
        return self.is_current and (width < SMALLEST[0] or height < SMALLEST[1])

    def is_blind_to(self, event: events.Event) -> bool:
        """Whether a key or a paste is for what is not seen now. What is written in the chat bar is kept, not sent."""
        if not isinstance(event, events.Key | events.Paste) or not self._shows_nothing:
            return False
        screen: MainScreen = self  # type: ignore[assignment]
        bar, keymap = screen.chat_bar, screen.keymap
        if isinstance(event, events.Key):
            if any(event.key in keys_of(BY_ID[name], keymap) for name in STILL):
                return False
            if not event.is_printable:
                return True
        # A text that is begun now would be no answer to a question that nobody sees, and a digit would pick one.
        return self.focused is not bar.input or bar.mode == "asking"

    def _forward_event(self, event: events.Event) -> None:
        # What was pressed before can be let go of.
        if (
            isinstance(event, events.MouseEvent)
            and not isinstance(event, events.MouseUp)
            and self._shows_nothing
        ):
            return
        super()._forward_event(event)
