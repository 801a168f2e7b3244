"""A question whose answer is a text."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Input

from personas.changes import NAME_LIMIT, require_line
from personas.errors import PersonaError
from tui.document.debounce import Debounce
from tui.document.text_slot import TextSlot
from tui.screens.dialogs.base import Dialog, DialogText
from tui.terminal.visible_controls import from_shown, pasted
from tui.widgets.plain_text import label
from tui.widgets.text.document_editor import DocumentEditor
from tui.widgets.text.line_input import LineInput


class AskLine(Dialog[str]):
    """Asks for one line; gives it, or None. An empty line is no answer, but see `wanted`.

    Args:
        question: any text.
        text: what stands in the field at first.
        hint: shown while the field is empty.
        explanation: any text.
        exact: the line is given as it was typed; else without the blanks around it, and blanks alone are no answer.
        wanted: said where there is no answer; "": none is an answer, too.
        check: told what is to be given; raises `PersonaError` where it cannot be, which is said.
    """

    def __init__(
        self,
        question: str,
        *,
        text: str = "",
        hint: str = "",
        explanation: str = "",
        exact: bool = False,
        wanted: str = "Enter a text.",
        check: Callable[[str], object] | None = None,
    ) -> None:
        super().__init__()
        self._question, self._text, self._hint, self._explanation = question, text, hint, explanation
        self._exact, self._wanted, self._check = exact, wanted, check

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = label(self._question, 70)
            if self._explanation:
                yield DialogText(self._explanation)
            yield LineInput(self._text, hint=self._hint, id="answer")
            yield self.hint("Enter accepts", ("dialog.close", "closes"))

    def on_mount(self) -> None:
        super().on_mount()
        field = self.query_one(LineInput)
        field.focus()
        field.action_select_all()  # typing takes the place of what stood there

    @on(Input.Submitted)
    def _answered(self, event: Input.Submitted) -> None:
        event.stop()
        typed = from_shown(event.value)
        answer = typed if self._exact else typed.strip()
        if not answer and self._wanted:
            self.refuse(self._wanted)
            return
        try:
            if self._check is not None:
                self._check(answer)
        except PersonaError as error:
            self.refuse(str(error))
        else:
            self.dismiss(answer)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.end_refusal()


class AskName(AskLine):
    """Asks for the name of a persona: one that it may have, or the one it has."""

    def __init__(self, question: str, *, text: str = "", hint: str = "", explanation: str = "") -> None:
        super().__init__(
            question,
            text=text,
            hint=hint,
            explanation=explanation,
            wanted="Enter a name.",
            check=self._look,
        )

    def _look(self, name: str) -> None:
        if name != self._text:
            require_line(name, "A name", NAME_LIMIT)


class AnswerEditor(DocumentEditor):
    """A text of several lines in a dialog: Enter accepts, Ctrl+J is a new line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.accept", show=False),
        Binding("ctrl+j,shift+enter,alt+enter", "new_line", show=False),
    ]

    take_paste: Callable[[str], bool] = staticmethod(lambda text: False)
    """Told a text that is pasted where nothing is written; returns whether it is not to be inserted now."""

    def action_new_line(self) -> None:
        self._replace_via_keyboard("\n", *self.selection)

    async def _on_paste(self, event: events.Paste) -> None:
        # Runs before the handler of the base class, which inserts the text.
        if not self.text.strip() and self.take_paste(from_shown(pasted(event.text))):
            event.stop()
            event.prevent_default()

    def insert_pasted(self, text: str) -> None:
        """Insert a text as it would be pasted."""
        if result := self._replace_via_keyboard(pasted(text), *self.selection):
            self.move_cursor(result.end_location)

    @on(DocumentEditor.Blurred)
    @on(DocumentEditor.UndoExhausted)
    @on(DocumentEditor.RedoDropped)
    def _keep_inside(
        self, event: DocumentEditor.Blurred | DocumentEditor.UndoExhausted | DocumentEditor.RedoDropped
    ) -> None:
        event.stop()


class AskText(Dialog[str]):
    """Asks for a text of several lines; gives it, or None. Blanks alone are no answer.

    Args:
        question: any text.
        text: what stands there at first.
        keep: told the text at each pause and whenever the dialog goes without an answer.
        take_paste: see `AnswerEditor`.
        is_long: it takes the room of a long text.
    """

    def __init__(
        self,
        question: str,
        *,
        text: str = "",
        keep: Callable[[str], object] | None = None,
        take_paste: Callable[[str], bool] | None = None,
        is_long: bool = False,
    ) -> None:
        super().__init__()
        self._question, self._text, self._keep, self._is_long = question, text, keep, is_long
        self._answered, self._kept = False, text
        self._slot = TextSlot("answer", text, on_edit=self._edited)
        self._debounce = Debounce(self.keep_begun)
        self._answer = AnswerEditor(id="answer", prose=False)
        if take_paste is not None:
            self._answer.take_paste = take_paste
        self.insert_pasted = self._answer.insert_pasted

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog wide" if self._is_long else "dialog") as box:
            box.border_title = label(self._question, 70)
            self._answer.add_class("gives")
            yield self._answer
            yield self.hint("Enter accepts", "Ctrl+J new line", ("dialog.close", "closes"))

    def on_mount(self) -> None:
        super().on_mount()
        editor = self._answer
        editor.bind(self._slot)
        editor.focus()
        editor.move_cursor(editor.document.end)

    def desired_rows(self, part: Widget) -> int:
        return self.size.height if self._is_long else 8

    def keep_begun(self) -> None:
        """Have what is written kept."""
        text = self._slot.text
        if self._keep is not None and not self._answered and text != self._kept:
            self._kept = text
            self._keep(text)

    def on_unmount(self) -> None:
        self._debounce.now()

    def action_cancel(self) -> None:
        self.keep_begun()
        super().action_cancel()

    def action_accept(self) -> None:
        text = self._slot.text
        if text.strip():
            self.keep_begun()
            self._answered = True
            self.dismiss(text)
        else:
            self.refuse("Enter a text.")

    def _edited(self, slot: TextSlot) -> None:
        self._debounce.key_pressed()
        self.end_refusal()
