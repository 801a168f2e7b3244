"""What a whole task has changed in the persona's file."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from agent.jobs.job import AgentTask
from agent.tools.preview import Preview
from personas.errors import UnknownVersion
from personas.files.text_file import readable
from personas.store import Store
from personas.versions.authorship import Version
from personas.versions.merge import count, unified_diff
from personas.versions.version_store import VersionFolder


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
    made = [
        version for version in log if version.by.run_id == task.id and (until is None or version.at <= until)
    ]
    if not made:
        return None
    before = store.version_text(task.persona_id, min(made, key=_number))
    after = _text_after(store, task.persona_id, max(made, key=_number), log)
    return Preview(unified_diff(before, after, "before", "after"), *count(before, after))


def _text_after(store: Store, persona_id: str, last: Version, log: Sequence[Version]) -> str:
    """Return the text a change led to, or what comes next to it where that is not stored any more."""
    if last.after is not None and last.after != last.sha:
        # Not the next version's text: that may be one which was kept and never was the file's.
        with contextlib.suppress(UnknownVersion):
            return readable(VersionFolder(store.home, persona_id).load(last.after))
    later = [version for version in log if version.number > last.number]
    return store.version_text(persona_id, min(later, key=_number)) if later else store.text(persona_id)


def _number(version: Version) -> int:
    return version.number
