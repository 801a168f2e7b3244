"""Texts whose rows are broken with regard to what they say: a diff, whose signs say which line is which, and a title
with counts behind it.
"""

from __future__ import annotations

from abc import abstractmethod

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from tui.diffs import diff_lines
from tui.widgets.conversation.lines import UNICODE
from tui.widgets.literal import content

_STYLES = {"+": "$text-success", "-": "$text-error", "@": "$text-accent"}


class _Broken(Visual):
    """A text that is one for each width."""

    @abstractmethod
    def _at(self, width: int) -> Content:
        """Return what is shown at a width."""

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        return self._at(width).render_strips(width, height, style, options)

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return self._at(container_width).get_optimal_width(rules, container_width)

    def get_height(self, rules: RulesMap, width: int) -> int:
        return self._at(width).get_height(rules, width)


class DiffText(_Broken):
    """A unified diff, exact and without its two file lines; the first column holds nothing but signs.

    A row that goes on with a line has a bar there, so that it cannot pose as another line.
    """

    def __init__(self, diff: str) -> None:
        self._text = Content.assemble(
            *[(f"{line}\n", _STYLES.get(line[:1], "")) for line in diff_lines(diff)]
        )

    def __str__(self) -> str:
        return str(self._text)

    def _at(self, width: int) -> Content:
        return self._text

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        strips = super().render_strips(max(1, width - 1), height, style, options)
        return [_with_bar(strip) for strip in strips]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return super().get_optimal_width(rules, container_width) + 1

    def get_height(self, rules: RulesMap, width: int) -> int:
        return super().get_height(rules, max(1, width - 1))


def _with_bar(strip: Strip) -> Strip:
    """Put the bar before a row that does not begin its line: Textual notes in each row where in the text it begins."""
    first = next(iter(strip), None)
    style = (first.style if first is not None else None) or RichStyle.null()
    if not style.meta.get("offset", (0, 0))[0]:
        return strip
    return Strip([Segment(UNICODE.bar, style), *strip], strip.cell_length + 1)


class CountedText(_Broken):
    """A text with counts behind it that are never parted from each other.

    Args:
        text: any text.
        counts: what stands behind it, of a few cells.
        below: further lines.
    """

    def __init__(self, text: str, counts: str, below: str = "") -> None:
        self._text, self._counts, self._below = text, counts, below

    def __str__(self) -> str:
        return str(self._joined("  "))

    def _joined(self, by: str) -> Content:
        return content(f"{self._text}{by}{self._counts}" + (f"\n{self._below}" if self._below else ""))

    def _at(self, width: int) -> Content:
        one_word = "x" * len(self._counts)
        rows, alone = (
            content(text).get_height({}, max(1, width)) for text in (f"{self._text}  {one_word}", self._text)
        )
        return self._joined("  " if rows == alone else "\n")
