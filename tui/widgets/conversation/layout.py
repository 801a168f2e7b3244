"""Where everything in the conversation is: which row belongs to which line of which entry. Pure.

Heights of what was never on the screen are guesses; what comes on the screen is drawn and its height corrected
without moving what a person is looking at. The number of lines kept drawn is bounded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from dataclasses import dataclass, replace
from itertools import accumulate

from tui.widgets.conversation.entry import Entry
from tui.widgets.conversation.lines import Line
from tui.widgets.conversation.render_parts import Part

KEPT_LINES = 5_000
"""Lines kept drawn; beyond that, what was on the screen longest ago is forgotten."""

_SHIFT = 32


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the conversation: which entry, which part of it, which line of that part."""

    entry: int
    part: int
    line: int

    def encode(self) -> int:
        """Return one number that orders places as they are read, whatever the heights above them."""
        return (self.entry << 2 * _SHIFT) | (self.part << _SHIFT) | self.line

    @staticmethod
    def decode(number: int) -> Place:
        """Return the place `encode` made `number` of."""
        mask = (1 << _SHIFT) - 1
        return Place(number >> 2 * _SHIFT, (number >> _SHIFT) & mask, number & mask)


def _letters(line: Line) -> int:
    text = line.text[line.lead :]
    return len(text) - text.count(" ")


class _Sums:
    """Prefix sums of changing numbers (a Fenwick tree): every operation takes logarithmic time."""

    def __init__(self) -> None:
        self._tree = [0]
        self.total = 0

    def fill(self, values: list[int]) -> None:
        tree = [0, *values]
        for at in range(1, len(tree)):
            above = at + (at & -at)
            if above < len(tree):
                tree[above] += tree[at]
        self._tree = tree
        self.total = sum(values)

    def append(self, value: int) -> None:
        at = len(self._tree)
        covered = at & -at
        self._tree.append(value + self.before(at - 1) - self.before(at - covered))
        self.total += value

    def add(self, index: int, delta: int) -> None:
        at = index + 1
        while at < len(self._tree):
            self._tree[at] += delta
            at += at & -at
        self.total += delta

    def before(self, index: int) -> int:
        result = 0
        while index > 0:
            result += self._tree[index]
            index -= index & -index
        return result

    def find(self, position: int) -> int:
        """Return the index whose span holds `position` (spans of zero length are passed over)."""
        at = 0
        step = 1 << (len(self._tree) - 1).bit_length()
        while step:
            after = at + step
            if after < len(self._tree) and self._tree[after] <= position:
                at = after
                position -= self._tree[after]
            step >>= 1
        return at


