"""The current conversation of each persona, kept beside the sessions and never in the persona's file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from personas.errors import InvalidValue, PersonaError
from personas.files.file_stamp import Stamp, stamp_of
from personas.files.home import Home
from personas.files.journal import Journal
from personas.files.text_file import storage_error

_FILE = "current-sessions.journal"
_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_cache: dict[Path, tuple[Stamp, Mapping[str, str]]] = {}  # by file: what was read, and its stamp before that


def is_session_id(text: str) -> bool:
    """Whether a text can be a conversation's id."""
    return _SESSION_ID.fullmatch(text) is not None


def current_sessions(home: Home) -> Mapping[str, str]:
    """Return the session id of each persona that has a conversation; none where that cannot be read.

    The file is read again once it has changed.
    """
    try:
        path = home.inside(home.sessions) / _FILE
        stamp = stamp_of(path)
        if (cached := _cache.get(path)) is not None and cached[0] == stamp:
            return cached[1]
        sessions = dict(_links(home))
    except PersonaError:
        return {}  # a persona can be read and written without; linking a session says what is wrong
    if stamp is not None:
        _cache[path] = stamp, sessions
    return sessions


def sessions_of(home: Home, persona_id: str) -> list[str]:
    """Return the ids of all conversations that were a persona's current one, in the order in which they first were.

    Raises:
        OutsideHome, StorageError: that cannot be read.
    """
    return list(dict.fromkeys(session_id for linked, session_id in _links(home) if linked == persona_id))


def _links(home: Home) -> Iterator[tuple[str, str]]:
    """Yield persona and session as they were linked, oldest first."""
    for record in Journal(home.inside(home.sessions) / _FILE).read().records:
        persona_id, session_id = record.get("persona_id"), record.get("session_id")
        if isinstance(persona_id, str) and isinstance(session_id, str) and is_session_id(session_id):
            yield persona_id, session_id


def link_session(home: Home, persona_id: str, session_id: str) -> None:
    """Make a conversation the persona's current one; lasting when this returns.

    Raises:
        InvalidValue: the session id is none.
        OutsideHome, StorageError: it cannot be written.
    """
    if not is_session_id(session_id):
        raise InvalidValue(f"{session_id!r} cannot be a conversation's id.")
    folder = home.inside(home.sessions)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(error, "create", folder) from None
    with Journal(folder / _FILE) as journal:
        journal.append({"persona_id": persona_id, "session_id": session_id}, sync=True)
