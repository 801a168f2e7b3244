"""What full-screen dialogs of documents share: a list of documents, and one open in an editor. Keys ask a controller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widget import Widget

from tui.commands.registry import binding
from tui.document.banner import banner_of
from tui.screens.dialogs.base import Dialog, Result
from tui.terminal.visible_controls import is_editable
from tui.widgets.plain_text import label
from tui.widgets.prompt_pane import STATES, Banner
from tui.widgets.text.document_editor import DocumentEditor
from tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from tui.document.controller import DocumentController
    from tui.document.document import OpenDocument
    from tui.document.undo import Operation

LOOK_EVERY = 1.0
"""Seconds between two looks for changes from outside."""
SIDE_BY_SIDE = 110
"""Columns from which lists and the open document stand side by side."""


class DocumentScreen(Dialog[Result]):
    """A list of documents, and one of them open in an editor.

    A subclass composes it, with ids that begin with its stem: `STEM-rows` is the list, `STEM-document` all that shows the
    open document, `STEM-banner` says what is wrong with that, `STEM-text` is its editor.

    Args:
        documents: the open document, and those with unsaved text.
        do: told what is to be done with which document, by its key.
        ready: called when it is there.
        stem: what the ids begin with.
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (SIDE_BY_SIDE, "-wide")]  # noqa: RUF012 - declared by Textual

    BINDINGS: ClassVar[list[BindingType]] = [
        binding("edit.undo"),
        binding("edit.redo"),
        binding("edit.compare"),
        binding("editor.external"),
    ]

    def __init__(
        self,
        documents: DocumentController,
        do: Callable[..., object],
        ready: Callable[[], object],
        stem: str,
    ) -> None:
        super().__init__()
        self._documents, self._do, self._ready = documents, do, ready
        self._is_ready = False
        self._stem = stem
        self._banner = Banner("", id=f"{stem}-banner")
        self.editor = DocumentEditor(id=f"{stem}-text")

    def on_mount(self) -> None:
        super().on_mount()
        self.editor.show("", read_only=True)
        self.set_focus(self.rows)
        self.show_state()
        self.set_interval(LOOK_EVERY, partial(self._do, "look", ""))
        self._is_ready = True
        self._ready()

    @property
    def is_shown(self) -> bool:
        """Whether it is there, and not closed."""
        return self._is_ready and not self._given

    @property
    def key_prefix(self) -> str:
        """What the keys of the listed documents begin with."""
        raise NotImplementedError

    @property
    def rows(self) -> VirtualList:
        """The list."""
        return self.query_one(f"#{self._stem}-rows", VirtualList)

    @property
    def _pane(self) -> Vertical:
        return self.query_one(f"#{self._stem}-document", Vertical)

    @property
    def _has_keys(self) -> bool:
        """Whether the keys go to the open document, and not to the list."""
        return self.focused is not None and self._pane in self.focused.ancestors_with_self

    @property
    def _in_hand(self) -> str:
        """The open document while it has the keys, else that under the cursor, by key; empty for none."""
        if self._has_keys or self.rows.key is None:
            return self._documents.id or ""
        return f"{self.key_prefix}{self.rows.key}"

    # -- the open document --------------------------------------------------------------------------------

    def show_document(self, document: OpenDocument | None, *, keep_cursor: bool = False) -> None:
        """Show the text of another document, or none."""
        if document is None:
            self.editor.show("", read_only=True)
            self._leave_document()
        elif keep_cursor:
            self.editor.slot_changed(None)
            self.editor.end_flash()
        else:
            self.editor.bind(document.prompt, read_only=document.broken and not document.prompt.dirty)

    def document_changed(self, document: OpenDocument) -> None:
        """The open document is another now: its slots show their texts themselves."""
        if not document.broken:
            self.editor.read_only = not is_editable(document.prompt.text)

    def enter_document(self) -> None:
        """Give the keys to the open document."""
        self.add_class("-in-front")
        self.set_focus(self._typed_into)  # at once: what is typed behind the key goes there

    @property
    def _typed_into(self) -> Widget:
        return self.editor

    def _leave_document(self) -> None:
        """Go from the open document, if it has the keys, to the list."""
        if self._has_keys:
            self.set_focus(self.rows)
        self.remove_class("-in-front")

    def show_state(self) -> None:
        """Show how the open document is saved, and what is wrong with it."""
        documents, document = self._documents, self._documents.document
        self._pane.set_class(documents.state in ("conflict", "failed", "broken", "gone"), "-trouble")
        title = said = banner = ""
        if document is not None:
            state = documents.state if documents.state != "saved" or not document.dirty else "unsaved"
            how = STATES.get("failed" if state == "unsaved" and document.is_held else state, "reading …")
            title, said = self._title_of(document), " · ".join((*self._facts_of(), how))
            banner = banner_of(documents, self.keymap, "text") or self._warning_of(document)
        self._pane.border_title, self._pane.border_subtitle = label(title, 70), label(said)
        self._banner.display = bool(banner)
        self._banner.update(banner)
        self._show_hint()

    def _title_of(self, document: OpenDocument) -> str:
        raise NotImplementedError

    def _facts_of(self) -> tuple[str, ...]:
        """Return what is said of the open document beside how it is saved."""
        return ()

    def _warning_of(self, document: OpenDocument) -> str:
        """Return what the person should know of a document that is in order, empty for nothing."""
        raise NotImplementedError

    # -- what keys do -------------------------------------------------------------------------------------

    def on_descendant_focus(self) -> None:
        self._show_hint()

    def _show_hint(self) -> None:
        if self.query(".dialog-hint"):
            self.say_hint(*self._hints())

    def _hints(self) -> Sequence[tuple[str, str]]:
        """Return the keys that are told now: commands, and what each does."""
        raise NotImplementedError

    def action_undo(self) -> None:
        self._step("undo")

    def action_redo(self) -> None:
        self._step("redo")

    def action_undo_agent(self) -> None:
        self._do("undo_agent", self._in_hand)

    def action_redo_agent(self) -> None:
        self._do("redo_agent", self._in_hand)

    def _step(self, operation: Operation) -> None:
        self._do(operation, self._in_hand)

    def action_cancel(self) -> None:
        """Go back from the open document to the list, from the list to the persona."""
        if not self._has_keys:
            super().action_cancel()
            return
        if (key := self._documents.id or "").startswith(self.key_prefix):
            self.rows.select(key.removeprefix(self.key_prefix))
        self._leave_document()
        self.show_state()

    def ask_of_row(self, what: str) -> None:
        """Ask for something to be done with the document under the cursor."""
        name = self.rows.key
        if name is not None or what in ("new", "restore"):
            self._do(what, f"{self.key_prefix}{name or ''}")

    def action_ask(self, what: str) -> None:
        """Ask for something to be done with the open document."""
        if self._documents.id is not None:
            self._do(what, self._documents.id)

    def action_compare(self) -> None:
        self.action_ask("compare")

    def action_external_editor(self) -> None:
        self.action_ask("external")

    @on(DocumentEditor.Blurred)
    def _editor_left(self, event: DocumentEditor.Blurred) -> None:
        event.stop()
        self._documents.saver.save_now(event.editor.slot)

    @on(DocumentEditor.UndoExhausted)
    def _undo_exhausted(self, event: DocumentEditor.UndoExhausted) -> None:
        event.stop()
        if event.untouched:  # what was done before it was shown, the store knows
            self._do(event.operation, self._documents.id or "")
        else:
            self._documents.undo.show_nothing_to_undo(event.operation)

    @on(DocumentEditor.Refused)
    def _letter_refused(self, event: DocumentEditor.Refused) -> None:
        event.stop()
        self._do("refused", self._documents.id or "")
