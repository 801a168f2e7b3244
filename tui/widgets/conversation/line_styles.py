"""Painting a line as a strip: the only module in which inks become styles."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.widgets.conversation.lines import (
    ADDED,
    BOLD,
    CODE,
    DIM,
    ERROR,
    HEADING,
    ITALIC,
    LINK,
    REMOVED,
    STRIKE,
    TOOL,
    USER,
    Line,
)

COMPONENTS = {
    USER: "conversation--user",
    HEADING: "conversation--heading",
    CODE: "conversation--code",
    LINK: "conversation--link",
    TOOL: "conversation--tool",
    DIM: "conversation--dim",
    ADDED: "conversation--added",
    REMOVED: "conversation--removed",
    ERROR: "conversation--error",
}
"""The component class of each ink that has a colour, later ones over earlier ones."""

_ATTRIBUTES = {BOLD: Style(bold=True), ITALIC: Style(italic=True), STRIKE: Style(strike=True)}


class Palette:
    """The styles of all inks under the present theme.

    Args:
        base: the style of the widget itself.
        component: returns the partial style of a component class.
    """

    def __init__(self, base: Style, component: Callable[[str], Style]) -> None:
        self.base = base
        self._component = component
        self._styles: dict[int, Style] = {}

    def style(self, ink: int) -> Style:
        """Return the style of a combination of inks."""
        style = self._styles.get(ink)
        if style is None:
            style = self.base
            for bit, name in COMPONENTS.items():
                if ink & bit:
                    style += self._component(name)
            for bit, attribute in _ATTRIBUTES.items():
                if ink & bit:
                    style += attribute
            self._styles[ink] = style
        return style


def paint(line: Line, palette: Palette, width: int, gutter: Segment, offset: int) -> Strip:
    """Return the strip of a line, `width` cells wide, with the gutter before it.

    `offset` is what a text selection knows the line by; characters are counted from the end of the gutter.
    """
    segments = [Segment(gutter.text, _at(gutter.style or palette.base, 0, offset))]
    at = 0
    for text, ink in line.runs:
        if text:
            segments.append(Segment(text, _at(palette.style(ink), at, offset)))
            at += len(text)
    strip = Strip(segments)
    if strip.cell_length > width:
        strip = strip.crop(0, width)
    missing = width - strip.cell_length
    if missing > 0:
        strip = Strip([*strip, Segment(" " * missing, _at(palette.base, at, offset))], width)
    return strip


def _at(style: Style, x: int, y: int) -> Style:
    return style + Style.from_meta({"offset": (x, y)})


def restyle(strip: Strip, spans: Sequence[tuple[int, int]], style: Style, lead: int) -> Strip:
    """Return `strip` with `style` over the character spans, counted after the first `lead` characters."""
    for start, end in spans:
        segments = []
        at = -lead
        for segment in strip:
            text = segment.text
            first, last = max(start - at, 0), min(end - at, len(text))
            if first >= last:
                segments.append(segment)
            else:
                for part, over in ((text[:first], False), (text[first:last], True), (text[last:], False)):
                    if part:
                        base = segment.style or Style.null()
                        segments.append(Segment(part, base + style if over else base))
            at += len(text)
        strip = Strip(segments, strip.cell_length)
    return strip
