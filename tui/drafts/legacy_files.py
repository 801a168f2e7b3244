"""Unsaved text that an older program kept as files in a home's `state/`: read once into the drafts database. Blocking.

Each file has one text; its name says whose it is and which program wrote it. It may come from a stranger: it is read
as text and nothing is done by it.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from personas.errors import PersonaError
from personas.files.home import Home
from personas.files.lock import holder
from personas.files.text_file import read_regular, remove_file
from personas.files.unsaved_texts import beginning, kept_names, writer_of
from tui.drafts.blob_store import TextRecord
from tui.drafts.store import DraftStore

_LARGEST = 32 * 1024 * 1024
_MOST = 200
"""Files that are looked at."""
_SLOTS = {"test": "input", "set": "field"}
"""What the kinds of slots were called, and are called now."""


def import_legacy_files(home: Home, store: DraftStore, persona_id: str = "") -> None:
    """Move the unsaved texts of a home, or of one persona, into the database; what cannot be read stays.

    Raises:
        StorageError: the database refuses.
    """
    for name in kept_names(home, beginning(persona_id))[:_MOST]:
        path = home.state / name
        record = _read(home, path)
        owner, field = _text(record.get("persona_id")), _text(record.get("field"))
        writer = writer_of(name, owner, field)
        if not owner or writer is None or (writer and _is_running(home, writer)):
            continue
        base = _text(record.get("base"))
        text, file = _text(record.get("text")), _text(record.get("file"))
        store.leave(owner, _slot(field), text, base=base, file=file, status="open")
        _remove(home, path)
    if persona_id:
        _import_discarded(home, store, persona_id)


def _import_discarded(home: Home, store: DraftStore, persona_id: str) -> None:
    record = TextRecord(home, f"thrown-{beginning(persona_id).removeprefix('unsaved-')}away")
    if not record.path.exists():
        return
    stored = record.read().record or {}
    texts = stored.get("texts")
    if stored.get("persona_id") == persona_id and isinstance(texts, dict):
        for field, parts in texts.items():
            if isinstance(parts, list) and len(parts) == 3:
                base, text, file = map(_text, parts)
                store.leave(persona_id, _slot(_text(field)), text, base=base, file=file, status="discarded")
    record.remove()


def _read(home: Home, path: Path) -> dict[str, Any]:
    try:
        stored = json.loads(read_regular(path, root=home.root, limit=_LARGEST))
    except (OSError, PersonaError, ValueError, RecursionError):
        return {}
    return stored if isinstance(stored, dict) else {}


def _remove(home: Home, path: Path) -> None:
    with suppress(OSError, PersonaError):
        remove_file(path, root=home.root)


def _is_running(home: Home, writer: str) -> bool:
    """Whether the program that keeps texts under this name still runs."""
    path = home.locks / f"writer-{writer}.lock"
    with suppress(OSError, PersonaError):
        return path.exists() and holder(path) is not None
    return False


def _slot(field: str) -> str:
    kind, colon, name = field.partition(":")
    return f"{_SLOTS.get(kind, kind)}{colon}{name}"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
