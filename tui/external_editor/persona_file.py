"""A document in the person's own editor: a copy of each of its files, and what comes of it, merged with what is there.

An agent may have changed the file while the editor was open: both are merged like any two changes, by lines, from the text
that was handed out.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from personas.changes import ReplaceText
from personas.errors import UnknownPersona
from personas.external_writes import know
from personas.versions.authorship import USER
from tui.document.store_merged import file_texts
from tui.drafts.copies import write_copy

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
        raise UnknownPersona(f"{key} was deleted.")
    paths = sorted(texts, key=lambda path: path in store.file(key).paths)
    return [
        FileCopy(path, texts[path], write_copy(store.home.state, key, texts[path], path.suffix))
        for path in paths
    ]


def unit_of(copies: list[FileCopy]) -> str:
    """Return the key of the unit of undo of what is written in several files at once; empty where there is one."""
    return f"edit:{secrets.token_hex(8)}" if len(copies) > 1 else ""


def keep_text(store: Store, key: str, file: Path, text: str) -> None:
    """Keep what an editor left, and what is not taken, as a version; the file stays as it is. Blocking.

    Raises:
        PersonaError: see `Store.keep`.
    """
    store.keep(key, ReplaceText(text, file), by=USER, reason="edited by hand, in conflict")
