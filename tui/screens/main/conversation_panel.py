"""The agent's panel of the main screen: what is pressed and scrolled in it goes to the conversation.

Its modules, and those of jobs, are loaded after the first paint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import on

import agent.jobs.agent_jobs  # noqa: F401 - it takes a while to load, and is wanted in a moment
import tui.chat.conversations  # noqa: F401 - the same
from tui.widgets.agent_panel import AgentPanel
from tui.widgets.conversation import ConversationView, Glyphs
from tui.widgets.question_box import QuestionBox

if TYPE_CHECKING:
    from tui.app.host import Host
    from tui.chat.controller import ConversationController
    from tui.terminal.capabilities import Capabilities


class ConversationPanel(AgentPanel):
    """The panel, connected.

    Args:
        host: the main screen.
        conversations: what is said.
        terminal: what it can show.
        compare_run: shows what the run of a turn did, see `ComparisonActions.compare_run`.
    """

    def __init__(
        self,
        host: Host,
        conversations: ConversationController,
        terminal: Capabilities,
        compare_run: Callable[[Sequence[str]], object],
    ) -> None:
        super().__init__(
            frames_per_second=terminal.frames_per_second, glyphs=Glyphs(ascii_only=terminal.ascii_only)
        )
        self._host, self._conversations, self._compare_run = host, conversations, compare_run

    @on(ConversationView.TryPressed)
    def _try(self, event: ConversationView.TryPressed) -> None:
        event.stop()
        self._compare_run(event.turn_ids)

    @on(AgentPanel.DismissPressed)
    def _hide(self, event: AgentPanel.DismissPressed) -> None:
        event.stop()
        self._conversations.panel_controller.panel_event("dismiss")

    @on(AgentPanel.EnlargePressed)
    def _switch_height(self, event: AgentPanel.EnlargePressed) -> None:
        event.stop()
        self._conversations.panel_controller.enlarge()

    @on(AgentPanel.Resized)
    def _cover_panes(self, event: AgentPanel.Resized) -> None:
        event.stop()
        self._conversations.panel_controller.cover_again()

    @on(AgentPanel.Pressed)
    def _keep(self, event: AgentPanel.Pressed) -> None:
        event.stop()
        self._conversations.panel_controller.panel_event("clicked_inside")

    @on(AgentPanel.Hovered)
    def _keep_longer(self, event: AgentPanel.Hovered) -> None:
        event.stop()
        self._conversations.panel_controller.hovered()

    @on(QuestionBox.Answered)
    def _answer(self, event: QuestionBox.Answered) -> None:
        event.stop()
        if not (event.text == "no" and self._conversations.questions.ask_reason()):
            self._host.start(self._conversations.questions.answer(event.question_id, event.text))

    @on(ConversationView.Grown)
    def _note_new_text(self, event: ConversationView.Grown) -> None:
        event.stop()
        self._conversations.panel_controller.grown(event.characters)

    @on(ConversationView.Followed)
    def _note_end(self, event: ConversationView.Followed) -> None:
        event.stop()
        self._conversations.panel_controller.followed()

    @on(ConversationView.Scrolled)
    def _note_scrolled(self, event: ConversationView.Scrolled) -> None:
        event.stop()
        if not event.view.following:  # at the end it goes on with what comes: that is nobody's doing
            self._conversations.panel_controller.interacted()
        if event.view.scroll_offset.y == 0:
            self._host.start(self._conversations.history.load_older())
