"""The activity line: what the agent does, in the panel's title or above the chat bar while the panel is hidden."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tui.chat.activity import activity_line
from tui.chat.labels import Trace
from tui.chat.panel_state import PanelState

if TYPE_CHECKING:
    from personas.versions.undo import Direction
    from tui.chat.context import ChatContext
    from tui.chat.panel_controller import PanelController
    from tui.chat.view import Timer

BEAT, CALM_BEAT = 0.5, 1.0
"""Seconds between two looks at the activity line."""


class ActivityLine:
    """Says what the open persona's task does, or what the agent did last.

    Attributes:
        trace: what the agent did last.
    """

    def __init__(self, context: ChatContext, panel: PanelController) -> None:
        self._context = context
        self._panel = panel
        self.trace = Trace()
        self._beat: Timer | None = None
        self._shown = ("", False, 0.0)
        """The line: its text, whether the panel was hidden, and when that was."""

    def stepped(self, operation: Direction, run_id: str | None) -> None:
        """A unit of the open persona was undone or redone; `run_id`: the agent's run that it is, None for none."""
        self.trace.stepped(operation, run_id)
        self.show()

    def greet(self, text: str) -> None:
        """Say a welcome above the chat bar, where it covers nothing, until the agent does something."""
        self.trace.greeting = text
        self.show()

    def show(self) -> None:
        """Say what goes on: in the panel's title, or above the chat bar while the panel is hidden."""
        if self._panel.panel_view is None:
            return
        conversation = self._context.conversation
        text = ""
        if conversation is not None and self._context.can_stop:
            now = time.monotonic()
            text = activity_line(
                conversation.activity, conversation.task, conversation.time.seconds(now), now
            )
        hidden = self._panel.machine.state is PanelState.HIDDEN
        before, was_hidden, at = self._shown
        soon = time.monotonic() - at < self._seconds_of_beat
        if text and before and hidden == was_hidden and soon and self._context.question is None:
            return  # shown too recently to change again: the next tick of the timer shows it
        if (text, hidden) != (before, was_hidden):
            self._shown = text, hidden, time.monotonic()
        self._panel.panel_view.set_title(f"Agent · {text}" if text and not hidden else "Agent")
        if hidden:
            self._context.bar.set_trace(text or self.trace_text())
        else:
            self._context.bar.set_trace("")

    def trace_text(self) -> str:
        """Return what the agent did last."""
        return self.trace.text(time.monotonic())

    @property
    def _seconds_of_beat(self) -> float:
        return CALM_BEAT if self._context.screen.program.capabilities.calm else BEAT

    def keep_time(self) -> None:
        """Look at the activity line twice a second while something runs, once where it should be calm."""
        running = self._context.running and self._context.question is None
        if running and self._beat is None:
            self._beat = self._context.screen.set_interval(self._seconds_of_beat, self.show)
        elif not running and self._beat is not None:
            self._beat.stop()
            self._beat = None
