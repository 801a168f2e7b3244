"""The conversations of the personas that were opened: their tasks go on while another persona is on the screen.

Every message is a task of the one `AgentTaskRunner`; what is to be shown of each is kept here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from personas.errors import PersonaError
from tui.activity import Activity
from tui.task_marks import ending_mark, place_of_ending, step_mark

if TYPE_CHECKING:
    from agent.chat import Chat, ChatOptions
    from agent.events import AgentEnd, Event
    from agent.models.base import Model, Usage
    from agent.task import AgentTask, Mode, Question
    from agent.task_options import TaskOptions
    from agent.task_runner import AgentTaskRunner
    from agent.turns import CustomTurn, Turn, UserTurn
    from tui.widgets.conversation.view import Kept

MakeChat = Callable[["Talk"], "Chat"]
Badge = Literal["", "working", "waiting", "done", "failed"]


@dataclass
class Talk:
    """One persona's conversation.

    Attributes:
        persona_id: whose.
        chat: the conversation itself, None until it was read.
        task: its last task as it is now, None when none is known.
        news: whether something was said that has not been on the screen.
        run_id: the run that is active, or the last one.
        older: turns from before those that were read at first, once somebody looked for them.
        earlier: the turns before that run; with `events` they are all that is to be shown.
        events: the events of that run.
        marks: steps and endings, by the id of the turn they stand after.
        activity: what the run is at.
        usage: tokens since the program started, summed.
        cost: US dollars since then, as far as prices are known; None where they are not.
        started: when the run began, monotonic seconds.
        sent: the message that opened it.
        failure: why the last message could not be sent; empty when it could.
        kept: where the view stood when another persona was opened.
        pinned: whether the panel was pinned then.
        answering: the question the draft was begun for, when another persona was opened.
        beginning: whether something is about to run.
        reread: whether `earlier` has other turns than before the run began.
    """

    persona_id: str
    chat: Chat | None = None
    task: AgentTask | None = None
    news: bool = False
    run_id: str | None = None
    older: tuple[Turn, ...] | None = None
    earlier: tuple[Turn, ...] = ()
    events: list[Event] = field(default_factory=list)
    marks: dict[str, list[CustomTurn]] = field(default_factory=dict)
    activity: Activity = field(default_factory=Activity)
    usage: Usage | None = None
    cost: float | None = None
    started: float = 0.0
    sent: str = ""
    failure: str = ""
    kept: Kept | None = None
    pinned: bool = False
    answering: str | None = None
    beginning: bool = False
    reread: bool = False
    _run: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """Whether a task about this persona is at work, or waits, in this program."""
        return self.beginning or (self._run is not None and not self._run.done())

    @property
    def question(self) -> Question | None:
        """What it waits for the person to answer; None for nothing."""
        task = self.task
        if task is None or not task.is_waiting or task.pending is None or task.pending.answer is not None:
            return None
        return task.pending

    @property
    def queued(self) -> list[tuple[UserTurn, bool]]:
        """What was said and is not delivered yet, each with whether it waits until the agent is done."""
        if self.chat is None:
            return []
        soon, later = self.chat.queued
        return [*((turn, False) for turn in soon), *((turn, True) for turn in later)]

    def with_marks(self, turns: Iterable[Turn]) -> list[Turn]:
        """Return turns with the marks that stand between them."""
        shown: list[Turn] = []
        for turn in turns:
            shown.append(turn)
            shown += self.marks.get(turn.id, ())
        return shown

    def mark(self, mark: CustomTurn) -> bool:
        """Put a mark after the last turn; return whether there was one."""
        turns = self.chat.turns if self.chat is not None else ()
        if turns:
            self.marks.setdefault(turns[-1].id, []).append(mark)
        return bool(turns)

    def add_step(self, usage: Usage, model: Model) -> None:
        """Count what one request took."""
        from agent.models.prices import cost

        self.usage = usage if self.usage is None else self.usage + usage
        price = cost(model.name, usage, model.endpoint)
        if price is not None:
            self.cost = (self.cost or 0.0) + price


class Talks:
    """All conversations of this program.

    Args:
        runner: what runs the tasks.
        make_chat: makes the conversation of a persona; may block, runs in a thread.
        on_event: called with every event of every run.
        on_end: called when a run is over, with its end, or None where it failed to begin (`Talk.failure`), and
            with what was queued and not delivered.
        on_task: called with the persona's id after every change of a task.
        on_mark: called with every mark.
    """

    def __init__(
        self,
        runner: AgentTaskRunner,
        make_chat: MakeChat,
        *,
        on_event: Callable[[Talk, Event], None],
        on_end: Callable[[Talk, AgentEnd | None, list[str]], None],
        on_task: Callable[[str], None],
        on_mark: Callable[[Talk, CustomTurn], None],
    ) -> None:
        self.runner = runner
        self._make_chat = make_chat
        self._on_event = on_event
        self._on_end = on_end
        self._on_task = on_task
        self._on_mark = on_mark
        self._talks: dict[str, Talk] = {}
        self._opening = asyncio.Lock()
        self._seen: set[str] = set()
        runner.observe(self._see)

    def known(self, persona_id: str | None) -> Talk | None:
        """Return the conversation if it was opened before."""
        return self._talks.get(persona_id) if persona_id is not None else None

    @property
    def running(self) -> list[Talk]:
        """The conversations in which a task is at work or waits."""
        return [talk for talk in self._talks.values() if talk.running]

    @property
    def working(self) -> list[Talk]:
        """The conversations in which the agent works, as opposed to waiting for the person."""
        return [talk for talk in self.running if talk.question is None]

    @property
    def badges(self) -> dict[str, Badge]:
        """What each persona's task is, for those where there is something to say."""
        found: dict[str, Badge] = {}
        for task in self.runner.tasks:
            if task.is_waiting:
                found[task.persona_id] = "waiting"
            elif task.can_continue and task.persona_id not in self._seen:
                found[task.persona_id] = "failed"
        for talk in self._talks.values():
            badge = self._badge(talk)
            if badge:
                found[talk.persona_id] = badge
            else:
                found.pop(talk.persona_id, None)
        return found

    @staticmethod
    def _badge(talk: Talk) -> Badge:
        if talk.question is not None:
            return "waiting"
        if talk.running:
            return "working"
        if not talk.news:
            return ""
        failed = talk.failure or (
            talk.task is not None and talk.task.status in ("error", "limit", "interrupted")
        )
        return "failed" if failed else "done"

    async def open(self, persona_id: str) -> Talk:
        """Return a persona's conversation, read from disk the first time, with the task an earlier program left.

        Raises:
            PersonaError: its session cannot be read.
        """
        async with self._opening:
            talk = self._talks.get(persona_id)
            if talk is None:
                talk = Talk(persona_id)
                chat = await asyncio.to_thread(self._load, talk)
                chat.subscribe(lambda event: self._hear(talk, event))
                talk.chat = chat
                talk.earlier = tuple(chat.turns)
                self._talks[persona_id] = talk
        self._seen.add(persona_id)
        if not talk.running:
            await self.look(talk)
            if talk.task is not None and not talk.marks:
                await self._mark_found(talk, talk.task)
        return talk

    async def look(self, talk: Talk) -> None:
        """Look on the disk for what the conversation's task is, unless it runs here; what cannot be read is none."""
        assert talk.chat is not None
        try:
            found = await self.runner.find(talk.chat.store, talk.persona_id)
        except PersonaError:
            return  # the conversation itself says what is wrong with it
        if not talk.running:
            talk.task = found

    def _load(self, talk: Talk) -> Chat:
        chat = self._make_chat(talk)
        chat.load()
        return chat

    def use_options(self, options: ChatOptions, tasks: TaskOptions) -> None:
        """Go by other settings in every conversation from its next run on."""
        self.runner.options = tasks
        for talk in self._talks.values():
            if talk.chat is not None:
                talk.chat.set_options(options)

    def use_model(self, model: Model) -> None:
        """Use another model in every conversation from its next run on."""
        for talk in self._talks.values():
            if talk.chat is not None:
                talk.chat.set_model(model)

    def forget(self, persona_id: str) -> None:
        """The persona is gone."""
        self._talks.pop(persona_id, None)
        self.runner.stop(persona_id, "the persona was deleted")

    # -- what happens ----------------------------------------------------------------------------------

    def _hear(self, talk: Talk, event: Event) -> None:
        talk.activity.hear(event)
        if event.type == "agent_start":
            talk.run_id = event.run_id
            # Read again: what others said meanwhile, or the answer to a call that was left, belongs before it.
            now = tuple(talk.chat.turns) if talk.chat is not None else ()
            talk.reread = [turn.id for turn in now] != [turn.id for turn in talk.earlier]
            talk.earlier = now
            talk.events.clear()
        elif event.type == "step_start":
            self._mark_step(talk)
        talk.events.append(event)
        self._on_event(talk, event)

    def _mark_step(self, talk: Talk) -> None:
        task = self.runner.task(talk.persona_id)
        if task is not None and task.mode == "task" and task.step_count:
            mark = step_mark(task.step_count + 1)
            if talk.mark(mark):
                self._on_mark(talk, mark)

    def _see(self, task: AgentTask) -> None:
        talk = self._talks.get(task.persona_id)
        if talk is not None:
            talk.task = task
        self._on_task(task.persona_id)

    # -- acting ----------------------------------------------------------------------------------------

    def send(self, talk: Talk, text: str, *, mode: Mode = "chat") -> None:
        """Start a task, or steer the one that is at work."""
        if talk.chat is None:
            return
        if talk.running:
            talk.chat.steer(text)
            return
        self._start(talk, text, self.runner.start(talk.chat, text, mode=mode))

    def resume(self, talk: Talk, text: str = "") -> None:
        """Go on with a task that a limit stopped or that was interrupted."""
        if talk.chat is not None and not talk.running:
            self._start(talk, text, self.runner.resume(talk.chat, text))

    async def answer(self, talk: Talk, text: str, question_id: str) -> None:
        """Answer what the conversation's task waits for, in this program or since an earlier one.

        Raises:
            PersonaError: see `AgentTaskRunner.respond`.
        """
        assert talk.chat is not None
        if self.runner.is_live(talk.persona_id):
            await self.runner.respond(talk.chat, text, question_id=question_id)
            return
        talk.beginning = True
        try:
            task = await self.runner.respond(talk.chat, text, question_id=question_id)
        finally:
            talk.beginning = False
        talk.task = task
        if self.runner.is_live(talk.persona_id) or not task.is_waiting:
            self._start(talk, "", None)

    def stop(self, talk: Talk) -> None:
        """Stop the task at once."""
        self.runner.stop(talk.persona_id, "stopped by you")

    async def give_up(self, talk: Talk) -> None:
        """Close a task that waits or can be continued, and does not run here.

        Raises:
            PersonaError: see `AgentTaskRunner.stop_found`.
        """
        assert talk.chat is not None
        talk.task = await self.runner.stop_found(talk.chat)
        talk.earlier, talk.events = tuple(talk.chat.turns), []

    def _start(self, talk: Talk, text: str, begin: Awaitable[AgentTask] | None) -> None:
        talk.earlier = talk.earlier if begin is None else tuple(talk.chat.turns) if talk.chat else ()
        if begin is not None:
            talk.events.clear()
        talk.failure, talk.sent, talk.started = "", text, time.monotonic()
        talk._run = asyncio.create_task(self._follow(talk, begin))

    async def _follow(self, talk: Talk, begin: Awaitable[AgentTask] | None) -> None:
        assert talk.chat is not None
        end: AgentEnd | None = None
        try:
            if begin is not None:
                talk.task = await begin
            end = await self.runner.wait(talk.persona_id)
            await self._mark_ending(talk)
        except PersonaError as error:
            talk.failure = str(error)
        except Exception as error:  # noqa: BLE001 - a fault in a run must not take the screen down
            talk.failure = f"The run failed unexpectedly ({type(error).__name__}: {error})."
        back = [turn.content for turn in end.undelivered] if end is not None else []
        back += [turn.content for turn in talk.chat.withdraw_all()]
        # The task is done a moment later; what is told now must already see it so.
        talk._run = None
        self._on_end(talk, end, back)

    async def _mark_ending(self, talk: Talk) -> None:
        """Say in the conversation how a task ended, with the diff of everything it did."""
        task = self.runner.task(talk.persona_id)
        if task is None or task.mode != "task" or not (task.is_over or task.can_continue):
            return
        assert talk.chat is not None
        mark = await asyncio.to_thread(ending_mark, talk.chat, task)
        if talk.mark(mark):
            self._on_mark(talk, mark)

    async def _mark_found(self, talk: Talk, task: AgentTask) -> None:
        """Say how the last task of an earlier program ended, where the conversation shows the place."""
        assert talk.chat is not None
        place = place_of_ending(task, talk.chat.turns)
        if place is not None:
            talk.marks.setdefault(place, []).append(await asyncio.to_thread(ending_mark, talk.chat, task))

    async def close(self, seconds: float) -> None:
        """End everything: waiting tasks stay waiting on disk, those at work are stopped, waited for so long."""
        await self.runner.close(seconds)
