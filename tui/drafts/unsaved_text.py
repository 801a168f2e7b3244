"""Keeps the drafts database in step with the unsaved text of open documents, and finds what other programs left.

The documents in memory say what is unsaved; `write` makes the database say the same, and is called again where the
disk refused. Everything here blocks: call it in a thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from personas.errors import PersonaError
from tui.document.text_slot import FIELD, INPUT, PROMPT
from tui.drafts.legacy_files import import_legacy_files
from tui.drafts.store import Draft, DraftStore

if TYPE_CHECKING:
    from personas.files.home import Home
    from tui.document.document import Document

_Value = tuple[str, str, str, str | None]
"""Base, text, file and what is being sent, as a draft has them."""


class UnsavedText:
    """The unsaved text of one program's documents.

    Args:
        home: the home, where an older program may have left files.
        store: the drafts database.
        documents: gives the documents with unsaved text.
    """

    def __init__(self, home: Home, store: DraftStore, documents: Callable[[], Iterable[Document]]) -> None:
        self._home = home
        self.store = store
        self._documents = documents
        self._written: dict[tuple[str, str], _Value] = {}
        self._writing = threading.RLock()
        self._home_is_gone = False
        self._discarded: dict[str, list[Draft]] = {}  # what was thrown away last, also where the disk refused

    def _wanted(self) -> dict[tuple[str, str], _Value]:
        return {
            (document.id, slot.id): (slot.base, slot.text, document.file, slot.sending)
            for document in list(self._documents())
            for slot in document.dirty
        }

    @property
    def due(self) -> bool:
        """Whether the database does not say yet what is unsaved."""
        return self._wanted() != self._written

    def nowhere_else(self) -> list[tuple[str, str, str]]:
        """Return the texts that are nowhere but in memory: the document's id, the slot's, and the text.

        Where the home is gone, its drafts would never be asked for: they count too.
        """
        return [
            (*key, value[1])
            for key, value in self._wanted().items()
            if self._home_is_gone or key not in self._written or self._written[key][1] != value[1]
        ]

    def write(self) -> str:
        """Make the database say what is unsaved now; return why it refused, as a sentence, or nothing."""
        refused = ""
        with self._writing:
            self._home_is_gone = not self._home.root.exists()
            wanted = self._wanted()
            for key in [key for key in self._written if key not in wanted]:
                with suppress(PersonaError):  # it comes back as text that is saved already
                    self.store.delete(*key)
                    del self._written[key]
            for key, value in wanted.items():
                if self._written.get(key) == value:
                    continue
                base, text, file, sending = value
                try:
                    self.store.save(*key, text, base=base, file=file, sending=sending)
                except PersonaError as error:
                    refused = str(error)
                else:
                    self._written[key] = value
        return refused

    def recover(self, document_id: str) -> tuple[list[Draft], list[Draft]]:
        """Adopt what ended programs left of a document.

        Returns:
            The drafts that are this program's now, then those whose slot has a text already: they are to be settled
            and dropped. Newest first.
        """
        with self._writing:
            import_legacy_files(self._home, self.store, document_id)
            adopted, others = [], []
            for draft in self.store.orphans(document_id):
                if not is_text(draft.slot):
                    continue
                key = document_id, draft.slot
                if key not in self._written and self.store.adopt(draft):
                    self._written[key] = draft.base, draft.text, draft.file, draft.sending
                    adopted.append(draft)
                else:
                    others.append(draft)
            return adopted, others

    def documents(self) -> list[str]:
        """Return the ids of documents that ended programs left a text of."""
        import_legacy_files(self._home, self.store)
        return list(dict.fromkeys(draft.document for draft in self.store.orphans() if is_text(draft.slot)))

    def release(self, document_id: str) -> None:
        """The document is deleted: what was unsaved of it comes back with it."""
        with self._writing:
            for key in [key for key in self._written if key[0] == document_id]:
                del self._written[key]
            self.store.release(document_id)

    def discard(self, document_id: str, drafts: list[Draft]) -> None:
        """The person threw these texts away; their slots do not hold them any more."""
        self._discarded[document_id] = drafts
        with self._writing:
            self.write()
            self.store.discard(document_id, drafts)
            del self._discarded[document_id]  # as long as the disk refuses, the memory has them

    def restore_discarded(self, document_id: str) -> bool:
        """Make what was thrown away last of a document recoverable again; return whether there was anything."""
        import_legacy_files(self._home, self.store, document_id)
        if drafts := self._discarded.get(document_id):
            self.discard(document_id, drafts)
        return bool(self.store.restore_discarded(document_id))


def documents_with_drafts(home: Home) -> list[str]:
    """Return the ids of documents that any program has unsaved text of; none where the database cannot be read."""
    store = DraftStore(home.root)
    if not store.path.exists():
        return []
    with closing(store), suppress(PersonaError):
        return list({draft.document for draft in store.all_open() if is_text(draft.slot)})
    return []


def is_text(slot: str) -> bool:
    """Whether a slot is a text of a persona's file."""
    return slot == PROMPT or slot.startswith((INPUT, FIELD))
