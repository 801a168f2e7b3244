"""A paste among the test inputs: one, or one a line, a row, a record, as the person says."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import Paste

from tests.support.program import Program, make_store, program
from tests.support.screen import drawn
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.text_prompt import AskText

ONE = 'name = "One"\n\n[[test_inputs]]\nid = "sum"\ncontent = "What is 2+2?"\n'
LINES = "Who are you?\r\n\r\n  What now?\r\nWhat is 2+2?\r\n"


def contents(p: Program) -> list[str]:
    return [test_input.content for test_input in p.store.get("one").test_inputs]


async def test_a_paste_into_the_list_asks_how_many_it_is_but_for_a_single_line(tmp_path: Path) -> None:
    async with program(make_store(tmp_path, {"one": ONE})) as p:
        p.main.action_go("tests")
        p.app.post_message(Paste(LINES))
        shown = drawn(await p.dialog(Picker))
        assert "3 test inputs, one a line?" in shown and "Who are you?" in shown
        await p.press("enter")
        await p.notified("2 test inputs added. 1 is there already. Ctrl+Z undoes it.")
        assert contents(p) == ["What is 2+2?", "Who are you?", "What now?"]
        await p.until(lambda: p.main.tests.rows.key == "what-now")
        await p.press("ctrl+z")
        await p.until(lambda: len(contents(p)) == 1)

        p.app.post_message(Paste(LINES))
        await p.dialog(Picker)
        await p.press("down", "enter")
        await p.until(lambda: len(contents(p)) == 2)
        assert contents(p)[1] == "Who are you?\n\n  What now?\nWhat is 2+2?"
        p.app.post_message(Paste("One line\n"))
        await p.until(lambda: contents(p)[2:] == ["One line"])
        assert p.app.screen is p.main


@pytest.mark.parametrize(
    ("text", "title", "added"),
    [
        ("id,prompt,score\na,First,1\nb,\"Second, then\",2\n", "2 test inputs, from CSV?", ["First", "Second, then"]),
        ('{"id": "a", "content": "J1", "samples": 2}\n{"messages": [{"role": "user", "content": "J2"}]}',
         "2 test inputs, from JSON Lines?", ["J1", "J2"]),
        ('{"content": "J1"}\n{"content": 3}', "2 test inputs, one a line?", ['{"content": "J1"}', '{"content": 3}']),
    ],
    ids=["csv", "json", "no json"],
)  # fmt: skip
async def test_a_paste_into_the_field_of_a_new_one_may_be_several(
    tmp_path: Path, text: str, title: str, added: list[str]
) -> None:
    async with program(make_store(tmp_path, {"one": ONE})) as p:
        p.main.action_go("tests")
        await p.press("n")
        dialog = await p.dialog(AskText)
        p.app.post_message(Paste(text))
        assert title in drawn(await p.dialog(Picker))
        await p.press("escape")
        await p.until(lambda: p.app.screen is dialog)
        p.app.post_message(Paste("One line"))
        await p.until(lambda: dialog._answer.text == "One line")
        p.app.post_message(Paste("\nand more"))  # something stands there: it belongs to that
        await p.until(lambda: dialog._answer.text == "One line\nand more")
        dialog._answer.text = ""
        p.app.post_message(Paste(text))
        await p.dialog(Picker)
        await p.press("down", "enter")
        await p.until(lambda: dialog._answer.text == text and p.app.screen is dialog)
        dialog._answer.text = ""
        p.app.post_message(Paste(text))
        await p.dialog(Picker)
        await p.press("enter")
        await p.notified("2 test inputs added.")
        await p.until(lambda: p.app.screen is p.main)
        assert contents(p)[1:] == added
