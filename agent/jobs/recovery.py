"""Recovery: the state of jobs an earlier program left, and closing, replacing, answering and continuing them.

Blocking, but for what a run does first (`Prepare`). The log says only that something waits: what it would do is read
from the conversation and the file.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agent.core.limits import shorten
from agent.core.redaction import text_of
from agent.core.repair import is_aside
from agent.core.tool import ASK_USER, TASK_COMPLETE
from agent.core.tool_validation import validate
from agent.core.turns import NoticeTurn, ToolCallTurn, ToolResultTurn, Turn, UserTurn, new_id, utc_now
from agent.jobs.approval_policy import (
    LONGEST_INPUT,
    Decision,
    approval_of,
    approval_question,
    is_same,
    read_decision,
    refusal,
)
from agent.jobs.job import Approval, Job, Question, move, way
from agent.jobs.job_log import JobLog, fold
from agent.jobs.messages import has_changed, how_left, replaced_notice, stop_notice, where_it_was
from agent.jobs.saved_approvals import SavedApprovals
from agent.tools import make_tools
from agent.tools.context import ToolEnvironment
from agent.tools.control import NOT_ANSWERED
from agent.transcript.job_records import last_job
from agent.transcript.session_log import Session
from agent.transcript.session_store import lock_path, open_session, session_lock, session_path
from personas.errors import BrokenFile, Busy, InvalidValue, OutsideHome
from personas.files.journal import Journal
from personas.files.lock import holder
from personas.files.slug import command
from personas.proposals import ProposalStore
from personas.store import Store
from personas.versions.authorship import Author

if TYPE_CHECKING:
    from agent.chat.chat import Chat
    from agent.jobs.agent_run import AgentRun

Prepare = Callable[[], Awaitable[Sequence[Turn]]]
"""What a run does first, once it holds the conversation; gives the turns it says then, before the person's words."""

CONTINUE = "Please continue."
STOPPED = "Not run: the owner stopped the task."
"""The result of a call that waited for approval and whose task is given up."""


class JobWaits(Busy):
    """A task about this persona waits for an answer; nothing else can begin."""


# -- what they are now -----------------------------------------------------------------------------------------


