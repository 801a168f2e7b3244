"""Hostile text becomes harmless text, and nothing else changes."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.support.examples import examples
from tui.terminal.sanitise import (
    Sanitiser,
    both_ends,
    clip,
    one_line,
    sanitise,
    shortened,
    spell_out_too,
    spelled_out,
    stand_ins,
)

FORBIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u061c\u2028-\u202e\u2060-\u206f\ufeff"
    r"\ud800-\udfff\U000e0000-\U000e007f]"
)
NASTY = (
    "\x1b", "[", "]", "P", "X", "^", "_", "\\", "\x07", "\x9b", "\x9d", "\x90", "\x9c", "\x98", "\x9e", "\x9f",
    "0", ";", "m", "J", " ", "(", "B", "\r", "\n", "\t", "\x00", "\x0b", "\x0c", "\x85", "\u2028", "\u2029",
    "\u202e", "\u2066", "\u200f", "\u061c", "\ud800", "\udfff", "\U000e0041", "\x7f", "é", "漢", "👨\u200d👩", "a",
)  # fmt: skip
hostile_texts = st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=3)), max_size=30).map("".join)


@given(hostile_texts)
@settings(max_examples=examples(30))
def test_nothing_a_terminal_obeys_survives(text: str) -> None:
    assert FORBIDDEN.search(sanitise(text)) is None


@given(hostile_texts)
@settings(max_examples=examples(25))
def test_sanitising_twice_changes_nothing(text: str) -> None:
    assert sanitise(sanitise(text)) == sanitise(text)


@given(st.text(st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp")) | st.sampled_from("\n\t")))
@settings(max_examples=examples(25))
def test_clean_text_is_unchanged(text: str) -> None:
    if FORBIDDEN.search(text) is None and not re.search("[\u034f\u180e\U000e0100-\U000e01ef]", text):
        assert sanitise(text) == text


@given(st.lists(hostile_texts, max_size=8))
@settings(max_examples=examples(30))
def test_text_in_pieces_becomes_what_the_whole_becomes(pieces: list[str]) -> None:
    sanitiser = Sanitiser()
    shown = [sanitiser.feed(piece) for piece in pieces]
    assert "".join(shown) + sanitiser.flush() == sanitise("".join(pieces))


@given(hostile_texts)
@settings(max_examples=examples(25))
def test_every_single_character_as_a_piece_gives_the_same(text: str) -> None:
    sanitiser = Sanitiser()
    assert "".join(sanitiser.feed(character) for character in text) + sanitiser.flush() == sanitise(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mred\x1b[0mb", "aredb"),
        ("a\x9b2Jb", "ab"),
        ("a\x1b]52;c;aGk=\x07b", "ab"),
        ("a\x1b]0;title\x1b\\b", "ab"),
        ("a\x9d8;;http://x\x9cb", "ab"),
        ("a\x1bP1$r\x1b\\b", "ab"),
        ("a\x1b_payload\x1b\\b", "ab"),
        ("a\x1b^payload\x1b\\b", "ab"),
        ("a\x1bXpayload\x1b\\b", "ab"),
        ("a\x1bcb", "ab"),
        ("a\x1b(0b", "ab"),
        ("safe\r\x1b[2Kevil", "safe\nevil"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("a\u2028b\u2029c\x85d\x0ce\x0bf", "a\nb\nc\nd\ne\nf"),
        ("\u202eevil\u202c\u2066x\u2069", "evilx"),
        ("a\ud800b", "a\ufffdb"),
        ("a\U000e0068\U000e0069b", "a\ufffd\ufffdb"),
        ("a\x9bb\x1b[38;2;255;100;0;1;4mc", "ac"),
        ("a\x1b[!pb", "ab"),
        ("a\x1b 7b\x1b#8c", "abc"),
        ("tab\there", "tab\there"),
        ("👨‍👩‍👧 می‌خواهم", "👨‍👩‍👧 می‌خواهم"),
    ],
)
def test_each_kind_of_sequence(text: str, shown: str) -> None:
    assert sanitise(text) == shown


@pytest.mark.parametrize(
    "sign",
    [*"\x00\x7f\x80\x9f\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u202a\u202e\u2060\u206f\ufeff\ufff9\ufffb", *"\U000e0100\U000e01ef"],
)  # fmt: skip
def test_a_sign_that_nobody_sees_is_taken_out_and_told_where_texts_are_compared(sign: str) -> None:
    assert sanitise(f"a{sign}b") == "ab"
    assert spelled_out(f"a{sign}b") == f"a<U+{ord(sign):04X}>b"
    assert len(stand_ins(f"a{sign}b")) == 3 and sign not in stand_ins(f"a{sign}b")


@pytest.mark.parametrize("opener", ["\x1b]", "\x9d", "\x1bP", "\x1b_", "\x1b[", "\x9b", "\x1b"])
def test_a_sequence_that_never_ends_hides_nothing_after_it(opener: str) -> None:
    assert "\nthe rest\nof it" in sanitise(f"start {opener}0\nthe rest\nof it")


def test_a_string_too_long_to_be_one_stays_readable() -> None:
    assert "x" * 5000 in sanitise("\x1b]0;" + "x" * 5000 + "\x07")
    assert sanitise("a\x1b]" + "x" * 4096 + "\x07b") == "ab"
    assert sanitise("a\x1b]0;one\ntwo\x07b") == "a0;one\ntwob"


def test_an_escape_cut_between_two_deltas_does_not_survive() -> None:
    sanitiser = Sanitiser()
    assert sanitiser.feed("a\x1b") == "a"
    assert sanitiser.feed("]52;c;eA==") == ""
    assert sanitiser.feed("\x07b") == "b"


def test_a_line_end_cut_between_two_deltas_is_one_line_end() -> None:
    sanitiser = Sanitiser()
    shown = [sanitiser.feed("one\r"), sanitiser.feed("\ntwo\r"), sanitiser.feed("three"), sanitiser.flush()]
    assert "".join(shown) == "one\ntwo\nthree"


def test_after_its_end_a_text_in_pieces_begins_anew() -> None:
    sanitiser = Sanitiser()
    sanitiser.feed("a\x1b]0;held")
    assert sanitiser.flush() == "0;held"
    assert sanitiser.feed("b") + sanitiser.flush() == "b"


@pytest.mark.parametrize(
    "unit", ["\x1b", "\x1b]", "\x1b[1;", "\x9d", "\r", "\x00", "\x1b]" + "x" * 4100, "\ud800", "a\x1b[m"]
)
def test_a_megabyte_takes_linear_time(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        start = time.process_time()
        sanitise(text)
        return time.process_time() - start

    small = min(seconds(125_000) for _ in range(3))
    assert seconds(1_000_000) < 40 * small + 0.1


@given(hostile_texts, st.integers(0, 30))
@settings(max_examples=examples(25))
def test_one_line_is_one_line_that_fits(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert "\n" not in line
    assert cell_len(line) <= limit
    assert FORBIDDEN.search(line) is None


def test_names_that_differ_at_their_ends_are_told_apart_where_they_are_cut() -> None:
    names = [f"hf.co/somebody/a-model-of-a-long-name-GGUF:{kind}" for kind in ("Q4_K_M", "Q8_0")]
    shown = [both_ends(name, 24) for name in names]
    assert shown[0] != shown[1] and all(cell_len(name) <= 24 for name in shown)
    assert both_ends("short", 24) == "short"


@given(st.text(max_size=60), st.integers(0, 30))
def test_both_ends_fit(text: str, limit: int) -> None:
    assert cell_len(both_ends(text, limit)) <= limit


def test_one_line_says_that_it_was_cut() -> None:
    assert one_line("first\nsecond", 40) == "first second"
    assert one_line("x" * 100_000, 10) == "x" * 9 + "…"
    assert one_line("a" + "\u200b" * 1_000 + "b", 10) == "a…"
    assert clip("漢字漢字", 5) == "漢字…"
    assert clip("12345", 5) == "12345"
    assert clip("one two", 5) == "one…"
    assert [shortened(text, 5) for text in ("12345", "123456")] == ["12345", "1234…"]


@given(hostile_texts)
@settings(max_examples=examples(25))
def test_stand_ins_keep_every_character_in_its_place(text: str) -> None:
    shown = stand_ins(text)
    assert len(shown) == len(text)
    assert not set(shown) & {"\x1b", "\x9b", "\x9d", "\u202e", "\ud800", "\x00", "\r"}


def test_stand_ins_name_the_control() -> None:
    assert stand_ins("\x00\x1b\r\x7f\u202e") == "\u2400\u241b\u240d\u2421\ufffd"


def test_what_is_spelled_out_leaves_nothing_out() -> None:
    assert spelled_out("a\u202eb\x1b\U000e0041\n\té") == "a<U+202E>b<U+001B><U+E0041>\n\té"
    spell_out_too(str.isascii)
    try:
        assert spelled_out("é\x07\n") == "<U+00E9><U+0007>\n"
    finally:
        spell_out_too(None)
