"""A `TextArea` that is safe for any text: the base class of all editors.

It works around faults of Textual's `TextArea`: undo after a long paste crashed the app; control characters in the text
reached the terminal; each row of a repaint joined the whole text; a key at a bracket searched the whole text; the cursor
blinked; letters overtook keys pressed before them; a text was wrapped word by word, and twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.selection import Selection
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import Document, DocumentNavigator, Edit, EditResult, TextAreaTheme

from tui.commands.registry import binding
from tui.terminal.sanitise import sanitise, stand_ins
from tui.terminal.textual_compat.ordered_keys import OrderedKeys
from tui.terminal.textual_compat.soft_wrap import FastWrapped, places

LONG_LINE = 4_000
"""Characters from which a line is drawn row by row."""


PLAIN = TextAreaTheme(
    "plain",
    gutter_style=Style.null(),
    cursor_line_style=Style.null(),
    cursor_line_gutter_style=Style.null(),
    bracket_matching_style=Style.null(),
)
"""The look of a text without line numbers, in which neither the cursor's line nor brackets are marked."""


class SafeTextArea(OrderedKeys, TextArea, inherit_css=False):
    """A `TextArea` for text of any size and origin. Pasted text is sanitised.

    It has its own style, and styles only those parts that are shown: all parts of Textual's text areas, in three of them,
    are a tenth of what is styled and parsed before the first paint.
    """

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "text-area--cursor",
        "text-area--selection",
        "text-area--placeholder",
    }

    BINDINGS: ClassVar[list[BindingType]] = [
        binding("text.start"),
        binding("text.end"),
        Binding("ctrl+shift+home", "text_start(True)", show=False),
        Binding("ctrl+shift+end", "text_end(True)", show=False),
    ]

    def get_selection(self, selection: Selection) -> None:
        """Return no text: it has a selection of its own."""

    def __init__(self, text: str = "", **options: Any) -> None:
        self._whole: str | None = None
        self._rows_before = 0
        placeholder = options.pop("placeholder", "")
        super().__init__(text, **options)
        self.register_theme(PLAIN)
        self.theme = "plain"
        self.cursor_blink = False
        self.match_cursor_bracket = False
        self.set_placeholder(str(placeholder))

    @property
    def is_empty(self) -> bool:
        """Whether there is no text, without joining it."""
        return self.document.line_count == 1 and not self.document.get_line(0)

    @property
    def text(self) -> str:
        """The whole text; joined once per change."""
        if self._whole is None:
            self._whole = self.document.text
        return self._whole

    @text.setter
    def text(self, value: str) -> None:
        self.load_text(value)

    def set_placeholder(self, text: str) -> None:
        """Show `text`, sanitised, while the text area is empty."""
        self.placeholder = Content(sanitise(text))

    def find_matching_bracket(self, bracket: str, search_from: tuple[int, int]) -> tuple[int, int] | None:
        """Return where the bracket's partner is; not searched for unless it is shown."""
        return super().find_matching_bracket(bracket, search_from) if self.match_cursor_bracket else None

    def get_line(self, line_index: int) -> Text:
        """Return a line as it is shown: control characters are replaced by visible signs."""
        line = self.document.get_line(line_index)
        return self.shown(line, 0, len(line))

    def shown(self, line: str, start: int, end: int) -> Text:
        """Return the characters from `start` to `end` of a line as they are shown, each in its column."""
        return Text(stand_ins(line[start:end]), end="", no_wrap=True)

    def edit(self, edit: Edit) -> EditResult:
        """Perform an edit."""
        self._whole = None
        try:
            return super().edit(edit)
        finally:
            self._whole = None

    def load_text(self, text: str) -> None:
        """Replace the whole text and forget what could be undone."""
        self._whole = None
        super().load_text(text)
        self._whole = None

    def _set_document(self, text: str, language: str | None) -> None:
        # As the base class does it for a plain text, but the rows are found once, where it finds them twice.
        self._highlight_query = None
        self.document = Document(text)
        self.wrapped_document = FastWrapped(self.document, self.wrap_width, self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)
        self._build_highlight_map()
        self.move_cursor((0, 0))
        self._line_cache.clear()
        self._refresh_size()

    async def _on_paste(self, event: events.Paste) -> None:
        # The base class would insert the text as it came; its own handler must not run after this one.
        event.prevent_default()
        event.stop()
        if self.read_only:
            return
        if result := self._insert_sanitised(event.text):
            self.move_cursor(result.end_location)  # and no focus: a key pressed since may have led elsewhere

    def action_text_start(self, select: bool = False) -> None:
        """Go to the beginning of the text, selecting up to there if `select`."""
        self.move_cursor((0, 0), select=select)

    def action_text_end(self, select: bool = False) -> None:
        """Go to the end of the text, selecting up to there if `select`."""
        self.move_cursor(self.document.end, select=select)

    def action_paste(self) -> None:
        """Insert what the program itself copied last, as a paste."""
        if not self.read_only and (result := self._insert_sanitised(self.app.clipboard)):
            self.move_cursor(result.end_location)

    def _insert_sanitised(self, text: str) -> EditResult | None:
        return self._replace_via_keyboard(sanitise(text), *self.selection)

    def _undo_batch(self, edits: Sequence[Edit]) -> None:
        self._whole = None
        super()._undo_batch(edits)
        self._whole = None

    def _redo_batch(self, edits: Sequence[Edit]) -> None:
        self._whole = None
        super()._redo_batch(edits)
        self._whole = None

    def _on_resize(self) -> None:
        # The base class, whose handler is called as well, wraps the text to the new width and leaves on the screen
        # what may have been drawn before that.
        self.refresh()
        # A cursor that was in view stays in view; someone who has scrolled away from it stays where they read.
        row, top = self._cursor_offset[1], self.scroll_offset.y
        if self.has_focus and top <= row < top + self._rows_before:
            self.call_after_refresh(self.scroll_cursor_visible)
        self._rows_before = self.content_size.height or self._rows_before

    def _recompute_cursor_offset(self) -> None:
        # While an undo is under way the cursor may be on a line that no longer exists (Textual #6686).
        row, column = self.cursor_location
        row = min(row, self.document.line_count - 1)
        column = min(column, len(self.document.get_line(row)))
        self._cursor_offset = self.wrapped_document.location_to_offset((row, column))

    def _render_line(self, y: int) -> Strip:
        """Return a row. Of a very long line only the row is looked at, where the base class cuts up all of it."""
        row = y + self.scroll_offset.y
        table = places(self.wrapped_document)
        if not self.soft_wrap or self.show_line_numbers or self._highlights or row >= len(table):
            return super()._render_line(y)
        line_index, section = table[row]
        line = self.document.get_line(line_index)
        if len(line) <= LONG_LINE:
            return super()._render_line(y)
        offsets = self.wrapped_document.get_offsets(line_index)
        start = offsets[section - 1] if section else 0
        end = offsets[section] if section < len(offsets) else len(line)
        return self._render_stretch(line_index, line, start, end)

    def _render_stretch(self, line_index: int, line: str, start: int, end: int) -> Strip:
        """Return the characters from `start` to `end` of a line as a row, with selection and cursor."""
        theme = self._theme
        base = theme.base_style or self.rich_style
        shown = self.shown(line, start, end)
        if end == len(line):
            shown.append(" ")
        first, last = sorted(self.selection)
        if theme.selection_style is not None and first != last and first[0] <= line_index <= last[0]:
            left = first[1] if first[0] == line_index else 0
            right = last[1] if last[0] == line_index else len(line)
            shown.stylize(theme.selection_style, max(left - start, 0), max(right - start, 0))
        row, column = self.selection.end
        is_here = row == line_index and start <= column and (column < end or end == len(line))
        if is_here and self._draw_cursor and theme.cursor_style is not None:
            shown.stylize(theme.cursor_style, column - start, column - start + 1)
        shown.expand_tabs(self.indent_width)
        strip = Strip(shown.render(self.app.console), shown.cell_len)
        width = self.scrollable_content_region.width
        return strip.extend_cell_length(width, base).crop(0, width).apply_style(base)
