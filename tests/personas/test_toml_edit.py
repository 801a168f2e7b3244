"""One change to a TOML text, as a person would make it by hand: each test shows the lines that change."""

from __future__ import annotations

import difflib
import time
import tomllib
from typing import Any

import pytest

from personas.errors import BrokenFile, EditRefused, InvalidValue
from personas.toml.edit import append_table, move_table, remove_key, remove_table, remove_tables, set_value
from personas.toml.guard import Splice, check, same_data
from personas.toml.scanner import KeyPath
from tests.personas.toml_corpus import edits_of

PERSONA = """\
# Kept by hand, do not reformat

name   = "Optimist"   # shown in the list
tags = ["demo", "kind"]
system_prompt = \"\"\"
You are \\"kind\\".
Be brief.
\"\"\"

[model]  # for trying it
effort = "low"
# max_tokens = 100

# the first one
[[test_inputs]]
id = "sum"
content = "What is 2+2?"

[[test_inputs]]
id = "sad"   # keep
content = '''
I am
sad'''
# more to come

[[test_inputs]]
id = "joke"
content = "Tell a joke"

[arc]
name = "growth"
"""


def changed_lines(old: str, new: str) -> list[str]:
    """Return the lines that went (-) and came (+)."""
    lines = difflib.ndiff(old.splitlines(keepends=True), new.splitlines(keepends=True))
    return [line.rstrip("\n") for line in lines if line[0] in "+-"]


