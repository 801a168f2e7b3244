"""The way from the main screen into the library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.screens.main.persona_actions import NOT_READ

if TYPE_CHECKING:
    from personas.library.documents import Kind
    from tui.app.host import Host
    from tui.outputs.controller import OutputsController
    from tui.screens.library.controller import LibraryController
    from tui.screens.main.persona_view import PersonaView


class LibraryActions:
    """Opens the library.

    Args:
        host: the main screen.
        view: shows the open persona, to which the person comes back.
        outputs: runs test inputs.
    """

    def __init__(self, host: Host, view: PersonaView, outputs: OutputsController) -> None:
        self._host, self._view, self._outputs = host, view, outputs
        self.controller: LibraryController | None = None
        """What is open there; None before it is opened first."""

    def action_library(self) -> None:
        self.open_library()

    def open_library(self, kind: Kind | None = None, name: str = "") -> None:
        """Show the library: the documents of a kind, or where it was left, and with a name that document in its editor."""
        if (documents := self._view.documents) is None:
            self._host.show_message(NOT_READ)
            return
        if self.controller is None:
            from tui.screens.library.controller import LibraryController

            self.controller = LibraryController(self._host, documents, self._outputs, self._view.open_persona)
        self.controller.open_library(kind, name)
