"""A list of rows of one or two lines with a cursor and marks; only the visible rows are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.commands.registry import bindings
from tui.terminal.sanitise import both_ends, one_line
from tui.widgets.plain_text import NotSelectable
from tui.widgets.theme_styles import ink


class SecondLine(NamedTuple):
    """What stands under a row.

    Attributes:
        sign: one sign of one cell before the text, empty for none.
        tone: how the sign is drawn.
        text: any text; shown as one sanitised line.
        notes: any texts, at the right end as far as they fit, the most important first.
        dim: whether the text is drawn dim.
    """

    text: str
    sign: str = ""
    tone: str = "foreground-muted"
    notes: tuple[str, ...] = ()
    dim: bool = False


class Row(NamedTuple):
    """One row.

    Attributes:
        key: what identifies it.
        head: a short name before the text, any text.
        text: any text; shown as one sanitised line.
        tail: any text, at the right end.
        tone: how it is drawn.
        current: whether it is marked as the open one.
        head_cells: the least width of the column of `head`, so that the texts are aligned.
        whole_end: a text that is too long loses its middle, not its end.
        below: its second line; where one row has one, all rows have two lines.
    """

    key: str
    text: str
    head: str = ""
    tail: str = ""
    tone: Literal["", "error", "dim", "fresh"] = ""
    current: bool = False
    head_cells: int = 0
    whole_end: bool = False
    below: SecondLine | None = None


POINTER, CURRENT, MARK = "›", "▎", "■"
"""The signs of a row, the same in every list: the cursor, the open or current row, a marked row."""
PREFIX_CELLS = 2
"""Cells before a row: one for the cursor, one for `CURRENT` or `MARK`."""

TONES = {"error": ("text-error",), "dim": ("foreground-muted",), "fresh": ("", "success-muted")}


class VirtualList(NotSelectable, ScrollView, can_focus=True):
    """Rows with a cursor. Posts `Chosen` when one is opened, `Highlighted` when the cursor moves."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list")]

    cursor: reactive[int] = reactive(0, init=False)

    class Chosen(Message):
        """A row was opened, by Enter or a click."""

        def __init__(self, rows: VirtualList, key: str) -> None:
            super().__init__()
            self.rows = rows
            self.key = key

        @property
        def control(self) -> VirtualList:
            return self.rows

    class Highlighted(Message):
        """The cursor moved to another row."""

        def __init__(self, rows: VirtualList, key: str) -> None:
            super().__init__()
            self.rows = rows
            self.key = key

        @property
        def control(self) -> VirtualList:
            return self.rows

    class Marked(Message):
        """A row was marked or unmarked."""

    def __init__(
        self,
        *,
        empty: str = "",
        id: str | None = None,
        classes: str | None = None,
        choose_on_click: bool = True,
        mark_on_click: bool = False,
        lit: bool = False,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._rows: Sequence[Row] = ()
        self._lines = 1  # of each row
        self.empty = empty
        self._choose_on_click, self._mark_on_click = choose_on_click, mark_on_click
        self._lit = lit
        self._base = Style()  # of the rows that are drawn now
        self._marks: set[str] = set()

    @property
    def rows(self) -> Sequence[Row]:
        """The rows as they were set."""
        return self._rows

    @property
    def key(self) -> str | None:
        """The key of the row under the cursor."""
        return self._rows[self.cursor].key if self.cursor < len(self._rows) else None

    @property
    def marked(self) -> list[str]:
        """The keys of the rows that carry a mark, in order."""
        return [row.key for row in self._rows if row.key in self._marks] if self._marks else []

    def toggle_mark(self, by: int = 1) -> None:
        """Mark or unmark the row under the cursor and go on `by` rows."""
        if (key := self.key) is not None:
            self._marks ^= {key}
            self.cursor += by
            self.refresh()
            self.post_message(self.Marked())

    def mark_all(self) -> None:
        """Mark all rows; where all are marked, none."""
        keys = {row.key for row in self._rows}
        self._marks = self._marks - keys if keys <= self._marks else self._marks | keys
        self.refresh()
        self.post_message(self.Marked())

    def clear_marks(self) -> bool:
        """Unmark all rows; return whether any was marked."""
        had, self._marks = bool(self.marked), set()
        self.refresh()
        self.post_message(self.Marked())
        return had

    def set_rows(self, rows: Sequence[Row], *, key: str | None = None) -> None:
        """Show these rows; the cursor stays on its key, or goes to `key`.

        Args:
            rows: what to show.
            key: where the cursor goes.
        """
        wanted = key if key is not None else self.key
        old = self.cursor
        self._rows = rows
        self._lines = 2 if any(row.below is not None for row in rows) else 1
        place = next((index for index, row in enumerate(rows) if row.key == wanted), None)
        self.virtual_size = Size(0, len(rows) * self._lines)
        self.set_reactive(VirtualList.cursor, min(old, max(0, len(rows) - 1)) if place is None else place)
        self.show_cursor()
        self.refresh()

    def select(self, key: str) -> None:
        """Put the cursor on a key, if there is such a row."""
        for index, row in enumerate(self._rows):
            if row.key == key:
                self.cursor = index
                return

    def watch_cursor(self, old: int, new: int) -> None:
        self.show_cursor()
        self.refresh()
        if (key := self.key) is not None:
            self.post_message(self.Highlighted(self, key))

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self._rows) - 1))

    def on_resize(self) -> None:
        self.show_cursor()

    def show_cursor(self) -> None:
        """Scroll the row under the cursor into view."""
        if self.is_mounted:
            region = Region(0, self.cursor * self._lines, 1, self._lines)
            self.scroll_to_region(region, animate=False, force=True)

    def action_step(self, by: int) -> None:
        self.cursor += by

    def action_jump(self, to: int) -> None:
        self.cursor = to if to >= 0 else len(self._rows) - 1

    def action_page(self, by: int) -> None:
        self.cursor += by * max(1, self.size.height // self._lines - 1)

    def action_choose(self) -> None:
        if (key := self.key) is not None:
            self.post_message(self.Chosen(self, key))

    def on_click(self, event: events.Click) -> None:
        place = (event.y + self.scroll_offset.y) // self._lines
        if event.y >= 0 and place < len(self._rows):
            again = place == self.cursor
            self.cursor = place
            if self._mark_on_click and event.x < PREFIX_CELLS:
                self.toggle_mark(by=0)
            elif self._choose_on_click or (again and event.chain > 1):
                self.action_choose()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        self._base = self.rich_style  # once: of all that a row costs, it is the most
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        index, line = divmod(y + self.scroll_offset.y, self._lines)
        base = self._base
        if index >= len(self._rows):
            if not self._rows and y == 0 and self.empty:
                dim = base + ink(self, "foreground-muted")
                return Strip(
                    [Segment(set_cell_size(" " + one_line(self.empty, width - 1), width), dim)], width
                )
            return Strip.blank(width, base)
        row, under_cursor = self._rows[index], index == self.cursor
        if line:
            return self._draw_below(row.below or SecondLine(""), under_cursor, width, base)
        return self._draw(row, under_cursor, width, base)

    def _draw_below(self, below: SecondLine, under_cursor: bool, width: int, base: Style) -> Strip:
        muted = base + ink(self, "foreground-muted")
        style, sign_style = muted if below.dim else base, base + ink(self, below.tone, bold=True)
        if under_cursor:
            above = self._cursor_style()
            style, muted, sign_style = style + above, muted + above, sign_style + above
        tail = ""
        for note in below.notes:
            longer = f"{tail} · {one_line(note, width)}" if tail else one_line(note, width)
            if cell_len(longer) > width // 2:
                break
            tail = longer
        tail = f" {tail} " if tail else " "
        head = set_cell_size("", PREFIX_CELLS)
        room = max(0, width - PREFIX_CELLS - 2 - cell_len(tail))
        text = set_cell_size(one_line(below.text, room), room)
        segments = [Segment(head, style), Segment(below.sign or " ", sign_style), Segment(" ", style)]
        return Strip([*segments, Segment(text, style), Segment(tail, muted)]).adjust_cell_length(width, style)

    def _cursor_style(self) -> Style:
        if self.has_focus or self._lit:
            return ink(self, "contrast", "accent", bold=True)
        return ink(self, back="panel")

    def _draw(self, row: Row, under_cursor: bool, width: int, base: Style) -> Strip:
        style, tail_style = base, base + ink(self, "foreground-muted")
        if row.tone:
            style += ink(self, *TONES[row.tone])
        if row.current:
            style += ink(self, "text-accent", bold=True)
        if under_cursor:
            above = self._cursor_style()
            style, tail_style = style + above, tail_style + above
        marked = row.key in self._marks
        pointer = POINTER if under_cursor else " "
        sign = MARK if marked else CURRENT if row.current else " "
        tail = one_line(row.tail, max(0, width // 2))
        tail = f" {tail} " if tail else " "
        room = max(0, width - PREFIX_CELLS - cell_len(tail))
        head = one_line(row.head, room // 2)
        column = max(row.head_cells, cell_len(head))
        head = f"{set_cell_size(head, column)}  " if column else ""
        room -= cell_len(head)
        text = set_cell_size((both_ends if row.whole_end else one_line)(row.text, room), room)
        head_style = style if under_cursor or row.tone else style + ink(self, "text-secondary")
        return Strip(
            [
                Segment(pointer, style),
                Segment(
                    sign,
                    style + ink(self, "text-warning", bold=True) if marked and not under_cursor else style,
                ),
                Segment(head, head_style),
                Segment(text, style),
                Segment(tail, tail_style),
            ]
        ).adjust_cell_length(width, style)
