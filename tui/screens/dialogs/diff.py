"""What a change did, as a coloured diff."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll

from tui.commands.registry import binding, bindings
from tui.screens.dialogs.base import Dialog
from tui.terminal.diff_view import LONGEST
from tui.terminal.sanitise import shortened
from tui.widgets.plain_text import label
from tui.widgets.text.diff_wrap import DiffText
from tui.widgets.text.virtual_static import VirtualStatic


class ShowDiff(Dialog[None]):
    """A unified diff to look at."""

    BINDINGS: ClassVar[list[BindingType]] = [
        binding("edit.compare", "cancel", priority=True),
        *bindings("page"),
    ]

    def __init__(self, title: str, diff: str) -> None:
        super().__init__()
        self._what, self._diff = title, diff

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog wide") as box:
            box.border_title = label(self._what, 90)
            box.border_subtitle = self.closes
            yield VirtualStatic(DiffText(shortened(self._diff, LONGEST)), id="diff")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(VerticalScroll).focus()
