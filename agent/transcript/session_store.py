"""The stored conversations about a persona: starting, opening and reading one, and its lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from agent.core.turns import Turn
from agent.transcript.older_task_log import migrate
from agent.transcript.session_log import Session
from personas.errors import BrokenFile, Busy, InvalidValue, OutsideHome, PersonaError
from personas.files.current_sessions import sessions_of
from personas.files.home import Home
from personas.files.lock import hold, holder
from personas.store import Store

RECENT_TURNS = 400
"""Turns of a session that are read when it is opened, at the least."""


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


def read_history(
    store: Store, persona_id: str, *, as_stored: bool = False
) -> tuple[str | None, list[Turn], list[str]]:
    """Return the current conversation: its id (None if there was none), its turns, and what was odd about it.

    A call that waits for the person, or is at work in another program, has no result among them; one that a crash left
    open has the one it will be given, but for `as_stored`, with which there is nothing that is in no file.

    Raises:
        UnknownPersona: there is no such persona.
        PersonaError: the disk refused, or the session is another persona's.
    """
    store.get(persona_id)
    session_id = store.session_of(persona_id)
    if session_id is None:
        return None, [], []
    session = open_session(store, persona_id, session_id)
    left_out = session.stand_ins if as_stored else _awaited(store, session)
    return session_id, [turn for turn in session.turns if turn.id not in left_out], session.problems


def other_conversations(store: Store, persona_id: str) -> tuple[list[str], list[str]]:
    """Return the conversations about a persona in which something was said, but for the current one.

    Those that began before the current one, and those after it; in each the oldest first. One that cannot be opened is
    none.

    Raises:
        UnknownPersona: there is no such persona.
        PersonaError: the disk refused.
    """
    store.get(persona_id)
    ids, current = sessions_of(store.home, persona_id), store.session_of(persona_id)
    at = ids.index(current) if current in ids else len(ids)
    before, after = (
        [each for each in part if _says_something(store, persona_id, each)]
        for part in (ids[:at], ids[at + 1 :])
    )
    return before, after


def _says_something(store: Store, persona_id: str, session_id: str) -> bool:
    path = store.home.inside(store.home.sessions) / f"{session_id}.jsonl"
    try:
        return bool(Session.open(path, tail=1, persona_id=persona_id).recent)
    except (BrokenFile, InvalidValue, OutsideHome):
        return False


def read_recent(store: Store, persona_id: str, session_id: str) -> list[Turn]:
    """Return the end of a conversation as it is on disk now, for whoever shows what others say in it.

    Raises:
        PersonaError: it cannot be opened.
    """
    session = open_session(store, persona_id, session_id)
    awaited = _awaited(store, session)
    return [turn for turn in session.recent if turn.id not in awaited]


def _awaited(store: Store, session: Session) -> frozenset[str]:
    """The ids of results that were made up for calls that may yet get their own: one waits, or somebody is at work."""
    made_up = session.stand_ins
    return made_up if made_up and (session.is_asking or is_held(store, session.id)) else frozenset()


def is_held(store: Store, session_id: str) -> bool:
    """Whether a program, this one or another, uses a conversation at this moment."""
    return holder(lock_path(store, session_id)) is not None


def open_session(
    store: Store,
    persona_id: str,
    session_id: str,
    on_failure: Callable[[PersonaError], None] = lambda _error: None,
    user_turns: int = 1,
) -> Session:
    """Open a stored conversation of a persona; `on_failure` and `user_turns` as for `Session.open`.

    Raises:
        BrokenFile, InvalidValue, PersonaError: see `Session.open`.
    """
    path = session_path(store.home, session_id)
    return Session.open(
        path, tail=RECENT_TURNS, user_turns=user_turns, persona_id=persona_id, on_failure=on_failure
    )


def session_path(home: Home, session_id: str) -> Path:
    """Return the log of a conversation. What an earlier version kept of its tasks beside it is taken into it first."""
    path = home.inside(home.sessions) / f"{session_id}.jsonl"
    migrate(path, lock_path_in(home, session_id))
    return path


def session_lock(store: Store, session_id: str) -> AbstractContextManager[None]:
    """Return the lock of whoever writes to a conversation, to be held in a `with` block.

    Raises:
        Busy: (on entering) another run writes to it.
    """
    return hold(lock_path(store, session_id), what="The conversation about this persona")


class AgentAtWork(Busy):
    """The agent works for this persona in another conversation."""


@contextmanager
def agent_lock(store: Store, persona_id: str) -> Iterator[None]:
    """Hold the place of the agent at a persona: it does one thing at a time for each, in whichever conversation.

    Raises:
        AgentAtWork: (on entering) it does something else.
    """
    with ExitStack() as held:
        try:
            held.enter_context(hold(agent_lock_path(store, persona_id)))
        except Busy as busy:
            where = f" (pid {busy.pid})" if busy.pid else ""
            message = f"The agent is at work for {persona_id} in another conversation{where}."
            raise AgentAtWork(message, busy.pid) from None
        yield


def agent_lock_path(store: Store, persona_id: str) -> Path:
    """Return where the lock of the agent's place at a persona lies; no document's lock begins with a dot."""
    return store.home.locks / f".agent-{persona_id}.lock"


def lock_path(store: Store, session_id: str) -> Path:
    """Return where the lock of a conversation lies."""
    return lock_path_in(store.home, session_id)


def lock_path_in(home: Home, session_id: str) -> Path:
    """Return the same by the home."""
    return home.locks / f"session-{session_id}.lock"


def size_of(session: Session) -> int:
    """Return the bytes of a conversation's file, by which one sees that others wrote to it; -1 when it is gone."""
    return _size(session.path)


def size_on_disk(store: Store, session_id: str | None) -> int:
    """Return the same for a conversation that need not be open; -1 also for None."""
    return _size(store.home.sessions / f"{session_id}.jsonl") if session_id is not None else -1


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
