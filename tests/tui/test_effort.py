"""The effort of a persona's model: one of the levels there are, chosen with keys or the mouse, or typed."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from agent.core.model import ThinkingLevel
from tests.support.program import Program, make_store, program
from tui.screens.dialogs.picker import Picker
from tui.settings.validation import LEVELS
from tui.widgets.virtual_list import VirtualList

WRONG = 'name = "One"\nsystem_prompt = "x"\n\n[model]\neffort = "turbo"\n'


def effort(p: Program) -> str | None:
    return p.store.get("one").model.effort


async def go_there(p: Program) -> None:
    p.main.action_go("settings")
    p.main.settings.field("effort").focus()
    await p.until(lambda: p.main.settings.field("effort").has_focus)


def test_the_levels_are_those_of_the_core() -> None:
    assert get_args(ThinkingLevel) == LEVELS


async def test_a_level_is_chosen_with_keys_and_the_mouse(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), size=(120, 40)) as p:
        await go_there(p)
        await p.press("enter")
        dialog = await p.dialog(Picker)
        rows = dialog.query_one(VirtualList)
        assert [row.text for row in rows.rows] == ["not set: the model decides", *LEVELS] and rows.key == ""
        await p.press("down", "down", "down", "enter")
        await p.until(lambda: effort(p) == "low")
        assert p.main.settings.field("effort").raw == "low"
        await p.pilot.click("#setting-effort")
        dialog = await p.dialog(Picker)
        rows = dialog.query_one(VirtualList)
        await p.until(lambda: rows.key == "low" and rows.region.height)
        await p.pilot.click(VirtualList, offset=(2, 0))
        await p.until(lambda: not effort(p))
        await p.press("enter", "escape")
        await p.until(lambda: p.app.screen is p.main)
        assert not effort(p)


async def test_a_word_that_is_no_level_is_refused_and_one_from_the_file_shown_with_a_hint(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path, {"one": WRONG, "two": WRONG.replace("turbo", "max")})) as p:
        field = p.main.settings.field("effort")
        note = p.main.settings.query_one(".setting-note")
        assert field.raw == "turbo" and note.display
        await go_there(p)
        await p.write("x")
        await p.press("enter")
        await p.notified("Effort is one of off, minimal, low, medium, high, max, or empty.")
        await p.until(lambda: field.raw == "turbo")
        await p.press("enter")
        dialog = await p.dialog(Picker)
        assert "turbo is none of these" in str(dialog.query_one(".dialog").border_title)
        await p.press("end", "enter")
        await p.until(lambda: effort(p) == "max" and not note.display)
        await p.open("two")
        assert not note.display
