"""What the drafts database of a program in a terminal holds, read while the program may be running."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def texts(folder: Path, slot: str) -> dict[str, str]:
    """Return by persona the drafts in slots of this name, in the state folder of a program that runs in `folder`."""
    return dict(_rows(folder, "SELECT document, text FROM drafts WHERE slot = ? ORDER BY updated", slot))


def queued(folder: Path) -> list[str]:
    """Return the queued messages that are in no conversation yet."""
    return [text for (text,) in _rows(folder, "SELECT text FROM outbox WHERE status = 'queued'")]


def state(folder: Path) -> Path:
    """Return where the drafts database lies."""
    return folder / "state" / "persona-editor"


def _rows(folder: Path, query: str, *values: str) -> list[tuple[str, ...]]:
    path = state(folder) / "drafts.db"
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as database:
        try:
            return database.execute(query, values).fetchall()
        except sqlite3.OperationalError:  # the program is just making it
            return []
