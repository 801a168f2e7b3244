"""Where two texts differ, word by word."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from tui.terminal.word_diffs import differences, first_difference

words = st.text("ab c\n.", max_size=40)


def kept(text: str, spans: list[tuple[int, int]]) -> str:
    """Return a text without the stretches."""
    for begin, end in reversed(spans):
        text = text[:begin] + text[end:]
    return text


@given(words, words)
def test_what_is_not_marked_is_the_same_on_both_sides(ours: str, theirs: str) -> None:
    ours_spans, theirs_spans = differences(ours, theirs)
    assert kept(ours, ours_spans) == kept(theirs, theirs_spans)
    assert all(begin < end for begin, end in [*ours_spans, *theirs_spans])
    if ours != theirs:
        assert ours_spans or theirs_spans
        first = first_difference(ours, theirs)
        assert first <= min(begin for begin, _ in [*ours_spans, *theirs_spans])


def test_whole_words_are_marked() -> None:
    ours, theirs = "You are a bright spark.", "You are a brief spark, ok."
    spans = differences(ours, theirs)
    assert [ours[begin:end] for begin, end in spans[0]] == ["bright"]
    assert [theirs[begin:end] for begin, end in spans[1]] == ["brief", ", ok"]


def test_long_texts_are_one_stretch_and_take_no_time() -> None:
    ours, theirs = "a b " * 100_000 + "x" + " c" * 100_000, "a b " * 100_000 + "y" + " d" * 100_000
    begun = time.perf_counter()
    spans = differences(ours, theirs)
    assert time.perf_counter() - begun < 20
    assert [len(side) for side in spans] == [1, 1]
    assert spans[0][0][0] == 400_000
