"""Unfinished tasks in the output of commands: as JSON, in a list, after a conversation, before a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from personas.errors import PersonaError
from personas.files.slug import command

if TYPE_CHECKING:
    from agent.jobs.job import Job, Question
    from personas.store import Store


def open_task(store: Store, persona_id: str) -> Job | None:
    """Return the persona's task that is not over, None where there is none, or none that can be read."""
    from agent.jobs.recovery import find_job

    try:
        task = find_job(store, persona_id)
    except PersonaError:
        return None  # `history` says what is wrong with the conversation
    return None if task is None or task.is_over else task


def open_tasks(store: Store) -> dict[str, Job]:
    """Return every persona's task that is not over, as far as they can be read."""
    from agent.transcript.open_jobs import open_job_records

    found: dict[str, Job] = {}
    for persona_id, (session_id, records) in open_job_records(store.home).items():
        from agent.jobs.job_log import fold  # most homes have no such task, and this takes long

        task = fold(records, persona_id, session_id) if records is not None else None
        # A question waits as its log says. What else became of a job only its whole conversation says.
        if (
            task is None
            or task.status != "waiting_user"
            or task.pending is None
            or task.pending.answer is not None
        ):
            task = open_task(store, persona_id)
        if task is not None:
            found[persona_id] = task
    return found


def task_field(task: Job | None) -> dict[str, Any]:
    """Return the field `task` of a JSON document; no field where there is no task."""
    if task is None:
        return {}
    question = task.pending if task.is_waiting else None
    fields = {
        "id": task.id,
        "mode": task.kind,
        "status": task.status,
        "prompt": task.original_prompt,
        "step_count": task.step_count,
        "started_at": task.started_at,
        "question": question_fields(question) if question is not None else None,
    }
    return {"task": fields}


def question_fields(question: Question) -> dict[str, Any]:
    """Return a question for JSON; an approval includes what the call would do."""
    fields: dict[str, Any] = {
        "id": question.id,
        "question": question.text,
        "options": list(question.options),
    }
    if (approval := question.approval) is not None:
        fields["approval"] = {
            "tool_use_id": question.tool_use_id,
            "tool_name": approval.tool,
            "diff": approval.diff,
            "note": approval.note,
        }
    return fields


def task_word(task: Job) -> str:
    """Return the status of an unfinished task in a list: a sign and a word."""
    if task.is_waiting:
        return "? waits for you"
    if task.can_continue:
        return "! interrupted" if task.status == "interrupted" else "! at a limit"
    return "* at work"


def task_line(task: Job) -> str:
    """Return the line about an unfinished task after a conversation, with what to do."""
    persona_id = task.persona_id
    if task.is_waiting:
        return f'  waits for your answer: {command("reply", persona_id)} "…"'
    if task.can_continue:
        from agent.jobs.messages import where_it_was

        ended = task.status == "interrupted"
        why = (
            f"The program ended {where_it_was(task)} of this task"
            if ended
            else "This task stopped at a limit"
        )
        return f"({why}; to go on: {command('reply', persona_id)} continue)"
    return "(A task is at work here in another program)"


def reminder(task: Job) -> str:
    """Return the reminder of a task that could be continued, for a message that does not; empty for none."""
    if not task.can_continue or task.kind != "task":
        return ""
    from agent.jobs.messages import how_left

    return (
        f"A task that {how_left(task)} can still be continued or given up: "
        f"{command('reply', task.persona_id)} continue, or --stop."
    )
