"""What an agent shows of itself, and the queues of what the user said while it worked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agent.core.model import Model, ModelError, ThinkingLevel
from agent.core.tool import Tool
from agent.core.turns import Turn, UserTurn

QueueMode = Literal["one_at_a_time", "all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentState:
    """What an agent is and does at one moment; later changes do not show in it.

    Attributes:
        turns: the finished turns of the conversation.
        is_streaming: whether a run is active.
        streaming_turn: the turn being streamed, with what came of it so far, or None.
        pending_tool_calls: ids of the call turns between `tool_start` and `tool_end`.
        error: why the last run failed, or None.
    """

    system_prompt: str
    model: Model
    thinking: ThinkingLevel
    tools: tuple[Tool, ...]
    turns: tuple[Turn, ...]
    is_streaming: bool
    streaming_turn: Turn | None
    pending_tool_calls: frozenset[str]
    error: ModelError | None


class Queue:
    """User turns that wait for their moment."""

    def __init__(self) -> None:
        self.turns: list[UserTurn] = []

    def take(self, mode: QueueMode) -> list[UserTurn]:
        """Remove and return what one delivery brings: the oldest, or all."""
        if not self.turns:
            return []
        count = 1 if mode == "one_at_a_time" else len(self.turns)
        taken, self.turns = self.turns[:count], self.turns[count:]
        return taken

    def take_all(self) -> list[UserTurn]:
        """Remove and return everything."""
        taken, self.turns = self.turns, []
        return taken

    def withdraw(self, turn_id: str) -> UserTurn | None:
        """Remove and return one turn, None when it is not here."""
        found = next((turn for turn in self.turns if turn.id == turn_id), None)
        if found is not None:
            self.turns = [turn for turn in self.turns if turn is not found]
        return found
