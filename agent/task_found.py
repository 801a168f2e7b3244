"""Tasks an earlier program left: what they are now, and closing one for good. Blocking; belongs in a thread.

The log of tasks says only that something waits. What it would do is read from the conversation and the file.
"""

from __future__ import annotations

from agent.approval import approval_of, approval_question, is_same
from agent.checks import validate
from agent.session import Session
from agent.stored import lock_path, open_session, session_lock
from agent.task import AgentTask, Approval, Question, move, way
from agent.task_log import TaskLog, as_left, waiting_call
from agent.tools import chat_tools
from agent.tools.base import Desk
from agent.turns import NoticeTurn, ToolCallTurn, ToolResultTurn, utc_now
from personas.lock import holder
from personas.store import Store

STOPPED = "Not run: the owner stopped the task."


def read_task(store: Store, persona_id: str) -> AgentTask | None:
    """Return the persona's last task as what it is now, None where there is none. Nothing is written.

    One that another program works on is returned as that program last wrote it.

    Raises:
        PersonaError: the disk refuses, or the conversation cannot be opened.
    """
    session_id = store.session_of(persona_id)
    if session_id is None:
        return None
    task = TaskLog(store.home, session_id).last(persona_id)
    if task is None or task.is_over or holder(lock_path(store, session_id)) is not None:
        return task
    session = open_session(store, persona_id, session_id)
    try:
        return _with_fresh_approval(store, as_left(task, session), session)
    finally:
        session.close()


def stored_question(store: Store, task: AgentTask) -> Question | None:
    """Return the question as it was last written: what the person was shown.

    Raises:
        PersonaError: the disk refuses.
    """
    stored = TaskLog(store.home, task.session_id).last(task.persona_id)
    return stored.pending if stored is not None else None


def write_task(store: Store, task: AgentTask) -> None:
    """Write what a task is now to its log.

    Raises:
        Busy: another program works on it.
        PersonaError: the disk refuses.
    """
    with session_lock(store, task.session_id):
        _append(store, task)


def give_up(store: Store, task: AgentTask) -> AgentTask:
    """Close a task for good: its open call is answered, a notice says so, the log has it as cancelled.

    Raises:
        Busy: another program works on it.
        PersonaError: the disk refuses.
    """
    with session_lock(store, task.session_id):
        session = open_session(store, task.persona_id, task.session_id)
        try:
            call = waiting_call(task, session)
            if call is not None:
                session.settle(ToolResultTurn(tool_use_id=call.tool_use_id, output=STOPPED, is_error=True))
            text = f"Stopped at step {task.step_count}. What was done stays and can be undone as one."
            session.add(NoticeTurn(content=text, kind="stopped"))
            session.sync()
            if session.failure is not None:
                raise session.failure
        finally:
            session.close()
        for status in way(task.status, "cancelled"):
            task = move(task, status)
        task = task.model_copy(update={"ended_at": utc_now(), "pending": None, "current_tool": None})
        _append(store, task)
    return task


def approval_now(store: Store, persona_id: str, call: ToolCallTurn) -> Approval:
    """Return what a call from a conversation on disk would do now. Total: whatever is wrong is its note."""
    tool = next((one for one in chat_tools(Desk(store, persona_id)) if one.name == call.tool_name), None)
    if tool is None:
        return Approval(tool=call.tool_name[:200], note="There is no such tool; the call cannot be made.")
    try:
        return approval_of(store, persona_id, tool, validate(tool, call.input))
    except Exception as error:  # noqa: BLE001 - an input from disk may be anything; the call would fail
        return Approval(tool=tool.name, label=tool.label, note=f"It cannot be made: {error}")


def _with_fresh_approval(store: Store, task: AgentTask, session: Session) -> AgentTask:
    """Say of a waiting call what it would do now."""
    call = waiting_call(task, session)
    if task.status != "waiting_approval" or task.pending is None or call is None:
        return task
    approval = approval_now(store, task.persona_id, call)
    if task.pending.approval is not None and is_same(task.pending.approval, approval):
        return task
    return task.model_copy(update={"pending": approval_question(approval, call.tool_use_id, changed=True)})


def _append(store: Store, task: AgentTask) -> None:
    tasks = TaskLog(store.home, task.session_id)
    tasks.last(task.persona_id)
    tasks.write(task, sync=True)
    tasks.close()
