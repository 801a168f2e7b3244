"""What the lists of actions and of their runs show. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from agent.actions.listing import ListedAction
from agent.actions.run_log import ActionRun
from agent.actions.times import from_stamp
from personas.actions.states import ActionState
from tui.terminal.sanitise import one_line
from tui.widgets.virtual_list import Row

_S = ActionState
GROUPS = (
    "running",
    "waiting",
    "due",
    "failed",
    "interrupted",
    "completed",
    "scheduled",
    "open",
    "dormant",
    "cancelled",
)
"""How actions are marked, in the order in which they are listed."""
WORDS = {"completed": "done", "open": "by hand", "interrupted": "stopped"}
STATE_CELLS = max(len(WORDS.get(group, group)) for group in GROUPS)


def group_of(row: ListedAction) -> str:
    """Return which of `GROUPS` an action is in: its state, but that it is due, or lacks what lets it run by itself."""
    action = row.action
    if row.state in (_S.RUNNING, _S.CANCELLED) or action.error is not None:
        return str(row.state) if action.error is None else "failed"
    if action.is_timed and (not row.approved or not action.enabled):
        return "dormant"
    if row.state is _S.SCHEDULED and row.due is not None:
        return "due"
    return str(row.state)


def action_rows(
    rows: Iterable[ListedAction], now: datetime, *, current: str, unsaved: Iterable[str]
) -> list[Row]:
    """Return the rows of all actions, by group and name.

    Args:
        rows: where they stand.
        now: the time, in the person's zone.
        current: the id of the open one.
        unsaved: the ids of those with text that is not stored.
    """
    unsaved = set(unsaved)
    shown = []
    for row in rows:
        group, action = group_of(row), row.action
        tail = (
            f"next {moment(row.next, now)}"
            if row.next
            else f"ran {moment(row.last_run, now)}"
            if row.last_run
            else ""
        )
        shown.append(
            (
                GROUPS.index(group),
                Row(
                    action.id,
                    f"{action.title} · {why}" if (why := why_of(row)) else action.title,
                    head=WORDS.get(group, group),
                    head_cells=STATE_CELLS,
                    tail="unsaved" if action.id in unsaved else tail,
                    tone="error" if group == "failed" else "dim" if group in ("dormant", "cancelled") else "",
                    current=action.id == current,
                ),
            )
        )
    return [row for _, row in sorted(shown, key=lambda one: (one[0], one[1].text))]


def why_of(row: ListedAction) -> str:
    """Return why an action does not run, or what its run says; not by which command of the shell, for here are keys."""
    if (error := row.action.error) is not None:
        return f"broken: {error.message}{f' (line {error.line})' if error.line else ''}"
    return re.sub(r": `persona [^`]*`$", "", row.why)


def info_of(row: ListedAction, now: datetime) -> str:
    """Return what is said below the list of the action under the cursor."""
    action = row.action
    approved = "approved" if row.approved else "not approved"
    times = (("due", row.due), ("next", row.next), ("last due", row.last_due), ("last ran", row.last_run))
    lines = [
        f"{action.id} · {action.persona} · {action.kind} · {approved}",
        " · ".join(f"{word} {moment(at, now)}" for word, at in times if at) or "by hand",
        why_of(row),
    ]
    return "\n".join(one_line(line, 400) for line in lines if line)


def run_rows(runs: Iterable[ActionRun], now: datetime) -> list[Row]:
    """Return the rows of the runs of one action, newest first."""
    rows = []
    for run in runs:
        lines = run.output.strip().splitlines() or [""]
        proposed = [one for one in run.versions if isinstance(one, str)]
        cost = "" if run.cost is None else f"${run.cost:.2f}"
        parts = (moment(run.started_at or run.due, now), cost)
        rows.append(
            Row(
                run.id,
                " · ".join(filter(None, (*proposed, run.why or lines[0]))),
                head=WORDS.get(str(run.state), str(run.state)),
                head_cells=STATE_CELLS,
                tail=" · ".join(filter(None, parts)),
                tone="error" if run.state is _S.FAILED else "fresh" if run.asks else "",
            )
        )
    return rows


def moment(at: str | None, now: datetime) -> str:
    """Return a stored time as people say it: `14:02` of today, `Mon 14:02` within a week, else with its date."""
    found = from_stamp(at)
    if found is None:
        return ""
    local = found.astimezone(now.tzinfo)
    days = (local.date() - now.date()).days
    if not days:
        return f"{local:%H:%M}"
    if 0 < days < 7:
        return f"{local:%a %H:%M}"
    return f"{local.day} {local:%b %H:%M}" if local.year == now.year else f"{local.day} {local:%b %Y}"
