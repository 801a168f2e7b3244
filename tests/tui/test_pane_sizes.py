"""Panes made wider, narrower and hidden, by keys and by the mouse, and found again as they were left."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import MouseMove
from textual.widgets import Button

from personas.files.home import Home
from tests.support.program import Program, make_store, program
from tests.support.screen import drawn
from tui.app.ui_state import UiState, load, save
from tui.commands.panes import PANES, Pane


def widths(p: Program) -> tuple[int, int, int]:
    """The columns of persona list, prompt and test inputs; 0 where one is hidden."""
    found = [p.main.query_one(name) for name in ("#personas", "#prompt-pane", "#side")]
    return tuple(pane.region.width if pane.display else 0 for pane in found)  # type: ignore[return-value]


async def drag_to(p: Program, column: int) -> None:
    """Move the mouse with its button held, as a terminal tells of it."""
    p.app.post_message(MouseMove(None, column, 6, 1, 0, 1, False, False, False, screen_x=column, screen_y=6))
    await p.pilot.pause()


async def test_the_pane_with_the_focus_grows_and_shrinks(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), size=(120, 40)) as p:
        assert widths(p) == (24, 56, 40)
        p.main.action_go("personas")
        await p.press("f7", "f7")
        await p.until(lambda: widths(p) == (32, 48, 40))
        p.main.action_go("tests")
        await p.press("f6")
        await p.until(lambda: widths(p) == (32, 52, 36))
        p.main.action_go("prompt")
        await p.press("f7")
        await p.until(lambda: widths(p) == (32, 56, 32))


async def test_the_prompt_always_keeps_room_and_what_gets_too_narrow_is_hidden(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), size=(100, 30)) as p:
        p.main.action_go("personas")
        await p.press(*["f7"] * 12)
        await p.until(lambda: widths(p)[1] >= 34)
        assert sum(widths(p)) == 100
        await p.press(*["f6"] * 8)
        await p.until(lambda: widths(p)[0] == 0)
        assert p.main.focused is p.main.chat_bar.input
        await p.pilot.pause()
        assert "Personas" not in drawn(p.main)


async def test_the_prompt_stands_alone_and_the_others_come_back_as_they_were(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), size=(120, 40)) as p:
        p.main.action_go("personas")
        await p.press("f7", "f12")
        await p.until(lambda: widths(p) == (0, 120, 0))
        assert p.main.focused is p.main.chat_bar.input
        assert "rename" not in drawn(p.main)
        await p.press("tab", "tab")
        assert p.main.focused is p.main.chat_bar.input
        await p.press("f12")
        await p.until(lambda: widths(p) == (28, 52, 40))


async def test_going_to_a_hidden_pane_shows_it(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), size=(120, 40)) as p:
        await p.press("f12", "f4")
        await p.until(lambda: widths(p) == (0, 80, 40))
        assert p.main.tests.rows.has_focus


async def test_the_mouse_drags_the_border_until_the_button_is_let_go_though_nobody_told_of_it(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path), size=(120, 40)) as p:
        await p.pilot.mouse_down("#panes", offset=(23, 5))
        await drag_to(p, 33)
        await p.pilot.mouse_up("#panes", offset=(33, 5))
        await p.until(lambda: widths(p) == (34, 46, 40))
        await p.pilot.hover("#panes", offset=(60, 5))
        assert widths(p) == (34, 46, 40)

        await p.pilot.mouse_down("#panes", offset=(33, 5))
        await drag_to(p, 25)
        await p.until(lambda: widths(p)[0] == 26)
        await p.pilot.hover("#panes", offset=(45, 5))  # no button is down: it was let go outside the window
        assert widths(p)[0] == 26
        await drag_to(p, 50)  # a selection of text, begun elsewhere
        assert widths(p)[0] == 26
        assert p.app.mouse_captured is None


async def test_a_narrow_terminal_says_that_panes_have_no_sizes_there(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), size=(80, 24)) as p:
        await p.press("f7")
        await p.notified("side by side from 100 columns")
        await p.press("f4")
        assert p.main.tests.rows.is_on_screen


async def test_sizes_are_remembered_for_each_class_of_terminal_size(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store, size=(120, 40)) as p:
        p.main.action_go("personas")
        await p.press("f7")
        await p.pilot.resize_terminal(160, 50)
        await p.until(lambda: widths(p) == (28, 84, 48))
        await p.press("f12")
        await p.app.shutdown.leave(0)
    async with program(store, size=(160, 50)) as p:
        await p.until(lambda: widths(p) == (0, 160, 0))
        await p.pilot.resize_terminal(120, 40)
        await p.until(lambda: widths(p) == (28, 52, 40))
        await p.pilot.resize_terminal(80, 24)
        await p.until(lambda: p.prompt.is_on_screen)


async def test_damaged_sizes_are_no_hindrance(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    file = store.home.state / "screen.json"
    for layouts, read in ("[]", {}), ('{"wide": 3}', {}), ('{"wide": {"side": "x"}}', {"wide": {}}):
        file.write_text(f'{{"layouts": {layouts}}}')
        assert load(store.home) == UiState("", read)
    damaged = '{"drafts": 3, "persona_id": [], "layouts": {"wide": {"side": -4, "personas": 9999999}}}'
    file.write_text(damaged)
    async with program(store, size=(120, 40)) as p:
        assert p.main.documents.id == "one"
        assert widths(p) == (24, 56, 40)


def test_what_is_remembered_comes_back(tmp_path: Path) -> None:
    home: Home = make_store(tmp_path).home
    assert load(home) is None
    state = UiState("one", {"wide": {"side": 30, "personas": 0}})
    save(home, state)
    assert load(home) == state


class NotesPane(Button):
    """A pane of a test."""

    tab_mark = "7"


async def test_a_pane_is_one_line_of_the_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = Pane("notes", "Notes", f"{__name__}:NotesPane", 22, "side", "Go to the notes")
    monkeypatch.setattr("tui.screens.main.layout.PANES", (*PANES, notes))
    monkeypatch.setattr("tui.screens.main.layout.BY_ID", {pane.id: pane for pane in (*PANES, notes)})
    async with program(make_store(tmp_path), size=(80, 24)) as p:
        assert "Notes 7" in drawn(p.main)
        pane = p.main.query_one(NotesPane)
        assert not pane.display
        await p.app.run_action("go('notes')", p.main)
        await p.until(lambda: pane.has_focus and pane.region and not p.main.prompt_pane.display)
        await p.press("tab")
        await p.until(lambda: p.main.panes.here == "chat")
        await p.press("shift+tab")
        await p.until(lambda: pane.has_focus)
        await p.pilot.resize_terminal(130, 40)
        await p.until(lambda: pane.region and p.main.tests.region and p.main.prompt_pane.region)
        await p.press("f7")
        await p.until(lambda: p.main.query_one("#side").region.width == 52)


async def test_the_cursor_stays_in_view_when_the_terminal_changes_its_size(tmp_path: Path) -> None:
    lines = "\n".join(f"A line of many words, so that it is broken in a narrow pane: {n}" for n in range(60))
    store = make_store(tmp_path, {"one": f'name = "One"\nsystem_prompt = """\n{lines}\n"""\n'})
    async with program(store, size=(160, 50)) as p:
        editor = p.prompt

        def sees_cursor() -> bool:
            return 0 <= editor._cursor_offset[1] - editor.scroll_offset.y < editor.content_size.height

        p.main.action_go("prompt")
        await p.press("ctrl+end")
        for size in ((80, 18), (30, 8), (160, 50), (90, 16)):
            await p.pilot.resize_terminal(*size)
            await p.until(lambda size=size: p.app.size == size)
            if size[0] >= 60:
                await p.pilot.pause()
                await p.until(sees_cursor)
        editor.scroll_to(y=0, animate=False)
        await p.until(lambda: not sees_cursor())
        await p.pilot.resize_terminal(80, 20)
        await p.until(lambda: p.app.size == (80, 20))
        await p.pilot.pause()
        assert editor.scroll_offset.y == 0, "who scrolled away from the cursor stays there"