@pytest.mark.parametrize(
    ("path", "value", "lines"),
    [
        (
            ("name",),
            'Say "yes"',
            [
                '- name   = "Optimist"   # shown in the list',
                '+ name   = "Say \\"yes\\""   # shown in the list',
            ],
        ),
        (("system_prompt",), 'You are "kind".\nBe very brief.\n', ["- Be brief.", "+ Be very brief."]),
        (("system_prompt",), 'You are "kind".\nBe brief.\nAsk.\n', ["+ Ask."]),
        (("test_inputs", 1, "content"), "I am\nglad", ["- sad'''", "+ glad'''"]),
        (
            ("tags",),
            ["demo", "kind", "new"],
            ['- tags = ["demo", "kind"]', '+ tags = ["demo", "kind", "new"]'],
        ),
        (("tags",), [], ['- tags = ["demo", "kind"]', "+ tags = []"]),
        (("description",), "Sees the upside", ['+ description = "Sees the upside"']),
        (("model", "name"), "x", ['+ name = "x"']),
        (("arc", "stage"), "start", ['+ stage = "start"']),
        (("test_inputs", 0, "note"), "n", ['+ note = "n"']),
        (("new", "table", "key"), True, ["+ ", "+ [new.table]", "+ key = true"]),
        (("notes",), {"a": 1, "b c": [1, 2]}, ["+ ", "+ [notes]", "+ a = 1", '+ "b c" = [1, 2]']),
        (("arc",), {"name": "other"}, ['- name = "growth"', '+ name = "other"']),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_set_value_changes_only_these_lines(
    path: KeyPath, value: Any, lines: list[str], newline: str
) -> None:
    text = PERSONA.replace("\n", newline)
    result = set_value(text, path, value)
    assert changed_lines(PERSONA, result.replace("\r\n", "\n")) == lines
    assert result.count("\n") == result.count(newline)


@pytest.mark.parametrize(
    ("text", "path", "value", "result"),
    [
        ("", ("name",), "x", 'name = "x"\n'),
        ("", ("model", "name"), "x", '[model]\nname = "x"\n'),
        ("\ufeff", ("name",), "x", '\ufeffname = "x"\n'),
        ("a = 1", ("b",), 2, "a = 1\nb = 2"),
        ("a = 1\r\nb = 2", ("c",), 3, "a = 1\r\nb = 2\r\nc = 3"),
        ("a=1\n", ("b",), 2, "a=1\nb=2\n"),
        ("# only a comment", ("a",), 1, "# only a comment\na = 1"),
        ("[model]\nx = 1\n", ("name",), "n", 'name = "n"\n\n[model]\nx = 1\n'),
        ("# top\n\n# its own\n[model]\n", ("a",), 1, "# top\n\na = 1\n\n# its own\n[model]\n"),
        ("a = 1 # one\n# still a\n\n[t]\n", ("b",), 2, "a = 1 # one\n# still a\nb = 2\n\n[t]\n"),
        ("[t]\n  a = 1\n", ("t", "b"), 2, "[t]\n  a = 1\n  b = 2\n"),
        ("[t]\n[u]\n", ("t", "b"), 2, "[t]\nb = 2\n[u]\n"),
        ("a.b = 1\nc = 2\n", ("a", "d"), 3, "a.b = 1\na.d = 3\nc = 2\n"),
        ("a.b = 1\nc = 2\n", ("a", "d", "e"), 3, "a.b = 1\na.d.e = 3\nc = 2\n"),
        ("a.b = 1\nx = 1\na.c = 2\nd = 3\n", ("a", "e"), 4, "a.b = 1\nx = 1\na.c = 2\na.e = 4\nd = 3\n"),
        ("[t]\n  a.b = 1\n", ("t", "a", "c"), 2, "[t]\n  a.b = 1\n  a.c = 2\n"),
        ("a = {}\n", ("a", "b"), 1, "a = { b = 1 }\n"),
        ("a = { b = 1 }\n", ("a", "c", "d"), 2, "a = { b = 1, c = { d = 2 } }\n"),
        ("a = { b.c = 1 }\n", ("a", "b", "d"), 2, "a = { b.c = 1, b.d = 2 }\n"),
        ("a = { b = 1 }\n", ("a",), {"b": 2, "c": 3}, "a = { b = 2, c = 3 }\n"),
        ("a = [{ b = 1 }, { b = 2 }]\n", ("a", 1, "b"), "x", 'a = [{ b = 1 }, { b = "x" }]\n'),
        ("[a.b]\nx = 1\n", ("a", "y"), 2, "[a]\ny = 2\n\n[a.b]\nx = 1\n"),
        ("[a.b]\nx = 1\n[c]\n", ("a", "d", "y"), 2, "[a.b]\nx = 1\n[a.d]\ny = 2\n[c]\n"),
        ("x = [\n  1, # one\n  2  # two\n]\n", ("x",), [1, 2, 3], "x = [\n  1, # one\n  2,  # two\n  3\n]\n"),
        ("x = [\n  1, # one\n  2, # two\n]\n", ("x",), [1, 3, 2], "x = [\n  1, # one\n  3,\n  2, # two\n]\n"),
        ("x = [\n  1, # one\n  2, # two\n]\n", ("x",), [2], "x = [\n  2, # two\n]\n"),
        ("x = [\n  1, # one\n  2  # two\n]\n", ("x",), [1], "x = [\n  1 # one\n]\n"),
        ("x = [1, 2,]", ("x",), [1, 2, 3], "x = [1, 2, 3,]"),
        ("x = [ 1 ]", ("x",), [0, 1], "x = [ 0, 1 ]"),
        ("x = [\n]\n", ("x",), [1], "x = [1]\n"),
        ("x = [ # c\n]\n", ("x",), [1], "x = [\n    1, # c\n]\n"),
        ("x = 1\n", ("x",), 1.0, "x = 1.0\n"),
        ("x = 1\n", ("x",), True, "x = true\n"),
        ("x = 0x10\n", ("x",), 16, "x = 0x10\n"),
        ('x = "\\u0041" # A\n', ("x",), "A", 'x = "\\u0041" # A\n'),
        ("x = nan\n", ("x",), float("nan"), "x = nan\n"),
        ("x = 0.0\n", ("x",), -0.0, "x = -0.0\n"),
        ('"a.b" = 1\n[a]\nb = 2\n', ("a", "b"), 3, '"a.b" = 1\n[a]\nb = 3\n'),
        ('"a.b" = 1\n[a]\nb = 2\n', ("a.b",), 3, '"a.b" = 3\n[a]\nb = 2\n'),
        ("[[a]]\n[b]\n[a.c]\nx = 1\n", ("a", 0, "c", "y"), 2, "[[a]]\n[b]\n[a.c]\nx = 1\ny = 2\n"),
        ("[[a]]\n[[a]]\n", ("a", 0, "c", "y"), 2, "[[a]]\n[a.c]\ny = 2\n[[a]]\n"),
        ("[[a]]\nx = 1\n", ("a",), [], "a = []\n"),
        ("x = [ # c\n  2,\n]\n", ("x",), [1, 2], "x = [ # c\n  1,\n  2,\n]\n"),
        ("x = [[1, 2], [3]]\n", ("x",), [[1, 2, 9], [3]], "x = [[1, 2, 9], [3]]\n"),
        ("a = { b = 1, c = 2 }\n", ("a",), {"c": 2}, "a = { c = 2 }\n"),
        ("a = { b = 1, c = 2 }\n", ("a",), {"d": 3}, "a = { d = 3 }\n"),
        ("a = { b.c = 1, d = 2 }\n", ("a",), {"b": {"c": 2}, "d": 2}, "a = { b = { c = 2 }, d = 2 }\n"),
        ("[[a]]\nx = 1\n", ("model", "name"), "n", '[model]\nname = "n"\n\n[[a]]\nx = 1\n'),
        ("[a]\n", ("a", "b"), [{"x": 1}, {"x": 2}], "[a]\n\n[[a.b]]\nx = 1\n\n[[a.b]]\nx = 2\n"),
        ("[a]\nx = 1 # x\ny = 2 # y\n", ("a",), {"y": 3}, "[a]\ny = 3 # y\n"),
        ("[a]\n[a.b]\nx = 1\n", ("a",), {"b": 1}, "[a]\nb = 1\n"),
        ("[a.b]\nx = 1\n", ("a",), {}, "[a]\n"),
        ("[t]\n[[t.a]]\nx = 1\n", ("t",), {"a": ["x"]}, '[t]\na = ["x"]\n'),
        ("[[a]]\nx = 1\n\n[[a]]\nx = 2\n\n[[a]]\nx = 3\n", ("a",), [{"x": 9}], "[[a]]\nx = 9\n"),
        ("[[a]]\nx = 1\n", ("a",), [{"x": 2}, {"x": 3}], "[[a]]\nx = 2\n\n[[a]]\nx = 3\n"),
    ],
)
def test_set_value_fits_the_file(text: str, path: KeyPath, value: Any, result: str) -> None:
    assert set_value(text, path, value) == result
    assert set_value(result, path, value) == result


NEW = {"id": "new", "content": "one\ntwo"}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("", '[[test_inputs]]\nid = "new"\ncontent = """\none\ntwo"""\n'),
        ("a = 1", 'a = 1\n\n[[test_inputs]]\nid = "new"\ncontent = """\none\ntwo"""'),
        ("a = 1\r\n", 'a = 1\r\n\r\n[[test_inputs]]\r\nid = "new"\r\ncontent = """\r\none\r\ntwo"""\r\n'),
        (
            '[[test_inputs]]\nid="a"\n[arc]\n',
            '[[test_inputs]]\nid="a"\n\n[[test_inputs]]\nid="new"\ncontent="""\none\ntwo"""\n[arc]\n',
        ),
        (
            "a = 1\n[[test_inputs]]\n  x = 1\n# end\n\n# of b\n[b]\n",
            'a = 1\n[[test_inputs]]\n  x = 1\n# end\n\n[[test_inputs]]\n  id = "new"\n  content = """\none\ntwo"""\n\n'
            "# of b\n[b]\n",
        ),
        ("test_inputs = []\n", 'test_inputs = [{ id = "new", content = """\none\ntwo""" }]\n'),
        ('test_inputs = [{id="a"}]\n', 'test_inputs = [{id="a"}, {id="new", content="""\none\ntwo"""}]\n'),
        (
            'test_inputs = [\n  { id = "a" }, # a\n]\n',
            'test_inputs = [\n  { id = "a" }, # a\n  { id = "new", content = """\none\ntwo""" },\n]\n',
        ),
        (
            'test_inputs = [\n  { id = "a" } # a\n]\n',
            'test_inputs = [\n  { id = "a" }, # a\n  { id = "new", content = """\none\ntwo""" }\n]\n',
        ),
    ],
)
def test_append_table_writes_an_element_as_the_others_are(text: str, result: str) -> None:
    assert append_table(text, ("test_inputs",), NEW) == result
    assert tomllib.loads(result)["test_inputs"][-1] == NEW


