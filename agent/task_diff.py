"""What a whole task has changed in the persona's file."""

from __future__ import annotations

from agent.task import AgentTask
from agent.tools.preview import Preview
from personas.merge import count, unified_diff
from personas.store import Store


def has_changed(store: Store, task: AgentTask) -> bool:
    """Return whether a task has changed its persona's file so far. Reads the disk; belongs in a thread.

    Raises:
        PersonaError: the disk refuses.
    """
    return any(version.by.run_id == task.id for version in store.log(task.persona_id))


def task_diff(store: Store, task: AgentTask, *, until: str | None = None) -> Preview | None:
    """Return the diff from before the task's first change to after its last, None when it changed nothing.

    What somebody else wrote in between is in it too. Reads the disk; belongs in a thread.

    Args:
        store: where the persona lives.
        task: whose changes.
        until: leave out what it did later than this (UTC, ISO 8601), when it went on; None for nothing.

    Raises:
        PersonaError: the persona is gone, or the disk refuses.
    """
    log = store.log(task.persona_id)
    numbers = [
        version.number
        for version in log
        if version.by.run_id == task.id and (until is None or version.at <= until)
    ]
    if not numbers:
        return None
    later = [version.number for version in log if version.number > max(numbers)]
    before = store.version_text(task.persona_id, min(numbers))
    # A version is the text before a change: the one after the task's last change is that of the next.
    after = store.version_text(task.persona_id, min(later)) if later else store.text(task.persona_id)
    return Preview(unified_diff(before, after, "before", "after"), *count(before, after))
