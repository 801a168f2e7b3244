"""Pairs of texts in two columns, or below one another where there is no room; what differs is marked.

Both columns are rows of one text, so that they scroll together. Lines that differ have a sign, `-` and `+`; words that
differ are marked when they are drawn.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from rich.segment import Segment
from textual.cache import LRUCache
from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from tui.terminal.sanitise import sanitise
from tui.terminal.word_diffs import aligned, differences
from tui.widgets.plain_text import NotSelectable, label, marked
from tui.widgets.text.virtual_static import VirtualStatic, WrappedText

ROOM_FOR_TWO = 96
"""Columns from which two texts stand beside each other."""
SIGNS = ("−", "+")
INKS = ("$text-error", "$text-success")
_SIGN_CELLS = 2
_BETWEEN = " │ "


@dataclass(frozen=True)
class TextPair:
    """Two texts under a title.

    Attributes:
        key: what identifies the pair.
        title: above both.
        heads: a line above each text.
        texts: both, any text.
        is_whole: whether both are there to their end; before that nothing is compared.
    """

    key: str
    title: Content
    heads: tuple[Content, Content]
    texts: tuple[str, str]
    is_whole: bool = True

    def is_same(self, other: TextPair) -> bool:
        """Whether both look the same."""
        mine, theirs = (self.title, *self.heads), (other.title, *other.heads)
        is_alike = (self.texts, self.is_whole) == (other.texts, other.is_whole)
        return is_alike and all(one.is_same(two) for one, two in zip(mine, theirs, strict=True))


class _Stretch:
    """What stands beside each other: the same lines, lines that differ, or with `wide` one text above both columns.

    A text is None where a side has no lines.
    """

    def __init__(
        self, *texts: Content | None, wide: bool = False, has_signs: bool = False, differs: bool = False
    ) -> None:
        self._texts = [None if one is None else WrappedText(one) for one in texts]
        self.is_wide, self.has_signs, self.differs = wide, has_signs, differs
        self._by_words: list[WrappedText | None] = []
        self._by_lines: list[WrappedText | None] = []

    def heights(self, width: int) -> list[int]:
        """Return the rows of each text."""
        return [0 if text is None else text.get_height({}, width) for text in self._texts]

    def rows(self, width: int) -> int:
        """Return the rows it takes at a width of both columns."""
        if self.is_wide:
            return self.heights(max(1, width))[0]
        heights = self.heights(_cells(width))
        if width >= ROOM_FOR_TWO:
            return max(heights)
        return sum(heights) if self.has_signs else heights[0]  # the same lines stand there once

    def drawn(self, *, by_words: bool) -> Sequence[WrappedText | None]:
        """Return the texts with what differs in them marked."""
        if self.differs and not self._by_lines:
            plain = ["" if text is None else str(text) for text in self._texts]
            for text, one, spans, ink in zip(self._texts, plain, differences(*plain), INKS, strict=True):
                words = marked(one, spans, f"bold underline {ink}")
                self._by_lines.append(text and text.styled(Content(one).stylize(ink)))
                self._by_words.append(text and text.styled(words))
        return (self._by_words if by_words else self._by_lines) if self.differs else self._texts


class PairLayout:
    """One pair, taken apart into stretches; what is known of it stays as long as the pair."""

    def __init__(self, pair: TextPair) -> None:
        self.pair = pair
        texts = [sanitise(text).rstrip() for text in pair.texts]
        self.stretches = [_Stretch(pair.title, wide=True), _Stretch(*pair.heads, has_signs=True)]
        if not pair.is_whole:
            self.stretches.append(
                _Stretch(*(Content(text) if text else None for text in texts), has_signs=True)
            )
        elif any(texts):
            for ours, theirs in aligned(*(text.split("\n") if text else [] for text in texts)):
                differs = ours != theirs
                both = (Content("\n".join(lines)) if lines else None for lines in (ours, theirs))
                self.stretches.append(_Stretch(*both, has_signs=differs, differs=differs))
        self.stretches.append(_Stretch(Content(" "), wide=True))


class SideBySide(Visual):
    """Stretches of texts below one another.

    Args:
        stretches: of the pairs.
        by_words: whether words that differ are marked, else whole lines.

    Attributes:
        current: the number of the difference that is looked at, None for none.
    """

    def __init__(self, stretches: Sequence[_Stretch], *, by_words: bool = True) -> None:
        self._stretches = stretches
        self._by_words = by_words
        self._starts: LRUCache[int, list[int]] = LRUCache(2)
        self.current: int | None = None
        self._differing: list[int] = []
        # What is to be in sight with each difference: of the first of a pair its title.
        self._tops: list[int] = []
        title = None
        for number, one in enumerate(stretches):
            title = number if one.is_wide else title
            if one.differs:
                self._differing.append(number)
                self._tops.append(number if title is None else title)
                title = None

    def __str__(self) -> str:
        return ""

    def at(self, width: int) -> SideBySide:
        """Return what is shown at a width."""
        return self

    def differences(self, width: int) -> list[int]:
        """Return the row at which each difference begins, the first one of a pair with what stands above the texts."""
        starts = self._starts_at(width)
        return [starts[number] for number in self._tops]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return container_width

    def get_height(self, rules: RulesMap, width: int) -> int:
        return self._starts_at(width)[-1] if width > 0 else 0

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        count = self.get_height(options.rules, width)
        return [
            self.row(y, width, style, options) for y in range(count if height is None else min(count, height))
        ]

    def row(self, y: int, width: int, style: Style, options: RenderOptions) -> Strip:
        """Return row `y` at a width, empty below the last."""
        starts = self._starts_at(width)
        number = bisect_right(starts, y) - 1
        if not 0 <= number < len(self._stretches):
            return Strip([])
        stretch, y = self._stretches[number], y - starts[number]
        cells = max(1, width) if stretch.is_wide else _cells(width)
        above = stretch.heights(cells)[0]
        if not stretch.is_wide and width >= ROOM_FOR_TWO:
            left, right = (self._cell(number, side, y, cells, style, options) for side in (0, 1))
            between = Segment(_BETWEEN, (style + options.get_style("dim")).rich_style)
            return Strip([*left, between, *right])
        return self._cell(number, *((0, y) if y < above else (1, y - above)), cells, style, options)

    def _cell(
        self, number: int, side: int, y: int, cells: int, style: Style, options: RenderOptions
    ) -> Strip:
        """Return one row of one text of a stretch, behind its sign."""
        stretch = self._stretches[number]
        text = stretch.drawn(by_words=self._by_words)[side]
        has_row = text is not None and y < text.get_height({}, cells)
        strip = text.row(y, cells, style, options) if text is not None and has_row else Strip([])
        strip = strip.adjust_cell_length(cells, style.rich_style)
        if stretch.is_wide:
            return strip
        is_current = self.current is not None and self._differing[self.current : self.current + 1] == [number]
        ink = options.get_style(f"bold {INKS[side]}{' reverse' if is_current else ''}")
        sign = SIGNS[side] if stretch.has_signs and has_row else " "
        return Strip([Segment(sign, (style + ink).rich_style), Segment(" ", style.rich_style), *strip])

    def _starts_at(self, width: int) -> list[int]:
        starts = self._starts.get(width)
        if starts is None:
            starts = [0, *accumulate(one.rows(width) for one in self._stretches)]
            self._starts[width] = starts
        return starts


def _cells(width: int) -> int:
    """Return the cells of a text: of a column, or of the whole width where there is one column."""
    column = (width - len(_BETWEEN)) // 2 if width >= ROOM_FOR_TWO else width
    return max(1, column - _SIGN_CELLS)


class SideBySideText(NotSelectable, VirtualStatic):
    """Shows pairs of texts."""

    ALLOW_SELECT = False


def column_names(names: tuple[str, str]) -> SideBySide:
    """Return what stands above both columns, with the signs they have where they are one."""
    return SideBySide([_Stretch(*(label(name, 70) for name in names), has_signs=True)])
