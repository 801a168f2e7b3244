"""Repair of a conversation: which calls have no result, and the results they get after a crash or an abort."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from agent.core.messages import NO_RESULT
from agent.core.turns import (
    AssistantTextTurn,
    ThinkingTurn,
    ToolCallTurn,
    ToolResultTurn,
    Turn,
    UserTurn,
)

OUTCOME_UNKNOWN = (
    "Outcome unknown: the program ended while this call was running, so it may or may not have taken effect. "
    "Look before calling again."
)
NEVER_RAN = "Not run: the program ended before this call started."


def is_aside(turn: Turn) -> bool:
    """Return whether a turn is no part of what the model sees (a notice, an application's own kind)."""
    return not isinstance(turn, UserTurn | AssistantTextTurn | ThinkingTurn | ToolCallTurn | ToolResultTurn)


def unanswered_calls(turns: Sequence[Turn]) -> list[ToolCallTurn]:
    """Return the calls of the last answer that have no result, in order."""
    answered: set[str] = set()
    found: list[ToolCallTurn] = []
    in_answer = False
    for turn in reversed(turns):
        if is_aside(turn):
            continue
        if isinstance(turn, UserTurn | ToolResultTurn):
            if in_answer:
                break
            if isinstance(turn, ToolResultTurn):
                answered.add(turn.tool_use_id)
            continue
        in_answer = True
        if isinstance(turn, ToolCallTurn) and turn.tool_use_id not in answered:
            found.append(turn)
    return found[::-1]


def last_call_failed(turns: Sequence[Turn]) -> bool:
    """Return whether one of the results at the end of a conversation is an error."""
    for turn in reversed(turns):
        if isinstance(turn, ToolResultTurn) and turn.is_error:
            return True
        if not isinstance(turn, ToolResultTurn) and not is_aside(turn):
            break
    return False


def missing_results(turns: Sequence[Turn], started: Collection[str] | None = None) -> list[ToolResultTurn]:
    """Return an error result for each call of the last answer that has none.

    Args:
        turns: the conversation.
        started: wire ids of the calls that had started to act; None when that is not known.
    """
    results = []
    for call in unanswered_calls(turns):
        if started is None:
            output = NO_RESULT
        else:
            output = OUTCOME_UNKNOWN if call.tool_use_id in started else NEVER_RAN
        results.append(ToolResultTurn(tool_use_id=call.tool_use_id, output=output, is_error=True))
    return results
