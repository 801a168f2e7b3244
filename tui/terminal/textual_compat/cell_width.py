"""Moves the cursor behind characters whose width terminals disagree about, so that what follows stays in its column.

Two cells to Textual are one or four to some terminals: emoji of several code points (skin tones, families, keycaps),
flags, and the newest emoji. Textual sends a row as one text, so that everything behind such a character is shifted,
borders too. Here what stands behind is sent to its own place, and where the
terminal may have drawn more than was meant, what it drew over is sent again. Rows without such characters are sent as
they are: the look for one costs 5 µs a row. It also puts ASCII signs in place of ours where the terminal takes no others.

Patched: what `App._display` gets (`LayoutUpdate` and `ChopsUpdate` of the private compositor).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rich.cells import split_graphemes
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate
from textual.errors import NoWidget
from textual.geometry import Region
from textual.strip import Strip

if TYPE_CHECKING:
    from rich.console import Console

    from tui.terminal.ascii_fallback import Charset

_DOUBTFUL = re.compile(
    "[\u2630-\u2637\u268a-\u268f\u4dc0-\u4dff\U0001f6dc-\U0001f6df\U0001f7f0\U0001f979\U0001f9cc\U0001fa70-\U0001faff"  # wide since Unicode 14
    "\u200c\u200d\ufe00-\ufe0f\u20dd-\u20e4\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff"  # joined to others: ZWJ, VS16, flags, skin
    "\u0e33\u0eb3\u1160-\u11ff\ud7b0-\ud7ff]"  # joined to what stands before: Thai, Lao, Jamo
)
"""Characters that terminals give another width, alone or with what stands beside them."""


def is_doubtful(text: str) -> bool:
    """Return whether terminals may disagree about the width of a text, with or without escape sequences."""
    return not text.isascii() and _DOUBTFUL.search(text) is not None


def _clusters(text: str) -> Iterator[tuple[str, int, bool]]:
    """Yield the parts of a text with their cells, and whether terminals may disagree about these."""
    steady, steady_cells = "", 0
    flag, flag_cells = "", 0  # its two letters may come as two clusters
    for start, end, width in split_graphemes(text)[0]:
        cluster = text[start:end]
        if flag and not (len(flag) == 1 and _is_flag_letter(cluster[0])):
            yield flag, flag_cells, True
            flag, flag_cells = "", 0
        if flag or _is_flag_letter(cluster[0]):
            flag, flag_cells = flag + cluster, flag_cells + width
        if not flag and not is_doubtful(cluster):
            steady, steady_cells = steady + cluster, steady_cells + width
            continue
        if steady:
            yield steady, steady_cells, False
            steady, steady_cells = "", 0
        if not flag:
            yield cluster, width, True
    if flag:
        yield flag, flag_cells, True
    if steady:
        yield steady, steady_cells, False


def _is_flag_letter(sign: str) -> bool:
    return "\U0001f1e6" <= sign <= "\U0001f1ff"


class PositionedStrip(Strip):
    """A strip at its place on the screen, in which every doubtful sign is followed by a move to the next column.

    Args:
        strip: what it shows.
        x: its column.
        y: its row.
        width: columns of the screen.
        console: renders it.
    """

    __slots__ = ("reach",)

    def __init__(self, strip: Strip, x: int, y: int, width: int, console: Console) -> None:
        self.reach = 0
        """The column up to which a terminal may have drawn."""
        segments = []
        for segment in strip:
            text, style, control = segment
            if is_doubtful(text):
                shown, x, reach = _place(text, x, y, width)
                self.reach = max(self.reach, reach)
                segment = Segment(shown, style, control)
            else:
                x += segment.cell_length
            segments.append(segment)
        rendered = Strip(segments, strip.cell_length).render(console)
        super().__init__(list(strip), strip.cell_length)
        self._render_cache = rendered


@lru_cache(1024)  # Textual renders all rows of what changed somewhere
def _place(text: str, x: int, y: int, width: int) -> tuple[str, int, int]:
    """Return a text with its moves, the column behind it, and the one up to which a terminal may have drawn."""
    parts: list[str] = []
    farthest = 0
    for cluster, cells, doubtful in _clusters(text):
        if not doubtful:
            parts.append(cluster)
            x += cells
            continue
        farthest = max(farthest, x + 2 * len(cluster))  # never the next row: Textual has lines not wrap
        # Spaces first: a terminal that draws less than was meant would leave what was there.
        sign = f"{' ' * cells}{_to(x, y)}{cluster}"
        x += cells
        if x < width:
            sign += _to(x, y)
        parts.append(sign)
    return "".join(parts), x, farthest


def _to(x: int, y: int) -> str:
    return f"\x1b[{y + 1};{x + 1}H"


class CursorPlacer:
    """Makes what Textual is about to write independent of the terminal's widths and signs.

    Args:
        compositor: of the screen that is shown.
        console: renders the strips.
        charset: what the terminal takes; None where it takes all, our signs too.
        theirs: the widgets people and models write in.
    """

    def __init__(
        self,
        compositor: Compositor,
        console: Console,
        charset: Charset | None = None,
        theirs: tuple[type, ...] = (),
    ) -> None:
        self._compositor, self._console = compositor, console
        self._charset, self._theirs = charset, theirs
        self._width = compositor.size.width

    def place(self, update: Any) -> Any:
        """Return the update so that every cell comes to its place."""
        if isinstance(update, LayoutUpdate):
            strips: list[Iterable[Strip]] = [
                self._row(list(row), update.region.x, y)
                for y, row in enumerate(update.strips, update.region.y)
            ]
            return LayoutUpdate(strips, update.region)
        if isinstance(update, ChopsUpdate):
            return self._chops(update)
        return update

    def _row(self, strips: list[Strip], x: int, y: int) -> list[Strip]:
        for number, strip in enumerate(strips):
            strips[number] = self._strip(strip, x, y)
            x += strip.cell_length
        return strips

    def _chops(self, update: ChopsUpdate) -> ChopsUpdate:
        chops = list(update.chops)
        spans: list[tuple[int, int, int]] = []
        for y, first, last in update.spans:
            chops[y] = row = self._placed(chops[y], y)
            ends = update.chop_ends[y]
            reach = _reach(row, ends, first, last)
            if reach > last:
                whole = self._compositor._render_chops(Region(0, y, self._width, 1), {y}.__contains__)[y]
                chops[y] = row = self._placed(whole, y)
            while reach:  # what is drawn over may hold such signs, too
                first, last = _whole(row, ends, first, max(last, min(reach, self._width)))
                further = _reach(row, ends, first, last)
                if further <= max(reach, last):
                    break
                reach = further
            if spans and spans[-1][0] == y and spans[-1][2] >= first:
                _, first, before = spans.pop()
                last = max(last, before)
            spans.append((y, first, last))
        return ChopsUpdate(chops, spans, update.chop_ends)

    def _placed(self, row: Mapping[int, Strip | None], y: int) -> dict[int, Strip | None]:
        return {x: strip if strip is None else self._strip(strip, x, y) for x, strip in row.items()}

    def _strip(self, strip: Strip, x: int, y: int) -> Strip:
        looks = strip.render(self._console)
        if looks.isascii() or isinstance(strip, PositionedStrip):
            return strip
        if self._charset is not None:
            strip = self._in_charset(strip, x, y, self._charset)
            looks = strip.render(self._console)
        return PositionedStrip(strip, x, y, self._width, self._console) if is_doubtful(looks) else strip

    def _in_charset(self, strip: Strip, x: int, y: int, charset: Charset) -> Strip:
        theirs = self._is_theirs(x, y)
        segments: list[Segment] = []
        for segment in strip:
            text, style, control = segment
            if control or text.isascii():
                segments.append(segment)
                continue
            for piece, is_stand_in in charset.pieces(text, theirs=theirs):
                look = style
                if is_stand_in:
                    look = (style or Style.null()) + Style(reverse=not (style and style.reverse))
                segments.append(Segment(piece, look))
        return Strip(segments, strip.cell_length)

    def _is_theirs(self, x: int, y: int) -> bool:
        try:
            widget = self._compositor.get_widget_at(x, y)[0]
        except NoWidget:
            return False
        return isinstance(widget, self._theirs) and getattr(widget, "value", "-") != ""  # a hint is ours


def _reach(row: Mapping[int, Strip | None], ends: Sequence[int], first: int, last: int) -> int:
    """Return the column up to which the terminal may draw when these columns are sent; 0 without doubtful signs."""
    return max(
        (
            max(strip.reach, end)
            for end, (start, strip) in zip(ends, row.items(), strict=False)
            if isinstance(strip, PositionedStrip) and start < last and end > first
        ),
        default=0,
    )


def _whole(row: Mapping[int, Strip | None], ends: Sequence[int], first: int, last: int) -> tuple[int, int]:
    """Return columns that cut no strip of the row, and hold these."""
    spans = [(start, end) for end, start in zip(ends, row, strict=False) if start < last and end > first]
    return min(start for start, _ in spans), max(end for _, end in spans)
