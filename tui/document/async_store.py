"""The store as the screen uses it: blocking calls in threads, what is saved checked against what was seen.

Writes of one program take turns, so that a save, an undo and the agent's flush never meet half-way.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from personas.edited_text import edited_diff
from personas.errors import BrokenFile, InvalidValue, PersonaError
from personas.files.file_stamp import Stamp, stamp_of
from tui.document.merge import MergeConflict
from tui.document.store_merged import Saved, store_merged
from tui.document.text_slot import stored_texts
from tui.document.version_names import author_name
from tui.drafts.draft import FIELD, INPUT, PROMPT
from tui.settings.validation import LEVELS
from tui.terminal.diff_view import shown_counts

if TYPE_CHECKING:
    from personas.changes import Change
    from personas.persona import Persona
    from personas.store import Store
    from personas.versions.authorship import Undone, Version

T = TypeVar("T")
Stamps = list[Stamp | None]
"""Of each file of a document."""


class InputDeleted(InvalidValue):
    """The test input whose content is to be stored is not in the file any more."""


class AsyncStore:
    """One store, used from one event loop."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._turn = asyncio.Lock()
        self._writers = 0

    @property
    def writing(self) -> bool:
        """Whether a write of this program is under way, or waits for its turn, or is not taken in yet by who wrote."""
        return self._writers > 0

    async def call(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Run a blocking call of the store in a thread; what it raises is raised here."""
        return await asyncio.to_thread(function, *arguments, **named)

    async def write(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """The same for a call that writes: one at a time, and finished even if the caller is cancelled."""
        return await self.write_then(partial(function, *arguments, **named), lambda _: None)

    async def write_then(self, function: Callable[[], T], then: Callable[[T], object]) -> T:
        """`write`, and call `then` with what it returned, even if the caller is cancelled, before the next one writes."""
        return await self.write_prepared(lambda: function, then)

    async def write_prepared(self, prepare: Callable[[], Callable[[], T]], then: Callable[[T], object]) -> T:
        """`write_then` for what is only known once the writes before it are done: `prepare` gives it at that moment."""
        self._writers += 1
        try:
            await self._turn.acquire()
        except BaseException:
            self._writers -= 1
            raise
        loop = asyncio.get_running_loop()
        try:
            writing = asyncio.ensure_future(asyncio.to_thread(prepare()))
        except BaseException:
            self._writers -= 1
            self._turn.release()
            raise

        def end(done: asyncio.Future[T]) -> None:
            try:
                if not done.cancelled() and done.exception() is None:
                    then(done.result())
            finally:
                self._turn.release()  # not before, whoever still waits for it
                # Two turns of the loop later: who wrote goes on in the one after the next, and takes in what is stored.
                loop.call_soon(loop.call_soon, self._wrote)

        writing.add_done_callback(end)
        return await asyncio.shield(writing)

    def _wrote(self) -> None:
        self._writers -= 1

    async def settled(self) -> None:
        """Wait until nothing is being written and whoever wrote has taken in what is stored."""
        async with self._turn:
            pass
        await asyncio.sleep(0)  # who waited for the write goes on now; we were told a moment before

    async def ids(self) -> list[str]:
        """Return the ids of all personas."""
        return await self.call(self.store.ids)

    async def get(self, persona_id: str) -> Persona:
        """Return one persona as it is on disk."""
        return await self.call(self.store.get, persona_id)

    def save_text(self, persona_id: str, slot_id: str, base: str, text: str) -> Saved | MergeConflict:
        """Store the text of a slot, merged with what changed on disk since `base`. Blocking.

        Raises:
            PersonaError: the file is broken or gone, or the disk refuses; `InputDeleted`: that test input was.
            ValueError: the text is no value for this field.
        """
        from personas.versions.authorship import USER

        change_of = partial(self._change_of, persona_id, slot_id)
        if slot_id.startswith(FIELD):
            done = self.store.change(persona_id, change_of(text), revision=None, by=USER, own_unit=True)
            return Saved(done, stored_texts(done)[slot_id])

        def stored(now: Persona) -> str | None:
            wrong = now.error
            if wrong is not None and not now.lacks_prompt_file:  # what could be read is not what was changed
                raise BrokenFile(wrong.message, wrong.line, wrong.column)
            if slot_id not in (texts := stored_texts(now)):
                raise InputDeleted(f"The test input {slot_id.removeprefix(INPUT)!r} was deleted meanwhile.")
            # The whole of what is typed makes a prompt's file anew.
            return None if now.lacks_prompt_file and slot_id == PROMPT else texts[slot_id]

        return store_merged(self.store, persona_id, base, text, change_of, stored=stored)

    async def keep_text(self, persona_id: str, slot_id: str, text: str, reason: str) -> None:
        """Keep a text that is not taken as a version of its own; what is stored stays as it is.

        Raises:
            PersonaError, ValueError: as `save_text`.
        """
        from personas.versions.authorship import USER

        change = self._change_of(persona_id, slot_id, text)
        await self.write(self.store.keep, persona_id, change, by=USER, reason=reason)

    def _change_of(self, persona_id: str, slot_id: str, text: str) -> Change:
        if "/" in persona_id:
            from tui.document import library_slots

            return library_slots.change_of(self.store.home, persona_id, slot_id, text)
        return change_of(slot_id, text)

    async def change(self, persona_id: str, change: Change, reason: str = "") -> Persona:
        """Apply a change the person made to a single value; it is undone by itself.

        Raises:
            PersonaError: see `Store.change`.
        """
        from personas.versions.authorship import USER

        return await self.write(
            self.store.change, persona_id, change, revision=None, by=USER, reason=reason, own_unit=True
        )

    async def undo(
        self, persona_id: str, operation: Literal["undo", "redo"], *, only: str | None = None
    ) -> Undone:
        """Undo or redo a unit; `only` as in `Store.undo`.

        Raises:
            NothingToUndo, Conflict, PersonaError: see `Store.undo`.
        """
        from personas.versions.authorship import USER

        function = self.store.undo if operation == "undo" else self.store.redo
        return await self.write(function, persona_id, by=USER, only=only)

    async def create(self, name: str, from_id: str | None = None, reserved: Collection[str] = ()) -> Persona:
        """Create a persona, or a copy of one, with none of the `reserved` ids."""
        return await self.write(self.store.create, name, from_id=from_id, reserved=reserved)

    async def know(self, persona_id: str) -> None:
        """Keep what a persona's file holds now as known, see `personas.external_writes.know`."""
        from personas.external_writes import know

        await self.call(know, self.store, persona_id)

    async def delete(self, persona_id: str) -> bool:
        """Delete a persona; returns whether a version keeps it."""
        from personas.versions.authorship import USER

        return await self.write(self.store.delete, persona_id, by=USER) is not None

    async def restore(self, persona_id: str, version: str | int) -> Persona:
        """Bring a version back, also that of a deleted persona."""
        from personas.versions.authorship import USER

        return await self.write(self.store.restore, persona_id, version, by=USER)

    async def deleted(self) -> list[tuple[str, str, Version]]:
        """Return the personas that were deleted: id, the name it had, its last version."""
        return await self.call(self._deleted)

    def _deleted(self) -> list[tuple[str, str, Version]]:
        present = set(self.store.ids())
        try:
            with os.scandir(self.store.home.versions) as entries:
                names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        except OSError:
            return []
        found = []
        for name in names:
            if name in present:
                continue
            try:
                log = self.store.log(name)
            except PersonaError:
                continue
            if log:
                found.append((name, self._name_in(name, log[0]), log[0]))
        return found

    def _name_in(self, persona_id: str, version: Version) -> str:
        """Return the name a version gives; the id where it cannot be read."""
        try:
            return self.store.at_version(persona_id, version.number).name
        except PersonaError:
            return persona_id


class ChangePoller:
    """Notices what happens to the files from outside, by two cheap looks at the disk.

    What is remembered of a file is from before it was read, never from after: a write between the two would not be
    noticed. So a write of our own is noticed too; reading the file once more shows that there is nothing new.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._folder = stamp_of(store.home.personas)
        self._files: dict[str, Stamps] = {}
        self._proposals: tuple[tuple[str, Stamp | None], Sequence[Version]] = (("", None), ())

    def changed(self, persona_id: str | None) -> tuple[bool, bool]:
        """Return whether the list of files may have changed, and whether this persona's file may have.

        The first look at a file only remembers it.
        """
        folder = stamp_of(self._store.home.personas)
        folder_changed = folder != self._folder
        self._folder = folder
        if persona_id is None:
            return folder_changed, False
        now = self.at(persona_id)
        file_changed = self._files.get(persona_id, now) != now
        self._files[persona_id] = now
        return folder_changed, file_changed

    def proposals(self, key: str, known: Sequence[Version]) -> Sequence[Version]:
        """Return the proposals for a document; `known` ones where they cannot be read."""
        from personas.proposals import open_proposals

        try:
            look = key, self._store.file(key).versions.stamp
            seen, found = self._proposals  # together: several threads may look at a time
            if look != seen:
                found = open_proposals(self._store, key)
                self._proposals = look, found
        except PersonaError:
            return known
        return found

    def at(self, persona_id: str) -> Stamps:
        """Return what the disk says of each file of a document without reading it; None for one that is not there."""
        try:
            return [stamp_of(path) for path in self._store.file(persona_id).paths_now()]
        except PersonaError:
            return []

    def begin(self, persona_id: str, known: Stamps) -> None:
        """Look at this file from now on.

        Args:
            persona_id: whose it is.
            known: what `at` said before it was read.
        """
        self._files = {persona_id: known}


def last_change(store: Store, persona_id: str) -> tuple[str, str]:
    """Return what the last change was called, and its diff: of an agent's run, all that it changed last. Reads the disk.

    Raises:
        PersonaError: a text cannot be read.
    """
    log = store.log(persona_id)
    if not log:
        return "Nothing was changed yet.", ""
    last = log[0]
    of_run = [*takewhile(lambda version: version.by == last.by, log)] if last.by.run_id else [last]
    diff = edited_diff(store.text_before(persona_id, of_run[-1]), store.shown(persona_id))
    kind = last.by.kind
    what = (
        shown_counts(last.reason).removeprefix(f"{kind}: ")
        if len(of_run) == 1
        else f"{len(of_run)} edits of a run"
    )
    return f"Last change: {what} · by {author_name(last.by)}", diff


def change_of(slot_id: str, text: str) -> Change:
    """Return the change that stores the text of a slot.

    Raises:
        ValueError: the text is no value for this field; the message says so.
    """
    from personas.changes import (
        KEEP,
        SetDescription,
        SetModel,
        SetName,
        SetPrompt,
        SetTags,
        UpdateTestInput,
    )

    kind, _, name = slot_id.partition(":")
    if kind == "prompt":
        return SetPrompt(text)
    if kind == "input":
        return UpdateTestInput(name, text)
    if name == "name":
        if not text:
            raise ValueError("A persona needs a name.")
        return SetName(text)
    if name == "description":
        return SetDescription(text)
    if name == "tags":
        return SetTags(tuple(dict.fromkeys(tag for tag in (t.strip() for t in text.split(",")) if tag)))
    if name == "model":
        return SetModel(text or None, KEEP, KEEP)
    if name == "effort":
        if text and text not in LEVELS:
            raise ValueError(
                f"Effort is one of {', '.join(LEVELS)}, or empty. Enter in the empty field shows them."
            )
        return SetModel(KEEP, text or None, KEEP)
    if text and not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ValueError("Max tokens is a whole number above 0, or empty.")
    return SetModel(KEEP, KEEP, int(text) if text else None)
