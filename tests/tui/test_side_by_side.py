"""Pairs of texts in two columns, or below one another: what is beside what, and what is marked."""

from __future__ import annotations

import pytest
from textual.content import Content
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions

from tests.support.hostile import ESCAPES, MARKUP, forbidden_in
from tui.terminal.word_diffs import MOST_LINES, aligned
from tui.widgets.text.side_by_side import PairLayout, SideBySide, TextPair

WIDE, NARROW = 100, 70


def shown(*pairs: TextPair, by_words: bool = True) -> SideBySide:
    return SideBySide([one for pair in pairs for one in PairLayout(pair).stretches], by_words=by_words)


def strips(text: SideBySide, width: int) -> list[Strip]:
    options = RenderOptions(lambda style: Style(underline="underline" in str(style)), {})  # type: ignore[arg-type]
    return text.render_strips(width, None, Style(), options)


def rows(text: SideBySide, width: int) -> list[str]:
    return [strip.text.rstrip() for strip in strips(text, width)]


def marked(text: SideBySide, width: int) -> list[str]:
    """The stretches of text that are underlined."""
    parts = [part for strip in strips(text, width) for part in strip]
    return [part.text for part in parts if part.style is not None and part.style.underline]


def pair(before: str, after: str, **options: bool) -> TextPair:
    return TextPair("one", Content("one"), (Content("old"), Content("new")), (before, after), **options)


def test_the_same_lines_stand_beside_each_other_and_what_differs_has_a_sign() -> None:
    text = shown(pair("Hello.\nA red cat.\n\nBye.\n", "Hello.\n\nA blue cat.\nBye."))
    half = (WIDE - 3) // 2

    columns = [(row[:half].rstrip(), row[half + 3 :]) for row in rows(text, WIDE)[1:-1]]

    assert columns[0] == ("− old", "+ new")
    assert columns[1] == ("  Hello.", "  Hello.") and columns[-1] == ("  Bye.", "  Bye.")
    assert ("− A red cat.", "") in columns and ("", "+ A blue cat.") in columns
    assert ("", "") in columns, "the blank line"


def test_without_room_they_are_one_column_in_which_the_same_lines_stand_once() -> None:
    text = shown(pair("Hello.\nA red cat.\nBye.", "Hello.\nA blue cat.\nBye."))

    assert rows(text, NARROW)[1:-1] == [
        "− old",
        "+ new",
        "  Hello.",
        "− A red cat.",
        "+ A blue cat.",
        "  Bye.",
    ]
    assert marked(text, NARROW) == ["red", "blue"]
    assert marked(shown(pair("a red", "a blue"), by_words=False), NARROW) == []
    two = shown(pair("red\nsame\nA red cat.", "blue\nsame\nA blue cat."), pair("a", "b"))
    assert (two.differences(NARROW), two.differences(WIDE)) == ([0, 6, 9], [0, 4, 6]), (
        "each pair with its title"
    )


def test_what_still_streams_is_not_compared_and_an_empty_side_takes_no_row() -> None:
    streaming = shown(pair("A red cat.", "A", is_whole=False))
    assert streaming.differences(WIDE) == []
    assert rows(shown(pair("", "New.")), NARROW)[3:-1] == ["+ New."]
    assert len(rows(shown(pair("", "")), WIDE)) == 3


@pytest.mark.parametrize("width", [1, 20, NARROW, WIDE])
def test_hostile_text_is_harmless_at_every_width(width: int) -> None:
    evil = "\n".join([*ESCAPES.values(), *MARKUP, "half \ud83d", "日本語 👩‍👩‍👧 " * 30, "x" * 300])
    text = shown(pair(evil, evil.replace("x", "y")), pair(evil, ""))

    assert forbidden_in("".join(rows(text, width))) == []


def test_the_lines_of_both_texts_are_all_there_however_long_they_are() -> None:
    long = [f"{number % 7}" for number in range(MOST_LINES * 2)]
    for ours, theirs in ((long, long[5:]), (long[:9], long[3:]), ([], long), (["a"], ["a", "b"])):
        found = aligned(ours, theirs)
        assert [line for one, _ in found for line in one] == ours
        assert [line for _, other in found for line in other] == theirs
