"""Each change does what it says to the text and nothing else, and refuses what cannot be."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personas.changes import (
    AddTestInput,
    Change,
    DeleteTestInput,
    EditPrompt,
    MoveTestInput,
    ReplaceText,
    SetDescription,
    SetModel,
    SetName,
    SetPrompt,
    SetSummary,
    SetTags,
    UpdateTestInput,
    new_test_input_id,
)
from personas.errors import BrokenFile, EditRefused, InvalidValue, PersonaError
from personas.files.slug import free_id, slug
from personas.test_inputs import Message

_TEXT = """\
# by hand
name = "Optimist"   # the name
system_prompt = \"\"\"
You are kind.
Be kind.
\"\"\"

[[test_inputs]]
id = "sum"
content = "2+2?"

# about rain
[[test_inputs]]
id = "rain"
content = "It rains."
"""


@pytest.mark.parametrize(
    ("change", "old", "new", "summary"),
    [
        (SetName("Super Optimist"), '"Optimist"', '"Super Optimist"', "name: Optimist -> Super Optimist"),
        (EditPrompt("You are", "You were"), "You are", "You were", "system prompt +1 -1"),
        (UpdateTestInput("sum", "3+3?"), '"2+2?"', '"3+3?"', "test input sum +1 -1"),
        (
            DeleteTestInput("rain"),
            '\n# about rain\n[[test_inputs]]\nid = "rain"\ncontent = "It rains."\n',
            "",
            "test input deleted: rain",
        ),
    ],
)
def test_a_change_touches_one_place(change: Change, old: str, new: str, summary: str) -> None:
    after = change.apply(_TEXT)
    assert after == _TEXT.replace(old, new)
    assert change.summarise(_TEXT, after) == summary


@pytest.mark.parametrize(
    ("change", "key", "value"),
    [
        (SetName("Ünï 'q'"), "name", "Ünï 'q'"),
        (SetDescription("d"), "description", "d"),
        (SetSummary("s"), "summary", "s"),
        (SetTags(("a", "b")), "tags", ["a", "b"]),
        (SetPrompt("p\n{{user}}\n"), "system_prompt", "p\n{{user}}\n"),
        (SetPrompt(""), "system_prompt", ""),
        (SetModel(name="m", max_tokens=5), "model", {"name": "m", "max_tokens": 5}),
    ],
)
@pytest.mark.parametrize("text", [_TEXT, ""], ids=["a file", "an empty file"])
def test_a_set_value_is_read_back_and_all_else_stays(
    text: str, change: Change, key: str, value: object
) -> None:
    after = tomllib.loads(change.apply(text))
    expected = tomllib.loads(text)
    if value or key in expected:
        expected[key] = value
    assert after == expected


@pytest.mark.parametrize(
    "change",
    [
        SetName("Optimist"),
        SetDescription(""),
        SetSummary(""),
        SetTags(()),
        SetModel(),
        SetModel(name=None),
        SetPrompt("You are kind.\nBe kind.\n"),
        UpdateTestInput("sum", "2+2?"),
        MoveTestInput("rain", 99),
        EditPrompt("You are", "You are"),
        ReplaceText(_TEXT),
    ],
)
def test_an_equal_value_leaves_the_text_alone(change: Change) -> None:
    assert change.apply(_TEXT) == _TEXT


def test_fields_of_the_model_are_set_and_removed_one_by_one() -> None:
    text = SetModel(name="m", effort="low", max_tokens=5).apply(_TEXT)
    text = SetModel(effort=None, max_tokens=7).apply(text)
    assert tomllib.loads(text)["model"] == {"name": "m", "max_tokens": 7}


def test_a_new_test_input_goes_to_the_end_with_an_id_from_its_words() -> None:
    after = AddTestInput("How do you feel about Mondays, really?").apply(_TEXT)
    assert after.startswith(_TEXT)
    assert tomllib.loads(after)["test_inputs"][-1] == {
        "id": "how-do-you-feel-about",
        "content": "How do you feel about Mondays, really?",
    }
    said = [("user", "Hi"), ("assistant", "Yes?"), ("user", "Why?")]
    messages = tuple(Message(role=role, content=content) for role, content in said)
    after = AddTestInput("Why?", messages=messages).apply(_TEXT)
    assert tomllib.loads(after)["test_inputs"][-1] == {
        "id": "why",
        "messages": [{"role": role, "content": content} for role, content in said],
    }


def test_test_inputs_move() -> None:
    ids = [table["id"] for table in tomllib.loads(MoveTestInput("rain", 0).apply(_TEXT))["test_inputs"]]
    assert ids == ["rain", "sum"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (SetName("  "), "must not be empty"),
        (SetName("a\nb"), "single line"),
        (SetName("a" * 201), "at most 200 characters; this one has 201"),
        (SetTags(["a", ""]), "must not be empty"),
        (SetTags(["a\rb"]), "single line"),
        (SetTags(["a" * 201]), "at most 200"),
        (SetPrompt("\ud83d"), "."),
        (SetModel(max_tokens=0), "greater than 0"),
        (SetModel(max_tokens=10**5000), "too large"),
        (SetModel(name=" "), "must not be empty"),
        (SetModel(effort="low\0"), "single line"),
        (SetModel(name="m" * 201), "at most 200"),
        (EditPrompt("", "x"), "must not be empty"),
        (EditPrompt("unkind", "x"), "no match"),
        (EditPrompt("kind", "x"), "2 matches"),
        (AddTestInput(" \n"), "must not be empty"),
        (AddTestInput("x", id="sum"), "already"),
        (AddTestInput("x", id=""), "must not be empty"),
        (AddTestInput("x", id="i" * 101), "at most 100 characters; this one has 101"),
        (UpdateTestInput("sum", ""), "must not be empty"),
        (UpdateTestInput("nope", "x"), "there is sum, rain"),
        (DeleteTestInput("nope"), "no test input 'nope'"),
        (MoveTestInput("nope", 0), "no test input"),
    ],
)
def test_what_cannot_be_is_an_invalid_value(change: Change, message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        change.apply(_TEXT)


@pytest.mark.parametrize(
    ("passage", "sent", "named"),
    [
        ("10\u00a0km", "10 km", "there: U+00A0 NO-BREAK SPACE; sent: U+0020 SPACE"),
        ("don’t say “no”", 'don\'t say "no"', "U+2019 RIGHT SINGLE QUOTATION MARK, U+201C"),
        ("wait… – so", "wait... - so", "U+2026 HORIZONTAL ELLIPSIS, U+2013 EN DASH"),
        ("cafe\u0301", "café", "U+0301 COMBINING ACUTE ACCENT"),
        ("a\u200bword", "aword", "U+200B ZERO WIDTH SPACE"),
        ("'plain'\nnext", "‘plain’\nnext", "sent: U+2018 LEFT SINGLE QUOTATION MARK"),
    ],
)
def test_an_edit_that_differs_by_look_alikes_is_refused_with_the_exact_text(
    passage: str, sent: str, named: str
) -> None:
    text = SetPrompt(f"Zuerst größer.\n{passage}\nThe end.").apply(_TEXT)
    with pytest.raises(InvalidValue, match="no match") as refused:
        EditPrompt(sent, "x").apply(text)
    message = str(refused.value)
    assert named in message
    exact, _ = json.JSONDecoder().raw_decode(message[message.index(': "') + 2 :])
    assert exact == passage
    changed = tomllib.loads(EditPrompt(exact, "x").apply(text))
    assert changed["system_prompt"] == "Zuerst größer.\nx\nThe end."


@pytest.mark.parametrize(
    ("prompt", "sent"),
    [
        ("It’s here. It’s there.", "It's"),
        ("wait…", "wait.."),
        ("nothing like it", "It's"),
        ("any text", "\u200b"),
    ],
    ids=["two passages", "within a character", "none", "nothing to see"],
)
def test_no_passage_is_named_where_none_or_several_nearly_match(prompt: str, sent: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        EditPrompt(sent, "x").apply(SetPrompt(prompt).apply(_TEXT))
    assert str(refused.value).endswith("it must have exactly one.")


def test_names_up_to_the_limit_are_taken_and_longer_ones_in_a_file_are_kept() -> None:
    assert tomllib.loads(SetName("a" * 200).apply(_TEXT))["name"] == "a" * 200
    long = f"name = '{'n' * 100_000}'\ntags = ['{'t' * 300}']\n[[test_inputs]]\nid = '{'i' * 300}'\ncontent = 'x'\n"
    assert SetName("n" * 100_000).apply(long) == long
    assert tomllib.loads(SetTags(["t" * 300, "new"]).apply(long))["tags"] == ["t" * 300, "new"]
    changed = tomllib.loads(UpdateTestInput("i" * 300, "y").apply(long))
    assert changed["test_inputs"] == [{"id": "i" * 300, "content": "y"}]
    assert len(changed["name"]) == 100_000
    with pytest.raises(InvalidValue) as caught:
        DeleteTestInput("j" * 300).apply(long)
    assert len(str(caught.value)) < 200


def test_overlapping_matches_count() -> None:
    with pytest.raises(InvalidValue, match="2 matches"):
        EditPrompt("aa", "b").apply('system_prompt = "aaa"')


def test_no_more_matches_are_counted_than_anybody_wants_to_know() -> None:
    prompt = f'system_prompt = "{"-" * 100_000}"'  # counting all takes half a minute
    with pytest.raises(InvalidValue, match="at least 100 matches"):
        EditPrompt("-" * 50_000, "x").apply(prompt)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("name = 5", SetName("x")),
        ("tags = 'x'", SetTags(["a"])),
        ("model = 'x'", SetModel(name="m")),
        ("system_prompt = []", SetPrompt("x")),
        ("system_prompt = []", EditPrompt("x", "y")),
        ("test_inputs = 'x'", AddTestInput("x")),
        ("test_inputs = ['x']", AddTestInput("x")),
        ("test_inputs = [{id='a', content=1}]", UpdateTestInput("a", "x")),
        ("test_inputs = [{id='a'}, {id='a'}]", UpdateTestInput("a", "x")),
        ("test_inputs = [{id='a'}, {id='a'}]", DeleteTestInput("a")),
    ],
)
def test_a_file_is_not_edited_where_it_is_wrong(text: str, change: Change) -> None:
    with pytest.raises(EditRefused):
        change.apply(text)
    assert SetDescription("d").apply(text) != text


def test_broken_toml_can_only_be_replaced_whole() -> None:
    with pytest.raises(BrokenFile):
        SetName("x").apply("name =")
    assert ReplaceText("name = 'x'").apply("name =") == "name = 'x'"


@given(st.text(max_size=200))
def test_any_text_is_stored_as_it_is_or_refused(text: str) -> None:
    for change, path in ((SetPrompt(text), "system_prompt"), (AddTestInput(text), "test_inputs")):
        try:
            after = tomllib.loads(change.apply(_TEXT))
        except PersonaError:
            assert not text.strip() or any("\ud800" <= mark <= "\udfff" for mark in text)
        else:
            value = after[path]
            assert (value if isinstance(value, str) else value[-1]["content"]) == text


# -- ids ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Super Optimist!", "super-optimist"),
        ("Ünïcödé — Ça va?", "unicode-ca-va"),
        ("Оптимист", "optimist"),
        ("王小明", "wangxiaoming"),
        ("../../etc/passwd", "etc-passwd"),
        ("  ", "persona"),
        ("\u200b\u202e", "persona"),
        ("x" * 500, "x" * 64),
        ("word " * 30, "word-" * 12 + "word"),
    ],
)
def test_a_name_makes_a_readable_id(name: str, wanted: str) -> None:
    assert slug(name, fallback="persona") == wanted


@given(st.text(), st.sets(st.integers(1, 5)))
def test_every_name_makes_a_valid_free_id(name: str, numbers: set[int]) -> None:
    wanted = slug(name, fallback="persona")
    taken = {wanted if number == 1 else f"{wanted}-{number}" for number in numbers}
    found = free_id(wanted, taken.__contains__)
    assert found not in taken
    assert len(found) <= 64 and found[0].isalnum() and found.isascii()
    assert set(found) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_test_input_ids_are_short_and_apart() -> None:
    assert new_test_input_id("What is 2+2?", ["what-is-2-2"]) == "what-is-2-2-2"
    assert new_test_input_id("???", []) == "test"
    assert len(new_test_input_id("Donaudampfschifffahrtsgesellschaft " * 3, [])) <= 24
