"""The question before the program ends while the agent works: stop it, wait for it, or stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button

from tui.commands.registry import binding
from tui.screens.dialogs.base import GRACE, Dialog, DialogText
from tui.widgets.plain_text import LiteralButton


class QuitDialog(Dialog[str]):
    """Asks; gives `stop` (end now), `wait` (end when the agent is done), or None to stay.

    Args:
        working: the names of the personas the agent works on.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        binding("ask.stop"),
        binding("ask.wait"),
        binding("ask.previous"),
        binding("ask.next"),
    ]

    grace = GRACE

    def __init__(self, working: Sequence[str]) -> None:
        super().__init__()
        self._working = working

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = "Quit while the agent works?"
            yield DialogText(
                f"It still works on {', '.join(self._working)}. What it did so far is saved and can be undone."
            )
            with Horizontal(classes="dialog-buttons"):
                yield LiteralButton("Stay", id="stay")
                yield LiteralButton("Wait, then quit", id="wait")
                yield LiteralButton("Stop and quit", id="stop", variant="error")
            yield self.hint(
                "Enter chooses", ("ask.wait", "waits"), ("ask.stop", "stops"), ("dialog.close", "stays")
            )

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#stay", LiteralButton).focus()

    def action_answer(self, answer: str) -> None:
        if self.ready:
            self.dismiss(answer)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        if event.button.id == "stay":
            self.action_cancel()
        else:
            self.action_answer(str(event.button.id))
