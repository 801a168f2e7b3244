"""Messages on their way from the chat bar to a conversation: kept as drafts are until they arrive, or come back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tui.chat.panel_controller import PanelWatch
from tui.drafts.outbox import Message, Underway

if TYPE_CHECKING:
    from tui.document.controller import DocumentController
    from tui.screens.main.screen import MainScreen
    from tui.widgets.chat_bar import ChatBar


def below(stored: str, typed: str) -> str:
    """Return two texts, one below the other: neither is lost."""
    return "\n".join(text for text in (stored, typed) if text.strip())


class Delivering(PanelWatch):
    """Whose a message is, and where it is until it has arrived."""

    _editing: DocumentController | None = None

    def __init__(self, screen: MainScreen) -> None:
        super().__init__(screen)
        self._underway = Underway()
        self._drafts: dict[str, str] = {}
        self._shown: str | None = None

    @property
    def _bar(self) -> ChatBar:
        return self._screen.chat_bar

    def _sent(self, typed: str) -> Message:
        """Something was sent just now, about the persona that is open."""
        opened = self._editing.id if self._editing is not None else None
        return self._underway.begin(self._shown or opened or "", typed)

    @contextmanager
    def _on_its_way(self, message: Message) -> Iterator[None]:
        """Deliver a message in the block: what it has not said to be delivered by its end comes back."""
        try:
            yield
        finally:
            # While the screen is taken down it stays where it is: it is remembered with the drafts.
            if self._screen.program.is_running and message in self._underway:
                self._give_back(message.persona_id, message.typed, mine=message.mine)
                self._underway.end(message)
                self.sync()

    def _give_back(self, persona_id: str, text: str, *, mine: bool = False) -> None:
        """Put a text back before the draft of the persona it was written for; `mine`: it answers what is asked."""
        if text.strip() and persona_id in ("", self._shown or ""):
            self._bar.put_back(text, mine=mine)
        elif text.strip():
            self._drafts[persona_id] = below(text, self._drafts.get(persona_id, ""))