def test_append_table_goes_behind_the_last_of_its_group() -> None:
    result = append_table(PERSONA, ("test_inputs",), {"id": "new", "content": "x"})
    assert changed_lines(PERSONA, result) == ["+ [[test_inputs]]", '+ id = "new"', '+ content = "x"', "+ "]
    assert result.index('"joke"') < result.index('"new"') < result.index("[arc]")


def test_append_table_reaches_into_elements_with_tables_of_their_own() -> None:
    text = '[[arcs]]\n[arcs.parts.x]\n[[arcs.stage]]\nn = 1\n\n[[arcs]]\nname = "b"\n'
    result = append_table(text, ("arcs", 0, "stage"), {"n": 2})
    assert result == text.replace("n = 1\n", "n = 1\n[[arcs.stage]]\nn = 2\n")
    assert tomllib.loads(append_table(text, ("arcs", 1, "stage"), {"n": 3}))["arcs"][1]["stage"] == [{"n": 3}]
    assert append_table("[[x]]\n[x.y]\nn = 1\n", ("x",), {"n": 2}) == "[[x]]\n[x.y]\nn = 1\n\n[[x]]\nn = 2\n"
    inside = append_table("a = { b.c = 1 }\n", ("a", "b", "list"), {"x": 1})
    assert inside == "a = { b.c = 1, b.list = [{ x = 1 }] }\n"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("a = { b = 1 }\n", "a = { b = 1, list = [{ x = 1 }] }\n"),
        ("a.b = 1\n\n[c]\n", "a.b = 1\n\n[c]\n\n[[a.list]]\nx = 1\n"),
        ("[[p]]\na.b = 1\n[[p]]\n", None),
        ("", "[[a.list]]\nx = 1\n"),
    ],
)
def test_append_table_starts_an_array_where_there_is_none(text: str, result: str | None) -> None:
    path = ("a", "list") if result else ("p", 0, "a", "list")
    longer = append_table(text, path, {"x": 1})
    assert result in (longer, None)
    assert set_value(longer, path, [{"x": 1}]) == longer


