"""The tasks of this program: one per persona, several personas at once; and those an earlier program left.

Nothing that was left behind is run again by itself: a task found on disk waits for the person's answer, or
for their word to go on.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from agent.approval import (
    NotTrusted,
    approval_question,
    check_answer,
    is_same,
    read_decision,
)
from agent.chat import Chat
from agent.events import AgentEnd
from agent.grants import Grants
from agent.models.stalls import Clock
from agent.task import AgentTask, Mode, Question, Used, move
from agent.task_files import sessions_with_tasks
from agent.task_found import give_up, read_task, refuse_when_waiting, stored_question, write_task
from agent.task_options import TaskOptions
from agent.task_resuming import Prepare, settle_answer, settle_approval, settle_known_answer, words_to_go_on
from agent.task_run import TaskRun
from agent.turns import Turn, UserTurn
from personas import trust
from personas.current_sessions import current_sessions
from personas.errors import BrokenFile, Busy, InvalidValue, OutsideHome, PersonaError
from personas.store import Store

log = logging.getLogger(__name__)

Observer = Callable[[AgentTask], object]


class AgentTaskRunner:
    """Starts, stops, answers and observes tasks. Belongs to the thread of its event loop.

    Args:
        options: the person's settings.
        grants: what the person allowed for good; None: in memory only.
        is_trusted: whether approvals found in a home count.
        clock: the time.
    """

    def __init__(
        self,
        options: TaskOptions = TaskOptions(),  # noqa: B008 - immutable
        *,
        grants: Grants | None = None,
        is_trusted: Callable[[Path], bool] = trust.is_trusted,
        clock: Clock | None = None,
    ) -> None:
        self.options = options
        self._grants = grants or Grants()
        self._is_trusted = is_trusted
        self._clock = clock
        self._runs: dict[str, TaskRun] = {}
        self._ends: dict[str, asyncio.Task[AgentEnd | None]] = {}
        self._beginning: dict[str, str | None] = {}  # by persona: why it is to stop before it began
        self._known: dict[str, AgentTask] = {}  # the last state of each task that is not running here
        self._observers: list[Observer] = []
        self._closing = False

    # -- looking ---------------------------------------------------------------------------------------

    @property
    def tasks(self) -> list[AgentTask]:
        """The tasks this program knows: running, finished and found."""
        return [*self._known.values(), *(run.task for run in self._runs.values())]

    def task(self, persona_id: str) -> AgentTask | None:
        """Return the persona's task as it is now, None when none is known; see `find`."""
        run = self._runs.get(persona_id)
        return run.task if run is not None else self._known.get(persona_id)

    def is_live(self, persona_id: str) -> bool:
        """Return whether the persona's task runs, or waits, in this program."""
        return persona_id in self._runs

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Call `observer` with a task after every change of it; returns what ends that."""
        self._observers.append(observer)
        return lambda: self._observers.remove(observer) if observer in self._observers else None

    async def find(self, store: Store, persona_id: str) -> AgentTask | None:
        """Return the persona's last task, looking on the disk for what an earlier program left.

        What it says of a call that waits is read from the conversation anew. Nothing is written.

        Raises:
            PersonaError: the disk refuses, or the conversation cannot be opened.
        """
        if persona_id in self._runs:
            return self._runs[persona_id].task
        found = await asyncio.to_thread(read_task, store, persona_id)
        # One that was over before this program looked is no news.
        if found is not None and not found.is_over and found != self._known.get(persona_id):
            self._tell(found)
        return found

    async def find_all(self, store: Store) -> list[AgentTask]:
        """Return every persona's task that is not over, found on disk or live, for a program that starts."""
        current = await asyncio.to_thread(current_sessions, store.home)
        logged = set(await asyncio.to_thread(sessions_with_tasks, store.home))
        found = []
        for persona_id, session_id in current.items():
            if session_id in logged:
                try:
                    task = await self.find(store, persona_id)
                except PersonaError as error:
                    log.warning("the task of %s cannot be read: %s", persona_id, error)
                    continue
                if task is not None and not task.is_over:
                    found.append(task)
        return found

    # -- acting ----------------------------------------------------------------------------------------

    async def start(self, chat: Chat, text: str, *, mode: Mode = "task") -> AgentTask:
        """Begin a task; return once the agent is at work.

        Args:
            chat: the conversation about the persona.
            text: what the person says.
            mode: `task` ends with `task_complete`, `chat` with the answer.

        Raises:
            TaskWaits: the persona's task waits for an answer.
            Busy: its task is at work, or too many tasks are.
            PersonaError: the conversation cannot begin; see `Chat.send`.
        """
        with self._begin(chat.persona_id):
            left = await self._refuse_when_waiting(chat)
            await _read(chat)
            said = UserTurn(content=text)
            task = AgentTask(
                persona_id=chat.persona_id,
                session_id=chat.session_id or "",
                mode=mode,
                original_prompt=text,
                prompt_turn_id=said.id,
                model=chat.model.name,
            )
            run = self._make_run(chat, task, keep=mode == "task", replaces=left)
            return await self._launch(run, said)

    async def respond(self, chat: Chat, text: str, *, question_id: str | None = None) -> AgentTask:
        """Answer the question or approval a task waits with, also one that an earlier program left.

        Returns the task at work; or still waiting, with a new question, when what it asked for is not what it
        would do now.

        Raises:
            InvalidValue: nothing waits, another question is meant, or the answer is not understood.
            NotTrusted: an approval found on disk, in a home that is not trusted.
            PersonaError: the conversation cannot go on; see `Chat.send`.
        """
        persona_id = chat.persona_id
        if (run := self._runs.get(persona_id)) is not None:
            await run.respond(text, question_id)
            return run.task
        with self._begin(persona_id):
            return await self._respond_to_found(chat, text, question_id)

    async def resume(self, chat: Chat, text: str = "") -> AgentTask:
        """Go on with a task that a limit stopped or that was interrupted.

        Args:
            chat: its conversation.
            text: what the person says to it; empty asks to continue.

        Raises:
            InvalidValue: there is none to continue.
            PersonaError: the conversation cannot go on; see `Chat.send`.
        """
        persona_id = chat.persona_id
        with self._begin(persona_id):
            task = await self.find(chat.store, persona_id)
            if task is None or not task.can_continue:
                raise InvalidValue(f"There is no task about {persona_id} to continue.")
            await _read(chat)
            said, asides = words_to_go_on(task, chat, text)
            prepare = settle_known_answer(chat, task)
            anew: dict[str, Any] = {"ended_at": None, "error_message": None, "idle_steps": 0, "pending": None}
            task = move(task, "running", used=Used(), **anew)
            return await self._launch(self._make_run(chat, task, keep=True), said, prepare, asides)

    def steer(self, persona_id: str, text: str, *, later: bool = False) -> None:
        """Say something to the task at work: heard after the tool that runs, or (`later`) when it would be idle.

        Raises:
            InvalidValue: no task is at work.
        """
        run = self._runs.get(persona_id)
        if run is None:
            raise InvalidValue(f"No task about {persona_id} is at work.")
        (run.chat.follow_up if later else run.chat.steer)(text)

    def stop(self, persona_id: str, reason: str = "") -> bool:
        """Stop the task that runs or waits in this program, at once; return whether there was one."""
        run = self._runs.get(persona_id)
        if run is not None:
            run.stop(reason)
        elif persona_id in self._beginning:
            self._beginning[persona_id] = reason or "stopped by the user"
        return run is not None or persona_id in self._beginning

    async def stop_found(self, chat: Chat) -> AgentTask:
        """Give up a task that an earlier program left waiting, interrupted or at a limit.

        Raises:
            InvalidValue: there is none.
            Busy: another program works on it.
            PersonaError: the disk refuses.
        """
        with self._begin(chat.persona_id):
            task = await self.find(chat.store, chat.persona_id)
            if task is None or task.is_over:
                raise InvalidValue(f"There is no task about {chat.persona_id} to stop.")
            await _read(chat)
            left = tuple(chat.session.left_open)
            task = await asyncio.to_thread(give_up, chat.store, task)
            await self._forget_grants(chat.store, task)
            await asyncio.to_thread(chat.load)
            chat.session.tell_settled(left)
            self._tell(task)
            return task

    def park(self, persona_id: str) -> bool:
        """Leave a waiting task waiting on the disk, for a program that ends; return whether it was waiting."""
        run = self._runs.get(persona_id)
        return run is not None and run.park()

    async def wait(self, persona_id: str) -> AgentEnd | None:
        """Wait until the persona's task does not run any more; return how its run ended, None if it did not run.

        Raises:
            PersonaError: the conversation could not be kept.
        """
        running = self._ends.get(persona_id)
        return await asyncio.shield(running) if running is not None else None

    async def close(self, seconds: float = 5.0) -> None:
        """End everything for a program that ends: waiting tasks stay waiting on disk, working ones are stopped."""
        self._closing = True
        for persona_id in (*self._runs, *self._beginning):
            if not self.park(persona_id):
                self.stop(persona_id, "the program was left")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._runs or self._beginning:
                    running = [self._ends[persona_id] for persona_id in self._runs]
                    await (asyncio.wait(running) if running else asyncio.sleep(0.01))

    # -- inside ----------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _begin(self, persona_id: str) -> Iterator[None]:
        """Hold the persona's place while its task begins.

        Raises:
            Busy: its task is at work, or too many tasks are.
        """
        if self._closing:
            raise Busy("The program is ending; begin again in the next one.")
        if persona_id in self._runs or persona_id in self._beginning:
            raise Busy(f"A task about {persona_id} is at work; steer it or stop it first.")
        waiting = {key for key, run in self._runs.items() if run.task.pending_question is not None}
        working = len({*self._runs, *self._beginning} - waiting)
        if working >= self.options.at_once:
            many = "1 task is" if working == 1 else f"{working} tasks are"
            raise Busy(f"{many} at work, as many as may be at once (tasks_at_once); wait for one or stop it.")
        self._beginning[persona_id] = None
        try:
            yield
        finally:
            del self._beginning[persona_id]

    async def _refuse_when_waiting(self, chat: Chat) -> AgentTask | None:
        """Return the task that could be continued, and whose place a new one takes."""
        try:
            left = await self.find(chat.store, chat.persona_id)
        except (BrokenFile, InvalidValue, OutsideHome):
            return None  # the conversation it waits in cannot be opened: a new one begins
        refuse_when_waiting(left)
        is_here = left is not None and left.can_continue and chat.session_id in (None, left.session_id)
        return left if is_here else None

    def _make_run(
        self, chat: Chat, task: AgentTask, *, keep: bool, replaces: AgentTask | None = None
    ) -> TaskRun:
        return TaskRun(
            chat,
            task,
            options=self.options,
            grants=self._grants,
            is_trusted=self._is_trusted,
            on_update=self._tell,
            clock=self._clock,
            keep=keep,
            replaces=replaces,
        )

    async def _launch(
        self, run: TaskRun, said: UserTurn | None, prepare: Prepare | None = None, asides: Sequence[Turn] = ()
    ) -> AgentTask:
        """Start a run and return once it is at work, or raise what kept it from beginning."""
        persona_id = run.chat.persona_id
        before = self._known.pop(persona_id, None)
        self._runs[persona_id] = run
        if (reason := self._beginning.get(persona_id)) is not None:
            run.stop(reason)
        running = asyncio.get_running_loop().create_task(self._follow(run, said, prepare, asides))
        running.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._ends[persona_id] = running
        waiting: set[asyncio.Future[Any]] = {running, run.begun}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if not run.begun.done():
            run.begun.cancel()
            await running
        try:
            run.begun.result()
        except BaseException:
            await asyncio.wait({running})
            if before is not None:
                self._known[persona_id] = before
            raise
        return run.task

    async def _follow(
        self, run: TaskRun, said: UserTurn | None, prepare: Prepare | None, asides: Sequence[Turn]
    ) -> AgentEnd | None:
        try:
            return await run.go(said, prepare=prepare, asides=asides)
        finally:
            del self._runs[run.chat.persona_id]
            if run.begun.done() and not run.begun.cancelled() and run.begun.exception() is None:
                run.announce_end()
                self._known[run.chat.persona_id] = run.task

    async def _forget_grants(self, store: Store, task: AgentTask) -> None:
        await asyncio.to_thread(self._grants.end_task, store.home.root, task.session_id, task.id)

    async def _shown(self, store: Store, task: AgentTask) -> Question | None:
        """The question as the person last saw it: told by this program, else as it was written."""
        seen = self._known.get(task.persona_id)
        if seen is not None and seen.id == task.id and seen.pending is not None:
            return seen.pending
        return await asyncio.to_thread(stored_question, store, task)

    def _tell(self, task: AgentTask) -> None:
        if task.persona_id not in self._runs:
            self._known[task.persona_id] = task
        for observer in tuple(self._observers):
            try:
                observer(task)
            except Exception:  # a screen's fault must not end the run
                log.exception("an observer of tasks failed")

    async def _respond_to_found(self, chat: Chat, text: str, question_id: str | None) -> AgentTask:
        persona_id = chat.persona_id
        task = await asyncio.to_thread(read_task, chat.store, persona_id)
        if task is None or not task.is_waiting or task.pending is None:
            raise InvalidValue(f"No task about {persona_id} waits for an answer.")
        await _read(chat)
        question = task.pending
        shown = await self._shown(chat.store, task)
        # Another program may have gone on with the task: what was shown here is then another question.
        same_call = shown is not None and shown.tool_use_id == question.tool_use_id
        known = {question.id, shown.id} if shown is not None and same_call else {question.id}
        if question_id is not None and question_id not in known:
            raise InvalidValue("That question is not open any more.")
        check_answer(question, text)
        if question.approval is None:
            task = move(task, "thinking", pending=None).with_note(
                f"Asked: {question.text} - Answered: {text}"
            )
            run = self._make_run(chat, task, keep=True)
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
                task = task.model_copy(update={"pending": anew})
                await asyncio.to_thread(write_task, chat.store, task)
                self._tell(task)
                return task
        run = self._make_run(chat, task, keep=True)
        return await self._launch(run, None, settle_approval(run, question, decision))


async def _read(chat: Chat) -> None:
    """Have the conversation read, so that it is gone on with and not begun anew."""
    if not chat.turns:
        await asyncio.to_thread(chat.load)
