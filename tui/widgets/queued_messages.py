"""The list of queued messages to the working agent, one line each, to edit or remove."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.chat.view import Queued
from tui.terminal.sanitise import one_line
from tui.widgets.plain_text import NotSelectable
from tui.widgets.theme_styles import ink

MOST = 3
"""Lines that are shown at once: the newest."""


class QueuedMessageList(NotSelectable, Widget, can_focus=False):
    """The queued messages."""

    class Wanted(Message):
        """A message was clicked: to be edited again, or removed."""

        def __init__(self, key: str, edit: bool) -> None:
            super().__init__()
            self.key = key
            self.edit = edit

    def __init__(self, *, ascii_only: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self._queued: Sequence[Queued] = ()
        self._remove = "x" if ascii_only else "×"
        self._edits = ""
        self.display = False

    @property
    def queued(self) -> Sequence[Queued]:
        """The queued messages, oldest first."""
        return self._queued

    def set_key(self, key: str) -> None:
        """Show which key edits the newest message."""
        if key != self._edits:
            self._edits = key
            self.refresh()

    def show(self, queued: Sequence[Queued]) -> None:
        """Show these."""
        if list(queued) != list(self._queued):
            self._queued = queued
            self.display = bool(queued)
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows they take."""
        return min(MOST, len(self._queued))

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        base = self.rich_style + ink(self, "foreground-muted")
        shown = self._queued[-MOST:]
        if y >= len(shown):
            return Strip.blank(width, base)
        one = shown[y]
        more = len(self._queued) - len(shown)
        prefix = f"{'when it is done' if one.later else 'queued'}: "
        tail = f" ({more} more)" if more and y == 0 else ""
        tail += f"  {self._edits} edits  {self._remove} " if y == len(shown) - 1 else f"  {self._remove} "
        room = max(0, width - cell_len(prefix) - cell_len(tail))
        text = set_cell_size(one_line(one.text, room), room)
        return Strip(
            [Segment(prefix, base), Segment(text, self.rich_style), Segment(tail, base)]
        ).adjust_cell_length(width, base)

    def on_click(self, event: events.Click) -> None:
        event.stop()
        shown = self._queued[-MOST:]
        if 0 <= event.y < len(shown):
            self.post_message(self.Wanted(shown[event.y].key, event.x < self.size.width - 3))
