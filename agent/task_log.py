"""The tasks of one conversation on disk: an append-only log beside the session, and what it says after a crash.

Nothing in it is believed further than it must be: what a waiting call would do is read from the conversation.
"""

from __future__ import annotations

import re
from typing import Any

from pydantic import ValidationError

from agent.session import Session
from agent.task import AgentTask, move
from agent.tools.control import TASK_COMPLETE
from agent.turns import ToolCallTurn, ToolResultTurn, UserTurn
from personas.home import Home
from personas.journal import Journal

SUFFIX = ".tasks.journal"
_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


class TaskLog:
    """The log of one conversation's tasks, one after the other.

    Args:
        home: the home.
        session_id: a checked id.
    """

    def __init__(self, home: Home, session_id: str) -> None:
        self._session_id = session_id
        self._journal = Journal(home.inside(home.sessions) / f"{session_id}{SUFFIX}")
        self._written: dict[str, Any] = {}

    def write(self, task: AgentTask, *, sync: bool = False) -> None:
        """Append what changed of a task since it was last written.

        Raises:
            PersonaError: the disk refused.
        """
        record = task.to_record()
        known = self._written if self._written.get("id") == task.id else {}
        changed = {key: value for key, value in record.items() if key not in known or known[key] != value}
        if changed:
            self._journal.append({"type": "task", "id": task.id, **changed}, sync=sync)
            self._written = record

    def last(self, persona_id: str) -> AgentTask | None:
        """Return the last task as it was last written; None where there is none that can be read.

        Raises:
            PersonaError: the disk refuses, or something else than a file is there.
        """
        merged: dict[str, Any] = {}
        for record in self._journal.read().records:
            if record.get("type") != "task" or not isinstance(record.get("id"), str):
                continue
            if record["id"] != merged.get("id"):
                merged = {}
            merged.update(record)
        merged.pop("type", None)
        if merged.get("session_id") != self._session_id or merged.get("persona_id") != persona_id:
            return None
        try:
            task = AgentTask.model_validate(merged)
        except (ValidationError, RecursionError):
            return None
        self._written = task.to_record()
        return task

    def close(self) -> None:
        """Close the file; a later record opens it again."""
        self._journal.close()


def sessions_with_tasks(home: Home) -> list[str]:
    """Return the ids of the conversations that have a log of tasks; none where the folder cannot be read."""
    try:
        names = [path.name for path in home.inside(home.sessions).iterdir() if path.name.endswith(SUFFIX)]
    except OSError:
        return []
    ids = [name.removesuffix(SUFFIX) for name in names]
    return [session_id for session_id in ids if _SESSION_ID.fullmatch(session_id)]


def waiting_call(task: AgentTask, session: Session) -> ToolCallTurn | None:
    """Return the call a found task waits with, None when the conversation has none open that fits."""
    if task.pending is None:
        return None
    wanted = task.pending.tool_use_id
    return next((call for call in session.left_open if call.tool_use_id == wanted), None)


def as_left(task: AgentTask, session: Session) -> AgentTask:
    """Return a found task as what it is now that nobody works on it. Pure; nothing is written.

    Args:
        task: as it was last written.
        session: its conversation, just opened.
    """
    if task.is_over or task.can_continue:
        return task
    if task.is_waiting:
        open_still = waiting_call(task, session) is not None
        answered = task.pending is not None and task.pending.answer is not None
        return task if open_still and not answered else move(task, "interrupted")
    if (summary := _completion(session)) is not None:
        thinking = task if task.status == "thinking" else task.model_copy(update={"status": "thinking"})
        return move(thinking, "completed", summary=summary, current_tool=None)
    return move(task, "interrupted", current_tool=None)


def _completion(session: Session) -> str | None:
    """The summary of the `task_complete` that ends the conversation, None when none does."""
    done: set[str] = set()
    for turn in reversed(session.recent):
        if isinstance(turn, ToolResultTurn) and not turn.is_error:
            done.add(turn.tool_use_id)
        elif isinstance(turn, ToolCallTurn):
            if turn.tool_name == TASK_COMPLETE and turn.tool_use_id in done:
                return str(turn.input.get("summary", ""))
        elif isinstance(turn, UserTurn):
            return None
    return None
