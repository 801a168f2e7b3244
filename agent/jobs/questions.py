"""What a job of the agent that asks is made of: its state and log, its questions and approvals, each on the disk first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from agent.chat.chat import Chat
from agent.core.redaction import text_of
from agent.core.tool import BeforeAnswer, Block, HookContext, ToolContext
from agent.jobs.approval_policy import (
    Decision,
    approval_of,
    approval_question,
    check_answer,
    is_same,
    read_decision,
    refusal,
)
from agent.jobs.job import Approval, Job, Question, Status, move, way
from agent.jobs.job_log import JobLog
from agent.jobs.options import JobOptions, Meter
from agent.jobs.saved_approvals import JobApprovals
from agent.tools import effect_of_call
from agent.transcript.job_records import Event
from personas.errors import InvalidValue, PersonaError


class AskingJob:
    """A job that can ask: its state as it changes, and the question it waits with.

    Args:
        chat: the conversation it works in.
        job: what it is now.
        options: the person's settings.
        allowed: what the person allowed.
        log: its log.
        meter: counts what it uses up; it stands still while it waits.
        on_update: called with the job after each change.

    Attributes:
        agreed: by the call's wire id, what the person agreed to before this run began.
        is_released: whether its run was ended in memory alone: on the disk it stays as it is.
    """

    def __init__(
        self,
        chat: Chat,
        job: Job,
        *,
        options: JobOptions,
        allowed: JobApprovals,
        log: JobLog,
        meter: Meter,
        on_update: Callable[[Job], None],
    ) -> None:
        self.chat = chat
        self.job = job
        self.is_released = False
        self._options = options
        self._allowed = allowed
        self._log = log
        self._has_asked = False
        self._meter = meter
        self._on_update = on_update
        self._answer: asyncio.Future[str] | None = None
        self._answering = False
        self.agreed: dict[str, Approval] = {}

    async def respond(self, text: str, question_id: str | None = None) -> None:
        """Answer the open question; the answer is on the disk before anything is done with it.

        Raises:
            InvalidValue: nothing is asked, another question is meant, or the answer is not understood.
            PersonaError: the disk refuses; the question is still open.
        """
        question, answer = self.job.pending, self._answer
        if question is None or answer is None or answer.done() or self._answering:
            raise InvalidValue("The task is not asking anything.")
        if question_id is not None and question_id != question.id:
            raise InvalidValue("That question is no longer open.")
        check_answer(question, text)
        answered = question.model_copy(update={"answer": text})
        self._answering = True
        try:
            await self.keep("answered", self.job.model_copy(update={"pending": answered}))
        finally:
            self._answering = False
        if answer.done():  # stopped meanwhile
            raise InvalidValue("The task is not asking anything.")
        self._change(pending=answered)
        answer.set_result(text)

    async def ask_user(self, text: str, options: Sequence[str], ctx: ToolContext) -> str:
        call_id = self._wire_id(ctx.call_id)
        question = Question(text=text, options=tuple(options), tool_use_id=call_id)
        answer = await self.ask(question, "waiting_user")
        self._change(job=self.job.with_note(f"Asked: {text} - Answered: {answer}"))
        self._go_to("thinking", pending=None)
        return answer

    def _wire_id(self, call_id: str) -> str:
        """The wire id of a call turn of this conversation."""
        for turn in reversed(self.chat.turns):
            if turn.id == call_id and turn.type == "tool_call":
                return str(getattr(turn, "tool_use_id", call_id))
        return call_id

    async def _gate(self, context: HookContext) -> BeforeAnswer:
        """Ask for the person's word where the rules want it."""
        tool = context.tool
        try:
            effect = await asyncio.to_thread(effect_of_call, self.chat.tool_store, tool.name, context.input)
        except PersonaError as error:
            return Block(text_of(error))
        verdict = self._options.approval.verdict(tool, effect)
        if verdict == "deny":
            return Block("the owner's settings do not allow this tool.")
        if (agreed := self.agreed.pop(context.call.tool_use_id, None)) is not None:
            return await self._check_agreed(agreed, context)
        options = self._options.approval.answers(tool.name)
        if verdict == "allow" and (
            self.job.kind == "task" or not await asyncio.to_thread(self.chat.costs, tool.name, context.input)
        ):
            return None
        if await asyncio.to_thread(self._allowed.has, tool.name, for_good="always" in options):
            return None
        changed = False
        asked: Approval | None = None
        while True:
            try:
                approval = await self._approval(context)
            except PersonaError as error:
                return Block(text_of(error))
            if asked is not None and is_same(asked, approval):
                return None
            changed, asked = asked is not None, approval
            wire_id = context.call.tool_use_id
            question = approval_question(approval, wire_id, changed=changed, options=options)
            decision = read_decision(await self.ask(question, "waiting_approval"), options)
            self._go_to("tool_executing", pending=None)
            if decision.answer == "no":
                return Block(refusal(decision))
            await self.grant(tool.name, decision)
            if decision.answer != "once":
                return None

    async def _check_agreed(self, agreed: Approval, context: HookContext) -> BeforeAnswer:
        """Let a call through that the person has agreed to, unless it would do something else by now."""
        try:
            if is_same(agreed, await self._approval(context)):
                return None
        except PersonaError as error:
            return Block(text_of(error))
        return Block("the file changed after it was agreed to. Look again.")

    async def _approval(self, context: HookContext) -> Approval:
        """What the person is asked to agree to, as the call stands now."""
        store, persona_id = self.chat.tool_store, self.chat.persona_id
        return await asyncio.to_thread(approval_of, store, persona_id, context.tool, context.input)

    async def grant(self, tool_name: str, decision: Decision) -> None:
        """Keep what a decision allows beyond this one call."""
        if decision.answer in ("task", "always"):
            may_always, job = "always" in self._options.approval.answers(tool_name), self.job
            always = decision.answer == "always" and may_always
            allow = partial(self._allowed.allow, job.session_id, job.id, tool_name, always=always)
            try:
                await asyncio.to_thread(allow)
            except PersonaError as error:
                self.chat.problems.append(text_of(error))

    async def ask(self, question: Question, status: Status) -> str:
        """Put a question and wait for its answer, for hours if need be; it is on the disk before it is shown."""
        self._meter.watch.halt()
        self._answer = asyncio.get_running_loop().create_future()
        for step in way(self.job.status, status)[:-1]:
            self._go_to(step)
        self._count()  # the answer that asks, too: the program may end while it waits
        waiting = move(self.job, status, pending=question)
        try:
            await self.keep("asked", waiting)
            self._has_asked = True
            await asyncio.to_thread(self.chat.session.save_known)
            self._change(job=waiting)
            return await self._answer
        finally:
            self._answer = None
            self._meter.watch.go()

    # -- the task itself -------------------------------------------------------------------------------

    def _go_to(self, status: Status, **changes: Any) -> None:
        """Go to a state, through `thinking` where the table asks for it, and say so."""
        if self.is_released or self.job.is_over:
            return
        steps = way(self.job.status, status)
        for step in steps[:-1]:
            self._change(job=move(self.job, step))
        if steps:
            self._change(job=move(self.job, status, **changes))
        elif changes:
            self._change(**changes)

    def _change(self, *, job: Job | None = None, **changes: Any) -> None:
        if self.is_released:
            return
        job = job if job is not None else self.job.model_copy(update=changes)
        if job != self.job:
            self.job = job
            self._on_update(job)

    async def leave_waiting(self, status: Status, **changes: Any) -> None:
        """Take up a task that was found waiting: observers hear of it, and the log has it before the agent does anything."""
        self._go_to(status, pending=None, **changes)
        await self.keep("resumed", self.job)

    async def keep(self, event: Event, job: Job) -> None:
        """Write an event to the log, lasting when this returns.

        Raises:
            PersonaError: the disk refused.
        """
        if not self.is_released:
            await asyncio.to_thread(self._log.write, event, job, sync=True)

    def _count(self) -> None:
        self._change(job=self._meter.count(self.job, self.chat.usage, self.chat.model))
