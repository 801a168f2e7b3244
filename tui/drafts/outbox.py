"""The outbox: messages that were sent and that no conversation's log has yet. Knows no widget.

A message is in the outbox from the moment it leaves the chat bar. It has the id that its turn gets, so the log says
whether it arrived. What an ended program left is offered to the person again and never sent by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from personas.errors import PersonaError
from tui.commands.slash import as_typed

if TYPE_CHECKING:
    from personas.store import Store
    from tui.drafts.unsaved_text import UnsavedText


class OutgoingMessage:
    """A message between the chat bar and the conversation.

    Attributes:
        persona_id: the persona it was written for; empty as long as none is shown.
        typed: as it was typed, and comes back where it cannot be delivered; empty for what was chosen.
        turn_id: the id that its turn gets.
        is_answer: it was meant for the question that is asked.
    """

    def __init__(self, persona_id: str, typed: str, turn_id: str) -> None:
        self.persona_id = persona_id
        self.typed = typed
        self.turn_id = turn_id
        self.is_answer = False


class Outbox:
    """The messages that are on their way to a conversation, oldest first."""

    def __init__(self) -> None:
        self._messages: list[OutgoingMessage] = []

    def begin(self, persona_id: str, typed: str) -> OutgoingMessage:
        """A message was sent: it is on its way until `end`."""
        from agent.core.turns import new_id

        message = OutgoingMessage(persona_id, typed, new_id("turn"))
        self._messages.append(message)
        return message

    def __contains__(self, message: OutgoingMessage) -> bool:
        return message in self._messages

    def __iter__(self) -> Iterator[OutgoingMessage]:
        return iter(self._messages)

    def end(self, message: OutgoingMessage) -> None:
        """It has arrived, or came back."""
        self._messages.remove(message)

    def assign(self, persona_id: str) -> None:
        """The first persona is shown: what was written before is for it."""
        for message in self._messages:
            message.persona_id = message.persona_id or persona_id


def recover_messages(store: Store, unsaved: UnsavedText) -> dict[str, str]:
    """Adopt the messages that ended programs left; return what never arrived, by persona, as one types it. Blocking.

    What is for a conversation that another program is at work on stays where it is.

    Raises:
        StorageError: the drafts database refuses.
    """
    left = unsaved.store.unsent()
    keys = {(message.persona, message.session) for message in left}
    arrived = {key: _arrived(store, *key) for key in keys}
    texts: dict[str, list[str]] = {}
    for message in left:
        known = arrived[message.persona, message.session]
        try:
            is_mine = known is not None and unsaved.adopt_message(message)
        except PersonaError:  # what was adopted before is given back all the same
            break
        if not is_mine or message.turn_id in (known or ()):
            continue
        found = texts.setdefault(message.persona, [])
        is_typed = found or message.status == "sent"
        found.append(message.text if is_typed else as_typed(message.text))
    return {persona_id: "\n".join(found) for persona_id, found in texts.items()}


def _arrived(store: Store, persona_id: str, session_id: str) -> frozenset[str] | None:
    """Return the ids of what the person said in a conversation; None while another program is at work on it.

    Of a conversation that cannot be read nothing has arrived: better twice than never.
    """
    from agent.transcript.session_store import lock_path, open_session
    from personas.files.current_sessions import is_session_id
    from personas.files.lock import holder

    with suppress(PersonaError):
        session_id = session_id or (store.session_of(persona_id) if persona_id else None) or ""
        if not is_session_id(session_id):
            return frozenset()
        if holder(lock_path(store, session_id)) is not None:
            return None
        with closing(open_session(store, persona_id, session_id)) as session:
            return frozenset(turn.id for turn in session.turns if turn.type == "user")
    return frozenset()
