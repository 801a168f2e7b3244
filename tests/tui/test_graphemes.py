"""Rows of the screen keep their columns wherever they are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from tui.terminal.textual_compat import graphemes

SIGNS = ["a", " ", "日", "👩‍👩‍👧", "❤️", "🇩🇪", "👍🏽", "e\u0301", "नी", "\u0301", "🍵"]
rows = st.lists(st.sampled_from(SIGNS), max_size=12).map("".join)


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Segment, "_split_cells", Segment.__dict__["_split_cells"])
    graphemes.install()


@given(rows, st.integers(0, 30))
def test_both_sides_of_a_cut_have_the_cells_they_should(text: str, cut: int) -> None:
    whole = cell_len(text)
    before, after = Segment(text).split_cells(cut)
    assert before.cell_length == min(cut, whole)
    assert before.cell_length + after.cell_length == whole


@given(rows, st.lists(st.integers(1, 30), max_size=4))
def test_a_row_cut_into_pieces_and_joined_is_as_long_as_before(text: str, cuts: list[int]) -> None:
    row = Strip([Segment(text)])
    ends = [*sorted({cut for cut in cuts if cut < row.cell_length}), row.cell_length]
    pieces = row.divide(ends)
    assert [sum(segment.cell_length for segment in piece) for piece in pieces] == [
        end - start for start, end in zip([0, *ends], ends, strict=False)
    ]


@pytest.mark.parametrize("cut", [3, 5])
def test_a_family_stays_together(cut: int) -> None:
    before, after = Segment("日a👩‍👩‍👧bc").split_cells(cut)
    assert [before.text, after.text] == (["日a", "👩‍👩‍👧bc"] if cut == 3 else ["日a👩‍👩‍👧", "bc"])
