"""The draft in the chat bar and the messages that left it: stored at every change, given back at the next start."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from personas.errors import PersonaError
from tui.drafts.chat_drafts import ChatDrafts, after_editor, below
from tui.drafts.draft import CHAT, DIALOG, OutboxMessage, is_text
from tui.drafts.outbox import Outbox, OutgoingMessage

if TYPE_CHECKING:
    from tui.chat.context import ChatContext
    from tui.document.controller import DocumentController


RECALL_WITHIN = 1.0
"""Seconds that the storing of drafts waits until what ended programs left is read."""


class ChatBarDrafts:
    """Whose the text in the chat bar is, and where a message is until it has arrived."""

    def __init__(self, context: ChatContext) -> None:
        self._context = context
        self.unsent = ChatDrafts()
        self.outbox = Outbox()
        self._noted: list[OutboxMessage] = []
        self._last_id = ""
        self._recalling: asyncio.Event | None = None
        self.first_time = False
        """Whether nothing was known of this home when it was opened."""

    @property
    def first_owner(self) -> str:
        """Whose a draft is that was begun before a conversation was shown; empty where nobody knows yet."""
        opened = self._context.document.id if self._context.document is not None else None
        return opened or self._last_id

    @property
    def answered_now(self) -> str:
        """The id of the question that the draft in the chat bar is the answer to; empty for none."""
        bar = self._context.bar
        return bar.asked if bar.mode == "asking" and bar.draft.strip() else ""

    # -- sending ------------------------------------------------------------------------------------------

    def sent(self, typed: str) -> OutgoingMessage:
        """Something was sent just now, about the persona that is open."""
        opened = self._context.document.id if self._context.document is not None else None
        message = self.outbox.begin(self._context.shown or opened or "", typed)
        self.note_outbox()
        return message

    @contextmanager
    def on_its_way(self, message: OutgoingMessage) -> Iterator[None]:
        """Deliver a message in the block: what it has not said to be delivered by its end comes back."""
        try:
            yield
        finally:
            # While the screen is taken down it stays in the outbox.
            if self._context.screen.program.is_running and message in self.outbox:
                self.restore_message(message.persona_id, message.typed, mine=message.is_answer)
                self.outbox.end(message)
                self._context.sync()

    def restore_message(self, persona_id: str, text: str, *, mine: bool = False) -> None:
        """Put a text back before the draft of the persona it was written for; `mine`: it answers what is asked."""
        if text.strip() and persona_id in ("", self._context.shown or ""):
            self._context.bar.restore_message(text, mine=mine)
        elif text.strip():
            self.unsent.put_before(persona_id, text)

    def _in_outbox(self) -> list[OutboxMessage]:
        """Return the messages that are in no conversation's log yet, in the order of sending."""
        on_the_way = [
            OutboxMessage(message.persona_id or self.first_owner, message.turn_id, message.typed)
            for message in self.outbox
            if message.typed.strip()
        ]
        return [
            *(self._context.conversations.outbox if self._context.conversations is not None else ()),
            *on_the_way,
        ]

    def note_outbox(self) -> None:
        """Store the outbox at once if it changed: the program may end any moment."""
        if (messages := self._in_outbox()) != self._noted:
            self._noted = messages
            self._context.screen.start(self.store())

    # -- changing the draft -------------------------------------------------------------------------------

    def take_draft(self, persona_id: str, before: str, written: str, *, older: bool) -> None:
        """Take what was written elsewhere in place of a draft.

        Args:
            persona_id: whose draft it is; empty for that of nobody.
            before: the draft as it was given away; what came to it since stays.
            written: what was written.
            older: it was begun before the question that is asked now.
        """
        if persona_id == self._context.shown_id:
            self._context.bar.set_draft(after_editor(before, self._context.bar.draft, written), older=older)
        else:
            now = self.unsent.texts.get(persona_id, "")
            self.unsent.texts[persona_id] = after_editor(before, now, written)
            self.unsent.answers.pop(persona_id, None)

    def clear_draft(self) -> bool:
        """Stash the draft; returns whether there was one."""
        text = self._context.bar.draft
        if not self._context.bar.stash():
            return False
        self.stash(self._context.shown_id, text)
        return True

    def stash(self, persona_id: str, text: str) -> None:
        """Add a text to the history of a persona's chat bar, where Up finds it."""
        from agent.core.turns import utc_now

        if text.strip():
            self.unsent.stash(persona_id, text, utc_now())
            if persona_id == self._context.shown_id:
                self._context.bar.set_sent([*self._context.bar.sent.messages, text])
            self.note()
            self._context.screen.start(self.store())

    def show_sent(self, messages: Iterable[tuple[str, str]], just_sent: Iterable[str] = ()) -> None:
        """Have Up bring back these messages, given as (when, text), and what was stashed between them.

        Args:
            messages: what stands in the conversation.
            just_sent: what was sent while that was being read.
        """
        self._context.bar.set_sent(self.unsent.with_stashes(self._context.shown_id, messages))
        sent = self._context.bar.sent
        for text in just_sent:
            if text not in sent.messages:
                sent.add(text)

    # -- storing ------------------------------------------------------------------------------------------

    async def store(self) -> None:
        """Have the drafts database say what is in the chat bars and in the outbox, if that changed."""
        if self._recalling is not None:  # the program may end in the first moments
            with suppress(TimeoutError):
                await asyncio.wait_for(self._recalling.wait(), RECALL_WITHIN)
        if self._context.document is not None:
            self.note()
            await self._context.document.write_drafts()

    @property
    def _written(self) -> str:
        """The draft in the chat bar, and that of a talk: after a crash both come back there."""
        return below(self._context.bar.unsent, self._context.screen.talk_draft)

    def note(self) -> None:
        """Note what is to be in the drafts database; its next writing stores it."""
        if self._context.document is not None:
            drafts = self.unsent.to_store(
                self._context.shown, self._written, self.answered_now, self.first_owner
            )
            self._context.document.unsaved.note_chat(drafts, self._in_outbox())

    def store_at_once(self) -> None:
        """Store the same, and what is not saved of the documents, although the program is failing. Blocking."""
        self.note()
        if self._context.document is not None:
            self._context.document.unsaved.write()

    async def close(self) -> None:
        """The program ends: what it leaves in the drafts database is for the next one."""
        if self._context.document is not None:
            await asyncio.to_thread(self._context.document.unsaved.store.close)

    def memory_only(self) -> dict[str, str]:
        """Return what is not sent, or not delivered, and is nowhere but in memory, by what it is, in words."""
        self.note()
        if self._context.document is not None:
            unsaved = self._context.document.unsaved
            messages = unsaved.not_in_outbox()
            texts = {(key, slot): text for key, slot, text in unsaved.memory_only() if not is_text(slot)}
        else:  # the home is not open
            messages = self._in_outbox()
            drafts = self.unsent.to_store(self._context.shown, self._written, "", self.first_owner)
            texts = {key: text for key, (_, text) in drafts.items()}
        found: dict[str, list[str]] = {}
        for (key, slot), text in texts.items():
            what = _in_words(slot)
            found.setdefault(f"{key}, {what}" if key and not slot.startswith(DIALOG) else what, []).append(
                text
            )
        for message in messages:
            found.setdefault(f"{message.persona}, not delivered yet".removeprefix(", "), []).append(
                message.text
            )
        return {what: "\n".join(parts) for what, parts in found.items()}

    # -- recovery -----------------------------------------------------------------------------------------

    async def recall(self, editing: DocumentController, last: Awaitable[str | None]) -> str:
        """The home is open: take what ended programs left.

        Args:
            editing: the documents of the home.
            last: gives the id of the persona that was open last, empty for none; None in a home never opened before.

        Returns:
            That id.
        """
        self._recalling = asyncio.Event()
        try:
            await self._recall(editing, await last)
        finally:
            self._recalling.set()
            self._recalling = None
        return self._last_id

    async def _recall(self, editing: DocumentController, last: str | None) -> None:
        self.first_time, self._last_id = last is None, last or ""
        # What fails here lies where it was until the next start; what is written is stored all the same.
        for step in (self._recover_drafts, self._recover_messages, self._take_from_editors):
            await self._context.screen.start(step(editing))
        if nobodys := self.unsent.texts.pop("", ""):
            self._context.bar.restore_message(nobodys)
        self._context.document = editing  # now: what is not read yet must not be overwritten

    async def _recover_drafts(self, editing: DocumentController) -> None:
        from tui.drafts.legacy_files import import_chat_files

        workspace, unsaved = editing.workspace, editing.unsaved
        try:
            for sentence in await workspace.call(import_chat_files, workspace.store.home, unsaved.store):
                self.first_time = False
                self._context.screen.show_message(sentence, error=True)
        finally:
            self.unsent.take_left(await workspace.call(unsaved.recover_chat))

    async def _recover_messages(self, editing: DocumentController) -> None:
        from tui.drafts.outbox import recover_messages

        workspace = editing.workspace
        for persona_id, text in (
            await workspace.call(recover_messages, workspace.store, editing.unsaved)
        ).items():
            self.unsent.put_before(persona_id, text)

    async def _take_from_editors(self, editing: DocumentController) -> None:
        """Stash what editors left of messages, and name what else they left."""
        from agent.core.turns import utc_now
        from tui.drafts.copies import MESSAGE, left_copies, read_copy, remove_copy

        call, home = editing.workspace.call, editing.workspace.store.home
        taken, told = [], ""
        for what, copy in await call(left_copies, home.state):
            try:
                text = (await call(read_copy, copy)).removesuffix("\n") if what == MESSAGE else None
            except PersonaError:
                text = None
            if text is None:
                named = f"An edit of {what} was cut short: what your editor saved is in {copy}."
                self._context.screen.show_message(named, error=True)
                continue
            taken.append(copy)
            if text.strip() and not any(text in draft for draft in self.unsent.texts.values()):
                self.unsent.stash(self._last_id, text, utc_now())
                told = "What you wrote in your editor is kept: Up brings it back."
        if told:
            self._context.screen.show_message(told)
        if taken:
            editing.unsaved.note_chat(self.unsent.to_store(None, "", "", ""), self._in_outbox())
            if not await call(editing.unsaved.write):
                for copy in taken:
                    await call(remove_copy, copy)


def _in_words(slot: str) -> str:
    if slot.startswith(DIALOG):
        return "begun in a dialog"
    return "the draft" if slot == CHAT else "put away"
