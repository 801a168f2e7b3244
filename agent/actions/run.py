"""One run of one action, from its beginning to its end, whichever kind it is of.

A run is called again with the same id where the program that was at it is gone. It goes on from what is stored: nothing
that is stored is asked again, and a call of a tool that began and has no result is not made again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from agent.actions import run_log
from agent.actions.report import report_text
from agent.actions.run_log import BUSY, ActionRun
from agent.actions.times import stamp
from agent.chat.chat import Chat, ChatOptions
from agent.core.clock import Clock
from agent.core.events import AgentEnd
from agent.core.model import DECLINED, Model, Request
from agent.core.redaction import report, text_of
from agent.core.turns import FAILED, NoticeTurn
from agent.jobs.agent_jobs import AgentJobs
from agent.jobs.job import Job
from agent.jobs.messages import time_notice
from agent.jobs.options import JobOptions
from agent.jobs.saved_approvals import SavedApprovals
from agent.models.anthropic.error_mapping import with_next_step
from agent.outputs.agent_controls import AgentOutputs
from agent.outputs.evaluator import Evaluator
from agent.outputs.model_reply import ModelReply
from agent.outputs.rate_limiter import RateLimiter
from agent.outputs.report import PersonaReport
from agent.outputs.variant import read_runnable
from agent.tools.context import NotWritten, T, write_in_thread
from agent.transcript.session_log import Session
from agent.transcript.session_store import (
    AgentAtWork,
    agent_lock_path,
    is_held,
    lock_path,
    session_lock,
)
from personas.actions.document import Action
from personas.actions.states import ActionState
from personas.errors import InvalidValue, PersonaError
from personas.files.home import Home
from personas.files.lock import holder
from personas.persona import TestInput
from personas.store import Store, utc_now

log = logging.getLogger(__name__)

PATIENCE = 12
"""Further attempts at a request, about five minutes: nobody is there who would send it again."""
LOOK = 1.0
"""Seconds between two looks whether the run was cancelled."""
BEGINS_WITHIN = timedelta(minutes=1)
"""By then a run that began holds its lock."""
NOT_CONNECTED = "No model is connected that answers as the persona; `persona doctor` shows what is set, /model connects one."
NOT_DONE = "The offline model could not do it; connect a real one."

Act = Callable[[AgentJobs, Chat], Awaitable[Job]]
"""Begins the agent's work, or goes on with it; returns the job, which may be over already."""
Follow = Callable[[AgentJobs, Chat, Act], Awaitable[object]]
"""Calls an `Act` and returns once the agent is idle, or left waiting for an answer."""


async def _anybody() -> None:
    """The fence of a run that nobody else takes over."""


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """What runs of actions are given, by the person's settings.

    Attributes:
        store: the home.
        make_model: makes the agent's model; may block.
        evaluator: runs test inputs, and knows the models of personas.
        chat, jobs: what the settings say about conversations and tasks.
        grants: what the person allowed for good; None: nothing.
        now: the time of day.
        clock: by which time limits go; None: the machine's.
    """

    store: Store
    make_model: Callable[[], Model]
    evaluator: Evaluator
    chat: ChatOptions
    jobs: JobOptions
    grants: SavedApprovals | None = None
    now: Callable[[], datetime] = utc_now
    clock: Clock | None = None


class LimitReached(PersonaError):
    """A run has met a limit of its action."""


class RunSuperseded(PersonaError):
    """The run was cancelled, or has ended in another program."""