def find_job(store: Store, persona_id: str, *, is_held: bool = False) -> Job | None:
    """Return the persona's last job to come back to as what it is now, None where there is none. Nothing is written.

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
    job = _logged(store, persona_id, session_id)
    if job is None or job.is_over:
        return job
    if not is_held:
        if holder(lock_path(store, session_id)) is not None:
            return job
        job = _logged(store, persona_id, session_id)  # who held it may have written its end just before
        if job is None or job.is_over:
            return job
    session = open_session(store, persona_id, session_id)
    try:
        return _with_fresh_approval(store, as_left(job, session), session)
    finally:
        session.close()


def _logged(store: Store, persona_id: str, session_id: str) -> Job | None:
    """The last job as its records say."""
    found = last_job(Journal(session_path(store.home, session_id)))
    return fold(found, persona_id, session_id) if found is not None else None


def stored_question(store: Store, job: Job) -> Question | None:
    """Return the question as it was last written: what the person was shown.

    Raises:
        PersonaError: the disk refuses.
    """
    stored = _logged(store, job.persona_id, job.session_id)
    return stored.pending if stored is not None else None


def waiting_call(job: Job, session: Session) -> ToolCallTurn | None:
    """Return the call a found task waits with, None when the conversation has none open that fits."""
    if job.pending is None:
        return None
    wanted = job.pending.tool_use_id
    return next((call for call in session.left_open if call.tool_use_id == wanted), None)


def as_left(job: Job, session: Session) -> Job:
    """Return a found task as what it is now that nobody works on it. Pure; nothing is written.

    Args:
        job: as its records say.
        session: its conversation, just opened.
    """
    if job.is_over or job.can_continue:
        return job
    if job.is_waiting:
        open_still = waiting_call(job, session) is not None
        answered = job.pending is not None and job.pending.answer is not None
        return job if open_still and not answered else move(job, "interrupted")
    if (summary := _completion(session)) is not None:
        for step in way(job.status, "completed")[:-1]:
            job = move(job, step)
        return move(job, "completed", summary=summary, current_tool=None)
    return move(job, "interrupted", current_tool=None)


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


# -- what may begin ---------------------------------------------------------------------------------------------


def refuse_when_changed(store: Store, job: Job) -> None:
    """Let nothing be done with a task that is another by now than it was read as. For who holds its conversation.

    What was read before that may be old: another program may have gone on with it in between.

    Raises:
        InvalidValue: it went on, or another took its place.
        PersonaError: the disk refuses, or the conversation cannot be opened.
    """
    now = find_job(store, job.persona_id, is_held=True)
    if now is None or _identity(now) != _identity(job):
        raise InvalidValue(f"The task about {job.persona_id} went on in another program; look at it again.")


def _identity(job: Job) -> tuple[Job, str | None]:
    """A task and the call it waits with; what that is shown as changes with the file."""
    waits_with = job.pending.tool_use_id if job.pending is not None else None
    return job.model_copy(update={"pending": None}), waits_with


def refuse_when_waiting(job: Job | None) -> None:
    """Let nothing begin over a question that could be answered by no one then.

    Raises:
        JobWaits: the task waits for an answer.
    """
    if job is not None and job.is_waiting:
        asked = shorten(job.pending_question or "its question", 200)
        raise JobWaits(
            f"A task about {job.persona_id} waits for your answer: {asked} Answer it with "
            f'`{command("reply", job.persona_id)} "…"`, or stop it with '
            f"`{command('reply --stop', job.persona_id)}`."
        )


def refuse_when_at_work(store: Store, job: Job | None) -> None:
    """Let nothing begin beside what another program does.

    Raises:
        Busy: it works on the task.
    """
    if job is not None and job.is_working:
        pid = holder(lock_path(store, job.session_id))
        where = f" (pid {pid})" if pid else ""
        raise Busy(
            f"A task about {job.persona_id} is at work in another program{where}; stop it there first."
        )


def leave_task(store: Store, persona_id: str) -> str:
    """Look whether a new conversation may begin; return what is said of a task that stays behind in the old one.

    Raises:
        JobWaits: its task waits for an answer.
        Busy: another program works on it.
        PersonaError: the disk refuses.
    """
    session_id = store.session_of(persona_id)
    if session_id is None:
        return ""
    try:
        job = find_job(store, persona_id)
    except (BrokenFile, InvalidValue, OutsideHome):
        return ""  # nothing waits in a conversation that cannot be opened
    refuse_when_waiting(job)
    refuse_when_at_work(store, job)
    if job is None or not job.can_continue or job.kind != "task":
        return ""
    return f"A task that {how_left(job)} stays behind in the old conversation."


# -- closing and replacing ----------------------------------------------------------------------------------------


@contextmanager
def _opened(store: Store, job: Job) -> Iterator[Session]:
    """Hold and open the conversation of a task that nobody works on.

    Raises:
        Busy: another program works on it.
        InvalidValue: it is not what was read any more.
        PersonaError: the disk refuses.
    """
    with session_lock(store, job.session_id):
        refuse_when_changed(store, job)
        session = open_session(store, job.persona_id, job.session_id)
        try:
            yield session
        finally:
            session.close()


def write_question(store: Store, job: Job) -> None:
    """Write to the log of a waiting task with what question it waits now. Errors as for `give_up`."""
    with _opened(store, job) as session:
        JobLog(lambda: session, job).write("asked", job, sync=True)


def give_up(store: Store, job: Job) -> Job:
    """Close a task for good: its open call is answered, a notice says so, the log has it as cancelled.

    Raises:
        Busy: another program works on it.
        InvalidValue: it is not what was read any more.
        PersonaError: the disk refuses.
    """
    with _opened(store, job) as session:
        call = waiting_call(job, session)
        if call is not None:
            output = NOT_ANSWERED if call.tool_name == ASK_USER else STOPPED
            session.settle(ToolResultTurn(tool_use_id=call.tool_use_id, output=output, is_error=True))
        session.add(stop_notice(job, has_changed(store, job), was_left=True))
        session.sync()
        if session.failure is not None:
            raise session.failure
        over = _cancelled(job)
        JobLog(lambda: session, job).write("ended", over, sync=True, outcome=over.status)
    return over


class ReplacedJob:
    """The task that a new one replaces, one that could have been continued. For who holds the conversation.

    Args:
        chat: the conversation both tasks work in.
        grants: of the person.

    Attributes:
        left: the task that is replaced; None where there is none.
    """

    def __init__(self, chat: Chat, grants: SavedApprovals) -> None:
        self._chat = chat
        self._grants = grants
        self.left: Job | None = None

    def find(self) -> None:
        """Find the task to replace.

        Raises:
            JobWaits: a task that waits for an answer.
            PersonaError: the disk refuses.
        """
        try:
            left = find_job(self._chat.store, self._chat.persona_id, is_held=True)
        except (BrokenFile, InvalidValue, OutsideHome):
            left = None  # it is in a conversation that cannot be opened
        refuse_when_waiting(left)
        is_here = left is not None and left.can_continue and left.session_id == self._chat.session_id
        self.left = left if is_here else None

    def notice(self) -> NoticeTurn | None:
        """Return what the conversation says of the task that stays behind, None where there is none, but a message.

        Raises:
            PersonaError: the disk refuses.
        """
        left = self.left
        if left is None or left.kind != "task":
            return None
        return replaced_notice(left, has_changed(self._chat.store, left))

    def close(self, by: Job, after: str) -> None:
        """Write that the replaced task is over, and forget what was allowed for it.

        Args:
            by: the task that replaces it.
            after: the turn after which the conversation says so; empty where it does not.

        Raises:
            PersonaError: the disk refuses.
        """
        left, self.left = self.left, None
        if left is not None:
            close_replaced(self._chat, left, by, after)
            self._grants.end_task(self._chat.store.home.root, left.session_id, left.id)


def close_replaced(chat: Chat, left: Job, by: Job, after: str) -> None:
    """Write that a task is over because another has taken its place. Arguments as for `ReplacedJob.close`."""
    over = _cancelled(left)
    frame = {"outcome": over.status, "after": after, "by": by.id}
    JobLog(lambda: chat.session.log, left).write("ended", over, sync=True, **frame)


def _cancelled(job: Job) -> Job:
    for status in way(job.status, "cancelled"):
        job = move(job, status)
    return job.model_copy(update={"ended_at": utc_now(), "pending": None, "current_tool": None})


def approval_now(store: Store, persona_id: str, call: ToolCallTurn) -> Approval:
    """Return what a call from a conversation on disk would do now. Total: whatever is wrong is its note."""
    tools = make_tools(ToolEnvironment(store, persona_id), "always", "with outputs", "with library")
    tool = next((one for one in tools if one.name == call.tool_name), None)
    if tool is None:
        return Approval(tool=call.tool_name[:200], note="There is no such tool; the call cannot be made.")
    try:
        return approval_of(store, persona_id, tool, validate(tool, call.input))
    except Exception as error:  # noqa: BLE001 - an input from disk may be anything; the call would fail
        why = shorten(text_of(error), LONGEST_INPUT)
        return Approval(tool=tool.name, label=tool.label, note=f"It cannot be made: {why}")


def _with_fresh_approval(store: Store, job: Job, session: Session) -> Job:
    """Say of a waiting call what it would do now."""
    call = waiting_call(job, session)
    if job.status != "waiting_approval" or job.pending is None or call is None:
        return job
    if job.proposes:  # the call goes by what the job has proposed so far
        by = Author("agent", session_id=job.session_id, run_id=job.id)
        store = ProposalStore(store, job.persona_id, by)
    approval = approval_now(store, job.persona_id, call)
    if job.pending.approval is not None and is_same(job.pending.approval, approval):
        return job
    options = job.pending.options
    asked = approval_question(approval, call.tool_use_id, changed=True, options=options)
    return job.model_copy(update={"pending": asked})


# -- answering and going on ---------------------------------------------------------------------------------------


def settle_answer(chat: Chat, question: Question, text: str) -> Prepare:
    """The answer becomes the result of the call that asked."""

    async def settle() -> Sequence[Turn]:
        chat.session.settle(
            ToolResultTurn(tool_use_id=question.tool_use_id, output=text), makes_left_open=True
        )
        return ()

    return settle


def go_on_with(chat: Chat, job: Job, text: str | None, turn_id: str | None = None) -> Prepare:
    """Ask the task to go on; an answer that was given right before the program ended is not lost.

    Args:
        chat: its conversation.
        job: as it was left.
        text: what the person says to it; blank asks to continue, None says nothing where the model is to answer anyway.
        turn_id: the id that the turn with this text gets; None for a new one.
    """

    async def go_on() -> Sequence[Turn]:
        _settle_known_answer(chat, job)
        return _words_to_go_on(job, chat, text, turn_id or new_id("turn"))

    return go_on


def _settle_known_answer(chat: Chat, job: Job) -> None:
    """Give the call that asked what was answered right before the program ended."""
    pending = job.pending
    if pending is None or pending.answer is None:
        return
    result = ToolResultTurn(tool_use_id=pending.tool_use_id, output=pending.answer)
    if pending.approval is not None:
        try:
            decision = read_decision(pending.answer, pending.options)
        except InvalidValue:
            return
        if decision.answer != "no":
            return  # nobody knows how far the call came; it is not made again
        result = _refused(pending, decision)
    if any(call.tool_use_id == pending.tool_use_id for call in chat.session.left_open):
        chat.session.settle(result)


def settle_approval(run: AgentRun, question: Question, decision: Decision) -> Prepare:
    """The call that waited is made by the run that goes on, or refused with the reason."""
    session, agreed = run.chat.session, question.approval

    async def settle() -> Sequence[Turn]:
        call = next((one for one in session.left_open if one.tool_use_id == question.tool_use_id), None)
        if call is None or agreed is None:
            raise InvalidValue("The conversation has moved on; this question no longer waits for an answer.")
        if decision.answer == "no":
            # First of all: it touches nothing, and once it is written no end of the program loses it.
            session.settle(_refused(question, decision), makes_left_open=True)
            await run.leave_waiting("thinking")
        else:
            await run.grant(call.tool_name, decision)
            await run.leave_waiting("tool_executing", current_tool=call.tool_name)
            run.agreed = {call.tool_use_id: agreed}
            session.reopen()
        return ()

    return settle


def _refused(question: Question, decision: Decision) -> ToolResultTurn:
    """The result of a call the person said no to."""
    return ToolResultTurn(
        tool_use_id=question.tool_use_id, output=f"Not run: {refusal(decision)}", is_error=True
    )


def _words_to_go_on(job: Job, chat: Chat, text: str | None, turn_id: str) -> Sequence[Turn]:
    """What is said to a task that goes on, and what goes before it.

    Words that began a task and never reached the conversation are said before those, and in place of `CONTINUE`.
    """
    words = (text or "").strip() and text
    said = [UserTurn(content=words or CONTINUE, id=turn_id)]
    last = next((turn for turn in reversed(chat.turns) if not is_aside(turn)), None)
    if text is None and isinstance(last, UserTurn | ToolResultTurn):
        said = []
    if job.status != "interrupted":
        return said
    note = f"The program ended while this task was {where_it_was(job)}; it goes on here."
    aside = NoticeTurn(content=note, kind="resumed")
    if job.step_count == 0 and all(turn.id != job.prompt_turn_id for turn in chat.turns):
        first = UserTurn(content=job.original_prompt, id=job.prompt_turn_id or new_id("turn"))
        return [aside, first, *(said if words else ())]
    return [aside, *said]
