"""The list of actions: where each stands, when it was due and will be, and why it does not run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from agent.actions import consent, run_log
from agent.actions.run_log import ActionRun
from agent.actions.times import stamp
from personas.action_document import read_actions
from personas.actions.document import Action
from personas.actions.schedule import due_now, last_due, next_due
from personas.actions.states import ActionState, state_of
from personas.errors import PersonaError
from personas.files.home import Home

LONGEST_REST = timedelta(days=1)
"""So long nobody may look for due work before the person is warned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedAction:
    """An action and where it stands. Times are stored times, None where there is none.

    Attributes:
        action: as it was read.
        state: see `ActionState`.
        approved: whether the person approved these very bytes.
        due: the due time of the run that is at work or waits, else the earliest that nobody has run yet.
        last_due: when it was due last by its schedule.
        last_run: when its last run began.
        next: when it will be due next; None also where it may not run.
        why: why it does not run, waits, or did not come to its end.
    """

    action: Action
    state: ActionState
    approved: bool
    due: str | None
    last_due: str | None
    last_run: str | None
    next: str | None
    why: str

    def to_record(self) -> dict[str, Any]:
        """Return it as a JSON object, as `persona action list --json` prints it."""
        action = self.action
        return {
            "id": action.id,
            "title": action.title,
            "persona": action.persona,
            "kind": action.kind,
            "state": str(self.state),
            "enabled": action.enabled,
            "approved": self.approved,
            "due": self.due,
            "last_due": self.last_due,
            "last_run": self.last_run,
            "next": self.next,
            "why": self.why,
            "error": action.error and action.error._asdict(),
        }


def list_actions(home: Home, *, now: datetime) -> list[ListedAction]:
    """Return where all actions of a home stand, broken ones too.

    Raises:
        OutsideHome, StorageError: the folder of actions cannot be read.
    """
    last_look = run_log.last_look(home)
    return [listed(home, action, now=now, last_look=last_look) for action in read_actions(home)]


def listed(
    home: Home,
    action: Action,
    *,
    now: datetime,
    last_look: datetime | None,
) -> ListedAction:
    """Return where an action stands.

    Args:
        home, action: which one.
        now: the time.
        last_look: when somebody last looked for due work.
    """
    try:
        runs, unread = run_log.runs(home, action.id), ""
    except PersonaError as error:
        runs, unread = [], str(error)
    last = runs[0] if runs else None
    approval = consent.approval_of(home, action)
    refusal_reason = consent.refusal_reason(home, action)
    unrun = due_now(action, approval.at, last_look, now) if approval is not None else ()
    is_cancelled = consent.is_cancelled(home, action)
    coming = next_due(action, now) if action.is_timed else None
    state = state_of(
        (run.state for run in runs),
        is_cancelled=is_cancelled,
        is_coming=coming is not None or bool(unrun),
        may_run=not refusal_reason,
        is_enabled=action.enabled,
    )
    active = next((run for run in runs if not run.is_over), None)
    due = active.due if active is not None else stamp(unrun[0]) if unrun and not refusal_reason else None
    was_due = last_due(action, now) if action.is_timed else None
    return ListedAction(
        action=action,
        state=state,
        approved=approval is not None,
        due=due,
        last_due=stamp(was_due) if was_due is not None else None,
        last_run=last.started_at if last is not None else None,
        next=stamp(coming) if coming is not None and not refusal_reason else None,
        why=unread
        or (
            refusal_reason
            if is_cancelled and active is None
            else _why(action, state, refusal_reason, active or last)
        ),
    )


def idle_warning(home: Home, rows: Iterable[ListedAction], *, now: datetime) -> str:
    """Return a warning where scheduled work waits and nobody has looked for it for a day; else an empty text."""
    last_look = run_log.last_look(home)
    approvals = [
        consent.approval_of(home, row.action) for row in rows if row.next is not None or row.due is not None
    ]
    since = min((approval.at for approval in approvals if approval is not None), default=now)
    last = max(since, last_look) if last_look is not None and last_look <= now else since
    if now - last < LONGEST_REST:
        return ""
    days = (now - last).days
    return f"no worker has run for {days} day{'' if days == 1 else 's'}; start `persona worker`"


def _why(action: Action, state: ActionState, refusal_reason: str, run: ActionRun | None) -> str:
    """Return why an action does not run, or what its run says."""
    if run is not None and (not run.is_over or state is run.state):
        return run.why
    if refusal_reason and (action.is_timed or action.error is not None):
        return refusal_reason
    if action.at is not None and state is ActionState.OPEN:
        return "its time has passed"
    if run is not None and run.state is not ActionState.COMPLETED:
        return f"last run {run.state}: {run.why}"
    return ""
