"""The drafts database as a test sees it: what would be found if every program ended now, and what one left."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from personas.files.home import Home
from tui.drafts.draft import CHAT, STASH, Draft, OutboxMessage, is_text
from tui.drafts.store import DraftStore


def drafts(home: Home, persona_id: str = "one") -> list[Draft]:
    """Return the unsaved texts of a persona, whichever program has them."""
    query = (
        "SELECT id, document, slot, base, text, sending, updated FROM drafts "
        "WHERE home = ? AND document = ? AND status = 'open' ORDER BY id"
    )
    rows = _rows(home, query, persona_id)
    return [draft for draft in (Draft(*row) for row in rows) if is_text(draft.slot)]


def unsaved(home: Home, persona_id: str = "one") -> dict[str, tuple[str, str]]:
    """Return the unsaved texts of a persona, by slot: the text each grew from, and the text."""
    return {draft.slot: (draft.base, draft.text) for draft in drafts(home, persona_id)}


def leave_behind(home: Home, slot: str, base: str, text: str, persona_id: str = "one") -> None:
    """Leave a text as a program does that is killed."""
    store = DraftStore(home.root)
    store.leave(persona_id, slot, text, base=base)
    store.close()


@dataclass(frozen=True)
class Left:
    """What the next program would find of chat bars, whichever program has it now.

    Attributes:
        drafts: by persona, what was sent and has not arrived, then the draft.
        queued: by persona, what was queued for an agent at work and has not arrived.
        answers: by persona, the question that the draft answers.
        stashed: by persona, what was put away, oldest first.
    """

    drafts: dict[str, str] = field(default_factory=dict)
    queued: dict[str, list[str]] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    stashed: dict[str, list[str]] = field(default_factory=dict)


def recall(home: Home) -> Left:
    """Return what the next program would find of chat bars."""
    left, texts = Left(), {}
    for persona_id, text, status in _rows(
        home, "SELECT persona, text, status FROM outbox WHERE home = ? ORDER BY position"
    ):
        (texts if status == "sent" else left.queued).setdefault(persona_id, []).append(text)
    query = "SELECT document, slot, base, text FROM drafts WHERE home = ? AND status = 'open' ORDER BY updated, base"
    for persona_id, slot, base, text in _rows(home, query):
        if slot == CHAT:
            texts.setdefault(persona_id, []).append(text)
            if base:
                left.answers[persona_id] = base
        elif slot.startswith(STASH):
            left.stashed.setdefault(persona_id, []).append(text)
    left.drafts.update({persona_id: "\n".join(some) for persona_id, some in texts.items()})
    return left


def in_dialog(home: Home, persona_id: str) -> str:
    """Return what was typed in the dialog for a test input and not given."""
    query = "SELECT text FROM drafts WHERE home = ? AND document = ? AND slot = 'dialog:test input'"
    return "\n".join(text for (text,) in _rows(home, query, persona_id))


def leave_chat(
    home: Home, drafts: Mapping[str, str] | None = None, queued: Iterable[OutboxMessage] = ()
) -> None:
    """Leave drafts in chat bars, by persona, and queued messages as a program does that is killed."""
    store = DraftStore(home.root)
    for persona_id, text in (drafts or {}).items():
        store.leave(persona_id, CHAT, text, base="")
    for message in queued:
        store.leave_message(message)
    store.close()


def copy_drafts(home: Home, copy: Home) -> None:
    """Give a copy of a home the drafts and the outbox that it has now, as if every program were killed."""
    with closing(sqlite3.connect(DraftStore(home.root).path)) as database, database:
        where = (os.path.realpath(copy.root), os.path.realpath(home.root))
        for table, columns in (
            ("drafts", "document, slot, status, base, text, file, sending, updated"),
            ("outbox", "persona, session, turn_id, text, status"),
        ):
            database.execute(
                f"INSERT INTO {table} (home, owner, {columns}) "
                f"SELECT ?, 'killed ' || owner, {columns} FROM {table} WHERE home = ? ORDER BY rowid",
                where,
            )


def _rows(home: Home, query: str, *values: str) -> list[tuple[Any, ...]]:
    path = DraftStore(home.root).path
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as database:
        return database.execute(query, (os.path.realpath(home.root), *values)).fetchall()
