"""What a task says of itself in the conversation: why it stopped, what stays, what it is told to go on with. Pure."""

from __future__ import annotations

from agent.core.model import ModelError
from agent.core.turns import FAILED, NoticeTurn
from agent.jobs.job import AgentTask
from agent.models.anthropic.error_mapping import with_next_step

GO_ON_TASK = (
    "The task is still open. Go on with the next step; call task_complete when everything is done, or ask_user when "
    "you need an answer."
)
"""What the model is told after an answer of words alone."""


def what_stays(changed: bool) -> str:
    """Return what is said of a stopped task's work."""
    return "What was done stays and can be undone as one." if changed else "Nothing was changed."


def where_it_was(task: AgentTask) -> str:
    """Return at which step a task was, as part of a sentence; its first step counts once it is over."""
    return f"at step {task.step_count}" if task.step_count else "at its first step"


def how_left(task: AgentTask) -> str:
    """Return what became of a task that can be continued, as part of a sentence."""
    why = "was interrupted" if task.status == "interrupted" else "stopped at a limit"
    return f"{why} {where_it_was(task)}"


def replaced_notice(task: AgentTask, changed: bool) -> NoticeTurn:
    """Return the notice that a new task takes the place of one that could have been continued.

    Args:
        task: the one that stays behind.
        changed: whether it has changed something.
    """
    text = f"A new task begins here; the one that {how_left(task)} stays behind. {what_stays(changed)}"
    return NoticeTurn(content=text, kind="stopped")


def stop_notice(task: AgentTask, changed: bool, *, was_left: bool = False) -> NoticeTurn:
    """Return the notice that a task was stopped: where, and what becomes of what it did.

    Args:
        task: as it was when it was stopped.
        changed: whether it has changed something.
        was_left: whether an earlier program left it, and this one only closes it.
    """
    where = where_it_was(task) if task.step_count or was_left else "before the first step"
    approval = task.pending.approval if task.pending is not None else None
    during = f", while {task.current_tool} ran" if task.current_tool and not task.is_waiting else ""
    asked = ", waiting for an answer" if task.is_waiting else ""
    if task.is_waiting and approval is not None:
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


def failure_notice(task: AgentTask, error: ModelError) -> NoticeTurn:
    """Return the notice that a run failed: why and what to do next, and where if it was to work until it is done."""
    where = f"The task failed {where_it_was(task)}: " if task.mode == "task" else ""
    return NoticeTurn(content=where + with_next_step(error), kind=FAILED)


def time_notice(seconds: float) -> NoticeTurn:
    """Return the notice that a task has used up its time."""
    text = f"Stopped after {seconds / 60:.3g} minutes of work, the longest one task may take."
    return NoticeTurn(content=text, kind="limit")
