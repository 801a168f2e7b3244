"""The conversation on the main screen: chat bar, panel and runs, for whichever persona is open."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.widgets import Input, TextArea

from personas.errors import PersonaError
from tui.config import OFFLINE
from tui.editable import from_shown
from tui.panel import PanelState
from tui.screens.past import Past
from tui.screens.running_note import spent
from tui.talking import Badge, Talk, Talks
from tui.widgets.chat_bar import HINT
from tui.widgets.text_editor import Step, TextEditor

if TYPE_CHECKING:
    from agent.chat import Chat
    from agent.events import AgentEnd, Event
    from agent.models.base import Model
    from agent.task import Mode
    from agent.task_runner import AgentTaskRunner
    from agent.turns import CustomTurn
    from personas.persona import Persona
    from tui.config import Settings
    from tui.editing import Editing
    from tui.remembered import Remembered
    from tui.screens.main import MainScreen
    from tui.widgets.agent_panel import AgentPanel


class Conversing(Past):
    """What is said about the open persona, and what the others' runs do meanwhile."""

    def __init__(self, screen: MainScreen) -> None:
        super().__init__(screen)
        self._drafts: dict[str, str] = {}
        self._remembered: Remembered | None = None
        self._shown: str | None = None
        self._first_time = False
        self._usual_hint = HINT
        self.when_idle: Callable[[], object] | None = None
        self.settled = asyncio.Event()

    async def recall(self, editing: Editing) -> str:
        """The home is open: read what is remembered of it; returns the id of the persona that was open last."""
        from tui.remembered import recall

        self._editing = editing
        self._remembered = await editing.workspace.call(recall, editing.workspace.store.home)
        self._first_time = not self._remembered.known
        self._screen.take_layouts(self._remembered.layouts)
        self._drafts = {**self._remembered.drafts}
        return self._remembered.persona_id

    def begin(self, panel: AgentPanel) -> None:
        """The panel is there: conversations can be."""
        self.attach(panel)
        self._panel.delay = self._screen.program.settings.panel_seconds
        if self._screen.program.model_name == OFFLINE:
            self._usual_hint = "Ask for a change in plain words…"
        self._talks = Talks(
            self._make_runner(),
            self._make_chat,
            on_event=self._hear,
            on_end=self._ended,
            on_task=self._task_changed,
            on_mark=self._marked,
        )
        self.sync()

    async def find_tasks(self) -> None:
        """Look in all conversations for tasks an earlier program left, so that the list can show them."""
        if self._talks is not None and self._editing is not None:
            await self._talks.runner.find_all(self._editing.workspace.store)
            self._screen.show_marks()

    async def remember(self) -> None:
        """Store which persona is open and what is written but not sent, if that changed."""
        if self._editing is None:
            return
        from tui.remembered import Remembered, remember

        drafts = {**self._drafts, self._shown: self._bar.draft} if self._shown else self._drafts
        written = {str(key): text for key, text in drafts.items() if text.strip()}
        now = Remembered(self._shown or "", written, self._screen.layouts)
        if now != self._remembered:
            self._remembered = now
            await self._editing.workspace.call(remember, self._editing.workspace.store.home, now)

    @property
    def first_time(self) -> bool:
        """Whether nothing was remembered of this home when it was opened."""
        return self._first_time

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
    def working(self) -> list[str]:
        """The names of all personas the agent works on."""
        entries = self._screen.personas.entries
        running = self._talks.working if self._talks else []
        return [entries[t.persona_id].name if t.persona_id in entries else t.persona_id for t in running]

    @property
    def marked(self) -> set[str]:
        """The ids with a task that runs or waits, or with unseen turns."""
        return set(self.badges)

    @property
    def badges(self) -> dict[str, Badge]:
        """What each persona's task is, for those where there is something to say."""
        return self._talks.badges if self._talks else {}

    @property
    def note(self) -> str:
        """Which model answers, and what it took so far."""
        return spent(self._screen.program.model_name, self._talk)

    # -- opening ------------------------------------------------------------------------------------------

    def _make_runner(self) -> AgentTaskRunner:
        from agent.approval import Grants
        from agent.task_runner import AgentTaskRunner
        from tui.models import task_options

        return AgentTaskRunner(task_options(self._screen.program.settings), grants=Grants.of_person())

    def _make_chat(self, talk: Talk) -> Chat:
        """Make a conversation; runs in a thread."""
        from agent.chat import Chat
        from tui.models import chat_options

        program = self._screen.program
        assert self._editing is not None
        loop = program.loop

        def changed(persona: Persona) -> None:
            loop.call_soon_threadsafe(self._changed, talk, persona)

        def keep() -> None:
            loop.call_soon_threadsafe(self._keep, talk)

        async def flush() -> None:
            if self._editing is not None and self._editing.id == talk.persona_id:
                await self._editing.flush()

        return Chat(
            self._editing.workspace.store,
            talk.persona_id,
            program.model(),
            options=chat_options(program.settings),
            flush=flush,
            on_change=changed,
            on_keep=keep,
        )

    async def show(self, persona_id: str) -> None:
        """Show a persona's conversation; the draft of the one before is kept."""
        if self._talks is None:
            return
        self.stop_reading()
        self.settled.clear()
        if self._shown is not None:
            self._drafts[self._shown] = self._bar.draft
        self._leave_talk()
        if self._shown is not None or persona_id in self._drafts:
            self._bar.set_draft(self._drafts.pop(persona_id, ""))
        self._shown, self._talk = persona_id, None
        self.view.clear()
        self._panel.reset()
        self._trace.clear()
        self._show_question()
        self.sync()
        try:
            talk = await self._talks.open(persona_id)
        except PersonaError as error:
            self._screen.tell(str(error), error=True)
            self.settled.set()
            return
        if self._editing is None or self._editing.id != persona_id:
            return  # another one was opened meanwhile
        self._talk = talk
        had_news, talk.news = talk.news, False
        self.show_talk(talk)
        self._panel.reset(pinned=talk.pinned)
        if talk.running:
            self._panel.request_started()
        if talk.running or had_news:
            self._panel.user_sent()  # what was said while another persona was open comes up like an answer
        if talk.kept is not None:
            self.view.go_back(talk.kept)
        question = talk.question
        self._show_question(mine=question is not None and question.id == talk.answering)
        self.settled.set()
        self.sync()

    def _leave_talk(self) -> None:
        """Remember how the conversation stood on the screen."""
        talk, self._asked = self._talk, None
        if self._widget is not None:
            self._widget.ask(None)
        if talk is None:
            return
        talk.kept = self.view.where()
        talk.pinned = self._panel.state is PanelState.PINNED
        talk.answering = (
            talk.question.id if talk.question is not None and self._bar.mode == "asking" else None
        )

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
        if talk.task is not None and talk.task.status == "interrupted" and not talk.running:
            self.view.add_notice(
                f"The program ended while this task was at step {talk.task.step_count}. /continue goes on with it, "
                "/stop gives it up."
            )
        turns = [*talk.earlier, *(talk.chat.turns if talk.chat else ())]
        self._bar.set_sent(list(dict.fromkeys(t.content for t in turns if t.type == "user")))  # type: ignore[union-attr]

    def forget(self, persona_id: str) -> None:
        """A persona was deleted."""
        if self._talks is not None:
            self._talks.forget(persona_id)
        self._drafts.pop(persona_id, None)
        if self._talk is not None and self._talk.persona_id == persona_id:
            self._talk = self._shown = None
            self.view.clear()
            self._panel.reset()
        self.sync()

    # -- sending ------------------------------------------------------------------------------------------

    async def send(self, text: str, *, mode: Mode | None = None) -> None:
        """Send a message: it opens a task, or steers the one that is at work.

        Args:
            text: what the person says.
            mode: how long it goes on; None for what the person has chosen.
        """
        await self.settled.wait()  # in the first moments the home is still being read
        talk, talks = self._talk, self._talks
        if talk is None or talks is None or self._editing is None:
            self._bar.set_draft(text)
            self._screen.tell("Open a persona first.")
            return
        if talk.question is not None and not talk.running:
            self._bar.put_back(text)
            self._screen.tell("The task waits for an answer; Enter gives this as the answer.")
            return
        self._panel.user_sent()
        self.view.follow()
        self.sync()
        if not talk.running:
            await self._editing.flush()
        talks.send(talk, text, mode=mode or ("task" if self.task_mode else "chat"))
        self.sync()

    async def stop_all(self, seconds: float) -> None:
        """End every task: those at work stop, those that wait stay waiting on disk. The program is about to end."""
        if self._talks is not None:
            await self._talks.close(seconds)

    def use_settings(self, settings: Settings) -> None:
        """Go by other settings in every conversation from the next message on, and for how long the panel stays."""
        from tui.models import chat_options, task_options

        self._panel.delay = settings.panel_seconds
        if self._talks is not None:
            self._talks.use_options(chat_options(settings), task_options(settings))

    def use_model(self, model: Model) -> None:
        """Use another model in every conversation from the next message on."""
        if self._talks is not None:
            self._talks.use_model(model)
        self.sync()

    # -- what runs do -------------------------------------------------------------------------------------

    def _hear(self, talk: Talk, event: Event) -> None:
        if self._is_over:
            return
        if event.type == "step_end":
            talk.add_step(event.usage, self._screen.program.model())  # type: ignore[union-attr]
        if talk is not self._talk:
            if event.type in ("turn_end", "agent_end"):
                talk.news = True
                self._show_marks()
            return
        if event.type == "agent_start" and talk.reread:
            self.view.load(talk.with_marks([*(talk.older or ()), *talk.earlier]))
        self.view.feed(event)
        if event.type == "agent_start":
            self._panel.request_started()
        elif event.type == "agent_end":
            self._panel.request_ended()
            if event.outcome == "failed":  # type: ignore[union-attr]
                self._panel.error_shown()
        elif event.type == "tool_end":
            self._trace.note(event)  # type: ignore[arg-type]
        if event.type not in ("turn_delta", "tool_progress"):
            self.sync()

    def _ended(self, talk: Talk, end: AgentEnd | None, back: list[str]) -> None:
        if self._is_over:
            return
        if talk is self._talk:
            if talk.failure:
                self.view.add_notice(talk.failure, error=True)
                self._panel.error_shown()
                back = back or [talk.sent]
            if text := "\n".join(part for part in back if part):
                self._bar.put_back(text)  # nothing that was typed vanishes
            self.sync()
        else:
            talk.news = True
            texts = [*back, self._drafts.get(talk.persona_id, "")]
            if text := "\n".join(part for part in texts if part):
                self._drafts[talk.persona_id] = text
        self._show_marks()
        self._screen.program.run_ended(talk.persona_id, time.monotonic() - talk.started)
        if self.when_idle is not None and not self.working:
            self.when_idle()

    def _task_changed(self, persona_id: str) -> None:
        if self._talk is not None and self._talk.persona_id == persona_id:
            self.sync()
        else:
            self._show_marks()

    def _marked(self, talk: Talk, mark: CustomTurn) -> None:
        if talk is self._talk and not self._is_over:
            self.view.end_turn(mark)

    def _changed(self, talk: Talk, persona: Persona) -> None:
        """A tool wrote: the editors show it at once."""
        if self._editing is not None:
            if self._editing.id == persona.id:
                self._editing.agent_wrote(persona, Step(talk.run_id))
            else:
                self._screen.note_persona(persona)

    def _keep(self, talk: Talk) -> None:
        if talk is self._talk:
            self._panel.keep_visible()
            self.sync()

    # -- the panel ----------------------------------------------------------------------------------------

    def sync(self) -> None:
        """Bring panel, chat bar and marks in line with what is."""
        if self._widget is None or not self._widget.is_mounted or self._is_over:
            return
        self._show_question()
        state = self._panel.state
        if state is PanelState.HIDDEN and self.reading:
            self.stop_reading()
        self._widget.show_state(state)
        self._bar.show_output_button(state is PanelState.HIDDEN and bool(self.view.layout_model.entries))
        self._bar.set_hint(self._hint(self._usual_hint))
        self._show_queued()
        self._show_activity()
        self._keep_time()
        self._arm()
        self._screen.call_after_refresh(self._cover)
        self._screen.show_marks()

    def _show_marks(self) -> None:
        if not self._is_over:
            self._screen.show_marks()

    @property
    def _is_over(self) -> bool:
        """Whether the screen is being taken down: tasks may still say how they ended."""
        return not self._screen.program.is_running

    def tick(self) -> None:
        """A second went by: ages, durations, and what is to be remembered."""
        self._screen.start(self.remember())
        if not self.running:
            self._show_activity()

    def trace_text(self) -> str:
        """Return what the agent did last."""
        return self._trace.text(time.monotonic())

    # -- the chat bar -------------------------------------------------------------------------------------

    @property
    def bar_focused(self) -> bool:
        """Whether the chat bar has the keys."""
        return self._screen.focused is self._bar.input

    def clear_draft(self) -> bool:
        """Put the draft away; returns whether there was one."""
        return self._bar.put_draft_aside()

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
