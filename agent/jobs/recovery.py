"""Tasks an earlier program left: what they are now, and closing one for good. Blocking; belongs in a thread.

The log of tasks says only that something waits. What it would do is read from the conversation and the file.
"""

from __future__ import annotations

from agent.core.limits import shorten
from agent.core.redaction import text_of
from agent.core.tool import ASK_USER
from agent.core.tool_validation import validate
from agent.core.turns import ToolCallTurn, ToolResultTurn, utc_now
from agent.jobs.approval_policy import LONGEST_INPUT, approval_of, approval_question, is_same
from agent.jobs.diff_message import has_changed
from agent.jobs.job import AgentTask, Approval, Question, move, way
from agent.jobs.messages import how_left, stop_notice
from agent.jobs.task_log import TaskLog, as_left, waiting_call
from agent.tools import chat_tools
from agent.tools.context import Desk
from agent.tools.control import NOT_ANSWERED
from agent.transcript.session_log import Session
from agent.transcript.session_store import lock_path, open_session, session_lock
from personas.errors import BrokenFile, Busy, InvalidValue, OutsideHome
from personas.files.lock import holder
from personas.files.slug import command
from personas.store import Store


class TaskWaits(Busy):
    """A task about this persona waits for an answer; nothing else can begin."""


STOPPED = "Not run: the owner stopped the task."
"""The result of a call that waited for approval and whose task is given up."""


def read_task(store: Store, persona_id: str, *, is_held: bool = False) -> AgentTask | None:
    """Return the persona's last task as what it is now, None where there is none. Nothing is written.

    One that another program works on is returned as that program last wrote it.

    Args:
        store: the store.
        persona_id: whose.
        is_held: whether the caller holds the conversation, so that nobody else works on it.

    Raises:
        PersonaError: the disk refuses, or the conversation cannot be opened.
    """
    session_id = store.session_of(persona_id)
    if session_id is None:
        return None
    tasks = TaskLog(store.home, session_id)
    task = tasks.last(persona_id)
    while not is_held:
        if task is None or task.is_over or holder(lock_path(store, session_id)) is not None:
            return task
        before, task = task, tasks.last(persona_id)
        if task == before:
            break  # else who held it wrote how it went on, and let it go, between the two looks
    if task is None or task.is_over:
        return task
    session = open_session(store, persona_id, session_id)
    try:
        return _with_fresh_approval(store, as_left(task, session), session)
    finally:
        session.close()


def refuse_when_changed(store: Store, task: AgentTask) -> None:
    """Let nothing be done with a task that is another by now than it was read as. For who holds its conversation.

    What was read before that may be old: another program may have gone on with it in between.

    Raises:
        InvalidValue: it went on, or another took its place.
        PersonaError: the disk refuses, or the conversation cannot be opened.
    """
    now = read_task(store, task.persona_id, is_held=True)
    if now is None or _identity(now) != _identity(task):
        raise InvalidValue(f"The task about {task.persona_id} went on in another program; look at it again.")


def _identity(task: AgentTask) -> tuple[AgentTask, str | None]:
    """A task and the call it waits with; what that is shown as changes with the file."""
    waits_with = task.pending.tool_use_id if task.pending is not None else None
    return task.model_copy(update={"pending": None}), waits_with


def refuse_when_waiting(task: AgentTask | None) -> None:
    """Let nothing begin over a question that could be answered by no one then.

    Raises:
        TaskWaits: the task waits for an answer.
    """
    if task is not None and task.is_waiting:
        asked = shorten(task.pending_question or "its question", 200)
        raise TaskWaits(
            f"A task about {task.persona_id} waits for your answer: {asked} Answer it with "
            f'`{command("reply", task.persona_id)} "…"`, or stop it with '
            f"`{command('reply --stop', task.persona_id)}`."
        )


def refuse_when_at_work(store: Store, task: AgentTask | None) -> None:
    """Let nothing begin beside what another program does.

    Raises:
        Busy: it works on the task.
    """
    if task is not None and task.is_working:
        pid = holder(lock_path(store, task.session_id))
        where = f" (pid {pid})" if pid else ""
        raise Busy(
            f"A task about {task.persona_id} is at work in another program{where}; stop it there first."
        )


