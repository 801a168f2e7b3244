"""The compiled prompt: all that is sent as the system prompt, and where the line under the cursor comes from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import TextArea

from tui.commands.registry import bindings
from tui.terminal.visible_controls import to_shown
from tui.widgets.plain_text import label
from tui.widgets.text.safe_text_area import SafeTextArea

if TYPE_CHECKING:
    from personas.library.assembly import CompiledLine


class CompiledText(SafeTextArea):
    """A text to read, whose lines lead to where they come from."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("compiled")]

    COMPONENT_CLASSES: ClassVar[set[str]] = TextArea.COMPONENT_CLASSES

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.theme = "css"  # the cursor's line is marked

    def action_open(self) -> None:
        self.post_message(CompiledPane.Opened(self.cursor_location[0]))


class CompiledPane(Vertical):
    """A prompt put together, to read."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    focus_area = "compiled"

    class Opened(Message):
        """The person wants to go where a line, counted from 0, comes from."""

        def __init__(self, line: int) -> None:
            super().__init__()
            self.line = line

    def __init__(self) -> None:
        super().__init__(id="compiled-pane")
        self._lines: Sequence[CompiledLine] = ()
        self._text = CompiledText(read_only=True, id="compiled")

    def compose(self) -> ComposeResult:
        yield self._text

    @property
    def focus_target(self) -> CompiledText:
        """What gets the keys."""
        return self._text

    @property
    def lines(self) -> Sequence[CompiledLine]:
        """The lines that are shown."""
        return self._lines

    def show(self, title: str, lines: Sequence[CompiledLine]) -> None:
        """Show lines; the cursor stays in its line where the text changes."""
        self.border_title = label(title, 80)
        if lines != self._lines:
            self._lines = lines
            place = self._text.cursor_location
            self._text.load_text(to_shown("\n".join(line.text for line in lines)))
            self._text.move_cursor((min(place[0], len(lines) - 1), 0))
        self._show_origin()

    def go_to(self, line: int) -> None:
        """Put the cursor on a line, counted from 0."""
        self._text.move_cursor((line, 0))
        self._show_origin()
        self._text.call_after_refresh(self._text.scroll_cursor_visible, center=True)

    @on(SafeTextArea.SelectionChanged)
    def _show_origin(self) -> None:
        """Say where the line under the cursor comes from."""
        at = self._text.cursor_location[0]
        self.border_subtitle = label(origin(self._lines[at]) if at < len(self._lines) else "", 78)


def origin(line: CompiledLine) -> str:
    """Return where a line comes from, in words."""
    piece = line.piece
    if piece is None:
        return "between pieces"
    if piece.document is None:
        return f"its own prompt, line {line.source_line}"
    where = f", {line.field} line {line.source_line}" if line.source_line is not None else ""
    instead = f", instead of {', '.join(piece.replaced)}" if piece.replaced else ""
    return f"{piece.kind} {piece.name}{where} · {piece.level}{instead}"
