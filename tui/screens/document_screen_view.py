"""What a full-screen dialog of documents does with the open one, whatever the dialog is for."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tui.commands.registry import sentence
from tui.document.controller import DocumentController
from tui.screens.document_screen import DocumentScreen
from tui.screens.version_actions import VersionActions
from tui.widgets.plain_text import content

if TYPE_CHECKING:
    from personas.versions.undo import Direction
    from tui.app.host import Host
    from tui.commands.registry import Keymap
    from tui.document.document import OpenDocument
    from tui.document.merge import MergeConflict
    from tui.document.text_slot import TextSlot


P = TypeVar("P", bound=DocumentScreen[Any])


class DocumentScreenView(Generic[P]):
    """The open document of such a dialog: shown while that is open, and what each of them does with it.

    Args:
        host: the main screen.
        main: has the open persona.
        opened: called when another document is open.
    """

    def __init__(self, host: Host, main: DocumentController, opened: Callable[[OpenDocument], None]) -> None:
        self._host, self._opened = host, opened
        self._screen: P | None = None
        self.documents = DocumentController(self, main.workspace, main.unsaved.store, beside=main)
        self._timeline = VersionActions(host, lambda: self.documents)

    @property
    def is_there(self) -> bool:
        """Whether the person is in the dialog."""
        return self._screen is not None

    async def show(self, screen: P) -> Any:
        """Show the dialog until it is closed; return what it gives."""
        self._screen = screen
        given = await self._host.ask(screen)
        self._screen = None
        await self.documents.flush()
        self.documents.close()
        return given

    def shown(self) -> P | None:
        """Return the dialog, while it is on the screen."""
        screen = self._screen
        return screen if screen is not None and screen.is_shown and self._host.program.is_running else None

    def open(self, key: str) -> None:
        """Open a document, and give it the keys."""
        self.documents.open(key)
        if (screen := self.shown()) is not None:
            screen.enter_document()

    async def ensure_open(self, key: str) -> bool:
        """Open a document where it is not open; return whether it is then."""
        return key == self.documents.id or await self.documents.open(key)

    async def forget(self, key: str) -> None:
        """A document is gone, by what the person did."""
        await self.documents.forget(key)
        if self.documents.id == key:
            self.documents.close()

    def does(self, what: str, key: str) -> bool:
        """Do what each such dialog does with a document, by its key; return whether this is such a thing."""
        match what:
            case "open":
                self.open(key)
            case "save":
                self._host.start(self.save())
            case "compare":
                self._host.start(self._timeline.compare())
            case "versions":
                self._host.start(self._show_versions(key))
            case "external":
                self._host.start(self._edit_file())
            case "refused":
                self._refuse()
            case _:
                return False
        return True

    async def save(self) -> None:
        """Save the open document, where what is typed in it is held back."""
        if (document := self.documents.document) is not None:
            await self.documents.saver.save_held(document)

    async def _show_versions(self, key: str) -> None:
        if await self.ensure_open(key):
            await self._timeline.show()

    async def _edit_file(self) -> None:
        from tui.screens.editor_launcher import edit_file

        await edit_file(self._host.program, self.documents)

    def _refuse(self) -> None:
        document = self.documents.document
        if document is not None and document.broken:
            how = sentence("editor.external", self._host.keymap, " {} opens it in your editor.")
            self._host.show_message(f"This cannot be edited: the file is broken.{how}", error=True)

    # -- what the document asks and tells, see `DocumentView` ---------------------------------------------

    @property
    def keymap(self) -> Keymap:
        """The person's own keys."""
        return self._host.keymap

    def show_message(self, message: str, *, error: bool = False) -> None:
        """Show a message for a moment."""
        self._host.show_message(message, error=error)

    def start(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run something beside the screen."""
        return self._host.start(work)

    def name_of(self, key: str) -> str:
        """Return what a document is called in a sentence."""
        return f"the {key.replace('/', ' ')}"

    async def choose(self, conflict: MergeConflict, ours: str, theirs: str, notice: str = "") -> str | None:
        """Let the person choose between two texts; `told`: what was said of it, which goes."""
        from tui.screens.dialogs.conflict import ConflictDialog

        self._host.program.take_back(lambda message: message == content(notice).plain)
        chosen: str | None = await self._host.ask(ConflictDialog(conflict, ours=ours, theirs=theirs))
        return chosen

    def document_opened(self, document: OpenDocument | None) -> None:
        """Another document is open, or none."""
        if document is not None:
            self._opened(document)
        if (screen := self.shown()) is not None:
            screen.show_document(document)

    def document_read(self, document: OpenDocument, *, keep_cursor: bool) -> None:
        """The open document, which was empty, is read."""
        if (screen := self.shown()) is not None:
            screen.show_document(document, keep_cursor=keep_cursor)

    def document_changed(self, document: OpenDocument, *, by_agent: bool, elsewhere: bool) -> None:
        """The open document is another now."""
        if (screen := self.shown()) is not None:
            screen.document_changed(document)

    def input_renamed(self, slot: TextSlot, old: str) -> None:
        """Documents have no test inputs."""

    def list_changed(self) -> None:
        """The list shows what the open document is when that changes."""

    def show_state(self) -> None:
        """The open document, or how it is saved, changed."""
        if (screen := self.shown()) is not None:
            screen.show_state()

    def stepped(self, operation: Direction, run_id: str | None) -> None:
        """The store took a step back or forth: no conversation shows it."""
