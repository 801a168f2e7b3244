"""A persona's file in an editor of the person's: what is written over it meanwhile is theirs, and one unit of undo."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from personas.errors import PersonaError

if TYPE_CHECKING:
    from personas.store import Store
    from personas.versions.authorship import Author


@dataclass(slots=True)
class Hand:
    """Who has a file open in another program.

    Attributes:
        by: whose the changes are that are noticed.
        reason: for the log.
        unit: key of the unit that they are; empty as long as there are none.
    """

    by: Author
    reason: str
    unit: str = ""


def give(store: Store, persona_id: str, *, by: Author, reason: str) -> None:
    """The person is about to open a file in another program: keep what it holds, and know whose the changes are.

    Blocking. What another process notices of it first is a change from outside, all the same.

    Raises:
        UnknownPersona, StorageError, OutsideHome, Busy: see `Store`; nothing is kept.
    """
    file = store.file(persona_id)
    with file.lock():
        file.know(file.read())
    store.in_hand[persona_id] = Hand(by, reason)


def take(store: Store, persona_id: str) -> str:
    """The other program is done; return the key of the unit it made, empty for none. Blocking."""
    hand = store.in_hand.get(persona_id)
    try:
        with contextlib.suppress(PersonaError):  # a later look notices it, as a change from outside
            store.log(persona_id)
    finally:
        store.in_hand.pop(persona_id, None)
    return "" if hand is None else hand.unit
