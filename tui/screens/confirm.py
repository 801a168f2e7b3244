"""A question with two answers."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button

from tui.screens.dialog import GRACE, Dialog
from tui.widgets.literal import LiteralButton, LiteralStatic, label


class Confirm(Dialog[bool]):
    """Asks; gives True for the deed, False or None for not doing it.

    Args:
        question: one line, any text.
        explanation: what follows from it, any text.
        deed: the word on the button that does it.
        keep: the word on the other one.
        danger: whether the safe button has the focus at first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", show=False),
        Binding("n", "answer(False)", show=False),
        Binding("left,up,shift+tab", "app.focus_previous", show=False),
        Binding("right,down,tab", "app.focus_next", show=False),
    ]

    grace = GRACE

    def __init__(
        self, question: str, explanation: str = "", *, deed: str, keep: str = "Cancel", danger: bool = False
    ) -> None:
        super().__init__()
        self._question, self._explanation = question, explanation
        self._deed, self._keep, self._danger = deed, keep, danger

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = label(self._question, 70)
            if self._explanation:
                yield LiteralStatic(self._explanation, classes="dialog-text")
            with Horizontal(classes="dialog-buttons"):
                yield LiteralButton(self._keep, id="keep", compact=True)
                yield LiteralButton(
                    self._deed, id="deed", variant="error" if self._danger else "primary", compact=True
                )
            yield LiteralStatic("Enter chooses · y yes · n no · Esc closes", classes="dialog-hint")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#keep" if self._danger else "#deed", Button).focus()

    def action_answer(self, answer: bool) -> None:
        if self.ready:
            self.dismiss(answer)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.action_answer(event.button.id == "deed")
