"""What other programs write over a persona's file: noticed as versions, and told since a moment."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from personas.errors import BrokenFile, PersonaError, UnknownVersion
from personas.files.text_file import decode, sha256
from personas.versions.timeline import Entry
from personas.versions.version_store import VersionFolder

if TYPE_CHECKING:
    from personas.store import Store


def know(store: Store, persona_id: str) -> None:
    """Keep what a persona's file holds now as known, so that what others write over it is a version. Blocking.

    For whoever shows or uses a text. Where the disk refuses, or another process writes for long, nothing is kept.
    """
    with contextlib.suppress(PersonaError):
        file = store.file(persona_id)
        content = file.read()
        if file.timeline(content).last_sha != sha256(content):
            with file.lock():
                file.know(file.read())


def moment(store: Store, persona_id: str) -> int:
    """Return a mark for `written_since`: the number of the next version of a persona. Blocking.

    No count of records: those are fewer once the journal has been thinned out.

    Raises:
        StorageError, OutsideHome, UnknownPersona: see `Store`.
    """
    store.log(persona_id)  # what was written before this moment is recorded before it
    return VersionFolder(store.home, persona_id).timeline(None).next_version


def written_since(store: Store, persona_id: str, since: int) -> list[tuple[str, str]]:
    """Return the texts that were there before each write from outside, and after it, oldest first. Blocking.

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
            entry = Entry.from_record(record)
        except (KeyError, TypeError, ValueError, OverflowError):
            continue  # a record of another kind
        if entry.version < since or entry.role != "external" or entry.after is None:
            continue
        before, after = entry.before, entry.after
        if found and found[-1][1] == before:
            before = found.pop()[0]
        found.append((before, after))
    try:
        return [(_text(folder, before), _text(folder, after)) for before, after in found]
    except (UnknownVersion, BrokenFile):
        return []


def _text(folder: VersionFolder, sha: str) -> str:
    return decode(folder.load(sha)).text
