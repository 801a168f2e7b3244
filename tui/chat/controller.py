"""The conversation on the main screen: chat bar, panel and runs, for whichever persona is open."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

from textual.widgets import Input, TextArea

from personas.errors import PersonaError
from tui.chat.event_handlers import Hearing
from tui.chat.labels import spent
from tui.chat.panel_state import PanelState
from tui.commands.slash import as_typed
from tui.drafts.chat_drafts import below
from tui.settings.schema import OFFLINE
from tui.terminal.visible_controls import from_shown
from tui.widgets.chat_bar_labels import HINT
from tui.widgets.text.document_editor import TextEditor

if TYPE_CHECKING:
    from agent.chat.chat import Chat
    from agent.core.model import Model
    from agent.jobs.agent_jobs import AgentJobs
    from agent.jobs.job import AgentKind
    from tui.chat.conversation_state import Talk
    from tui.chat.conversations import Badge
    from tui.drafts.outbox import Message
    from tui.screens.main.screen import MainScreen
    from tui.settings.schema import Settings
    from tui.widgets.agent_panel import AgentPanel


ENDS_WHEN_DONE = "quits when done"

UNREAD = "The conversation could not be opened; it is once that is mended which was told."
"""What stands in the panel where even what was said cannot be known."""

SETTINGS_WITHIN = 1.0
"""Seconds that a message waits for a look at the settings file."""


class Conversing(Hearing):
    """What is said about the open persona, and what the others' runs do meanwhile."""

    def __init__(self, screen: MainScreen) -> None:
        super().__init__(screen)
        self._usual_hint = HINT
        self._attached = asyncio.Event()

    def begin(self, panel: AgentPanel) -> None:
        """The panel is there: conversations can be."""
        from tui.chat.conversations import Talks

        self.attach(panel)
        self.use_times(self._screen.program.settings)
        if self._screen.program.model_name == OFFLINE:
            self._usual_hint = "Ask for a change in plain words…"
        self._talks = Talks(
            self._make_runner(),
            self._make_chat,
            on_event=self._hear,
            on_end=self._ended,
            on_task=self._task_changed,
            on_mark=self._marked,
            on_fault=self._note_fault,
        )
        self._attached.set()
        self.sync()

    async def find_tasks(self) -> None:
        """Look in all conversations for tasks an earlier program left, so that the list can show them."""
        if self._talks is not None and self._editing is not None:
            await self._talks.runner.find_all(self._editing.workspace.store)
            self._screen.show_badges()

    # -- state --------------------------------------------------------------------------------------------

    @property
    def talk(self) -> Talk | None:
        """The conversation about the open persona."""
        return self._talk

    @property
    def running(self) -> bool:
        """Whether a task about the open persona is at work, or waits, in this program."""
        return self._talk is not None and self._talk.running

    @property
    def from_when(self) -> str:
        """From when on another model is asked, in words: what is sent meanwhile is for the run that is at work."""
        return "Once this run is over" if self.running else "From the next message on"

    @property
    def badges(self) -> dict[str, Badge]:
        """What each persona's task is, for those where there is something to say."""
        return self._talks.badges if self._talks else {}

    @property
    def note(self) -> str:
        """Which model answers, and what it took so far; before it, that the program is about to end."""
        told = spent(self._screen.program.model_name, self._talk)
        return f"{ENDS_WHEN_DONE} · {told}" if self.when_idle is not None else told

    # -- opening ------------------------------------------------------------------------------------------

    def _make_runner(self) -> AgentJobs:
        from agent.jobs.agent_jobs import AgentJobs
        from agent.jobs.saved_approvals import SavedApprovals
        from tui.settings.model_factory import task_options

        return AgentJobs(task_options(self._screen.program.settings), grants=SavedApprovals.of_person())

    def _make_chat(self, talk: Talk) -> Chat:
        """Make a conversation; runs in a thread."""
        from agent.chat.chat import Chat
        from tui.settings.model_factory import chat_options

        program = self._screen.program
        assert self._editing is not None
        loop = program.loop

        workspace = self._editing.workspace

        def keep() -> None:
            loop.call_soon_threadsafe(self._keep, talk)

        async def flush() -> None:
            if self._editing is not None and self._editing.id == talk.persona_id:
                await self._editing.flush()

        return Chat(
            workspace.store,
            talk.persona_id,
            program.model(),
            options=chat_options(program.settings),
            flush=flush,
            on_change=self._changed,
            on_keep=keep,
            writes=workspace.write_then,
        )

    def _note_fault(self, error: Exception) -> None:
        self._screen.start(asyncio.to_thread(self._screen.program.note_fault, error))

    def show(self, persona_id: str, reading: Awaitable[bool] | None = None) -> Awaitable[None]:
        """Show a persona's conversation: the chat bar is its own at once, what was said is shown when it is read.

        Args:
            persona_id: the persona; the draft of the one before is kept.
            reading: gives whether the persona itself could be read, which is waited for; None where it is read.
        """
        self.stop_reading()
        self.settled.clear()
        if self._shown is not None:
            self.drafts.texts[self._shown] = self._bar.unsent
        self._leave_talk()
        typed = "" if self._shown is not None else self._bar.unsent
        self._bar.input.sent.begin()
        goes_on = self._shown == persona_id or typed.strip()
        show_draft = self._bar.set_draft if goes_on else self._bar.begin_draft
        if self._shown is not None:
            show_draft(self.drafts.texts.pop(persona_id, ""))
        elif stored := self.drafts.texts.pop(persona_id, ""):
            show_draft(below(stored, typed))
        if typed.strip():
            self.drafts.answers.pop(persona_id, None)  # who typed ahead did not see what is asked
        self._shown, self._talk = persona_id, None
        self._outbox.assign(persona_id)
        self.drafts.assign(persona_id)
        self._show_sent(())  # what was said to another is not recalled here
        self._clear_view()
        self._show_question()
        self.sync()
        return self._screen.start(self._read(persona_id, self._bar.draft, reading))

    def once_read(self, deed: Callable[[], object]) -> None:
        """Do something with the conversation, once it is read."""

        async def later() -> None:
            await self.settled.wait()
            deed()

        if self.settled.is_set():
            deed()
        else:
            self._screen.start(later())

    def show_none(self) -> None:
        """Show no conversation: a persona is being made, and what is written is for that one."""
        self.settled.clear()
        if self._shown is not None:
            self._leave_talk()
            self.drafts.texts[self._shown] = self._bar.unsent
            self._bar.begin_draft("")
        self._shown = self._talk = None
        self._show_sent(())
        self._clear_view()
        self.sync()

    def _clear_view(self) -> None:
        if self._widget is not None:
            self.view.clear()
        self._panel.reset()
        self._trace.clear()

    async def _read(self, persona_id: str, draft: str, reading: Awaitable[bool] | None) -> None:
        """Read a conversation and show it; `draft`: what was in the chat bar when it was asked for."""
        try:
            if reading is not None and not await reading:
                return
            await self._attached.wait()
            assert self._talks is not None
            talk = await self._talks.open(persona_id)
            if self._editing is not None and self._editing.id == persona_id == self._shown:
                self._show_opened(talk, draft)
        except PersonaError as error:
            self._screen.tell(str(error), error=True)
            self.drafts.answers.pop(persona_id, None)
            if self._shown == persona_id:
                self.view.when_empty = UNREAD
        finally:  # whatever happened: nobody waits for it any more
            if self._shown in (persona_id, None):
                self.settled.set()
                self._bar.input.take_kept_ups()
        self.sync()

    async def show_unread(self) -> None:
        """Show the conversation of the open persona where that was not possible before."""
        if self._talk is None and self._shown is not None and self.settled.is_set():
            await self.show(self._shown)

    def _show_opened(self, talk: Talk, draft: str) -> None:
        """Show a conversation that was read; `draft`: what was in the chat bar when it was asked for."""
        self._talk = talk
        persona_id = talk.persona_id
        had_news, talk.news = talk.news, False
        self.show_talk(talk)
        self._panel.reset(pinned=talk.pinned)
        if talk.running or had_news:
            self._panel.user_sent()  # what was said while another persona was open comes up like an answer
        elif talk.task is not None and talk.task.status == "interrupted" and talk.kept is None:
            self._panel.error_shown()  # what was being written when the program ended may cover the placeholder
        if talk.kept is not None:
            self.view.restore_view_state(talk.kept)
        answered, question = self.drafts.answers.pop(persona_id, None), talk.question
        is_answer = question is not None and question.id == answered and self._bar.draft == draft
        self._show_question(mine=is_answer)

    def _leave_talk(self) -> None:
        """Remember how the conversation stood on the screen."""
        talk, self._asked = self._talk, None
        if self._widget is not None:
            self._widget.ask(None)
        if talk is None:
            return
        talk.kept = self.view.view_state()
        talk.pinned = self._panel.state is PanelState.PINNED
        if asked := self.answered_now:
            self.drafts.answers[talk.persona_id] = asked

    def show_talk(self, talk: Talk) -> None:
        """Show the turns of a conversation."""
        self.view.load(talk.with_marks([*(talk.older or ()), *talk.earlier]))
        for event in tuple(talk.events):
            self.view.feed(event)
            if event.type == "turn_end":
                for mark in talk.marks.get(event.turn.id, ()):  # type: ignore[union-attr]
                    self.view.end_turn(mark)
        if talk.chat is not None:
            for problem in talk.chat.problems:
                self.view.add_notice(problem)
        if note := talk.cut_short():
            self.view.add_notice(note)
        turns = [*talk.earlier, *(talk.chat.turns if talk.chat else ())]
        said = [(t.created_at, as_typed(t.content)) for t in turns if t.type == "user"]  # type: ignore[union-attr]
        self._show_sent(said)

    def forget(self, persona_id: str) -> None:
        """A persona was deleted; its draft stays its own, and is there again when it is brought back."""
        if self._talks is not None:
            self._talks.forget(persona_id)
        self.drafts.answers.pop(persona_id, None)
        if self._shown == persona_id:
            self.drafts.texts[persona_id] = self._bar.unsent
            self._bar.begin_draft("")
            self._talk = self._shown = None
            self.view.clear()
            self._panel.reset()
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
        return self._send(self._sent(typed), text, kind or ("task" if self.task_mode else "chat"))

    async def _send(self, message: Message, text: str, kind: AgentKind) -> None:
        with self._on_its_way(message):
            await self.settled.wait()  # in the first moments the home is still being read
            if not message.persona_id:
                message.is_answer = True
                self._screen.tell("Open a persona first.")
                return
            await self._look_at_settings()
            talk, talks = await self._talk_for(message.persona_id), self._talks
            if talk is None or talks is None:
                message.is_answer = True
                return
            if talk.question is not None and not talk.running:
                message.is_answer = True
                self._screen.tell("The task waits for an answer; Enter gives this as the answer.")
                return
            if talk is self._talk:
                self._panel.user_sent()
                self.view.follow()
                self.sync()
            if not talk.running:
                await self._flush()
            talks.send(talk, text, kind=kind, typed=message.typed, turn_id=message.turn_id)
            self._outbox.end(message)
        self.sync()

    async def _look_at_settings(self) -> None:
        """A message goes by the settings as they are; a disk that hangs does not hold it up."""
        if self._screen.program.preferences is not None:
            look = self._screen.start(self._screen.program.look_at_settings())
            await asyncio.wait({look}, timeout=SETTINGS_WITHIN)

    async def _talk_for(self, persona_id: str) -> Talk | None:
        """Return the conversation about a persona, opened where that was not possible before.

        None where there is none, which is told.

        Raises:
            PersonaError: that of a persona that is not shown cannot be read.
        """
        if self._talks is None or not persona_id:
            self._screen.tell("Open a persona first.")
            return None
        if persona_id == self._shown and self._talk is None:
            await self.show(persona_id)
        if persona_id == self._shown:
            return self._talk
        return await self._talks.open(persona_id)

    async def stop_all(self, seconds: float) -> None:
        """End every task: the next program can go on with those at work. The program is about to end.

        A tool's write that is under way has its own time: its result says what was done.
        """
        if self._talks is not None:
            from agent.tools.context import SETTLES_WITHIN

            is_writing = self._editing is not None and self._editing.workspace.writing
            await self._talks.close(seconds + (SETTLES_WITHIN if is_writing else 0.0))

    def use_settings(self, settings: Settings) -> None:
        """Go by other settings in every conversation from the next message on, and for how long the panel stays."""
        from tui.settings.model_factory import chat_options, task_options

        self.use_times(settings)
        if self._talks is not None:
            self._talks.use_options(chat_options(settings), task_options(settings))

    def use_model(self, model: Model, before: Model | None) -> None:
        """Use another model in every conversation from the next message on; the one before goes when no run has it."""
        if self._talks is not None:
            self._talks.use_model(model, before)
        self.sync()

    # -- the panel ----------------------------------------------------------------------------------------

    def sync(self) -> None:
        """Bring panel, chat bar and marks in line with what is."""
        if self._widget is None or not self._widget.is_mounted or self._is_over:
            return
        self._show_question()
        if self.running != self._panel.in_flight:
            (self._panel.request_started if self.running else self._panel.request_ended)()
        self.give_way()
        state = self._panel.state
        if state is PanelState.HIDDEN and self.reading:
            self.stop_reading()
        self._widget.show_state(state)
        self._widget.enlarge(self._panel.enlarged)
        self.show_way_back()
        self._bar.show_output_button(state is PanelState.HIDDEN and bool(self.view.layout_model.entries))
        self._bar.set_hint(self._hint(self._usual_hint), can_continue=self._can_continue)
        self._bar.set_task_mode(self.task_mode)
        self._give_queue_back()
        self._show_queued()
        self._note_outbox()
        self._show_activity()
        self._keep_time()
        self._arm()
        self._screen.call_after_refresh(self._cover)
        self._screen.show_badges()

    def tick(self) -> None:
        """A second went by: ages, durations, and what is to be remembered."""
        self._screen.again(self.store_drafts)
        self._screen.again(self.remember)
        if not self.running:
            self._show_activity()
            self._screen.again(self.catch_up)

    def trace_text(self) -> str:
        """Return what the agent did last."""
        return self._trace.text(time.monotonic())

    # -- the chat bar -------------------------------------------------------------------------------------

    @property
    def bar_focused(self) -> bool:
        """Whether the chat bar has the keys."""
        return self._screen.focused is self._bar.input

    def sent_messages(self) -> list[str]:
        """What the person sent, latest first."""
        return self._bar.input.sent.find("")

    def selected_text(self) -> str:
        """What is selected: in the focused editor, else anywhere on the screen."""
        focused = self._screen.focused
        if isinstance(focused, TextEditor) and focused.selected_text:
            return from_shown(focused.selected_text)
        if isinstance(focused, TextArea) and focused.selected_text:
            return focused.selected_text
        if isinstance(focused, Input) and not focused.selection.is_empty:
            return focused.selected_text
        return self._screen.get_selected_text() or ""
