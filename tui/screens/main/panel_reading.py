"""Reading in the panel: it has the keys, and each does something with the turn under the cursor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual import events

from tui.commands.registry import command_of

if TYPE_CHECKING:
    from tui.app.host import Host
    from tui.chat.controller import ConversationController
    from tui.screens.main.persona_view import PersonaView
    from tui.widgets.chat_bar import ChatBar
    from tui.widgets.conversation import ConversationView

DIGITS = frozenset("0123456789")


class PanelReading:
    """The keys while the panel is read.

    Args:
        host: the main screen.
        conversations: what is said.
        turns: gives the turns in the panel.
        chat_bar: where a digit goes that answers.
        view: shows the open persona, of which a run can be undone.
        find: asks what to look for.
    """

    def __init__(
        self,
        host: Host,
        conversations: ConversationController,
        turns: Callable[[], ConversationView],
        chat_bar: ChatBar,
        view: PersonaView,
        find: Callable[[], None],
    ) -> None:
        self._host, self._chat, self._turns, self._chat_bar = host, conversations, turns, chat_bar
        self._view, self._find = view, find

    def take_key(self, event: events.Key) -> None:
        """Take a key that no widget has."""
        if not self._chat.panel_controller.reading:
            return
        pressed = command_of("output", event.key, self._host.program.settings.keys)
        if event.character in DIGITS and self._chat.questions.can_pick:
            # The answer is given where the keys of the question are: Enter opens a turn here.
            event.stop()
            event.prevent_default()
            self._chat.panel_controller.stop_reading()
            self._chat_bar.input.take_digit(event.character)
        elif pressed:
            event.stop()
            event.prevent_default()
            self.action_read(pressed.partition(".")[2])
            self._chat.panel_controller.interacted()

    def action_read(self, what: str) -> None:
        """Do what a key does while the panel is read, by the last part of its command's id."""
        view = self._turns()
        keys: dict[str, Callable[[], Any]] = {
            "next": lambda: view.move_cursor(1),
            "previous": lambda: view.move_cursor(-1),
            "first": lambda: self._host.start(self._read_first()),
            "open": view.toggle,
            "copy": lambda: self._host.program.copy(view.cursor_text()),
            "undo": self._undo_turn,
            "find": self._find,
            "find_next": lambda: view.search_step(1),
            "find_previous": lambda: view.search_step(-1),
            "follow": view.cursor_end,
            "full": self._chat.panel_controller.enlarge,
            "page_up": lambda: view.page(-1),
            "page_down": lambda: view.page(1),
        }
        keys[what]()

    async def _read_first(self) -> None:
        await self._chat.history.load_older()
        self._turns().cursor_home()

    def _undo_turn(self) -> None:
        """Undo what the run of the turn under the cursor changed."""
        current, documents = self._chat.current, self._view.documents
        session_id = current.chat.session_id if current is not None and current.chat is not None else None
        if documents is not None and session_id is not None:
            self._host.start(documents.undo.undo_turn(session_id, self._turns().turns_up_from_cursor()))
