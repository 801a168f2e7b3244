"""How many colours go to the terminal: all, sixteen, or none, where bold, underline and reverse stand for them."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import Theme

OUT_OF_GROUND = 1.35
"""From this contrast to the page on, a ground is meant to stand out of it: reversed."""
VIVID = 0.35
"""From this distance between its largest and its least part on, a colour is meant to be seen: bold."""
FAINT = 4.0
"""Below this contrast to its ground, text is meant to stand back: dim."""


READABLE = {
    "textual-dark": {"text-secondary": "#78A9CC", "foreground-muted": "#E0E0E0B8"},
    "textual-light": {
        "text-accent": "#744600",
        "text-warning": "#744600",
        "text-success": "#1B5730",
        "foreground-muted": "#1F1F1FB8",
        "boost": "#FFFFFF73",
    },
}
"""What of Textual's own themes is too faint, and what it is here: texts, and the ground of fields, which is none at
all in the light one."""
_made: dict[str, tuple[Theme, Theme]] = {}


def readable(theme: Theme) -> Theme:
    """Return a theme of Textual's with every text colour at a contrast of 4.5 at least, as far as we looked at it."""
    if theme.name not in READABLE:
        return theme
    made_of, made = _made.get(theme.name, (None, theme))
    if made_of is not theme:  # Textual asks thousands of times
        made = replace(theme, variables=theme.variables | READABLE[theme.name])
        _made[theme.name] = theme, made
    return made


class Limit(LineFilter):
    """Takes colours away that are not to be sent."""


class NoColours(Limit):
    """Takes every colour away; what the colours told is told by bold, dim, underline and reverse.

    Args:
        ground: the colour of the page; what lies on another one stands out of it.
    """

    def __init__(self, ground: Color) -> None:
        super().__init__()
        self._ground = ground

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(text, None if style is None else without_colour(style, self._ground), control)
            for text, style, control in segments
        ]


def contrast(one: Color, other: Color) -> float:
    """Return the contrast ratio of two colours, from 1 to 21, as WCAG 2 defines it."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Color) -> float:
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@lru_cache(2048)
def without_colour(style: Style, ground: Color) -> Style:
    """Return a style without colours that stands out of the page as this one does."""
    under = Color.from_rich_color(style.bgcolor) if style.bgcolor is not None else ground
    over = Color.from_rich_color(style.color) if style.color is not None else None
    stands_out = contrast(ground, under) >= OUT_OF_GROUND
    vivid = over is not None and max(over.rgb) - min(over.rgb) >= VIVID * 255
    faint = over is not None and not vivid and contrast(under, over) < FAINT
    return Style(
        bold=style.bold or (vivid and not stands_out) or None,
        dim=style.dim or (faint and not stands_out) or None,
        italic=style.italic,
        underline=style.underline,
        strike=style.strike,
        reverse=bool(style.reverse) != stands_out or None,
        link=style.link,
        meta=style.meta,
    )
