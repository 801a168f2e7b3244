"""The states of actions and of their runs, and which may follow which. Pure."""

from __future__ import annotations

from enum import StrEnum

from personas.errors import InvalidValue


class ActionState(StrEnum):
    """Where an action is. A run has the same words, but `open`.

    A run that is `scheduled` is due and has not begun; one that is `waiting` has asked, or waits for its persona. An
    action that is `waiting` may also lack the person's consent. `interrupted` is a limit or a stop.
    """

    OPEN = "open"
    SCHEDULED = "scheduled"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"


_S = ActionState
ENDED = frozenset({_S.COMPLETED, _S.FAILED, _S.INTERRUPTED, _S.CANCELLED})
"""The states in which a run is over."""

RUN_TRANSITIONS: dict[ActionState, frozenset[ActionState]] = {
    _S.SCHEDULED: frozenset({_S.RUNNING, _S.WAITING, _S.FAILED, _S.INTERRUPTED, _S.CANCELLED}),
    _S.RUNNING: frozenset({_S.WAITING, *ENDED}),
    _S.WAITING: frozenset({_S.RUNNING, _S.FAILED, _S.INTERRUPTED, _S.CANCELLED}),
    _S.INTERRUPTED: frozenset({_S.RUNNING}),
    **{state: frozenset() for state in (_S.COMPLETED, _S.FAILED, _S.CANCELLED)},
}
"""What may follow the states of a run. One that is over stays so, but the person may let an interrupted one go on."""


def move(old: ActionState, new: ActionState) -> ActionState:
    """Return the new state of a run; the same state again is no move, and allowed while the run goes on.

    Raises:
        InvalidValue: it cannot follow the old one.
    """
    if new not in RUN_TRANSITIONS.get(old, frozenset()) and (new is not old or old in ENDED):
        raise InvalidValue(f"A run that is {old} cannot become {new}.")
    return new
