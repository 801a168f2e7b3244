"""The open document of a place beside the main screen as the controller of documents sees it: a `DocumentView`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from tui.widgets.plain_text import content

if TYPE_CHECKING:
    from personas.versions.undo import Direction
    from tui.app.host import Host
    from tui.commands.registry import Keymap
    from tui.document.document import OpenDocument
    from tui.document.merge import MergeConflict
    from tui.document.text_slot import TextSlot


class Place(Protocol):
    """What shows the open document."""

    def show_document(self, document: OpenDocument | None, *, keep_cursor: bool = False) -> None:
        """Show another document, or none."""

    def document_changed(self, document: OpenDocument) -> None:
        """The open document is another now."""

    def show_state(self) -> None:
        """Show how it is saved, and what is wrong with it."""


class PlaceView:
    """Shows documents in the place, while it is open.

    Args:
        host: the main screen.
        place: gives the place, None where it is closed.
        opened: called when another document is open.
    """

    def __init__(
        self, host: Host, place: Callable[[], Place | None], opened: Callable[[OpenDocument], None]
    ) -> None:
        self._host, self._place, self._opened = host, place, opened

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

    async def choose(self, conflict: MergeConflict, ours: str, theirs: str, told: str = "") -> str | None:
        """Let the person choose between two texts; `told`: what was said of it, which goes."""
        from tui.screens.dialogs.conflict import ChooseText

        self._host.program.take_back(lambda message: message == content(told).plain)
        chosen: str | None = await self._host.ask(ChooseText(conflict, ours=ours, theirs=theirs))
        return chosen

    def document_opened(self, document: OpenDocument | None) -> None:
        """Another document is open, or none."""
        if document is not None:
            self._opened(document)
        if (place := self._place()) is not None:
            place.show_document(document)

    def document_read(self, document: OpenDocument, *, keep_cursor: bool) -> None:
        """The open document, which was empty, is read."""
        if (place := self._place()) is not None:
            place.show_document(document, keep_cursor=keep_cursor)

    def document_changed(self, document: OpenDocument, *, by_agent: bool, elsewhere: bool) -> None:
        """The open document is another now."""
        if (place := self._place()) is not None:
            place.document_changed(document)

    def input_renamed(self, slot: TextSlot, old: str) -> None:
        """Documents have no test inputs."""

    def list_changed(self) -> None:
        """The list shows what the open document is when that changes."""

    def show_state(self) -> None:
        """The open document, or how it is saved, changed."""
        if (place := self._place()) is not None:
            place.show_state()

    def stepped(self, operation: Direction, run_id: str | None) -> None:
        """The store took a step back or forth: no conversation shows it."""
