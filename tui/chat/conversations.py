"""The conversations of the personas that were opened: their tasks go on while another persona is on the screen.

Every message is a job of the one `AgentJobs`; what is to be shown of each is kept here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, cast

from agent.core.turns import UserTurn, new_id
from personas.errors import PersonaError
from tui.chat.activity import Activity
from tui.chat.conversation_state import Conversation
from tui.chat.task_markers import ending_mark, found_marks, read_conversation, step_mark
from tui.commands.slash import as_typed
from tui.drafts.draft import OutboxMessage
from tui.settings.model_factory import close_model
from tui.terminal.secrets import redact

if TYPE_CHECKING:
    from agent.chat.chat import Chat, ChatOptions
    from agent.core.events import AgentEnd, Event
    from agent.core.model import Model
    from agent.core.turns import CustomTurn, Turn
    from agent.jobs.agent_jobs import AgentJobs
    from agent.jobs.job import AgentKind, Job
    from agent.jobs.options import JobOptions

MakeChat = Callable[[Conversation], "Chat"]
Badge = Literal["", "working", "waiting", "done", "failed"]


class ConversationManager:
    """All conversations of this program.

    Args:
        runner: what runs the tasks.
        make_chat: makes the conversation of a persona; may block, runs in a thread.
        on_event: called with every event of every run.
        on_end: called when a run is over, with its end, or None where it failed to begin (`Conversation.failure`), and
            with what was queued and not delivered, as one types it.
        on_task: called with the persona's id after every change of a task.
        on_mark: called with every mark.
        on_fault: called with what went wrong in a run, or after it, though nobody foresaw it.
    """

    def __init__(
        self,
        runner: AgentJobs,
        make_chat: MakeChat,
        *,
        on_event: Callable[[Conversation, Event], None],
        on_end: Callable[[Conversation, AgentEnd | None, list[str]], None],
        on_task: Callable[[str], None],
        on_mark: Callable[[Conversation, CustomTurn], None],
        on_fault: Callable[[Exception], object] = lambda _error: None,
    ) -> None:
        self.runner = runner
        self._make_chat = make_chat
        self._on_event = on_event
        self._on_end = on_end
        self._on_task = on_task
        self._on_mark = on_mark
        self._on_fault = on_fault
        self._talks: dict[str, Conversation] = {}
        self._opening = asyncio.Lock()
        self._seen: set[str] = set()
        self._replaced: list[tuple[Model, set[str]]] = []  # with the personas whose runs may still have them
        self._closing: set[asyncio.Task[None]] = set()
        runner.observe(self._see)

    def known(self, persona_id: str | None) -> Conversation | None:
        """Return the conversation if it was opened before."""
        return self._talks.get(persona_id) if persona_id is not None else None

    @property
    def running(self) -> list[Conversation]:
        """The conversations in which a task is at work or waits."""
        return [talk for talk in self._talks.values() if talk.running]

    @property
    def working(self) -> list[Conversation]:
        """The conversations in which the agent works, as opposed to waiting for the person."""
        return [talk for talk in self.running if talk.question is None]

    @property
    def outbox(self) -> list[OutboxMessage]:
        """What was said and is not in a conversation's log yet, in the order of sending."""
        return [message for talk in self._talks.values() for message in talk.outbox()]

    @property
    def badges(self) -> dict[str, Badge]:
        """What each persona's task is, for those where there is something to say."""
        found: dict[str, Badge] = {}
        for task in self.runner.jobs:
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
    def _badge(talk: Conversation) -> Badge:
        if talk.question is not None:
            return "waiting"
        if talk.running:
            return "working"
        if talk.task is not None and talk.task.is_working:
            return "working"  # in another program
        if not talk.news:
            return ""
        failed = talk.failure or (
            talk.task is not None and talk.task.status in ("error", "limit", "interrupted")
        )
        return "failed" if failed else "done"

    async def open(self, persona_id: str) -> Conversation:
        """Return a persona's conversation, read from disk the first time, with the task an earlier program left.

        Raises:
            PersonaError: its session cannot be read.
        """
        async with self._opening:
            talk = self._talks.get(persona_id)
            is_new = talk is None
            if talk is None:
                talk = Conversation(persona_id)
                chat = await asyncio.to_thread(self._load, talk)
                chat.subscribe(lambda event: self._hear(talk, event))
                talk.chat = chat
                talk.earlier = tuple(chat.turns)
                self._talks[persona_id] = talk
        self._seen.add(persona_id)
        if not talk.running:
            await self.look(talk)
            if is_new:
                talk.earlier = talk.turns_now()
                await self.mark_found(talk, talk.earlier)
            else:
                await self.catch_up(talk)
        return talk

    async def catch_up(self, talk: Conversation) -> bool:
        """Read what another program has added to a conversation, or the one it began; return whether that is new."""
        chat = talk.chat
        if chat is None or talk.running:
            return False
        mark = await asyncio.to_thread(chat.session.mark_on_disk)
        at_work = talk.task is not None and talk.task.is_working
        if not at_work and mark in (chat.session.mark, talk.mark_read):
            return False
        before = talk.task, [turn.id for turn in talk.shown], talk.cut_short()
        try:
            if mark != chat.session.mark:
                await asyncio.to_thread(chat.load)
            turns = await asyncio.to_thread(read_conversation, chat)
        except PersonaError:
            return False  # the next run says what is wrong with it
        await self.look(talk)
        if talk.running:
            return False
        talk.mark_read = mark
        if (talk.task, [turn.id for turn in turns], talk.cut_short()) == before:
            return False
        talk.older, talk.earlier, talk.events = None, tuple(turns), []
        talk.marks.clear()
        await self.mark_found(talk, talk.earlier)
        return True

    async def look(self, talk: Conversation) -> None:
        """Look on the disk for what the conversation's task is, unless it runs here; what cannot be read is none."""
        assert talk.chat is not None
        try:
            found = await self.runner.find(talk.chat.store, talk.persona_id)
        except PersonaError:
            return  # the conversation itself says what is wrong with it
        if not talk.running:
            talk.task = found

    async def _look_back(self, talk: Conversation) -> None:
        """After a message between, a task that a limit stopped or that was interrupted can still be continued."""
        assert talk.chat is not None
        with suppress(PersonaError):
            found = await self.runner.find(talk.chat.store, talk.persona_id)
            if found is not None and found.can_continue and not talk.running:
                talk.task = found

    def _load(self, talk: Conversation) -> Chat:
        chat = self._make_chat(talk)
        chat.load()
        return chat

    def use_options(self, options: ChatOptions, tasks: JobOptions) -> None:
        """Go by other settings in every conversation from its next run on."""
        self.runner.options = tasks
        for talk in self._talks.values():
            if talk.chat is not None:
                talk.chat.set_options(options)

    def use_model(self, model: Model, before: Model | None = None) -> None:
        """Use another model in every conversation from its next run on; the one before is closed when no run has it."""
        for talk in self._talks.values():
            if talk.chat is not None:
                talk.chat.set_model(model)
        if before is not None and before is not model:
            self._replaced.append((before, {talk.persona_id for talk in self.running}))
            self._close_unused()

    def _close_unused(self, over: str = "") -> None:
        """Close the models that were replaced and that no run has any more; `over`: the persona whose run has ended."""
        for replaced in list(self._replaced):
            model, users = replaced
            users.discard(over)
            if not users:
                self._replaced.remove(replaced)
                self._close(close_model(model))

    def _close(self, closing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(closing)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def forget(self, persona_id: str) -> None:
        """The persona is gone."""
        talk = self._talks.pop(persona_id, None)
        self.runner.stop(persona_id, "the persona was deleted")
        if talk is not None and talk.chat is not None:
            self._close(self._close_session(talk, talk.chat))

    async def _close_session(self, talk: Conversation, chat: Chat) -> None:
        """Close the file of a conversation that nobody has any more, once its run has ended."""
        if talk._run is not None:
            await asyncio.wait((talk._run,))
        if not talk.running:
            with suppress(PersonaError):
                await asyncio.to_thread(chat.session.close)

    # -- what happens ----------------------------------------------------------------------------------

    def _hear(self, talk: Conversation, event: Event) -> None:
        talk.activity.hear(event)
        if event.type == "agent_start":
            talk.run_id = event.run_id
            talk.model = talk.chat.model if talk.chat is not None else None
            # Read again: what others said meanwhile, or the answer to a call that was left, belongs before it.
            now = tuple(talk.chat.turns) if talk.chat is not None else ()
            talk.reread = [turn.id for turn in now] != [turn.id for turn in talk.earlier]
            talk.earlier = now
            talk.events.clear()
        elif event.type == "step_start":
            self._mark_step(talk)
        elif event.type == "turn_end":
            if event.turn.type == "user" and talk.chat is not None and talk.chat.session.failure is None:  # type: ignore[union-attr]
                talk.heard = True
        elif event.type == "step_end":
            talk.sent = ""
        talk.events.append(event)
        self._on_event(talk, event)
        if event.type == "turn_end":
            self._mark_first_step(talk, event.turn.id)  # type: ignore[union-attr]

    def _mark_step(self, talk: Conversation) -> None:
        task = self.runner.job(talk.persona_id)
        if task is not None and task.kind == "task" and task.step_count:
            mark = step_mark(task.step_count + 1)
            if talk.mark(mark):
                self._on_mark(talk, mark)

    def _mark_first_step(self, talk: Conversation, turn_id: str) -> None:
        """The first step stands below the words that began the task."""
        task = self.runner.job(talk.persona_id)
        if (
            task is not None
            and task.kind == "task"
            and task.prompt_turn_id == turn_id
            and talk.mark(step_mark(1))
        ):
            self._on_mark(talk, talk.marks[turn_id][-1])

    def _see(self, task: Job) -> None:
        talk = self._talks.get(task.persona_id)
        if talk is not None:
            talk.task = task
            if task.is_waiting and self.runner.is_live(task.persona_id):
                talk.sent = ""
            talk.time.see(task.is_waiting, time.monotonic())
        self._on_task(task.persona_id)

    # -- acting ----------------------------------------------------------------------------------------

    def send(
        self,
        talk: Conversation,
        text: str,
        *,
        kind: AgentKind = "chat",
        typed: str | None = None,
        turn_id: str | None = None,
        proposes: bool = False,
        job_id: str | None = None,
    ) -> None:
        """Start a task, or steer the one that is at work.

        Args:
            talk: the conversation.
            text: the message.
            kind: how long the task goes on.
            typed: what comes back if it cannot begin; None for the message as one types it.
            turn_id: the id that the turn gets; None for a new one.
            proposes, job_id: see `AgentJobs.start`.
        """
        if talk.chat is None:
            return
        turn_id = turn_id or new_id("turn")
        if talk.running:
            talk.chat.steer(UserTurn(content=text, id=turn_id))
            return
        typed = as_typed(text) if typed is None else typed
        begin = self.runner.start(
            talk.chat, text, kind=kind, turn_id=turn_id, proposes=proposes, job_id=job_id
        )
        self._start(talk, typed, begin, turn_id=turn_id)

    async def over(self, talk: Conversation) -> AgentEnd | None:
        """Wait until nothing runs in a conversation; return how the last run ended, None where it could not begin."""
        if talk._run is not None:
            await asyncio.wait((talk._run,))
        ends = (event for event in reversed(talk.events) if event.type == "agent_end")
        return cast("AgentEnd | None", next(ends, None))

    def resume(self, talk: Conversation, text: str = "", *, turn_id: str = "") -> None:
        """Go on with a task that a limit stopped or that was interrupted; `turn_id`: the id that the turn gets."""
        if talk.chat is not None and not talk.running:
            turn_id = turn_id or new_id("turn")
            worked = talk.task.worked_seconds if talk.task is not None else 0.0
            typed = f"/continue {text}" if text else ""
            begin = self.runner.resume(talk.chat, text, turn_id=turn_id)
            self._start(talk, typed, begin, worked, turn_id=turn_id)

    async def answer(self, talk: Conversation, text: str, question_id: str) -> None:
        """Answer what the conversation's task waits for, in this program or since an earlier one.

        Raises:
            PersonaError: see `AgentJobs.respond`.
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
            asyncio.get_running_loop().call_soon(self._look_over, talk)  # when the next lines are done
        talk.task = task
        if self.runner.is_live(talk.persona_id) or not task.is_waiting:
            self._start(talk, "", None, task.worked_seconds)

    def _look_over(self, talk: Conversation) -> None:
        if not talk.running:
            self._close_unused(talk.persona_id)

    def stop(self, talk: Conversation) -> None:
        """Stop the task at once."""
        self.runner.stop(talk.persona_id, "stopped by you")

    async def give_up(self, talk: Conversation) -> None:
        """Close a task that waits or can be continued, and does not run here.

        Raises:
            PersonaError: see `AgentJobs.stop_found`.
        """
        assert talk.chat is not None
        talk.task = await self.runner.stop_found(talk.chat)
        talk.earlier, talk.events = tuple(talk.chat.turns), []
        await self.mark_found(talk, talk.earlier)

    def _start(
        self,
        talk: Conversation,
        text: str,
        begin: Awaitable[Job] | None,
        before: float = 0.0,
        *,
        turn_id: str = "",
    ) -> None:
        talk.earlier = talk.earlier if begin is None else tuple(talk.chat.turns) if talk.chat else ()
        if begin is not None:
            talk.events.clear()
        talk.failure, talk.sent, talk.heard = "", text, False
        talk.sent_id = turn_id or new_id("turn")
        talk.time.begin(time.monotonic(), before)
        if begin is not None:
            talk.activity = Activity(since=time.monotonic())  # it has said nothing yet
        talk._run = asyncio.create_task(self._follow(talk, begin))

    async def _follow(self, talk: Conversation, begin: Awaitable[Job] | None) -> None:
        assert talk.chat is not None
        end: AgentEnd | None = None
        try:
            if begin is not None:
                talk.task = await begin
            end = await self.runner.wait(talk.persona_id)
            await self._mark_ending(talk)
        except PersonaError as error:
            talk.failure = redact(str(error))
        except Exception as error:  # noqa: BLE001 - a fault in a run must not take the screen down
            talk.failure = f"The run failed unexpectedly ({type(error).__name__}: {redact(str(error))})."
            self._on_fault(error)
        if talk.failure:
            talk.heard = False  # it goes back
        back = [turn.content for turn in end.undelivered] if end is not None else []
        back += [turn.content for turn in talk.chat.withdraw_all()]
        back = [as_typed("\n".join(back))] if back else []
        talk.undelivered.clear()  # it goes back with the last of the next lines
        # The task is done a moment later; what is told now must already see it so. Nothing is waited for between:
        # what is sent from here on begins another run, and of that nothing goes back.
        talk._run = None
        self._close_unused(talk.persona_id)
        self._on_end(talk, end, back)
        await self._look_again(talk)

    async def _look_again(self, talk: Conversation) -> None:
        """After a run: see what the conversation's task is, where the run does not say."""
        try:
            if talk.failure:
                await self.look(talk)  # a question may still be open
            elif talk.task is not None and talk.task.kind == "chat" and talk.task.is_over:
                await self._look_back(talk)
            else:
                return
        except Exception as error:  # noqa: BLE001 - as in a run
            self._on_fault(error)
        self._on_task(talk.persona_id)

    async def _mark_ending(self, talk: Conversation) -> None:
        """Say in the conversation how a task ended, with the diff of everything it did."""
        task = self.runner.job(talk.persona_id)
        if task is None or task.kind != "task" or not (task.is_over or task.can_continue):
            return
        assert talk.chat is not None
        mark = await asyncio.to_thread(ending_mark, talk.chat, task)
        if talk.mark(mark):
            self._on_mark(talk, mark)

    async def mark_found(self, talk: Conversation, turns: Sequence[Turn]) -> None:
        """Say among these turns where the steps of tasks of earlier programs began, and how those tasks ended."""
        assert talk.chat is not None
        found = await asyncio.to_thread(found_marks, talk.chat, talk.task, turns)
        talk.marks.update(found)

    async def close(self, seconds: float) -> None:
        """End everything: on disk waiting tasks stay waiting, those at work are interrupted; waited for so long."""
        await self.runner.close(seconds)