class Layout:
    """The entries, one below the other, at one width."""

    def __init__(self, width: int = 80) -> None:
        self.width = width
        self.entries: list[Entry] = []
        self._sums = _Sums()
        self._heights: list[int] = []
        self._drawn: OrderedDict[Part, int] = OrderedDict()
        self.drawn_lines = 0
        """How many lines are kept drawn."""

    @property
    def height(self) -> int:
        """Rows of everything."""
        return self._sums.total

    def fill(self, entries: list[Entry]) -> None:
        """Hold these entries and no others."""
        self.entries = entries
        self._drawn.clear()
        self.drawn_lines = 0
        self._measure_all()

    def append(self, entry: Entry) -> int:
        """Add an entry below the others; return its number."""
        self.entries.append(entry)
        height = entry.height(self.width)
        self._heights.append(height)
        self._sums.append(height)
        return len(self.entries) - 1

    def resize(self, width: int) -> None:
        """Take another width: nothing is drawn again before it is seen."""
        if width != self.width:
            self.width = width
            for entry in self.entries:
                entry.changed()
            self._measure_all()

    def update(self, index: int) -> int:
        """Entry `index` changed its height; return by how much."""
        delta = self.entries[index].height(self.width) - self._heights[index]
        if delta:
            self._heights[index] += delta
            self._sums.add(index, delta)
        return delta

    def top_of(self, index: int) -> int:
        """Return the first row of entry `index`."""
        return self._sums.before(index)

    def entry_at(self, row: int) -> int | None:
        """Return the number of the entry at `row`, None below the last."""
        if not 0 <= row < self.height:
            return None
        return self._sums.find(row)

    def place_at(self, row: int) -> Place | None:
        """Return the place at `row`, a guess in an entry that was never seen; None below the last."""
        index = self.entry_at(row)
        if index is None:
            return None
        entry = self.entries[index]
        offset = row - self.top_of(index)
        if not entry.is_measured:
            return Place(index, 0, offset)
        starts = entry.starts(self.width)
        part = bisect_right(starts, offset) - 1
        return Place(index, part, offset - starts[part])

    def row_of(self, place: Place) -> int:
        """Return the row of a line; a place that is no more gives the nearest row."""
        if place.entry >= len(self.entries):
            return max(0, self.height - 1)
        entry = self.entries[place.entry]
        if not entry.is_measured:
            return self.top_of(place.entry) + max(0, min(place.line, self._heights[place.entry] - 1))
        starts = entry.starts(self.width)
        part = min(place.part, len(starts) - 2)
        inside = min(starts[part] + place.line, max(starts[part], starts[part + 1] - 1)) if part >= 0 else 0
        return self.top_of(place.entry) + inside

    def keep_place(self, place: Place) -> int:
        """Return the row of a line that is to be the first seen: its part is drawn, so that it does not move."""
        self.line(place)
        return self.row_of(place)

    def letters_before(self, place: Place) -> int:
        """Return how many letters of its part stand in the rows above a line; the same at every width."""
        return sum(map(_letters, self._lines(place)[: place.line]))

    def line_after(self, place: Place, letters: int) -> Place:
        """Return the place of the letter that comes after so many of the same part."""
        if not letters:
            return place
        starts = [*accumulate(map(_letters, self._lines(place)), initial=0)]
        line = bisect_right(starts, letters, hi=max(1, len(starts) - 1)) - 1
        return replace(place, line=line)

    def _lines(self, place: Place) -> list[Line]:
        self.line(place)
        parts = self.entries[place.entry].parts() if place.entry < len(self.entries) else []
        return parts[place.part].draw(self.width) if place.part < len(parts) else []

    def line(self, place: Place) -> Line | None:
        """Return the line at a place, drawn if need be; None where there is none."""
        if place.entry >= len(self.entries):
            return None
        entry = self.entries[place.entry]
        parts = entry.parts()
        if place.part >= len(parts):
            self.update(place.entry)
            return None
        part = parts[place.part]
        if not part.is_drawn(self.width):
            part.draw(self.width)
            self.keep(part)
            entry.changed()
            self.update(place.entry)
        lines = part.draw(self.width)
        return lines[place.line] if place.line < len(lines) else None

    def draw_entry(self, index: int) -> list[Part]:
        """Return the parts of an entry, all of them drawn. Rows below it may be others afterwards."""
        entry = self.entries[index]
        parts = entry.parts()
        for part in parts:
            if not part.is_drawn(self.width):
                part.draw(self.width)
            self.keep(part)
        entry.changed()
        self.update(index)
        return parts

    def settle(self, top: int, rows: int) -> int:
        """Draw what lies in the `rows` rows from `top` on; return where `top` is now.

        Heights that turn out otherwise above `top` move it, so that what was seen stays where it was.
        """
        index = self.entry_at(top)
        while index is not None and index < len(self.entries):
            entry_top = self.top_of(index)
            if entry_top >= top + rows:
                break
            moved = self._settle_entry(index, entry_top, top, rows)
            if moved is None:
                index += 1
            else:
                # Something was not as high as guessed: look again from the top, which may have moved.
                top = moved
                index = self.entry_at(top)
        self._forget_old()
        return top

    def settle_end(self, rows: int) -> int:
        """Draw the last `rows` rows; return the row they begin at."""
        top = max(0, self.height - rows)
        while True:
            self.settle(top, rows)
            end = max(0, self.height - rows)
            if end == top:
                return top
            top = end

    def _settle_entry(self, index: int, entry_top: int, top: int, rows: int) -> int | None:
        """Draw the visible parts of an entry; return the new top when its height changed, else None."""
        entry = self.entries[index]
        if not entry.is_measured:
            entry.parts()
            if delta := self.update(index):
                return max(0, top + delta) if entry_top < top else top
        starts = entry.starts(self.width)
        at = max(0, bisect_right(starts, top - entry_top) - 1)
        position = entry_top + starts[min(at, len(starts) - 1)]
        shift = 0
        changed = False
        for part in entry.parts()[at:]:
            if position >= top + rows:
                break
            known = part.height(self.width)
            if not part.is_drawn(self.width):
                part.draw(self.width)
            height = part.height(self.width)
            changed = changed or height != known
            if position < top:
                shift += height - known
            self.keep(part)
            position += height
        if not changed:
            return None
        entry.changed()
        self.update(index)
        return max(0, top + shift)

    def _measure_all(self) -> None:
        self._heights = [entry.height(self.width) for entry in self.entries]
        self._sums.fill(self._heights)

    def keep(self, part: Part) -> None:
        """Part was drawn or seen again: it is forgotten later than others."""
        count = part.height(self.width)
        self.drawn_lines += count - self._drawn.pop(part, 0)
        self._drawn[part] = count

    def _forget_old(self) -> None:
        while self.drawn_lines > KEPT_LINES and len(self._drawn) > 2:
            part, count = self._drawn.popitem(last=False)
            part.forget()
            self.drawn_lines -= count
