"""A question with two answers."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button

from tui.commands.registry import binding
from tui.screens.dialogs.base import GRACE, Dialog, DialogText
from tui.widgets.plain_text import LiteralButton, label
from tui.widgets.text.virtual_static import VirtualStatic


class Confirm(Dialog[bool]):
    """Asks; gives True for doing it, False or None for not.

    Args:
        question: one line, any text.
        explanation: what follows from it, any text.
        action: the words on the button that does it.
        keep: the word on the other one.
        danger: whether the safe button has the focus at first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        binding("ask.yes"),
        binding("ask.no"),
        binding("ask.previous"),
        binding("ask.next"),
    ]

    grace = GRACE

    def __init__(
        self, question: str, explanation: str = "", *, action: str, keep: str = "Cancel", danger: bool = False
    ) -> None:
        super().__init__()
        self._question, self._explanation = question, explanation
        self._action, self._keep, self._danger = action, keep, danger

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = label(self._question, 70)
            if self._explanation:
                yield DialogText(self._explanation)
            with Horizontal(classes="dialog-buttons"):
                yield LiteralButton(self._keep, id="keep")
                yield LiteralButton(
                    self._action, id="confirm", variant="error" if self._danger else "primary"
                )
            yield self.hint("Enter chooses", ("ask.yes", "yes"), ("ask.no", "no"), ("dialog.close", "closes"))

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#keep" if self._danger else "#confirm", LiteralButton).focus()

    def explain(self, text: str) -> None:
        """Say something else of what follows from it, now that it is read."""
        self._explanation = text
        for shown in self.query(".dialog-text").results(VirtualStatic):
            shown.update(text)
            self.fit_soon()

    async def explain_later(self, reading: Awaitable[str | None]) -> bool:
        """Say what follows from it once that is read; where it is None there is nothing to ask. Return whether there is."""
        text = None
        try:
            text = await reading
        finally:
            if text is None:
                self.dismiss(None)
        if text:
            self.explain(text)
        return text is not None

    def action_answer(self, answer: bool) -> None:
        if self.ready:
            self.dismiss(answer)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.action_answer(event.button.id == "confirm")
