"""Tasks on the main screen: questions and approvals, what is queued, going on with a task, its activity line."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from personas.errors import InvalidValue, PersonaError
from tui.chat.activity import activity_line
from tui.chat.chat_bar_drafts import ChatBarDrafts
from tui.chat.panel_state import PanelState
from tui.commands.slash import as_typed
from tui.drafts.outbox import Message
from tui.widgets.queued_messages import Queued

if TYPE_CHECKING:
    from textual.timer import Timer

    from agent.jobs.job import Question
    from tui.chat.conversation_state import Talk

REFUSAL = "no, "
"""What stands in the draft before the reason of a no."""
BEAT, CALM_BEAT = 0.5, 1.0
"""Seconds between two looks at the activity line."""


class Tasking(ChatBarDrafts):
    """The tasks about the open persona, as far as the person has to do with them."""

    _talk: Talk | None = None
    _asked: str | None = None
    _beat: Timer | None = None
    _told = ("", False, 0.0)
    """The activity line: its text, whether the panel was hidden, and when that was."""
    task_mode = False
    """Whether what is sent begins a task that goes on until the work is done."""

    @property
    def question(self) -> Question | None:
        """What the open persona's task waits for."""
        return self._talk.question if self._talk is not None else None

    @property
    def can_stop(self) -> bool:
        """Whether there is something to stop at once: a task at work, or one that waits, wherever it began."""
        return self._talk is not None and (self._talk.running or self._talk.question is not None)

    async def _flush(self) -> None:
        """Save what is typed: the agent works on what the person sees."""
        if self._editing is not None:
            await self._editing.flush()

    # -- questions and approvals ------------------------------------------------------------------------

    def _show_question(self, *, mine: bool = False) -> None:
        """Bring panel and chat bar in line with what is asked; `mine`: the draft was begun for it."""
        question = self.question
        key = question.id if question is not None else None
        if key != self._asked and self._widget is not None:
            if self._asked is not None:
                self._panel.ask_closed(self._asked)
            self._asked = key
            if self._bar.draft == REFUSAL:
                self._bar.set_draft("")  # there is nothing to refuse any more
            self._widget.ask(question)
            if key is not None:
                self._panel.ask_opened(key)
        if question is not None:
            self._bar.set_mode(
                *("asking", question.text),
                asked=question.id,
                options=bool(question.options),
                mine=mine,
                live=self._talk is not None and self._talk.running,
            )
        else:
            running = self._talk is not None and self._talk.running
            self._bar.set_mode("running" if running else "idle")

    def pick(self, key: str) -> None:
        """A key of the empty chat bar, for the options."""
        if self._widget is not None:
            self._widget.box.press(key)

    def ask_reason(self) -> bool:
        """Ask in the chat bar why the open approval is refused; return False where the draft is for something else."""
        question = self.question
        if question is None or question.approval is None or self._bar.mode != "asking":
            return False
        self._bar.set_draft(f"{REFUSAL}{self._bar.draft}")
        self._screen.focus_chat()
        assert self._widget is not None
        self._widget.box.ask_reason()
        return True

    @property
    def can_pick(self) -> bool:
        """Whether a digit picks an answer now: it may be given, and nothing is written that Enter would send."""
        return self.may_answer and bool(self.question and self.question.options) and not self._bar.draft

    def scroll_question(self, pages: int) -> bool:
        """Scroll the question, if it is longer than its room; return whether it was."""
        return self.question is not None and self._widget is not None and self._widget.box.scroll_text(pages)

    @property
    def may_answer(self) -> bool:
        """Whether the question has been on the screen long enough for what is sent to be its answer."""
        return self.question is not None and self._widget is not None and self._widget.box.ready

    def answer(self, question_id: str, text: str) -> Coroutine[Any, Any, None]:
        """Answer the question; an answer that is not taken comes back into the draft it was written in."""
        question = self.question
        message = self._sent("" if question is not None and text in question.options else as_typed(text))
        return self._answer(self._talk, message, question_id, text)

    async def _answer(self, talk: Talk | None, message: Message, question_id: str, text: str) -> None:
        with self._on_its_way(message):
            talks, question = self._talks, talk.question if talk is not None else None
            if talk is None or talks is None or question is None or question.id != question_id:
                self._screen.tell("That question is not open any more.")
                return
            message.is_answer = True
            from agent.jobs.approval_policy import NotTrusted

            try:
                await self._flush()
                try:
                    await talks.answer(talk, text, question_id)
                except NotTrusted:
                    if not await self._trust(talk):
                        return
                    await talks.answer(talk, text, question_id)
                self._outbox.end(message)
            except PersonaError as error:
                self._screen.tell(str(error), error=not isinstance(error, InvalidValue))
                await talks.look(talk)
                message.is_answer = talk.question is not None and talk.question.id == question_id
        self.sync()

    async def _trust(self, talk: Talk) -> bool:
        """Ask whether what was found in this home counts; remember a yes."""
        from personas.files import trust
        from tui.screens.dialogs.confirm import Confirm

        assert talk.chat is not None
        root = talk.chat.store.home.root
        asked = Confirm(
            "Trust this folder?",
            f"{root}\n\nThe task that asks was found there and not begun in this program. Say yes only if the folder "
            "is yours or you know where it comes from. You will not be asked again.",
            deed="Trust it",
            keep="Not now",
            danger=True,
        )
        if not await self._screen.ask(asked):
            return False
        await asyncio.to_thread(trust.trust, root)
        return True

    # -- going on, and giving up ------------------------------------------------------------------------

    def resume(self, text: str = "") -> Coroutine[Any, Any, None]:
        """Go on with the task that a limit stopped or that was interrupted."""
        return self._resume(self._talk, self._sent(f"/continue {text}" if text else ""), text)

    async def _resume(self, talk: Talk | None, message: Message, text: str) -> None:
        with self._on_its_way(message):
            talks = self._talks
            if talk is None or talks is None:
                self.tell_none()  # type: ignore[attr-defined]
                return
            if talk.running or talk.task is None or not talk.task.can_continue:
                self._screen.tell("There is no task to continue.")
                return
            self._panel.user_sent()
            self.view.follow()
            await self._flush()
            if talk.running:  # asked for twice
                message.typed = as_typed(text)
                return
            if talk.task.kind == "task":
                talks.resume(talk, text, turn_id=message.turn_id)
            else:
                from agent.jobs.recovery import CONTINUE

                talks.send(talk, text or CONTINUE, typed=message.typed, turn_id=message.turn_id)
            self._outbox.end(message)
        self.sync()

    def stop(self) -> None:
        """Stop the task about the open persona, at once; one that does not run here is closed after asking."""
        talk = self._talk
        if talk is None or self._talks is None:
            return
        if talk.running:
            self._talks.stop(talk)
            self.sync()
        elif talk.task is not None and talk.task.is_working:
            self._screen.tell("Another program works on this task; it can be stopped there.")
        elif talk.task is not None and not talk.task.is_over:
            self._screen.start(self._give_up(talk))

    async def _give_up(self, talk: Talk) -> None:
        from tui.screens.dialogs.confirm import Confirm

        asked = Confirm(
            "Give this task up?", "What it did stays and can be undone.", deed="Give up", keep="Keep it"
        )
        if self._talks is None or not await self._screen.ask(asked):
            return
        await self._talks.give_up(talk)
        if talk is self._talk:
            self.show_talk(talk)
            self.sync()

    def show_talk(self, talk: Talk) -> None:
        """Show the turns of a conversation."""
        raise NotImplementedError

    def toggle_task_mode(self) -> None:
        """Let messages begin tasks, or plain runs again."""
        self.task_mode = not self.task_mode
        self._screen.tell(
            "Task mode: the agent works until the job is done." if self.task_mode else "Task mode is off."
        )
        self.sync()

    @property
    def _can_continue(self) -> bool:
        """Whether a task that a limit stopped or that was interrupted can be gone on with."""
        talk = self._talk
        return talk is not None and talk.task is not None and talk.task.can_continue and not talk.running

    def _hint(self, usual: str) -> str:
        """Return what the empty chat bar says."""
        task = self._talk.task if self._talk is not None else None
        if task is not None and self._can_continue:
            why = "The task was interrupted" if task.status == "interrupted" else "It stopped at a limit"
            return f"{why}. /continue goes on with it."
        if task is not None and task.is_working and not (self._talk and self._talk.running):
            return "Another program is at work on this persona…"
        return "Give it a task; it works until it is done…" if self.task_mode else usual

    # -- what is queued ---------------------------------------------------------------------------------

    def _give_queue_back(self) -> None:
        """What was queued for a found task that cannot go on any more comes back into the draft."""
        talk = self._talk
        if talk is None or talk.chat is None or talk.running or talk.question is not None or not talk.queued:
            return
        turns = talk.chat.withdraw_all()
        talk.undelivered.clear()
        self._bar.put_back(as_typed("\n".join(turn.content for turn in turns)))

    def _show_queued(self) -> None:
        queued = self._talk.queued if self._talk is not None else []
        self._bar.set_queued([Queued(turn.id, turn.content, later) for turn, later in queued])

    def follow_up(self, text: str) -> None:
        """Queue a message for when the run is over."""
        talk = self._talk
        if talk is not None and talk.chat is not None and (talk.running or talk.question is not None):
            talk.chat.follow_up(text)
            self.sync()
        else:
            self._bar.put_back(as_typed(text))

    def take_back(self, key: str, *, edit: bool) -> None:
        """Take a queued message back: into the draft to be edited, or for good."""
        turn = self._talk.take_back(key) if self._talk is not None else None
        if turn is None:
            self._screen.tell("It was delivered already.")
        elif edit:
            self._bar.put_back(as_typed(turn.content))
        self.sync()

    # -- the activity line ------------------------------------------------------------------------------

    def _show_activity(self) -> None:
        """Say what goes on: in the panel's title, or above the chat bar while the panel is hidden."""
        if self._widget is None:
            return
        talk = self._talk
        text = ""
        if talk is not None and self.can_stop:
            now = time.monotonic()
            text = activity_line(talk.activity, talk.task, talk.time.seconds(now), now)
        hidden = self._panel.state is PanelState.HIDDEN
        before, was_hidden, at = self._told
        soon = time.monotonic() - at < self._seconds_of_beat
        if text and before and hidden == was_hidden and soon and self.question is None:
            return  # the next beat says it
        if (text, hidden) != (before, was_hidden):
            self._told = text, hidden, time.monotonic()
        self._widget.set_title(f"Agent · {text}" if text and not hidden else "Agent")
        if hidden:
            self._bar.set_trace(text or self.trace_text())
        else:
            self._bar.set_trace("")

    def trace_text(self) -> str:
        """Return what the agent did last."""
        raise NotImplementedError

    @property
    def _seconds_of_beat(self) -> float:
        return CALM_BEAT if self._screen.program.capabilities.calm else BEAT

    def _keep_time(self) -> None:
        """Look at the activity line twice a second while something runs, once where it should be calm."""
        running = self._talk is not None and self._talk.running and self.question is None
        if running and self._beat is None:
            self._beat = self._screen.set_interval(self._seconds_of_beat, self._show_activity)
        elif not running and self._beat is not None:
            self._beat.stop()
            self._beat = None
