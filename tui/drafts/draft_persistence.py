"""What is written and not sent, or said and not delivered: remembered from one start of the program to the next."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from tui.chat.history import SaidBefore
from tui.drafts import stashed_drafts as put_away
from tui.drafts.message_delivery import below

if TYPE_CHECKING:
    from tui.app.ui_state import Remembered
    from tui.document.controller import DocumentController
    from tui.drafts.queued_messages import Said
    from tui.screens.main.screen import MainScreen


class Remembering(SaidBefore):
    """The drafts and queues of all conversations, and which persona is open."""

    def __init__(self, screen: MainScreen) -> None:
        super().__init__(screen)
        self._answers: dict[str, str] = {}  # the question each of them was written for
        self._remembered: Remembered | None = None
        self._remembering = asyncio.Lock()
        self._writing = threading.RLock()
        self._closed = False
        self._queued: dict[str, Said] = {}
        self._elsewhere: Mapping[str, Said] = {}
        self._told_unsaved = False
        self._noted_on_the_way: Mapping[str, str] = {}
        self._first_time = False
        self._last_id = ""
        self._base: Remembered
        self._aside: Mapping[str, tuple[str, ...]] = {}
        self._put_away: put_away.Drafts = {}  # "" for what nobody knows whose it is yet
        self._unreadable: list[str] = []  # sentences on files that could not be read, to be told
        self._said: set[str] = set()  # those that were

    async def recall(self, editing: DocumentController) -> str:
        """The home is open: read what is remembered of it; returns the id of the persona that was open last."""
        from tui.app.ui_state import recall

        workspace = editing.workspace
        self._remembered = self._base = left = await workspace.call(recall, workspace.store.home)
        self._aside = left.aside
        self._put_away = put_away.together(left.put_away, self._put_away)
        for sentence in left.said:
            self._say_unreadable(sentence)
        self._first_time = not left.known and not left.said
        self._screen.take_layouts(left.layouts)
        # What fails here lies where it was until the next start; what is written is remembered all the same.
        left = await self._screen.start(self._taken_back(editing, left)) or left
        self._drafts, self._answers = {**left.drafts}, {**left.answers}
        self._elsewhere, self._last_id = left.queued, left.persona_id
        if nobodys := self._drafts.pop("", ""):
            self._bar.put_back(nobodys)
        self._editing = editing  # now: what is not read yet must not be overwritten
        return left.persona_id

    async def _taken_back(self, editing: DocumentController, left: Remembered) -> Remembered:
        """Return what is remembered with what was not delivered, and what editors left, in the drafts."""
        from tui.drafts.queued_messages import give_back
        from tui.drafts.stored_dialog_drafts import look_through
        from tui.external_editor.message_file import BACK, take_back

        workspace = editing.workspace
        for sentence in await workspace.call(look_through, workspace.store.home):
            self._say_unreadable(sentence)
        if left.queued:
            left = await workspace.call(give_back, workspace.store, left)
        left, said = await workspace.call(take_back, workspace.store.home, left, workspace.store.ids)
        for word in said:
            self._screen.tell(word, error=word != BACK)
        return left

    @property
    def _first_owner(self) -> str:
        """Whose a draft is that was begun before a conversation was shown; empty where nobody knows yet."""
        opened = self._editing.id if self._editing is not None else None
        return opened or self._last_id

    @property
    def shown_id(self) -> str:
        """Whose conversation is shown; empty for nobody's."""
        return self._shown or ""

    @property
    def answered_now(self) -> str:
        """The id of the question that the draft in the chat bar is the answer to; empty for none."""
        bar = self._bar
        return bar.asked if bar.mode == "asking" and bar.draft.strip() else ""

    def take_draft(self, persona_id: str, before: str, written: str, *, older: bool) -> None:
        """Take what was written elsewhere in place of a draft.

        Args:
            persona_id: whose draft it is; empty for that of nobody.
            before: the draft as it was given away; what came to it since stays.
            written: what was written.
            older: it was begun before the question that is asked now.
        """
        from tui.external_editor.message_file import merged

        if persona_id == self.shown_id:
            self._bar.set_draft(merged(before, self._bar.draft, written), older=older)
        else:
            self._drafts[persona_id] = merged(before, self._drafts.get(persona_id, ""), written)
            self._answers.pop(persona_id, None)

    async def remember(self, *, last: bool = False) -> None:
        """Store which persona is open and what is written but not sent, or not delivered, if that changed.

        `last`: also if it did not, and the disk has lost it.
        """
        if self._editing is None:
            return
        async with self._remembering:  # a later state is never overwritten by an earlier one
            await self._remember(self._editing, last)

    async def _remember(self, editing: DocumentController, last: bool) -> None:
        from tui.app.ui_state import is_there

        home = editing.workspace.store.home
        now = self._to_remember()
        if last and not await editing.workspace.call(is_there, home):
            self._remembered = None
        if now != self._remembered:
            on_the_way = self._on_the_way
            stored = await editing.workspace.call(self._write, now)
            self._noted_on_the_way = on_the_way if stored else {}
            self._remembered = now if stored else None  # tried again at the next look
            self._show_aside()
            while self._unreadable:
                self._say_unreadable(self._unreadable.pop(0))
            if now.drafts and not stored and not self._told_unsaved and not last:
                self._screen.tell("Your draft is not saved: the disk refuses it.", error=True)
            self._told_unsaved = bool(now.drafts) and not stored

    def remember_at_once(self) -> None:
        """Store the same although the program is failing; blocking, and silent when it cannot be done."""
        if self._editing is None:
            return
        now = self._to_remember()
        with self._writing:
            self._closed = False
            stored = self._write(now)
            self._closed = True  # what a thread is still to write is older
        self._remembered = now if stored else None

    def _write(self, what: Remembered) -> bool:
        """Store it beside what other programs stored, unless something newer was stored at the end; return whether it
        is safe. Blocking.
        """
        from tui.app.ui_state import update

        assert self._editing is not None
        home = self._editing.workspace.store.home
        with self._writing:
            if self._closed:
                return True
            result = update(home, what, self._base)
            if result is None:
                return False
            self._base, self._aside = what, result.aside
            self._unreadable += result.said
            return True

    def _say_unreadable(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            self._screen.tell(sentence, error=True)

    def clear_draft(self) -> bool:
        """Put the draft away; returns whether there was one."""
        from agent.core.turns import utc_now

        text = self._bar.draft
        if not self._bar.input.put_aside():
            return False
        if text.strip():
            new = {self._shown or "": (put_away.PutAway(text, utc_now()),)}
            self._put_away = put_away.together(self._put_away, new)
            self._screen.start(self.remember())
        return True

    def _own_put_away(self, persona_id: str) -> None:
        """What was put away before any conversation was shown belongs to the first that is."""
        if some := self._put_away.get(""):
            others = {key: drafts for key, drafts in self._put_away.items() if key}
            self._put_away = put_away.together(others, {persona_id: some})

    def with_put_away(self, messages: Iterable[tuple[str, str]]) -> list[str]:
        """Return the messages to the open persona, given as (when, text), with what was put away between them."""
        return put_away.among(self._put_away.get(self._shown or "", ()), messages)

    def put_aside_drafts(self) -> tuple[str, ...]:
        """Return the drafts of the open persona that gave way to one of another program, oldest first."""
        return tuple(self._aside.get(self._shown or "", ()))

    def _show_aside(self) -> None:
        """Have Up bring back what gave way to the draft here, and say so."""
        sent = self._bar.input.sent
        new = [text for text in self.put_aside_drafts() if text not in sent.messages]
        if new and not sent.browsing:
            for text in new:
                sent.add(text)
            self._screen.tell("Another window had written a draft here too: Up brings it back.")

    def _to_remember(self) -> Remembered:
        from tui.app.ui_state import Remembered
        from tui.terminal.secrets import is_key

        drafts, draft = dict(self._drafts), self._bar.unsent
        answers = dict(self._answers)
        if self._shown is not None:
            drafts[self._shown] = draft
            if asked := self.answered_now:
                answers[self._shown] = asked
        elif draft.strip():
            first = self._first_owner
            drafts[first] = below(drafts.get(first, ""), draft)
            answers.pop(first, None)  # who typed ahead did not see what is asked
        written = {str(key): text for key, text in drafts.items() if text.strip() and not is_key(text)}
        for key, text in self._on_the_way.items():
            owner = key or self._first_owner
            written[owner] = below(text, written.get(owner, ""))
            answers.pop(owner, None)
        queued = {**self._elsewhere, **(self._talks.queued if self._talks is not None else {})}
        opened, layouts = self._shown or self._first_owner, self._screen.layouts
        answers = {key: asked for key, asked in answers.items() if key in written}
        away = put_away.together(
            *(
                {owner: tuple(one for one in some if not is_key(one.text))}
                for key, some in self._put_away.items()
                if (owner := key or self._first_owner)
            )
        )
        return Remembered(opened, written, layouts, queued=queued, answers=answers, put_away=away)

    def not_on_disk(self) -> dict[str, str]:
        """Return what is written and not sent, or not delivered, and no disk has, by what it is, in words."""
        now = self._to_remember()
        if now == self._remembered:
            return {}
        texts = {f"{key}, the draft" if key else "the draft": text for key, text in now.drafts.items()}
        known = self._remembered.put_away if self._remembered is not None else {}
        for key, some in now.put_away.items():
            if new := [one.text for one in some if one not in known.get(key, ())]:
                texts[f"{key}, put away"] = "\n".join(new)
        for key, said in now.queued.items():
            texts[f"{key}, not delivered yet"] = "\n".join(text for _, text in said.turns)
        return texts

    @property
    def _on_the_way(self) -> dict[str, str]:
        """What was sent and neither a conversation nor its queue has yet, by persona."""
        texts = self._talks.sent if self._talks is not None else {}
        for key, text in self._underway.texts.items():
            texts[key] = below(texts.get(key, ""), text)
        return texts

    def _note_queued(self) -> None:
        """Remember at once what is queued and not delivered, if that changed: the program may end any moment.

        Also that what was noted on its way has arrived.
        """
        queued = self._talks.queued if self._talks is not None else {}
        arrived = self._noted_on_the_way and self._noted_on_the_way != self._on_the_way
        if queued != self._queued or arrived:
            self._queued, self._noted_on_the_way = queued, {}
            self._screen.start(self.remember())

    @property
    def first_time(self) -> bool:
        """Whether nothing was remembered of this home when it was opened."""
        return self._first_time
