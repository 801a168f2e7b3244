"""The test inputs of a persona: a list, and the content of the chosen one to read and edit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message

from tui.commands import bindings
from tui.widgets.literal import label
from tui.widgets.row_list import Row, RowList
from tui.widgets.text_editor import FRESH, TextEditor

if TYPE_CHECKING:
    from personas.persona import TestInput


class TestInputs(Vertical):
    """The test inputs of the open persona."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    __test__ = False

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("tests")]

    @dataclass
    class Wanted(Message):
        """Something is to be done: `new`, `duplicate`, `delete`, `up`, `down`; `marked` have a mark."""

        deed: str
        input_id: str | None
        marked: tuple[str, ...] = ()

    @dataclass
    class Save(Message):
        """A content should be stored now; `base` is what it grew from."""

        input_id: str
        base: str
        text: str

    def __init__(self, id: str = "tests") -> None:
        super().__init__(id=id)
        self._inputs: dict[str, TestInput] = {}
        self._shown: str | None = None
        self._locked = False
        self._editor = TextEditor(id="test-content", prose=False)
        self.border_title = "Test inputs"

    def compose(self) -> ComposeResult:
        yield RowList(empty="None yet. Press n to add one.", id="test-rows", choose_on_click=False)

    @property
    def rows(self) -> RowList:
        """The list."""
        return self.query_one(RowList)

    @property
    def editor(self) -> TextEditor:
        """The content of the chosen test input."""
        return self._editor

    @property
    def shown(self) -> str | None:
        """The id of the test input whose content stands in the editor."""
        return self._shown

    def show(
        self,
        inputs: Sequence[TestInput],
        *,
        locked: bool = False,
        fresh: bool = False,
        select: str | None = None,
    ) -> None:
        """Show a persona's test inputs.

        Args:
            inputs: in file order.
            locked: nothing can be changed (a broken file).
            fresh: another persona's; else what is typed in the editor stays, and what is new is highlighted.
            select: where the cursor goes.
        """
        before = self._inputs
        self._locked = locked
        self._inputs = {test_input.id: test_input for test_input in inputs}
        if fresh:
            self._shown = None
        news = set() if fresh else {key for key, value in self._inputs.items() if before.get(key) != value}
        self._set_rows(news, select)
        if news:
            self.set_timer(FRESH, self._set_rows)

    def _set_rows(self, news: Collection[str] = (), select: str | None = None) -> None:
        rows = [
            Row(key, value.content, head=key, tone="fresh" if key in news else "")
            for key, value in self._inputs.items()
        ]
        self.rows.set_rows(rows, key=select)
        self.border_subtitle = label(str(len(rows))) if rows else ""
        self._show_content()

    def _show_content(self) -> None:
        key = self.rows.key
        editor = self.editor
        if key is not None and editor.parent is None:
            self.mount(editor)  # not before there is something in it: the first paint does without
        editor.display = key is not None
        if key is None:
            self._shown = None
            return
        content = self._inputs[key].content
        if key != self._shown:
            self._ask_to_save()
            self._shown = key
            editor.show(content, read_only=self._locked)
            editor.border_title = label(key, 24)
        elif content != editor.base:
            editor.absorb(content, None)

    def _ask_to_save(self) -> None:
        editor = self.editor
        if self._shown is not None and editor.unsaved:
            self.post_message(self.Save(self._shown, editor.base, editor.raw))

    @on(TextEditor.SaveWanted)
    def _save(self, event: TextEditor.SaveWanted) -> None:
        event.stop()
        self._ask_to_save()

    @on(TextEditor.Edited)
    def _edited(self, event: TextEditor.Edited) -> None:
        event.stop()

    @on(RowList.Highlighted)
    def _highlighted(self, event: RowList.Highlighted) -> None:
        event.stop()
        self._show_content()

    @on(RowList.Chosen)
    def _edit(self, event: RowList.Chosen) -> None:
        event.stop()
        self.action_edit()

    def action_edit(self) -> None:
        if self.editor.display:
            self.editor.focus()

    def _want(self, deed: str) -> None:
        if not self._locked:
            self.post_message(self.Wanted(deed, self.rows.key, tuple(self.rows.marked)))

    def action_mark(self) -> None:
        self.rows.toggle_mark()

    def action_new(self) -> None:
        self._want("new")

    def action_duplicate(self) -> None:
        self._want("duplicate")

    def action_delete(self) -> None:
        self._want("delete")

    def action_move(self, by: int) -> None:
        self._want("up" if by < 0 else "down")
