"""Storing a text that grew from an older one, merged with what others wrote meanwhile. Blocking."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from personas.changes import ReplaceText
from personas.errors import Conflict, PersonaError, StorageError
from personas.files.text_file import readable
from tui.document.merge import MergeConflict, merge_files, merge_texts

if TYPE_CHECKING:
    from personas.changes import Change
    from personas.persona import Persona
    from personas.store import Store

_TRIES = 5


@dataclass(frozen=True, slots=True)
class Saved:
    """A text is stored.

    Attributes:
        persona: the persona as it is now.
        text: the text that is stored, which holds other people's changes too.
        merged: whether somebody else had changed it meanwhile.
    """

    persona: Persona
    text: str
    merged: bool = False


def store_merged(
    store: Store,
    key: str,
    base: str,
    text: str,
    change_of: Callable[[str], Change],
    *,
    stored: Callable[[Persona], str | None],
    merge: Callable[[str, str, str], str | MergeConflict] = merge_texts,
    reason: str = "",
    own_unit: bool = False,
    unit: str = "",
) -> Saved | MergeConflict:
    """Store a text of a document, or return where it and what is stored touch.

    Args:
        store: the store.
        key: of the document.
        base: the text that `text` grew from.
        text: what is to be stored.
        change_of: returns the change that stores a text.
        stored: returns the text that a document has now; None: there is none, and nothing to merge with.
        merge: merges base, text and what is stored.
        reason, own_unit, unit: as in `Store.change`.

    Raises:
        PersonaError: it cannot be read or written.
        ValueError: `change_of` raised it.
    """
    from personas.versions.authorship import USER

    for _ in range(_TRIES):
        now = store.get(key)
        theirs = stored(now)
        merged = text if theirs is None else merge(base, text, theirs)
        if isinstance(merged, MergeConflict):
            return merged
        if merged == theirs:
            return Saved(now, merged, theirs != base)
        with suppress(Conflict):  # somebody wrote between our look and our change: look again
            done = store.change(
                key,
                change_of(merged),
                revision=now.revision,
                by=USER,
                reason=reason,
                own_unit=own_unit,
                unit=unit,
            )
            return Saved(done, merged, theirs != base)
    raise PersonaError("The file changes faster than it can be saved; what you typed is kept.")


def file_texts(store: Store, key: str) -> dict[Path, str]:
    """Return the text of each file of a document that is there; bytes that are no UTF-8 are replaced.

    Raises:
        PersonaError: it cannot be read.
    """
    file = store.file(key)
    files = file.unpack(file.read())
    return {path: readable(content) for path, content in files.items() if content is not None}


def save_file(
    store: Store, key: str, file: Path, base: str, text: str, reason: str, unit: str = ""
) -> Saved | MergeConflict:
    """Write a text that grew from `base` into a file of a document, merged with what others did to it since. Blocking.

    `unit`: as in `Store.change`.

    Raises:
        PersonaError: the file cannot be read or written.
    """

    def stored(_now: object) -> str:
        try:
            return file_texts(store, key)[file]
        except KeyError:
            raise StorageError(f"{file} is no longer a file of {key}.") from None

    return store_merged(
        store,
        key,
        base,
        text,
        lambda merged: ReplaceText(merged, file),
        stored=stored,
        merge=merge_files,
        reason=reason,
        own_unit=True,
        unit=unit,
    )
