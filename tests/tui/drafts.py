"""The drafts database as a test sees it: what would be found if every program ended now, and what one left."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

from personas.files.home import Home
from tui.drafts.store import Draft, DraftStore
from tui.drafts.unsaved_text import is_text


def drafts(home: Home, persona_id: str = "one") -> list[Draft]:
    """Return the unsaved texts of a persona, whichever program has them."""
    path = DraftStore(home.root).path
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute(
            "SELECT id, document, slot, base, text, file, sending, status, updated FROM drafts "
            "WHERE home = ? AND document = ? AND status = 'open' ORDER BY id",
            (os.path.realpath(home.root), persona_id),
        ).fetchall()
    return [draft for draft in (Draft(*row) for row in rows) if is_text(draft.slot)]


def unsaved(home: Home, persona_id: str = "one") -> dict[str, tuple[str, str]]:
    """Return the unsaved texts of a persona, by slot: the text each grew from, and the text."""
    return {draft.slot: (draft.base, draft.text) for draft in drafts(home, persona_id)}


def leave_behind(home: Home, slot: str, base: str, text: str, persona_id: str = "one") -> None:
    """Leave a text as a program does that is killed."""
    store = DraftStore(home.root)
    store.leave(persona_id, slot, text, base=base, file="", status="open")
    store.close()
