"""What a person sent and neither a conversation nor its queue has yet: whose it is, and how it was typed. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class Message:
    """What was sent.

    Attributes:
        persona_id: the persona it was written for; empty as long as none is shown.
        typed: as it was typed, and comes back where it cannot be delivered; empty for what was chosen.
        mine: it was meant for the question that is asked.
    """

    persona_id: str
    typed: str
    mine: bool = False


class Underway:
    """The messages that are on their way, oldest first."""

    def __init__(self) -> None:
        self._messages: list[Message] = []

    def begin(self, persona_id: str, typed: str) -> Message:
        """A message was sent: it is under way until `end`."""
        message = Message(persona_id, typed)
        self._messages.append(message)
        return message

    def __contains__(self, message: Message) -> bool:
        return message in self._messages

    def end(self, message: Message) -> None:
        """It has arrived, or came back."""
        self._messages.remove(message)

    def find_owner(self, persona_id: str) -> None:
        """The first persona is shown: what was written before is for it."""
        for message in self._messages:
            message.persona_id = message.persona_id or persona_id

    @property
    def texts(self) -> dict[str, str]:
        """What is under way, by persona; under an empty id what is nobody's yet."""
        found: dict[str, list[str]] = {}
        for message in self._messages:
            if message.typed.strip():
                found.setdefault(message.persona_id, []).append(message.typed)
        return {persona_id: "\n".join(texts) for persona_id, texts in found.items()}
