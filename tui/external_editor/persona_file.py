"""A document in the person's own editor: a copy of each of its files, and what comes of it, merged with what is there.

An agent may have changed the file while the editor was open: both are merged like any two changes, by lines, from the text
that was handed out.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from personas.changes import ReplaceText
from personas.errors import StorageError, UnknownPersona
from personas.external_writes import know
from personas.files.text_file import encode, readable
from personas.persona import read_persona
from personas.versions.authorship import USER
from personas.versions.merge import Hunk
from tui.document.merge import MergeConflict, merge_texts
from tui.document.store_merged import Saved, store_merged
from tui.external_editor.copies import write_copy

if TYPE_CHECKING:
    from personas.store import Store

BY_HAND = "edited by hand"
MERGED = "merged with what was changed while the editor was open"


class FileCopy(NamedTuple):
    """A file of a document as an editor got it.

    Attributes:
        file: the file.
        text: what it held then.
        copy: what the editor has.
    """

    file: Path
    text: str
    copy: Path


def hand_out(store: Store, key: str) -> list[FileCopy]:
    """Write a copy of each file of a document, that of its prompt first. Blocking.

    Raises:
        PersonaError: there is no such document, it cannot be read, or the disk refused.
    """
    store.get(key)  # says which ids look like one that is not there
    know(store, key)
    texts = file_texts(store, key)
    if not texts:
        raise UnknownPersona(f"{key} is gone.")
    paths = sorted(texts, key=lambda path: path in store.file(key).paths)
    return [
        FileCopy(path, texts[path], write_copy(store.home.state, key, texts[path], path.suffix))
        for path in paths
    ]


def unit_of(copies: list[FileCopy]) -> str:
    """Return the key of the unit of undo of what is written in several files at once; empty where there is one."""
    return f"edit:{secrets.token_hex(8)}" if len(copies) > 1 else ""


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
            raise StorageError(f"{file} is no file of {key} any more.") from None

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


def keep_text(store: Store, key: str, file: Path, text: str) -> None:
    """Keep what an editor left, and what is not taken, as a version; the file stays as it is. Blocking.

    Raises:
        PersonaError: see `Store.keep`.
    """
    store.keep(key, ReplaceText(text, file), by=USER, reason="edited by hand, not taken")


def merge_files(base: str, ours: str, theirs: str) -> str | MergeConflict:
    """As `tui.document.merge.merge_texts`, for whole files: two that can be read do not become one that cannot. Pure."""
    merged = merge_texts(base, ours, theirs)
    if isinstance(merged, str) and spoils(merged, ours, theirs):
        return MergeConflict(base, ours, theirs, (Hunk(1, base, ours, theirs),))
    return merged


def spoils(text: str, *made_of: str) -> bool:
    """Whether a text is not a persona file although those that it was made of are. Pure."""
    return text not in made_of and _is_broken(text) and not any(map(_is_broken, made_of))


def _is_broken(text: str) -> bool:
    return read_persona("any", encode(text)).error is not None