def test_remove_table_takes_the_comments_above_it_and_no_others() -> None:
    assert changed_lines(PERSONA, remove_table(PERSONA, ("test_inputs", 0))) == [
        "- ",
        "- # the first one",
        "- [[test_inputs]]",
        '- id = "sum"',
        '- content = "What is 2+2?"',
    ]


@pytest.mark.parametrize(
    ("text", "path", "result"),
    [
        ("[[a]]\nx = 1\n", ("a", 0), ""),
        ("b = 1\n\n[[a]]\nx = 1", ("a", 0), "b = 1"),
        ("# far\n\n# near\n[[a]]\n\n[b]\n", ("a", 0), "# far\n\n[b]\n"),
        ("[[a]]\n[a.s]\n[b]\n[[a]]\nx = 2\n", ("a", 0), "[b]\n[[a]]\nx = 2\n"),
        ("x = [{ a = 1 }, { a = 2 }]\n", ("x", 0), "x = [{ a = 2 }]\n"),
        ("x = [{ a = 1 }, { a = 2 }]\n", ("x", 1), "x = [{ a = 1 }]\n"),
        ("x = [\n  # one\n  { a = 1 }, # 1\n  { a = 2 },\n]\n", ("x", 0), "x = [\n  { a = 2 },\n]\n"),
        ("x = [\n  { a = 1 }, # 1\n  # two\n  { a = 2 }\n]\n", ("x", 1), "x = [\n  { a = 1 } # 1\n]\n"),
    ],
)
def test_remove_table_leaves_the_rest(text: str, path: KeyPath, result: str) -> None:
    assert remove_table(text, path) == result


