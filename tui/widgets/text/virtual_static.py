"""A text of any length of which only the rows that are seen are laid out, each as Textual would lay it out."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from rich._wrap import divide_line
from rich.cells import cell_len
from rich.segment import Segment
from textual.cache import LRUCache
from textual.content import Content, Span
from textual.css.styles import RulesMap
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual, VisualType

from tui.widgets.plain_text import LiteralStatic, content

TAB = 8
_WIDTHS = 4
"""Widths for which the places of the rows are kept: with and without a scrollbar, before and after."""
_LETTER = re.compile("[^ ]")


class _Rows(NamedTuple):
    """Where the rows are at one width.

    Attributes:
        starts: the row each line begins at, and at last how many there are.
        breaks: where a line goes on in another row, of lines of more than one.
    """

    starts: list[int]
    breaks: dict[int, Sequence[int]]


class LongText(Visual):
    """A text of any length, left-aligned and wrapped. What is not seen costs no more than to count its rows.

    Args:
        lines: the text, harmless.
        spans: the styles of it, counted over all lines and their line ends.
    """

    def __init__(self, lines: Sequence[str], spans: Sequence[Span] = ()) -> None:
        self._lines = lines
        self._spans = spans
        self._begins = list(accumulate((len(line) + 1 for line in lines), initial=0)) if spans else []
        self._rows: LRUCache[int, _Rows] = LRUCache(_WIDTHS)

    @classmethod
    def of(cls, text: Content) -> LongText:
        """Return literal content as a long text."""
        return LongText(text.plain.split("\n"), text.spans)

    def __str__(self) -> str:
        return "\n".join(self._lines)

    def at(self, width: int) -> LongText:
        """Return what is shown at a width."""
        return self

    def line(self, number: int) -> Content:
        """Return a line with its styles."""
        text = self._lines[number]
        if not self._spans:
            return Content(text)
        begin = self._begins[number]
        return _cut(text, self._spans, begin, begin + len(text), begin)

    def row(self, y: int, width: int, style: Style, options: RenderOptions) -> Strip:
        """Return row `y` at a width, empty below the last."""
        starts, breaks = self._rows_at(width)
        if not 0 <= y < starts[-1]:
            return Strip([])
        number = bisect_right(starts, y) - 1
        line, part, cuts = self.line(number), y - starts[number], breaks.get(number, ())
        shown = line.expand_tabs(TAB)
        span = options.selection.get_span(number) if options.selection is not None else None
        if span is not None and options.selection_style is not None:
            # Counted in the text as it was, tabs and all.
            first, last = (len(shown) if at == -1 else len(line[:at].expand_tabs(TAB)) for at in span)
            shown = shown.stylize(options.selection_style, first, last)
        begin, end = [0, *cuts][part], [*cuts, len(shown)][part]
        row = _cut(shown.plain[begin:end], shown.spans, begin, end, begin)
        if part < len(cuts):
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
        return self._rows_at(width).starts[-1] if width > 0 else 0

    def _rows_at(self, width: int) -> _Rows:
        found = self._rows.get(width)
        if found is None:
            breaks: dict[int, Sequence[int]] = {}
            counts = [1] * len(self._lines)
            for number in [number for number, most in enumerate(self._most) if most > width]:
                if cuts := self._breaks(number, width):
                    breaks[number] = cuts
                    counts[number] += len(cuts)
            found = self._rows[width] = _Rows(list(accumulate(counts, initial=0)), breaks)
        return found

    @cached_property
    def _most(self) -> list[int]:
        """The cells that each line takes at most; of one that is not plain, more than any width."""
        return [len(line) if line.isascii() and line.isprintable() else sys.maxsize for line in self._lines]

    def _breaks(self, number: int, width: int) -> Sequence[int]:
        """Return where a line goes on in another row."""
        text = self._lines[number]
        if "\t" in text:
            text = text.expandtabs(TAB) if text.isascii() else self.line(number).expand_tabs(TAB).plain
        if text.isascii() and text.isprintable():
            return ascii_breaks(text, width)
        return divide_line(text, width) if cell_len(text) > width else ()


def _cut(text: str, spans: Sequence[Span], begin: int, end: int, less: int) -> Content:
    """Return the content of a stretch: its text, and of all spans what lies in it, moved back by `less`."""
    mine = [
        Span(max(span.start, begin) - less, min(span.end, end) - less, span.style)
        for span in spans
        if span.start < end and span.end > begin
    ]
    return Content(text, mine)


def ascii_breaks(text: str, width: int) -> list[int]:
    """Return where Textual breaks one line of printable ASCII, row by row instead of word by word."""
    found: list[int] = []
    size, indent = len(text.rstrip(" ")), len(text) - len(text.lstrip(" "))
    start = 0
    while size - start > width:
        edge = start + width
        # The word that does not fit any more; the blanks before the first one are of it.
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


class LongStatic(LiteralStatic):
    """A `LiteralStatic` for a text of any length: what it shows is a `LongText`, or has one for each width (`at`)."""

    def __init__(self, text: VisualType = "", **kwargs: Any) -> None:
        super().__init__(_long(text), **kwargs)
        self._source = text

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        """Show `content`; a string is taken literally. What is shown already is not laid out again."""
        before, self._source = self._source, content
        if not _is_same(before, content):
            super().update(_long(content), layout=layout)

    def render_line(self, y: int) -> Strip:
        """Return a row: the compositor asks for those that are seen."""
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
        if self.auto_links and not self.screen._selecting:
            row = row._apply_link_style(self.link_style)
        return row


def _long(value: VisualType) -> VisualType:
    if isinstance(value, str):
        value = content(value)
    return LongText.of(value) if isinstance(value, Content) else value


def _is_same(one: VisualType, other: VisualType) -> bool:
    if isinstance(one, Content) and isinstance(other, Content):
        return one.is_same(other)
    return isinstance(one, str) and isinstance(other, str) and one == other
