"""The tasks of one conversation on disk: an append-only log beside the session, and what it says after a crash.

Nothing in it is believed further than it must be: what a waiting call would do is read from the conversation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal

from pydantic import ValidationError

from agent.core.tool import TASK_COMPLETE
from agent.core.turns import ToolCallTurn, ToolResultTurn, UserTurn
from agent.jobs.job import OVER, AgentTask, move, way
from agent.jobs.task_files import SUFFIX
from agent.transcript.session_log import Session
from personas.errors import PersonaError
from personas.files.home import Home
from personas.files.journal import Journal

MarkKind = Literal["step", "ending"]

MARKS: tuple[MarkKind, ...] = ("step", "ending")
LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class TaskMark:
    """A place in the conversation where a step of a task begins, or where a task came to an end.

    Attributes:
        kind: which of them.
        after: the turn it stands after.
        task: as it was there; a task that went on after a limit ends more than once.
    """

    kind: MarkKind
    after: str
    task: AgentTask


def _later(step: object, before: object) -> object:
    """The step a mark names, where it is one after the last that is known."""
    return step if type(step) is int and type(before) is int and step > before else before


def _is_past_message(told: dict[str, Any]) -> bool:
    """Whether records tell of a message that is no task and is over."""
    return told.get("mode") == "chat" and told.get("status") in OVER


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
        self._writing = Lock()  # what changed is told from what was written last, by whichever thread

    def write(self, task: AgentTask, *, sync: bool = False) -> None:
        """Append what changed of a task since it was last written.

        Raises:
            PersonaError: the disk refused.
        """
        record = task.to_record()
        with self._writing:
            known = self._written if self._written.get("id") == task.id else {}
            changed = {key: value for key, value in record.items() if key not in known or known[key] != value}
            if changed:
                self._journal.append({"type": "task", "id": task.id, **changed})
                self._written = record
        if changed and sync:
            try:
                self._journal.sync()
            except PersonaError:
                self._written = {}  # perhaps the disk has none of it: all of it is written again
                raise

    def mark(self, task: AgentTask, kind: MarkKind, after: str, *, sync: bool = False) -> None:
        """Append where a step of a task begins, or where it ended; what its end made of the task is written before.

        Raises:
            PersonaError: the disk refused.
        """
        record = {"type": "mark", "id": task.id, "mark": kind, "after": after, "step_count": task.step_count}
        self._journal.append(record, sync=sync)

    def last(self, persona_id: str) -> AgentTask | None:
        """Return the last task as it was last written; None where there is none that can be read.

        A message between, though it asked something, takes no task away: once it is over the task before it is the
        last again, if that is not.

        Raises:
            PersonaError: the disk refuses, or something else than a file is there.
        """
        told: dict[str, Any] = {}
        before: dict[str, Any] = {}
        newest: dict[str, Any] = {}
        begun: set[str] = set()
        for _, merged in self._states():
            if told and merged["id"] != told["id"] and not _is_past_message(told):
                before = told
            told = merged
            if told["id"] not in begun or told["id"] == newest["id"]:
                newest = told
            begun.add(told["id"])
        written_last = told
        if newest and newest.get("status") not in OVER and told.get("status") in OVER:
            told = newest  # it took the place of a task that was closed then
        task = self._task(told, persona_id)
        if task is not None:
            self._written = task.to_record() if told is written_last else {}
        if before and _is_past_message(told):
            earlier = self._task(before, persona_id)
            if earlier is not None and not earlier.is_over:
                self._written = {}  # what is written of it next is not next to what was written before
                return earlier
        return task

    def past(self, persona_id: str) -> tuple[list[AgentTask], list[TaskMark]]:
        """Return all tasks as they were last written, oldest first, and the marks of them in order.

        Logs of earlier programs have no marks.

        Raises:
            PersonaError: the disk refuses, or something else than a file is there.
        """
        states: dict[str, dict[str, Any]] = {}
        marks = []
        for record, merged in self._states():
            states[str(merged["id"])] = merged
            kind = next((kind for kind in MARKS if record.get("mark") == kind), None)
            after = record.get("after")
            if record["type"] != "mark" or kind is None or not isinstance(after, str):
                continue
            task = self._task({**merged, "step_count": record.get("step_count")}, persona_id)
            if task is not None and 0 < len(after) <= LONGEST_ID:
                marks.append(TaskMark(kind, after, task))
        tasks = [task for merged in states.values() if (task := self._task(merged, persona_id)) is not None]
        return tasks, marks

    def _states(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Yield each record that tells of a task, with everything told of that task up to there."""
        merged: dict[str, Any] = {}
        for record in self._journal.read().records:
            kind, task_id = record.get("type"), record.get("id")
            if not isinstance(task_id, str):
                continue
            if kind == "task":
                merged = {**(merged if task_id == merged.get("id") else {}), **record}
                yield record, merged
            elif kind == "mark" and task_id == merged.get("id"):
                if record.get("mark") == "step":  # the task itself is written again when that step is over
                    merged = {
                        **merged,
                        "step_count": _later(record.get("step_count"), merged.get("step_count")),
                    }
                yield record, merged

    def _task(self, told: dict[str, Any], persona_id: str) -> AgentTask | None:
        """The task that records tell of, None where they make none."""
        if told.get("session_id") != self._session_id or told.get("persona_id") != persona_id:
            return None
        try:
            return AgentTask.model_validate({name: value for name, value in told.items() if name != "type"})
        except (ValidationError, RecursionError):
            return None

    def forget(self) -> None:
        """Write all of a task the next time, not only what changed of it."""
        with self._writing:
            self._written = {}

    def close(self) -> None:
        """Close the file; a later record opens it again."""
        self._journal.close()


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
        for step in way(task.status, "completed")[:-1]:
            task = move(task, step)
        return move(task, "completed", summary=summary, current_tool=None)
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
