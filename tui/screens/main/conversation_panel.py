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
from tui.widgets.persona_fields import SettingsPane
from tui.widgets.prompt_pane import PromptPane
from tui.widgets.question_box import QuestionBox
from tui.widgets.test_input_list import TestInputList

if TYPE_CHECKING:
    from tui.app.host import Host
    from tui.chat.controller import ConversationController
    from tui.screens.main.layout import PaneLayout
    from tui.terminal.capabilities import Capabilities

LEAST = 3
"""Rows in which one line of a pane can be seen, with its border."""

MOST_WAITS = 100
"""How often is looked again whether the panel has the place and the height that it was given."""


class ConversationPanel(AgentPanel):
    """The panel, connected, and what it covers.

    Args:
        host: the main screen.
        conversations: what is said.
        panes: what it lies over.
        terminal: what it can show.
        compare_run: shows what the run of a turn did, see `ComparisonActions.compare_run`.
    """

    def __init__(
        self,
        host: Host,
        conversations: ConversationController,
        panes: PaneLayout,
        terminal: Capabilities,
        compare_run: Callable[[Sequence[str]], object],
    ) -> None:
        super().__init__(
            frames_per_second=terminal.frames_per_second, glyphs=Glyphs(ascii_only=terminal.ascii_only)
        )
        self._host, self._conversations, self._compare_run = host, conversations, compare_run
        self._panes = panes
        self._waits = 0

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
        self.cover_soon()

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

    # -- what it covers -----------------------------------------------------------------------------------

    @property
    def keys_in_pane(self) -> bool:
        """Whether a pane has the keys, and not the chat bar or the panel."""
        focused = self.screen.focused
        return focused is not None and any(each.id == "panes" for each in focused.ancestors)

    def cover_soon(self) -> None:
        """Once it has its place, tell the editors how many of their rows lie under it; nobody types there."""
        self.screen.call_after_refresh(self.cover)

    def cover(self) -> None:
        """The same, now."""
        controller, focused = self._conversations.panel_controller, self.screen.focused
        shown = controller.machine.shown
        if shown and not self.region:
            self._cover_later()  # it has no place yet
            return
        top = self.region.y if shown else self.screen.size.height
        for editor in (self._panes.widget(PromptPane).editor, self._panes.widget(TestInputList).editor):
            covered = editor.region.bottom - max(editor.region.y, top)
            editor.cover(max(0, min(covered, editor.region.height - 1)))
        self._lift_settings(top)
        if controller.machine.enlarged and self.keys_in_pane:
            return  # it gives up the full height first, once it is heard who has the keys
        lies_over = (
            focused is not None and self.keys_in_pane and bool(focused.region) and focused.region.y >= top
        )
        if lies_over and self.is_about_to_shrink and self._cover_later():
            return  # it covers all of the stage for this moment only
        self._waits = 0
        controller.lies_over(lies_over)

    def _lift_settings(self, top: int) -> None:
        """Bring the field with the keys above a panel that stays, since it asks; `top`: where the panel begins."""
        settings, side = self._panes.widget(SettingsPane), self.screen.query_one("#side")
        focused = self.screen.focused
        is_asking = self._conversations.panel_controller.machine.asking
        is_there = is_asking and focused is not None and settings in focused.ancestors
        # Not the side's own room, which its padding may have stretched.
        room = self.screen.query_one("#panes").region
        rows = max(0, min(room.bottom - top, room.height - LEAST)) if is_there else 0
        if side.styles.padding.bottom == rows:
            return
        side.styles.padding = (0, 0, rows, 0)
        if rows:
            settings.styles.max_height = max(LEAST, room.height - rows)
        else:
            settings.styles.clear_rule("max_height")
        if focused is not None:
            self.screen.call_after_refresh(focused.scroll_visible, animate=False)
            self.cover_soon()

    def _cover_later(self) -> bool:
        """Look again in a moment, if that was not done too often; return whether it is."""
        if self._waits >= MOST_WAITS:
            self._waits = 0
            return False
        self._waits += 1
        self.screen.set_timer(0.05, self.cover)
        return True
