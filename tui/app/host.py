"""What every part of the main screen may ask of it: to say something, to ask something, to work beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from textual.screen import ModalScreen

    from personas.library.documents import Kind
    from tui.app.app import PersonaApp
    from tui.commands.registry import Keymap


class Host(Protocol):
    """The main screen, as its parts know it."""

    @property
    def program(self) -> PersonaApp:
        """The app."""

    @property
    def keymap(self) -> Keymap:
        """The person's own keys."""

    def show_message(self, message: str, *, error: bool = False) -> None:
        """Show a message for a moment."""

    async def ask(self, dialog: ModalScreen[Any]) -> Any:
        """Show a dialog and return its answer, None when it was closed."""

    async def confirm(
        self, question: str, text: str, *, action: str, keep: str, danger: bool = False
    ) -> bool:
        """Ask whether something is to be done; for the arguments, see `Confirm`."""

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run something beside the screen."""

    def start_once(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """The same, unless the last time is still under way."""

    def focus_chat(self) -> None:
        """Give the keys to the chat bar, that of the talk while there is one."""

    def agent_bar_shown(self, shown: bool) -> None:
        """Show the agent's chat bar, or the bar of a talk stands there."""

    def open_library(self, kind: Kind | None = None, name: str = "") -> None:
        """Show the library, with a name that document in its editor."""

    def leave_talk(self) -> None:
        """End the talk with a persona, if there is one."""

    def show_keys(self) -> None:
        """Show in the last line what keys do now."""
