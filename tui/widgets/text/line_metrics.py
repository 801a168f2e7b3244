"""The columns of one line of any length: measured in pieces, and after an edit only the pieces it touched. No widget."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise

from rich.cells import cell_len, get_character_cell_size

from personas.lines import common_length

PIECE = 1_000
"""Characters that are measured together."""
_JOINER = "\u200d"


class MeasuredLine:
    """Tells which cell a character stands in, and which character stands in a cell.

    Args:
        shown: what is drawn for a part of the line: as many characters, each in the place of one.
    """

    def __init__(self, shown: Callable[[str], str]) -> None:
        self._shown = shown
        self._text = ""
        self._starts = [0]  # of the pieces, and the end of the line
        self._cells = [0]  # before each of these

    @property
    def cells(self) -> int:
        """How wide the line is."""
        return self._cells[-1]

    def measure(self, text: str) -> None:
        """Have this for the line; of what it has in common with the one before nothing is measured again."""
        old = self._text
        if text is old:
            return
        same = common_length(old, text)
        most = min(len(old), len(text)) - same
        tail = common_length(old[len(old) - most :][::-1], text[len(text) - most :][::-1])
        # A piece more on either side: what is typed may join what stands beside it.
        first = max(0, bisect_right(self._starts, same) - 2)
        last = min(len(self._starts) - 1, bisect_right(self._starts, len(old) - tail) + 1)
        start, grown = self._starts[first], len(text) - len(old)
        cuts = [start, *self._cuts(text, start, self._starts[last] + grown)]
        widths = [cell_len(self._shown(text[begin:end])) for begin, end in pairwise(cuts)]
        cells = [*accumulate(widths, initial=self._cells[first])]
        wider = cells[-1] - self._cells[last]
        self._starts[first : last + 1] = cuts
        self._cells[first : last + 1] = cells
        behind = first + len(cuts)
        self._starts[behind:] = [place + grown for place in self._starts[behind:]]
        self._cells[behind:] = [place + wider for place in self._cells[behind:]]
        self._text = text

    def _cuts(self, text: str, start: int, end: int) -> Iterator[int]:
        """Yield where the pieces between two places end."""
        while end - start > PIECE:
            cut = start + PIECE
            while cut < min(start + 2 * PIECE, end) and (
                text[cut - 1] == _JOINER or not get_character_cell_size(self._shown(text[cut]))
            ):
                cut += 1
            yield cut
            start = cut
        if start < end:
            yield end

    def cells_before(self, place: int) -> int:
        """Return how many cells the characters before `place` take."""
        piece = bisect_right(self._starts, place) - 1
        return self._cells[piece] + cell_len(self._shown(self._text[self._starts[piece] : place]))

    def place_at(self, cell: int) -> int:
        """Return which character stands in a cell; behind the line, its end."""
        cell = max(0, cell)  # left of the line its first counts
        if cell >= self.cells:
            return len(self._text)
        piece = bisect_right(self._cells, cell) - 1
        start, end = self._starts[piece], self._starts[piece + 1]
        # By what stands before it: the cells of single letters do not always add up to those of a text.
        place = bisect_right(range(start + 1, end + 1), cell, key=self.cells_before) + start
        while place > start and not get_character_cell_size(self._shown(self._text[place])):
            place -= 1
        return place
