"""What a change did, as a coloured diff."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content

from tui.sanitise import sanitise
from tui.screens.dialog import Dialog
from tui.widgets.literal import LiteralStatic, label

LONGEST = 200_000
"""Characters of a diff that are shown."""

_STYLES = {"+": "$text-success", "-": "$text-error", "@": "$text-accent"}


class ShowDiff(Dialog[None]):
    """A unified diff to look at."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5,q,enter", "cancel", show=False, priority=True),
        Binding("j", "scroll_by(1)", show=False),
        Binding("k", "scroll_by(-1)", show=False),
    ]

    def __init__(self, title: str, diff: str) -> None:
        super().__init__()
        self._what, self._diff = title, diff

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog wide") as box:
            box.border_title = label(self._what, 90)
            box.border_subtitle = "Esc closes"
            yield LiteralStatic(coloured(self._diff[:LONGEST]), id="diff")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(VerticalScroll).focus()

    def action_scroll_by(self, by: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=by, animate=False)


def coloured(diff: str) -> Content:
    """Return a unified diff as content, without its two file lines."""
    lines = sanitise(diff).split("\n")
    if len(lines) > 1 and lines[0].startswith("--- ") and lines[1].startswith("+++ "):
        del lines[:2]  # only there: a changed line may look the same
    return Content.assemble(*[(f"{line}\n", _STYLES.get(line[:1], "")) for line in lines])
