"""Signs beside the lines of an editor, in a column of their own that is there only while there are some."""

from __future__ import annotations

from collections.abc import Mapping

from rich.segment import Segment
from textual import events
from textual.app import RenderResult
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.plain_text import NotSelectable
from tui.widgets.text.document_editor import DocumentEditor
from tui.widgets.theme_styles import ink

Signs = Mapping[int, tuple[str, str]]
"""By line, from 0: the sign and its colour of the theme."""


class MarginSigns(NotSelectable, Widget, can_focus=False):
    """The column.

    Args:
        editor: whose lines; it stands to the right.
    """

    DEFAULT_CSS = "MarginSigns { dock: left; width: 2; display: none; }"

    class Clicked(Message):
        """The person clicked beside a line."""

        def __init__(self, line: int) -> None:
            super().__init__()
            self.line = line

    def __init__(self, editor: DocumentEditor) -> None:
        super().__init__()
        self._editor = editor
        self._signs: Signs = {}

    def on_mount(self) -> None:
        self.watch(self._editor, "scroll_y", self._scrolled, init=False)

    def _scrolled(self) -> None:
        self.refresh()

    def show(self, signs: Signs) -> None:
        """Show these signs, none of those before."""
        if signs != self._signs:
            self._signs = signs
            self.display = bool(signs)
            self.refresh()

    def render(self) -> RenderResult:
        return ""

    def render_line(self, y: int) -> Strip:
        line = self._line(y)
        sign, colour = self._signs.get(-1 if line is None else line, ("", ""))
        return Strip([Segment(f" {sign}" if sign else "  ", ink(self, colour) if sign else self.rich_style)])

    def _line(self, y: int) -> int | None:
        return self._editor.line_at(y + self.region.y - self._editor.region.y)

    def on_click(self, event: events.Click) -> None:
        if (line := self._line(event.y)) is not None:
            self.post_message(self.Clicked(line))
