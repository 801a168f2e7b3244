"""The sentences about a job in the conversation, and the diff of everything it changed."""

from __future__ import annotations

from typing import Any

from agent.core.events import AgentEnd, ToolEnd
from agent.core.model import ModelError
from agent.core.turns import FAILED, NoticeTurn
from agent.jobs.job import Job, Status
from agent.models.anthropic.error_mapping import with_next_step
from agent.tools import effect_of
from agent.tools.spec import Preview
from personas.store import Store
from personas.versions.authorship import Version
from personas.versions.merge import count, unified_diff

GO_ON_TASK = (
    "The task is still open. Go on with the next step; call task_complete when everything is done, or ask_user when "
    "you need an answer."
)
"""Sent to the model after an answer of words alone."""


def what_stays(changed: bool) -> str:
    """Return what is said of a stopped task's work."""
    return "What was done stays and can be undone as one." if changed else "Nothing was changed."


def where_it_was(job: Job) -> str:
    """Return at which step a task was, as part of a sentence; its first step counts once it is over."""
    return f"at step {job.step_count}" if job.step_count else "at its first step"


def how_left(job: Job) -> str:
    """Return what became of a task that can be continued, as part of a sentence."""
    why = "was interrupted" if job.status == "interrupted" else "stopped at a limit"
    return f"{why} {where_it_was(job)}"


def replaced_notice(job: Job, changed: bool) -> NoticeTurn:
    """Return the notice that a new task takes the place of one that could have been continued.

    Args:
        job: the one that stays behind.
        changed: whether it has changed something.
    """
    text = f"A new task begins here; the one that {how_left(job)} stays behind. {what_stays(changed)}"
    return NoticeTurn(content=text, kind="stopped")


def stop_notice(job: Job, changed: bool, *, was_left: bool = False) -> NoticeTurn:
    """Return the notice that a task was stopped: where, and what becomes of what it did.

    Args:
        job: as it was when it was stopped.
        changed: whether it has changed something.
        was_left: whether an earlier program left it, and this one only closes it.
    """
    where = where_it_was(job) if job.step_count or was_left else "before the first step"
    approval = job.pending.approval if job.pending is not None else None
    during = f", while {job.current_tool} ran" if job.current_tool and not job.is_waiting else ""
    asked = ", waiting for an answer" if job.is_waiting else ""
    if job.is_waiting and approval is not None:
        asked = f", waiting for approval of {approval.tool}"
    # Of a tool that was cut while it ran nobody knows what it has done.
    stays = "" if during and not changed else f" {what_stays(changed)}"
    return NoticeTurn(content=f"Stopped {where}{during}{asked}.{stays}", kind="stopped")


def idle_notice(answers: int) -> NoticeTurn:
    """Return the notice that a task ended after so many answers that did nothing."""
    text = (
        f"Stopped after {answers} answers in a row that did nothing, without the task being called complete."
    )
    return NoticeTurn(content=text, kind="limit")


def failure_notice(job: Job, error: ModelError) -> NoticeTurn:
    """Return the notice that a run failed: why and what to do next, and where if it was to work until it is done."""
    where = f"The task failed {where_it_was(job)}: " if job.kind == "task" else ""
    return NoticeTurn(content=where + with_next_step(error), kind=FAILED)


def time_notice(seconds: float) -> NoticeTurn:
    """Return the notice that a task has used up its time."""
    text = f"Stopped after {seconds / 60:.3g} minutes of work, the longest one task may take."
    return NoticeTurn(content=text, kind="limit")


def ending_of(end: AgentEnd, summary: str | None, *, is_stopped: bool) -> tuple[Status, dict[str, Any]]:
    """Return what a run's outcome makes of its task, and what else changes of it.

    Args:
        end: of the run.
        summary: what `task_complete` said, None where it was not called.
        is_stopped: whether the person stopped it. Whatever else cuts a run off is the end of the program, after which
            the task can be gone on with.
    """
    match end.outcome:
        case "completed":
            return "completed", {"summary": summary}
        case "failed":
            return "error", {"error_message": end.error.message if end.error else "The run failed."}
        case "refused":
            return "error", {"error_message": "The model refused to answer."}
        case "truncated" | "limit":
            return "limit", {}
        case _ if is_stopped:
            return "cancelled", {}
        case _:
            return "interrupted", {"ended_at": None}


def has_written(event: ToolEnd) -> bool:
    """Return whether a call that went well changed something."""
    if effect_of(event.call.tool_name) in ("read", "control"):
        return False
    details = event.details or {}
    return any(details.get(name) != 0 for name in ("added", "removed"))


def has_changed(store: Store, job: Job) -> bool:
    """Return whether a task has changed its persona's file so far. Reads the disk; belongs in a thread.

    Raises:
        PersonaError: the disk refuses.
    """
    return any(version.by.run_id == job.id for version in store.log(job.persona_id))


def task_diff(store: Store, job: Job, *, until: str | None = None) -> Preview | None:
    """Return the diff from before the task's first change to after its last, None when it changed nothing.

    What somebody else wrote in between is in it too. Reads the disk; belongs in a thread.

    Args:
        store: where the persona lives.
        job: whose changes.
        until: leave out what it did later than this (UTC, ISO 8601), when it went on; None for nothing.

    Raises:
        PersonaError: the persona is gone, or the disk refuses.
    """
    log = store.log(job.persona_id)
    made = [
        version for version in log if version.by.run_id == job.id and (until is None or version.at <= until)
    ]
    if not made:
        return None
    before = store.text_before(job.persona_id, min(made, key=_number))
    after = store.version_text(job.persona_id, max(made, key=_number))
    return Preview(unified_diff(before, after, "before", "after"), *count(before, after))


def _number(version: Version) -> int:
    return version.number
