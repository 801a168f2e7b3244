"""A one-line field for text of any origin."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text
from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import Input

from tui.editable import from_shown, to_shown, with_signs
from tui.widgets.cut import with_ellipsis
from tui.widgets.ordered_keys import OrderedKeys


class Field(OrderedKeys, Input):
    """An `Input` that holds hidden characters as stand-ins and takes a paste as one line."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    def __init__(
        self, text: str = "", *, hint: str = "", id: str | None = None, compact: bool = True
    ) -> None:
        super().__init__(
            to_shown(_line(text)), placeholder=hint, id=id, compact=compact, select_on_focus=False
        )
        self.cursor_blink = False  # nothing is sent while nothing happens

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        width = self.scrollable_content_region.width
        shown = self._value if self.value else Text(self.placeholder)
        # With the keys in it the text moves along with the cursor.
        return strip if y or self.has_focus or shown.cell_len <= width else with_ellipsis(strip, width)

    @property
    def _value(self) -> Text:
        return Text(with_signs(self.value), no_wrap=True, overflow="ignore", end="")

    @property
    def raw(self) -> str:
        """The text as it is to be stored."""
        return from_shown(self.value)

    @raw.setter
    def raw(self, text: str) -> None:
        self.value = to_shown(_line(text))
        if not self.has_focus:
            self._show_beginning()

    def _show_beginning(self) -> None:
        """Show how the text begins; the cursor stays where it is."""
        self.scroll_to(x=0, animate=False, force=True, immediate=True)

    def on_blur(self) -> None:
        self._show_beginning()

    def on_focus(self) -> None:
        if not self.mouse_hover:  # a click goes by what is in sight
            self.scroll_to_region(Region(self._cursor_offset, 0, 1, 1), force=True, animate=False)

    def validate_value(self, value: str) -> str:
        return to_shown(_line(value))

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.replace(to_shown(_line(event.text)), *self.selection)


def _line(text: str) -> str:
    return " ".join(text.splitlines()) if "\n" in text or "\r" in text else text
