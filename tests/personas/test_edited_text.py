"""The difference of two persona files as people edit them: no TOML where only texts differ, and nothing left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personas.changes import AddTestInput, DeleteTestInput, EditPrompt, SetName, SetPrompt
from personas.edited_text import edited_diff

FILE = '''# mine
name = "One"
tags = ["a"]
system_prompt = """
Write a \\\\ for a backslash.
Second line.
"""

[[test_inputs]]
id = "sum"
content = "What is 2+2?"
'''


def shown(before: str, after: str) -> list[str]:
    return edited_diff(before, after).split("\n")[2:-1]


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        (
            EditPrompt("Second", "2nd"),
            ["@@ -1,2 +1,2 @@ system prompt", " Write a \\ for a backslash.", "-Second line.", "+2nd line."],
        ),
        (SetName("Two"), ["@@ -1 +1 @@ name", "-One", "+Two"]),
        (DeleteTestInput("sum"), ["@@ -1 +0,0 @@ test input sum", "-What is 2+2?"]),
    ],
)
def test_texts_are_shown_as_they_read(change: EditPrompt, lines: list[str]) -> None:
    assert shown(FILE, change.apply(FILE)) == lines


def test_a_new_test_input_is_shown_as_its_text() -> None:
    lines = shown(FILE, AddTestInput("Hello\nyou").apply(FILE))
    assert lines[0].startswith("@@ -0,0 +1,2 @@ test input ")
    assert lines[1:] == ["+Hello", "+you"]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('["a"]', '["b"]', '+tags = ["b"]'),
        ("# mine", "# yours", "+# yours"),
        ('id = "sum"', 'id = "total"', "@@ -0,0 +1 @@ test input total"),
        ('2?"\n', '2?"  # why\n', "+content = …  # why"),
        ('name = "One"', "name = ", "+name = "),
    ],
)
def test_what_else_differs_is_shown_too(old: str, new: str, line: str) -> None:
    both = FILE.replace(old, new)
    assert line in shown(FILE, both)
    assert line in shown(FILE, both.replace("Second", "2nd")), "also beside a text that differs"


def test_another_way_to_write_the_same_is_shown_as_the_file_has_it() -> None:
    assert "+name = 'One'" in shown(FILE, FILE.replace('"One"', "'One'"))


def test_moved_test_inputs_are_shown() -> None:
    second = '\n[[test_inputs]]\nid = "b"\ncontent = "B"\n'
    head, first = FILE.split("\n[[test_inputs]]")
    first = f"\n[[test_inputs]]{first}"
    assert shown(head + first + second, head + second + first)


@given(st.text("ab\n\\\"'\r\t", max_size=40), st.text("ab\n\\\"'\r\t", max_size=40))
def test_every_difference_of_two_prompts_is_shown(old: str, new: str) -> None:
    before, after = (SetPrompt(text).apply(FILE) for text in (old, new))
    assert bool(edited_diff(before, after)) == (before != after)
