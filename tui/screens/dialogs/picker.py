"""One of several rows to choose, or some of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Input

from tui.commands.registry import binding
from tui.commands.text_matching import fold, match_all, words_of
from tui.screens.dialogs.base import Dialog, DialogText
from tui.widgets.plain_text import LiteralStatic, label
from tui.widgets.text.line_input import LineInput
from tui.widgets.virtual_list import Row, VirtualList

MOST = 14
"""Rows that are shown at once at most."""
PREVIEWED = 6
"""Rows of a preview at most."""


class Picker(Dialog[str]):
    """Shows rows; gives the key of the chosen one, or None.

    Args:
        question: any text.
        rows: what to choose from; None where that is being read: `show_rows` shows it.
        filter: whether they can be narrowed by typing.
        at: the key of the row where the cursor begins; that of none for the first.
        text: what is said above the rows, any text.
        preview: returns what is shown below the rows of the one under the cursor, any text.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        binding("dialog.up"),
        binding("dialog.down"),
    ]

    def __init__(
        self,
        question: str,
        rows: Sequence[Row] | None,
        *,
        filter: bool = False,
        at: str = "",
        text: str = "",
        preview: Callable[[str], str] | None = None,
    ) -> None:
        super().__init__()
        self._question, self._rows, self._filter, self._at = question, rows or (), filter, at
        self._is_read = rows is not None
        self._text, self._preview = text, preview

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog switcher") as box:
            box.border_title = label(self._question, 70)
            if self._text:
                yield DialogText(self._text)
            if self._filter:
                yield LineInput(hint="filter", id="query")
            yield VirtualList(empty=self._empty, id="choices", classes="gives")
            if self._preview is not None:
                yield LiteralStatic("", id="preview")
            yield self.hint(
                "Enter chooses" if self._filter else ("rows.open", "chooses"), ("dialog.close", "closes")
            )

    def on_mount(self) -> None:
        super().on_mount()
        rows = self.query_one(VirtualList)
        self._fill()
        (self.query_one(LineInput) if self._filter else rows).focus()

    def show_rows(self, rows: Sequence[Row] | None) -> None:
        """Show what to choose from, which is read by now; None: it is being read again."""
        self._rows, self._is_read = rows or (), rows is not None
        self.__dict__.pop("_folded", None)
        if self.is_mounted and self.query(VirtualList):
            self.query_one(VirtualList).empty = self._empty
            self._fill()
            self.fit_soon()

    @property
    def _empty(self) -> str:
        return "Nothing here." if self._is_read else "Reading…"

    def _fill(self) -> None:
        rows = self.query_one(VirtualList)
        rows.set_rows(self._found(self.query_one(LineInput).value) if self._filter else self._rows)
        rows.select(self._at)
        rows.styles.height = min(MOST, max(1, len(self._rows)))
        self._show_preview()

    @on(VirtualList.Highlighted)
    def _show_preview(self) -> None:
        if self._preview is not None:
            key = self.query_one(VirtualList).key
            lines = self._preview(key).strip().split("\n") if key is not None else []
            more = ["…"] if len(lines) > PREVIEWED else []
            self.query_one("#preview", LiteralStatic).update("\n".join(lines[: PREVIEWED - len(more)] + more))
            self.fit_soon()

    def _found(self, query: str) -> Sequence[Row]:
        words = words_of(query)
        found = [(folded, row) for folded, row in self._folded if match_all(words, folded)]
        if words:  # where one begins with it, before where it lies within
            found.sort(key=lambda one: f" {words[0]}" not in one[0])
        return [row for _, row in found]

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        event.stop()
        found = self._found(event.value)
        self.query_one(VirtualList).set_rows(found, key=found[0].key if found else None)
        self._show_preview()

    @cached_property
    def _folded(self) -> list[tuple[str, Row]]:
        """Each row with the text that words are looked for in."""
        return [(f" {fold(f'{row.head} {row.text}').strip()}", row) for row in self._rows]

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one(VirtualList).action_choose()

    def desired_rows(self, part: Widget) -> int:
        return min(
            MOST, max(1, len(self._rows)) if isinstance(part, VirtualList) else super().desired_rows(part)
        )

    def action_step(self, by: int) -> None:
        self.query_one(VirtualList).cursor += by

    @on(VirtualList.Chosen)
    def _chosen(self, event: VirtualList.Chosen) -> None:
        event.stop()
        self.dismiss(event.key)


class PickSeveral(Dialog[list[str]]):
    """Shows rows that can be marked; gives the keys of the marked ones, else that of the row under the cursor.

    Args:
        question: any text.
        rows: what to choose from.
        at: the key of the row where the cursor begins.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "mark", show=False)]

    def __init__(self, question: str, rows: Sequence[Row], *, at: str = "") -> None:
        super().__init__()
        self._question, self._rows, self._at = question, rows, at

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog switcher") as box:
            box.border_title = label(self._question, 70)
            yield VirtualList(empty="Nothing here.", id="choices", classes="gives", choose_on_click=False)
            yield self.hint("Space marks", ("rows.open", "accepts"), ("dialog.close", "closes"))

    def on_mount(self) -> None:
        super().on_mount()
        rows = self.query_one(VirtualList)
        rows.set_rows(self._rows)
        rows.select(self._at)
        rows.styles.height = min(MOST, max(1, len(self._rows)))
        rows.focus()

    def desired_rows(self, part: Widget) -> int:
        return min(
            MOST, max(1, len(self._rows)) if isinstance(part, VirtualList) else super().desired_rows(part)
        )

    def on_click(self, event: events.Click) -> None:
        """A click on a row marks it."""
        if isinstance(event.widget, VirtualList):
            self.action_mark()

    def action_mark(self) -> None:
        self.query_one(VirtualList).toggle_mark()

    @on(VirtualList.Chosen)
    def _accept(self, event: VirtualList.Chosen) -> None:
        event.stop()
        rows = event.rows
        self.dismiss(rows.marked or ([rows.key] if rows.key is not None else []))
