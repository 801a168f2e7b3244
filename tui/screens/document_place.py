"""What places beside the main screen share: one document open in an editor, whose keys ask a controller."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import on

from tui.screens.dialogs.base import Dialog, Result
from tui.widgets.text.document_editor import TextEditor

if TYPE_CHECKING:
    from tui.document.controller import DocumentController

LOOK_EVERY = 1.0
"""Seconds between two looks for changes from outside."""
SIDE_BY_SIDE = 110
"""Columns from which lists and the open document stand side by side."""


class DocumentPlace(Dialog[Result]):
    """A place with an editor.

    Args:
        documents: the open document, and those with unsaved text.
        do: told what is to be done with which document, by its key.
        ready: called when it is there.
        editor_id: the id of its editor.
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (SIDE_BY_SIDE, "-wide")]  # noqa: RUF012 - declared by Textual

    def __init__(
        self,
        documents: DocumentController,
        do: Callable[..., object],
        ready: Callable[[], object],
        editor_id: str,
    ) -> None:
        super().__init__()
        self._documents, self._do, self._ready = documents, do, ready
        self._is_ready = False
        self.editor = TextEditor(id=editor_id)

    @property
    def is_shown(self) -> bool:
        """Whether it is there, and not closed."""
        return self._is_ready and not self._given

    def action_ask(self, what: str) -> None:
        """Ask for something to be done with the open document."""
        if self._documents.id is not None:
            self._do(what, self._documents.id)

    def action_compare(self) -> None:
        self.action_ask("compare")

    def action_external_editor(self) -> None:
        self.action_ask("external")

    @on(TextEditor.Blurred)
    def _editor_left(self, event: TextEditor.Blurred) -> None:
        event.stop()
        self._documents.saver.save_now(event.editor.slot)

    @on(TextEditor.UndoExhausted)
    def _undo_exhausted(self, event: TextEditor.UndoExhausted) -> None:
        event.stop()
        if event.untouched:  # what was done before it was shown, the store knows
            self._do(event.operation, self._documents.id or "")
        else:
            self._documents.undo.show_nothing_to_undo(event.operation)

    @on(TextEditor.Refused)
    def _letter_refused(self, event: TextEditor.Refused) -> None:
        event.stop()
        self._do("refused", self._documents.id or "")
