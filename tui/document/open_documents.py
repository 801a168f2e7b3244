"""What saving, recovery, conflicts and undo may ask of the controller that has the open documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from personas.persona import Persona
    from tui.document.async_store import AsyncStore
    from tui.document.document import OpenDocument
    from tui.document.text_slot import TextSlot
    from tui.document.view import DocumentView
    from tui.drafts.unsaved_text import UnsavedText


class OpenDocuments(Protocol):
    """The open document, those in memory, and where they are shown and stored.

    Attributes:
        document: the one that is shown.
        documents: those in memory by persona: the open one, and others with text that is not saved.
        choosing: whether the person is being asked to choose between two texts.
    """

    view: DocumentView
    workspace: AsyncStore
    document: OpenDocument | None
    documents: dict[str, OpenDocument]
    unsaved: UnsavedText
    choosing: bool

    @property
    def saver(self) -> Any:
        """What saves their slots: a `SlotSaver`."""

    @property
    def id(self) -> str | None:
        """The id of the open persona; None for none, and for one that is being made."""

    def not_saved(self) -> list[str]:
        """Return the ids of personas with text that is not in their file."""

    async def flush(self) -> None:
        """Store everything that was typed and can be stored."""

    def forget_settled(self, document: OpenDocument) -> None:
        """Forget a document that is not open and has nothing unsaved."""

    def take(self, persona: Persona, *, run_id: str = "", outside: bool = False, record: bool = True) -> None:
        """Show the persona as it is now; what is typed and unsaved stays, merged."""

    def close(self) -> None:
        """Show no persona: the open one is gone."""

    async def read_again(self, *, quiet: bool = False, outside: bool = True) -> None:
        """Read the open persona and take in what is new."""

    def mark_missing(self, document: OpenDocument) -> None:
        """The file of the open document is not there."""

    def show_field_conflict(self, slot: TextSlot) -> None:
        """Say that a field and its file are in conflict."""

    def set_persona(
        self,
        document: OpenDocument,
        persona: Persona,
        *,
        source: str | None = "",
        by_agent: bool = False,
        elsewhere: bool = False,
    ) -> None:
        """A document is so now, whoever wrote it."""