def leave_task(store: Store, persona_id: str) -> str:
    """Look whether a new conversation may begin; return what is said of a task that stays behind in the old one.

    Raises:
        TaskWaits: its task waits for an answer.
        Busy: another program works on it.
        PersonaError: the disk refuses.
    """
    session_id = store.session_of(persona_id)
    if session_id is None:
        return ""
    try:
        task = read_task(store, persona_id)
    except (BrokenFile, InvalidValue, OutsideHome):
        return ""  # nothing waits in a conversation that cannot be opened
    refuse_when_waiting(task)
    refuse_when_at_work(store, task)
    if task is None or not task.can_continue or task.mode != "task":
        return ""
    return f"A task that {how_left(task)} stays behind in the old conversation."


def stored_question(store: Store, task: AgentTask) -> Question | None:
    """Return the question as it was last written: what the person was shown.

    Raises:
        PersonaError: the disk refuses.
    """
    stored = TaskLog(store.home, task.session_id).last(task.persona_id)
    return stored.pending if stored is not None else None


def write_task(store: Store, task: AgentTask) -> None:
    """Write to the log of a waiting task with what question it waits.

    Raises:
        Busy: another program works on it.
        InvalidValue: it is not what was read any more.
        PersonaError: the disk refuses.
    """
    with session_lock(store, task.session_id):
        refuse_when_changed(store, task)
        _append(store, task)


def give_up(store: Store, task: AgentTask) -> AgentTask:
    """Close a task for good: its open call is answered, a notice says so, the log has it as cancelled.

    Raises:
        Busy: another program works on it.
        InvalidValue: it is not what was read any more.
        PersonaError: the disk refuses.
    """
    with session_lock(store, task.session_id):
        refuse_when_changed(store, task)
        session = open_session(store, task.persona_id, task.session_id)
        try:
            call = waiting_call(task, session)
            if call is not None:
                output = NOT_ANSWERED if call.tool_name == ASK_USER else STOPPED
                session.settle(ToolResultTurn(tool_use_id=call.tool_use_id, output=output, is_error=True))
            session.add(stop_notice(task, has_changed(store, task), was_left=True))
            session.sync()
            if session.failure is not None:
                raise session.failure
        finally:
            session.close()
        task = _cancelled(task)
        _append(store, task, ends_after=session.recent[-1].id)
    return task


def close_log(store: Store, task: AgentTask, after: str) -> None:
    """Write that a task which could have been continued never will be. For who holds its conversation.

    Args:
        store: the store.
        task: as it was left.
        after: the turn after which the conversation says so; empty where it does not.

    Raises:
        PersonaError: the disk refuses.
    """
    _append(store, _cancelled(task), ends_after=after)


def _cancelled(task: AgentTask) -> AgentTask:
    for status in way(task.status, "cancelled"):
        task = move(task, status)
    return task.model_copy(update={"ended_at": utc_now(), "pending": None, "current_tool": None})


def approval_now(store: Store, persona_id: str, call: ToolCallTurn) -> Approval:
    """Return what a call from a conversation on disk would do now. Total: whatever is wrong is its note."""
    tool = next((one for one in chat_tools(Desk(store, persona_id)) if one.name == call.tool_name), None)
    if tool is None:
        return Approval(tool=call.tool_name[:200], note="There is no such tool; the call cannot be made.")
    try:
        return approval_of(store, persona_id, tool, validate(tool, call.input))
    except Exception as error:  # noqa: BLE001 - an input from disk may be anything; the call would fail
        why = shorten(text_of(error), LONGEST_INPUT)
        return Approval(tool=tool.name, label=tool.label, note=f"It cannot be made: {why}")


def _with_fresh_approval(store: Store, task: AgentTask, session: Session) -> AgentTask:
    """Say of a waiting call what it would do now."""
    call = waiting_call(task, session)
    if task.status != "waiting_approval" or task.pending is None or call is None:
        return task
    approval = approval_now(store, task.persona_id, call)
    if task.pending.approval is not None and is_same(task.pending.approval, approval):
        return task
    options = task.pending.options
    asked = approval_question(approval, call.tool_use_id, changed=True, options=options)
    return task.model_copy(update={"pending": asked})


def _append(store: Store, task: AgentTask, ends_after: str = "") -> None:
    tasks = TaskLog(store.home, task.session_id)
    tasks.last(task.persona_id)
    tasks.write(task, sync=True)
    if ends_after and task.mode == "task":
        tasks.mark(task, "ending", ends_after, sync=True)
    tasks.close()
