"""What the drafts database of a program in a terminal holds, read while the program may be running."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def texts(folder: Path, slot: str) -> list[str]:
    """Return the drafts in slots of this name, in the state folder of a program that runs in `folder`."""
    path = folder / "state" / "persona-editor" / "drafts.db"
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as database:
        try:
            rows = database.execute("SELECT text FROM drafts WHERE slot = ? ORDER BY id", (slot,)).fetchall()
        except sqlite3.OperationalError:  # the program is just making it
            return []
    return [text for (text,) in rows]