async def run_action(
    context: RunContext,
    action: Action,
    *,
    run_id: str,
    due: datetime | None = None,
    fence: Callable[[], Awaitable[None]] | None = None,
    follow: Follow | None = None,
    on_wait: Callable[[str], None] = lambda _why: None,
    on_report: Callable[[PersonaReport], None] = lambda _report: None,
) -> ActionRun:
    """Run an action and return the run: over, or waiting for the person's answer.

    Cancelled, it is interrupted; where there is a fence, it ends in this program alone, and goes on in another one.

    Args:
        context: what it is given.
        action: as its file says.
        run_id: a new id, or that of the run that goes on.
        due: the due time it is for; None: somebody runs it by hand.
        fence: raises where this program was given up; asked before anything is stored. None: nobody takes it over.
        follow: sees the agent's work to its end; None: nobody is there, and a question leaves it waiting.
        on_wait: told why it waits for its persona.
        on_report: told the verdicts of a run of test inputs.

    Raises:
        AgentAtWork: without `follow`: the agent works for the persona in another conversation; this run waits.
        PersonaError: what `fence` raised, or the run's log cannot be written.
    """
    home = context.store.home
    known = await asyncio.to_thread(run_log.find_run, home, run_id, action.id)
    begin = partial(run_log.begin, home, action, run_id, now=context.now(), due=due)
    run = known if known is not None else await asyncio.to_thread(begin)
    if run.is_over:
        return run
    if known is None and due is None:
        await asyncio.to_thread(_end_left, context, action)
    if known is not None and fence is not None:
        await asyncio.to_thread(_break_locks, context.store, action.persona, run_id)
    work = _Run(context, action, run, fence or _anybody, follow or unattended, on_wait, on_report)
    with (
        nullcontext() if action.kind == "agent" else session_lock(context.store, run_id)
    ):  # whose chat holds it
        return await work.go()


async def unattended(jobs: AgentJobs, chat: Chat, act: Act) -> None:
    """Follow the agent's work with nobody there: a question leaves it waiting."""
    loop, persona_id = asyncio.get_running_loop(), chat.persona_id
    jobs.observe(lambda job: loop.call_soon(jobs.suspend, persona_id) if job.is_waiting else None)
    await act(jobs, chat)
    await jobs.wait(persona_id)


def _end_left(context: RunContext, action: Action) -> None:
    """End the runs of an action that somebody ran by hand and whose program is gone. Blocking."""
    begun_by = stamp(context.now() - BEGINS_WITHIN)
    for run in run_log.runs(context.store.home, action.id):
        is_left = run.state is ActionState.RUNNING and run.due is None and (run.started_at or "") < begun_by
        if is_left and not is_held(context.store, run.id):
            run_log.end(
                context.store.home,
                action.id,
                run.id,
                ActionState.INTERRUPTED,
                now=context.now(),
                why="The program ended during the run.",
            )


def _break_locks(store: Store, persona_id: str, run_id: str) -> None:
    """Take the locks of a run from a program that was given up and is there still, stopped or hanging."""
    pid = holder(lock_path(store, run_id))
    for path in (lock_path(store, run_id), agent_lock_path(store, persona_id)):
        if pid and holder(path) == pid:
            path.unlink(missing_ok=True)


