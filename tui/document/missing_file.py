"""A persona's file that is gone: what it held last, and how it is written back. Blocking."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from personas.errors import PersonaError, UnknownPersona
from personas.files.bundle import unpack
from personas.files.text_file import encode, replace_file, sha256
from personas.versions.version_store import VersionFolder

if TYPE_CHECKING:
    from personas.persona import Persona
    from personas.store import Store

_BOM = "\ufeff"


def text_of(store: Store, persona: Persona) -> str | None:
    """Return the text of a persona's file, a byte order mark included: as it is now, else as it was at its revision.

    None where it cannot be had. Blocking.
    """
    with suppress(PersonaError):
        try:
            text = store.text(persona.id)
        except UnknownPersona:  # it went away right after it was written
            return _decoded(VersionFolder(store.home, persona.id).find(persona.revision))
        return _BOM + text if persona.revision == sha256(encode(text, bom=True)) else text
    return None


def last_text(store: Store, persona_id: str, text: str) -> str:
    """Return what a file that is gone held last, whoever wrote it, a byte order mark included. Blocking.

    Args:
        store: where.
        persona_id: whose file.
        text: what it held when a program read it last, empty where that is not known. What the store knows of that
            came before what the store knows to be the last.
    """
    with suppress(PersonaError):
        versions = store.log(
            persona_id
        )  # it notices that the file is gone: what it held last is the newest one
        folder = VersionFolder(store.home, persona_id)
        sha = sha256(encode(text))
        known = (sha in (record.get("before"), record.get("after")) for record in folder.records())
        if versions and (not text or any(known)):
            return _decoded(folder.find(versions[0].before)) or text
    return text


def persona_without_file(persona_id: str, text: str, prompt: str) -> Persona:
    """Return a persona as its file was when it was read last, as far as that is known: its text, or its prompt."""
    from personas.persona import Persona, read_persona

    if "/" in persona_id:
        from tui.document.library_slots import without_file

        return without_file(persona_id, prompt)
    if text:
        persona = read_persona(persona_id, text.encode("utf-8"))
        return replace(persona, system_prompt=prompt) if persona.system_prompt_file else persona
    return Persona(id=persona_id, name=persona_id, system_prompt=prompt)


def _decoded(content: bytes | None) -> str | None:
    """Return the text of a document's first file."""
    try:
        return None if content is None else (unpack(content)[0] or b"").decode("utf-8")
    except UnicodeDecodeError:
        return None


def write_back(store: Store, persona: Persona, text: str) -> None:
    """Write the file again as it was: from its versions, else as it was read last, else with name and prompt.

    Where a file is there again, it stays as it is. Blocking.

    Args:
        store: where.
        persona: as it was.
        text: what its file held when it was read last, empty where that is not known.

    Raises:
        PersonaError: the disk refuses.
    """
    from personas.changes import SetName, SetPrompt
    from personas.versions.authorship import USER

    paths = store.file(persona.id).paths
    if any(path.exists() for path in paths):
        return
    try:
        versions = store.log(persona.id)
    except UnknownPersona:  # nothing was ever changed in it
        versions = []
    same = [version for version in versions if version.sha == persona.revision]
    if same or (versions and (not text or "/" in persona.id)):  # one of the library may have several files
        store.restore(persona.id, (same or versions)[0].number, by=USER)
        return
    text = text or SetPrompt(persona.system_prompt).apply(SetName(persona.name).apply(""))
    with suppress(FileExistsError):
        replace_file(paths[0], encode(text), root=store.home.root, exclusive=True)
