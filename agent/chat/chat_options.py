"""What the person's settings say about a conversation."""

from __future__ import annotations

from dataclasses import dataclass

from agent.core.model import ThinkingLevel


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """What the person's settings say about a conversation.

    Attributes:
        about: what the personas are for; empty: what the home's `about.md` says.
        sent_turns: how many of the last user turns, with what follows them, go to the model.
        thinking: how much the model thinks.
        max_tokens: the longest answer, None for as long as the model allows.
        retries: further attempts at a request that failed.
        max_steps: model answers in one run.
        max_seconds: duration of one run.
    """

    about: str = ""
    sent_turns: int = 40
    thinking: ThinkingLevel = "off"
    max_tokens: int | None = None
    retries: int = 4
    max_steps: int = 50
    max_seconds: float = 30 * 60
