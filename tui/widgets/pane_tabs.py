"""The row of pane names on a narrow screen."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.terminal.sanitise import one_line
from tui.widgets.plain_text import NotSelectable
from tui.widgets.theme_styles import ink

APART = 4
"""Cells between the last name of a pane and a note that is too long."""


class PaneTabs(NotSelectable, Widget, can_focus=False):
    """Names of panes, one of them in front."""

    DEFAULT_CSS = "PaneTabs { height: 1; color: $text-muted; layer: panes; }"

    class Chosen(Message):
        """A name was clicked."""

        def __init__(self, pane: str) -> None:
            super().__init__()
            self.pane = pane

    class NotePressed(Message):
        """The note was clicked."""

    def __init__(self, panes: Sequence[tuple[str, str]], *, id: str = "tabs") -> None:
        super().__init__(id=id)
        self._panes = list(panes)
        self._active = panes[0][0]
        self._marks: dict[str, str] = {}
        self._note = ""

    def show(self, active: str, marks: dict[str, str], note: str = "") -> None:
        """Put a pane's name in front; `marks` are short signs after the names, `note` is any text at the end."""
        if (active, marks, note) != (self._active, self._marks, self._note):
            self._active, self._marks, self._note = active, marks, note
            self.refresh()

    def _labels(self) -> list[tuple[str, str]]:
        found = []
        for pane, title in self._panes:
            mark = self._marks.get(pane, "")
            found.append((pane, f" {title}{' ' + mark if mark else ''} "))
        return found

    def render_line(self, y: int) -> Strip:
        base = self.rich_style
        active = base + ink(self, "text-accent", "panel", bold=True)
        segments = [Segment(" ", base)]
        for pane, text in self._labels():
            segments += [Segment(text, active if pane == self._active else base), Segment(" ", base)]
        tabs = Strip(segments)
        room = self.size.width - tabs.cell_length - 1
        note = one_line(self._note, room) if room > 3 else ""
        if room > 4 * APART and note != one_line(self._note, room + 1):
            note = one_line(self._note, room - APART)  # cut anyway: it must not look like one more tab
        gap = Segment(" " * max(0, room - cell_len(note)), base)
        return Strip.join([tabs, Strip([gap, Segment(f"{note} ", base)])]).adjust_cell_length(
            self.size.width, base
        )

    def on_click(self, event: events.Click) -> None:
        x = 1
        for pane, text in self._labels():
            if x <= event.x < x + cell_len(text):
                self.post_message(self.Chosen(pane))
                return
            x += cell_len(text) + 1
        self.post_message(self.NotePressed())
