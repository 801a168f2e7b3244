"""What may be said to an agent: texts and turns, checked, each turn with an id of its own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from agent.core.turns import Turn, UserTurn, new_id
from personas.errors import PersonaError


class NoWords(PersonaError, ValueError):
    """A message in which nothing is said."""


def as_prompts(said: str | Turn | Sequence[Turn], known: Collection[str]) -> list[Turn]:
    """Return the turns of a prompt; of an empty list none.

    Args:
        said: words, a turn, or a list of turns.
        known: ids that are taken: what is said again is a turn of its own.

    Raises:
        TypeError: it is something else.
        NoWords: a message without words.
    """
    if isinstance(said, str):
        said = UserTurn(content=said)
    taken = set(known)
    prompts: list[Turn] = []
    for given in said if isinstance(said, list | tuple) else [said]:
        turn = _checked(given, Turn)
        if turn.id in taken:
            turn = replace(turn, id=new_id("turn"))
        taken.add(turn.id)
        prompts.append(turn)
    return prompts


def as_message(said: str | UserTurn, known: Collection[str]) -> UserTurn:
    """Return the one user turn of something that is said meanwhile; arguments and errors as for `as_prompts`."""
    turn: UserTurn = _checked(UserTurn(content=said) if isinstance(said, str) else said, UserTurn)
    return replace(turn, id=new_id("turn")) if turn.id in known else turn


def _checked(said: object, kind: Any) -> Any:
    if not isinstance(said, kind) or (isinstance(said, UserTurn) and not isinstance(said.content, str)):
        raise TypeError(f"A text or a turn can be said, not {said!r:.60}.")
    if isinstance(said, UserTurn) and not said.content.strip():
        raise NoWords("There is nothing to say: a message needs words.")
    return said
