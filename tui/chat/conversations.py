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
        self._conversations: dict[str, Conversation] = {}
        self._opening = asyncio.Lock()
        self._seen: set[str] = set()
        self._replaced: list[tuple[Model, set[str]]] = []  # with the personas whose runs may still have them
        self._closing: set[asyncio.Task[None]] = set()
        runner.observe(self._see)

    def known(self, persona_id: str | None) -> Conversation | None:
        """Return the conversation if it was opened before."""
        return self._conversations.get(persona_id) if persona_id is not None else None

    @property
    def running(self) -> list[Conversation]:
        """The conversations in which a task is at work or waits."""
        return [conversation for conversation in self._conversations.values() if conversation.running]

    @property
    def working(self) -> list[Conversation]:
        """The conversations in which the agent works, as opposed to waiting for the person."""
        return [conversation for conversation in self.running if conversation.question is None]

    @property
    def outbox(self) -> list[OutboxMessage]:
        """What was said and is not in a conversation's log yet, in the order of sending."""
        return [message for conversation in self._conversations.values() for message in conversation.outbox()]

    @property
    def badges(self) -> dict[str, Badge]:
        """What each persona's task is, for those where there is something to say."""
        found: dict[str, Badge] = {}
        for task in self.runner.jobs:
            if task.is_waiting:
                found[task.persona_id] = "waiting"
            elif task.can_continue and task.persona_id not in self._seen:
                found[task.persona_id] = "failed"
        for conversation in self._conversations.values():
            badge = self._badge(conversation)
            if badge:
                found[conversation.persona_id] = badge
            else:
                found.pop(conversation.persona_id, None)
        return found

    @staticmethod
    def _badge(conversation: Conversation) -> Badge:
        if conversation.question is not None:
            return "waiting"
        if conversation.running:
            return "working"
        if conversation.task is not None and conversation.task.is_working:
            return "working"  # in another program
        if not conversation.news:
            return ""
        failed = conversation.failure or (
            conversation.task is not None and conversation.task.status in ("error", "limit", "interrupted")
        )
        return "failed" if failed else "done"

    async def open(self, persona_id: str) -> Conversation:
        """Return a persona's conversation, read from disk the first time, with the task an earlier program left.

        Raises:
            PersonaError: its session cannot be read.
        """
        async with self._opening:
            conversation = self._conversations.get(persona_id)
            is_new = conversation is None
            if conversation is None:
                conversation = Conversation(persona_id)
                chat = await asyncio.to_thread(self._load, conversation)
                chat.subscribe(lambda event: self._hear(conversation, event))
                conversation.chat = chat
                conversation.earlier = tuple(chat.turns)
                self._conversations[persona_id] = conversation
        self._seen.add(persona_id)
        if not conversation.running:
            await self.look(conversation)
            if is_new:
                conversation.earlier = conversation.turns_now()
                await self.mark_found(conversation, conversation.earlier)
            else:
                await self.catch_up(conversation)
        return conversation

    async def catch_up(self, conversation: Conversation) -> bool:
        """Read what another program has added to a conversation, or the one it began; return whether that is new."""
        chat = conversation.chat
        if chat is None or conversation.running:
            return False
        mark = await asyncio.to_thread(chat.session.mark_on_disk)
        at_work = conversation.task is not None and conversation.task.is_working
        if not at_work and mark in (chat.session.mark, conversation.mark_read):
            return False
        before = conversation.task, [turn.id for turn in conversation.shown], conversation.cut_short()
        try:
            if mark != chat.session.mark:
                await asyncio.to_thread(chat.load)
            turns = await asyncio.to_thread(read_conversation, chat)
        except PersonaError:
            return False  # the next run says what is wrong with it
        await self.look(conversation)
        if conversation.running:
            return False
        conversation.mark_read = mark
        if (conversation.task, [turn.id for turn in turns], conversation.cut_short()) == before:
            return False
        conversation.older, conversation.earlier, conversation.events = None, tuple(turns), []
        conversation.marks.clear()
        await self.mark_found(conversation, conversation.earlier)
        return True

    async def look(self, conversation: Conversation) -> None:
        """Look on the disk for what the conversation's task is, unless it runs here; what cannot be read is none."""
        assert conversation.chat is not None
        try:
            found = await self.runner.find(conversation.chat.store, conversation.persona_id)
        except PersonaError:
            return  # the conversation itself says what is wrong with it
        if not conversation.running:
            conversation.task = found

    async def _look_back(self, conversation: Conversation) -> None:
        """After a message between, a task that a limit stopped or that was interrupted can still be continued."""
        assert conversation.chat is not None
        with suppress(PersonaError):
            found = await self.runner.find(conversation.chat.store, conversation.persona_id)
            if found is not None and found.can_continue and not conversation.running:
                conversation.task = found

    def _load(self, conversation: Conversation) -> Chat:
        chat = self._make_chat(conversation)
        chat.load()
        return chat

    def use_options(self, options: ChatOptions, tasks: JobOptions) -> None:
        """Go by other settings in every conversation from its next run on."""
        self.runner.options = tasks
        for conversation in self._conversations.values():
            if conversation.chat is not None:
                conversation.chat.set_options(options)

    def use_model(self, model: Model, before: Model | None = None) -> None:
        """Use another model in every conversation from its next run on; the one before is closed when no run has it."""
        for conversation in self._conversations.values():
            if conversation.chat is not None:
                conversation.chat.set_model(model)
        if before is not None and before is not model:
            self._replaced.append((before, {conversation.persona_id for conversation in self.running}))
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
        conversation = self._conversations.pop(persona_id, None)
        self.runner.stop(persona_id, "the persona was deleted")
        if conversation is not None and conversation.chat is not None:
            self._close(self._close_session(conversation, conversation.chat))

    async def _close_session(self, conversation: Conversation, chat: Chat) -> None:
        """Close the file of a conversation that nobody has any more, once its run has ended."""
        if conversation._run is not None:
            await asyncio.wait((conversation._run,))
        if not conversation.running:
            with suppress(PersonaError):
                await asyncio.to_thread(chat.session.close)

    # -- what happens ----------------------------------------------------------------------------------

    def _hear(self, conversation: Conversation, event: Event) -> None:
        conversation.activity.hear(event)
        if event.type == "agent_start":
            conversation.run_id = event.run_id
            conversation.model = conversation.chat.model if conversation.chat is not None else None
            # Read again: what others said meanwhile, or the answer to a call that was left, belongs before it.
            now = tuple(conversation.chat.turns) if conversation.chat is not None else ()
            conversation.reread = [turn.id for turn in now] != [turn.id for turn in conversation.earlier]
            conversation.earlier = now
            conversation.events.clear()
        elif event.type == "step_start":
            self._mark_step(conversation)
        elif event.type == "turn_end":
            is_user = event.turn.type == "user"  # type: ignore[union-attr]
            if is_user and conversation.chat is not None and conversation.chat.session.failure is None:
                conversation.heard = True
        elif event.type == "step_end":
            conversation.sent = ""
        conversation.events.append(event)
        self._on_event(conversation, event)
        if event.type == "turn_end":
            self._mark_first_step(conversation, event.turn.id)  # type: ignore[union-attr]

    def _mark_step(self, conversation: Conversation) -> None:
        task = self.runner.job(conversation.persona_id)
        if task is not None and task.kind == "task" and task.step_count:
            mark = step_mark(task.step_count + 1)
            if conversation.mark(mark):
                self._on_mark(conversation, mark)

    def _mark_first_step(self, conversation: Conversation, turn_id: str) -> None:
        """The first step stands below the words that began the task."""
        task = self.runner.job(conversation.persona_id)
        if (
            task is not None
            and task.kind == "task"
            and task.prompt_turn_id == turn_id
            and conversation.mark(step_mark(1))
        ):
            self._on_mark(conversation, conversation.marks[turn_id][-1])

    def _see(self, task: Job) -> None:
        conversation = self._conversations.get(task.persona_id)
        if conversation is not None:
            conversation.task = task
            if task.is_waiting and self.runner.is_live(task.persona_id):
                conversation.sent = ""
            conversation.time.see(task.is_waiting, time.monotonic())
        self._on_task(task.persona_id)

    # -- acting ----------------------------------------------------------------------------------------

    def send(
        self,
        conversation: Conversation,
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
            conversation: the conversation.
            text: the message.
            kind: how long the task goes on.
            typed: what comes back if it cannot begin; None for the message as one types it.
            turn_id: the id that the turn gets; None for a new one.
            proposes, job_id: see `AgentJobs.start`.
        """
        if conversation.chat is None:
            return
        turn_id = turn_id or new_id("turn")
        if conversation.running:
            conversation.chat.steer(UserTurn(content=text, id=turn_id))
            return
        typed = as_typed(text) if typed is None else typed
        begin = self.runner.start(
            conversation.chat, text, kind=kind, turn_id=turn_id, proposes=proposes, job_id=job_id
        )
        self._start(conversation, typed, begin, turn_id=turn_id)

    async def over(self, conversation: Conversation) -> AgentEnd | None:
        """Wait until nothing runs in a conversation; return how the last run ended, None where it could not begin."""
        if conversation._run is not None:
            await asyncio.wait((conversation._run,))
        ends = (event for event in reversed(conversation.events) if event.type == "agent_end")
        return cast("AgentEnd | None", next(ends, None))

    def resume(self, conversation: Conversation, text: str = "", *, turn_id: str = "") -> None:
        """Go on with a task that a limit stopped or that was interrupted; `turn_id`: the id that the turn gets."""
        if conversation.chat is not None and not conversation.running:
            turn_id = turn_id or new_id("turn")
            worked = conversation.task.worked_seconds if conversation.task is not None else 0.0
            typed = f"/continue {text}" if text else ""
            begin = self.runner.resume(conversation.chat, text, turn_id=turn_id)
            self._start(conversation, typed, begin, worked, turn_id=turn_id)

    async def answer(self, conversation: Conversation, text: str, question_id: str) -> None:
        """Answer what the conversation's task waits for, in this program or since an earlier one.

        Raises:
            PersonaError: see `AgentJobs.respond`.
        """
        assert conversation.chat is not None
        if self.runner.is_live(conversation.persona_id):
            await self.runner.respond(conversation.chat, text, question_id=question_id)
            return
        conversation.beginning = True
        try:
            task = await self.runner.respond(conversation.chat, text, question_id=question_id)
        finally:
            conversation.beginning = False
            asyncio.get_running_loop().call_soon(
                self._look_over, conversation
            )  # when the next lines are done
        conversation.task = task
        if self.runner.is_live(conversation.persona_id) or not task.is_waiting:
            self._start(conversation, "", None, task.worked_seconds)

    def _look_over(self, conversation: Conversation) -> None:
        if not conversation.running:
            self._close_unused(conversation.persona_id)

    def stop(self, conversation: Conversation) -> None:
        """Stop the task at once."""
        self.runner.stop(conversation.persona_id, "stopped by you")

    async def give_up(self, conversation: Conversation) -> None:
        """Close a task that waits or can be continued, and does not run here.

        Raises:
            PersonaError: see `AgentJobs.stop_found`.
        """
        assert conversation.chat is not None
        conversation.task = await self.runner.stop_found(conversation.chat)
        conversation.earlier, conversation.events = tuple(conversation.chat.turns), []
        await self.mark_found(conversation, conversation.earlier)

    def _start(
        self,
        conversation: Conversation,
        text: str,
        begin: Awaitable[Job] | None,
        before: float = 0.0,
        *,
        turn_id: str = "",
    ) -> None:
        conversation.earlier = (
            conversation.earlier
            if begin is None
            else tuple(conversation.chat.turns)
            if conversation.chat
            else ()
        )
        if begin is not None:
            conversation.events.clear()
        conversation.failure, conversation.sent, conversation.heard = "", text, False
        conversation.sent_id = turn_id or new_id("turn")
        conversation.time.begin(time.monotonic(), before)
        if begin is not None:
            conversation.activity = Activity(since=time.monotonic())  # it has said nothing yet
        conversation._run = asyncio.create_task(self._follow(conversation, begin))

    async def _follow(self, conversation: Conversation, begin: Awaitable[Job] | None) -> None:
        assert conversation.chat is not None
        end: AgentEnd | None = None
        try:
            if begin is not None:
                conversation.task = await begin
            end = await self.runner.wait(conversation.persona_id)
            await self._mark_ending(conversation)
        except PersonaError as error:
            conversation.failure = redact(str(error))
        except Exception as error:  # noqa: BLE001 - a fault in a run must not take the screen down
            conversation.failure = (
                f"The run failed unexpectedly ({type(error).__name__}: {redact(str(error))})."
            )
            self._on_fault(error)
        if conversation.failure:
            conversation.heard = False  # it goes back
        back = [turn.content for turn in end.undelivered] if end is not None else []
        back += [turn.content for turn in conversation.chat.withdraw_all()]
        back = [as_typed("\n".join(back))] if back else []
        conversation.undelivered.clear()  # it goes back with the last of the next lines
        # The task is done a moment later; what is told now must already see it so. Nothing is waited for between:
        # what is sent from here on begins another run, and of that nothing goes back.
        conversation._run = None
        self._close_unused(conversation.persona_id)
        self._on_end(conversation, end, back)
        await self._look_again(conversation)

    async def _look_again(self, conversation: Conversation) -> None:
        """After a run: see what the conversation's task is, where the run does not say."""
        try:
            if conversation.failure:
                await self.look(conversation)  # a question may still be open
            elif (
                conversation.task is not None
                and conversation.task.kind == "chat"
                and conversation.task.is_over
            ):
                await self._look_back(conversation)
            else:
                return
        except Exception as error:  # noqa: BLE001 - as in a run
            self._on_fault(error)
        self._on_task(conversation.persona_id)

    async def _mark_ending(self, conversation: Conversation) -> None:
        """Say in the conversation how a task ended, with the diff of everything it did."""
        task = self.runner.job(conversation.persona_id)
        if task is None or task.kind != "task" or not (task.is_over or task.can_continue):
            return
        assert conversation.chat is not None
        mark = await asyncio.to_thread(ending_mark, conversation.chat, task)
        if conversation.mark(mark):
            self._on_mark(conversation, mark)

    async def mark_found(self, conversation: Conversation, turns: Sequence[Turn]) -> None:
        """Say among these turns where the steps of tasks of earlier programs began, and how those tasks ended."""
        assert conversation.chat is not None
        found = await asyncio.to_thread(found_marks, conversation.chat, turns)
        conversation.marks.update(found)

    async def close(self, seconds: float) -> None:
        """End everything: on disk waiting tasks stay waiting, those at work are interrupted; waited for so long."""
        await self.runner.close(seconds)