@pytest.mark.parametrize(
    ("text", "path", "result"),
    [
        ("a = 1 # one\nb = 2\n", ("a",), "b = 2\n"),
        ("a = 1\nb = 2", ("b",), "a = 1"),
        ("a = '''\nx\n''' # c\nb = 2\n", ("a",), "b = 2\n"),
        ("# stays\na = 1\n", ("a",), "# stays\n"),
        ("a = [\n  # stays\n  1,\n  2,\n]\n", ("a", 0), "a = [\n  # stays\n  2,\n]\n"),
        ("a.b = 1\na.c = 2\n", ("a", "b"), "a.c = 2\n"),
        ("a.b = 1\na.c = 2\n", ("a",), ""),
        ("a = { b = 1, c = 2 }\n", ("a", "b"), "a = { c = 2 }\n"),
        ("a = { b = 1, c = 2 }\n", ("a", "c"), "a = { b = 1 }\n"),
        ("a = 1\n\n[m]\nx = 1\n\n[m.n]\ny = 1\n\n[z]\n", ("m",), "a = 1\n\n[z]\n"),
    ],
)
def test_remove_key_leaves_the_rest(text: str, path: KeyPath, result: str) -> None:
    assert remove_key(text, path) == result


def test_move_table_takes_an_elements_comments_along() -> None:
    result = move_table(PERSONA, ("test_inputs", 0), 2)
    assert [one["id"] for one in tomllib.loads(result)["test_inputs"]] == ["sad", "joke", "sum"]
    assert '# the first one\n[[test_inputs]]\nid = "sum"\ncontent = "What is 2+2?"\n\n[arc]' in result
    assert "sad'''\n# more to come\n\n[[test_inputs]]" in result
    assert move_table(result, ("test_inputs", 2), 0) == PERSONA


def test_move_table_takes_the_tables_inside_an_element_along() -> None:
    first, second = "[[x]]\na = 1\n[x.y]\n[[x.z]]\n", "# two\n[[x]]\n[x.y]\nb = 2\n"
    assert move_table(f"{first}\n{second}", ("x", 1), 0) == f"{second}\n{first}"
    assert move_table(first + second, ("x", 1), 1) == first + second
    apart = "[[x]]\n[b]\n[x.y]\n[[x]]\n"
    assert move_table(apart, ("x", 0), 0) == apart
    assert move_table(apart, ("x", 0), 1) == "[[x]]\n[b]\n[[x]]\n[x.y]\n"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("x = [{ a = 1 }, { a = 2 }, { a = 3 }]\n", "x = [{ a = 2 }, { a = 3 }, { a = 1 }]\n"),
        (
            "x = [\n  1, # one\n  2, # two\n  # three\n  3\n]\n",
            "x = [\n  2, # two\n  # three\n  3,\n  1 # one\n]\n",
        ),
        ("[[x]]\na = 1\n[[x]]\na = 2\n[[x]]\na = 3", "[[x]]\na = 2\n[[x]]\na = 3\n[[x]]\na = 1"),
        ("x = [1, # one\n 2, 3]\n", "x = [2, # one\n 3, 1]\n"),
        ("[[x]]\n[b]\n[x.y]\n[[x]]\na = 2\n[[x]]", "[[x]]\na = 2\n[b]\n[[x]]\n[[x]]\n[x.y]"),
    ],
)
def test_move_table_keeps_the_file_around_the_elements(text: str, result: str) -> None:
    assert move_table(text, ("x", 0), 2) == result


