"""Where everything lies: sums against a plain count, guesses that never move what is seen, work that stays bounded."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.turns import AssistantTextTurn, Turn, UserTurn
from tests.support.examples import examples
from tui.widgets.conversation import render_parts
from tui.widgets.conversation.entries import entry_for
from tui.widgets.conversation.layout import Layout, Position
from tui.widgets.conversation.lines import Glyphs
from tui.widgets.conversation.markdown_blocks import MarkdownBlock
from tui.widgets.conversation.render_parts import MarkdownStream

GLYPHS = Glyphs()
contents = st.sampled_from(
    [
        "",
        "one line",
        "# Title\n\ntext " * 5,
        "- a\n- b\n\n" * 4,
        "word " * 80,
        "```\ncode\n" + "x\n" * 20 + "```",
        "a\n\n\nb",
    ]
)
turn_lists = st.lists(
    st.one_of(
        contents.map(lambda text: AssistantTextTurn(content=text)),
        contents.map(lambda text: UserTurn(content=text)),
    ),
    min_size=1,
    max_size=12,
)


def filled(turns: list[Turn], width: int = 40) -> Layout:
    layout = Layout(width)
    layout.fill([entry_for(turn, GLYPHS, first=not number) for number, turn in enumerate(turns)])
    return layout


def all_places(layout: Layout) -> list[Position]:
    """Every line there is, in order, by plain counting."""
    return [
        Position(index, number, row)
        for index, entry in enumerate(layout.entries)
        for number, part in enumerate(entry.parts())
        for row in range(part.height(layout.width))
    ]


@given(turn_lists, st.integers(0, 200), st.integers(1, 30))
@settings(max_examples=examples(20))
def test_rows_and_places_agree_with_a_plain_count(turns: list[Turn], top: int, rows: int) -> None:
    layout = filled(turns)
    layout.draw_visible(min(top, layout.height), rows)
    layout.draw_end(rows)
    for index in range(len(layout.entries)):
        layout.entries[index].parts()
        layout.update(index)
    places = all_places(layout)
    assert layout.height == len(places)
    assert [layout.position_at(row) for row in range(len(places))] == places
    assert [layout.row_of(place) for place in places] == list(range(len(places)))
    assert layout.position_at(len(places)) is None
    assert layout.position_at(-1) is None


@given(turn_lists, st.data())
@settings(max_examples=examples(20))
def test_scrolling_up_by_a_line_shows_the_line_above(turns: list[Turn], data: st.DataObject) -> None:
    layout = filled(turns)
    rows = data.draw(st.integers(1, 12))
    top = layout.draw_end(rows)
    seen = [layout.position_at(row) for row in range(top, min(top + rows, layout.height))]
    while top > 0:
        top = layout.draw_visible(top - 1, rows)
        now = [layout.position_at(row) for row in range(top, min(top + rows, layout.height))]
        assert now[1:] == seen[: len(now) - 1]
        seen = now
    assert layout.height == 0 or seen[0] == layout.position_at(0)
    assert layout.height == len(all_places(layout))


@given(turn_lists, st.integers(1, 30), st.integers(20, 90))
@settings(max_examples=100)
def test_another_width_keeps_the_line_that_was_first(turns: list[Turn], rows: int, width: int) -> None:
    layout = filled(turns)
    top = layout.draw_visible(layout.height // 2, rows)
    anchor = layout.position_at(top)
    if anchor is None:
        return
    layout.resize(width)
    found = layout.position_at(layout.draw_visible(layout.draw_at(anchor), rows))
    assert found is not None
    assert (found.entry, found.part) == (anchor.entry, anchor.part)


@given(st.integers(0, 400), st.lists(st.integers(20, 90), min_size=1, max_size=4))
@settings(max_examples=examples(15))
def test_another_width_keeps_the_letter_that_was_first(row: int, widths: list[int]) -> None:
    words = [f"w{number:04}" for number in range(3_000)]
    layout = filled([AssistantTextTurn(content=" ".join(words))])
    layout.draw_visible(0, 20)
    place = layout.position_at(min(row, layout.height - 1))
    assert place is not None
    line = layout.line(place)
    assert line is not None
    first = line.text.split()[0]
    for width in widths:
        letters = layout.letters_before(place)
        layout.resize(width)
        place = layout.line_after(place, letters)
        line = layout.line(place)
        assert line is not None and words.index(line.text.split()[0]) <= words.index(first)
        assert first in line.text or abs(words.index(line.text.split()[0]) - words.index(first)) <= 15 * len(
            widths
        )
        assert layout.position_at(layout.draw_at(place)) == place


@given(
    st.lists(
        st.tuples(st.integers(0, 1000), st.integers(0, 1000), st.integers(0, 1000)), min_size=2, max_size=2
    )
)
def test_places_are_ordered_as_they_are_read(pair: list[tuple[int, int, int]]) -> None:
    first, second = (Position(*numbers) for numbers in pair)
    assert (first.encode() < second.encode()) == (pair[0] < pair[1])
    assert Position.decode(first.encode()) == first


def test_only_what_is_seen_is_drawn() -> None:
    layout = filled([AssistantTextTurn(content=f"# {n}\n\ntext\n\n- a\n- b\n") for n in range(3000)])
    top = layout.draw_end(40)
    assert layout.drawn_lines < 100
    layout.draw_visible(top // 2, 40)
    assert layout.drawn_lines < 200


class Meter:
    """Counts the characters that are drawn as Markdown."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.characters = 0
        draw = render_parts.draw_block

        def counted(piece: MarkdownBlock, width: int, glyphs: Glyphs) -> list[object]:
            if piece.kind in ("text", "item"):
                self.characters += len(piece.text)
            return draw(piece, width, glyphs)  # type: ignore[return-value]

        monkeypatch.setattr(render_parts, "draw_block", counted)

    def take(self) -> int:
        taken, self.characters = self.characters, 0
        return taken


@pytest.mark.parametrize(
    "text",
    [
        "Some **prose** of a few words.\n\n" * 3000,
        "```\n" + "a line of code\n" * 6000 + "```\n",
        "- an item with words\n" * 4000,
        "- " + "one item of many lines\n  " * 4000,
        "word " * 20_000,
        "x" * 100_000,
        "> quoted\n" * 10_000,
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 8000,
    ],
    ids=["prose", "fence", "list", "item", "paragraph", "word", "quote", "table"],
)
def test_a_frame_late_in_a_long_answer_draws_no_more_than_an_early_one(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    meter = Meter(monkeypatch)
    stream = MarkdownStream(GLYPHS)
    work: list[int] = []
    closing: list[int] = []
    for start in range(0, len(text), 50):
        stream.add(text[start : start + 50])
        stream.advance(80)
        work.append(meter.take())
        done = stream.finish() if start + 50 >= len(text) else []
        for part in done:
            part.draw(80)
        closing.append(meter.take())
    assert max(work) <= 2_500, "an unfinished piece is Markdown only while it is short"
    tenth = len(work) // 10
    assert sum(work[-tenth:]) <= 1.2 * sum(work[tenth : 2 * tenth]) + 2_500
    assert max(closing) <= 40_000


def test_a_finished_piece_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    meter = Meter(monkeypatch)
    entry = entry_for(AssistantTextTurn(content="one\n\ntwo\n\nthree"), GLYPHS, first=True)
    layout = Layout(60)
    layout.append(entry)
    for _ in range(5):
        layout.draw_end(20)
    assert meter.take() == len("onetwothree")
