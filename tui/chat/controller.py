"""The conversation on the main screen: chat bar, panel and runs, for whichever persona is open."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from personas.errors import PersonaError
from tui.chat.activity_line import ActivityLine
from tui.chat.chat_bar_drafts import ChatBarDrafts
from tui.chat.chat_bar_labels import HINT
from tui.chat.context import ChatContext
from tui.chat.history import ConversationHistory
from tui.chat.labels import spent
from tui.chat.panel_controller import PanelController
from tui.chat.panel_state import Panel, PanelState
from tui.chat.questions import QuestionController
from tui.chat.run_events import RunEvents
from tui.chat.tasks import TaskController
from tui.commands.slash import as_typed
from tui.drafts.chat_drafts import below
from tui.settings.schema import OFFLINE

if TYPE_CHECKING:
    from agent.chat.chat import Chat
    from agent.core.model import Model
    from agent.jobs.agent_jobs import AgentJobs
    from agent.jobs.job import AgentKind, Question
    from agent.outputs.evaluator import Evaluator
    from tui.chat.broadcast import Broadcast
    from tui.chat.conversation_state import Conversation
    from tui.chat.conversations import Badge, ConversationManager
    from tui.chat.view import ChatView, PanelView, TurnsView
    from tui.drafts.outbox import OutgoingMessage
    from tui.settings.schema import Settings


ENDS_WHEN_DONE = "quits when done"

UNREAD = "The conversation could not be opened. Fix the problem shown above and it will open."
"""What stands in the panel where even what was said cannot be known."""

SETTINGS_WITHIN = 1.0
"""Seconds that a message waits for a look at the settings file."""


class ConversationController:
    """Shows and sends what is said about the open persona; each part has its own subject.

    Args:
        screen: the main screen.
        evaluator: gives what runs and judges test inputs, by the settings as they are now; may block.
        note_fault: keeps a fault in the log. Blocking.

    Attributes:
        panel_controller: when the panel shows, and what it covers.
        drafts: the draft in the chat bar, and the outbox.
        activity: the line that says what the agent does.
        history: the turns that are shown, and other conversations.
        questions: what the task asks.
        tasks: going on with a task, stopping it, what is queued.
        runs: what runs tell.
    """

    def __init__(
        self,
        screen: ChatView,
        evaluator: Callable[[], Evaluator],
        note_fault: Callable[[BaseException], None],
    ) -> None:
        self._evaluator, self._keep_fault = evaluator, note_fault
        self._context = context = ChatContext(screen, self.sync)
        self.panel_controller = panel = PanelController(context)
        self.drafts = ChatBarDrafts(context)
        self.activity = ActivityLine(context, panel)
        self.history = ConversationHistory(context, panel, self.drafts, self.activity, self.show_unread)
        self.questions = QuestionController(context, panel, self.drafts)
        self.tasks = TaskController(context, panel, self.drafts, self.history)
        self.runs = RunEvents(context, panel, self.drafts, self.activity)
        self._usual_hint = HINT
        self._attached = asyncio.Event()

    def begin(self, panel: PanelView) -> None:
        """The panel is there: conversations can be."""
        from tui.chat.conversations import ConversationManager

        self.panel_controller.attach(panel)
        self.panel_controller.use_times(self._context.screen.program.settings)
        if self._context.screen.program.model_name == OFFLINE:
            self._usual_hint = "Ask for a change in plain words…"
        self._context.conversations = ConversationManager(
            self._make_runner(),
            self._make_chat,
            on_event=self.runs.hear,
            on_end=self.runs.ended,
            on_task=self.runs.task_changed,
            on_mark=self.runs.marked,
            on_fault=self._note_fault,
        )
        self._attached.set()
        self.sync()

    async def find_tasks(self) -> None:
        """Look in all conversations for tasks an earlier program left, so that the list can show them."""
        if self._context.conversations is not None and self._context.document is not None:
            await self._context.conversations.runner.find_all(self._context.document.workspace.store)
            self._context.screen.show_badges()

    # -- state --------------------------------------------------------------------------------------------

    @property
    def current(self) -> Conversation | None:
        """The conversation about the open persona."""
        return self._context.conversation

    @property
    def conversations(self) -> ConversationManager | None:
        """All conversations; None until the panel is there."""
        return self._context.conversations

    @property
    def view(self) -> TurnsView:
        """The turns on the screen."""
        return self.panel_controller.view

    @property
    def panel(self) -> Panel:
        """The panel's state machine."""
        return self.panel_controller.machine

    @property
    def shown_id(self) -> str:
        """Whose conversation is shown; empty for nobody's."""
        return self._context.shown_id

    @property
    def question(self) -> Question | None:
        """What the open persona's task waits for."""
        return self._context.question

    @property
    def running(self) -> bool:
        """Whether a task about the open persona is at work, or waits, in this program."""
        return self._context.running

    @property
    def from_when(self) -> str:
        """From when on another model is asked, in words: what is sent meanwhile is for the run that is at work."""
        return "Once this run is over" if self.running else "From the next message on"

    @property
    def note(self) -> str:
        """Which model answers, and what it took so far; before it, that the program is about to end."""
        cost = spent(self._context.screen.program.model_name, self._context.conversation)
        return f"{ENDS_WHEN_DONE} · {cost}" if self.runs.when_idle is not None else cost

    @property
    def badges(self) -> dict[str, Badge]:
        """What each persona's task is, for those where there is something to say."""
        return self._context.conversations.badges if self._context.conversations else {}

    # -- opening ------------------------------------------------------------------------------------------

    def _make_runner(self) -> AgentJobs:
        from agent.jobs.agent_jobs import AgentJobs
        from agent.jobs.saved_approvals import SavedApprovals
        from tui.settings.model_factory import task_options

        return AgentJobs(
            task_options(self._context.screen.program.settings), grants=SavedApprovals.of_person()
        )

    def _make_chat(self, conversation: Conversation) -> Chat:
        """Make a conversation; runs in a thread."""
        from agent.chat.chat import Chat
        from agent.outputs.agent_controls import AgentOutputs
        from tui.settings.model_factory import chat_options

        program = self._context.screen.program
        assert self._context.document is not None
        loop = program.loop

        workspace = self._context.document.workspace

        def keep() -> None:
            loop.call_soon_threadsafe(self.runs.keep, conversation)

        async def flush() -> None:
            if self._context.document is not None and self._context.document.id == conversation.persona_id:
                await self._context.document.flush()

        outputs = AgentOutputs(workspace.store, conversation.persona_id, self._evaluator)
        chat = Chat(
            workspace.store,
            conversation.persona_id,
            program.model(),
            options=chat_options(program.settings),
            flush=flush,
            on_change=self.runs.changed,
            on_keep=keep,
            on_wait=self._context.screen.show_message,
            writes=workspace.write_then,
            outputs=outputs,
        )
        chat.subscribe(lambda event: outputs.begin_budget() if event.type == "agent_start" else None)
        return chat

    def _note_fault(self, error: Exception) -> None:
        self._context.screen.start(asyncio.to_thread(self._keep_fault, error))

    @property
    def settled(self) -> asyncio.Event:
        """Set while the conversation of the open persona is read, or there is none."""
        return self._context.settled

    def show(self, persona_id: str, reading: Awaitable[bool] | None = None) -> Awaitable[None]:
        """Show a persona's conversation: the chat bar is its own at once, what was said is shown when it is read.

        Args:
            persona_id: the persona; the draft of the one before is kept.
            reading: gives whether the persona itself could be read, which is waited for; None where it is read.
        """
        self.panel_controller.stop_reading()
        self.settled.clear()
        if self._context.shown is not None:
            self.drafts.unsent.texts[self._context.shown] = self._context.bar.unsent
        self._leave_talk()
        typed = "" if self._context.shown is not None else self._context.bar.unsent
        just_sent = () if self._context.shown is not None else self._context.bar.sent.messages
        self._context.bar.sent.begin()
        goes_on = self._context.shown == persona_id or typed.strip()
        show_draft = self._context.bar.set_draft if goes_on else self._context.bar.begin_draft
        if self._context.shown is not None:
            show_draft(self.drafts.unsent.texts.pop(persona_id, ""))
        elif stored := self.drafts.unsent.texts.pop(persona_id, ""):
            show_draft(below(stored, typed))
        if typed.strip():
            self.drafts.unsent.answers.pop(persona_id, None)  # who typed ahead did not see what is asked
        self._context.shown, self._context.conversation = persona_id, None
        self.drafts.outbox.assign(persona_id)
        self.drafts.unsent.assign(persona_id)
        self.drafts.show_sent((), just_sent)  # what was said to another is not recalled here
        self._clear_view()
        self.questions.show()
        self.sync()
        return self._context.screen.start(self._read(persona_id, self._context.bar.draft, reading))

    def once_read(self, action: Callable[[], object]) -> None:
        """Do something with the conversation, once it is read."""

        async def later() -> None:
            await self.settled.wait()
            action()

        if self.settled.is_set():
            action()
        else:
            self._context.screen.start(later())

    def show_none(self) -> None:
        """Show no conversation: a persona is being made, and what is written is for that one."""
        self.settled.clear()
        if self._context.shown is not None:
            self._leave_talk()
            self.drafts.unsent.texts[self._context.shown] = self._context.bar.unsent
            self._context.bar.begin_draft("")
        self._context.shown = self._context.conversation = None
        self.drafts.show_sent(())
        self._clear_view()
        self.sync()

    def _clear_view(self) -> None:
        if self.panel_controller.panel_view is not None:
            self.panel_controller.view.clear()
        self.panel_controller.machine.reset()
        self.activity.trace.clear()
        self.history.watched = ""

    async def _read(self, persona_id: str, draft: str, reading: Awaitable[bool] | None) -> None:
        """Read a conversation and show it; `draft`: what was in the chat bar when it was asked for."""
        try:
            if reading is not None and not await reading:
                return
            await self._attached.wait()
            assert self._context.conversations is not None
            conversation = await self._context.conversations.open(persona_id)
            if (
                self._context.document is not None
                and self._context.document.id == persona_id == self._context.shown
            ):
                self._show_opened(conversation, draft)
        except PersonaError as error:
            self._context.screen.show_message(str(error), error=True)
            self.drafts.unsent.answers.pop(persona_id, None)
            if self._context.shown == persona_id:
                self.panel_controller.view.when_empty = UNREAD
        finally:  # whatever happened: nobody waits for it any more
            if self._context.shown in (persona_id, None):
                self.settled.set()
                self._context.bar.take_kept_ups()
        self.sync()

    async def show_unread(self) -> None:
        """Show the conversation of the open persona where that was not possible before."""
        if self._context.conversation is None and self._context.shown is not None and self.settled.is_set():
            await self.show(self._context.shown)

    async def watch(self, session_id: str) -> None:
        """Show the conversation of a run at work for the open persona, in which nothing can be said.

        What is said meanwhile is for the persona's own conversation, which is shown again then.
        """
        await self.settled.wait()
        self._leave_talk()
        self._context.conversation = None
        self._clear_view()
        await self.history.watch(session_id)

    def _show_opened(self, conversation: Conversation, draft: str) -> None:
        """Show a conversation that was read; `draft`: what was in the chat bar when it was asked for."""
        self._context.conversation = conversation
        persona_id = conversation.persona_id
        had_news, conversation.news = conversation.news, False
        self.history.show(conversation, self._context.bar.sent.messages)
        self.panel_controller.machine.reset(pinned=conversation.pinned)
        if conversation.running or had_news:
            # what was said while another persona was open comes up like an answer
            self.panel_controller.machine.user_sent()
        elif (
            conversation.task is not None
            and conversation.task.status == "interrupted"
            and conversation.kept is None
        ):
            # what was being written when the program ended may cover the placeholder
            self.panel_controller.machine.error_shown()
        if conversation.kept is not None:
            self.panel_controller.view.restore_view_state(conversation.kept)
        answered, question = self.drafts.unsent.answers.pop(persona_id, None), conversation.question
        is_answer = question is not None and question.id == answered and self._context.bar.draft == draft
        self.questions.show(mine=is_answer)

    def _leave_talk(self) -> None:
        """Remember how the conversation stood on the screen."""
        conversation = self._context.conversation
        self.questions.leave()
        if conversation is None:
            return
        conversation.kept = self.panel_controller.view.view_state()
        conversation.pinned = self.panel_controller.machine.state is PanelState.PINNED
        if asked := self.drafts.answered_now:
            self.drafts.unsent.answers[conversation.persona_id] = asked

    def forget(self, persona_id: str) -> None:
        """A persona was deleted; its draft stays its own, and is there again when it is brought back."""
        if self._context.conversations is not None:
            self._context.conversations.forget(persona_id)
        self.drafts.unsent.answers.pop(persona_id, None)
        if self._context.shown == persona_id:
            self.drafts.unsent.texts[persona_id] = self._context.bar.unsent
            self._context.bar.begin_draft("")
            self._context.conversation = self._context.shown = None
            self.panel_controller.view.clear()
            self.panel_controller.machine.reset()
        self.sync()

    # -- sending ------------------------------------------------------------------------------------------

    def send(self, text: str, *, kind: AgentKind | None = None) -> Coroutine[Any, Any, None]:
        """Send a message about the open persona: it opens a task, or steers the one that is at work.

        It is kept from now on, not from when the coroutine begins, and is for that persona whichever is open then.

        Args:
            text: what the person says.
            kind: how long it goes on; None for what the person has chosen.
        """
        typed = f"/task {text}" if kind == "task" else as_typed(text)
        return self._send(self.drafts.sent(typed), text, kind or ("task" if self.tasks.task_mode else "chat"))

    async def _send(self, message: OutgoingMessage, text: str, kind: AgentKind) -> None:
        with self.drafts.on_its_way(message):
            await self.settled.wait()  # in the first moments the home is still being read
            if not message.persona_id:
                message.is_answer = True
                self._context.screen.show_message("Open a persona first.")
                return
            await self._look_at_settings()
            conversation, conversations = (
                await self._talk_for(message.persona_id),
                self._context.conversations,
            )
            if conversation is None or conversations is None:
                message.is_answer = True
                return
            if conversation.question is not None and not conversation.running:
                message.is_answer = True
                self._context.screen.show_message(
                    "The task is waiting for an answer; Enter sends this as the answer."
                )
                return
            if conversation is self._context.conversation:
                self.panel_controller.machine.user_sent()
                self.panel_controller.view.follow()
                self.sync()
            if not conversation.running:
                await self._context.flush()
            conversations.send(conversation, text, kind=kind, typed=message.typed, turn_id=message.turn_id)
            self.drafts.outbox.end(message)
        self.sync()

    @property
    def broadcast(self) -> Broadcast | None:
        """The message to many personas that is on its way; None for none."""
        return self._context.broadcast

    async def send_to_each(
        self, persona_ids: Sequence[str], text: str, on_change: Callable[[], object]
    ) -> Broadcast | None:
        """Send a message to the agents of many personas, whose changes are proposals; return what came of it.

        None where nothing was begun, which is told. `on_change` is called when it is further.
        """
        from tui.chat.broadcast import Broadcast

        conversations = self._context.conversations
        if conversations is None or self._context.broadcast is not None:
            self._context.screen.show_message(
                "A message to many personas is being answered; wait for it or stop it first."
            )
            return None
        self._context.broadcast = broadcast = Broadcast(conversations, persona_ids, text, on_change)
        try:
            await self._look_at_settings()
            await self._context.flush()
            await broadcast.run()
        finally:
            self._context.broadcast = None
        on_change()
        return broadcast

    async def _look_at_settings(self) -> None:
        """A message goes by the settings as they are; a disk that hangs does not hold it up."""
        look = self._context.screen.start(self._context.screen.program.look_at_settings())
        await asyncio.wait({look}, timeout=SETTINGS_WITHIN)

    async def _talk_for(self, persona_id: str) -> Conversation | None:
        """Return the conversation about a persona, opened where that was not possible before.

        None where there is none, which is told.

        Raises:
            PersonaError: that of a persona that is not shown cannot be read.
        """
        if self._context.conversations is None or not persona_id:
            self._context.screen.show_message("Open a persona first.")
            return None
        if persona_id == self._context.shown and self._context.conversation is None:
            await self.show(persona_id)
        if persona_id == self._context.shown:
            return self._context.conversation
        return await self._context.conversations.open(persona_id)

    async def stop_all(self, seconds: float) -> None:
        """End every task: the next program can go on with those at work. The program is about to end.

        A tool's write that is under way has its own time: its result says what was done.
        """
        if self._context.conversations is not None:
            from agent.tools.context import SETTLES_WITHIN

            is_writing = self._context.document is not None and self._context.document.workspace.writing
            await self._context.conversations.close(seconds + (SETTLES_WITHIN if is_writing else 0.0))

    def use_settings(self, settings: Settings) -> None:
        """Go by other settings in every conversation from the next message on, and for how long the panel stays."""
        from tui.settings.model_factory import chat_options, task_options

        self.panel_controller.use_times(settings)
        if self._context.conversations is not None:
            self._context.conversations.use_options(chat_options(settings), task_options(settings))

    def use_model(self, model: Model, before: Model | None) -> None:
        """Use another model in every conversation from the next message on; the one before goes when no run has it."""
        if self._context.conversations is not None:
            self._context.conversations.use_model(model, before)
        self.sync()

    # -- the panel ----------------------------------------------------------------------------------------

    def sync(self) -> None:
        """Bring panel, chat bar and marks in line with what is."""
        if (
            self.panel_controller.panel_view is None
            or not self.panel_controller.panel_view.is_mounted
            or self._context.is_over
        ):
            return
        self.questions.show()
        if self._context.running != self.panel_controller.machine.in_flight:
            (
                self.panel_controller.machine.request_started
                if self._context.running
                else self.panel_controller.machine.request_ended
            )()
        self.panel_controller.make_room()
        state = self.panel_controller.machine.state
        if state is PanelState.HIDDEN and self.panel_controller.reading:
            self.panel_controller.stop_reading()
        self.panel_controller.panel_view.show_state(state)
        self.panel_controller.panel_view.enlarge(self.panel_controller.machine.enlarged)
        self.panel_controller.show_way_back()
        self._context.bar.show_output_button(
            state is PanelState.HIDDEN and not self.panel_controller.view.is_empty
        )
        self._context.bar.set_hint(self.tasks.hint(self._usual_hint), can_continue=self.tasks.can_continue)
        self._context.bar.set_task_mode(self.tasks.task_mode)
        self.tasks.give_queue_back()
        self.tasks.show_queued()
        self.drafts.note_outbox()
        self.activity.show()
        self.activity.keep_time()
        self.panel_controller.arm()
        self.panel_controller.panel_view.cover_soon()
        self._context.screen.show_badges()

    def tick(self) -> None:
        """A second went by: ages, durations, and drafts to be stored."""
        self._context.screen.start_once(self.drafts.store)
        if not self._context.running:
            self.activity.show()
            self._context.screen.start_once(self.history.catch_up)

    def page(self, pages: int) -> None:
        """Scroll by so many pages what is asked, else the turns; where they are hidden, show them. 0: go to the end."""
        if not pages:
            if self.panel_controller.panel_shown:
                self.view.follow()
                self.panel_controller.interacted()
        elif self.questions.scroll_question(pages):
            return
        elif self.panel_controller.panel_shown:
            self.view.page(pages)
            self.panel_controller.interacted()
        else:
            self.panel_controller.panel_event("show_output")

    async def find(self, text: str) -> int:
        """Read the conversation where a text was said; return in how many turns it was."""
        await self.settled.wait()
        was_reading = self.panel_controller.reading
        await self.history.load_older()  # all that was ever said is looked through
        if not was_reading:
            self.panel_controller.start_reading()  # before the search, which goes to what it finds
        found = self.view.search(text)
        if not found and not was_reading:
            self.panel_controller.end_reading()
        return found

    # -- the chat bar -------------------------------------------------------------------------------------

    def sent_messages(self) -> list[str]:
        """What the person sent, latest first."""
        return self._context.bar.sent.find("")
