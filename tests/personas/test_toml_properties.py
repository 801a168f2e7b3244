"""Whatever the document and whatever the value: an edit does what was asked and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from personas.errors import BrokenFile, EditRefused, InvalidValue
from personas.toml.edit import append_table, move_table, remove_key, remove_table, set_value
from personas.toml.guard import same_data, with_value
from personas.toml.nodes import TableArray
from personas.toml.scanner import locate, parse, scan
from tests.personas.toml_corpus import arrays, edits_of, leaves, tables, value_at
from tests.personas.toml_documents import documents, texts, values
from tests.support.examples import examples

quick = settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def pick(choices: st.DataObject, options: Any) -> Any:
    options = list(options)
    assume(options)
    return choices.draw(st.sampled_from(options))


@quick
@given(documents(), st.data(), texts)
def test_a_string_set_anywhere_replaces_only_the_characters_of_the_value(
    text: str, choices: st.DataObject, value: str
) -> None:
    path, _ = pick(choices, leaves(parse(text)))
    span = locate(text, path)
    assert span is not None
    result = set_value(text, path, value)
    assert value_at(parse(result), path) == value
    assert result[: span.start] == text[: span.start]
    assert result[len(result) - (len(text) - span.end) :] == text[span.end :]
    assert same_data(parse(result), with_value(parse(text), path, value))


@quick
@given(documents(), st.data(), values)
def test_a_value_of_any_type_reads_back_as_written(text: str, choices: st.DataObject, value: Any) -> None:
    path, old = pick(choices, leaves(parse(text)))
    result = set_value(text, path, value)
    assert same_data(parse(result), with_value(parse(text), path, value))
    back = set_value(result, path, old)
    assert same_data(parse(back), parse(text))


@quick
@given(documents(), st.data(), st.lists(values, max_size=4))
def test_an_array_changes_without_touching_what_is_around_it(
    text: str, choices: st.DataObject, value: list[Any]
) -> None:
    path, old = pick(choices, arrays(parse(text)))
    new = [*old[: choices.draw(st.integers(0, len(old)))], *value]
    if isinstance(scan(text).find(path), TableArray) and not all(isinstance(item, dict) for item in new):
        with pytest.raises(EditRefused):
            set_value(text, path, new)
        return
    result = set_value(text, path, new)
    assert same_data(parse(result), with_value(parse(text), path, new))
    if len(new) >= len(old) and not any(isinstance(item, dict) for item in old):
        assert result.count("COMMENT") >= text.count("COMMENT")


@quick
@given(documents(), st.data(), st.dictionaries(texts, values, max_size=3))
def test_a_table_becomes_another_without_touching_what_is_around_it(
    text: str, choices: st.DataObject, value: dict[str, Any]
) -> None:
    path = pick(choices, tables(parse(text)))
    old = value_at(parse(text), path)
    kept = choices.draw(st.lists(st.sampled_from(sorted(old)), unique=True)) if old else []
    changed = choices.draw(st.dictionaries(st.sampled_from(sorted(old)), values)) if old else {}
    new = {**{key: old[key] for key in kept}, **changed, **value}
    result = set_value(text, path, new)
    assert same_data(parse(result), with_value(parse(text), path, new))


@quick
@given(documents(), st.data())
def test_setting_the_value_that_is_there_returns_the_same_text(text: str, choices: st.DataObject) -> None:
    top = parse(text)
    path, value = pick(
        choices, [*leaves(top), *arrays(top), *((path, value_at(top, path)) for path in tables(top))]
    )
    assert set_value(text, path, value) == text


@quick
@given(documents(), st.data(), values)
def test_an_inserted_key_changes_nothing_else_and_can_be_removed_again(
    text: str, choices: st.DataObject, value: Any
) -> None:
    top = parse(text)
    parent = choices.draw(st.sampled_from([(), *tables(top)]))
    path = (*parent, "new key", *choices.draw(st.sampled_from([(), ("a",)])))
    result = set_value(text, path, value)
    expected = with_value(top, path, value)
    assert same_data(parse(result), expected)
    assert is_subsequence(lines_of(text), lines_of(result)) or "{" in text
    assert result.count("COMMENT") >= text.count("COMMENT")
    assert same_data(parse(remove_key(result, path[: len(parent) + 1])), top)


@quick
@given(documents(), texts)
def test_a_test_input_appended_and_removed_again_leaves_the_text_as_it_was(text: str, content: str) -> None:
    assume(text.strip() or not text)  # a file of nothing but blank lines loses some
    before = parse(text).get("test_inputs", [])
    longer = append_table(text, ("test_inputs",), {"id": "new", "content": content})
    after = {**parse(text), "test_inputs": [*before, {"id": "new", "content": content}]}
    assert same_data(parse(longer), after)
    assert longer.endswith("\n") == text.endswith("\n") or not text.removeprefix("\ufeff")
    assert remove_table(longer, ("test_inputs", len(before))) == text


@quick
@given(documents(), st.data())
def test_moving_an_element_there_and_back_leaves_the_text_as_it_was(
    text: str, choices: st.DataObject
) -> None:
    path, elements = pick(choices, ((path, value) for path, value in arrays(parse(text)) if len(value) > 1))
    old, new = choices.draw(st.permutations(range(len(elements))))[:2]
    moved = move_table(text, (*path, old), new)
    order = [item for i, item in enumerate(elements) if i != old]
    order.insert(new, elements[old])
    assert same_data(parse(moved), with_value(parse(text), path, order))
    assert moved.count("COMMENT") == text.count("COMMENT")
    assert same_data(parse(move_table(moved, (*path, new), old)), parse(text))


@settings(quick, max_examples=examples(8))
@given(documents())
def test_no_edit_of_a_valid_document_is_refused(text: str) -> None:
    for name, edit in edits_of(text):
        try:
            edit()
        except (EditRefused, AssertionError) as error:
            raise AssertionError(f"{name}: {error!r}") from error


@settings(quick, max_examples=examples(20))
@given(documents(), st.data(), texts)
def test_a_damaged_document_raises_nothing_but_our_errors(
    text: str, choices: st.DataObject, value: str
) -> None:
    for _ in range(choices.draw(st.integers(1, 3))):
        at = choices.draw(st.integers(0, len(text)))
        cut = choices.draw(st.integers(0, 3))
        text = (
            text[:at]
            + choices.draw(st.sampled_from(["", *"\"'[]{}=,.#\n\r\\ a1\x00\ufeff", '"""', "'''"]))
            + text[at + cut :]
        )
    paths = [
        ("name",),
        ("model", "max_tokens"),
        ("test_inputs", 0, "content"),
        ("arcs", 0, "parts", "x", "k"),
    ]
    for path in paths:
        for edit in (
            lambda path=path: set_value(text, path, value),
            lambda path=path: remove_key(text, path),
            lambda path=path: append_table(text, path, {"id": value}),
            lambda path=path: move_table(text, (*path[:1], 0), 1),
        ):
            try:
                parse(edit())
            except (BrokenFile, EditRefused, InvalidValue):
                continue


def lines_of(text: str) -> list[str]:
    return text.removeprefix("\ufeff").splitlines()


def is_subsequence(few: list[str], many: list[str]) -> bool:
    rest = iter(many)
    return all(line in rest for line in few)
