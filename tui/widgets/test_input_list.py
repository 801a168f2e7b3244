"""The test inputs of a persona: a list, and the content of the chosen one to read and edit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from tui.commands.registry import bindings, keymap_of, sentence
from tui.terminal.visible_controls import is_editable
from tui.widgets.plain_text import label
from tui.widgets.text.document_editor import FRESH, TextEditor
from tui.widgets.virtual_list import Row, RowList

if TYPE_CHECKING:
    from personas.persona import TestInput

NONE_YET = "None yet."


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
    class Refused(Message):
        """A key asked for what cannot be done here; `typed`: it was a letter for a content."""

        typed: bool = False

    def __init__(self, id: str = "tests") -> None:
        super().__init__(id=id)
        self._inputs: dict[str, TestInput] = {}
        self._shown: str | None = None
        self._is_gone = False
        self._locked = False
        self._is_known = False  # what the file holds; of one that broke, what it held before
        self.save: Callable[[str], None] | None = None
        """Told to store the content that is shown, at once: the next moment another may stand in the editor."""
        self._editor = TextEditor(id="test-content", prose=False)
        self.border_title = "Test inputs"

    def compose(self) -> ComposeResult:
        yield RowList(id="test-rows", choose_on_click=False)

    @property
    def rows(self) -> RowList:
        """The list."""
        return self.query_one(RowList)

    @property
    def editor(self) -> TextEditor:
        """The content of the chosen test input."""
        return self._editor

    @property
    def is_gone(self) -> bool:
        """Whether the test input whose content stands in the editor was deleted elsewhere."""
        return self._is_gone

    @property
    def shown(self) -> str | None:
        """The id of the test input whose content stands in the editor."""
        return self._shown

    @property
    def _has_keys(self) -> bool:
        """Whether the keys go to the content, also if they do so only once the terminal has its focus back."""
        return self.editor in (self.screen.focused, self.app._last_focused_on_app_blur)

    def show(
        self,
        inputs: Sequence[TestInput],
        *,
        locked: bool = False,
        fresh: bool = False,
        select: str | None = None,
        by_agent: bool = False,
        elsewhere: bool = False,
    ) -> None:
        """Show a persona's test inputs.

        One that is deleted elsewhere while the keys go to its content stays in the editor, in no list: what is typed on
        is not to go into another. Where the file of the open persona breaks, what it held stays, and is typed on in.

        Args:
            inputs: in file order.
            locked: nothing can be changed (a broken file, or none).
            fresh: another persona's; else what is typed in the editor stays, and what is new is highlighted.
            select: where the cursor goes.
            by_agent: as in `TextEditor.absorb`.
            elsewhere: neither the person nor their undo made it so.
        """
        if locked and not fresh and self._is_known:
            self._locked = True
            return
        before, was_locked = self._inputs, self._locked
        self._locked, self._is_known = locked, not locked
        how = sentence("tests.new", keymap_of(self.app), "Press {} to add one.")
        self.rows.empty = "" if locked else f"{NONE_YET} {how}".strip()
        self._inputs = {test_input.id: test_input for test_input in inputs}
        if fresh:
            self._shown, self._is_gone = None, False
        elif self._shown is not None and self._shown in before:
            self._is_gone = elsewhere and self._has_keys and self._shown not in self._inputs
        elif self._shown in self._inputs:
            self._is_gone = False
            select = self._shown if select is None else select
        if not fresh:
            self._name_content()
        news = set() if fresh else {key for key, value in self._inputs.items() if before.get(key) != value}
        self._set_rows(news, select, by_agent)
        if was_locked and not locked and self._shown is not None:
            self.editor.read_only = not is_editable(self.editor.raw)
        if news:
            self.set_timer(FRESH, self._set_rows)

    def _set_rows(
        self, news: Collection[str] = (), select: str | None = None, by_agent: bool = False
    ) -> None:
        rows = [
            Row(key, value.content, head=key, tone="fresh" if key in news else "")
            for key, value in self._inputs.items()
        ]
        self.rows.set_rows(rows, key=select)
        self.border_subtitle = label(str(len(rows))) if rows else ""
        self._show_content(by_agent)

    def _show_content(self, by_agent: bool = False) -> None:
        if self._is_gone:
            return
        key = self.rows.key
        editor = self.editor
        if key is not None and editor.parent is None:
            self.mount(editor)  # not before there is something in it: the first paint does without
        # While it has the keys it stays: they would fall to the list, which takes letters for commands.
        editor.display = key is not None or self._has_keys
        if key is None:
            self._ask_to_save()
            self._shown = None
            if editor.display:
                editor.show("", read_only=True)
                self._name_content()
            return
        content = self._inputs[key].content
        if key != self._shown:
            self._ask_to_save()
            self._shown = key
            editor.show(content, read_only=self._locked and not self._is_known)
            self._name_content()
        elif content != editor.base:
            editor.absorb(content, by_agent=by_agent)

    def _name_content(self) -> None:
        gone = " (deleted)" if self._is_gone else ""
        self.editor.border_title = Content.assemble(" ", label(self._shown or ""), f"{gone} ")

    def adopt(self, input_id: str, stored: str) -> None:
        """What stands in the editor, its own test input being gone, is another's from now on: that holds `stored`."""
        self._shown, self._is_gone = input_id, False
        self.editor.mark_saved(stored)
        self._name_content()

    def _ask_to_save(self) -> None:
        editor = self.editor
        if self._shown is not None and editor.unsaved and self.save is not None:
            self.save(self._shown)

    @on(TextEditor.SaveWanted)
    def _save(self, event: TextEditor.SaveWanted) -> None:
        event.stop()
        self._ask_to_save()

    @on(TextEditor.Edited)
    def _edited(self, event: TextEditor.Edited) -> None:
        event.stop()

    @on(TextEditor.Refused)
    def _refused(self, event: TextEditor.Refused) -> None:
        event.stop()
        self.post_message(self.Refused(typed=True))

    @on(RowList.Highlighted)
    def _highlighted(self, event: RowList.Highlighted) -> None:
        event.stop()
        self._leave_gone()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if event.widget is self.rows:
            self._leave_gone()

    def on_descendant_blur(self) -> None:
        if self._shown is None and not self._has_keys:
            self.editor.display = False

    def _leave_gone(self) -> None:
        """The person goes to the list: the content of the chosen row is shown."""
        if self.rows.has_focus:
            self._is_gone = False
        self._show_content()

    @on(RowList.Chosen)
    def _edit(self, event: RowList.Chosen) -> None:
        event.stop()
        self.action_edit()

    def action_edit(self) -> None:
        if self.editor.display:
            self.editor.focus()
        elif self._locked:
            self.post_message(self.Refused())

    def _want(self, deed: str) -> None:
        if self._locked:
            self.post_message(self.Refused())
        else:
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
