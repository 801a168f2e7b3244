"""A long text to read."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll

from tui.commands.registry import bindings
from tui.screens.dialogs.base import Dialog
from tui.terminal.sanitise import shortened
from tui.widgets.plain_text import label
from tui.widgets.text.virtual_static import VirtualStatic

LONGEST = 200_000
"""Characters of a text that are shown at most."""


class ShowText(Dialog[None]):
    """A text to look at.

    Args:
        title: any text.
        text: any text.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("page")]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._what, self._text = title, text

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog wide") as box:
            box.border_title = label(self._what, 90)
            box.border_subtitle = self.closes
            yield VirtualStatic(shortened(self._text, LONGEST))

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(VerticalScroll).focus()
