"""The context window: the end of a conversation that is sent to the model."""

from __future__ import annotations

from collections.abc import Sequence

from agent.core.turns import NoticeTurn, Turn, UserTurn
from agent.transcript.user_edits import as_user_turn


def context_window(turns: Sequence[Turn], user_turns: int) -> list[Turn]:
    """Return the last `user_turns` user turns of a conversation and what follows them, as they are sent.

    Args:
        turns: the conversation.
        user_turns: how many; with 0 the whole of it.
    """
    return [_as_sent(turn) for turn in last_user_turns(turns, user_turns)]


def last_user_turns(turns: Sequence[Turn], user_turns: int) -> list[Turn]:
    """Return the end of the conversation that begins at the `user_turns`-th last user turn.

    A list with fewer user turns is returned whole; so is one where `user_turns` is not positive.
    """
    if user_turns > 0:
        left = user_turns
        for index in range(len(turns) - 1, -1, -1):
            if isinstance(turns[index], UserTurn):
                left -= 1
                if left == 0:
                    return list(turns[index:])
    return list(turns)


def _as_sent(turn: Turn) -> Turn:
    if isinstance(turn, NoticeTurn) and turn.is_nudge:
        return UserTurn(content=turn.content)
    return as_user_turn(turn)
