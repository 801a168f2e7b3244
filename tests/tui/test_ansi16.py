"""With sixteen colours, text can be read in the light theme and the dark one, and what colours told is still told."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.color import ColorSystem
from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from agent.models.scripted import ToolUse, answer
from tests.support.program import STAYS, make_store, program
from tests.support.screen_svg import cells, runs_of
from tests.tui.test_contrast import says_something
from tui.settings.schema import Settings
from tui.terminal.ansi16 import contrast_on, in_sixteen, ink_on
from tui.terminal.palette import readable

TEXTS = (
    *("foreground", "foreground-muted", "text-accent", "text-secondary", "text-primary"),
    *("text-error", "text-success", "text-warning"),
)
GROUNDS = ("background", "surface", "panel", "success-muted", "error-muted", "accent", "primary-muted")


@pytest.mark.parametrize("name", ["textual-dark", "textual-light"])
def test_every_text_of_a_theme_can_be_read_on_every_ground_of_it(name: str) -> None:
    colours = readable(BUILTIN_THEMES[name]).to_color_system().generate()
    for under in GROUNDS:
        ground = Color.parse(colours[under])
        for over in TEXTS:
            style = Style(color=Color.parse(colours[over]).rich_color)
            ink = in_sixteen(style, ground).color
            number = ground.rich_color.downgrade(ColorSystem.STANDARD).number
            assert ink is not None and ink.number is not None and number is not None
            # On the grey of a dark panel nothing stands out more than white, in one of the palettes.
            assert contrast_on(number, ink.number) >= 4.0, (over, under)


def test_an_error_and_a_success_are_told_apart() -> None:
    for name, page in (("textual-dark", 0), ("textual-light", 15)):
        colours = readable(BUILTIN_THEMES[name]).to_color_system().generate()
        error, success = (ink_on(page, Color.parse(colours[key])) for key in ("text-error", "text-success"))
        assert error != success


def test_a_colour_that_no_readable_ink_has_is_told_by_bold() -> None:
    brown = Style(color="#744600")
    assert in_sixteen(brown, Color.parse("#E0E0E0")) == Style(color="color(0)", bold=True)
    assert in_sixteen(Style(color="#1F1F1F"), Color.parse("#E0E0E0")).bold is None


@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_what_is_said_and_the_keys_below_it_can_be_read_in_sixteen_colours(
    tmp_path: Path, theme: str
) -> None:
    settings = Settings(panel_seconds=STAYS, theme=theme, colours="16")
    edit = ToolUse("edit_system_prompt", {"old": "first line", "new": "1st line"})
    async with program(make_store(tmp_path), answer(edit), answer("**Done.**"), settings=settings) as p:
        await p.run_to_end("say 1st")
        faint = []
        for row in cells(p.app):
            for _, text, style in runs_of(row):
                if not says_something(text) or style.color is None or style.bgcolor is None:
                    continue
                ink = style.color.downgrade(ColorSystem.STANDARD).number
                ground = style.bgcolor.downgrade(ColorSystem.STANDARD).number
                if style.reverse:
                    ink, ground = ground, ink
                if ink is None or ground is None or contrast_on(ground, ink) < 4.0:
                    faint.append((text.strip(), ink, ground))
        assert faint == []