class _Run:
    """A run at work. Its state is in the log of runs; here is what ends it."""

    def __init__(
        self,
        context: RunContext,
        action: Action,
        run: ActionRun,
        fence: Callable[[], Awaitable[None]],
        follow: Follow,
        on_wait: Callable[[str], None],
        on_report: Callable[[PersonaReport], None],
    ) -> None:
        self.context, self.action, self.run = context, action, run
        self._ask_fence, self._follow = fence, follow
        self._on_wait, self._on_report = on_wait, on_report
        self._lost: BaseException | None = None  # what the fence raised
        self._noting = asyncio.Lock()
        self._notes: set[asyncio.Task[None]] = set()
        self._jobs: AgentJobs | None = None
        self._pace: _RunPace | None = None

    @property
    def _home(self) -> Home:
        return self.context.store.home

    async def go(self) -> ActionRun:
        kinds = {"agent": self._agent, "persona": self._persona, "test": self._test}
        work = asyncio.ensure_future(kinds[self.action.kind]())
        watch = asyncio.ensure_future(self._watch(work))
        is_stopped = False
        try:
            values = await work
        except LimitReached as limit:
            values = {**self._used(), "state": ActionState.INTERRUPTED, "why": str(limit)}
        except AgentAtWork:
            raise
        except Exception as error:
            if error is self._lost:
                raise
            why = text_of(error)
            if not isinstance(error, PersonaError):
                report(log, f"the run {self.run.id} failed unexpectedly", error)
                why = f"It failed unexpectedly ({type(error).__name__}); state/persona.log says more."
            values = {**self._used(), "state": ActionState.FAILED, "why": why}
        except asyncio.CancelledError:
            if self._ask_fence is not _anybody and not self.run.is_over:
                raise
            is_stopped = not self.run.is_over
            values = {"state": ActionState.INTERRUPTED, "why": "It was stopped; what it stored stays."}
        finally:
            watch.cancel()
            if not work.done():
                work.cancel()
                await asyncio.wait({work})
            if self._notes:
                await asyncio.wait(self._notes)
        if self._lost is not None:
            raise self._lost
        with suppress(RunSuperseded):
            await self._note(**values)
        if is_stopped:
            raise asyncio.CancelledError
        return self.run

    # -- its state -------------------------------------------------------------------------------------

    async def fence(self) -> None:
        """Make sure that this program may still store something of the run.

        Raises:
            PersonaError: it was given up.
        """
        try:
            await self._ask_fence()
        except BaseException as error:
            self._lost = error
            raise

    async def _note(self, **values: Any) -> None:
        """Write to the log of runs what the run is now.

        Raises:
            Lost: it is over there.
            PersonaError: this program was given up, or the disk refuses.
        """
        async with self._noting:
            if not values or all(getattr(self.run, name) == value for name, value in values.items()):
                return
            await self.fence()
            change = {"now": self.context.now(), **values}
            try:
                self.run = await asyncio.to_thread(
                    lambda: run_log.change(self._home, self.action.id, self.run.id, **change)
                )
            except InvalidValue as error:
                found = await asyncio.to_thread(run_log.find_run, self._home, self.run.id, self.action.id)
                self.run = found or self.run
                raise RunSuperseded(str(error)) from None

    def _note_soon(self, **values: Any) -> None:
        async def note() -> None:
            try:
                await self._note(**values)
            except PersonaError as error:
                log.warning("the state of the run %s could not be written: %s", self.run.id, error)

        task = asyncio.create_task(note())
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)

    async def _watch(self, work: asyncio.Future[Any]) -> None:
        """End the work once the person has cancelled the run in another program."""
        while True:
            await asyncio.sleep(LOOK)
            with suppress(PersonaError):
                run = await asyncio.to_thread(run_log.find_run, self._home, self.run.id, self.action.id)
                if run is not None and run.is_over:
                    self.run = run
                    if self._jobs is not None:
                        self._jobs.stop(self.action.persona, run.why)
                    else:
                        work.cancel()
                    return

    # -- kind agent ------------------------------------------------------------------------------------

    async def _agent(self) -> dict[str, Any]:
        """The agent works in a conversation of its own until it says that it is done."""
        context, action = self.context, self.action
        store = context.store.in_session(self.run.id)
        if self._follow is unattended and holder(agent_lock_path(store, action.persona)) is not None:
            await self._note(state=ActionState.WAITING, why=BUSY)
            raise AgentAtWork(f"The agent is at work for {action.persona} in another conversation.")
        await asyncio.to_thread(self._begin_session, store)
        await self._note(session_id=self.run.id)
        model = await asyncio.to_thread(context.make_model)
        budget = action.limits.dollars
        outputs = AgentOutputs(store, action.persona, lambda: context.evaluator, budget=budget)
        chat = Chat(
            store,
            action.persona,
            model,
            options=replace(context.chat, retries=max(context.chat.retries, PATIENCE)),
            on_wait=self._wait_for_persona,
            writes=self._write,
            may_write=self._may_write,
            outputs=outputs if context.evaluator.is_connected else None,
        )
        ends: list[AgentEnd] = []
        chat.subscribe(lambda event: ends.append(event) if isinstance(event, AgentEnd) else None)
        self._jobs = jobs = AgentJobs(self._job_options(), grants=context.grants, clock=context.clock)
        begun: list[Job] = []

        async def act(_jobs: AgentJobs, _chat: Chat) -> Job:
            begun.append(await self._begin_or_go_on(jobs, chat))
            return begun[-1]

        jobs.observe(self._job_changed)
        try:
            await asyncio.to_thread(chat.load)
            await self.fence()
            await self._follow(jobs, chat, act)
            job = jobs.job(action.persona) or (begun[-1] if begun else None)
            job = job or await jobs.find(store, action.persona)
            values = await asyncio.to_thread(self._values_of, job, chat)
        finally:
            await jobs.close()
            await chat.close()
        if values["state"] is ActionState.COMPLETED and ends and ends[-1].stop_reason == DECLINED:
            values |= {"state": ActionState.FAILED, "why": NOT_DONE}
        if values.get("cost") is not None:
            values["cost"] += outputs.spent
        return values

    def _begin_session(self, store: Store) -> None:
        store.get(self.action.persona)
        folder = self._home.inside(self._home.sessions)
        if not (folder / f"{self.run.id}.jsonl").exists():
            Session.create(folder, self.action.persona, session_id=self.run.id).close()

    async def _begin_or_go_on(self, jobs: AgentJobs, chat: Chat) -> Job:
        found = await jobs.find(chat.store, chat.persona_id)
        if found is None:
            proposes = self.action.edits == "propose"
            return await jobs.start(chat, prompt_of(self.action), job_id=self.run.id, proposes=proposes)
        if found.status == "interrupted":
            return await jobs.resume(chat, None)
        return found

    def _job_options(self) -> JobOptions:
        limits, options = self.action.limits, self.context.jobs
        return replace(
            options,
            max_steps=limits.max_steps or options.max_steps,
            max_seconds=limits.max_minutes * 60 if limits.max_minutes else options.max_seconds,
            max_tokens=limits.tokens or options.max_tokens,
            max_cost=limits.dollars or options.max_cost,
        )

    def _wait_for_persona(self, why: str) -> None:
        self._note_soon(state=ActionState.WAITING, why=BUSY)
        self._on_wait(why)

    async def _may_write(self) -> bool:
        try:
            await self.fence()
        except Exception:  # noqa: BLE001 - what cannot be asked may be another program's by now; `go` raises it
            assert self._jobs is not None, "nothing is written before"
            self._jobs.release(self.action.persona)
            return False
        return True

    async def _write(self, function: Callable[[], T], then: Callable[[T], object]) -> T:
        """Make a tool's write, see `WriteQueue`."""
        if not await self._may_write():
            raise NotWritten
        return await write_in_thread(function, then)

    def _job_changed(self, job: Job) -> None:
        """Note the state of the job: the run waits with it, or works again."""
        if job.is_waiting:
            self._note_soon(state=ActionState.WAITING, why=job.pending_question or "")
        elif job.is_working:
            self._note_soon(state=ActionState.RUNNING, why="")

    def _values_of(self, job: Job | None, chat: Chat) -> dict[str, Any]:
        """What the run is by what its job is, once nothing of it runs any more. Blocking."""
        if job is None:
            return {"state": ActionState.INTERRUPTED, "why": "It was stopped before it began."}
        values: dict[str, Any] = {"usage": job.usage, "cost": job.cost, "versions": self._versions(chat)}
        if job.is_waiting:
            return {**values, "state": ActionState.WAITING, "why": job.pending_question or ""}
        if job.status == "completed":
            return {**values, "state": ActionState.COMPLETED, "why": "", "output": job.summary or ""}
        said = [turn for turn in chat.turns if isinstance(turn, NoticeTurn)]
        why = next((turn.content for turn in reversed(said) if turn.kind in (FAILED, "limit", "stopped")), "")
        if job.status == "error":
            return {**values, "state": ActionState.FAILED, "why": why or job.error_message or ""}
        return {**values, "state": ActionState.INTERRUPTED, "why": why or "The program was closed."}

    def _versions(self, chat: Chat) -> tuple[int | str, ...]:
        if chat.proposal is not None:
            return (chat.proposal,)
        written = chat.store.log(self.action.persona)
        return tuple(sorted(one.number for one in written if one.by.run_id == self.run.id))

    # -- kinds persona and test ------------------------------------------------------------------------

    async def _persona(self) -> dict[str, Any]:
        """The persona itself answers the instructions, as it answers a test input."""
        evaluator, pace = self._begin_requests()
        await self._note(state=ActionState.RUNNING, why="")
        persona = await asyncio.to_thread(read_runnable, self.context.store, self.action.persona)
        variant = await asyncio.to_thread(lambda: evaluator.variant(persona, fixed=True))
        said = TestInput(id="action", content=self.action.instructions)
        model = await asyncio.to_thread(evaluator.model_of, variant)
        async with _time_limit(self._seconds):
            reply = await pace.ask(model, variant.request(said))
        values = self._used()
        if reply.error is not None:
            return {**values, "state": ActionState.FAILED, "why": with_next_step(reply.error)}
        if reply.stop_reason == "refusal":
            return {**values, "state": ActionState.FAILED, "why": "The model refused to answer."}
        return {**values, "state": ActionState.COMPLETED, "output": reply.text}

    async def _test(self) -> dict[str, Any]:
        """The persona's test inputs are run anew and judged; it is done when all have an output."""
        (evaluator, pace), store = self._begin_requests(), self.context.store
        await self._note(state=ActionState.RUNNING, why="")
        persona = await asyncio.to_thread(read_runnable, store, self.action.persona)
        variant = await asyncio.to_thread(lambda: evaluator.variant(persona, fixed=True))
        evaluation = await asyncio.to_thread(
            lambda: evaluator.evaluation(persona, variant, only_missing=False, run_id=self.run.id)
        )
        for one in evaluation.made:  # by an earlier program
            pace.count(one.usage, one.cost)
        async with _time_limit(self._seconds):
            verdicts = await evaluator.run(evaluation, pace)
        self._on_report(verdicts)
        before = await asyncio.to_thread(self._run_before)
        text = report_text(evaluation, verdicts, before, changes_only=self.action.report == "changes")
        values = {**self._used(), "output": text}
        if missing := [one for one in verdicts.inputs if one.could_not_run]:
            many = f"{len(missing)} of {len(verdicts.inputs)} test inputs could not be run"
            return {**values, "state": ActionState.FAILED, "why": f"{many}: {missing[0].sentence}"}
        return {**values, "state": ActionState.COMPLETED}

    def _run_before(self) -> ActionRun | None:
        """The last run of the action that was completed, None where there is none. Blocking."""
        known = run_log.runs(self._home, self.action.id)
        done = (one for one in known if one.id != self.run.id and one.state is ActionState.COMPLETED)
        return next(done, None)

    def _begin_requests(self) -> tuple[Evaluator, _RunPace]:
        if not self.context.evaluator.is_connected:
            raise InvalidValue(NOT_CONNECTED)
        self._pace = _RunPace(self)
        return self.context.evaluator, self._pace

    def _used(self) -> dict[str, Any]:
        return {"usage": self._pace.usage, "cost": self._pace.cost} if self._pace is not None else {}

    @property
    def _seconds(self) -> float:
        return self._job_options().max_seconds


