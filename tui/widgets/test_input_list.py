"""The test inputs of a persona: a list, and the content of the chosen one to read and edit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from tui.commands.registry import bindings, keymap_of, sentence
from tui.drafts.draft import INPUT
from tui.outputs.labels import SIGNS
from tui.terminal.textual_compat.screen_hooks import has_keys
from tui.terminal.visible_controls import from_shown, is_editable, pasted
from tui.widgets.plain_text import label
from tui.widgets.text.document_editor import FRESH, DocumentEditor
from tui.widgets.virtual_list import Row, SecondLine, VirtualList

if TYPE_CHECKING:
    from personas.persona import TestInput
    from tui.document.document import OpenDocument
    from tui.document.text_slot import TextSlot
    from tui.outputs.labels import OutputLine

NONE_YET = "None yet."
TONES = {SIGNS["pass"]: "text-success", SIGNS["fail"]: "text-error", SIGNS["error"]: "text-warning"}
"""How the sign of a verdict is drawn."""


class TestInputList(Vertical):
    """The test inputs of the open persona."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    __test__ = False

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("tests")]

    class OperationRequested(Message):
        """The person asks for `new`, `duplicate`, `delete`, `up`, `down`, or `move_to` and `copy_to` another persona.

        `marked` are the marked test inputs.
        """

        def __init__(self, operation: str, input_id: str | None, marked: tuple[str, ...] = ()) -> None:
            super().__init__()
            self.operation = operation
            self.input_id = input_id
            self.marked = marked

    class OutputRequested(Message):
        """The person asks for the output of a test input; `else_edit`: where there is none they edit it."""

        def __init__(self, input_id: str, else_edit: bool = False) -> None:
            super().__init__()
            self.input_id = input_id
            self.else_edit = else_edit

    class ExpectationsRequested(Message):
        """The person asks for the expectations of a test input."""

        def __init__(self, input_id: str) -> None:
            super().__init__()
            self.input_id = input_id

    class Pasted(Message):
        """A text was pasted into the list."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Refused(Message):
        """A key cannot do anything here; `typed`: it was a letter for the read-only editor."""

        def __init__(self, typed: bool = False) -> None:
            super().__init__()
            self.typed = typed

    def __init__(self, id: str = "tests") -> None:
        super().__init__(id=id)
        self._inputs: dict[str, TestInput] = {}
        self._shown: str | None = None
        self._is_deleted = False
        self._changed: Collection[str] = ()  # by others, a moment ago
        self._outputs: Mapping[str, OutputLine] = {}
        self._locked = False
        self._is_known = False  # whether the test inputs of the file, or of it before it broke, are known
        self._document: OpenDocument | None = None
        self.leave: Callable[[TextSlot], None] = lambda slot: None
        """Called with the slot of a test input that is no longer shown: it should be saved now."""
        self._editor = DocumentEditor(id="test-content", prose=False)
        self.border_title = "Test inputs"

    def compose(self) -> ComposeResult:
        yield VirtualList(id="test-rows", choose_on_click=False, mark_on_click=True)

    @property
    def rows(self) -> VirtualList:
        """The list."""
        return self.query_one(VirtualList)

    @property
    def focus_target(self) -> VirtualList:
        """What gets the keys."""
        return self.rows

    @property
    def focus_area(self) -> str:
        """What the key hints are for while the focus is here."""
        return "tests" if self.rows.has_focus else "prompt"

    @property
    def tab_mark(self) -> str:
        """How many there are, for the tab."""
        return str(len(self.rows.rows) or "")

    @property
    def editor(self) -> DocumentEditor:
        """The content of the chosen test input."""
        return self._editor

    @property
    def is_gone(self) -> bool:
        """Whether the test input in the editor was deleted elsewhere."""
        return self._is_deleted

    @property
    def shown(self) -> str | None:
        """The id of the test input in the editor."""
        return self._shown

    @property
    def _has_keys(self) -> bool:
        """Whether the editor has the focus, or will have it once the terminal has its focus back."""
        return has_keys(self.editor, self.screen)

    def show(
        self,
        document: OpenDocument | None,
        *,
        fresh: bool = False,
        elsewhere: bool = False,
    ) -> None:
        """Show a document's test inputs.

        A test input that is deleted elsewhere while its editor has the focus stays in the editor, so that what is typed
        does not go into another. If the file breaks, its last test inputs stay and can be edited.

        Args:
            document: the open document; None for none.
            fresh: it is another document, or loaded again; else changes are highlighted.
            elsewhere: neither the person nor their undo changed it.
        """
        persona = document.persona if document is not None else None
        locked = persona is None or persona.error is not None
        inputs = persona.test_inputs if persona is not None else ()
        self._document = document
        if locked and not fresh and self._is_known:
            self._locked = True
            return
        before, was_locked = self._inputs, self._locked
        self._locked, self._is_known = locked, not locked
        how = sentence("tests.new", keymap_of(self.app), "Press {} to add one.")
        is_read = document is None or persona is not None
        self.rows.empty = ("" if is_read else "Reading…") if locked else f"{NONE_YET} {how}".strip()
        self._inputs = {test_input.id: test_input for test_input in inputs}
        select = None
        if fresh:
            self._unbind()
            self._is_deleted = False
        elif self._shown is not None and self._shown in before:
            self._is_deleted = elsewhere and self._has_keys and self._shown not in self._inputs
        elif self._shown in self._inputs:
            self._is_deleted, select = False, self._shown
        if not fresh:
            self._show_title()
        changed = set() if fresh else {key for key, value in self._inputs.items() if before.get(key) != value}
        self._set_rows(changed, select)
        if was_locked and not locked and not fresh and self._shown is not None:
            self.editor.read_only = not is_editable(self.editor.raw)
        if changed:
            self.set_timer(FRESH, self._set_rows)

    def _set_rows(self, changed: Collection[str] = (), select: str | None = None) -> None:
        self._changed = changed
        rows = self._rows()
        self.rows.set_rows(rows, key=select)
        self.border_subtitle = label(str(len(rows))) if rows else ""
        self._show_content()

    def _rows(self) -> list[Row]:
        return [
            Row(
                key,
                value.content,
                head=key,
                tone="fresh" if key in self._changed else "",
                below=_second_line(self._outputs.get(key)),
            )
            for key, value in self._inputs.items()
        ]

    def show_outputs(self, outputs: Mapping[str, OutputLine]) -> None:
        """Show the last output under each test input, by its id."""
        if outputs != self._outputs and self.is_mounted:
            self._outputs = outputs
            self.rows.set_rows(self._rows())

    def _show_content(self) -> None:
        if self._is_deleted:
            return
        key = self.rows.key
        editor = self.editor
        if key is not None and editor.parent is None:
            self.mount(editor)  # mounted when first needed, which makes the first paint faster
        # While it has the focus it stays: else letters would go to the list, where they are commands.
        editor.display = key is not None or self._has_keys
        if key is not None and key == self._shown:
            return
        self._unbind()
        self._shown = key
        if key is not None and self._document is not None:
            slot = self._document.slot(INPUT + key)
            editor.bind(slot, read_only=self._locked and not self._is_known and not slot.dirty)
        elif editor.display:
            editor.show("", read_only=True)
        self._show_title()

    def _unbind(self) -> None:
        """Unbind the editor; the text it showed is saved now."""
        slot, is_shown = self.editor.slot, self._shown is not None
        self.editor.unbind()
        self._shown = None
        if is_shown:
            self.leave(slot)

    def _show_title(self) -> None:
        gone = " (deleted)" if self._is_deleted else ""
        self.editor.border_title = Content.assemble(" ", label(self._shown or ""), f"{gone} ")

    def renamed(self, old: str, new: str) -> None:
        """The shown test input, whose own id was deleted, has another id from now on."""
        if self._shown == old:
            self._shown, self._is_deleted = new, False
            self._show_title()

    @on(DocumentEditor.Refused)
    def _refused(self, event: DocumentEditor.Refused) -> None:
        event.stop()
        self.post_message(self.Refused(typed=True))

    @on(VirtualList.Highlighted)
    def _highlighted(self, event: VirtualList.Highlighted) -> None:
        event.stop()
        self._leave_deleted()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if event.widget is self.rows:
            self._leave_deleted()

    def on_descendant_blur(self) -> None:
        if self._shown is None and not self._has_keys:
            self.editor.display = False

    def _leave_deleted(self) -> None:
        """The person goes to the list: show the test input of its row."""
        if self.rows.has_focus:
            self._is_deleted = False
        self._show_content()

    @on(VirtualList.Chosen)
    def _chosen(self, event: VirtualList.Chosen) -> None:
        event.stop()
        self.post_message(self.OutputRequested(event.key, else_edit=True))

    def action_open_output(self) -> None:
        if (key := self.rows.key) is not None:
            self.post_message(self.OutputRequested(key))

    def action_expectations(self) -> None:
        if (key := self.rows.key) is not None:
            self.post_message(self.ExpectationsRequested(key))

    def action_edit(self) -> None:
        if self.editor.display:
            self.editor.focus()
        elif self._locked:
            self.post_message(self.Refused())

    def _request(self, operation: str) -> None:
        if self._locked:
            self.post_message(self.Refused())
        else:
            self.post_message(self.OperationRequested(operation, self.rows.key, tuple(self.rows.marked)))

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.post_message(self.Refused() if self._locked else self.Pasted(from_shown(pasted(event.text))))

    def action_mark(self) -> None:
        self.rows.toggle_mark()

    def action_new(self) -> None:
        self._request("new")

    def action_duplicate(self) -> None:
        self._request("duplicate")

    def action_delete(self) -> None:
        self._request("delete")

    def action_send(self, operation: str) -> None:
        self._request(operation)

    def action_move(self, by: int) -> None:
        self._request("up" if by < 0 else "down")


def _second_line(output: OutputLine | None) -> SecondLine | None:
    if output is None:
        return None
    tone = TONES.get(output.sign, "foreground-muted")
    return SecondLine(output.text, output.sign, tone, output.notes, output.is_outdated)
