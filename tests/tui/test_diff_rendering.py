"""What is not drawn and not sent makes no difference to what a person sees."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyte
import pytest
from rich.console import Console
from rich.segment import Segment
from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate
from textual.screen import Screen
from textual.strip import Strip

from agent.models.scripted import answer
from tests.support.program import make_store, program
from tui.terminal.textual_compat.diff_rendering import FrontCompositor, SentCells

WIDTH, HEIGHT = 30, 6


class Terminal:
    """A screen that is written to through `SentCells`, beside one that gets everything."""

    def __init__(self) -> None:
        self.console = Console(force_terminal=True, color_system="truecolor", width=WIDTH)
        self.sent = SentCells()
        self.screens = {name: pyte.Screen(WIDTH, HEIGHT) for name in ("all", "changed")}
        self.streams = {name: pyte.Stream(screen) for name, screen in self.screens.items()}

    def show(self, update: ChopsUpdate) -> None:
        for name, what in (("all", update), ("changed", self.sent.reduce(update, self.console))):
            text = what.render_segments(self.console) if what is not None else ""
            self.streams[name].feed(text.replace("\n", "\r\n"))

    @property
    def looks(self) -> list[list[str]]:
        return [screen.display for screen in self.screens.values()]


def change(rows: list[str], chance: random.Random) -> ChopsUpdate:
    """Change some cells and return the update that shows it: cut at random, with more dirty than what changed."""
    chops: list[dict[int, Strip | None]] = [{} for _ in rows]
    ends: list[list[int]] = [[] for _ in rows]
    spans = []
    for y in sorted(chance.sample(range(HEIGHT), chance.randint(1, HEIGHT))):
        start, end = sorted(chance.sample(range(WIDTH + 1), 2))
        if chance.random() < 0.5:
            rows[y] = rows[y][:start] + chance.choice("abc") * (end - start) + rows[y][end:]
        spans.append((y, 0, WIDTH) if chance.random() < 0.5 else (y, start, end))
        cuts = sorted({0, WIDTH, *(chance.choice([5, 10, 20]) for _ in range(2))})
        chops[y] = {first: Strip([Segment(rows[y][first:last])]) for first, last in pairwise(cuts)}
        ends[y] = cuts[1:]
    return ChopsUpdate(chops, spans, ends)


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_updated_the_screen_is_as_if_all_was_sent(seed: int) -> None:
    terminal, chance = Terminal(), random.Random(seed)
    rows = [" " * WIDTH] * HEIGHT

    for _ in range(60):
        terminal.show(change(rows, chance))
        assert terminal.looks == [rows, rows]


def test_what_is_there_already_is_not_sent_again_until_it_is_forgotten() -> None:
    sent, console = SentCells(), Console(force_terminal=True)
    same = ChopsUpdate([{0: Strip([Segment("x" * WIDTH)])}], [(0, 0, WIDTH)], [[WIDTH]])

    assert sent.reduce(same, console) is not None
    assert sent.reduce(same, console) is None
    sent.forget()
    assert sent.reduce(same, console) is not None


async def test_what_lies_behind_the_panel_is_left_out_and_nothing_looks_different(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer("word " * 300), size=(110, 30), frames=True) as p:
        compositor = p.main._compositor
        assert isinstance(compositor, FrontCompositor)

        def same() -> None:
            front = compositor.render_strips()
            widgets = len(list(compositor._get_renders()))
            behind = list(Compositor._get_renders(compositor))
            compositor._get_renders = lambda crop=None: Compositor._get_renders(compositor, crop)  # type: ignore[method-assign]
            whole = compositor.render_strips()
            del compositor._get_renders
            assert [strip.text for strip in front] == [strip.text for strip in whole]
            assert front == whole
            counts.append((widgets, len(behind)))

        rows = [id(row) for *_, strips in compositor._get_renders() for row in strips]
        assert len(set(rows)) < len(rows) - 50, "the sides of a pane are drawn again for each row"
        counts: list[tuple[int, int]] = []
        same()
        await p.run_to_end("go")
        same()
        assert counts[-1][0] < counts[-1][1]
        for keys in ("ctrl+o", "f3", "x", "pagedown", "f4", "f1", "escape", "ctrl+o", "ctrl+p", "escape"):
            await p.press(keys)
            await p.pilot.pause()
            same()
        await p.pilot.resize_terminal(70, 18)
        await p.pilot.pause()
        same()


async def test_what_was_updated_adds_up_to_the_whole_screen(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer("word " * 300), size=(110, 30), frames=True) as p:
        terminals = [pyte.Screen(110, 30) for _ in range(2)]
        updated, whole = (pyte.Stream(terminal) for terminal in terminals)
        display, kinds = p.app._display, set()

        def feed(stream: pyte.Stream, update: Any) -> None:
            stream.feed(update.render_segments(p.app.console).replace("\n", "\r\n"))

        def show(screen: Screen[Any], update: Any) -> None:
            if update is not None:
                kinds.add(type(update))
                feed(updated, update)
            display(screen, update)

        p.app._display = show  # type: ignore[method-assign]
        p.main.refresh()
        await p.run_to_end("go")
        for keys in ("ctrl+o", "f3", "x", "tab", "tab", "tab", "tab", "f4", "escape", "escape", "y"):
            await p.press(keys)
            await p.pilot.pause()
            feed(whole, p.main._compositor.render_full_update())
            assert terminals[0].buffer == terminals[1].buffer, keys
        assert kinds == {LayoutUpdate, ChopsUpdate}


async def test_a_wide_sign_is_whole_where_a_widget_ends_behind_the_panel(tmp_path: Path) -> None:
    said = "日" * 40
    async with program(make_store(tmp_path), answer(f"{said}\n\nx{said}"), size=(120, 30), frames=True) as p:
        await p.run_to_end("go")

        def shown() -> str:
            return "\n".join(strip.text for strip in p.main._compositor.render_strips())

        await p.until(lambda: f"x{'日' * 9}" in shown())
        assert shown().count(said) == 2, shown()
