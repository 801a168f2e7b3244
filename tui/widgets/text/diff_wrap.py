"""Long texts with their own wrapping: a diff with its signs in a column, and a title with counts that stay together."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, Visual

from tui.terminal.diff_view import changed_words, diff_lines
from tui.widgets.conversation.lines import UNICODE
from tui.widgets.plain_text import content
from tui.widgets.text.virtual_static import WrappedText

_STYLES = {"+": "$text-success", "-": "$text-error", "@": "$text-accent"}


class DiffText(WrappedText):
    """A unified diff, exact and without its two file lines; the first column holds nothing but signs.

    A wrapped row has a bar there, so that it cannot look like another line. In replaced lines only the changed words are
    marked.
    """

    def __init__(self, diff: str) -> None:
        lines = diff_lines(diff)
        super().__init__(Content("\n".join([*lines, ""])))
        self._changed = changed_words(lines)

    def line(self, number: int) -> Content:
        line = super().line(number)
        style = _STYLES.get(line.plain[:1])
        if style is None or number not in self._changed:
            return line.stylize(style) if style else line
        line = line.stylize(style, 0, 1)
        for begin, end in self._changed[number]:
            line = line.stylize(f"bold underline {style}", begin, end)
        return line

    def row(self, y: int, width: int, style: Style, options: RenderOptions) -> Strip:
        return _with_bar(super().row(y, max(1, width - 1), style, options))

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return super().get_optimal_width(rules, container_width) + 1

    def get_height(self, rules: RulesMap, width: int) -> int:
        return super().get_height(rules, max(1, width - 1))


def _with_bar(strip: Strip) -> Strip:
    """Put the bar before a row that does not begin its line, as the offset in its style says."""
    first = next(iter(strip), None)
    style = (first.style if first is not None else None) or RichStyle.null()
    if not style.meta.get("offset", (0, 0))[0]:
        return strip
    return Strip([Segment(UNICODE.bar, style), *strip], strip.cell_length + 1)


class CountedText(Visual):
    """A text followed by counts that are never wrapped apart.

    Args:
        text: any text.
        counts: the counts, a few cells wide.
        below: further lines.
    """

    def __init__(self, text: str, counts: str, below: str = "") -> None:
        self._text, self._counts, self._below = text, counts, below
        one_word = "x" * len(counts)
        self._with_counts, self._alone = (
            WrappedText(content(shown)) for shown in (f"{text}  {one_word}", text)
        )
        self._beside, self._under = (WrappedText(self._joined(by)) for by in ("  ", "\n"))

    def __str__(self) -> str:
        return str(self._joined("  "))

    def _joined(self, by: str) -> Content:
        return content(f"{self._text}{by}{self._counts}" + (f"\n{self._below}" if self._below else ""))

    def at(self, width: int) -> WrappedText:
        """Return what is shown at a width."""
        width = max(1, width)
        fits = self._with_counts.get_height({}, width) == self._alone.get_height({}, width)
        return self._beside if fits else self._under

    def render_strips(
        self, width: int, height: int | None, style: Style, options: RenderOptions
    ) -> list[Strip]:
        return self.at(width).render_strips(width, height, style, options)

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        return self.at(container_width).get_optimal_width(rules, container_width)

    def get_height(self, rules: RulesMap, width: int) -> int:
        return self.at(width).get_height(rules, width)
