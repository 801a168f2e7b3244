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
        conversations, broadcast = self._context.conversations, self._context.broadcast
        working = [
            conversation.persona_id for conversation in (conversations.working if conversations else [])
        ]
        return [
            self._context.screen.name_of(one) for one in [*working, *(broadcast.to_come if broadcast else [])]
        ]

    def stop_working(self) -> None:
        """Stop all of them, by the person's word."""
        if self._context.broadcast is not None:
            self._context.broadcast.stop()
        if self._context.conversations is not None:
            for conversation in self._context.conversations.working:
                self._context.conversations.stop(conversation)

    def _show_badges(self) -> None:
        if not self._context.is_over:
            self._context.screen.show_badges()

    def hear(self, conversation: Conversation, event: Event) -> None:
        if self._context.is_over:
            return
        if event.type == "step_end":
            conversation.add_step(event.usage)  # type: ignore[union-attr]
        if conversation is not self._context.conversation:
            if event.type in ("turn_end", "agent_end"):
                conversation.news = True
                self._show_badges()
                self._drafts.note_outbox()
            return
        if event.type == "agent_start" and conversation.reread:
            self._panel.view.load(
                conversation.with_marks([*(conversation.older or ()), *conversation.earlier])
            )
        self._panel.view.feed(event)
        if event.type == "agent_start":
            self._activity.trace.clear()
        elif event.type == "agent_end":
            if event.outcome == "failed":  # type: ignore[union-attr]
                self._panel.machine.error_shown()
        elif event.type == "tool_end":
            self._activity.trace.note(event, conversation.unit_id)  # type: ignore[arg-type]
        if event.type not in ("turn_delta", "tool_progress"):
            self._context.sync()

    def ended(self, conversation: Conversation, end: AgentEnd | None, back: list[str]) -> None:
        if self._context.is_over:
            return
        if not conversation.heard:
            back = [conversation.sent, *back]
        conversation.heard = True
        self._drafts.restore_message(conversation.persona_id, "\n".join(part for part in back if part))
        if conversation is self._context.conversation:
            if conversation.failure:
                self._panel.view.add_notice(conversation.failure, error=True)
                self._panel.machine.error_shown()
            self._context.sync()
        else:
            conversation.news = True
        self._show_badges()
        self._drafts.note_outbox()
        program = self._context.screen.program
        if conversation.time.seconds(time.monotonic()) >= program.settings.notify_after:
            outcome = end.outcome if end is not None and not conversation.failure else None
            program.announce(ended(self._context.screen.name_of(conversation.persona_id), outcome))
        if self.when_idle is not None and not self.working:
            self.when_idle()

    def task_changed(self, persona_id: str) -> None:
        self._say_what_delays(persona_id)
        self._announce_question(persona_id)
        if self._context.conversation is not None and self._context.conversation.persona_id == persona_id:
            self._context.sync()
        else:
            self._show_badges()

    def _say_what_delays(self, persona_id: str) -> None:
        """The program is to end when the agent is done, and it asks meanwhile: say that it stays until then."""
        conversation = (
            self._context.conversations.known(persona_id) if self._context.conversations is not None else None
        )
        question = conversation.question if conversation is not None else None
        if (
            self.when_idle is None
            or question is None
            or question.id == self._delaying
            or self._context.is_over
        ):
            return
        self._delaying = question.id
        self._context.screen.show_message(
            f"{self._context.screen.name_of(persona_id)} has a question. The program quits after you answer and the task ends; "
            "quit again for other options."
        )

    def _announce_question(self, persona_id: str) -> None:
        """A task of this program begins to wait for the person, who may look elsewhere."""
        conversation = (
            self._context.conversations.known(persona_id) if self._context.conversations is not None else None
        )
        question = conversation.question if conversation is not None and conversation.running else None
        if question is not None and question.id not in self._announced and not self._context.is_over:
            self._announced.add(question.id)
            self._context.screen.program.announce(asks(self._context.screen.name_of(persona_id)))

    def marked(self, conversation: Conversation, mark: CustomTurn) -> None:
        if conversation is self._context.conversation and not self._context.is_over:
            self._panel.view.end_turn(mark)

    def changed(self, written: WriteResult) -> None:
        """A tool wrote, and nothing else is written meanwhile: the editors show it at once."""
        if self._context.document is None or self._context.is_over:
            return
        self._context.document.agent_wrote(written.persona, written.unit)
        if self._context.document.id != written.persona.id:
            self._context.screen.note_persona(written.persona)

    def keep(self, conversation: Conversation) -> None:
        if conversation is self._context.conversation:
            self._panel.machine.keep_visible()
            self._context.sync()
