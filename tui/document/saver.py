"""Saves slots: after a pause, or when they are left; what cannot be stored stays in its slot and is kept as a draft."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING

from personas.errors import BrokenFile, PersonaError, UnknownPersona
from tui.document.async_store import InputDeleted
from tui.document.conflicts import conflict_message
from tui.document.debounce import Debounce
from tui.document.merge import MergeConflict
from tui.document.save_queue import SaveQueue
from tui.document.store_merged import Saved
from tui.document.text_slot import TextSlot
from tui.drafts.draft import FIELD, INPUT, PROMPT

if TYPE_CHECKING:
    from collections.abc import Callable

    from personas.persona import Persona
    from tui.document.document import OpenDocument
    from tui.document.open_documents import OpenDocuments

log = logging.getLogger(__name__)

BROKEN = "The file is broken. What you type is kept and saved once it is fixed."
IN_LIST = ("name", "description", "tags")
"""Fields that the list of personas shows."""
CHOICES = ("effort",)
"""Fields whose value is chosen from a list: what is none of it does not stay."""


class SlotSaver:
    """Saves the slots of one program's documents.

    Args:
        controller: has the documents.
    """

    def __init__(self, controller: OpenDocuments) -> None:
        self._controller = controller
        self.view, self.workspace = controller.view, controller.workspace
        self.queue = SaveQueue(self._save, self.view.start)
        self._debounce = Debounce(self._typing_paused)
        self._typed: dict[TextSlot, OpenDocument] = {}  # since the last pause
        self._left: dict[TextSlot, str] = {}  # what fields held when they were left, until that is stored
        self._writing_drafts = asyncio.Lock()
        self._warned_of_drafts = self._warned_of_broken = False
        self._warned_of_conflict: TextSlot | None = None
        self._let_go: OpenDocument | None = None  # is held back, and to be stored all the same

    def document_opened(self) -> None:
        """Another document is open, or its file is fixed: what was told before is told again."""
        self._warned_of_broken, self._warned_of_conflict = False, None

    def edited(self, document: OpenDocument, slot: TextSlot) -> None:
        """The person changed a slot."""
        self._typed[slot] = document
        self._debounce.key_pressed()
        if slot.id == PROMPT:
            self.view.show_state()

    def _typing_paused(self) -> None:
        typed, self._typed = self._typed, {}
        for slot, document in typed.items():
            if slot.id.startswith(FIELD):  # stored when it is left
                if document.broken and slot.dirty:
                    self._show_broken()
            else:
                self.queue.request(document, slot)
        self.view.start(self.write_drafts())

    def save_now(self, slot: TextSlot) -> None:
        """The person left a slot: store it without waiting for a pause."""
        slot.stop_typing()
        self._typed.pop(slot, None)
        document = next(
            (one for one in self._controller.documents.values() if one.slots.get(slot.id) is slot), None
        )
        if document is not None and document.persona is None:  # stored once it is read
            return
        if not slot.merges:
            slot.conflict = None  # whoever was in the field has seen what is stored
            self._left[slot] = slot.text
        if document is not None and (slot.dirty or slot.conflict is not None):
            self.queue.request(document, slot)
            self.view.start(self.write_drafts())

    async def write_drafts(self) -> None:
        """Have the drafts database say what is unsaved; where the disk refuses, that is said once."""
        if not self._controller.unsaved.is_dirty:
            return
        async with self._writing_drafts:
            refused = await self.workspace.call(self._controller.unsaved.write)
        if refused and not self._warned_of_drafts:
            self.view.show_message(f"Could not save your draft to disk: {refused}", error=True)
        self._warned_of_drafts = bool(refused)
        self.show_database_warning()

    def show_database_warning(self) -> None:
        if warning := self._controller.unsaved.store.warning:
            self._controller.unsaved.store.warning = ""
            self.view.show_message(warning, error=True)

    async def flush(self) -> None:
        """Store everything that was typed and can be stored."""
        self._typed.clear()
        self._debounce.cancel()
        for document in list(self._controller.documents.values()):
            self.request_all(document)
        await self.queue.settled()
        await self.write_drafts()

    async def save_held(self, document: OpenDocument) -> None:
        """The person says that what is held back is to be stored."""
        self._let_go = document
        try:
            self.request_all(document)
            await self.queue.settled()
        finally:
            self._let_go = None

    def request_all(self, document: OpenDocument) -> None:
        for slot in [*document.dirty, *(slot for slot in document.slots.values() if slot.conflict)]:
            if slot.merges or slot.conflict is None:
                self.queue.request(document, slot)

    async def _save(self, document: OpenDocument, slot: TextSlot) -> None:
        """Store a slot, merged with what is on disk; what cannot be stored stays in it, and is kept as a draft."""
        if document.persona is None or not document.id:  # stored once it is read
            self.queue.begins(slot)
        elif not slot.dirty:
            self.queue.begins(slot)
            if slot.merges and slot.conflict is not None:  # typed away again
                slot.rebase(slot.conflict.theirs)
                self._show_state_of(document)
        elif document.is_held and document is not self._let_go:
            self.queue.begins(slot)
        elif document.broken:
            self.queue.begins(slot)
            if slot.id != PROMPT:
                self._show_broken()
        else:
            await self._store(document, slot)
        await self.write_drafts()
        self._controller.forget_settled(document)

    async def _store(self, document: OpenDocument, slot: TextSlot) -> None:
        sent = ""

        def prepare() -> Callable[[], Saved | MergeConflict]:
            nonlocal sent
            self.queue.begins(slot)
            slot.sending = sent = self._left.pop(slot, slot.text)
            return partial(self.workspace.save_text, document.id, slot.id, slot.base, sent)

        try:
            result = await self.workspace.write_prepared(
                prepare, lambda done: self._apply(document, slot, sent, done)
            )
        except PersonaError as error:
            slot.sending = None
            await self._not_stored(document, slot, error)
        except ValueError as error:
            slot.sending = None
            self.view.show_message(str(error), error=True)
            if slot.id.removeprefix(FIELD) in CHOICES:
                slot.take(slot.base, slot.base)
        else:
            if isinstance(result, MergeConflict) and slot.conflict is not None:
                await self._show_conflict(document, slot)

    def _apply(
        self, document: OpenDocument, slot: TextSlot, sent: str, result: Saved | MergeConflict
    ) -> None:
        """A slot was stored, or met a conflict. Nothing else was written here since its text was taken."""
        slot.error = ""
        if isinstance(result, MergeConflict):
            slot.sending = None
            slot.rebase(result.theirs)
            log.warning("a conflict in %s of %s", slot.id, document.id)
        else:
            slot.saved(sent, result.text)
            log.info("saved %s of %s", slot.id, document.id)
            if slot is self._warned_of_conflict:
                self._warned_of_conflict = None
            self._controller.set_persona(document, result.persona)
            if slot.id.removeprefix(FIELD) in IN_LIST:
                self.view.list_changed()
        if slot.dirty and slot.conflict is None and slot.merges and slot not in self._typed:
            self.queue.request(document, slot)
        self._show_state_of(document)

    async def _not_stored(self, document: OpenDocument, slot: TextSlot, error: PersonaError) -> None:
        log.warning("not saved: %s of %s: %s", slot.id, document.id, error)
        if isinstance(error, InputDeleted):
            await self.store_as_new_input(document, slot, f"{error} What you typed is kept as a new one.")
        elif isinstance(error, BrokenFile):
            if slot.id != PROMPT:
                self._show_broken()
        elif isinstance(error, UnknownPersona):
            if document is self._controller.document:
                self._controller.mark_missing(document)
        else:
            if slot.error != str(error) or slot.id != PROMPT:
                self.view.show_message(f"Not saved: {error}", error=True)
            slot.error = str(error)
            self._show_state_of(document)

    async def _show_conflict(self, document: OpenDocument, slot: TextSlot) -> None:
        """A test input in conflict: while it is shown the person may choose; left, yours becomes a new one."""
        if not slot.id.startswith(INPUT):
            return
        if slot.view is None:
            await self.store_as_new_input(document, slot, "Both are kept: yours as a new test input.")
        elif self._warned_of_conflict is not slot:
            self._warned_of_conflict = slot
            self.view.show_message(conflict_message(slot, self.view.keymap), error=True)

    async def store_as_new_input(self, document: OpenDocument, slot: TextSlot, why: str) -> None:
        """What was typed has no place in its test input: it becomes one of its own."""
        from personas.changes import AddTestInput
        from personas.versions.authorship import USER

        sent = ""

        def prepare() -> Callable[[], Persona]:
            nonlocal sent
            sent = slot.text
            change, store = AddTestInput(sent), self.workspace.store
            return partial(store.change, document.id, change, revision=None, by=USER, own_unit=True)

        def apply(persona: Persona) -> None:
            conflict = slot.conflict
            if conflict is not None:
                slot.take(conflict.theirs, conflict.theirs)
            else:
                old = slot.id.removeprefix(INPUT)
                document.rename(slot, INPUT + persona.test_inputs[-1].id)
                slot.saved(sent, sent)
                if document is self._controller.document and slot.view is not None:
                    self.view.input_renamed(slot, old)
            self._controller.set_persona(document, persona)

        try:
            await self.workspace.write_prepared(prepare, apply)
        except PersonaError as error:
            self.view.show_message(f"Not saved: {error}", error=True)
        else:
            self.view.show_message(why)
            if slot.dirty and slot.conflict is None:  # typed on meanwhile
                self.queue.request(document, slot)

    def slot_settled(self, document: OpenDocument, slot: TextSlot) -> None:
        """The person chose what a slot in conflict is to hold: store it."""
        self._warned_of_conflict = None
        self._show_state_of(document)
        self.queue.request(document, slot)

    def _show_broken(self) -> None:
        """What is typed beside the prompt, where no banner says so, cannot go into a broken file: say it, once."""
        if not self._warned_of_broken:
            self._warned_of_broken = True
            self.view.show_message(BROKEN, error=True)

    def _show_state_of(self, document: OpenDocument) -> None:
        if document is self._controller.document:
            self.view.show_state()
