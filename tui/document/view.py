"""What the document's controllers need of the screen; they know no widget."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from personas.versions.undo import Direction
    from tui.commands.registry import Keymap
    from tui.document.document import OpenDocument
    from tui.document.merge import MergeConflict
    from tui.document.text_slot import TextSlot


class DocumentView(Protocol):
    """The screen that shows a document. Every call but `choose` returns at once."""

    @property
    def keymap(self) -> Keymap:
        """The person's own keys."""

    def show_message(self, message: str, *, error: bool = False) -> None:
        """Show a message for a moment."""

    def name_of(self, persona_id: str) -> str:
        """Return what a persona is called in a sentence."""

    def document_opened(self, document: OpenDocument | None) -> None:
        """Another document is open, or none: show it anew."""

    def document_read(self, document: OpenDocument, *, keep_cursor: bool) -> None:
        """The open document, which was empty, is read: show its texts.

        `keep_cursor`: something was typed in it already, and the cursor stays behind that.
        """

    def document_changed(self, document: OpenDocument, *, by_agent: bool, elsewhere: bool) -> None:
        """The open document's persona is another now; its slots are up to date. Show its lists and fields.

        Args:
            document: the document.
            by_agent: the agent changed it.
            elsewhere: neither the person nor their undo changed it.
        """

    def input_renamed(self, slot: TextSlot, old: str) -> None:
        """What was typed in a test input that was deleted is stored as a new one: its slot, and its id before."""

    def list_changed(self) -> None:
        """What the list of personas shows changed."""

    def show_state(self) -> None:
        """The open document, or how it is saved, changed."""

    def stepped(self, operation: Direction, run_id: str | None) -> None:
        """The store took a step back or forth; `run_id`: the agent's run that it was of, None for none."""

    async def choose(self, conflict: MergeConflict, ours: str, theirs: str, notice: str = "") -> str | None:
        """Let the person choose between two texts; None for not now. `told`: what was said of it, which goes."""

    def start(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run something beside the screen."""
