"""Text can be read wherever it stands, in the dark and the light theme and there in sixteen colours.

`tests/snapshots` walks through the dark theme, and measures it on its way. A contrast of 4.5 (WCAG 2, AA) at least; with sixteen colours 4, as on the grey of a dark panel no ink has more.
"""

from __future__ import annotations

from pathlib import Path
from unicodedata import category

from rich.color import ColorSystem
from rich.style import Style
from textual.color import Color

from tests.gallery import SIZES, settle, walk
from tests.support.program import Program, make_store, program
from tests.support.screen_svg import cells, look_of, runs_of
from tui.terminal.ansi16 import contrast_on, in_sixteen
from tui.terminal.palette import contrast
from tui.widgets.theme_styles import ink

LIGHT = "textual-light"
ENOUGH, ENOUGH_OF_SIXTEEN = 4.5, 4.0


def says_something(text: str) -> bool:
    """Whether it is more than lines, blocks and blanks."""
    return any(category(char)[0] in "LNPS" and not "\u2500" <= char <= "\u259f" for char in text)


def colours_of(style: Style, p: Program) -> tuple[Color, Color]:
    theme = p.app.theme_variables
    ink, ground, _ = look_of(style, theme["foreground"].lower(), theme["background"].lower())
    return Color.parse(ink), Color.parse(ground)


def contrast_in_sixteen(style: Style, p: Program) -> float:
    """Return the contrast that text of this style has on a terminal of sixteen colours."""
    style = in_sixteen(style, Color.parse(p.app.theme_variables["background"]))
    if style.color is None or style.bgcolor is None:
        return 21.0  # the terminal's own
    ink, ground = (colour.downgrade(ColorSystem.STANDARD).number for colour in (style.color, style.bgcolor))
    if style.reverse:
        ink, ground = ground, ink
    return contrast_on(ground, ink) if ink is not None and ground is not None else 21.0


def faint_texts(p: Program) -> list[tuple[str, float, float]]:
    """Return each text that stands out too little, and how much, in all colours and in sixteen.

    What lies under a dialog does not count.
    """
    screen, faint = p.app.screen, []
    known: dict[Style, tuple[float, float]] = {}
    for y, row in enumerate(cells(p.app)):
        for x, text, style in runs_of(row):
            if style not in known:
                known[style] = contrast(*colours_of(style, p)), contrast_in_sixteen(style, p)
            value, sixteen = known[style]
            if (
                (value < ENOUGH or sixteen < ENOUGH_OF_SIXTEEN)
                and says_something(text)
                and (screen is p.main or _widget_at(p, x, y) is not screen)
            ):
                faint.append((text.strip(), round(value, 2), round(sixteen, 2)))
    return faint


def _widget_at(p: Program, x: int, y: int) -> object:
    return p.app.screen.get_widget_at(x, y)[0]


async def test_all_text_stands_out_of_its_ground_wherever_one_goes_in_the_light(tmp_path: Path) -> None:
    faint: dict[str, list[tuple[str, float, float]]] = {}
    looked = 0
    async for name, p in walk(tmp_path, SIZES[0]):
        if p.app.theme != LIGHT:
            p.app.theme = LIGHT
            await settle(p, messages=True)
        looked += 1
        if found := faint_texts(p):
            faint[name] = found
    assert looked > 45
    assert faint == {}


async def test_a_colour_is_that_of_the_theme_as_it_is_now_not_as_its_name_was_known(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        for colour in ("#112233", "#445566"):  # Textual works out a theme's colours a moment after it is set
            p.app.theme_variables = {**p.app.theme_variables, "text-secondary": colour}
            assert ink(p.main, "text-secondary").color == Color.parse(colour).rich_color
