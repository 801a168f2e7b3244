"""What was found in all personas and the library, to be looked for again as a regular expression or as a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import BindingType

from tui.commands.registry import bindings
from tui.screens.dialogs.picker import Picker
from tui.widgets.plain_text import label


class SearchResults(Picker):
    """Shows the places, as `Picker` does.

    Args:
        text: what is looked for, any text.
        search: told whether it is an expression: at first, and when that changes.
        preview: see `Picker`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("found")]

    def __init__(self, text: str, search: Callable[[bool], object], preview: Callable[[str], str]) -> None:
        super().__init__(f"Find {text}", None, filter=True, preview=preview)
        self._looked_for, self._search, self._is_regex = text, search, False

    def on_mount(self) -> None:
        super().on_mount()
        self._begin()

    def action_regex(self) -> None:
        self._is_regex = not self._is_regex
        self._begin()

    def _begin(self) -> None:
        self.end_refusal()
        what, other = ("the expression ", "as a text") if self._is_regex else ("", "as an expression")
        self.query_one(".dialog").border_title = label(f"Find {what}{self._looked_for}", 70)
        self.say_hint("Enter goes there", ("found.regex", other), ("dialog.close", "closes"))
        self.show_rows(None)
        self._search(self._is_regex)