@pytest.mark.parametrize(
    "edit",
    [
        lambda: set_value(PERSONA, (), 1),
        lambda: set_value(PERSONA, ("arc",), "not a table any more"),
        lambda: set_value(PERSONA, ("test_inputs",), ["not tables"]),
        lambda: set_value(PERSONA, ("name", "inner"), 1),
        lambda: set_value(PERSONA, ("test_inputs", 3, "id"), "x"),
        lambda: set_value(PERSONA, ("tags", 7), "x"),
        lambda: set_value(PERSONA, ("arc", *"k" * 100), 1),
        lambda: append_table(PERSONA, ("name",), {}),
        lambda: append_table(PERSONA, ("arc",), {}),
        lambda: append_table(PERSONA, ("name", "x"), {}),
        lambda: remove_key(PERSONA, ("nope",)),
        lambda: remove_table(PERSONA, ("test_inputs", 3)),
        lambda: move_table(PERSONA, ("test_inputs", 0), 3),
        lambda: move_table(PERSONA, ("test_inputs", 0), -1),
        lambda: move_table(PERSONA, ("arc", "name"), 0),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_sentence(edit: Any) -> None:
    with pytest.raises(EditRefused) as caught:
        edit()
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message


def test_a_refusal_names_the_place_as_a_person_writes_it() -> None:
    with pytest.raises(EditRefused, match=r"The file has no test_inputs\[3\]\.id\."):
        set_value(PERSONA, ("test_inputs", 3, "id"), "x")


def test_a_broken_file_is_not_edited() -> None:
    with pytest.raises(BrokenFile, match="line 2, column 5"):
        set_value('name = "x"\nb = \n', ("name",), "y")


@pytest.mark.parametrize("value", ["half \ud800", None, {"k": object()}])
def test_a_value_no_file_can_hold_is_invalid(value: Any) -> None:
    with pytest.raises(InvalidValue):
        set_value(PERSONA, ("name",), value)


def test_the_guard_refuses_a_difference_outside_the_declared_span() -> None:
    change = Splice(4, 5, "2")
    check("a = 1 # c\n", "a = 2 # c\n", [{"a": 2}], [change])
    with pytest.raises(EditRefused):
        check("a = 1 # c\n", "a = 2 # d\n", [{"a": 2}], [change])
    with pytest.raises(EditRefused):
        check("b = 1\na = 1\n", "a = 1\nb = 1\n", [{"a": 1, "b": 1}], [])


@pytest.mark.parametrize("expected", [{"a": 2.0}, {"a": True}, {"a": 2, "b": 1}, {}])
def test_the_guard_refuses_other_data_than_expected(expected: Any) -> None:
    with pytest.raises(EditRefused):
        check("a = 1\n", "a = 2\n", [expected], [Splice(4, 5, "2")])


def test_the_guard_refuses_a_text_that_is_not_toml() -> None:
    with pytest.raises(EditRefused):
        check("a = 1\n", "a = \n", [{}], [Splice(4, 5, "")])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, True, False),
        (1, 1.0, False),
        (float("nan"), float("nan"), True),
        (0.0, -0.0, False),
        ([1, {"a": 2}], [1, {"a": 2}], True),
        ([1], [1, 2], False),
        ({"a": 1}, {"b": 1}, False),
        (tomllib.loads("x = 2020-01-01T00:00:00Z"), tomllib.loads("x = 2020-01-01T01:00:00+01:00"), False),
    ],
)
def test_same_data_tells_types_apart(one: Any, other: Any, same: bool) -> None:
    assert same_data(one, other) is same


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_edit_of_a_hand_written_persona_goes_through(newline: str) -> None:
    for text in (PERSONA, PERSONA.rstrip("\n"), "\ufeff" + PERSONA):
        for _, edit in edits_of(text.replace("\n", newline)):
            edit()


def test_a_change_to_a_prompt_of_a_megabyte_takes_well_under_a_second() -> None:
    line = 'You say "hello" to C:\\path, {{user}} and caf\u00e9.\n'
    prompt = line * (1_000_000 // len(line))
    text = set_value(PERSONA, ("system_prompt",), prompt)
    changed = prompt[:500_000] + "new" + prompt[500_000:]
    begin = time.process_time()
    result = set_value(text, ("system_prompt",), changed)
    assert time.process_time() - begin < 0.8
    assert tomllib.loads(result)["system_prompt"] == changed
    assert len(result) == len(text) + 3


@pytest.mark.parametrize("gone", [(0,), (1,), (0, 1), (1, 2), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_several_elements_go_as_they_would_one_by_one(gone: tuple[int, ...], newline: str) -> None:
    headers = "# top\n\n# one\n[[a]]\nx = 1\n[a.t]\ny = 1\n\n[[a]]\nx = 2\n# below\n\n# three\n[[a]]\nx = 3\n\n[z]\n"
    for text in (
        headers,
        headers.replace("# top", 'k = "v"'),
        "a = [\n  { x = 1 }, # one\n  { x = 2 },\n  { x = 3 },\n]\n",
    ):
        text = text.replace("\n", newline)
        one_by_one = text
        for index in reversed(gone):
            one_by_one = remove_table(one_by_one, ("a", index))
        assert remove_tables(text, ("a",), gone) == one_by_one
