"""One persona's texts in memory: as they are stored, as they are edited, and whether the file is there.

Pure: no widgets, no files, no timers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from tui.document.text_slot import SlotView, TextSlot, stored_texts
from tui.drafts.draft import INPUT, PROMPT

if TYPE_CHECKING:
    from personas.persona import Persona
    from personas.versions.authorship import Version

GONE_AFTER = 2.0
"""Seconds for which a file that is not there may still come back: editors and version control replace files."""
clock = monotonic


class OpenDocument:
    """A persona and its text slots.

    It is there before its file is read: what is typed until then is put in front of the text that is read.

    Attributes:
        id: the persona's id; empty as long as it is not known, at the start or while a new one is made.
        persona: the persona as it was read or written last; None before that.
        missing_since: when the file was first not there; None where it is.
        is_held: what is typed is kept as a draft, and stored only when the person says so.
        proposals: the proposals for it that wait for the person's word, newest first.
    """

    def __init__(self, id: str, on_edit: Callable[[OpenDocument, TextSlot], None] = lambda *_: None) -> None:
        self.id = id
        self.persona: Persona | None = None
        self.missing_since: float | None = None
        self.is_held = False
        self.proposals: Sequence[Version] = ()
        self.slots: dict[str, TextSlot] = {}
        self.on_edit = on_edit

    def slot(self, slot_id: str) -> TextSlot:
        """Return a slot, which holds what is stored where nothing is typed."""
        found = self.slots.get(slot_id)
        if found is None:
            stored = stored_texts(self.persona).get(slot_id, "") if self.persona is not None else ""
            found = self.slots[slot_id] = TextSlot(
                slot_id, stored, on_edit=lambda slot: self.on_edit(self, slot)
            )
        return found

    def take_early_input(self) -> dict[str, str]:
        """Return what was typed before the file was read, by slot, and take it out of the slots."""
        if self.persona is not None:
            return {}
        typed = {slot.id: slot.text for slot in self.dirty}
        for slot_id in typed:
            self.slots[slot_id].text = ""
        return typed

    def hide(self) -> dict[TextSlot, SlotView | None]:
        """Show the slots nowhere while they are filled; return what showed them."""
        views = {slot: slot.view for slot in self.slots.values()}
        for slot in views:
            slot.view = None
        return views

    @property
    def prompt(self) -> TextSlot:
        """The system prompt."""
        return self.slot(PROMPT)

    @property
    def dirty(self) -> list[TextSlot]:
        """The slots whose text is not what is stored."""
        return [slot for slot in list(self.slots.values()) if slot.dirty]

    @property
    def broken(self) -> bool:
        """Whether the file cannot be read as a persona; one that only lacks its prompt's file gets that by typing."""
        persona = self.persona
        return persona is not None and persona.error is not None and not persona.lacks_prompt_file

    @property
    def gone(self) -> bool:
        """Whether the file is gone for good, as far as one can tell."""
        return self.missing_since is not None and clock() - self.missing_since >= GONE_AFTER

    def mark_missing(self, *, known: bool = False) -> None:
        """The file is not there; `known` where there is no need to wait for it to come back."""
        if known:
            self.missing_since = clock() - GONE_AFTER
        elif self.missing_since is None:
            self.missing_since = clock()

    def take(self, persona: Persona, *, source: str | None = "", by_agent: bool = False) -> list[TextSlot]:
        """The persona is so now: take that into all slots; return those that are in conflict with it.

        `source`, `by_agent`: as in `TextSlot.rebase`.
        """
        is_first, self.persona = self.persona is None, persona
        if persona.error is not None and not is_first:  # the slots keep what was read before it broke
            return []
        stored = stored_texts(persona)
        for slot_id, slot in list(self.slots.items()):
            if slot_id in stored:
                slot.rebase(stored[slot_id], source=source, by_agent=by_agent)
            elif not slot.dirty and slot.view is None:
                del self.slots[slot_id]
        return [slot for slot in self.slots.values() if slot.conflict is not None and slot.id in stored]

    def has(self, slot: TextSlot) -> bool:
        """Whether the stored persona has this text: a test input may have been deleted."""
        if not slot.id.startswith(INPUT) or self.persona is None:
            return True
        return any(INPUT + each.id == slot.id for each in self.persona.test_inputs)

    def rename(self, slot: TextSlot, slot_id: str) -> None:
        """A slot is another one from now on: its test input was stored as a new one."""
        self.slots.pop(slot.id, None)
        if (other := self.slots.get(slot_id)) is not None and other.view is not None:
            other.view = None
        slot.id = slot_id
        self.slots[slot_id] = slot
