"""What the drafts database holds: drafts of texts, by document and slot, and messages on their way. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from typing import Literal, NamedTuple

PROMPT = "prompt"
INPUT = "input:"
"""With the id of a test input, the slot of its content."""
FIELD = "field:"
"""With the name of a settings field, its slot."""
CHAT, STASH, DIALOG = "chat", "stash:", "dialog:"
"""Slots that are no text of a file: the draft in the chat bar, stashed ones, and what is typed in a dialog."""

Key = tuple[str, str]
"""A document's id, and a slot."""


class Draft(NamedTuple):
    """An unsaved text.

    Attributes:
        id: its row in the database.
        document: the id of the persona it belongs to; empty for none.
        slot: which text of it: `prompt`, `input:<id>`, `field:<name>`, `chat`, `stash:<hash>`, `dialog:<name>`.
        base: the stored text it grew from; of a chat draft the question it answers, of a stash when it was put away.
        text: what the person typed.
        sending: the text that was on its way into the file when this was stored: the file holds that, or `base`.
        updated: when it was stored, in seconds since 1970.
    """

    id: int
    document: str
    slot: str
    base: str
    text: str
    sending: str | None = None
    updated: float = 0.0

    @property
    def stored_at(self) -> str:
        """When it was stored, as turns have it, UTC ISO 8601."""
        at = datetime.fromtimestamp(self.updated, UTC).isoformat(timespec="milliseconds")
        return at.removesuffix("+00:00") + "Z"


class OutboxMessage(NamedTuple):
    """A message that was sent and is in no conversation's log yet.

    Attributes:
        persona: the id of the persona it is for; empty while none is open.
        turn_id: the id its turn gets in the log: by it one finds whether it arrived.
        text: the message as it was typed.
        session: the id of the conversation; empty for one that is not begun.
        status: `sent`: on its way to the conversation; `queued`: waits until the agent at work takes it.
        position: its place in the order of sending, given by the database.
    """

    persona: str
    turn_id: str
    text: str
    session: str = ""
    status: Literal["sent", "queued"] = "sent"
    position: int = 0


def stash_slot(text: str) -> str:
    """Return the slot of a stashed draft: each text is kept once."""
    return f"{STASH}{sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


def is_text(slot: str) -> bool:
    """Whether a slot is a text of a persona's file."""
    return slot == PROMPT or slot.startswith((INPUT, FIELD))
