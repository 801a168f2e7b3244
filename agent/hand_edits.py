"""What the person changed by hand between two runs, told to the model with their next message.

It is a turn of its own kind, stored like any other, so that the conversation reads the same on every later
request; the default conversion would skip it, ours sends it as a word of the user.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent.turns import CustomTurn, Turn, UserTurn
from personas.merge import unified_diff

KIND = "hand_edit"
LONGEST = 8_000
"""Characters of the diff that are told; a longer one is only mentioned."""


def hand_edit_turn(old: str | None, new: str) -> tuple[CustomTurn, bool]:
    """Return the turn that tells how the file changed since the agent last looked, and whether it tells all.

    Args:
        old: the file's text when the agent last looked, None when it is not known any more.
        new: its text now.
    """
    diff = unified_diff(old, new, "before", "now") if old is not None else ""
    whole = old is not None and len(diff) <= LONGEST
    told = f"\n{diff}" if whole else " Read it again before you change anything."
    content = f"[The owner changed the persona's file by hand since your last answer.{told}]"
    return CustomTurn(type=KIND, fields={"content": content}), whole


def with_hand_edits(turns: Iterable[Turn]) -> list[Turn]:
    """Return the turns with each hand edit as a user turn, for the conversion to messages."""
    return [
        UserTurn(content=str(turn.fields.get("content", "")), id=turn.id, created_at=turn.created_at)
        if isinstance(turn, CustomTurn) and turn.type == KIND
        else turn
        for turn in turns
    ]
