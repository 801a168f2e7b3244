"""A one-line field: nobody in it, it shows how its text begins; in it, where the person is."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.events import Paste
from textual.widgets.input import Selection

from tui.widgets.field import Field

LONG = "the beginning of a text that is much longer than the field is wide, up to its end"


class Stage(App[None]):
    AUTO_FOCUS = "#other"

    def compose(self) -> ComposeResult:
        yield Field(LONG, id="field")
        yield Field(id="other")


def shown(app: App[None]) -> str:
    return app.query_one("#field", Field).render_line(0).text.strip()


async def test_a_field_shows_the_beginning_until_somebody_is_in_it_and_again_when_they_left() -> None:
    app = Stage()
    async with app.run_test(size=(30, 4)) as pilot:
        await pilot.pause()
        field = app.query_one("#field", Field)
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
        assert app.query_one("#field", Field).raw.startswith("the Xbeginning")


async def test_what_is_pasted_takes_the_place_of_what_is_selected() -> None:
    app = Stage()
    async with app.run_test(size=(30, 4)) as pilot:
        field = app.query_one("#field", Field)
        field.focus()
        field.raw = "old name"
        field.selection = Selection(3, 0)
        await pilot.pause()
        app.post_message(Paste("new\ngood"))
        await pilot.pause()
        assert (field.raw, field.cursor_position) == ("new good name", len("new good"))
