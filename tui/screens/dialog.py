"""What all dialogs share: Esc closes them, and keys pressed before one appeared do not answer it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import ClassVar, TypeVar

from textual import events
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

Result = TypeVar("Result")

GRACE = 0.3
"""Seconds after its appearance in which a dialog takes no answer."""


class Dialog(ModalScreen[Result]):
    """A dialog over the screen."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel", priority=True)]

    grace: ClassVar[float] = 0.0

    def __init__(self) -> None:
        super().__init__()
        self._appeared = time.monotonic()

    def on_mount(self) -> None:
        self._appeared = time.monotonic()

    @property
    def ready(self) -> bool:
        """Whether a key now was meant for this dialog."""
        return time.monotonic() - self._appeared >= self.grace

    def action_cancel(self) -> None:
        """Close without an answer."""
        self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        if event.widget is self:
            self.action_cancel()
