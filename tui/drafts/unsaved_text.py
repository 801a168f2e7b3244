"""Keeps the drafts database in step with what is typed and not saved or sent, and finds what other programs left.

The program's memory says what there is; `write` makes the database say the same, and is called again where the disk
refused. Everything here but the notes blocks: call it in a thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from personas.errors import PersonaError
from tui.drafts.draft import CHAT, DIALOG, Draft, Key, OutboxMessage, is_text, stash_slot
from tui.drafts.legacy_files import import_legacy_files
from tui.drafts.store import DraftStore

if TYPE_CHECKING:
    from personas.files.home import Home

Value = tuple[str, str, str | None]
"""Base, text and what is being sent, as a draft has them."""


class UnsavedText:
    """What one program has that is not saved or sent.

    Args:
        home: the home, where an older program may have left files.
        store: the drafts database.
        texts: gives the unsaved texts of the documents in memory.
    """

    def __init__(self, home: Home, store: DraftStore, texts: Callable[[], Mapping[Key, Value]]) -> None:
        self._home = home
        self.store = store
        self._texts = texts
        self._chat: Mapping[Key, Value] = {}
        self._dialogs: dict[Key, str] = {}
        self._messages: dict[str, OutboxMessage] = {}
        self._written: dict[Key, Value] = {}
        self._written_messages: dict[str, OutboxMessage] = {}
        self._replaced = 0  # as `DraftStore.replaced` was at the last `write`
        self._writing = threading.RLock()
        self._home_is_gone = False
        self._superseded: list[Draft] = []  # rows of ended programs whose texts are kept elsewhere

    # -- notes --------------------------------------------------------------------------------------------

    def note_chat(self, drafts: Mapping[Key, tuple[str, str]], messages: Iterable[OutboxMessage]) -> None:
        """Take all drafts of the chat bar, with base and text, and all messages that are in no conversation yet."""
        self._chat = {key: (base, text, None) for key, (base, text) in drafts.items()}
        self._messages = {message.turn_id: message for message in messages}

    def note_dialog(self, document_id: str, dialog: str, text: str) -> None:
        """Take what is typed in a dialog; an empty text is kept no longer."""
        key = document_id, f"{DIALOG}{dialog}"
        self._dialogs = {**self._dialogs, key: text}
        if not text:
            del self._dialogs[key]

    def in_dialog(self, document_id: str, dialog: str) -> str:
        """Return what was typed in a dialog and not given."""
        return self._dialogs.get((document_id, f"{DIALOG}{dialog}"), "")

    # -- writing ------------------------------------------------------------------------------------------

    def _wanted(self) -> dict[Key, Value]:
        dialogs: dict[Key, Value] = {key: ("", text, None) for key, text in self._dialogs.items()}
        return {**self._texts(), **self._chat, **dialogs}

    @property
    def is_dirty(self) -> bool:
        """Whether the database does not say yet what is unsaved."""
        return (
            self._wanted() != self._written
            or self._messages != self._written_messages
            or bool(self._superseded)
        )

    def memory_only(self) -> list[tuple[str, str, str]]:
        """Return the texts that are nowhere but in memory: the document's id, the slot's, and the text.

        Where the home is gone, its drafts would never be asked for: they count too.
        """
        return [
            (*key, value[1])
            for key, value in self._wanted().items()
            if self._home_is_gone or key not in self._written or self._written[key][1] != value[1]
        ]

    def not_in_outbox(self) -> list[OutboxMessage]:
        """Return the messages that are nowhere but in memory."""
        known = {} if self._home_is_gone else self._written_messages
        return [message for key, message in self._messages.items() if key not in known]

    def write(self) -> str:
        """Make the database say what is unsaved now; return why it refused, as a sentence, or nothing.

        What is new is written first: a text that went from one place to another is never in neither.
        """
        with self._writing:
            self._home_is_gone = not self._home.root.exists()
            refused = self._write()
            if self.store.replaced != self._replaced:  # deleted, or damaged: the new file has nothing yet
                self._replaced = self.store.replaced
                self._written.clear()
                self._written_messages.clear()
                refused = self._write()
        return refused

    def _write(self) -> str:
        refused = ""
        wanted, messages = self._wanted(), self._messages
        for turn_id, message in messages.items():
            if self._written_messages.get(turn_id) != message:
                try:
                    self.store.put_in_outbox(message)
                except PersonaError as error:
                    refused = str(error)
                else:
                    self._written_messages[turn_id] = message
        for key, value in wanted.items():
            if self._written.get(key) == value:
                continue
            base, text, sending = value
            try:
                self.store.save(*key, text, base=base, sending=sending)
            except PersonaError as error:
                refused = str(error)
            else:
                self._written[key] = value
        with suppress(PersonaError):  # it comes back as text that is saved already
            for key in [key for key in self._written if key not in wanted]:
                if is_text(key[1]) or not refused:
                    self.store.delete(*key)
                    del self._written[key]
            arrived = [key for key in self._written_messages if key not in messages]
            if arrived and not refused:
                self.store.remove_from_outbox(*arrived)
                for turn_id in arrived:
                    del self._written_messages[turn_id]
            while self._superseded and not refused:
                self.store.drop(self._superseded[-1])
                self._superseded.pop()
        return refused

    # -- recovery -----------------------------------------------------------------------------------------

    def recover_chat(self) -> list[Draft]:
        """Adopt what ended programs left in chat bars and dialogs; return drafts and stashes, newest first.

        Of several drafts of a persona the newest stays one, the others are stashes.
        """
        found: list[Draft] = []
        with self._writing:
            for draft in self.store.orphans():
                if is_text(draft.slot):
                    continue
                key = draft.document, draft.slot
                if key in self._written:
                    self._superseded.append(draft)  # its text is in another row after the next `write`
                    if draft.slot == CHAT:
                        key = draft.document, stash_slot(draft.text)
                        draft = draft._replace(slot=key[1], base=draft.stored_at)
                elif not self.store.adopt(draft):
                    continue  # another program was faster
                else:
                    self._written[key] = draft.base, draft.text, draft.sending
                if draft.slot.startswith(DIALOG):
                    before = self._dialogs.get(key, "")
                    self._dialogs[key] = "\n".join(dict.fromkeys(filter(None, (before, draft.text))))
                else:
                    self._chat = {**self._chat, key: (draft.base, draft.text, None)}
                    found.append(draft)
        return found

    def adopt_message(self, message: OutboxMessage) -> bool:
        """Make a message that an ended program left this program's; False where another program was faster."""
        with self._writing:
            if not self.store.adopt_message(message):
                return False
            self._written_messages[message.turn_id] = message
            self._messages = {**self._messages, message.turn_id: message}
            return True

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
                    self._written[key] = draft.base, draft.text, draft.sending
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
            slots = [key[1] for key in self._written if key[0] == document_id and is_text(key[1])]
            self.store.release(document_id, slots)
            for slot in slots:
                del self._written[document_id, slot]


def documents_with_drafts(home: Home) -> list[str]:
    """Return the ids of documents that any program has unsaved text of; none where the database cannot be read."""
    store = DraftStore(home.root)
    with closing(store), suppress(PersonaError):
        import_legacy_files(home, store)
        if store.path.exists():
            return list({draft.document for draft in store.all_open() if is_text(draft.slot)})
    return []
