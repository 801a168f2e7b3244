"""A one-line field: an `Input` for text of any origin, of limited length."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip
from textual.widgets import Input

from tui.terminal.textual_compat.ordered_keys import OrderedKeys
from tui.terminal.visible_controls import from_shown, to_shown, with_signs
from tui.widgets.plain_text import in_one_line
from tui.widgets.text.ellipsis import with_ellipsis

LIMIT = 2_000
"""Characters that a field takes."""


class LineInput(OrderedKeys, Input):
    """An `Input` that holds hidden characters as stand-ins and takes a paste as one line.

    A longer text that is stored somewhere is shown by its beginning and cannot be edited here.
    """

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    def get_selection(self, selection: Selection) -> None:
        """Return no text: it has a selection of its own."""

    def __init__(
        self, text: str = "", *, hint: str = "", name: str | None = None, id: str | None = None
    ) -> None:
        self.typed: Callable[[], None] | None = None
        """Called at once when the text changes."""
        self._too_long: str | None = None
        """The text, where it is longer than a field takes."""
        super().__init__(placeholder=hint, name=name, id=id, select_on_focus=False, max_length=LIMIT)
        self.cursor_blink = False  # nothing is sent while nothing happens
        if text:
            self.raw = text

    # -- the text -------------------------------------------------------------------------------------

    @property
    def raw(self) -> str:
        """The text as it is to be stored."""
        return from_shown(self.value) if self._too_long is None else self._too_long

    @raw.setter
    def raw(self, text: str) -> None:
        self._too_long = text if len(text) > LIMIT else None
        self.value = text[:LIMIT]
        if not self.has_focus:
            self._show_beginning()

    def validate_value(self, value: str) -> str:
        return to_shown(in_one_line(value))

    def validate(self, value: str) -> None:
        """Allow any text, without the class for what is valid: each change of it styles the field once more."""

    def watch_value(self) -> None:
        if self.typed is not None:
            self.typed()

    def replace(self, text: str, start: int, end: int) -> None:
        """Replace the text between two indexes, with the cursor after it."""
        if self._too_long is not None:
            self.restricted()
            return
        self._initial_value = False  # else the base class does not scroll to the cursor
        super().replace(to_shown(in_one_line(text)), start, end)

    def restricted(self) -> None:
        """Say why an edit is refused."""
        self.notify(f"A field takes at most {LIMIT:,} characters.", severity="warning", markup=False)

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.replace(event.text, *self.selection)

    # -- how it is drawn ------------------------------------------------------------------------------

    def _drawn(self, text: str) -> str:
        """Return a part of the text as it is drawn, one character for each."""
        return with_signs(text).replace("\t", " ")

    @property
    def _value(self) -> Text:
        return Text(self._drawn(self.value), no_wrap=True, overflow="ignore", end="")

    def _position_to_cell(self, position: int) -> int:
        return cell_len(self._drawn(self.value[:position]))

    def _cell_offset_to_index(self, offset: int) -> int:
        cell = max(0, offset + self.scroll_offset.x)
        return bisect_right(range(len(self.value) + 1), cell, key=self._position_to_cell) - 1

    def render_line(self, y: int) -> Strip:
        strip, width = super().render_line(y), self.scrollable_content_region.width
        # In a field with the focus the text scrolls with the cursor.
        cut = not self.has_focus and (self.content_width - bool(self.value) > width or self._too_long)
        return with_ellipsis(strip, width) if cut and not y else strip

    def _show_beginning(self) -> None:
        """Show how the text begins; the cursor stays where it is."""
        self.scroll_to(x=0, animate=False, force=True, immediate=True)

    def on_blur(self) -> None:
        self._show_beginning()

    def on_focus(self) -> None:
        if not self.mouse_hover:  # a click goes by what is in sight
            self.scroll_to_region(Region(self._cursor_offset, 0, 1, 1), force=True, animate=False)
