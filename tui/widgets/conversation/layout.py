"""The layout of the conversation: which row of the screen belongs to which line of which entry. No widget.

Heights of parts that were never visible are estimates. What becomes visible is drawn and its height corrected, without
moving what a person is looking at. The number of cached lines is bounded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from dataclasses import dataclass, replace
from itertools import accumulate

from tui.widgets.conversation.entry import Entry
from tui.widgets.conversation.lines import Line
from tui.widgets.conversation.render_parts import Part

CACHED_LINES = 5_000
"""Lines that stay in memory; beyond that, the part that was visible longest ago loses its lines."""

_SHIFT = 32


@dataclass(frozen=True, slots=True)
class Position:
    """A line of the conversation by its indexes: the entry, the part of the entry, the line of the part."""

    entry: int
    part: int
    line: int

    def encode(self) -> int:
        """Return one number; positions compare by it in reading order, at every width."""
        return (self.entry << 2 * _SHIFT) | (self.part << _SHIFT) | self.line

    @staticmethod
    def decode(number: int) -> Position:
        """Return the position that `encode` made `number` of."""
        mask = (1 << _SHIFT) - 1
        return Position(number >> 2 * _SHIFT, (number >> _SHIFT) & mask, number & mask)


def _letters(line: Line) -> int:
    text = line.text[line.lead :]
    return len(text) - text.count(" ")


class _PrefixSums:
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
        self._sums = _PrefixSums()
        self._heights: list[int] = []
        self._drawn: OrderedDict[Part, int] = OrderedDict()
        self.drawn_lines = 0
        """How many lines are cached."""

    @property
    def height(self) -> int:
        """The number of rows."""
        return self._sums.total

    def fill(self, entries: list[Entry]) -> None:
        """Replace all entries."""
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
        """Change the width. Nothing is drawn before it becomes visible."""
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

    def position_at(self, row: int) -> Position | None:
        """Return the position at `row`, an estimate in an entry that was never visible; None below the last."""
        index = self.entry_at(row)
        if index is None:
            return None
        entry = self.entries[index]
        offset = row - self.top_of(index)
        if not entry.is_measured:
            return Position(index, 0, offset)
        starts = entry.starts(self.width)
        part = bisect_right(starts, offset) - 1
        return Position(index, part, offset - starts[part])

    def row_of(self, position: Position) -> int:
        """Return the row of a line; for a position that no longer exists, the nearest row."""
        if position.entry >= len(self.entries):
            return max(0, self.height - 1)
        entry = self.entries[position.entry]
        if not entry.is_measured:
            return self.top_of(position.entry) + max(0, min(position.line, self._heights[position.entry] - 1))
        starts = entry.starts(self.width)
        part = min(position.part, len(starts) - 2)
        inside = (
            min(starts[part] + position.line, max(starts[part], starts[part + 1] - 1)) if part >= 0 else 0
        )
        return self.top_of(position.entry) + inside

    def draw_at(self, position: Position) -> int:
        """Draw the part of a line, so that its height is known, and return the row of the line."""
        self.line(position)
        return self.row_of(position)

    def letters_before(self, position: Position) -> int:
        """Return how many letters its part has above a line; with `line_after`, this survives another width."""
        return sum(map(_letters, self._lines(position)[: position.line]))

    def line_after(self, position: Position, letters: int) -> Position:
        """Return the position of the line, in the same part, of the letter after so many."""
        if not letters:
            return position
        starts = [*accumulate(map(_letters, self._lines(position)), initial=0)]
        line = bisect_right(starts, letters, hi=max(1, len(starts) - 1)) - 1
        return replace(position, line=line)

    def _lines(self, position: Position) -> list[Line]:
        self.line(position)
        parts = self.entries[position.entry].parts() if position.entry < len(self.entries) else []
        return parts[position.part].draw(self.width) if position.part < len(parts) else []

    def line(self, position: Position) -> Line | None:
        """Return the line at a position, drawn if need be; None where there is none."""
        if position.entry >= len(self.entries):
            return None
        entry = self.entries[position.entry]
        parts = entry.parts()
        if position.part >= len(parts):
            self.update(position.entry)
            return None
        part = parts[position.part]
        if not part.is_drawn(self.width):
            part.draw(self.width)
            self.mark_used(part)
            entry.changed()
            self.update(position.entry)
        lines = part.draw(self.width)
        return lines[position.line] if position.line < len(lines) else None

    def draw_entry(self, index: int) -> list[Part]:
        """Return the parts of an entry, all drawn. The rows below it may move."""
        entry = self.entries[index]
        parts = entry.parts()
        for part in parts:
            if not part.is_drawn(self.width):
                part.draw(self.width)
            self.mark_used(part)
        entry.changed()
        self.update(index)
        return parts

    def draw_visible(self, top: int, rows: int) -> int:
        """Draw what lies in the `rows` rows from `top` on; return where `top` is now.

        If a height above `top` was estimated wrongly, `top` moves with it, so that the visible rows stay in place.
        """
        index = self.entry_at(top)
        while index is not None and index < len(self.entries):
            entry_top = self.top_of(index)
            if entry_top >= top + rows:
                break
            moved = self._draw_visible_entry(index, entry_top, top, rows)
            if moved is None:
                index += 1
            else:
                # A height was estimated wrongly: start again from the top, which may have moved.
                top = moved
                index = self.entry_at(top)
        self._evict()
        return top

    def draw_end(self, rows: int) -> int:
        """Draw the last `rows` rows; return the row they begin at."""
        top = max(0, self.height - rows)
        while True:
            self.draw_visible(top, rows)
            end = max(0, self.height - rows)
            if end == top:
                return top
            top = end

    def _draw_visible_entry(self, index: int, entry_top: int, top: int, rows: int) -> int | None:
        """Draw the visible parts of an entry; return the new top when its height changed, else None."""
        entry = self.entries[index]
        if not entry.is_measured:
            entry.parts()
            if delta := self.update(index):
                return max(0, top + delta) if entry_top < top else top
        starts = entry.starts(self.width)
        at = max(0, bisect_right(starts, top - entry_top) - 1)
        row = entry_top + starts[min(at, len(starts) - 1)]
        shift = 0
        changed = False
        for part in entry.parts()[at:]:
            if row >= top + rows:
                break
            known = part.height(self.width)
            if not part.is_drawn(self.width):
                part.draw(self.width)
            height = part.height(self.width)
            changed = changed or height != known
            if row < top:
                shift += height - known
            self.mark_used(part)
            row += height
        if not changed:
            return None
        entry.changed()
        self.update(index)
        return max(0, top + shift)

    def _measure_all(self) -> None:
        self._heights = [entry.height(self.width) for entry in self.entries]
        self._sums.fill(self._heights)

    def mark_used(self, part: Part) -> None:
        """Mark a part as the most recently used of the cache."""
        count = part.height(self.width)
        self.drawn_lines += count - self._drawn.pop(part, 0)
        self._drawn[part] = count

    def _evict(self) -> None:
        while self.drawn_lines > CACHED_LINES and len(self._drawn) > 2:
            part, count = self._drawn.popitem(last=False)
            part.drop_lines()
            self.drawn_lines -= count
