"""The stored conversations about a persona: beginning one, opening it, reading it, and its lock."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from agent.session import Session
from agent.turns import Turn
from personas.errors import PersonaError
from personas.lock import hold
from personas.store import Store

RECENT_TURNS = 400
"""Turns of a session that are read when it is opened; more than a request holds at the default settings."""


def start_session(store: Store, persona_id: str) -> str:
    """Begin a new conversation about a persona and return its id.

    Raises:
        UnknownPersona: there is no such persona.
        StorageError: the disk refused.
    """
    store.get(persona_id)
    session = Session.create(store.home.inside(store.home.sessions), persona_id)
    session.close()
    store.link_session(persona_id, session.id)
    return session.id


def read_history(store: Store, persona_id: str) -> tuple[str | None, list[Turn], list[str]]:
    """Return the current conversation: its id (None if there was none), its turns, and what was odd about it.

    Raises:
        UnknownPersona: there is no such persona.
        PersonaError: the disk refused, or the session is another persona's.
    """
    store.get(persona_id)
    session_id = store.session_of(persona_id)
    if session_id is None:
        return None, [], []
    session = open_session(store, persona_id, session_id)
    return session_id, session.turns, session.problems


def open_session(
    store: Store,
    persona_id: str,
    session_id: str,
    on_failure: Callable[[PersonaError], None] = lambda _error: None,
) -> Session:
    """Open a stored conversation of a persona.

    Raises:
        BrokenFile, InvalidValue, PersonaError: see `Session.open`.
    """
    path = store.home.inside(store.home.sessions) / f"{session_id}.jsonl"
    return Session.open(path, tail=RECENT_TURNS, persona_id=persona_id, on_failure=on_failure)


def session_lock(store: Store, session_id: str) -> AbstractContextManager[None]:
    """Return the lock of whoever writes to a conversation, to be held in a `with` block.

    Raises:
        Busy: (on entering) another run writes to it.
    """
    return hold(lock_path(store, session_id), what="The conversation about this persona")


def lock_path(store: Store, session_id: str) -> Path:
    """Return where the lock of a conversation lies."""
    return store.home.locks / f"session-{session_id}.lock"


def size_of(session: Session) -> int:
    """Return the bytes of a conversation's file, by which one sees that others wrote to it; -1 when it is gone."""
    try:
        return session.path.stat().st_size
    except OSError:
        return -1
