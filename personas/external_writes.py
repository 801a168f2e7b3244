"""Writes to a persona's file by other programs, the person's own editor among them. Every call may block."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from personas.document import OpenInEditor
from personas.errors import BrokenFile, PersonaError, UnknownVersion
from personas.files.text_file import decode, sha256
from personas.versions.log import from_journal
from personas.versions.version_store import VersionFolder

if TYPE_CHECKING:
    from personas.store import Store
    from personas.versions.authorship import Author


def know(store: Store, persona_id: str) -> None:
    """Store the text that a persona's file holds now, so that what others write over it is a version.

    For whoever shows a text; the first one is version 0. Where the disk refuses, or another process writes for long,
    nothing is stored.
    """
    with contextlib.suppress(PersonaError):
        file = store.file(persona_id)
        content = file.read()
        if file.log(content).last_sha != sha256(content):
            with file.lock():
                file.know(file.read())


def moment(store: Store, persona_id: str) -> int:
    """Return a mark for `written_since`: the number of the next version of a persona.

    Raises:
        StorageError, OutsideHome, UnknownPersona: see `Store`.
    """
    store.log(persona_id)  # what was written before this moment is recorded before it
    return VersionFolder(store.home, persona_id).log(None).next_version


def written_since(store: Store, persona_id: str, since: int) -> list[tuple[str, str]]:
    """Return the texts that were there before each write from outside, and after it, oldest first.

    Writes with nothing between them are one; a deletion is none. Empty too where a text is not to be had any more or
    is not UTF-8.

    Args:
        store: the store.
        persona_id: whose file.
        since: from `moment`.

    Raises:
        StorageError, OutsideHome, UnknownPersona: see `Store`.
    """
    store.log(persona_id)
    folder = VersionFolder(store.home, persona_id)
    found: list[tuple[str, str]] = []
    for record in folder.records():
        try:
            version = from_journal(record)
        except (KeyError, TypeError, ValueError, OverflowError):
            continue  # a record of another kind
        if version.number < since or version.role != "external" or version.sha is None:
            continue
        before, after = version.before, version.sha
        if folder.find(before) is None:
            continue  # it is lost
        if found and found[-1][1] == before:
            before = found.pop()[0]
        found.append((before, after))
    try:
        return [(_text(folder, before), _text(folder, after)) for before, after in found]
    except (UnknownVersion, BrokenFile):
        return []


def begin_edit(store: Store, persona_id: str, *, by: Author, reason: str) -> None:
    """Open a file for the person in another program: what is written there is theirs, and one unit of undo.

    The text is stored first. What another process notices of it first is a change from outside, all the same.

    Raises:
        UnknownPersona, StorageError, OutsideHome, Busy: see `Store`; nothing is kept.
    """
    file = store.file(persona_id)
    with file.lock():
        file.know(file.read())
    store.in_editor[persona_id] = OpenInEditor(by, reason)


def end_edit(store: Store, persona_id: str) -> str:
    """End that when the other program is done; return the key of the unit it made, empty for none."""
    editor = store.in_editor.get(persona_id)
    try:
        with contextlib.suppress(PersonaError):  # a later look notices it, as a change from outside
            store.log(persona_id)
    finally:
        store.in_editor.pop(persona_id, None)
    return "" if editor is None else editor.unit


def _text(folder: VersionFolder, sha: str) -> str:
    return decode(folder.load(sha)).text
