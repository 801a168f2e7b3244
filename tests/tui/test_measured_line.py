"""The columns of a line: after any edit the same as if the whole line had been measured."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.examples import examples
from tui.widgets.text import line_metrics as measured_line
from tui.widgets.text.line_metrics import MeasuredLine

SIGNS = st.lists(
    st.sampled_from(
        ["a", "b", " ", "漢", "字", "e\u0301", "\u0301", "é", "👩\u200d👧", "👩", "❤\ufe0f", "❤"]
    ),
    max_size=40,
)
"""Whole signs: what Rich measures of a joiner that joins nothing depends on what stands before it."""


def is_right(line: MeasuredLine, text: str) -> None:
    assert line.cells == cell_len(text)
    for place in range(len(text) + 1):
        assert line.cells_before(place) == cell_len(text[:place])
    for cell in range(line.cells):
        place = line.place_at(cell)
        following = next((n for n in range(place + 1, len(text) + 1) if cell_len(text[:n]) > cell), None)
        assert cell_len(text[:place]) <= cell and following is not None
    assert line.place_at(line.cells) == len(text) and line.place_at(-1) == line.place_at(0)


@settings(max_examples=examples(40))
@example(["\u200d\u200da"], [])
@given(SIGNS, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60), SIGNS), max_size=6))
def test_after_any_edit_every_column_is_right(
    signs: list[str], edits: list[tuple[int, int, list[str]]]
) -> None:
    piece, measured_line.PIECE = measured_line.PIECE, 4
    try:
        line = MeasuredLine(str)
        line.measure("".join(signs))
        is_right(line, "".join(signs))
        for start, length, new in edits:
            signs[start : start + length] = new
            line.measure("".join(signs))
            is_right(line, "".join(signs))
    finally:
        measured_line.PIECE = piece


def test_an_edit_has_only_what_it_touched_measured() -> None:
    looked_at = []

    def shown(part: str) -> str:
        looked_at.append(len(part))
        return part

    line = MeasuredLine(shown)
    text = "漢字 and more " * 10_000
    line.measure(text)
    looked_at.clear()
    line.measure(f"{text[:70_000]}q{text[70_000:]}")
    line.cells_before(70_001)
    line.place_at(80_000)
    assert sum(looked_at) < 12 * measured_line.PIECE
