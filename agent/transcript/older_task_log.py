"""Takes the task logs of earlier versions, one beside each session, into the session's own log.

Such a log has records `task`, each with what changed of a task, and records `mark`, with the turn after which a step
began or a task ended.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from agent.core.turns import JOB, utc_now
from agent.transcript.job_records import OVER
from personas.errors import PersonaError
from personas.files.home import Home
from personas.files.journal import Journal
from personas.files.lock import hold

log = logging.getLogger(__name__)

SUFFIX = ".tasks.journal"
"""How the name of such a log ends; what is before it is the session's id."""

_STOPPED = OVER | {"limit", "interrupted"}
_LONGEST_ID = 200


def migrate(session: Path, lock: Path) -> None:
    """Append the tasks in the log beside a session to the session, and remove that log.

    Where somebody is at work in the session, or the disk refuses, it stays for the next time.

    Args:
        session: the session's log.
        lock: of who writes to it.
    """
    older = session.with_name(f"{session.stem}{SUFFIX}")
    if not older.is_file() or older.is_symlink() or not session.is_file():
        return
    try:
        with hold(lock, what="The conversation about this persona"):
            records = _converted(Journal(older).read().records)
            with Journal(session) as journal:
                for record in records:
                    journal.append(record)
                journal.sync()
            older.unlink()
    except (OSError, PersonaError) as error:
        log.warning("the tasks in %s could not be carried over: %s", older.name, error)


def sessions_with_older_logs(home: Home) -> list[str]:
    """Return the ids of the sessions that have such a log; none where the folder cannot be read."""
    try:
        names = [path.name for path in home.inside(home.sessions).iterdir() if path.name.endswith(SUFFIX)]
    except (OSError, PersonaError):
        return []
    return [name.removesuffix(SUFFIX) for name in names]


def _converted(older: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the same as job records, the tasks one after the other as they began."""
    tasks: dict[str, dict[str, Any]] = {}
    marks: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {}
    last = ""
    for record in older:
        kind, task_id = record.get("type"), record.get("id")
        if not isinstance(task_id, str) or len(task_id) > _LONGEST_ID:
            continue
        if kind == "task":
            tasks[task_id] = {**tasks.get(task_id, {}), **record}
            last = task_id
        elif kind == "mark" and task_id == last:
            if record.get("mark") == "step" and type(step := record.get("step_count")) is int:
                tasks[task_id] = {**tasks[task_id], "step_count": step}
            marks.setdefault(task_id, []).append((record, dict(tasks[task_id])))
    found: list[dict[str, Any]] = []
    open_task = ""
    for task_id, task in tasks.items():
        left = {"left": open_task} if open_task else {}
        found.append({**_record(task, "started"), **left, "step_count": 0})
        for mark, then in marks.get(task_id, []):
            if (after := mark.get("after")) is None or not isinstance(after, str):
                continue
            if mark.get("mark") == "step":
                found.append({**_record(then, "step"), "after": after})
            elif mark.get("mark") == "ending":
                found.append({**_record(then, "ended"), "outcome": then.get("status"), "after": after})
        found.append({**_last_of(task), **left})
        if task.get("mode") == "task":
            open_task = task_id if task.get("status") not in OVER else ""
    return found


def _last_of(task: dict[str, Any]) -> dict[str, Any]:
    """The record of what a task was in the end."""
    status = str(task.get("status", ""))
    if status in _STOPPED:
        return {**_record(task, "ended"), "outcome": status, "after": ""}
    if status.startswith("waiting"):
        return _record(task, "asked")
    return _record(task, "resumed")


def _record(task: dict[str, Any], event: str) -> dict[str, Any]:
    fields = {
        name: value
        for name, value in task.items()
        if name not in ("type", "mode", "status", "persona_id", "session_id")
    }
    if event != "started":
        fields.pop("original_prompt", None)
    kind = "chat" if task.get("mode") == "chat" else "task"
    return {**fields, "type": JOB, "event": event, "kind": kind, "created_at": utc_now()}
