"""The open document: opened, saved, merged with what others write, and its unsaved text kept.

One rule for every change that was not typed here, by the agent, an undo or another program: it is taken into the
slots at once, merged with what is unsaved; where it touches that, the slot is in conflict until the person chooses.
A key goes from the editor to its slot, from there after a pause to the save queue, and from there to the store; what
cannot be stored is in the drafts database until it can. Knows no widget: the screen is a `DocumentView`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Literal

from personas.errors import PersonaError, UnknownPersona
from tui.commands.registry import sentence
from tui.document.async_store import AsyncStore, ChangePoller, last_change
from tui.document.banner import has_git_conflict
from tui.document.conflicts import resolve_conflict, show_agent_replaced
from tui.document.document import OpenDocument
from tui.document.missing_file import persona_without_file, write_back
from tui.document.recovery import DraftRecovery
from tui.document.saver import SlotSaver
from tui.document.text_slot import TextSlot, in_words
from tui.document.undo import StoreUndo
from tui.drafts.draft import FIELD, INPUT, PROMPT, Draft, Key, is_text
from tui.drafts.store import DraftStore
from tui.drafts.unsaved_text import UnsavedText, Value
from tui.terminal.sanitise import one_line

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from personas.persona import Persona
    from tui.document.view import DocumentView

log = logging.getLogger(__name__)

State = Literal["", "reading", "saved", "unsaved", "conflict", "failed", "broken", "gone"]


class DocumentController:
    """Keeps one document open at a time, and those in memory whose text is not saved.

    Args:
        view: the screen.
        workspace: the store.
        drafts: the drafts database.
        typed_early: the document in which the person may have typed before the home was read.
        beside: has another document open at the same time; it flushes what is typed here too, and keeps it as drafts.
    """

    def __init__(
        self,
        view: DocumentView,
        workspace: AsyncStore,
        drafts: DraftStore,
        typed_early: OpenDocument | None = None,
        beside: DocumentController | None = None,
    ) -> None:
        self.view = view
        self.workspace = workspace
        self.document = typed_early
        self.documents: dict[str, OpenDocument] = {}
        self._beside: list[DocumentController] = []
        if beside is None:
            self.unsaved = UnsavedText(workspace.store.home, drafts, self._unsaved_texts)
        else:
            self.unsaved = beside.unsaved
            beside._beside.append(self)
        self.saver = SlotSaver(self)
        self.recovery = DraftRecovery(self)
        self.undo = StoreUndo(self)
        if typed_early is not None:
            typed_early.on_edit = self.saver.edited
        self.choosing = False
        """Whether both texts of a conflict are shown."""
        self._poller = ChangePoller(workspace.store)
        self._openings = 0
        self._waiting_for = ""  # the persona that was closed because its file went away
        self._warned_of_missing = False
        self._deleted: set[str] = set()  # by the person: whoever deleted it sees to what is shown instead

    # -- state ------------------------------------------------------------------------------------------

    @property
    def id(self) -> str | None:
        """The id of the open persona; None for none, and for one that is being made."""
        return (self.document.id or None) if self.document is not None else None

    @property
    def persona(self) -> Persona | None:
        """The open persona as it is stored."""
        return self.document.persona if self.document is not None else None

    @property
    def state(self) -> State:
        """How the prompt on the screen stands to its file."""
        if (document := self.document) is None:
            return ""
        if document.persona is None:
            return "reading"
        if document.gone:
            return "gone"
        if document.broken:
            return "broken"
        prompt = document.prompt
        if prompt.conflict is not None:
            return "conflict"
        if not prompt.dirty:
            return "saved"
        return "failed" if prompt.error else "unsaved"

    @property
    def trouble(self) -> str:
        """Why the prompt could not be saved; empty where it could."""
        return self.document.prompt.error if self.document is not None else ""

    def _in_memory(self) -> list[OpenDocument]:
        return [one for each in (self, *self._beside) for one in each.documents.values()]

    def _unsaved_texts(self) -> dict[Key, Value]:
        return {
            (document.id, slot.id): (slot.base, slot.text, slot.sending)
            for document in self._in_memory()
            for slot in document.dirty
        }

    def not_saved(self) -> list[str]:
        """Return the ids of documents with text that is not in their file."""
        return [document.id for document in self._in_memory() if document.dirty]

    def would_lose(self) -> list[str]:
        """Return the ids of personas with text that is only on the screen and not on disk."""
        return list(dict.fromkeys(key for key, slot, _ in self.unsaved.memory_only() if is_text(slot)))

    def memory_only(self) -> dict[str, str]:
        """Return the texts that are only on the screen and not on disk, by what they are, in words."""
        lost = self.unsaved.memory_only()
        return {f"{key}, {in_words(slot, key)}": text for key, slot, text in lost if is_text(slot)}

    async def flush(self) -> None:
        """Store everything that was typed and can be stored."""
        for one in (self, *self._beside):
            await one.saver.flush()

    async def write_drafts(self) -> None:
        """Have the drafts database say what is unsaved."""
        await self.saver.write_drafts()

    def forget_settled(self, document: OpenDocument) -> None:
        """A document that is not open any more stays in memory as long as something in it is not saved."""
        if (
            document is not self.document
            and not document.dirty
            and self.documents.get(document.id) is document
        ):
            del self.documents[document.id]

    # -- opening ----------------------------------------------------------------------------------------

    def open(self, persona_id: str, document: OpenDocument | None = None) -> Awaitable[bool]:
        """Show another persona at once, and save what was open. Its slots fill when the disk answers.

        Args:
            persona_id: the persona.
            document: the document that was open before the persona's id was known; None for none.

        Returns:
            Something to wait for, which gives whether the persona could be read.
        """
        before, is_first = self.document, not self._openings
        self._openings += 1
        if before is not None and before.id == persona_id and before.missing_since is None and not is_first:
            return self.view.start(self._open_again(before))  # type: ignore[no-any-return]
        known = self.documents.get(persona_id)
        if document is not None and known is None:
            document.id = persona_id
        elif document is not None and known is not None and document.prompt.text:
            known.prompt.prepend(document.prompt.text)
        self.document = opened = known or document or OpenDocument(persona_id, self.saver.edited)
        self.documents[persona_id] = opened
        self._waiting_for, self._warned_of_missing = "", False
        self.saver.document_opened()
        self._deleted.discard(persona_id)
        if opened is not before:
            self.view.document_opened(opened)
        self.view.show_state()
        if before is not None and before is not opened:
            self.view.start(self._leave(before))
        before = before if before is not opened else None
        return self.view.start(self._fill(opened, before, known is not None))  # type: ignore[no-any-return]

    def open_new(self) -> OpenDocument:
        """Show an empty document at once, of a persona that is being made: its id is not known yet."""
        self._openings += 1
        before, self.document = self.document, OpenDocument("", self.saver.edited)
        self._waiting_for = ""
        self.view.document_opened(self.document)
        self.view.show_state()
        if before is not None:
            self.view.start(self._leave(before))
        return self.document

    def show_again(self, before: OpenDocument | None) -> None:
        """What was asked for could not be opened: show what was open before, if that is still there."""
        self._openings += 1
        if before is None or not before.id or before.id in self._deleted:
            self.close()
            return
        self.document = self.documents[before.id] = before
        self.view.document_opened(before)
        self.view.show_state()

    async def _open_again(self, document: OpenDocument) -> bool:
        """Read what is open anew, and save what is not saved."""
        await self.flush()
        if document is self.document and document.persona is None:
            return await self._fill(document, None, known=True)
        if document is self.document:
            await self.read_again()
        if document is self.document:
            self.saver.request_all(document)
        return document is self.document

    async def _leave(self, document: OpenDocument) -> None:
        """Save what was open; it stays in memory as long as it is not saved."""
        await self.flush()
        self.forget_settled(document)

    async def _fill(self, document: OpenDocument, before: OpenDocument | None, known: bool) -> bool:
        """Read an open document; where that fails, show what was open `before`.

        `known`: it was in memory, with what was not saved of it.
        """
        persona_id = document.id
        try:
            stamp = await self.workspace.call(self._poller.at, persona_id)
            persona, is_gone, drafts, others = await self.workspace.call(self._read, persona_id)
        except Exception as error:
            if document is self.document:
                kept = " What you typed in it is kept until it can be opened." if document.dirty else ""
                if isinstance(error, PersonaError):
                    self.view.show_message(f"{error}{kept}", error=True)
                self.show_again(before)
            self.forget_settled(document)
            if not isinstance(error, PersonaError):
                raise
            return False
        if document is not self.document and not document.dirty:
            self.forget_settled(document)
            self.view.start(self.workspace.call(self.unsaved.release, persona_id))
            return False
        document.missing_since = None
        if is_gone:
            document.mark_missing(known=True)
            self._warned_of_missing = True
        else:
            self.view.start(self.workspace.know(persona_id))
        is_new = document.persona is None
        typed = document.take_early_input()
        views = document.hide() if is_new else {}
        document.take(persona)
        leftovers = self.recovery.take_drafts(document, drafts, known=known)
        for slot_id, text in typed.items():
            document.slot(slot_id).prepend(text)
        for slot, view in views.items():
            slot.view = view
        log.info("opened %s", persona_id)
        if document is self.document:
            self._poller.begin(persona_id, stamp)
            if is_new:
                self.view.document_read(document, keep_cursor=bool(typed))
            else:
                self.view.document_changed(document, by_agent=False, elsewhere=False)
            self.view.show_state()
        self.saver.show_database_warning()
        self.saver.request_all(document)
        if leftovers or others:
            self.view.start(self.recovery.settle(document, [*leftovers, *others]))
        self.forget_settled(document)
        return document is self.document

    def _read(self, persona_id: str) -> tuple[Persona, bool, list[Draft], list[Draft]]:
        """Read a persona, or as it was last and True where its file is gone, and what was left unsaved. Blocking.

        Raises:
            PersonaError: there is no such file, and nothing is unsaved.
        """
        store = self.workspace.store
        try:
            drafts, others = self.unsaved.recover(persona_id)
        except PersonaError as error:
            drafts, others = [], []
            self.unsaved.store.warning = self.unsaved.store.warning or str(error)
        try:
            return store.get(persona_id), False, drafts, others
        except UnknownPersona:
            known = self.documents.get(persona_id)
            if not drafts and not others and (known is None or not known.dirty):
                raise
        base = "" if known is None else known.prompt.base
        prompt = next((draft.base for draft in drafts if draft.slot == PROMPT), base)
        return persona_without_file(store, persona_id, prompt), True, drafts, others

    def close(self) -> None:
        """Show no persona: the open one is gone."""
        self._openings += 1
        before, self.document = self.document, None
        if before is not None:
            self.forget_settled(before)
        self.view.document_opened(None)
        self.view.show_state()

    async def forget(self, persona_id: str) -> None:
        """A persona is deleted: what was typed in it comes back with it."""
        self._deleted.add(persona_id)
        try:
            await self.workspace.call(self.unsaved.release, persona_id)
        except PersonaError as error:
            self.view.show_message(str(error), error=True)
        if (document := self.documents.pop(persona_id, None)) is not None:
            document.slots.clear()

    # -- changes made elsewhere -------------------------------------------------------------------------

    def take(self, persona: Persona, *, run_id: str = "", outside: bool = False, record: bool = True) -> None:
        """Show the persona as it is now; what is typed and unsaved stays, merged.

        Args:
            persona: as it was just read or written.
            run_id: the agent's run that wrote it; empty for none.
            outside: another program wrote it.
            record: an editor can take that back as a step of undo.
        """
        document = self.documents.get(persona.id)
        if document is None or document.persona is None:  # what is being read now has it
            return
        before = document.persona
        fixed = before is not None and before.error is not None and persona.error is None
        stored, had_conflict = document.prompt.base, document.prompt.conflict
        source = run_id if record else None
        self.set_persona(
            document, persona, source=source, by_agent=bool(run_id), elsewhere=outside or bool(run_id)
        )
        conflict = document.prompt.conflict
        if conflict is not None and run_id and conflict is not had_conflict and document is self.document:
            self.view.start(show_agent_replaced(self, document, conflict, stored, run_id))
        if fixed:
            self.saver.document_opened()
        if persona.error is None:
            self.saver.request_all(document)

    def set_persona(
        self,
        document: OpenDocument,
        persona: Persona,
        *,
        source: str | None = "",
        by_agent: bool = False,
        elsewhere: bool = False,
    ) -> None:
        """A document is so now, whoever wrote it."""
        fields = [slot for slot in document.slots.values() if not slot.merges]
        in_conflict = {slot: slot.conflict for slot in fields}
        document.take(persona, source=source, by_agent=by_agent)
        if document is not self.document:
            return
        for slot in fields:
            if slot.conflict is not None and slot.conflict is not in_conflict[slot]:
                self.show_field_conflict(slot)
        self.view.document_changed(document, by_agent=by_agent, elsewhere=elsewhere)
        self.view.show_state()

    def show_field_conflict(self, slot: TextSlot) -> None:
        assert slot.conflict is not None
        title = slot.id.removeprefix(FIELD).replace("_", " ").capitalize()
        theirs = slot.conflict.theirs
        now = f"“{one_line(theirs, 60)}”" if theirs else "empty"
        self.view.show_message(
            f"{title} was changed elsewhere to {now}. Leaving the field saves your value; undo restores the other.",
            error=True,
        )

    def agent_wrote(self, persona: Persona, run_id: str | None) -> None:
        """A tool has written, and nothing else is written at this moment: show it at once."""
        for one in (self, *self._beside):
            one.take(persona, run_id=run_id or "agent")

    async def look(self) -> bool:
        """Take in what other programs did; returns whether the list of files changed too."""
        await self.write_drafts()
        await self.look_at_proposals()
        listed, file = await self.workspace.call(self._poller.changed, self.id)
        if self.document is not None and (file or self.document.missing_since is not None):
            await self.read_again()
        elif (key := self._waiting_for) and key in await self.workspace.ids() and self._waiting_for == key:
            await self.open(key)
        return listed

    async def look_at_proposals(self) -> None:
        """Show which proposals for the open document wait for the person's word."""
        if (document := self.document) is None or document.persona is None:
            return
        found = await self.workspace.call(self._poller.proposals, document.id, document.proposals)
        if found != document.proposals:
            document.proposals = found
            self.view.show_state()

    async def read_again(self, *, quiet: bool = False, outside: bool = True) -> None:
        """Read the open persona and take in what is new.

        Args:
            quiet: the person knows that it changed.
            outside: another program changed it.
        """
        if (document := self.document) is None or document.persona is None:
            return
        try:
            while True:  # what was read may be older than what was written meanwhile
                before = document.persona
                now = await self.workspace.get(document.id)
                if document is not self.document:
                    return
                if document.persona is before and not self.workspace.writing:
                    break
                await self.workspace.settled()
        except UnknownPersona:
            if document is self.document:
                self.mark_missing(document)
            return
        except PersonaError as error:
            self.view.show_message(str(error), error=True)
            return
        was_missing = document.missing_since is not None
        document.missing_since, self._warned_of_missing = None, False
        changed = before is None or now.revision != before.revision
        if changed:
            self.view.start(self.workspace.know(now.id))
        if changed or was_missing:
            self.take(now, outside=outside)
        if changed and now.error is None and not quiet and document.prompt.conflict is None:
            self.view.show_message(f"{now.name} was changed outside; the new text is shown.")

    # -- a file that is gone ----------------------------------------------------------------------------

    def mark_missing(self, document: OpenDocument) -> None:
        """The file of the open document is not there: wait a moment, then keep what is unsaved, or close."""
        document.mark_missing()
        self.view.start(self.write_drafts())
        if not document.gone:
            return
        is_news, self._warned_of_missing = not self._warned_of_missing, True
        if document.dirty or document.id in self._deleted:
            self.view.show_state()
            if is_news and any(slot.id.startswith(INPUT) for slot in document.dirty):
                how = sentence("edit.compare", self.view.keymap, " {} restores it.")
                self.view.show_message(f"The file is missing. What you typed is kept.{how}", error=True)
            return
        assert document.persona is not None
        self.view.show_message(f"{document.persona.name} was deleted outside this program.", error=True)
        self.close()
        self._waiting_for = document.id

    async def write_back(self) -> None:
        """Write the file that is gone as it was, and into it what is typed."""
        document = self.document
        if document is None or document.persona is None or not document.gone:
            return
        try:
            await self.workspace.write(write_back, self.workspace.store, document.persona)
        except PersonaError as error:
            self.view.show_message(str(error), error=True)
            return
        if self.document is document:
            await self.read_again(quiet=True, outside=False)
            await self.flush()

    # -- what commands ask ------------------------------------------------------------------------------

    async def resolve(self, slot: TextSlot) -> None:
        """Show both texts of a slot in conflict, and store what the person chooses."""
        if self.document is not None:
            await resolve_conflict(self, self.document, slot)

    async def resolve_git_conflict(self) -> bool:
        """Show both sides of a conflict that git left in the file, and store what the person chooses; whether there is one."""
        if self.persona is None or not has_git_conflict(self.persona):
            return False
        from tui.document.git_conflict import resolve_git_conflict

        await self.flush()
        await resolve_git_conflict(self)
        return True

    async def last_change(self) -> tuple[str, str]:
        """Return what the last change was called, and its diff; an empty diff when there was none."""
        assert self.id is not None
        try:
            return await self.workspace.call(last_change, self.workspace.store, self.id)
        except PersonaError as error:
            return str(error), ""
