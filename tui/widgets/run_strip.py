"""The line above the chat bar while test inputs are run: how far they are, what they cost, how to stop them, how it ended."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.message import Message
from textual.timer import Timer

from tui.widgets.plain_text import LiteralStatic

ENDED_SECONDS = 8.0
"""Seconds for which it says how a run ended."""


class RunStrip(LiteralStatic):
    """One line that is there while something runs, and for a moment after it. A click on it ends that."""

    DEFAULT_CSS = """
    RunStrip { display: none; height: 1; padding: 0 1; background: $surface; color: $text-accent; text-wrap: nowrap; }
    """

    class StopPressed(Message):
        """The person wants the runs to end."""

    class NotePressed(Message):
        """The person wants to see what the note is about."""

    _ended = _note = ""
    _is_note = True
    _timer: Timer | None = None

    def show(self, parts: Sequence[str], stops: str) -> None:
        """Show how far the runs are; where there are no parts, how the last one ended a moment ago.

        Args:
            parts: what is said of them.
            stops: what stops them, in words; empty for nothing.
        """
        message = " · ".join([*parts, *([stops] if stops else [])]) if parts else self._ended or self._note
        self._is_note = not parts and not self._ended
        self.update(message)
        if self.display is not bool(message):
            self.display = bool(message)

    def show_end(self, message: str) -> None:
        """Show how a run ended, for a moment; nothing where it is empty."""
        if self._timer is not None:
            self._timer.stop()
        self._ended = message
        self._timer = self.set_timer(ENDED_SECONDS, lambda: self.show_end("")) if message else None
        self.show((), "")

    def show_note(self, note: str) -> None:
        """Show this whenever nothing else is to be shown; nothing where it is empty."""
        if note != self._note:
            self._note = note
            if self._is_note:
                self.show((), "")

    def on_click(self, event: events.Click) -> None:
        event.stop()
        if self._is_note:
            self.post_message(self.NotePressed())
            return
        self.show_end("")
        self.post_message(self.StopPressed())
