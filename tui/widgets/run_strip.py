"""The line above the chat bar while test inputs are run: how far they are, what they cost, how to stop them."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.message import Message

from tui.widgets.plain_text import LiteralStatic


class RunStrip(LiteralStatic):
    """One line that is there while something runs. A click on it stops that."""

    DEFAULT_CSS = """
    RunStrip { display: none; height: 1; padding: 0 1; background: $surface; color: $text-accent; text-wrap: nowrap; }
    """

    class StopPressed(Message):
        """The person wants the runs to end."""

    def show(self, parts: Sequence[str], stops: str) -> None:
        """Show how far the runs are; nothing where there are no parts.

        Args:
            parts: what is said of them.
            stops: what stops them, in words; empty for nothing.
        """
        self.update(" · ".join([*parts, *([stops] if stops else [])]) if parts else "")
        if self.display is not bool(parts):
            self.display = bool(parts)

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.StopPressed())
