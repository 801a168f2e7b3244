"""What the library does on the screen: the place is opened, and what is asked there is done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from tui.document.controller import DocumentController
from tui.screens.library.catalog import LibraryCatalog
from tui.screens.library.place import LibraryPlace
from tui.screens.library.view import LibraryView

if TYPE_CHECKING:
    from personas.library.documents import Kind
    from tui.app.host import Host
    from tui.document.document import OpenDocument


class LibraryController:
    """The library of the home.

    Args:
        host: the main screen.
        main: has the open persona.
        open_persona: shows a persona.
    """

    def __init__(
        self, host: Host, main: DocumentController, open_persona: Callable[[str], Awaitable[None]]
    ) -> None:
        self._host, self._open_persona = host, open_persona
        self.place: LibraryPlace | None = None
        self._kind: Kind = "part"
        view = LibraryView(host, lambda: self.place, self._opened)
        self.documents = DocumentController(view, main.workspace, main.unsaved.store, beside=main)
        self._workspace = main.workspace
        self.catalog = LibraryCatalog(host, main.workspace, lambda: self.place, self._hold_all)

    def open_library(self, kind: Kind | None = None, name: str = "") -> None:
        """Show the library: the documents of a kind, or where it was left, and with a name that document in its editor."""
        if self.place is None:
            self._host.start(self._show(kind or self._kind, name))
        else:
            self._go(kind or self._kind, name)

    async def _show(self, kind: Kind, name: str) -> None:
        self.place = LibraryPlace(self.documents, self._do, lambda: self._go(kind, name))
        self._host.start(self.catalog.read())
        persona_id = await self._host.ask(self.place)
        self._kind, self.place = self.place.kind, None
        await self.documents.flush()
        self.documents.close()
        if persona_id is not None:
            await self._open_persona(persona_id)

    def _go(self, kind: Kind, name: str) -> None:
        if self.place is not None:
            self.place.show_kind(kind, name)
            if name:
                self._open(f"{kind}/{name}")

    def _open(self, key: str) -> None:
        self.documents.open(key)
        if self.place is not None:
            self.place.enter_document()

    # -- what several use -----------------------------------------------------------------------------------

    def _opened(self, document: OpenDocument) -> None:
        """Another document is open."""
        self._hold(document)
        self._host.start(self.catalog.count_users())

    def _hold_all(self) -> None:
        for document in list(self.documents.documents.values()):
            self._hold(document)

    def _hold(self, document: OpenDocument) -> None:
        """Hold back what is typed where several use it, and as long as nobody knows."""
        was_held, users = document.is_held, self.catalog.users
        document.is_held = users is None or len(users.get(document.id, ())) > 1
        if was_held and not document.is_held:
            self.documents.saver.request_all(document)

    # -- what is asked ------------------------------------------------------------------------------------

    def _do(self, what: str, key: str) -> None:
        """Do what is asked in the place about a document, by its key."""
        match what:
            case "open":
                self._open(key)
            case "kind":
                self._host.start(self.catalog.read_kind(key))  # type: ignore[arg-type]
            case "look":
                self._host.again(self._look)
            case "undo" | "redo":
                self._host.start(self.documents.undo.step(what))

    async def _look(self) -> None:
        """Take in what other programs did."""
        await self.documents.look()
        await self.catalog.look()
