"""What the runs of all personas tell while they work, and where that shows: here, in a mark, or as a message."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from tui.chat.labels import asks, ended

if TYPE_CHECKING:
    from agent.core.events import AgentEnd, Event
    from agent.core.turns import CustomTurn
    from agent.tools.context import WriteResult
    from tui.chat.activity_line import ActivityLine
    from tui.chat.chat_bar_drafts import ChatBarDrafts
    from tui.chat.context import ChatContext
    from tui.chat.conversation_state import Conversation
    from tui.chat.panel_controller import PanelController


class RunEvents:
    """Takes in what runs tell.

    Attributes:
        when_idle: called when the last run is over, while the program waits for that; None else.
    """

    def __init__(
        self, context: ChatContext, panel: PanelController, drafts: ChatBarDrafts, activity: ActivityLine
    ) -> None:
        self._context = context
        self._panel = panel
        self._drafts = drafts
        self._activity = activity
        self.when_idle: Callable[[], object] | None = None
        self._delaying = ""
        self._announced: set[str] = set()  # the questions that were told once

    @property
    def working(self) -> list[str]:
        """The names of all personas the agent works on, or is about to."""
        talks, broadcast = self._context.talks, self._context.broadcast
        working = [talk.persona_id for talk in (talks.working if talks else [])]
        return [
            self._context.screen.name_of(one) for one in [*working, *(broadcast.to_come if broadcast else [])]
        ]

    def stop_working(self) -> None:
        """Stop all of them, by the person's word."""
        if self._context.broadcast is not None:
            self._context.broadcast.stop()
        if self._context.talks is not None:
            for talk in self._context.talks.working:
                self._context.talks.stop(talk)

    def _show_badges(self) -> None:
        if not self._context.is_over:
            self._context.screen.show_badges()

    def hear(self, talk: Conversation, event: Event) -> None:
        if self._context.is_over:
            return
        if event.type == "step_end":
            talk.add_step(event.usage)  # type: ignore[union-attr]
        if talk is not self._context.talk:
            if event.type in ("turn_end", "agent_end"):
                talk.news = True
                self._show_badges()
                self._drafts.note_outbox()
            return
        if event.type == "agent_start" and talk.reread:
            self._panel.view.load(talk.with_marks([*(talk.older or ()), *talk.earlier]))
        self._panel.view.feed(event)
        if event.type == "agent_start":
            self._activity.trace.clear()
        elif event.type == "agent_end":
            if event.outcome == "failed":  # type: ignore[union-attr]
                self._panel.machine.error_shown()
        elif event.type == "tool_end":
            self._activity.trace.note(event, talk.unit_id)  # type: ignore[arg-type]
        if event.type not in ("turn_delta", "tool_progress"):
            self._context.sync()

    def ended(self, talk: Conversation, end: AgentEnd | None, back: list[str]) -> None:
        if self._context.is_over:
            return
        if not talk.heard:
            back = [talk.sent, *back]
        talk.heard = True
        self._drafts.restore_message(talk.persona_id, "\n".join(part for part in back if part))
        if talk is self._context.talk:
            if talk.failure:
                self._panel.view.add_notice(talk.failure, error=True)
                self._panel.machine.error_shown()
            self._context.sync()
        else:
            talk.news = True
        self._show_badges()
        self._drafts.note_outbox()
        program = self._context.screen.program
        if talk.time.seconds(time.monotonic()) >= program.settings.notify_after:
            outcome = end.outcome if end is not None and not talk.failure else None
            program.announce(ended(self._context.screen.name_of(talk.persona_id), outcome))
        if self.when_idle is not None and not self.working:
            self.when_idle()

    def task_changed(self, persona_id: str) -> None:
        self._say_what_delays(persona_id)
        self._announce_question(persona_id)
        if self._context.talk is not None and self._context.talk.persona_id == persona_id:
            self._context.sync()
        else:
            self._show_badges()

    def _say_what_delays(self, persona_id: str) -> None:
        """The program is to end when the agent is done, and it asks meanwhile: say that it stays until then."""
        talk = self._context.talks.known(persona_id) if self._context.talks is not None else None
        question = talk.question if talk is not None else None
        if (
            self.when_idle is None
            or question is None
            or question.id == self._delaying
            or self._context.is_over
        ):
            return
        self._delaying = question.id
        self._context.screen.show_message(
            f"{self._context.screen.name_of(persona_id)} is asking something. The program will end once you have answered and the task "
            "is done; quit again to leave it waiting or to stay."
        )

    def _announce_question(self, persona_id: str) -> None:
        """A task of this program begins to wait for the person, who may look elsewhere."""
        talk = self._context.talks.known(persona_id) if self._context.talks is not None else None
        question = talk.question if talk is not None and talk.running else None
        if question is not None and question.id not in self._announced and not self._context.is_over:
            self._announced.add(question.id)
            self._context.screen.program.announce(asks(self._context.screen.name_of(persona_id)))

    def marked(self, talk: Conversation, mark: CustomTurn) -> None:
        if talk is self._context.talk and not self._context.is_over:
            self._panel.view.end_turn(mark)

    def changed(self, written: WriteResult) -> None:
        """A tool wrote, and nothing else is written meanwhile: the editors show it at once."""
        if self._context.document is None or self._context.is_over:
            return
        self._context.document.agent_wrote(written.persona, written.unit)
        if self._context.document.id != written.persona.id:
            self._context.screen.note_persona(written.persona)

    def keep(self, talk: Conversation) -> None:
        if talk is self._context.talk:
            self._panel.machine.keep_visible()
            self._context.sync()
