"""Where the cursor is, what is open or holds and what is marked: told by one sign each, in every list, without colour."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.screen import Screen

from agent.jobs.job import Question
from tests.support.program import ONE, TWO, Program, make_store, program
from tests.support.settings import preferences
from tests.tui.test_question_box import Stage
from tui.screens.dialogs.command_palette import CommandPaletteDialog
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.settings import ProgramSettings
from tui.terminal.ascii_fallback import Charset
from tui.widgets.persona_list import SIGNS
from tui.widgets.question_box import GRACE
from tui.widgets.virtual_list import CURRENT, MARK, POINTER, Row, VirtualList

INPUTS = "".join(f'\n[[test_inputs]]\nid = "{name}"\ncontent = "say {name}"\n' for name in ("a", "b", "c"))


def signs(rows: VirtualList) -> list[str]:
    """The signs of the rows that are seen: of the cursor, then of what the row is."""
    return [rows.render_line(y).text[:2] for y in range(min(rows.size.height, len(rows.rows)))]


async def opened(p: Program, kind: type[Screen[object]]) -> VirtualList:
    dialog = await p.dialog(kind)
    rows = dialog.query_one(VirtualList)
    await p.until(lambda: rows.size.height > 1 and len(rows.rows) > 1)
    return rows


@pytest.mark.parametrize("charset", [Charset(utf8=True), Charset(utf8=False)])
def test_each_sign_is_another_in_ascii_too(charset: Charset) -> None:
    all_of_them = [POINTER, CURRENT, MARK, *SIGNS.values()]
    shown = ["".join(text for text, _ in charset.pieces(sign)) for sign in all_of_them]
    assert len(set(all_of_them)) == len(set(shown)) == len(shown) and " " not in shown


async def test_the_row_of_the_cursor_is_told_from_what_is_open_or_holds_in_every_list(tmp_path: Path) -> None:
    here, what, both = f"{POINTER} ", f" {CURRENT}", POINTER + CURRENT
    store = make_store(tmp_path, {"one": ONE + INPUTS, "two": TWO})
    async with program(store, size=(120, 40), preferences=preferences(tmp_path, "retries = 2\n")) as p:
        p.main.action_go("personas")
        assert signs(p.main.personas.rows) == [both, "  "]
        await p.press("down")
        assert signs(p.main.personas.rows) == [what, here]
        await p.press("space")
        assert signs(p.main.personas.rows) == [what, POINTER + MARK]
        await p.press("escape")
        p.main.action_go("tests")
        await p.press("space", "down")
        assert signs(p.main.tests.rows) == [f" {MARK}", "  ", here]
        p.main.focus_chat()
        assert signs(p.main.tests.rows) == [f" {MARK}", "  ", here], "it is the one that is run from anywhere"
        await p.write("/")
        assert signs(p.main.chat_bar.commands)[:2] == [here, "  "]
        await p.press("down")
        assert signs(p.main.chat_bar.commands)[:2] == ["  ", here]
        await p.press("backspace")

        p.main.action_switch_persona()
        rows = await opened(p, CommandPaletteDialog)
        await p.press("down")
        assert signs(rows) == [what, here]
        await p.press("escape")

        p.main.action_program_settings()
        rows = await opened(p, ProgramSettings)
        await p.press("down")
        assert signs(rows)[:3] == ["  ", here, "  "]
        assert all(CURRENT not in sign for sign in signs(rows)), (
            "a value that is set is told by where it comes from"
        )
        rows.select("theme")
        await p.press("enter")
        rows = await opened(p, Picker)
        await p.press("down")
        assert signs(rows)[1] == here and sum(CURRENT in sign for sign in signs(rows)) <= 1
        await p.press("escape", "escape")

        p.main.action_go("settings")
        p.main.settings.field("effort").focus()
        await p.press("enter")
        rows = await opened(p, Picker)
        assert signs(rows)[:2] == [both, "  "]
        await p.press("down")
        assert signs(rows)[:2] == [what, here]
        await p.press("escape")

        p.app.push_screen(Picker("Recall a message", [Row(key, key) for key in "abc"], filter=True))
        rows = await opened(p, Picker)
        await p.press("down")
        assert signs(rows) == ["  ", here, "  "], "the keys go to the field"


async def test_the_answers_to_a_question_have_the_same_sign() -> None:
    app = Stage()
    async with app.run_test(size=(60, 20)) as pilot:
        app.box.ask(Question(text="Which?", options=("yes", "no"), tool_use_id="a"))
        await pilot.pause()
        app.now = GRACE
        app.box.press("2")
        assert app.box.choices.render_line(0).text.rstrip() == f"  1 yes  {POINTER} 2 no"


def test_a_row_where_a_word_begins_with_what_is_typed_stands_before_one_where_it_lies_within() -> None:
    texts = {"a": "in-scene: for a role-play", "b": "plain-brief", "c": "not for me"}
    pick = Picker("Link", [Row(key, text, head="part tone") for key, text in texts.items()], filter=True)
    assert [row.key for row in pick._found("pla")] == ["b", "a"]
    assert [row.key for row in pick._found("")] == ["a", "b", "c"]
