"""Pastes over a line that stalls: what comes late is no key, and no Enter in it sends anything."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events
from textual.message import Message

from tests.examples import examples
from tests.tui.test_typed_runs import Clock
from tui.terminal.textual_compat.input_parser import PASTE_WAITS, REST_WAITS, GuardedParser

START, END = "\x1b[200~", "\x1b[201~"
STALL = PASTE_WAITS + 0.1


def come(parser: GuardedParser, clock: Clock, parts: Iterable[tuple[str, float]]) -> list[Message]:
    """What the parser makes of parts, each with the seconds before it; it is asked each tenth of a second."""
    seen: list[Message] = []
    for data, gap in parts:
        end = clock.now + gap
        while end - clock.now > 0.1:
            clock.now += 0.1
            seen += parser.tick()
        clock.now = end
        seen += parser.feed(data)
        seen += parser.tick()
    clock.now += 1
    return [*seen, *parser.tick()]


def told(seen: Iterable[Message]) -> list[str]:
    return [
        f"paste:{one.text}" if isinstance(one, events.Paste) else getattr(one, "key", type(one).__name__)
        for one in seen
    ]


def late(*parts: tuple[str, float]) -> list[str]:
    clock = Clock()
    return told(come(GuardedParser(clock=clock), clock, parts))


def cut(stream: str, sizes: Iterable[int]) -> list[str]:
    parts, at = [], 0
    for size in [*sizes, len(stream)]:
        parts.append(stream[at : at + size])
        at += size
    return [part for part in parts if part]


def test_the_rest_of_a_paste_that_stalled_is_pasted_and_what_follows_its_end_mark_is_typed() -> None:
    seen = late(
        *((f"{START}first line\rsecond ", 0), ("half\r", STALL), ("\r", 0.3), (f"third{END}", 0.3), ("\r", 0))
    )
    assert seen == ["paste:first line\rsecond ", "paste:half\r", "paste:\r", "paste:third", "enter"]


@pytest.mark.parametrize("held", range(1, len(END)))
def test_an_end_mark_that_stalled_ends_the_paste_all_the_same(held: int) -> None:
    seen = late((f"{START}a{END[:held]}", 0), (f"{END[held:]}ok", STALL), ("\r", 0.2))
    assert seen == [f"paste:a{END[:held]}", "o", "k", "enter"]


def test_keys_behind_a_paste_whose_end_mark_was_lost_are_keys() -> None:
    for key, name in (("q", "q"), ("\x1b[A", "up"), ("\x03", "ctrl+c"), ("\x1b", "escape")):
        assert late((f"{START}a", 0), (key, STALL), ("\r", 0.3)) == ["paste:a", name, "enter"]
    assert late((f"{START}a", 0), ("ok\r", REST_WAITS + 1)) == ["paste:a", "o", "k", "enter"]
    assert late((f"{START}a", 0), (f"b\r{START}c{END}", STALL), ("\r", 0.2)) == [
        *("paste:a", "paste:b\r", "paste:c", "enter"),
    ]  # fmt: skip


@pytest.mark.parametrize("gap", [0.2, 1.2, 5.0])
@pytest.mark.parametrize("at", range(1, len(START)))
def test_a_start_mark_that_was_cut_begins_a_paste_however_late_its_rest_comes(at: int, gap: float) -> None:
    seen = late((START[:at], 0), (f"{START[at:]}a\rb", gap), ("c\r", 0.2), (f"d{END}\r", 0.2))
    if at > 2 and gap < 1:
        assert seen == ["paste:a\rbc\rd", "enter"]
    else:
        assert [one for one in seen if one not in ("escape", "left_square_bracket")] == [
            "paste:a\rbc\rd",
            "enter",
        ]


def test_a_lone_escape_is_no_slower_and_what_is_typed_behind_it_is_typed() -> None:
    clock = Clock()
    parser = GuardedParser(clock=clock)
    assert list(parser.feed("\x1b")) == []
    clock.now += 0.11
    assert told(parser.tick()) == ["escape"]
    assert told(parser.feed("[ok\r")) == ["left_square_bracket", "o", "k", "enter"]


@given(
    st.text(st.sampled_from("ab é漢[];12~<>\t\r\n\x1b"), max_size=40),
    st.lists(st.tuples(st.sampled_from([1, 2, 5, 20]), st.sampled_from([0, 0.02, 0.2])), max_size=60),
)
@settings(max_examples=examples(70))
def test_no_gap_makes_keys_of_a_paste(text: str, cuts: list[tuple[int, float]]) -> None:
    gaps = [gap for _, gap in cuts]
    parts = cut(f"x{START}{text}{END}", (size for size, _ in cuts))
    seen = told(
        come(parser := GuardedParser(clock=(clock := Clock())), clock, zip(parts, [*gaps, 0.2], strict=False))
    )
    assert f"paste:{text}" in seen
    assert "enter" not in seen
    assert told(come(parser, clock, [("y\r", 0.2)])) == ["y", "enter"]


@given(
    st.text(st.sampled_from("ab é漢[];12~<>\r\n"), max_size=40),
    st.lists(st.integers(2, 9), max_size=30),
    st.integers(0, 30),
)
@settings(max_examples=examples(70))
def test_no_stall_makes_an_enter_of_a_paste(text: str, sizes: list[int], stalls_at: int) -> None:
    parts = cut(f"{START}{text}{END}", sizes)
    gaps = [STALL if number == stalls_at else 0.2 for number in range(len(parts))]
    seen = come(GuardedParser(clock=(clock := Clock())), clock, zip(parts, gaps, strict=True))
    assert "enter" not in told(seen)
    pasted = "".join(one.text for one in seen if isinstance(one, events.Paste))
    assert pasted in [
        text + END[:held] for held in range(len(END))
    ]  # what came of the mark before the line stalled
