"""What was kept because it could not be saved: given back where its persona is open, or thrown away on demand."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from personas.errors import PersonaError, UnknownPersona
from tui.document.field_autosave import FIELD
from tui.document.merge import Clash
from tui.document.missing_file import last_text
from tui.document.undo_stack import BEFORE
from tui.drafts.unsaved_edits import PROMPT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from personas.persona import Persona
    from tui.document.editor_view import Desk
    from tui.document.session import Editing
    from tui.drafts.unsaved_edits import Left, Unsaved

BACK = "was not saved is back"


class GivingBack:
    """Gives kept texts back to the person."""

    def __init__(self, desk: Desk, editing: Editing) -> None:
        self._desk, self._editing = desk, editing
        self._thrown_last = ""
        self._storing = asyncio.Lock()
        self.throwing = False
        """Whether what is not saved is being thrown away; who asked for that sees to a persona that is left with nothing."""

    async def find(self, persona_id: str) -> tuple[dict[str, Unsaved], Persona, bool]:
        """Return what is kept of a persona, the persona, and whether it has a file.

        Raises:
            PersonaError: it has none, and nothing is kept.
        """
        editing = self._editing
        # What others left of the open one is settled beside what is being typed.
        find = editing.unsaved.all_held if persona_id == editing.id else editing.unsaved.find
        kept = await editing.workspace.call(find, persona_id)
        try:
            return kept, await editing.workspace.get(persona_id), True
        except UnknownPersona:
            if not kept:
                raise
        text = await editing.workspace.call(last_text, editing.workspace.store, persona_id, file_of(kept))
        editing.unsaved.renew(persona_id, text)
        kept = editing.unsaved.all_held(persona_id)
        return kept, _without_file(persona_id, kept), False

    async def without_file(self) -> list[str]:
        """Return the ids of personas that text is kept of and that have no file."""
        editing = self._editing
        kept = await editing.workspace.call(editing.unsaved.find_ids)
        ids = await editing.workspace.ids() if kept else []
        return [key for key in kept if key not in ids]

    def show(self, kept: Mapping[str, Unsaved], *, known: bool) -> None:
        """Put what was kept of the persona that was just opened into editors and fields.

        `known`: the person saw it in this program.
        """
        persona = self._editing.persona
        assert persona is not None
        self._editing.inputs.begin()
        if PROMPT in kept:
            editor = self._desk.prompt
            editor.keep_unsaved(kept[PROMPT].grown_from(persona.system_prompt), kept[PROMPT].text)
            if persona.error is None:
                editor.absorb(persona.system_prompt)
                self._desk.start(self._editing.save())
            if editor.unsaved and not known:
                self._desk.tell(f"What you typed in {persona.name} and {BACK} in the editor.")
        self._editing.fields.put_back(kept, known=known)

    async def store(self, persona_id: str) -> None:
        """The file can be written: store what was kept of its test inputs and settings."""
        async with self._storing:  # what two of them found would be stored twice
            await self._store(persona_id)

    async def _store(self, persona_id: str) -> None:
        editing = self._editing
        await editing.inputs.bring_back(persona_id)
        if editing.id == persona_id:
            await editing.fields.flush()
        await editing.write_down()
        for left in await editing.workspace.call(editing.unsaved.rest, persona_id):
            if left.field.startswith(FIELD) and self._desk.settings.first_field is None:
                editing.unsaved.more.add(
                    persona_id
                )  # what stands in the fields goes first, once they are made
                continue
            if await self._settle(left):
                await editing.workspace.call(editing.unsaved.drop, left)

    async def _settle(self, left: Left) -> bool:
        """Store what another program left too, merged, or beside what is there; returns whether it is safe."""
        editing, name = self._editing, left.field
        if name.startswith(FIELD):
            return await editing.fields.settle(left.persona_id, name, left.unsaved)
        if name != PROMPT:
            return await editing.inputs.settle(left.persona_id, name, left.unsaved)
        base, text = left.unsaved.base, left.unsaved.text
        try:
            stored = await editing.workspace.save_prompt(left.persona_id, base, text)
            if isinstance(stored, Clash):
                reason = "typed in another window, not saved"
                await editing.workspace.keep_version(left.persona_id, text, reason)
        except PersonaError:
            return False
        if isinstance(stored, Clash):
            self._desk.tell("What you typed in another window and was not saved is kept as a version.")
        else:
            await editing.read_again(quiet=True, deed=BEFORE)
            if stored.text != base:
                self._desk.tell(f"What you typed in another window and {BACK} in the prompt.")
        return True

    async def unsaved_texts(self) -> list[str]:
        """Return what of the open persona is not saved and cannot be, in words: "the system prompt"."""
        editing = self._editing
        await editing.flush()
        editing.hold()
        await editing.write_down()
        return [] if editing.id is None else [in_words(name) for name in editing.unsaved.all_held(editing.id)]

    async def throw_away(self) -> bool:
        """Keep no longer what is not saved of the open persona, and show what is stored; it can be taken back.

        Returns:
            Whether that was done: not where another persona is open by then, or where it could be saved meanwhile.
        """
        editing = self._editing
        persona = editing.persona
        while editing.workspace.writing or editing.inputs.queue:
            # A save under way, or waiting, would store, or keep again, what is thrown away.
            await editing.inputs.queue.settled()
            await editing.workspace.settled()
        if persona is None or editing.id != persona.id:
            return False
        editing.hold()
        if not editing.unsaved.all_held(persona.id):
            self._desk.tell("Everything is saved.")
            return False
        self._thrown_last = persona.id
        self.throwing = True
        try:
            editing.unsaved.throw_away(persona.id)
            editing.show_stored()
            await editing.workspace.call(editing.unsaved.write_thrown, persona.id)
            if editing.id == persona.id and editing.state != "gone":
                await editing.read_again(quiet=True, outside=False)
        finally:
            self.throwing = False
        return True

    async def take_back(self) -> str:
        """Keep again what was thrown away last, of the open persona if anything was, and show it there.

        Returns:
            The id of the persona; empty where nothing was thrown away, or something else is not saved now.
        """
        editing = self._editing
        await editing.flush()
        for persona_id in filter(None, dict.fromkeys((editing.id, self._thrown_last))):
            texts = await editing.workspace.call(editing.unsaved.thrown_away, persona_id)
            editing.hold()  # what is typed at this moment comes first
            if not texts or editing.unsaved.all_held(persona_id):
                continue
            for name, value in texts.items():
                editing.unsaved.hold(persona_id, name, value.base, value.text, value.file)
            if editing.persona is not None and editing.id == persona_id:
                self.show(texts, known=True)
                if editing.state not in ("gone", "broken"):
                    self._desk.start(self.store(persona_id))
                self._desk.show_state()
            await editing.write_down()
            if not editing.unsaved.due:
                await editing.workspace.call(editing.unsaved.end_thrown, persona_id)
            return persona_id
        return ""


def _without_file(persona_id: str, kept: Mapping[str, Unsaved]) -> Persona:
    """Return a persona as its file was when it was read last, as far as that is known."""
    from personas.persona import Persona
    from personas.persona_reading import read_persona

    text = file_of(kept)
    if text:
        return read_persona(persona_id, text.encode("utf-8"))
    base = kept[PROMPT].base if PROMPT in kept else ""
    return Persona(id=persona_id, name=persona_id, system_prompt=base)


def file_of(kept: Mapping[str, Unsaved]) -> str:
    """Return the whole file as it was read last, empty where that is not known."""
    return next((value.file for value in kept.values() if value.file), "")


def in_words(name: str) -> str:
    """Return what a kept text belongs to, by its field: "the system prompt"."""
    kind, _, which = name.partition(":")
    return {"test": f"the test input {which}", "set": f"the field {which}"}.get(kind, "the system prompt")
