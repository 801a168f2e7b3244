"""Edits of a text: the stretch that is named occurs once, and only what was meant changes."""

from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.models.offline.intents import Spot
from agent.models.offline.prompt_text import appended, find, inserted, prepended, removal, unique
from tests.support.examples import examples

TEXTS = st.text(alphabet="ab \n.", max_size=40)


@settings(max_examples=examples(30), deadline=None)
@given(TEXTS, st.data())
def test_an_edit_names_text_that_occurs_once_and_changes_just_the_span(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    edit = unique(text, (start, end), "NEW")
    if text:
        assert edit.old in text
        assert text.replace(edit.old, edit.new, 1) == text[:start] + "NEW" + text[end:]
    if (start, end) != (0, len(text)):
        assert text.count(edit.old) == 1


@settings(max_examples=examples(25), deadline=None)
@given(TEXTS, st.integers(-5, 5))
def test_a_numbered_spot_is_found_at_most_once_and_removing_it_leaves_the_other_lines(
    text: str, place: int
) -> None:
    spans = find(text, Spot("line", str(place or 1)))
    assert len(spans) <= 1
    for span in spans:
        (start, end), left = removal(text, span)
        before = [line for line in text.split("\n") if line.strip()]
        after = [line for line in (text[:start] + left + text[end:]).split("\n") if line.strip()]
        del before[
            text[: span[0]].count("\n") - sum(not line.strip() for line in text[: span[0]].split("\n")[:-1])
        ]
        assert after == before


@given(TEXTS, st.text(alphabet="xy ", min_size=1, max_size=8))
def test_what_is_added_stands_on_a_line_of_its_own(text: str, more: str) -> None:
    if text.strip():
        assert more in appended(text, more).split("\n")
        assert appended(text, more).startswith(text.rstrip("\n"))
        assert appended(text, more).endswith("\n") == text.endswith("\n")
        assert prepended(text, more) == f"{more}\n{text}"


def test_text_is_inserted_within_a_line_or_as_a_line() -> None:
    text = "One. Two.\nThree."
    assert inserted(text, (0, 4), "New.", before=False) == "One. New. Two.\nThree."
    assert inserted(text, (10, 16), "New.", before=True) == "One. Two.\nNew.\nThree."
    assert inserted(text, (10, 16), "New.", before=False) == "One. Two.\nThree.\nNew."


def test_a_removed_sentence_takes_one_of_the_spaces_around_it_along() -> None:
    def without(text: str, gone: str) -> str:
        at = text.index(gone)
        (start, end), left = removal(text, (at, at + len(gone)))
        return text[:start] + left + text[end:]

    assert without("One. Two. Three.", "Two.") == "One. Three."
    assert without("One. Two.\nThree.", "Two.") == "One.\nThree."
    assert without("One.\nTwo.\nThree.", "Two") == "One.\nThree."
    assert without("- One.\n- Two.\n", "Two.") == "- One.\n"
    assert without("One.\nTwo.", "Two.") == "One."


def test_bullets_and_paragraphs_are_counted_as_such() -> None:
    text = "Intro.\nMore.\n\n- a\n- b\n\nEnd."

    def found(kind: str, place: str) -> list[str]:
        return [text[start:end] for start, end in find(text, Spot(kind, place))]  # type: ignore[arg-type]

    assert found("bullet", "2") == ["- b"]
    assert found("rule", "1") == ["- a"]
    assert found("paragraph", "1") == ["Intro.\nMore."]
    assert found("line", "-1") == ["End."]
    assert found("bullet", "3") == []


def test_a_text_of_equal_lines_is_edited_quickly() -> None:
    text = "the same line\n" * 20_000
    start = time.process_time()
    edit = unique(text, (140_000, 140_014), "")
    assert time.process_time() - start < 2
    assert text.count(edit.old) == 1
