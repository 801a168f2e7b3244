"""What a chat's model is sent of its conversation: the end of it, with what is told in the user's name."""

from __future__ import annotations

from collections.abc import Sequence

from agent.core.messages import last_user_turns
from agent.core.turns import NoticeTurn, Turn, UserTurn
from agent.transcript.stretch import Stretch, place_of
from agent.transcript.user_edits import as_said


class ContextWindow:
    """Keeps what it made of a conversation that grows: each turn is looked at once."""

    def __init__(self) -> None:
        self._source: list[Turn] | None = None
        self._seen: list[Turn] = []  # each turn of the source as the model sees it
        self._spoken: list[int] = []  # where the user's turns are

    def of(self, turns: Sequence[Turn], user_turns: int) -> Sequence[Turn]:
        """Return the last `user_turns` user turns of a conversation and what follows them, as they are sent.

        Args:
            turns: the conversation.
            user_turns: how many; with 0 the whole of it.
        """
        place = place_of(turns)
        if place is None or place[1] != 0:
            return [_as_sent(turn) for turn in last_user_turns(turns, user_turns)]
        source, _, stop = place
        if source is not self._source or stop < len(self._seen):
            self._source, self._seen, self._spoken = source, [], []
        for index in range(len(self._seen), stop):
            turn = source[index]
            self._seen.append(_as_sent(turn))
            if isinstance(turn, UserTurn):
                self._spoken.append(index)
        start = self._spoken[-user_turns] if 0 < user_turns <= len(self._spoken) else 0
        return Stretch(self._seen, start)


def _as_sent(turn: Turn) -> Turn:
    if isinstance(turn, NoticeTurn) and turn.is_nudge:
        return UserTurn(content=turn.content)
    return as_said(turn)
