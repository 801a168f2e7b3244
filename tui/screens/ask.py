"""A question whose answer is a text."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from tui.editable import from_shown
from tui.screens.dialog import Dialog
from tui.widgets.field import Field
from tui.widgets.literal import LiteralStatic, label
from tui.widgets.text_editor import TextEditor


class AskLine(Dialog[str]):
    """Asks for one line; gives it stripped, or None. An empty line is no answer.

    Args:
        question: any text.
        text: what stands in the field at first.
        hint: shown while the field is empty.
        explanation: any text.
    """

    def __init__(self, question: str, *, text: str = "", hint: str = "", explanation: str = "") -> None:
        super().__init__()
        self._question, self._text, self._hint, self._explanation = question, text, hint, explanation

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = label(self._question, 70)
            if self._explanation:
                yield LiteralStatic(self._explanation, classes="dialog-text")
            yield Field(self._text, hint=self._hint, id="answer")
            yield LiteralStatic("Enter accepts · Esc closes", classes="dialog-hint")

    def on_mount(self) -> None:
        super().on_mount()
        field = self.query_one(Field)
        field.focus()
        field.cursor_position = len(field.value)

    @on(Input.Submitted)
    def _answered(self, event: Input.Submitted) -> None:
        event.stop()
        if answer := from_shown(event.value).strip():
            self.dismiss(answer)


class _Answer(TextEditor):
    """The text of the answer: Enter accepts, Ctrl+J is a new line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.accept", show=False, priority=True),
        Binding("ctrl+j,shift+enter,alt+enter", "new_line", show=False, priority=True),
    ]

    def action_new_line(self) -> None:
        self._replace_via_keyboard("\n", *self.selection)

    async def _on_key(self, event: events.Key) -> None:
        await super()._on_key(event)


class AskText(Dialog[str]):
    """Asks for a text of several lines; gives it, or None. Blanks alone are no answer."""

    def __init__(self, question: str, *, text: str = "") -> None:
        super().__init__()
        self._question, self._text = question, text

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = label(self._question, 70)
            yield _Answer(id="answer", prose=False)
            yield LiteralStatic("Enter accepts · Ctrl+J new line · Esc closes", classes="dialog-hint")

    def on_mount(self) -> None:
        super().on_mount()
        editor = self.query_one(_Answer)
        editor.show(self._text)
        editor.focus()
        editor.move_cursor(editor.document.end)

    def action_accept(self) -> None:
        text = self.query_one(_Answer).raw
        if text.strip():
            self.dismiss(text)