class _RunPace(RateLimiter):
    """The pace of a run's own requests, which ends it at its limits, and asks its fence before an answer is stored."""

    def __init__(self, run: _Run) -> None:
        options = run.context.evaluator.options
        super().__init__(options.jobs, retries=max(options.retries, PATIENCE), clock=run.context.clock)
        self._run, self._options, self._requests = run, run._job_options(), 0

    async def ask(self, model: Model, asked: Request, **hear: Any) -> ModelReply:
        """Make a request, see `RateLimiter.ask`.

        Raises:
            LimitReached: the run has used up what it may.
            PersonaError: this program was given up.
        """
        options = self._options
        for used, most, what in (
            (self._requests, self._run.action.limits.max_steps, "requests"),
            (self.usage.tokens, options.max_tokens, "tokens"),
            (self.cost or 0.0, options.max_cost, "dollars"),
        ):
            if most is not None and used >= most:
                raise LimitReached(f"Stopped after {used:,.6g} {what}; one run may use {most:,.6g}.")
        self._requests += 1
        reply = await super().ask(model, asked, **hear)
        await self._run.fence()
        return reply


@asynccontextmanager
async def _time_limit(seconds: float) -> AsyncIterator[None]:
    """End a block after so many seconds.

    Raises:
        LimitReached: they are over.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise LimitReached(time_notice(seconds).content) from None


def prompt_of(action: Action) -> str:
    """Return what the agent is told to do."""
    expected = action.expected_output.strip()
    return action.instructions.strip() + (f"\n\nWhat is expected of you: {expected}" if expected else "")
