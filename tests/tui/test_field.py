"""A one-line field: nobody in it, it shows how its text begins; in it, where the person is."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.events import Paste
from textual.widgets.input import Selection

from tui.widgets.text.line_input import LIMIT, LineInput

LONG = "the beginning of a text that is much longer than the field is wide, up to its end"


class Stage(App[None]):
    AUTO_FOCUS = "#other"

    def compose(self) -> ComposeResult:
        yield LineInput(LONG, id="field")
        yield LineInput(id="other")


def shown(app: App[None]) -> str:
    return app.query_one("#field", LineInput).render_line(0).text.strip()


async def test_a_field_shows_the_beginning_until_somebody_is_in_it_and_again_when_they_left() -> None:
    app = Stage()
    async with app.run_test(size=(30, 4)) as pilot:
        await pilot.pause()
        field = app.query_one("#field", LineInput)
        assert shown(app).startswith("the beginning")
        field.focus()
        await pilot.pause()
        assert shown(app).endswith("to its end")
        await pilot.press("left", "X")
        app.query_one("#other").focus()
        await pilot.pause()
        assert shown(app).startswith("the beginning")
        field.focus()
        await pilot.pause()
        await pilot.press("Y")
        assert field.raw.endswith("to its enXYd"), "it goes on where the person was"
        field.raw = f"another: {LONG}"
        app.query_one("#other").focus()
        field.raw = LONG
        await pilot.pause()
        assert shown(app).startswith("the beginning")


async def test_a_click_into_a_field_means_the_letter_that_is_in_sight() -> None:
    app = Stage()
    async with app.run_test(size=(30, 4)) as pilot:
        await pilot.pause()
        await pilot.hover("#field", offset=(4, 0))
        await pilot.click("#field", offset=(4, 0))
        await pilot.press("X")
        assert app.query_one("#field", LineInput).raw.startswith("the Xbeginning")


async def test_what_is_pasted_takes_the_place_of_what_is_selected() -> None:
    app = Stage()
    async with app.run_test(size=(30, 4)) as pilot:
        field = app.query_one("#field", LineInput)
        field.focus()
        field.raw = "old name"
        field.selection = Selection(3, 0)
        await pilot.pause()
        app.post_message(Paste("new\ngood"))
        await pilot.pause()
        assert (field.raw, field.cursor_position) == ("new good name", len("new good"))


@pytest.mark.parametrize("text", [LONG, f"{LONG}, " * 20 + "up to its end"])
async def test_behind_a_first_paste_the_cursor_is_in_sight(text: str) -> None:
    app = Stage()
    async with app.run_test(size=(30, 4)) as pilot:
        await pilot.pause()
        field = app.query_one("#other", LineInput)
        app.post_message(Paste(text))
        await pilot.pause()
        assert field.render_line(0).text.rstrip().endswith("to its end")
        await pilot.press("ctrl+left", "X")
        assert field.render_line(0).text.rstrip().endswith("to its Xend")
        await pilot.press("ctrl+left", "ctrl+left", "ctrl+left", "ctrl+w", "home")
        assert field.raw.endswith("to its Xend") and field.render_line(0).text.startswith("the beginning")


async def test_a_word_is_found_before_the_cursor_however_far_it_is() -> None:
    app = Stage()
    async with app.run_test(size=(30, 4)) as pilot:
        await pilot.pause()
        field = app.query_one("#other", LineInput)
        field.raw = "one " + "two" * 600
        await pilot.press("end", "ctrl+w")
        await pilot.pause()
        assert field.raw == "one "
        await pilot.press("ctrl+shift+left", "Z")
        assert field.raw == "Z"


async def test_selection_and_cursor_are_where_they_are_between_wide_signs_and_tabs() -> None:
    app = Stage()
    async with app.run_test(size=(30, 4)) as pilot:
        await pilot.pause()
        field = app.query_one("#other", LineInput)
        field.raw = "漢字\tא e\u0301 x" * 40
        field.selection = Selection(8, len(field.value) - 1)
        await pilot.pause()
        row = field.render_line(0)
        cursor = field.get_component_rich_style("input--cursor")
        at_cursor = [one.text for one in row if one.style and one.style.bgcolor == cursor.bgcolor]
        assert row.cell_length == 31 and at_cursor == ["x"]
        await pilot.press("backspace")
        assert field.raw == ("漢字\tא e\u0301 x" * 40)[:8] + ("漢字\tא e\u0301 x" * 40)[-1:]
        for cell, place in ((0, 0), (1, 0), (2, 1), (4, 2), (5, 3)):
            assert field._cell_offset_to_index(cell - field.scroll_offset.x) == place


async def test_a_text_that_is_too_long_for_a_field_is_shown_kept_and_not_edited() -> None:
    app = Stage()
    text = "x" * LIMIT + "\x1bend"
    async with app.run_test(size=(30, 4)) as pilot:
        await pilot.pause()
        field = app.query_one("#field", LineInput)
        field.raw = text
        assert shown(app).endswith("x…")
        field.focus()
        await pilot.press("end", "backspace", "Z", "ctrl+u")
        assert field.raw == text and len(app._notifications)
        field.raw = "short"
        await pilot.press("end", "Z")
        assert field.raw == "shortZ"


async def test_a_paste_that_is_too_long_for_a_field_changes_nothing_and_says_so() -> None:
    app = Stage()
    async with app.run_test(size=(30, 4)) as pilot:
        field = app.query_one("#other", LineInput)
        field.raw = "name"
        field.focus()
        app.post_message(Paste("x" * LIMIT))
        await pilot.pause()
        assert field.raw == "name" and "2,000" in next(iter(app._notifications)).message
