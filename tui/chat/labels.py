"""The small texts about runs: what the agent did last, how a run ended, and which model took how much. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tui.terminal.sanitise import both_ends, one_line

if TYPE_CHECKING:
    from agent.core.events import Outcome, ToolEnd
    from personas.versions.undo import Direction
    from tui.chat.conversation_state import Conversation


LONGEST_NAME = 24
"""Cells that the name of a model takes at most beside what keys do."""

ENDS: Mapping[str, str] = {
    "failed": "The agent failed",
    "limit": "The agent stopped at a limit",
    "cancelled": "The agent was stopped",
    "refused": "The model refused",
}


class Trace:
    """What the agent's last run changed, or else what its last tool did, and how long ago."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Nothing was done: a run begins, or another conversation is shown."""
        self._changes: list[ToolEnd] = []
        self._last: ToolEnd | None = None
        self._run: str | None = None
        self._is_undone = False
        self.greeting = ""
        """Said while the agent has done nothing."""

    def note(self, event: ToolEnd, run_id: str | None) -> None:
        """A tool has ended, in a run that is undone under this id."""
        from agent.jobs.messages import has_written

        self._run = run_id
        self._last = event
        if event.is_error or not has_written(event):
            return
        if self._is_undone:  # the run went on after it was undone
            self._is_undone, self._changes = False, []
        self._changes.append(event)

    def stepped(self, operation: Direction, run_id: str | None) -> None:
        """A run was undone or redone."""
        if run_id is not None and run_id == self._run:
            self._is_undone = operation == "undo"

    def text(self, now: float) -> str:
        """Return it as one line; empty if nothing was done, or it was undone. `now`: on the clock of the events."""
        if self._is_undone:
            return ""
        event = self._changes[-1] if self._changes else self._last
        if event is None:
            return self.greeting
        what = _sum(self._changes) if len(self._changes) > 1 else _done(event)
        return f"{what} · {age(now - event.at)}"


def _done(event: ToolEnd) -> str:
    """Return what came of one call."""
    name = one_line(event.call.tool_name, 40)
    if not event.is_error:
        return f"{name}{counts(event.details)}"
    # A call that the person stopped, or did not allow, is nothing that broke.
    if event.output.startswith("Not run:") or event.output.endswith(": not run."):
        return f"{name} not run"
    return f"{name} {'stopped' if event.output.startswith('Cancelled') else 'failed'}"


def _sum(changes: Sequence[ToolEnd]) -> str:
    """Return how many changes there were, and their lines together."""
    details = [change.details or {} for change in changes]
    lines = {
        name: sum(each[name] for each in details if isinstance(each.get(name), int))
        for name in ("added", "removed")
    }
    return f"{len(changes)} changes{counts(lines)}"


def counts(details: Mapping[str, Any] | None) -> str:
    """Return ` +2 −1` where a tool's details count lines."""
    added, removed = (details or {}).get("added"), (details or {}).get("removed")
    if not isinstance(added, int) or not isinstance(removed, int) or (added, removed) == (0, 0):
        return ""
    return f" +{added} −{removed}"


def age(seconds: float) -> str:
    """Return how long ago, changing seldom: `just now`, `20 s ago`, `3 min ago`, `2 h ago`."""
    if seconds < 10:
        return "just now"
    if seconds < 60:
        return f"{int(seconds // 10) * 10} s ago"
    if seconds < 3600:
        return f"{int(seconds // 60)} min ago"
    return f"{int(seconds // 3600)} h ago"


def spent(model: str, conversation: Conversation | None) -> str:
    """Return the model's name with tokens and cost as far as there are any."""
    parts = [both_ends(model, LONGEST_NAME)]
    if conversation is not None and conversation.usage is not None:
        from agent.models.prices import spent_parts

        parts += spent_parts(conversation.usage, conversation.cost)
    return " · ".join(part for part in parts if part)


def ended(name: str, outcome: Outcome | None) -> str:
    """Return in one line how a run about the persona of this name ended; None: it failed to begin."""
    return f"{ENDS.get(outcome or 'failed', 'The agent is done')}: {one_line(name, 60)}"


def asks(name: str) -> str:
    """Return in one line that a task about the persona of this name waits for an answer."""
    return f"The agent asks you: {one_line(name, 60)}"
