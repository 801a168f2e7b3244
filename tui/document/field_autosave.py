"""The settings fields of the open persona: saved, and kept where they cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from personas.errors import PersonaError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tui.document.editor_view import Desk
    from tui.document.session import Editing
    from tui.drafts.unsaved_edits import Unsaved

FIELD = "set:"

Outcome = Literal["stored", "refused", "failed"]
"""Of a value: it is stored; it is none of those that are chosen from; the file could not take it, or it is none."""


class FieldSaving:
    """Saves what is typed into the fields of the settings."""

    def __init__(self, desk: Desk, editing: Editing) -> None:
        self._desk, self._editing = desk, editing

    async def flush(self) -> None:
        """Store what is typed and can be stored."""
        for field, _ in self._desk.settings.unsaved():
            await self.save(field)

    async def save(self, field: str) -> None:
        """Store a field as it stands; what cannot be stored stays in it and is kept."""
        editing, settings = self._editing, self._desk.settings
        persona_id = editing.id
        value = dict(settings.unsaved()).get(field)
        if persona_id is None or value is None:
            return
        before = editing.unsaved.held(persona_id, FIELD + field)
        settings.note_sent(field, value)
        outcome = await self._desk.set_field(field, value)
        if editing.id == persona_id:
            settings.note_arrived(field, value)
        if outcome != "failed":
            held = editing.unsaved.held(persona_id, FIELD + field)
            if held == before:
                editing.unsaved.let_go(persona_id, FIELD + field)
            elif outcome == "stored" and held is not None and editing.id != persona_id:
                # Typed on, and kept as another was opened: it grew from what is stored now.
                editing.unsaved.hold(persona_id, FIELD + field, value, held.text)
            editing.unsaved.let_go(persona_id, FIELD + field, value)
            if outcome == "stored" and editing.id == persona_id:
                settings.note_stored(field, value)
        elif editing.id == persona_id:
            self.hold()
        await editing.write_down()

    async def keep(self, field: str) -> None:
        """The person paused in a field: what is typed there outlives the program, whatever ends it."""
        editing = self._editing
        if editing.id is None:
            return
        self.hold()
        if editing.persona is not None and editing.persona.error is not None:
            editing.tell_kept()
        if all(name != field for name, _, _ in self._desk.settings.typed()):
            editing.unsaved.let_go(editing.id, FIELD + field)  # typed away again
        await editing.write_down()

    def hold(self) -> None:
        """Keep what stands in the fields and is not saved."""
        editing = self._editing
        if editing.id is not None:
            for field, base, text in self._desk.settings.typed():
                editing.unsaved.hold(editing.id, FIELD + field, base, text, editing.file_text)

    def put_back(self, kept: Mapping[str, Unsaved], *, known: bool) -> None:
        """Put into the fields what was kept; `known` if the person saw it in this program."""
        editing, settings = self._editing, self._desk.settings
        for name, value in kept.items():
            if name.startswith(FIELD):
                settings.put_back(name.removeprefix(FIELD), value.base, value.text)
        fields = {FIELD + name for name, _, _ in settings.typed()} & set(kept)
        for name in kept:
            if name.startswith(FIELD) and name not in fields and editing.id is not None:
                editing.unsaved.let_go(editing.id, name)  # it is what is stored
        if fields and not known:
            self._desk.tell("What you typed in the settings and was not saved is back.")

    async def settle(self, persona_id: str, field: str, left: Unsaved) -> bool:
        """Store what another program left; where something else is stored by now it becomes a version.

        Returns:
            Whether it is safe.
        """
        from personas.versions.authorship import USER
        from tui.document.persona_commands import setting_change
        from tui.widgets.persona_fields import values_of

        workspace = self._editing.workspace
        try:
            change = setting_change(field.removeprefix(FIELD), left.text)
        except ValueError:
            return False  # it is none: it stays, to be mended
        try:
            now = values_of(await workspace.get(persona_id)).get(field.removeprefix(FIELD), "")
            if now == left.text:
                return True
            if now == left.base:
                self._editing.take(await workspace.change(persona_id, change))
            else:
                reason = "typed in another window, not saved"
                await workspace.write(workspace.store.keep, persona_id, change, by=USER, reason=reason)
        except PersonaError:
            return False
        return True
