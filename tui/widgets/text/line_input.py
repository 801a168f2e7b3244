"""A one-line field for text of any origin and size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widgets import Input
from textual.widgets.input import Selection

from tui.terminal.textual_compat.ordered_keys import OrderedKeys
from tui.terminal.visible_controls import from_shown, to_shown, with_signs
from tui.widgets.plain_text import NotCopied
from tui.widgets.text.ellipsis import with_ellipsis
from tui.widgets.text.line_metrics import MeasuredLine

WORD = 500
"""Characters in which the start of a word is looked for first."""


class Field(NotCopied, OrderedKeys, Input):
    """An `Input` that holds hidden characters as stand-ins and takes a paste as one line.

    Of a long text only what is in sight is drawn, and only what an edit touches is measured and looked through, where
    the base class does all of it for the whole text, several times a key.
    """

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    def __init__(
        self, text: str = "", *, hint: str = "", id: str | None = None, compact: bool = True
    ) -> None:
        self.typed: Callable[[], None] | None = None
        """Called at once when the text changes."""
        self._clean = ""  # what is known to hold nothing that has no place in a field
        self._measured = MeasuredLine(self._drawn)
        super().__init__(
            to_shown(_line(text)), placeholder=hint, id=id, compact=compact, select_on_focus=False
        )
        self.cursor_blink = False  # nothing is sent while nothing happens

    def _drawn(self, text: str) -> str:
        """Return a part of the text as it is drawn, each character in the place of one."""
        return with_signs(text).replace("\t", " ")

    @property
    def _columns(self) -> MeasuredLine:
        self._measured.measure(self.value)
        return self._measured

    @property
    def content_width(self) -> int:
        if self.placeholder and not self.value:
            return cell_len(self.placeholder)
        return self._columns.cells + 1  # for the cursor

    def _position_to_cell(self, position: int) -> int:
        return self._columns.cells_before(position)

    def _cell_offset_to_index(self, offset: int) -> int:
        return self._columns.place_at(offset + self.scroll_offset.x)

    def render_line(self, y: int) -> Strip:
        if y or not self.value:
            strip, cells = super().render_line(y), cell_len(self.placeholder)
        else:
            strip, cells = self._text_in_sight(), self._columns.cells
        width = self.scrollable_content_region.width
        # With the keys in it the text moves along with the cursor.
        return strip if y or self.has_focus or cells <= width else with_ellipsis(strip, width)

    def _text_in_sight(self) -> Strip:
        """Return the row that is in sight, with selection and cursor."""
        columns, value = self._columns, self.value
        left, width = self.scroll_offset.x, self.scrollable_content_region.width + 1
        first, last = columns.place_at(left), columns.place_at(left + width) + 1
        shown = Text(self._drawn(value[first:last]), no_wrap=True, end="")
        if self.has_focus:
            start, end = sorted(self.selection)
            if end > start:
                style = self.get_component_rich_style("input--selection")
                shown.stylize_before(style, max(start - first, 0), max(end - first, 0))
            if self._cursor_visible and self.cursor_position >= first:
                if self.cursor_at_end:
                    shown.pad_right(1)
                style = self.get_component_rich_style("input--cursor")
                shown.stylize(style, self.cursor_position - first, self.cursor_position - first + 1)
        cut = left - columns.cells_before(first)
        strip = Strip(shown.render(self.app.console)).crop(cut, cut + width)
        return strip.extend_cell_length(width).apply_style(self.rich_style)

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

    def watch_value(self) -> None:
        if self.typed is not None:
            self.typed()

    def validate_value(self, value: str) -> str:
        return value if value is self._clean else to_shown(_line(value))

    def replace(self, text: str, start: int, end: int) -> None:
        """Put `text` in the place of what stands between two places, and the cursor behind it."""
        text, value = to_shown(_line(text)), self.value
        start, end = sorted((max(0, start), min(len(value), end)))
        self._initial_value = False  # of a first value the base class does not show where the cursor is
        self._clean = f"{value[:start]}{text}{value[end:]}"
        self.value = self._clean
        self.cursor_position = start + len(text)

    def action_cursor_left_word(self, select: bool = False) -> None:
        """Go to the start of the word before the cursor, selecting up to there if `select`."""
        target = self._word_before()
        self.selection = Selection(self.selection.start if select else target, target)

    def action_delete_left_word(self) -> None:
        """Delete back to the start of the word before the cursor, or what is selected."""
        if self.selection.is_empty:
            self.delete(self._word_before(), self.cursor_position)
        else:
            self.delete_selection()

    def _word_before(self) -> int:
        """Return where the word before the cursor starts; looked for from there, not from the beginning."""
        end, reach = self.cursor_position, WORD
        while True:
            start = max(0, end - reach)
            hits = [*self._WORD_START.finditer(self.value[start:end])]
            if hits or not start:
                return start + hits[-1].start() if hits else 0
            reach *= 4

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.replace(event.text, *self.selection)


def _line(text: str) -> str:
    return " ".join(text.splitlines()) if "\n" in text or "\r" in text else text
