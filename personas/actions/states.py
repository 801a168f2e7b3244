"""The states of actions and of their runs, and which may follow which. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from personas.errors import InvalidValue


class ActionState(StrEnum):
    """Where an action stands. A run has the same states, except `open`.

    A run that is `scheduled` is due and has not begun; one that is `waiting` has asked, or waits for its persona; one that
    is `interrupted` met a limit or was stopped. An action that is `waiting` may also lack the person's consent.
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


TRANSITIONS: dict[ActionState, frozenset[ActionState]] = {
    _S.OPEN: frozenset({_S.SCHEDULED, _S.RUNNING, _S.WAITING, _S.CANCELLED}),
    _S.SCHEDULED: frozenset(ActionState)
    - {_S.SCHEDULED},  # open: not enabled any more, or its time has passed
    _S.RUNNING: frozenset(ActionState) - {_S.RUNNING, _S.OPEN},
    _S.WAITING: frozenset(ActionState) - {_S.WAITING},
    **{
        state: frozenset({_S.SCHEDULED, _S.RUNNING, _S.WAITING, _S.CANCELLED})
        for state in (_S.COMPLETED, _S.FAILED, _S.INTERRUPTED)
    },
    _S.CANCELLED: frozenset(ActionState) - {_S.CANCELLED},  # approved again, it is what it was
}
"""What may follow the states of an action. One that has run is never open again, and one result follows another only
by way of a run.
"""


def state_of(
    runs: Iterable[ActionState], *, is_cancelled: bool, is_coming: bool, may_run: bool, is_enabled: bool
) -> ActionState:
    """Return the state of an action.

    Args:
        runs: the states of its runs, newest first.
        is_cancelled: the person cancelled it and has not approved it since.
        is_coming: it has a due time that nobody has run yet.
        may_run: nothing stands in the way of running it unattended.
        is_enabled: whether its schedule counts.
    """
    states = [state for state in runs if state is not _S.CANCELLED]
    for active in (_S.RUNNING, _S.WAITING, _S.SCHEDULED):
        if active in states:
            return active
    if is_cancelled:
        return _S.CANCELLED
    if is_coming and is_enabled:
        return _S.SCHEDULED if may_run else _S.WAITING
    return next(iter(states), _S.OPEN)


def move(old: ActionState, new: ActionState) -> ActionState:
    """Return the new state of a run; the same state again is no move, and allowed while the run goes on.

    Raises:
        InvalidValue: it cannot follow the old one.
    """
    if new not in RUN_TRANSITIONS.get(old, frozenset()) and (new is not old or old in ENDED):
        raise InvalidValue(f"A run that is {old} cannot become {new}.")
    return new
