"""The sixteen colours of a terminal in place of all others: inks that can be read on their ground, whatever theme it is.

What a terminal shows for each of the sixteen is its own business; two palettes stand for all, and an ink is chosen
that can be read in both. The ground is the one of the sixteen that is nearest to what was wanted.
"""

from __future__ import annotations

from colorsys import rgb_to_hsv
from functools import lru_cache

from rich.color import Color as RichColor
from rich.color import ColorSystem, ColorType
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from tui.terminal.palette import Limit, contrast

XTERM = "000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5 7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff"
VGA = "000000 aa0000 00aa00 aa5500 0000aa aa00aa 00aaaa aaaaaa 555555 ff5555 55ff55 ffff55 5555ff ff55ff 55ffff ffffff"
PALETTES = [[Color.parse(f"#{part}") for part in palette.split()] for palette in (XTERM, VGA)]

ENOUGH = 4.5
"""The contrast from which on text can be read."""
VIVID = 0.25
"""From this saturation on a colour says something; below it is a grey."""
SAME_HUE = 35
"""Degrees between two hues that tell the same."""
GREYS = (0, 7, 8, 15)


class Sixteen(Limit):
    """Has every text in one of the sixteen colours, on another that it stands out of."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            Segment(text, None if style is None else in_sixteen(style, background), control)
            for text, style, control in segments
        ]


@lru_cache(2048)
def in_sixteen(style: Style, ground: Color) -> Style:
    """Return a style in the sixteen colours.

    Args:
        style: any style; colours that are the terminal's own stay.
        ground: what it lies on where it has no ground of its own.
    """
    over = style.color
    if over is None or over.type is not ColorType.TRUECOLOR or style.reverse:
        return style
    under = style.bgcolor or ground.rich_color
    if under.type is ColorType.DEFAULT:
        return style
    number = under.downgrade(ColorSystem.STANDARD).number
    if number is None:
        return style
    ink, plain = ink_on(number, Color.from_rich_color(over))
    return style + Style(color=RichColor.from_ansi(ink), bold=True if plain else None)


def ink_on(ground: int, wanted: Color) -> tuple[int, bool]:
    """Return which of the sixteen colours a text has on another of them, and whether the colour it had is lost.

    Args:
        ground: what it lies on.
        wanted: the colour it would have.
    """
    readable = [ink for ink in range(16) if contrast_on(ground, ink) >= ENOUGH]
    hue, saturation, value = rgb_to_hsv(*wanted.normalized)
    is_vivid = saturation >= VIVID
    if is_vivid:
        near = [ink for ink in readable if ink not in GREYS and _apart(hue, _hue(ink)) <= SAME_HUE]
        if near:
            return min(near, key=lambda ink: (_apart(hue, _hue(ink)), abs(_value(ink) - value))), False
    greys = [ink for ink in GREYS if ink in readable] or [
        max(range(16), key=lambda ink: contrast_on(ground, ink))
    ]
    return min(greys, key=lambda ink: abs(_value(ink) - value)), is_vivid


@lru_cache(256)
def contrast_on(ground: int, ink: int) -> float:
    """Return the contrast between two of the sixteen, in the palette where it is less."""
    return min(contrast(palette[ground], palette[ink]) for palette in PALETTES)


def _hue(ink: int) -> float:
    return rgb_to_hsv(*PALETTES[0][ink].normalized)[0]


def _value(ink: int) -> float:
    return rgb_to_hsv(*PALETTES[0][ink].normalized)[2]


def _apart(one: float, other: float) -> float:
    """Return the degrees between two hues, each from 0 to 1."""
    between = abs(one - other) % 1
    return 360 * min(between, 1 - between)
