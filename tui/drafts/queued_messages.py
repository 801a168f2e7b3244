"""What a person said to an agent at work and it has not heard yet: noted, so that it comes back as a draft in the
next program where this one ends first. The conversation's log says what was heard.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from personas.errors import PersonaError
from tui.commands.slash import as_typed

if TYPE_CHECKING:
    from agent.core.turns import UserTurn
    from personas.store import Store
    from tui.app.ui_state import Remembered


@dataclass(frozen=True, slots=True)
class Said:
    """What waits in one conversation.

    Attributes:
        session_id: the conversation; empty while it has none.
        turns: id and text of each message, in the order in which they are delivered.
    """

    session_id: str = ""
    turns: tuple[tuple[str, str], ...] = ()


class Undelivered:
    """The messages of one conversation that are queued, or on their way from the queue into its log."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self._texts)

    def look(self, queue: Iterable[UserTurn]) -> Collection[str]:
        """Take the queue as it is; return the ids that left it and may be in the log by now; see `heard`."""
        queued = {turn.id: turn.content for turn in queue}
        left = {key: text for key, text in self._texts.items() if key not in queued}
        self._texts = {**left, **queued}
        return left.keys()

    def heard(self, turn_id: str) -> None:
        """A message is in the log, or went back to the person: it is not noted any more."""
        self._texts.pop(turn_id, None)

    def clear(self) -> None:
        """Everything went back to the person."""
        self._texts.clear()

    def said(self, session_id: str) -> Said:
        """Return what is to be remembered."""
        return Said(session_id, tuple(self._texts.items()))


def give_back(store: Store, what: Remembered) -> Remembered:
    """Return what is remembered with what was never delivered before each draft. Blocking.

    What is queued in a conversation that another program is at work on stays noted: it is still delivered there.
    """
    drafts, queued = dict(what.drafts), {}
    for persona_id, said in what.queued.items():
        try:
            heard = _heard(store, persona_id, said.session_id)
        except PersonaError:
            heard = frozenset()  # a conversation that cannot be read: better twice than never
        if heard is None:
            queued[persona_id] = said
            continue
        said_before = as_typed("\n".join(text for key, text in said.turns if key not in heard))
        drafts[persona_id] = "\n".join(text for text in (said_before, drafts.get(persona_id, "")) if text)
    return replace(what.with_drafts(drafts), queued=queued)


def _heard(store: Store, persona_id: str, session_id: str) -> frozenset[str] | None:
    """The ids of what the person said in a conversation; None while another program is at work on it."""
    from agent.transcript.session_store import lock_path, open_session
    from personas.files.current_sessions import is_session_id
    from personas.files.lock import holder

    session_id = session_id or store.session_of(persona_id) or ""
    if not is_session_id(session_id):
        return frozenset()
    if holder(lock_path(store, session_id)) is not None:
        return None
    session = open_session(store, persona_id, session_id)
    try:
        return frozenset(turn.id for turn in session.turns if turn.type == "user")
    finally:
        session.close()


def read_queued(stored: object) -> Mapping[str, Said]:
    """Return the noted messages out of a remembered state, which may be anything."""
    if not isinstance(stored, dict):
        return {}
    found = {}
    for persona_id, record in stored.items():
        if not isinstance(record, dict):
            continue
        session_id, turns = record.get("session_id"), record.get("turns")
        pairs = [
            (pair[0], pair[1])
            for pair in (turns if isinstance(turns, list) else ())
            if isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
        ]
        if pairs:
            found[persona_id] = Said(session_id if isinstance(session_id, str) else "", tuple(pairs))
    return found


def as_stored(queued: Mapping[str, Said]) -> dict[str, object]:
    """Return noted messages as a JSON object."""
    return {
        persona_id: {"session_id": said.session_id, "turns": [list(pair) for pair in said.turns]}
        for persona_id, said in queued.items()
    }
