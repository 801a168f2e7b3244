"""Two outputs, word by word: side by side where there is room, else one under the other as a diff."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll

from tui.commands.registry import binding, bindings
from tui.document.word_diffs import differences
from tui.screens.dialogs.base import Dialog
from tui.screens.dialogs.conflict import marked
from tui.terminal.diff_view import LONGEST
from tui.terminal.sanitise import shortened
from tui.widgets.plain_text import LiteralStatic, label
from tui.widgets.text.diff_wrap import DiffText
from tui.widgets.text.virtual_static import LongStatic

SIDE_BY_SIDE = 100
"""Columns from which both stand side by side."""


class CompareOutputs(Dialog[None]):
    """Two texts to look at, the older one first.

    Args:
        title: any text.
        sides: of each, what it is and its text.
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (SIDE_BY_SIDE, "-wide")]  # noqa: RUF012 - declared by Textual

    BINDINGS: ClassVar[list[BindingType]] = [
        binding("outputs.compare", "cancel"),
        *bindings("page"),
    ]

    def __init__(self, title: str, sides: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._what = title
        self._titles = [name for name, _ in sides]
        self._texts = [shortened(text, LONGEST) for _, text in sides]

    def compose(self) -> ComposeResult:
        before, after = self._texts
        with VerticalScroll(classes="dialog wide compared") as box:
            box.border_title = label(self._what, 90)
            box.border_subtitle = self.closes
            with Horizontal(classes="beside"):
                for name, text, spans in zip(
                    self._titles, self._texts, differences(before, after), strict=True
                ):
                    with Vertical():
                        yield LiteralStatic(f"{name}\n", classes="field-title")
                        yield LongStatic(marked(text, spans))
            with Vertical(classes="below"):
                yield LiteralStatic(f"- {self._titles[0]}\n+ {self._titles[1]}\n")
                diff = list(unified_diff(before.split("\n"), after.split("\n"), n=len(before), lineterm=""))
                yield LongStatic(DiffText("\n".join(diff[3:])))  # all of it: without headings

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(VerticalScroll).focus()

    def action_scroll_by(self, by: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=by, animate=False)
