"""What the next undo would make of a persona's file, found without writing anything."""

from __future__ import annotations

from personas.errors import NothingToUndo
from personas.files.text_file import readable
from personas.store import Store
from personas.versions.undo_step import without


def preview_undo(store: Store, persona_id: str) -> tuple[str, str]:
    """Return the file's text as it is and as `Store.undo` would leave it.

    Raises:
        NothingToUndo: no unit is left.
        Conflict: what was written since is in the same place.
        PersonaError: the persona is unknown, or the disk refuses.
    """
    file = store.file(persona_id)
    before = file.read()
    for unit in reversed(file.foreseen(before).cursor.undo.values()):
        after = without(file, unit, before, "undo")
        if after != before:
            return readable(before), readable(after)
    raise NothingToUndo(f"There is nothing to undo in {persona_id}.")
