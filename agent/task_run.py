"""One task while it runs: it follows the run's events, puts questions, asks for approval, and keeps its log.

A task is one run of a `Chat`, or several when the program was left in between; what it waits for takes as long
as the person takes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from agent.approval import (
    Decision,
    Grants,
    approval_of,
    approval_question,
    check_answer,
    is_same,
    read_decision,
    refusal,
)
from agent.assignment import NUDGE, Assignment
from agent.chat import Chat
from agent.events import AgentEnd, AgentStart, Event, StepEnd, StepStart, ToolEnd, ToolStart, TurnEnd
from agent.limits import Limits
from agent.models.base import Usage
from agent.models.prices import cost
from agent.models.stalls import Clock, SystemClock
from agent.prompt import MAY_BECOME_TASK, TASK_MODE
from agent.task import AgentTask, Approval, Mode, Question, Status, move, way
from agent.task_log import TaskLog
from agent.task_options import Stopwatch, TaskOptions
from agent.tool import BeforeAnswer, Block, HookContext, Tool, ToolContext
from agent.tools.control import CONTROL, TASK_COMPLETE, begin_task_tool, task_tools
from agent.turns import NoticeTurn, Turn, UserTurn, utc_now
from personas.errors import InvalidValue, PersonaError

log = logging.getLogger(__name__)

GO_ON_TASK = (
    "The task is still open. Go on with the next step; call task_complete when everything is done, or ask_user when "
    "you need an answer."
)
"""What the model is told after an answer of words alone."""


class TaskRun:
    """One task at work. Belongs to the thread of its event loop.

    Args:
        chat: the conversation it works in.
        task: what it is now.
        options: the person's settings.
        grants: what the person allowed for good.
        on_update: called with the task after each change.
        clock: the time.
        keep: whether it is kept on disk from the start; a message that is no task is kept once it waits.
    """

    def __init__(
        self,
        chat: Chat,
        task: AgentTask,
        *,
        options: TaskOptions,
        grants: Grants,
        on_update: Callable[[AgentTask], None],
        clock: Clock | None = None,
        keep: bool = True,
    ) -> None:
        self.chat = chat
        self.task = task
        self.begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.parked = False
        self._options = options
        self._grants = grants
        self._on_update = on_update
        self._log: TaskLog | None = None
        self._logs = keep
        self._kept = False
        self._ending: tuple[Status, dict[str, Any]] | None = None
        self._watch = Stopwatch(clock or SystemClock(), options.max_seconds, self._time_is_up)
        self._worked_before = task.worked_seconds
        self._granted: set[str] = set()
        self._answer: asyncio.Future[str] | None = None
        self._open: set[str] = set()
        self._summary: str | None = None
        self._ended_at: str | None = None
        self._stopping = False
        self._stop_now: Callable[[], None] = lambda: None

    # -- the run ---------------------------------------------------------------------------------------

    async def go(
        self,
        said: UserTurn | None,
        *,
        prepare: Callable[[], Awaitable[None]] | None = None,
        asides: Sequence[Turn] = (),
    ) -> AgentEnd | None:
        """Run until the task is over, stopped, or left waiting; return how the run ended, None if it could not.

        Args:
            said: what the person says, None to go on from where the conversation stands.
            prepare: what to do first, once the conversation is held.
            asides: turns that go before the words.
        """

        async def begin() -> None:
            if prepare is not None:
                await prepare()
            session_id = self.chat.session_id
            assert session_id is not None, "an open conversation has an id"
            self.task = self.task.model_copy(update={"session_id": session_id})
            await self.keep()

        unsubscribe = self.chat.subscribe(self._hear)
        end: AgentEnd | None = None
        try:
            end = await self.chat.send(said, self._assignment(begin, asides))
        except PersonaError as error:
            self._ending = ("error", {"error_message": str(error), "ended_at": self._ended_at or utc_now()})
            if self._kept:
                await self._keep_quietly(self._ended())
            if self.begun.done():
                raise
            self.begun.set_exception(error)
        finally:
            unsubscribe()
            self._watch.halt()
            if self._log is not None:
                self._log.close()
        return end

    def announce_end(self) -> None:
        """Say how the task ended, once nothing of it runs any more and its log has it."""
        if self._ending is not None and not self.parked:
            for step in way(self.task.status, self._ending[0])[:-1]:
                self._change(task=move(self.task, step))
            self._change(task=self._ended())

    def _ended(self) -> AgentTask:
        """The task as its end leaves it."""
        assert self._ending is not None
        status, changes = self._ending
        task = self.task
        for step in way(task.status, status):
            task = move(task, step)
        changes = {"current_tool": None, "pending": None, "ended_at": self._ended_at, **changes}
        worked = self._worked_before + self._watch.worked
        return task.model_copy(update={"worked_seconds": worked, **changes})

    def _assignment(self, begin: Callable[[], Awaitable[None]], asides: Sequence[Turn]) -> Assignment:
        options = self._options
        may_begin = self.task.mode == "chat" and options.begin_by_themselves
        tools: tuple[Tool, ...] = ()
        if self.task.mode == "task" or may_begin:
            tools = task_tools(self._ask_user, self._note_update)
        if may_begin:
            tools = (*tools, begin_task_tool(self._become_task))
        instructions = TASK_MODE if self.task.mode == "task" else MAY_BECOME_TASK if may_begin else ""
        return Assignment(
            instructions=instructions,
            tools=tools,
            gate=self._gate,
            limits=Limits(
                max_steps=options.max_steps,
                max_duration=None,
                max_tokens=options.max_tokens,
                max_cost=options.max_cost,
                price=lambda _model, _usage: self.task.cost,
                min_request_interval=options.request_pause if self.task.mode == "task" else 0.0,
            ),
            unit=self.task.id if self.task.mode == "task" or may_begin else None,
            prepare=begin,
            asides=asides,
            when_idle=self._when_idle,
        )

    def stop(self, reason: str = "") -> None:
        """Stop at once; what was done stays, and a notice says where."""
        if self._stopping:
            return
        self._stopping = True
        notice = None
        if self.task.mode == "task":
            where = f"at step {self.task.step_count}" if self.task.step_count else "before the first step"
            during = f", while {self.task.current_tool} ran" if self.task.current_tool else ""
            asked = ", waiting for an answer" if self.task.is_waiting else ""
            text = f"Stopped {where}{during}{asked}. What was done stays and can be undone as one."
            notice = NoticeTurn(content=text, kind="stopped")
        self._stop_now = lambda: self.chat.abort(reason or "stopped by the user", notice=notice)
        self._stop_now()

    def park(self) -> bool:
        """Leave a waiting task waiting on the disk and end the run; return whether it was waiting."""
        if not self.task.is_waiting or self._answer is None or self._answer.done():
            return False
        self.parked = True
        self.chat.park()
        return True

    # -- what the person says --------------------------------------------------------------------------

    def respond(self, text: str, question_id: str | None = None) -> None:
        """Answer the open question.

        Raises:
            InvalidValue: nothing is asked, another question is meant, or the answer is not understood.
        """
        question = self.task.pending
        if question is None or self._answer is None or self._answer.done():
            raise InvalidValue("The task asks nothing at the moment.")
        if question_id is not None and question_id != question.id:
            raise InvalidValue("That question is not open any more.")
        check_answer(question, text)
        self._change(pending=question.model_copy(update={"answer": text}))
        self._log_quietly()
        self._answer.set_result(text)

    # -- what happens ----------------------------------------------------------------------------------

    def _hear(self, event: Event) -> Awaitable[None] | None:
        if isinstance(event, AgentStart):
            self._watch.go()
            if not self.begun.done():
                self.begun.set_result(None)
            self._on_update(self.task)
            if self._stopping:
                self._stop_now()
        elif isinstance(event, StepStart):
            self._summary = None
            self._go_to("thinking", step_count=self.task.step_count + 1)
        elif isinstance(event, ToolStart):
            if event.call.tool_name not in CONTROL and not self._stopping:
                self._open.add(event.call.id)
                self._go_to("tool_executing", current_tool=event.call.tool_name)
        elif isinstance(event, ToolEnd):
            self._hear_tool_end(event)
        elif isinstance(event, TurnEnd):
            if isinstance(event.turn, UserTurn) and self.task.idle_steps:
                self._change(idle_steps=0)
        elif isinstance(event, StepEnd):
            self._count(event.usage)
            if event.tool_results and self.task.idle_steps:
                self._change(idle_steps=0)
            self._log_quietly()
        elif isinstance(event, AgentEnd) and not self.parked:
            # While the conversation is still held: nobody finds a task at work on which nobody works.
            self._watch.halt()
            self._ending = self._ending_of(event)
            return self._keep_quietly(self._ended())
        return None

    def _hear_tool_end(self, event: ToolEnd) -> None:
        self._open.discard(event.call.id)
        if event.call.tool_name == TASK_COMPLETE and not event.is_error:
            self._summary = str(event.call.input.get("summary", ""))
        if not self._open and self.task.status == "tool_executing":
            self._go_to("thinking", current_tool=None)

    def _count(self, usage: Usage) -> None:
        price = cost(self.chat.model.name, usage, self.chat.model.endpoint)
        known = self.task.cost
        self._change(
            usage=self.task.usage + usage,
            cost=None if price is None or known is None else known + price,
            worked_seconds=self._worked_before + self._watch.worked,
        )

    def _when_idle(self) -> Sequence[Turn]:
        """The model has nothing left to do: in a task it is told to go on, but not for ever."""
        if self.task.mode != "task" or self._summary is not None or self._stopping:
            return ()
        idle = self.task.idle_steps + 1
        if idle >= self._options.idle_steps:
            self._change(idle_steps=idle)
            text = f"Stopped after {idle} answers in a row that did nothing, without the task being called complete."
            self.chat.abort("idle", outcome="limit", notice=NoticeTurn(content=text, kind="limit"))
            return ()
        self._go_to("running", idle_steps=idle)
        return (NoticeTurn(content=GO_ON_TASK, kind=NUDGE),)

    def _time_is_up(self) -> None:
        minutes = self._options.max_seconds / 60
        text = f"Stopped after {minutes:.3g} minutes of work, the longest one task may take."
        self.chat.abort("time", outcome="limit", notice=NoticeTurn(content=text, kind="limit"))

    def _ending_of(self, end: AgentEnd) -> tuple[Status, dict[str, Any]]:
        """What the run's outcome makes of the task."""
        self._ended_at = utc_now()
        match end.outcome:
            case "completed":
                return "completed", {"summary": self._summary}
            case "failed":
                return "error", {"error_message": end.error.message if end.error else "The run failed."}
            case "refused":
                return "error", {"error_message": "The model refused to answer."}
            case "truncated" | "limit":
                return "limit", {}
            case _:
                return "cancelled", {}

    # -- questions and approvals -----------------------------------------------------------------------

    async def _ask_user(self, text: str, options: Sequence[str], ctx: ToolContext) -> str:
        call_id = self._wire_id(ctx.call_id)
        question = Question(text=text, options=tuple(options), tool_use_id=call_id)
        answer = await self.ask(question, "waiting_user")
        self._change(task=self.task.with_note(f"Asked: {text} - Answered: {answer}"))
        self._go_to("thinking", pending=None)
        return answer

    def _wire_id(self, call_id: str) -> str:
        """The wire id of a call turn of this conversation."""
        for turn in reversed(self.chat.turns):
            if turn.id == call_id and turn.type == "tool_call":
                return str(getattr(turn, "tool_use_id", call_id))
        return call_id

    def _note_update(self, text: str) -> None:
        self._change(task=self.task.with_note(text))

    def _become_task(self) -> str:
        mode: Mode = "task"
        self._change(mode=mode)
        self._logs = True
        return TASK_MODE.strip()

    async def _gate(self, context: HookContext) -> BeforeAnswer:
        """Ask for the person's word where the rules want it."""
        tool, home = context.tool, self.chat.store.home.root
        verdict = self._options.approval.verdict(tool)
        if verdict == "deny":
            return Block("the owner's settings do not allow this tool.")
        if verdict == "allow" or tool.name in self._granted or self._grants.has(home, tool.name):
            return None
        changed = False
        asked: Approval | None = None
        while True:
            try:
                approval = await asyncio.to_thread(
                    approval_of, self.chat.store, self.chat.persona_id, tool, context.input
                )
            except PersonaError as error:
                return Block(str(error))
            if asked is not None and is_same(asked, approval):
                return None
            changed, asked = asked is not None, approval
            question = approval_question(approval, context.call.tool_use_id, changed=changed)
            decision = read_decision(await self.ask(question, "waiting_approval"))
            self._go_to("tool_executing", pending=None)
            if decision.answer == "no":
                return Block(refusal(decision))
            await self.grant(tool.name, decision)
            if decision.answer != "once":
                return None

    async def grant(self, tool_name: str, decision: Decision) -> None:
        """Keep what a decision allows beyond this one call."""
        if decision.answer in ("task", "always"):
            self._granted.add(tool_name)
        if decision.answer == "always":
            try:
                await asyncio.to_thread(self._grants.add, self.chat.store.home.root, tool_name)
            except PersonaError as error:
                self.chat.problems.append(str(error))

    async def ask(self, question: Question, status: Status) -> str:
        """Put a question and wait for its answer, for hours if need be; it is on the disk before it is shown."""
        self._watch.halt()
        self._answer = asyncio.get_running_loop().create_future()
        self._logs = True
        for step in way(self.task.status, status)[:-1]:
            self._go_to(step)
        waiting = move(
            self.task, status, pending=question, worked_seconds=self._worked_before + self._watch.worked
        )
        try:
            await self.keep(waiting)
            await asyncio.to_thread(self.chat.note_seen)
            self._change(task=waiting)
            return await self._answer
        finally:
            self._answer = None
            self._watch.go()

    # -- the task itself -------------------------------------------------------------------------------

    def _go_to(self, status: Status, **changes: Any) -> None:
        """Go to a state, through `thinking` where the table asks for it, and say so."""
        if self.parked or self.task.is_over:
            return
        steps = way(self.task.status, status)
        for step in steps[:-1]:
            self._change(task=move(self.task, step))
        if steps:
            self._change(task=move(self.task, status, **changes))
        elif changes:
            self._change(**changes)

    def _change(self, *, task: AgentTask | None = None, **changes: Any) -> None:
        if self.parked:
            return
        task = task if task is not None else self.task.model_copy(update=changes)
        if task != self.task:
            self.task = task
            self._on_update(task)

    async def leave_waiting(self, status: Status, **changes: Any) -> None:
        """Take up a task that was found waiting; the log has it before anything is done."""
        self._go_to(status, pending=None, **changes)
        await self.keep()

    async def keep(self, task: AgentTask | None = None) -> None:
        """Write the task to its log, lasting when this returns.

        Raises:
            PersonaError: the disk refused.
        """
        if self._logs and not self.parked:
            self._kept = True
            await asyncio.to_thread(self._open_log().write, task or self.task, sync=True)

    async def _keep_quietly(self, task: AgentTask) -> None:
        try:
            await self.keep(task)
        except PersonaError as error:
            log.warning("the end of the task could not be written: %s", error)

    def _log_quietly(self) -> None:
        """Write it where a disk that refuses must not end the run: the conversation has its own log."""
        if self._logs and not self.parked:
            try:
                self._open_log().write(self.task)
            except PersonaError as error:
                log.warning("the task could not be written: %s", error)

    def _open_log(self) -> TaskLog:
        if self._log is None:
            self._log = TaskLog(self.chat.store.home, self.task.session_id)
        return self._log
