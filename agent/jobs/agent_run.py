"""One job of the agent at work: it follows the run's events and writes the job's log.

A job is one run of a `Chat`, or several when the program ended in between. It may wait for the person for hours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from agent.chat.chat import Chat
from agent.chat.run_spec import RunSpec
from agent.chat.system_prompt import MAY_BECOME_TASK, TASK_MODE
from agent.core.clock import Clock
from agent.core.events import AgentEnd, AgentStart, Event, StepEnd, StepStart, ToolEnd, ToolStart, TurnEnd
from agent.core.model import ModelError
from agent.core.redaction import text_of
from agent.core.tool import TASK_COMPLETE, Tool
from agent.core.turns import NUDGE, NoticeTurn, Turn, UserTurn, utc_now
from agent.jobs.job import OVER, AgentKind, Job, Status, move, way
from agent.jobs.job_log import JobLog
from agent.jobs.messages import (
    GO_ON_TASK,
    ending_of,
    failure_notice,
    has_changed,
    has_written,
    idle_notice,
    stop_notice,
    time_notice,
)
from agent.jobs.options import JobOptions, Meter, budget_notices, job_limits, with_step
from agent.jobs.questions import AskingJob
from agent.jobs.recovery import Prepare, ReplacedJob, refuse_when_changed
from agent.jobs.saved_approvals import JobApprovals, SavedApprovals
from agent.tools import is_control, make_tools
from agent.tools.context import ToolEnvironment
from personas.errors import PersonaError
from personas.versions.undo import is_together


class AgentRun(AskingJob):
    """One job of the agent at work. Belongs to the thread of its event loop.

    Args:
        chat: the conversation it works in.
        job: what it is now.
        options: the person's settings.
        grants: what the person allowed for good, or for this task in an earlier program.
        is_trusted: whether what was allowed for this task still counts in its home.
        on_update: called with the job after each change.
        on_end: called with what it is once nothing of it runs any more.
        clock: the time.
        found: what an earlier program left and this goes on with, as it was read; None for what is new. A new
            message that is no task is kept on disk once it waits.
    """

    def __init__(
        self,
        chat: Chat,
        job: Job,
        *,
        options: JobOptions,
        grants: SavedApprovals,
        is_trusted: Callable[[Path], bool],
        on_update: Callable[[Job], None],
        on_end: Callable[[Job], None] = lambda _job: None,
        clock: Clock | None = None,
        found: Job | None = None,
    ) -> None:
        super().__init__(
            chat,
            job,
            options=options,
            allowed=JobApprovals(grants, chat.store.home.root, is_trusted),
            log=JobLog(lambda: chat.session.log, found),
            meter=Meter(job, options, self._time_is_up, clock),
            on_update=on_update,
        )
        self.begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._found = found
        self._on_end = on_end
        self._replaced = ReplacedJob(chat, grants)
        self._is_logged = False
        self._ending: tuple[Status, dict[str, Any]] | None = None
        self._open: set[str] = set()
        self._wrote = False
        self._summary: str | None = None
        self._ended_at: str | None = None
        self._stopped: tuple[str, Job] | None = None  # why, and what it was then
        self._by_person = False  # it was the person who stopped it

    # -- the run ---------------------------------------------------------------------------------------

    async def go(self, said: UserTurn | None, prepare: Prepare | None = None) -> AgentEnd | None:
        """Run until the task is over, stopped, or left waiting; return how the run ended, None if it could not.

        Args:
            said: what the person says, None to go on from where the conversation stands.
            prepare: what to do first, once the conversation's lock is held.
        """

        async def begin() -> Sequence[Turn]:
            # What was read before the conversation's lock was held may be old.
            turns: list[Turn] = []
            replaced: Sequence[Turn] = ()
            if self._found is not None:
                await asyncio.to_thread(refuse_when_changed, self.chat.store, self._found)
            else:
                turns.extend(replaced := await asyncio.to_thread(self._find_replaced))
            if prepare is not None:
                turns.extend(await prepare())
            session_id = self.chat.session_id
            assert session_id is not None, "an open conversation has an id"
            self.job = self.job.model_copy(update={"session_id": session_id, "model": self.chat.model.name})
            await self._log_beginning()
            if self._found is None:
                if self.job.kind == "task":
                    await self._close_replaced(replaced[0].id if replaced else "")
            else:
                await asyncio.to_thread(self._load_earlier)
                self._stop_if_asked()  # only now it is known what it has changed
            return turns

        unsubscribe = self.chat.subscribe(self._on_event)
        end: AgentEnd | None = None
        try:
            end = await self.chat.send(said, self._run_spec(begin))
        except PersonaError as error:
            self._ending = (
                "error",
                {"error_message": text_of(error), "ended_at": self._ended_at or utc_now()},
            )
            if self._is_logged and not self.is_released:
                await (self._log_ending(self._ended()) or asyncio.sleep(0))
            if self.begun.done():
                raise
            self.begun.set_exception(error)
        finally:
            unsubscribe()
            self._meter.watch.halt()
            if self._ending is not None and self._ending[0] in OVER:
                await asyncio.to_thread(self._allowed.end, self.job.session_id, self.job.id)
        return end

    async def _log_beginning(self) -> None:
        """Write that the job begins or goes on. The words of a plain message are in the conversation in a moment.

        Raises:
            PersonaError: the disk refused, and the job is one to come back to.
        """
        if self._found is not None:
            await self.keep("resumed", self.job)
        elif self.job.kind == "task":
            await self.keep("started", self.job)
        else:
            if (left := self._replaced.left) is not None and left.kind == "task":
                self._change(left=left.id)
            self._log.write_quietly("started", self.job.model_copy(update={"original_prompt": ""}))
        self._is_logged = True

    def _log_ending(self, ended: Job) -> Awaitable[None] | None:
        """Write how the job ended; a plain message waits for no disk."""
        is_kept = self._found is not None or ended.kind == "task" or self._has_asked
        write = partial(self._log.write_quietly, "ended", ended, sync=is_kept, outcome=ended.status)
        if is_kept:
            return asyncio.to_thread(write)
        write()
        return None

    def _find_replaced(self) -> Sequence[Turn]:
        """Find the task that this one replaces, and return the notice that says so. Blocking."""
        self._replaced.find()
        if self.job.kind != "task":
            return ()
        replaced = self._replaced.notice()
        return () if replaced is None else (replaced,)

    async def _close_replaced(self, after: str) -> None:
        """Close the task that this one replaces, now that this one is on the disk.

        Args:
            after: the turn after which the conversation says so; empty where it does not.
        """
        await asyncio.to_thread(self._replaced.close, self.job, after)

    def _load_earlier(self) -> None:
        """Load what this task changed in an earlier program, and what was allowed for it. Blocking."""
        self._wrote |= has_changed(self.chat.store, self.job)
        self._allowed.take_up(self.job.session_id, self.job.id)

    def announce_end(self) -> None:
        """Say how the task ended, once nothing of it runs any more and its log has it."""
        if self._ending is not None and not self.is_released:
            for step in way(self.job.status, self._ending[0])[:-1]:
                self._change(job=move(self.job, step))
            self._change(job=self._ended())
        self._on_end(self.job)

    def _ended(self) -> Job:
        """The task as its end leaves it."""
        assert self._ending is not None
        status, changes = self._ending
        job = self.job
        for step in way(job.status, status):
            job = move(job, step)
        changes = {"current_tool": None, "pending": None, "ended_at": self._ended_at, **changes}
        return self._meter.timed(job).model_copy(update=changes)

    def _run_spec(self, begin: Prepare) -> RunSpec:
        options, model = self._options, self.chat.model
        may_begin = self.job.kind == "chat" and options.begin_by_themselves
        tools: tuple[Tool, ...] = ()
        if self.job.kind == "task" or may_begin:
            env = ToolEnvironment(self.chat.store, self.job.persona_id, job=self)
            tools = make_tools(env, "in tasks", *(("before tasks",) if may_begin else ()))
        instructions = TASK_MODE if self.job.kind == "task" else MAY_BECOME_TASK if may_begin else ""
        return RunSpec(
            instructions=instructions,
            tools=tools,
            gate=self._gate,
            limits=job_limits(
                options, model, self.job, may_begin=may_begin, is_task=lambda: self.job.kind == "task"
            ),
            unit=self.job.id
            if self.job.kind == "task" or may_begin or self.job.proposes or is_together(self.job.id)
            else None,
            proposes=self.job.proposes,
            in_reach=self._stop_if_asked,
            prepare=begin,
            asides=budget_notices(options, model, self.job),
            when_idle=self._when_idle,
            when_failed=self._when_failed,
        )

    def stop(self, reason: str = "") -> None:
        """Stop at once, by the person's word: it is over. What was done stays, and a notice says where."""
        if self._stopped is None:
            self._stopped, self._by_person = (reason or "stopped by the user", self.job), True
            self._stop_if_asked()

    def interrupt(self, reason: str) -> None:
        """End the run at once for a program that ends: the task is interrupted, and the next one can go on with it."""
        if self.job.is_waiting and self._answer is not None:
            self.release()  # an answer that was just given is in the log: going on gives it to the call
        elif self._stopped is None:
            self._stopped = (reason, self.job)
            self._stop_if_asked()

    def _stop_if_asked(self) -> None:
        if self._stopped is not None:
            reason, job = self._stopped
            is_task_over = self._by_person and job.kind == "task"
            self.chat.abort(reason, notice=stop_notice(job, self._wrote) if is_task_over else None)

    def suspend(self) -> bool:
        """Leave a waiting task waiting on the disk and end the run; return whether it was waiting."""
        if not self.job.is_waiting or self._answer is None or self._answer.done():
            return False
        self.release()
        return True

    def release(self) -> None:
        """End the run in memory alone: on the disk it stays as it is now."""
        self.is_released = True
        self.chat.release()

    # -- what happens ----------------------------------------------------------------------------------

    def _on_event(self, event: Event) -> Awaitable[None] | None:
        if isinstance(event, AgentStart):
            self._meter.watch.go()
            if not self.begun.done():
                self.begun.set_result(None)
            self._on_update(self.job)
        elif isinstance(event, StepStart):
            self._summary = None
            further = with_step(self.job)
            is_kept = self.job.kind == "task" or self._has_asked
            if self.job.step_count and is_kept and not self.is_released:
                self._log.write_quietly("step", self.job.model_copy(update=further))
            if self.agreed and event.step == 1:  # the call that waited is made first, as the status says
                self._change(step_count=further["step_count"], used=further["used"])
            else:
                self._go_to("thinking", **further)
        elif isinstance(event, ToolStart):
            if not is_control(event.call.tool_name) and self._stopped is None:
                self._open.add(event.call.id)
                self._go_to("tool_executing", current_tool=event.call.tool_name)
        elif isinstance(event, ToolEnd):
            self._on_tool_end(event)
        elif isinstance(event, TurnEnd):
            if isinstance(event.turn, UserTurn) and self.job.idle_steps:
                self._change(idle_steps=0)
        elif isinstance(event, StepEnd):
            self._count()
            if event.tool_results and self.job.idle_steps:
                self._change(idle_steps=0)
        elif isinstance(event, AgentEnd) and not self.is_released:
            # While the conversation is still held: nobody finds a task at work on which nobody works.
            self._meter.watch.halt()
            self._ended_at = utc_now()
            self._ending = ending_of(event, self._summary, is_stopped=self._by_person)
            return self._log_ending(self._ended())
        return None

    def _on_tool_end(self, event: ToolEnd) -> None:
        self._open.discard(event.call.id)
        if not event.is_error and not self.job.proposes and has_written(event):
            self._wrote = True
        if event.call.tool_name == TASK_COMPLETE and not event.is_error:
            self._summary = str(event.call.input.get("summary", ""))
        if not self._open and self.job.status == "tool_executing":
            self._go_to("thinking", current_tool=None)

    def _when_idle(self) -> Sequence[Turn]:
        """The model answered in words alone: in a task it is asked to go on, but not for ever."""
        if self.job.kind != "task" or self._stopped is not None:
            return ()
        idle = self.job.idle_steps + 1
        if idle >= self._options.idle_steps:
            self._change(idle_steps=idle)
            self.chat.abort("idle", outcome="limit", notice=idle_notice(idle))
            return ()
        self._go_to("running", idle_steps=idle)
        return (NoticeTurn(content=GO_ON_TASK, kind=NUDGE),)

    def _when_failed(self, error: ModelError) -> NoticeTurn:
        """The conversation says why it failed, for whoever comes back to it."""
        return failure_notice(self.job, error)

    def _time_is_up(self) -> None:
        self.chat.abort("time", outcome="limit", notice=time_notice(self._options.max_seconds))

    def _last_turn(self) -> str:
        turns = self.chat.turns
        return turns[-1].id if turns else ""

    def note_update(self, text: str) -> None:
        self._change(job=self.job.with_note(text))

    async def become_task(self) -> str:
        kind: AgentKind = "task"
        after = self._last_turn()
        replaced = await asyncio.to_thread(self._replaced.notice)
        await self.keep("changed", self.job.model_copy(update={"kind": kind, "left": ""}))
        await self._close_replaced(after)
        self._change(kind=kind, left="")
        return TASK_MODE.strip() if replaced is None else f"{replaced.content}\n{TASK_MODE.strip()}"
