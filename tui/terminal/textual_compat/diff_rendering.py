"""What nobody sees is not drawn, and what the terminal shows already is not sent to it again.

Textual sends every row of a widget that was refreshed, the unchanged ones too: a letter in a prompt of a full screen
is 13.6 KB, which a person feels over SSH; here it is 0.4 KB. And it draws all widgets that lie under what changed, the
covered ones too: a frame of an answer in the panel takes 2.1 ms at 140x40 with the panes behind it, 0.2 ms without. This builds on private parts of Textual
(`Compositor._get_renders`, the parts of a `ChopsUpdate`, the clock of screens), so it can be turned off (setting
`repaint`), and tests compare the screen it leaves with one that Textual painted whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import textual.screen
from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.strip import Strip

from tui.terminal.textual_compat.cell_width import PositionedStrip

if TYPE_CHECKING:
    from rich.console import Console

ColumnRange = tuple[int, int]
"""Columns of a row: the first, and the one after the last."""


PAINTS_PER_SECOND = 240
"""How often the screen may be painted. Nothing is painted that did not change, and a stream has its own, slower pace.

Textual paints what changed at the next beat of a clock of 60 a second, or the one after: a letter typed just after a
frame of a stream was seen 25 to 35 ms later, 5 times as late as else.
"""


def paint_promptly() -> None:
    """Let screens that are made from now on paint as often as that."""
    textual.screen.UPDATE_PERIOD = 1 / PAINTS_PER_SECOND  # type: ignore[misc]


class SentCells:
    """Remembers, row by row, what was sent for which columns."""

    def __init__(self) -> None:
        self._rows: dict[int, dict[ColumnRange, str]] = {}

    def forget(self) -> None:
        """The terminal may show anything now: send all of the next updates."""
        self._rows.clear()

    def reduce(self, update: Any, console: Console) -> Any:
        """Return `update` without what the terminal shows already; None where nothing is left.

        Args:
            update: what Textual is about to write. It is remembered as written.
            console: renders the strips, as it will when they are written.
        """
        if not isinstance(update, ChopsUpdate):
            self.forget()  # the whole screen, or something that is not known here
            return update
        spans: list[tuple[int, int, int]] = []
        for y, first, last in update.spans:
            chops = zip(update.chop_ends[y], update.chops[y].items(), strict=False)
            for start, end in self._changed(y, first, last, chops, console):
                if spans and spans[-1][0] == y and spans[-1][2] == start:
                    start = spans.pop()[1]  # one span where two touch: fewer moves of the cursor
                spans.append((y, start, end))
        return ChopsUpdate(update.chops, spans, update.chop_ends) if spans else None

    def _changed(
        self,
        y: int,
        first: int,
        last: int,
        chops: Iterator[tuple[int, tuple[int, Strip | None]]],
        console: Console,
    ) -> Iterator[ColumnRange]:
        """Yield the columns of row `y` between `first` and `last` that look different, and remember how they look."""
        row = self._rows.setdefault(y, {})
        reach = 0  # the column up to which the terminal may have drawn over what it showed
        for end, (start, strip) in chops:
            if strip is None or start >= last or end <= first:
                continue
            if start < first or end > last:  # a part of what was compared: what is beside it stays unknown
                self._replace(row, (start, end), None)
                yield max(start, first), min(end, last)
                continue
            looks = strip.render(console)
            if row.get((start, end)) != looks or start < reach:
                self._replace(row, (start, end), looks)
                if isinstance(strip, PositionedStrip):
                    reach = max(reach, strip.reach)
                yield start, end

    @staticmethod
    def _replace(row: dict[ColumnRange, str], span: ColumnRange, looks: str | None) -> None:
        start, end = span
        if span not in row:
            for other in [one for one in row if one[0] < end and one[1] > start]:
                del row[other]
        if looks is None:
            row.pop(span, None)
        else:
            row[span] = looks


class FrontCompositor(Compositor):
    """Draws only what is seen: from front to back, leaving out what lies behind all that is drawn already.

    Of an update it leaves out what did not change as well, though it lies between two parts that did.
    """

    _changed: Collection[Region] = ()
    """The parts that are updated; empty where all is drawn."""

    def render_partial_update(self) -> ChopsUpdate | None:
        self._changed = [*self._dirty_regions]
        update = super().render_partial_update()
        self._changed = ()
        return update

    @property
    def cuts(self) -> list[list[int]]:
        """The columns a row is cut at: a cut for a widget that nobody sees there would take a wide sign apart."""
        if self._cuts is None:
            width, height = self.size
            cuts = [{0, width} for _ in range(height)]
            covered = OcclusionMap()
            for region, clip in self.visible_widgets.values():
                shown = region.intersection(clip)
                for y in covered.seen_rows(shown):
                    if 0 <= y < height:
                        cuts[y] |= {shown.x, shown.right}
                covered.add(shown)
            self._cuts = [sorted(row) for row in cuts]
        return self._cuts

    def _get_renders(self, crop: Region | None = None) -> Iterator[tuple[Region, Region, list[Strip]]]:
        covered = OcclusionMap()
        for widget, (region, clip) in self.visible_widgets.items():
            shown = region.intersection(clip)
            if self._changed and not any(shown.overlaps(part) for part in self._changed):
                covered.add(shown)
                continue
            if rows_seen := covered.seen_rows(shown if crop is None else shown.intersection(crop)):
                first, last = rows_seen[0], rows_seen[-1]
                rows = Region(shown.x, first, shown.width, last + 1 - first)
                inside = region.shrink(widget.styles.gutter).intersection(rows)
                framed = {*inside.line_range}.difference(covered.seen_rows(inside))
                strips: list[Strip] = []
                for is_framed, group in groupby(rows.line_range, framed.__contains__):
                    alike = [*group]  # where only the frame is seen, all rows look like the first
                    part = Region(rows.x, alike[0], rows.width, 1 if is_framed else len(alike))
                    drawn = widget.render_lines(part.translate(-region.offset))
                    strips += drawn * len(alike) if is_framed else drawn
                covered.add(shown)
                yield rows, rows, strips


class OcclusionMap:
    """Remembers, row by row, the columns that something stands in, one bit for each."""

    def __init__(self) -> None:
        self._rows: dict[int, int] = {}

    def add(self, region: Region) -> None:
        """Something stands in `region`."""
        columns = _bits(region)
        for y in region.line_range:
            self._rows[y] = self._rows.get(y, 0) | columns

    def seen_rows(self, region: Region) -> list[int]:
        """Return the rows of `region` in which it is not covered whole."""
        columns = _bits(region)
        return [y for y in region.line_range if columns & ~self._rows.get(y, 0)]


def _bits(region: Region) -> int:
    return ((1 << region.width) - 1) << region.x


def draw_from_front(screen: textual.screen.Screen[Any]) -> None:
    """Have a screen draw only what is seen."""
    screen._compositor = FrontCompositor()
