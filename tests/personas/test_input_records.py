"""Reading test inputs out of lines, CSV and JSON Lines."""

from __future__ import annotations

from typing import Any

import pytest

from personas.errors import InvalidValue
from personas.input_records import read_inputs, write_inputs

ASKED, ANSWER = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}


@pytest.mark.parametrize(
    ("text", "name", "column", "kind", "tables"),
    [
        ("One\n\n  two, too \n", "", "", "lines", [{"content": "One"}, {"content": "two, too"}]),
        ("id;prompt\n1;a, b\n2;\n;c\n", "", "", "CSV", [{"id": "1", "content": "a, b"}, {"content": "c"}]),
        ("q\tPrompt\nx\t\"two\nlines\"\n", "a.tsv", "", "CSV", [{"content": "two\nlines"}]),
        ("q,prompt\nx,y\n", "a.csv", "q", "CSV", [{"content": "x"}]),
        ("prompt, or so\nand more, too\n", "", "", "lines", [{"content": "prompt, or so"}, {"content": "and more, too"}]),
        ('{"id": 7, "question": "a", "score": null}\n"b"\n', "a.jsonl", "", "JSON Lines", [{"id": "7", "content": "a"}, {"content": "b"}]),
        ('["a",\n{"text": "b", "samples": 2}]', "", "", "JSON Lines", [{"content": "a"}, {"samples": 2, "content": "b"}]),
        ('{"q": "a", "content": "b"}', "", "q", "JSON Lines", [{"content": "a"}]),
        ('Prompt\nHi, you\n"Bye, ""x"""\na,"b"\n', "a.csv", "", "CSV", [{"content": "Hi, you"}, {"content": 'Bye, "x"'}, {"content": 'a,"b"'}]),
        ("prompt,score\na,1,,\n", "a.csv", "", "CSV", [{"content": "a"}]),
        ("One: 1\nTwo: 2\n", "my.notes.MD", "", "lines", [{"content": "One: 1"}, {"content": "Two: 2"}]),
    ],
    ids=range(11),
)  # fmt: skip
def test_what_a_text_holds(text: str, name: str, column: str, kind: str, tables: list[Any]) -> None:
    read = read_inputs(text, name=name, column=column)
    assert (read.kind, read.tables) == (kind, tables)


def test_a_conversation_ends_with_the_last_message_of_the_user_and_what_is_left_out_is_told() -> None:
    system = {"role": "system", "content": "You are …"}
    records = [{"messages": [system, ASKED, ANSWER, ASKED, ANSWER], "tag": "x"}, {"messages": [ASKED]}]
    read = read_inputs(write_inputs(records))
    assert read.tables == [{"messages": [ASKED, ANSWER, ASKED], "tag": "x"}, {"messages": [ASKED]}]
    assert read.notes == ("Left out: the system message in 1 of 2.", "Left out: the last answer in 1 of 2.")
    read = read_inputs("id,prompt,score\na,,1\nb,c,2\n")
    assert read.notes == ("Left out: 1 of 2 without a text.", "Left out: score.")


@pytest.mark.parametrize(
    ("text", "name", "column", "why"),
    [
        ("a,b\n1,2\n", "a.csv", "", "Which column holds the texts? There is a, b."),
        ("a,b\n1,2\n", "a.csv", "c", "no column 'c'; there is a, b"),
        ('a,prompt\n1,"2\n', "a.csv", "", "Line 2 is not CSV"),
        ('{"content": "a"}\n{\n', "a.jsonl", "", "Line 2 cannot be read: it is not JSON"),
        ("[" * 100_000, "a.jsonl", "", "Line 1 cannot be read: it nests too deeply"),
        ('{"content": "a"}\n[1]\n', "a.jsonl", "", "Line 2 is neither"),
        ('{"a": "b"}', "", "", "it has a"),
        ('["a",\n3]', "", "", "Element 2 is neither"),
        ('{"content": 3}', "", "", "Line 1: content is not text"),
        ('{"content": "a", "expect": [{"type": "contain", "value": "b"}]}', "", "", "did you mean contains?"),
        ('{"messages": [{"role": "user"}]}', "", "", "Line 1: a message has a role"),
        ("id,prompt\na,b\nc,Hi, you\n", "a.csv", "", "Line 3 has 3 cells, and the first line 2"),
        ("key: sk-1\n", "promptfooconfig.yaml", "", "`persona import` makes personas"),
        ("FROM llama\n", "Modelfile", "", "come from .txt or .md"),
    ],
    ids=range(14),
)
def test_what_cannot_be_read_is_named_with_its_line(text: str, name: str, column: str, why: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        read_inputs(text, name=name, column=column)
    assert why in str(caught.value)
