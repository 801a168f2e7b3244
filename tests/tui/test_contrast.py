"""Text can be read in the dark and the light theme: a contrast of 4.5 (WCAG 2, AA) at least, wherever it stands."""

from __future__ import annotations

from pathlib import Path
from unicodedata import category

from rich.style import Style
from textual.color import Color

from tests.gallery import THEMES, walk
from tests.screen_svg import cells, look_of, runs_of
from tests.tui.program import Program, make_store, program
from tui.terminal.palette import contrast
from tui.widgets.theme_styles import ink

ENOUGH = 4.5
ALIKE = {
    *("panel-empty", "panel-after-a-run", "panel-hidden", "stopped", "a-task-is-done", "leaving", "switcher"),
    *(
        "pane-prompt",
        "pane-personas",
        "persona-a-file-whose",
        "test-input-with-a-long-name",
        "personas-filtered",
    ),
    *("greeting", "ask-secret", "ask-text", "wait", "help-second-page", "connect", "setting-being-typed"),
}
"""Looks with no colour that others do not have: a theme takes its time."""


def says_something(text: str) -> bool:
    """Whether it is more than lines, blocks and blanks."""
    return any(category(char)[0] in "LNPS" and not "\u2500" <= char <= "\u259f" for char in text)


def colours_of(style: Style, p: Program) -> tuple[Color, Color]:
    theme = p.app.theme_variables
    ink, ground, _ = look_of(style, theme["foreground"].lower(), theme["background"].lower())
    return Color.parse(ink), Color.parse(ground)


def faint_texts(p: Program) -> list[tuple[str, float]]:
    """Return each text on the screen that stands out too little, and how much; not of what lies under a dialog."""
    screen, faint = p.app.screen, []
    for y, row in enumerate(cells(p.app)):
        for x, text, style in runs_of(row):
            value = contrast(*colours_of(style, p))
            if (
                value < ENOUGH
                and says_something(text)
                and (screen is p.main or _widget_at(p, x, y) is not screen)
            ):
                faint.append((text.strip(), round(value, 2)))
    return faint


def _widget_at(p: Program, x: int, y: int) -> object:
    return p.app.screen.get_widget_at(x, y)[0]


async def test_all_text_stands_out_of_its_ground_wherever_one_goes(tmp_path: Path) -> None:
    faint: dict[str, list[tuple[str, float]]] = {}
    looked = 0
    async for name, p in walk(tmp_path, (120, 40)):
        if name in ALIKE:
            continue
        first = THEMES.index(p.app.theme)  # a theme costs: each look begins with the one before
        for theme in (THEMES[first], THEMES[1 - first]):
            p.app.theme = theme
            await p.pilot.pause()
            looked += 1
            for _ in range(100):  # until all of it has the theme's colours
                if not (found := faint_texts(p)):
                    break
                await p.pilot.pause(0.02)
            else:
                faint[f"{name} {theme}"] = found
    assert looked > 40
    assert faint == {}


async def test_a_colour_is_that_of_the_theme_as_it_is_now_not_as_its_name_was_known(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        for colour in ("#112233", "#445566"):  # Textual works out a theme's colours a moment after it is set
            p.app.theme_variables = {**p.app.theme_variables, "text-secondary": colour}
            assert ink(p.main, "text-secondary").color == Color.parse(colour).rich_color
