"""A static text of any length: it is broken into rows once for each width, and only the visible rows are drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from rich._wrap import divide_line
from rich.cells import cell_len
from rich.segment import Segment
from textual.cache import LRUCache
from textual.content import Content
from textual.css.styles import RulesMap
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual, VisualType

from tui.terminal.textual_compat.links import with_link_style
from tui.widgets.plain_text import LiteralStatic, content

TAB = 8
_LETTER = re.compile("[^ ]")


class _Row(NamedTuple):
    """A row: characters `begin` to `end` of a line, and whether it is the last of the line."""

    line: int
    begin: int
    end: int
    is_last: bool


class WrappedText(Visual):
    """A text of any length, left-aligned and wrapped as Textual wraps it.

    Args:
        text: sanitised text.
    """

    def __init__(self, text: Content) -> None:
        self._text = text
        self._lines = text.plain.split("\n")
        self._styled = text.split("\n", allow_blank=True) if text.spans else None
        self._rows: LRUCache[int, list[_Row]] = LRUCache(4)

    def __str__(self) -> str:
        return self._text.plain

    def styled(self, text: Content) -> WrappedText:
        """Return the same text with styles; it is wrapped already."""
        other = WrappedText(text)
        other._rows = self._rows
        return other

    def at(self, width: int) -> WrappedText:
        """Return what is shown at a width."""
        return self

    def line(self, number: int) -> Content:
        """Return a line with its styles."""
        return self._styled[number] if self._styled is not None else Content(self._lines[number])

    def row(self, y: int, width: int, style: Style, options: RenderOptions) -> Strip:
        """Return row `y` at a width, empty below the last."""
        rows = self._rows_at(width)
        if not 0 <= y < len(rows):
            return Strip([])
        number, begin, end, is_last = rows[y]
        line = self.line(number)
        shown = line.expand_tabs(TAB)
        span = options.selection.get_span(number) if options.selection is not None else None
        if span is not None and options.selection_style is not None:
            # A selection counts characters of the text before its tabs were expanded.
            first, last = (len(shown) if at == -1 else len(line[:at].expand_tabs(TAB)) for at in span)
            shown = shown.stylize(options.selection_style, first, last)
        row = shown[begin:end]
        if not is_last:
            row = row.rstrip()
        row = row.truncate(width).rstrip_end(width)
        segments, x = [], begin
        for text, ink in row.render(style, end="", parse_style=options.get_style):
            segments.append(Segment(text, (style + ink).rich_style_with_offset(x, number)))
            x += len(text)
        return Strip(segments, row.cell_length)

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        count = self.get_height(options.rules, width)
        return [
            self.row(y, width, style, options) for y in range(count if height is None else min(count, height))
        ]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return max(cell_len(line.expandtabs(TAB)) for line in self._lines)

    def get_height(self, rules: RulesMap, width: int) -> int:
        return len(self._rows_at(width)) if width > 0 else 0

    def _rows_at(self, width: int) -> list[_Row]:
        rows = self._rows.get(width)
        if rows is None:
            rows = self._rows[width] = [*self._break(width)]
        return rows

    def _break(self, width: int) -> Iterator[_Row]:
        for number, text in enumerate(self._lines):
            if "\t" in text:
                text = self.line(number).expand_tabs(TAB).plain
            if text.isascii() and text.isprintable():
                breaks = ascii_breaks(text, width) if len(text) > width else []
            else:
                breaks = divide_line(text, width) if cell_len(text) > width else []
            edges = [0, *breaks, len(text)]
            for part, begin in enumerate(edges[:-1]):
                yield _Row(number, begin, edges[part + 1], part == len(breaks))


def ascii_breaks(text: str, width: int) -> list[int]:
    """Return where Textual breaks one line of printable ASCII: row by row, ten times as fast as `divide_line`."""
    found: list[int] = []
    size, indent = len(text.rstrip(" ")), len(text) - len(text.lstrip(" "))
    start = 0
    while size - start > width:
        edge = start + width
        # The word that does not fit; leading blanks belong to the first word.
        word = _next_letter(text, edge) if text[edge] == " " else text.rfind(" ", start, edge) + 1
        if word <= indent:
            word = 0
        end = text.find(" ", max(word, edge, indent))
        end = len(text) if end < 0 else end
        last = word + 1 if end - word <= width else _next_letter(text, end)
        rows = range(word, last, width)
        found += [row for row in rows if row]
        start = rows[-1]
    return found


def _next_letter(text: str, begin: int) -> int:
    match = _LETTER.search(text, begin)
    return match.start() if match is not None else len(text)


class VirtualStatic(LiteralStatic):
    """A `LiteralStatic` for a text of any length: it shows a `WrappedText`, or a visual that has one for each width (`at`)."""

    def __init__(self, text: VisualType = "", **kwargs: Any) -> None:
        super().__init__(_long(text), **kwargs)
        self._source = text

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        """Show `content`; a string is taken literally. What is shown already is not laid out again."""
        before, self._source = self._source, content
        if not _is_same(before, content):
            super().update(_long(content), layout=layout)

    def render_line(self, y: int) -> Strip:
        """Draw one row; the compositor asks for the visible ones."""
        self._dirty_regions.clear()
        width = self.size.width
        selection: Selection | None = self.text_selection
        marked = (
            Style.from_styles(self.screen.get_component_styles("screen--selection")) if selection else None
        )
        options = RenderOptions(self._get_style, self.styles, selection, marked)  # type: ignore[arg-type]
        visual: Any = self._render()
        style = self.visual_style
        row: Strip = visual.at(width).row(y, width, style, options)
        return with_link_style(self, row)


def _long(value: VisualType) -> VisualType:
    if isinstance(value, str):
        value = content(value)
    return WrappedText(value) if isinstance(value, Content) else value


def _is_same(one: VisualType, other: VisualType) -> bool:
    if isinstance(one, Content) and isinstance(other, Content):
        return one.is_same(other)
    return isinstance(one, str) and isinstance(other, str) and one == other
