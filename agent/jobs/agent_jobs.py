"""Starts, answers, continues and stops the agent's jobs: one per persona at a time, also jobs an earlier program left.

Nothing that was left behind is run again by itself: a job found on disk waits for the person's answer, or
for their word to go on.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from agent.chat.chat import Chat
from agent.core.clock import Clock
from agent.core.events import AgentEnd
from agent.core.turns import UserTurn, new_id
from agent.jobs.agent_run import AgentRun
from agent.jobs.approval_policy import (
    NotTrusted,
    approval_question,
    check_answer,
    is_same,
    read_decision,
)
from agent.jobs.job import AgentKind, Job, Question, Used, move
from agent.jobs.options import JobOptions
from agent.jobs.recovery import (
    Prepare,
    find_job,
    give_up,
    go_on_with,
    refuse_when_waiting,
    settle_answer,
    settle_approval,
    stored_question,
    write_question,
)
from agent.jobs.runner import JobRunner, Observer
from agent.jobs.saved_approvals import SavedApprovals
from agent.transcript.open_jobs import personas_with_open_jobs
from personas.errors import BrokenFile, Busy, InvalidValue, OutsideHome, PersonaError
from personas.files import trust
from personas.store import Store

log = logging.getLogger(__name__)


class _EarlyStop(NamedTuple):
    """Why a job is not to go on that is about to begin; `is_interrupted`: the program ends, nobody stopped it."""

    reason: str
    is_interrupted: bool


class AgentJobs:
    """Starts, stops, answers and observes the agent's jobs. Belongs to the thread of its event loop.

    The agent does one thing at a time for a persona: here a persona's id means that job. Four ways end one:

    - `stop`: the person ends it for good.
    - `interrupt`: the program ends while it works; it is interrupted, and `resume` goes on with it.
    - `suspend`: the program ends while it waits; it stays waiting on the disk.
    - `release`: another program has taken it over; nothing more is written.

    Args:
        options: the person's settings.
        grants: what the person allowed for good; None: in memory only.
        is_trusted: whether approvals found in a home count.
        clock: the time.
    """

    def __init__(
        self,
        options: JobOptions = JobOptions(),  # noqa: B008 - immutable
        *,
        grants: SavedApprovals | None = None,
        is_trusted: Callable[[Path], bool] = trust.is_trusted,
        clock: Clock | None = None,
    ) -> None:
        self.options = options
        self._grants = grants or SavedApprovals()
        self._is_trusted = is_trusted
        self._clock = clock
        self.runner = JobRunner()
        self._ends: dict[str, asyncio.Task[AgentEnd | None]] = {}
        self._beginning: dict[str, _EarlyStop | None] = {}  # by persona: why it is to stop before it began
        self._turns: set[str] = set()  # personas for whose jobs a place is held
        self._moved = asyncio.Event()  # for who waits for a place
        self._known: dict[str, Job] = {}  # the last state of each job that is not running here
        self._closing = False

    # -- looking ---------------------------------------------------------------------------------------

    @property
    def jobs(self) -> list[Job]:
        """The jobs this program knows: running, finished and found."""
        return [*self._known.values(), *(run.job for run in self._runs)]

    @property
    def _runs(self) -> list[AgentRun]:
        """The agent's jobs at work in this program."""
        return [run for run in self.runner.runs.values() if isinstance(run, AgentRun)]

    def _run(self, persona_id: str) -> AgentRun | None:
        """The persona's job, where it is at work in this program."""
        return next((run for run in self._runs if run.job.persona_id == persona_id), None)

    def job(self, persona_id: str) -> Job | None:
        """Return the persona's job as it is now, None when none is known; see `find`."""
        run = self._run(persona_id)
        return run.job if run is not None else self._known.get(persona_id)

    def is_live(self, persona_id: str) -> bool:
        """Return whether the persona's job runs, or waits, in this program."""
        return self._run(persona_id) is not None

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Call `observer` with a job after every change of it; returns what ends that."""
        return self.runner.observe(observer)

    async def find(self, store: Store, persona_id: str) -> Job | None:
        """Return the persona's last job, looking on the disk for what an earlier program left.

        What it says of a call that waits is read from the conversation anew. Nothing is written. Observers hear of a job
        that is not over and is news to this program.

        Raises:
            PersonaError: the disk refuses, or the conversation cannot be opened.
        """
        if (run := self._run(persona_id)) is not None:
            return run.job
        found = await asyncio.to_thread(find_job, store, persona_id)
        # One that was over before this program looked is no news.
        if found is not None and not found.is_over and found != self._known.get(persona_id):
            self._notify(found)
        return found

    async def find_all(self, store: Store) -> list[Job]:
        """Return every persona's job that is not over, found on disk or live, for a program that starts."""
        found = []
        for persona_id in await asyncio.to_thread(personas_with_open_jobs, store.home):
            try:
                job = await self.find(store, persona_id)
            except PersonaError as error:
                log.warning("the job of %s cannot be read: %s", persona_id, error)
                continue
            if job is not None and not job.is_over:
                found.append(job)
        return found

    # -- acting ----------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def turn(self, persona_id: str) -> AsyncIterator[None]:
        """Wait until a further job may be at work, and hold that place for the persona's: for who begins many."""
        while self._count_working() >= self.options.at_once:
            self._moved.clear()
            await self._moved.wait()
        self._turns.add(persona_id)
        try:
            yield
        finally:
            self._turns.discard(persona_id)
            self._moved.set()

    async def start(
        self,
        chat: Chat,
        text: str,
        *,
        kind: AgentKind = "task",
        turn_id: str | None = None,
        proposes: bool = False,
        job_id: str | None = None,
    ) -> Job:
        """Begin a job; return once the agent is at work.

        Args:
            chat: the conversation about the persona.
            text: what the person says.
            kind: `task` ends with `task_complete`, `chat` with the answer.
            turn_id: the id that the turn gets, by which its sender sees that it arrived; None for a new one.
            proposes: whether its changes are not written, but a proposal that waits for the person's word, see
                `personas.proposals`; `Chat.proposal` names it.
            job_id: the id of the job, under which its changes are undone; None for a new one.

        Raises:
            JobWaits: the persona's job waits for an answer.
            Busy: its job is at work, or too many jobs are.
            PersonaError: the conversation cannot begin; see `Chat.send`.
        """
        with self._begin(chat.persona_id):
            await self._refuse_when_waiting(chat)
            await _read(chat)
            said = UserTurn(content=text, id=turn_id or new_id("turn"))
            # Where nothing was said yet it looks on the disk.
            session_id = await asyncio.to_thread(lambda: chat.session_id)
            job = Job(
                id=job_id or new_id("task"),
                persona_id=chat.persona_id,
                session_id=session_id or "",
                kind=kind,
                proposes=proposes,
                original_prompt=text,
                prompt_turn_id=said.id,
                model=chat.model.name,
            )
            return await self._launch(self._make_run(chat, job), said)

    async def respond(self, chat: Chat, text: str, *, question_id: str | None = None) -> Job:
        """Answer the question or approval a job waits with, also one that an earlier program left.

        Returns the job at work; or still waiting, with a new question, when what it asked for is not what it
        would do now.

        Raises:
            InvalidValue: nothing waits, another question is meant, or the answer is not understood.
            NotTrusted: an approval found on disk, in a home that is not trusted.
            PersonaError: the conversation cannot go on; see `Chat.send`.
        """
        persona_id = chat.persona_id
        if (run := self._run(persona_id)) is not None:
            await run.respond(text, question_id)
            return run.job
        with self._begin(persona_id):
            return await self._respond_to_found(chat, text, question_id)

    async def resume(self, chat: Chat, text: str | None = "", *, turn_id: str | None = None) -> Job:
        """Go on with a job that a limit stopped or that was interrupted.

        Args:
            chat: its conversation.
            text: what the person says to it; empty asks to continue. None: the person has no part in it, so that what it
                has used of its limits still counts, and the agent is told nothing where it need not be.
            turn_id: the id that the turn with this text gets; None for a new one.

        Raises:
            InvalidValue: there is none to continue.
            PersonaError: the conversation cannot go on; see `Chat.send`.
        """
        persona_id = chat.persona_id
        with self._begin(persona_id):
            found = await self._find_shown(chat)
            if found is None or not found.can_continue:
                raise InvalidValue(f"There is no task about {persona_id} to continue.")
            await _read(chat)
            anew: dict[str, Any] = {"ended_at": None, "error_message": None, "idle_steps": 0, "pending": None}
            job = move(found, "running", used=found.used if text is None else Used(), **anew)
            return await self._launch(
                self._make_run(chat, job, found), None, go_on_with(chat, found, text, turn_id)
            )

    def steer(self, persona_id: str, text: str, *, later: bool = False) -> None:
        """Say something to the job at work: heard after the tool that runs, or (`later`) when it would be idle.

        Raises:
            InvalidValue: no job is at work.
        """
        run = self._run(persona_id)
        if run is None:
            raise InvalidValue(f"No task about {persona_id} is at work.")
        (run.chat.follow_up if later else run.chat.steer)(text)

    def stop(self, persona_id: str, reason: str = "") -> bool:
        """Stop the job that runs or waits in this program, at once and for good; return whether there was one."""
        run = self._run(persona_id)
        if run is not None:
            run.stop(reason)
        elif persona_id in self._beginning:
            self._beginning[persona_id] = _EarlyStop(reason or "stopped by the user", is_interrupted=False)
        return run is not None or persona_id in self._beginning

    def interrupt(self, persona_id: str, reason: str) -> None:
        """End the job at work for a program that ends, at once: it is interrupted, and can be gone on with."""
        if (run := self._run(persona_id)) is not None:
            run.interrupt(reason)
        elif persona_id in self._beginning:
            self._beginning[persona_id] = self._beginning[persona_id] or _EarlyStop(
                reason, is_interrupted=True
            )

    async def stop_found(self, chat: Chat) -> Job:
        """Give up a job that an earlier program left waiting, interrupted or at a limit.

        Raises:
            InvalidValue: there is none.
            Busy: another program works on it.
            PersonaError: the disk refuses.
        """
        with self._begin(chat.persona_id):
            job = await self._find_shown(chat)
            if job is None or job.is_over:
                raise InvalidValue(f"There is no task about {chat.persona_id} to stop.")
            await _read(chat)
            return await self._give_up(chat, job)

    def suspend(self, persona_id: str) -> bool:
        """Leave a waiting job waiting on the disk, for a program that ends; return whether it was waiting."""
        run = self._run(persona_id)
        return run is not None and run.suspend()

    def release(self, persona_id: str) -> None:
        """End the job at work in memory alone: another program has taken it over."""
        if (run := self._run(persona_id)) is not None:
            run.release()

    async def wait(self, persona_id: str) -> AgentEnd | None:
        """Wait until the persona's job does not run any more; return how its run ended, None if it did not run.

        Raises:
            PersonaError: the conversation could not be kept.
        """
        running = self._ends.get(persona_id)
        return await asyncio.shield(running) if running is not None else None

    async def close(self, seconds: float = 5.0) -> None:
        """End everything for a program that ends: on disk waiting jobs stay waiting, working ones are interrupted."""
        self._closing = True
        reason = "the program was left"
        self.runner.end_all(reason)
        for persona_id in self._beginning:
            if not self.is_live(persona_id):
                self.interrupt(persona_id, reason)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.runner.runs or self._beginning:
                    await self.runner.until_idle(seconds)
                    await asyncio.sleep(0.01)

    # -- inside ----------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _begin(self, persona_id: str) -> Iterator[None]:
        """Hold the persona's place while its job begins.

        Raises:
            Busy: its job is at work, or too many jobs are.
        """
        if self._closing:
            raise Busy("The program is ending; begin again in the next one.")
        if self.is_live(persona_id) or persona_id in self._beginning:
            raise Busy(f"A task about {persona_id} is at work; steer it or stop it first.")
        working = self._count_working(besides=persona_id)
        if working >= self.options.at_once:
            many = "1 task is" if working == 1 else f"{working} tasks are"
            raise Busy(f"{many} at work, as many as may be at once (tasks_at_once); wait for one or stop it.")
        self._beginning[persona_id] = None
        try:
            yield
        finally:
            del self._beginning[persona_id]
            self._moved.set()

    def _count_working(self, besides: str = "") -> int:
        """Return how many jobs are at work, or are about to be; those that wait for the person are not counted."""
        jobs = {run.job.persona_id: run.job for run in self._runs}
        waiting = {key for key, job in jobs.items() if job.pending_question is not None}
        return len({*jobs, *self._beginning, *self._turns} - waiting - {besides})

    async def _refuse_when_waiting(self, chat: Chat) -> None:
        """Begin nothing over a question; this is asked once more when the conversation is held."""
        try:
            left = await self.find(chat.store, chat.persona_id)
        except (BrokenFile, InvalidValue, OutsideHome):
            return  # the conversation it waits in cannot be opened: a new one begins
        refuse_when_waiting(left)

    async def _find_shown(self, chat: Chat) -> Job | None:
        """The job the person speaks of: the one that this program has shown.

        Raises:
            InvalidValue: there is another now.
        """
        shown = self._known.get(chat.persona_id)
        job = await self.find(chat.store, chat.persona_id)
        open_now = [one.id for one in (shown, job) if one is not None and not one.is_over]
        if len(set(open_now)) > 1:
            raise InvalidValue(f"There is another task about {chat.persona_id} now; look at it first.")
        return job

    async def _give_up(self, chat: Chat, job: Job) -> Job:
        left = tuple(chat.session.left_open)
        job = await asyncio.to_thread(give_up, chat.store, job)
        await asyncio.to_thread(self._grants.end_task, chat.store.home.root, job.session_id, job.id)
        await asyncio.to_thread(chat.load)
        chat.session.notify_settled(left)
        self._notify(job)
        return job

    def _make_run(self, chat: Chat, job: Job, found: Job | None = None) -> AgentRun:
        return AgentRun(
            chat,
            job,
            options=self.options,
            grants=self._grants,
            is_trusted=self._is_trusted,
            on_update=self._notify,
            on_end=lambda ended: self._known.__setitem__(ended.persona_id, ended),
            clock=self._clock,
            found=found,
        )

    async def _launch(self, run: AgentRun, said: UserTurn | None, prepare: Prepare | None = None) -> Job:
        """Start a run and return once it is at work, or raise what kept it from beginning."""
        persona_id = run.chat.persona_id
        before = self._known.pop(persona_id, None)
        self._ends[persona_id] = ending = self.runner.launch(run, run.go(said, prepare))
        if (early := self._beginning.get(persona_id)) is not None:
            (run.interrupt if early.is_interrupted else run.stop)(early.reason)
        try:
            await self.runner.until_begun(run, ending)
        except BaseException:
            if before is not None:
                self._known[persona_id] = before
            raise
        return run.job

    async def _shown(self, store: Store, job: Job) -> Question | None:
        """The question as the person last saw it: in this program, else as it was written."""
        seen = self._known.get(job.persona_id)
        if seen is not None and seen.id == job.id and seen.pending is not None:
            return seen.pending
        return await asyncio.to_thread(stored_question, store, job)

    def _notify(self, job: Job) -> None:
        if not self.is_live(job.persona_id):
            self._known[job.persona_id] = job
        self._moved.set()
        self.runner.notify(job)

    async def _respond_to_found(self, chat: Chat, text: str, question_id: str | None) -> Job:
        persona_id = chat.persona_id
        found = await asyncio.to_thread(find_job, chat.store, persona_id)
        if found is None or not found.is_waiting or found.pending is None:
            raise InvalidValue(f"No task about {persona_id} waits for an answer.")
        await _read(chat)
        question = found.pending
        shown = await self._shown(chat.store, found)
        # Another program may have gone on with the job: what was shown here is then another question.
        same_call = shown is not None and shown.tool_use_id == question.tool_use_id
        known = {question.id, shown.id} if shown is not None and same_call else {question.id}
        if question_id is not None and question_id not in known:
            raise InvalidValue("That question is no longer open.")
        check_answer(question, text)
        if question.approval is None:
            note = f"Asked: {question.text} - Answered: {text}"
            run = self._make_run(chat, move(found, "thinking", pending=None).with_note(note), found)
            return await self._launch(run, None, settle_answer(chat, question, text))
        decision = read_decision(text, question.options)
        if decision.answer != "no":
            if not self._is_trusted(chat.store.home.root):
                raise NotTrusted(
                    f"This approval was found in {chat.store.home.root}, which you do not trust yet; look at it and "
                    "run `persona trust` first, or answer no."
                )
            if (
                not same_call
                or shown is None
                or shown.approval is None
                or not is_same(shown.approval, question.approval)
            ):
                anew = approval_question(
                    question.approval, question.tool_use_id, changed=True, options=question.options
                )
                job = found.model_copy(update={"pending": anew})
                await asyncio.to_thread(write_question, chat.store, job)
                self._notify(job)
                early = self._beginning[persona_id]
                return (
                    await self._give_up(chat, job) if early is not None and not early.is_interrupted else job
                )
        run = self._make_run(chat, found, found)
        return await self._launch(run, None, settle_approval(run, question, decision))


async def _read(chat: Chat) -> None:
    """Have the conversation read, so that it is gone on with and not begun anew."""
    if not chat.turns:
        await asyncio.to_thread(chat.load)
