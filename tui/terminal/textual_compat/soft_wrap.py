"""Breaks the rows of an editor as Textual does, but a line of printable ASCII takes no walk through its words.

1 MB of prose: 0.12 s, with Textual's `WrappedDocument` 1.05 s, which a person waits for at each change of the width.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual._wrap import compute_wrap_offsets
from textual.expand_tabs import get_tab_widths
from textual.widgets.text_area import Location, WrappedDocument

Place = tuple[int, int]
"""A line, and which of its rows; both from 0."""

# One list for all lines that have the same: nobody changes them, and a long text is made of few objects.
_NONE: list[int] = []
_END: list[int] = [0]


class FastWrapped(WrappedDocument):
    """A wrapped text for an editor of texts of any length."""

    @property
    def height(self) -> int:
        """How many rows there are; the base class counts all lines for every row it draws."""
        return len(self._offset_to_line_info)

    def wrap(self, width: int, tab_width: int | None = None) -> None:
        """Break all lines at `width` cells; at 0, none."""
        self._width = width
        if tab_width:
            self._tab_width = tab_width
        self._wrap_offsets, self._tab_width_cache = self._broken(self.document.lines)
        self._offset_to_line_info, self._line_index_to_offsets = _laid(self._wrap_offsets, 0, 0)

    def wrap_range(self, start: Location, old_end: Location, new_end: Location) -> None:
        """Break anew what an edit changed.

        Args:
            start: where it began.
            old_end: where what it replaced ended.
            new_end: where it ends.
        """
        places, rows = self._offset_to_line_info, self._line_index_to_offsets
        most, old_most = self.document.line_count - 1, len(rows) - 1
        begin, old = max(0, min(start[0], most, old_most)), max(0, min(old_end[0], old_most))
        top, old_bottom, bottom = min(begin, old), max(begin, old), max(begin, min(new_end[0], most))
        row, old_below = rows[top][0], rows[old_bottom][-1] + 1
        breaks, tabs = self._broken(self.document.lines[top : bottom + 1])
        new_places, new_rows = _laid(breaks, top, row)
        down, further = row + len(new_places) - old_below, bottom - old_bottom
        if further:
            places[old_below:] = [(line + further, part) for line, part in places[old_below:]]
        if down:
            rows[old_bottom + 1 :] = [[y + down for y in ys] for ys in rows[old_bottom + 1 :]]
        places[row:old_below] = new_places
        for table, new in (
            (rows, new_rows),
            (self._tab_width_cache, tabs),
            (self._wrap_offsets, breaks),
        ):
            table[top : old_bottom + 1] = new

    def _broken(self, lines: Sequence[str]) -> tuple[list[list[int]], list[list[int]]]:
        """Return where each line is broken, and how wide its tabs are (and, as the base class has it, its end)."""
        width, tab_width = self._width, self._tab_width
        breaks: list[list[int]] = []
        tabs: list[list[int]] = []
        for line in lines:
            if line.isascii() and line.isprintable():
                breaks.append(plain_breaks(line, width) if 0 < width < len(line) else _NONE)
                tabs.append(_END if line else _NONE)
            else:
                sections = get_tab_widths(line, tab_width)
                breaks.append(compute_wrap_offsets(line, width, tab_width, True, sections) if width else [])
                tabs.append([size for _, size in sections])
        return breaks, tabs


def places(wrapped: WrappedDocument) -> list[Place]:
    """Return for each row of a wrapped text where it is."""
    return wrapped._offset_to_line_info


def _laid(breaks: Sequence[Sequence[int]], line: int, row: int) -> tuple[list[Place], list[list[int]]]:
    """Return the place of each row, and the rows of each line, from a line and a row on."""
    places: list[Place] = []
    rows: list[list[int]] = []
    for number, cuts in enumerate(breaks, line):
        begin = row + len(places)
        if cuts:
            places += [(number, part) for part in range(len(cuts) + 1)]
            rows.append([*range(begin, begin + len(cuts) + 1)])
        else:
            places.append((number, 0))
            rows.append([begin])
    return places, rows


def plain_breaks(text: str, width: int) -> list[int]:
    """Return where Textual's editor breaks a line of printable ASCII into rows of at most `width` cells.

    A word takes the blanks behind it along; one too long for a row begins a row and is cut.
    """
    found: list[int] = []
    start, size = 0, len(text)
    while size - start > width:
        edge = last = start + width
        if text[edge] == " ":  # it is of the word before it, which does not fit then
            last = start + len(text[start:edge].rstrip(" "))
        start = text.rfind(" ", start, last) + 1 or edge
        found.append(start)
    return found
