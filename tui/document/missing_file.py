"""A document whose file is gone: what it held last, as its versions have it, and writing it again. Blocking."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from personas.errors import PersonaError, StorageError, UnknownPersona

if TYPE_CHECKING:
    from personas.persona import Persona
    from personas.store import Store


def persona_without_file(store: Store, persona_id: str, prompt: str) -> Persona:
    """Return a persona as its file was last; where no version is stored, with the prompt alone."""
    from personas.persona import Persona

    if "/" in persona_id:
        from tui.document.library_slots import without_file

        return without_file(persona_id, prompt)
    with suppress(PersonaError, IndexError):
        newest = store.log(persona_id)[0]  # that the file is gone is noticed: it has what the file held
        return store.at_version(persona_id, newest)
    return Persona(id=persona_id, name=persona_id, system_prompt=prompt)


def write_back(store: Store, persona: Persona) -> None:
    """Write the file again as it was last; where a file is there again, it stays as it is.

    Raises:
        PersonaError: the disk refuses.
    """
    from personas.versions.authorship import USER

    if any(path.exists() for path in store.file(persona.id).paths):
        return
    try:
        newest = store.log(persona.id)[0].number
    except (UnknownPersona, IndexError):  # its home could not be written when it was opened
        if "/" in persona.id:
            raise StorageError(f"No version of {persona.id} is stored; what you typed is kept.") from None
        store.create(persona.name, system_prompt=persona.system_prompt, persona_id=persona.id)
    else:
        store.restore(persona.id, newest, by=USER)
