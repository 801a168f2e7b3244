"""The columns of the screen stay right in a terminal that thinks otherwise of the width of a sign."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from rich.cells import set_cell_size, split_graphemes
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region, Size
from textual.strip import Strip

from tests.support.cells import Cells, each_alone, flags_wide, old_and_plain
from tui.terminal.textual_compat.cell_width import CursorPlacer, is_doubtful
from tui.terminal.textual_compat.diff_rendering import SentCells

WIDTHS = (12, 9, 15)
WIDTH, HEIGHT = sum(WIDTHS), 4
EDGES = [0, *accumulate(WIDTHS)]
DOUBTFUL = ["👍🏽", "👨‍👩‍👧", "❤️", "1️⃣", "🏳️‍🌈", "🇩🇪", "กำ", "\U0001fae9", "👨🏽‍💻"]
PLAIN = ["a", "word", " ", "日本", "e\u0301\u0302", "שלום", "ที่", "é", "🍵"]


def strip(text: str) -> Strip:
    return Strip([Segment(text, Style(bold=True))])


def test_behind_a_sign_that_terminals_disagree_about_stands_a_move_to_where_the_next_one_is_meant() -> None:
    row = placed_text("a👍🏽b")
    assert row == "a  \x1b[3;5H👍🏽\x1b[3;7Hb"


@pytest.mark.parametrize("text", PLAIN)
def test_what_all_terminals_agree_about_is_sent_as_it_is(text: str) -> None:
    assert not is_doubtful(text)
    assert placed_text(text) == text


@pytest.mark.parametrize("text", ["🇩🇪", "👨🏽‍💻", "1️⃣"])
def test_what_belongs_together_is_sent_together(text: str) -> None:
    assert text in placed_text(f"a{text}{text}b")


def placed_text(text: str) -> str:
    compositor: Any = SimpleNamespace(size=Size(40, 10))
    console = Console(force_terminal=True, color_system=None)
    update = LayoutUpdate([[Strip([Segment(text)])]], Region(3, 2, 37, 1))
    (row,) = CursorPlacer(compositor, console).place(update).strips
    return "".join(one.render(console) for one in row)


class Screen:
    """Rows of three widgets with borders, and the terminal they are sent to."""

    def __init__(self, chance: random.Random, measure: Callable[[str], int]) -> None:
        self.size = Size(WIDTH, HEIGHT)
        self.chance = chance
        self.console = Console(force_terminal=True, color_system="truecolor", width=WIDTH)
        self.sent = SentCells()
        self.terminal = Cells(WIDTH, HEIGHT, measure)
        self.rows = [[self.text(width) for width in WIDTHS] for _ in range(HEIGHT)]

    def text(self, width: int) -> str:
        signs = self.chance.choices(DOUBTFUL + PLAIN, k=self.chance.randint(0, 6))
        return f"|{set_cell_size(''.join(signs), width - 2)}|"

    def _render_chops(
        self, crop: Region, is_row: Callable[[int], bool]
    ) -> Sequence[Mapping[int, Strip | None]]:
        return [
            {x: strip(text) if is_row(y) else None for x, text in zip(EDGES, row, strict=False)}
            for y, row in enumerate(self.rows)
        ]

    def send(self, update: Any) -> None:
        compositor: Any = self
        update = self.sent.reduce(CursorPlacer(compositor, self.console).place(update), self.console)
        if update is not None:
            self.terminal.feed(update.render_segments(self.console))

    def send_all(self) -> None:
        self.send(LayoutUpdate([[strip(text) for text in row] for row in self.rows], self.size.region))

    def change(self) -> None:
        y, number = self.chance.randrange(HEIGHT), self.chance.randrange(3)
        self.rows[y][number] = self.text(WIDTHS[number])
        x, end = EDGES[number : number + 2]
        chops: list[Any] = [dict.fromkeys(EDGES[:-1]) for _ in range(HEIGHT)]
        chops[y][x] = strip(self.rows[y][number])
        self.send(ChopsUpdate(chops, [(y, x, end)], [EDGES[1:]] * HEIGHT))

    def check(self) -> None:
        for y, row in enumerate(self.rows):
            for (x, end), text in zip(pairwise(EDGES), row, strict=True):
                assert self.shown(x, y) == self.shown(end - 1, y) == "|", (text, self.terminal.rows[y])
                for start, stop, width in split_graphemes(text)[0]:
                    sign = text[start:stop]
                    if sign == " " or (sign.isascii() and sign.isalpha()):
                        assert self.shown(x, y) == sign, (text, self.terminal.rows[y])
                    elif width == 2:  # nothing that was there before is left of it
                        assert self.shown(x + 1, y) in f"{sign} ", (text, self.terminal.rows[y])
                    x += width

    def shown(self, x: int, y: int) -> str:
        return self.terminal.rows[y][x]


@pytest.mark.parametrize("widths", [each_alone, old_and_plain, flags_wide])
@pytest.mark.parametrize("seed", range(4))
def test_borders_and_letters_stay_in_their_columns(widths: Callable[[str], int], seed: int) -> None:
    screen = Screen(random.Random(seed), widths)
    screen.send_all()
    screen.check()
    for _ in range(60):
        screen.change()
        screen.check()
