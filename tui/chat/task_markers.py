"""The marks of tasks between the turns on the screen: where a step begins, and how a task ended. They are in no file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from personas.errors import PersonaError
from tui.chat.activity import ending_line

if TYPE_CHECKING:
    from agent.chat.chat import Chat
    from agent.core.turns import CustomTurn, Turn
    from agent.jobs.job import Job

STEP, ENDING = "task_step", "task_ending"
"""Their kinds, as `tui.widgets.conversation` knows them."""


def step_mark(number: int) -> CustomTurn:
    """Return the mark where a step of a task begins."""
    from agent.core.turns import CustomTurn

    return CustomTurn(type=STEP, fields={"text": f"step {number}"})


def ending_mark(chat: Chat, task: Job, until: str | None = None) -> CustomTurn:
    """Return what the conversation says of a task that ended, with the diff of everything it did. Reads the disk.

    Args:
        chat: the conversation.
        task: as it was when it ended.
        until: leave out what it did later than this (UTC, ISO 8601), when it went on; None for nothing.
    """
    from agent.core.turns import CustomTurn
    from agent.jobs.messages import task_diff

    try:
        done = task_diff(chat.store, task, until=until)
    except PersonaError:
        done = None
    return CustomTurn(
        type=ENDING,
        fields={
            "text": ending_line(task),
            "status": task.status,
            "summary": task.summary or "",
            "diff": done.diff if done is not None else "",
            "added": done.added if done is not None else 0,
            "removed": done.removed if done is not None else 0,
        },
    )


def found_marks(chat: Chat, turns: Sequence[Turn]) -> dict[str, list[CustomTurn]]:
    """Return the marks of the tasks of earlier programs that stand among these turns, by the turn before each.

    Reads the disk; what cannot be read makes no marks.

    Args:
        chat: the conversation.
        turns: a stretch of it.
    """
    from agent.jobs.job_log import past

    if not turns or chat.session_id is None:
        return {}
    tasks, marks = past(chat.session.jobs, chat.persona_id, chat.session_id)
    here = {turn.id for turn in turns}
    found = {
        task.prompt_turn_id: [step_mark(1)]
        for task in tasks
        if task.kind == "task" and task.step_count and task.prompt_turn_id in here
    }
    final = {mark.job.id: mark for mark in marks if mark.kind == "ending"}
    for mark in marks:
        if mark.after not in here:
            continue
        if mark.kind == "step":
            shown = step_mark(mark.job.step_count)
        else:
            until = None if final[mark.job.id] is mark else mark.job.ended_at
            shown = ending_mark(chat, mark.job, until)
        found.setdefault(mark.after, []).append(shown)
    return found


def read_conversation(chat: Chat) -> list[Turn]:
    """Return the end of a conversation as it is on disk now. Blocking.

    Raises:
        PersonaError: it cannot be opened.
    """
    from agent.transcript.session_store import read_recent

    session_id = chat.session_id
    return read_recent(chat.store, chat.persona_id, session_id) if session_id is not None else []
