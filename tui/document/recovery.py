"""What was left unsaved: given back when its document is opened, settled, or discarded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from personas.errors import PersonaError
from tui.document.merge import merge_texts
from tui.document.text_slot import in_words, stored_texts
from tui.drafts.draft import INPUT, PROMPT, Draft
from tui.drafts.unsaved_text import documents_with_drafts

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui.document.document import OpenDocument
    from tui.document.open_documents import OpenDocuments


class DraftRecovery:
    """Gives drafts back to the person.

    Args:
        controller: has the documents.
    """

    def __init__(self, controller: OpenDocuments) -> None:
        self._controller, self._saver = controller, controller.saver
        self._view, self._workspace = controller.view, controller.workspace

    def take_drafts(self, document: OpenDocument, drafts: list[Draft], *, known: bool) -> list[Draft]:
        """Put drafts into their slots; return those whose slot holds another text already.

        `known`: the person saw them in this program.
        """
        persona, leftovers, back = document.persona, [], set()
        stored = stored_texts(persona) if persona is not None and persona.error is None else {}
        for draft in drafts:
            slot = document.slot(draft.slot)
            if slot.dirty and slot.text != draft.text:
                leftovers.append(draft)
                continue
            now = stored.get(slot.id)
            base = draft.sending if now is not None and now == draft.sending else draft.base
            slot.begin_with(base, draft.text)
            if now is not None:
                slot.rebase(now)
                if slot.conflict is not None and not slot.merges:
                    self._controller.show_field_conflict(slot)
            if slot.dirty:
                back.add(slot.id.partition(":")[0])
        if not known and persona is not None:
            if "prompt" in back:
                self._view.show_message(f"Your unsaved text of {persona.name} is back in the editor.")
            if "field" in back:
                self._view.show_message(f"Your unsaved text in the settings of {persona.name} is back.")
        conflicts = [s for s in document.slots.values() if s.id.startswith(INPUT) and s.conflict is not None]
        for slot in conflicts:
            why = "Your unsaved text of a test input is back, as a new test input."
            self._view.start(self._saver.store_as_new_input(document, slot, why))
        return leftovers

    async def settle(self, document: OpenDocument, drafts: list[Draft]) -> None:
        """Settle drafts whose slot holds another text: merged with it, else as a test input or version of its own."""
        unsaved = "Your unsaved text from another window"
        for draft in drafts:
            slot = document.slot(draft.slot)
            merged = merge_texts(draft.base, draft.text, slot.text) if slot.merges else None
            try:
                if isinstance(merged, str):
                    changed = merged != slot.text
                    slot.begin_with(slot.base, merged)
                    self._saver.queue.request(document, slot)
                    await self._saver.queue.settled()
                    if changed and slot.id == PROMPT:
                        self._view.show_message(f"{unsaved} is back in the prompt.")
                elif slot.id.startswith(INPUT):
                    from personas.changes import AddTestInput

                    self._controller.take(await self._workspace.change(document.id, AddTestInput(draft.text)))
                    self._view.show_message(f"{unsaved} is back, as a new test input.")
                elif draft.text != slot.text:
                    reason = "typed in another window, not saved"
                    await self._workspace.keep_text(document.id, slot.id, draft.text, reason)
                    self._view.show_message(f"{unsaved} is kept as a version.")
                await self._workspace.call(self._controller.unsaved.store.drop, draft)
            except (PersonaError, ValueError):
                continue  # it stays, to be settled at another start

    async def without_file(self) -> list[str]:
        """Return the ids of personas that text is kept of and whose file went away; not of those that were deleted."""
        return await self._workspace.call(self._without_file)

    def _without_file(self) -> list[str]:
        try:
            left = self._controller.unsaved.documents()
        except (
            PersonaError
        ):  # said where the drafts are read and written; the personas are there without them
            left = []
        kept = [key for key in dict.fromkeys([*self._controller.not_saved(), *left]) if "/" not in key]
        ids = self._workspace.store.ids() if kept else []
        return [key for key in kept if key not in ids and not self._was_deleted(key)]

    def _was_deleted(self, persona_id: str) -> bool:
        """Whether a persona was deleted by a person, and not taken away outside."""
        try:
            versions = self._workspace.store.log(persona_id)
        except PersonaError:
            return False
        return bool(versions) and versions[0].sha is None and versions[0].by.kind != "external"

    def reserved_ids(self) -> list[str]:
        """Return the ids that no new persona may get: unsaved text is kept for them. Blocking."""
        return [*self._controller.not_saved(), *documents_with_drafts(self._workspace.store.home)]

    async def unsaved_texts(self) -> list[str]:
        """Return what of the open persona is not saved and cannot be, in words: "the system prompt"."""
        await self._saver.flush()
        return (
            []
            if self._controller.document is None
            else [in_words(slot.id, self._controller.document.id) for slot in self._controller.document.dirty]
        )

    async def discard(self, stash: Callable[[str], None]) -> bool:
        """Stash what is not saved of the open persona, and show what is stored.

        Returns:
            Whether that was done: not where another persona is open by then, or where it could be saved meanwhile.
        """
        document = self._controller.document
        while self._workspace.writing or self._saver.queue:
            # A save under way, or waiting, would store what is discarded.
            await self._workspace.settled()
            await self._saver.queue.settled()
        if document is None or self._controller.document is not document:
            return False
        slots = document.dirty
        if not slots:
            self._view.show_message("Everything is saved.")
            return False
        for slot in slots:
            stash(slot.text)
            stored = slot.conflict.theirs if slot.conflict is not None and slot.merges else slot.base
            slot.take(stored, stored)
        self._view.document_opened(document)
        self._view.show_state()
        await self._saver.write_drafts()
        if self._controller.document is document and not document.gone:
            await self._controller.read_again(quiet=True, outside=False)
        return True
