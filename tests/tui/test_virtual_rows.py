"""Texts of any length in dialogs and panes: only the rows that are seen are laid out, as Textual lays them out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich._wrap import divide_line
from textual.app import App, ComposeResult
from textual.content import Content, Span
from textual.geometry import Offset
from textual.selection import Selection
from textual.style import Style
from textual.visual import RenderOptions, Visual

from agent.jobs.job import Approval, Question
from tests.support.program import make_store, program
from tui.document.merge import Hunk, MergeConflict
from tui.screens.dialogs.base import Dialog
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.conflict import ConflictDialog
from tui.screens.dialogs.connect_dialog import AskSecret, ConnectDialog
from tui.screens.dialogs.diff import ShowDiff
from tui.screens.dialogs.quit_dialog import QuitDialog
from tui.screens.dialogs.text_prompt import AskLine
from tui.widgets.question_box import QuestionBox
from tui.widgets.text.virtual_static import VirtualStatic, WrappedText, ascii_breaks

LONG = "ab\n" * 2_222 + "the quick brown fox " * 1_111 + "x" * 22_222
"""50,000 characters: short lines, one of many words and one word."""
ROWS = 1_500
"""Rows that may be laid out until a dialog stands there, was scrolled and has another width: a few screens of them."""


@given(st.text("ab  cde-", max_size=60), st.integers(1, 9))
def test_ascii_is_broken_where_textual_breaks_it(text: str, width: int) -> None:
    assert ascii_breaks(text, width) == divide_line(text, width)


Stretch = tuple[int, int]
_at = st.tuples(st.integers(0, 60), st.integers(0, 60))


@given(
    st.text("ab  c\n\t", max_size=60) | st.text("ab  c\n字é\u0301", max_size=60),
    st.integers(2, 9),
    st.lists(_at, max_size=3),
    st.none() | st.tuples(_at, _at),
)
def test_each_row_is_the_one_that_textual_draws(
    text: str, width: int, spans: list[Stretch], selected: tuple[Stretch, Stretch] | None
) -> None:
    bold = [Span(begin, min(end, len(text)), "bold") for begin, end in spans if begin < min(end, len(text))]
    selection = None
    if selected is not None and "\t" not in text:
        selection = Selection.from_offsets(*(Offset(x, y % 6) for x, y in selected))
    options = RenderOptions(
        lambda style: Style.parse(style) if isinstance(style, str) else style,
        {},
        selection,
        Style(reverse=True),
    )

    def rows(visual: Visual) -> list[Any]:
        strips = visual.render_strips(width, None, Style(), options)
        assert len(strips) == visual.get_height({}, width)
        return [[(part.text, part.style) for part in strip if part.text] for strip in strips]

    shown = Content(text, bold)
    assert rows(WrappedText(shown)) == rows(shown)


class Counted:
    """How many rows were laid out."""

    def __init__(self) -> None:
        self.rows = 0


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counted]:
    """Count the rows that are laid out: by Textual, which does all of a text at once, and one by one."""
    counted = Counted()
    together, alone = Content._wrap_and_format, WrappedText.row

    def whole(self: Content, *args: Any, **options: Any) -> Any:
        lines = together(self, *args, **options)
        counted.rows += len(lines)
        return lines

    def one(self: WrappedText, *args: Any) -> Any:
        counted.rows += 1
        return alone(self, *args)

    monkeypatch.setattr(Content, "_wrap_and_format", whole)
    monkeypatch.setattr(WrappedText, "row", one)
    yield counted


def diff(text: str) -> str:
    return "@@ -1 +1,9 @@\n-old\n" + "\n".join(f"+{line}" for line in text.split("\n"))


def clash(text: str) -> MergeConflict:
    return MergeConflict("base\n", text, f"THEIRS {text}", (Hunk(1, "base\n", text, f"THEIRS {text}"),))


DIALOGS: dict[str, Callable[[str], Dialog[Any]]] = {
    "diff": lambda text: ShowDiff("Last change", diff(text)),
    "conflict": lambda text: ConflictDialog(clash(text)),
    "yes or no": lambda text: Confirm("Delete?", text, action="Delete"),
    "one line": lambda text: AskLine("Name", explanation=text),
    "key": lambda text: AskSecret("Key", text),
    "way": lambda text: ConnectDialog("offline", text),
    "quitting": lambda text: QuitDialog([text]),
}


async def look(pilot: Any, key: str) -> None:
    """Scroll, and have another width."""
    await pilot.press(key)
    width, height = pilot.app.size
    await pilot.resize_terminal(180 - width, height)
    await pilot.pause()


async def test_a_dialog_lays_out_of_a_text_of_any_length_what_is_seen(
    tmp_path: Path, counted: Counted
) -> None:
    async with program(make_store(tmp_path), frames=True) as p:
        for name, make in DIALOGS.items():
            dialog = make(LONG)
            p.main.start(p.main.ask(dialog))
            await p.until(lambda dialog=dialog: p.app.screen is dialog and dialog.is_mounted)
            counted.rows = 0
            await look(p.pilot, "pagedown")
            dialog.show_notification(LONG)
            await p.pilot.pause()
            shown = dialog.query(VirtualStatic)
            assert any(static.virtual_region.height > 2_000 for static in shown), name
            assert 0 < counted.rows < ROWS, name
            dialog.dismiss(None)
            await p.until(lambda: p.app.screen is p.main)


class Stage(App[None]):
    """A screen with what a task asks."""

    def compose(self) -> ComposeResult:
        yield QuestionBox()


async def test_a_question_lays_out_of_a_text_of_any_length_what_is_seen(counted: Counted) -> None:
    change = Approval(tool="edit_system_prompt", diff=diff(LONG), added=9, removed=1, note=LONG)
    async with Stage().run_test(size=(60, 20)) as pilot:
        box = pilot.app.query_one(QuestionBox)
        for question in (
            Question(text=LONG, options=("yes", "no"), tool_use_id="a"),
            Question(text=LONG, options=("once", "no"), tool_use_id="b", approval=change),
        ):
            counted.rows = 0
            box.ask(question)
            await look(pilot, "x")
            assert box.body.virtual_size.height > 2_000
            assert 0 < counted.rows < ROWS
