"""`Store`: the one door to read, list, change, delete, undo and restore personas.

A file is written under its persona's lock, checked against what is on disk, with the old text stored first, in one
step: see `PersonaFile`.
"""

from __future__ import annotations

import builtins
import contextlib
import os
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from personas.errors import (
    Busy,
    Conflict,
    InvalidValue,
    NothingToUndo,
    OutsideHome,
    StorageError,
    UnknownVersion,
)
from personas.files.current_sessions import current_sessions, link_session
from personas.files.home import Home
from personas.files.lock import holder_elsewhere
from personas.files.slug import free_id, is_id, slug
from personas.files.text_file import BOM, SIZE_LIMIT, decode, encode, readable, replace_file, sha256
from personas.files.unsaved_texts import give_back, is_kept, set_aside
from personas.folder import read_all, remove_dead_link, stems, taken_ids, unknown_persona
from personas.persona import Persona
from personas.persona_file import PersonaFile
from personas.persona_reading import broken_persona, read_persona
from personas.toml.parse import parsing_once
from personas.versions.authorship import Author, Diff, Undone, Version
from personas.versions.merge import count, unified_diff
from personas.versions.timeline import Timeline

if TYPE_CHECKING:
    from personas.changes import Change
    from personas.open_in_editor import Hand
    from personas.versions.undo import Retrace

VERSION_NAME_LIMIT = 200
"""Most characters of a version's name."""


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


class Store:
    """The personas of one home. Safe to use from several threads and processes at once.

    Every method may raise `StorageError` (the disk refused), `OutsideHome` (the file leads out of the home or
    is no regular file) and, where an id is taken, `UnknownPersona`.

    Args:
        home: the home, existing (`open_home`).
        now: the clock, returning aware datetimes.
    """

    def __init__(self, home: Home, *, now: Callable[[], datetime] = utc_now) -> None:
        self.home = home
        self._now = now
        self.in_hand: dict[str, Hand] = {}

    # -- reading --------------------------------------------------------------------------------------

    def ids(self) -> builtins.list[str]:
        """Return the ids of all persona files, sorted without regard to case. One look at the folder."""
        return [stem for stem in stems(self.home) if is_id(stem)]

    def list(self) -> builtins.list[Persona]:
        """Return every persona in the order of `ids`; a broken file is a `Persona` with `error` set."""
        return read_all(self.home, current_sessions(self.home))

    def get(self, persona_id: str) -> Persona:
        """Return one persona, with `error` set when its file is broken.

        Raises:
            UnknownPersona: no such file; the message names the nearest ids.
        """
        file = self.file(persona_id)
        session_id = self.session_of(persona_id)
        try:
            return read_persona(persona_id, self._content(file), session_id)
        except (OutsideHome, StorageError) as error:
            return broken_persona(persona_id, error, session_id=session_id)

    def writer(self, persona_id: str) -> int | None:
        """Return the pid of the other process that writes a persona now, 0 if unknown, None for nobody."""
        path = self.file(persona_id).lock_path
        return holder_elsewhere(path) if os.path.lexists(path) else None

    def text(self, persona_id: str) -> str:
        """Return the file's text as it is on disk (without a byte order mark, line endings kept).

        Raises:
            BrokenFile: the file is not UTF-8.
        """
        return decode(self._content(self.file(persona_id))).text

    def path(self, persona_id: str) -> Path:
        """Return where the persona's file lies; it need not exist.

        Raises:
            OutsideHome: the id is no plain file name.
        """
        return self.file(persona_id).path

    # -- changing -------------------------------------------------------------------------------------

    def create(
        self,
        name: str,
        *,
        system_prompt: str = "",
        from_id: str | None = None,
        reserved: Collection[str] = (),
    ) -> Persona:
        """Create a persona with a new id made from `name`.

        Args:
            name: display name, one line.
            system_prompt: the prompt; with `from_id`, used instead of the copied one unless empty.
            from_id: a persona to copy, comments and all.
            reserved: ids that are not to be used: unsaved text is kept for them, which must not turn up here.

        Raises:
            InvalidValue: the name is empty or holds what cannot be stored.
            BrokenFile: the persona to copy is broken.
        """
        from personas.changes import SetName
        from personas.toml.edit import set_value

        text = "" if from_id is None else self.text(from_id)
        text = SetName(name).apply(text)
        if system_prompt or from_id is None:
            text = set_value(text, ("system_prompt",), system_prompt)
        content = encode(text)
        if len(content) > SIZE_LIMIT:
            raise InvalidValue(f"The persona would be larger than {SIZE_LIMIT // (1024 * 1024)} MB.")
        taken = taken_ids(self.home)
        wanted = slug(name, fallback="persona")
        while True:
            free = free_id(wanted, lambda name: name in taken or name in reserved or is_kept(self.home, name))
            file = self.file(free)
            try:
                with file.lock():
                    replace_file(file.path, content, root=self.home.root, exclusive=True)
                    with contextlib.suppress(StorageError):  # only what later goes on outside needs it
                        file.remember(content)
            except FileExistsError:  # another process took it just now
                taken.add(file.persona_id)
                continue
            return read_persona(file.persona_id, content)

    def change(
        self,
        persona_id: str,
        change: Change,
        *,
        revision: str | None,
        by: Author,
        reason: str = "",
        retrace: Retrace | None = None,
        alone: bool = False,
    ) -> Persona:
        """Apply one change and return the persona as it is then. A change to equal text writes nothing.

        Args:
            persona_id: whose file.
            change: what to do, see `personas.changes`.
            revision: `Persona.revision` the caller looked at; None: whatever is on disk now.
            by: who changes it.
            reason: why, for the log; a summary of the change when empty.
            retrace: the person took back, or did again, a part of what they typed: no new change, a step of undo.
            alone: it is a unit of undo by itself, not a part of the person's stretch of editing.

        Raises:
            Conflict: the file is no longer at `revision`; carries both texts.
            BrokenFile, EditRefused, InvalidValue: see `Change.apply`; the file is as it was.
            Busy: another process has been changing this persona for seconds.
        """
        file = self._existing(persona_id)
        for attempts_left in (2, 1, 0):
            try:
                with file.lock(), parsing_once():
                    return self._change(file, change, revision, by, reason, retrace, alone)
            except Conflict:
                if revision is not None or not attempts_left:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def keep(self, persona_id: str, change: Change, *, by: Author, reason: str) -> None:
        """Keep the text a change would lead to as a version; the file stays as it is.

        Raises:
            BrokenFile, EditRefused, InvalidValue, Busy, StorageError: see `change`; nothing is kept.
        """
        file = self._existing(persona_id)
        with file.lock(), parsing_once():
            content = self._content(file)
            text = change.apply(decode(content).text)
            kept = encode(text.removeprefix("\ufeff"), bom=content.startswith(BOM))
            if kept != content:
                file.snapshot(file.noticed(content), content, by=by, reason=reason, kept=kept)

    def delete(self, persona_id: str, *, by: Author) -> int | None:
        """Delete the file and return the number of the version that keeps its text for `restore`.

        What is kept of it and not saved (`personas.kept_texts`) goes there too. None: it was a link that leads to no
        file of the home; only the link is gone.
        """
        file = self._existing(persona_id)
        with file.lock():
            if remove_dead_link(self.home, persona_id):
                return None
            content = self._content(file)
            number = file.delete(file.noticed(content), content, by=by).version
            set_aside(self.home, persona_id)
            return number

    # -- versions -------------------------------------------------------------------------------------

    def log(self, persona_id: str) -> builtins.list[Version]:
        """Return the stored versions, newest first; also those of a deleted persona."""
        _, timeline = self._recorded(persona_id)
        return sorted(timeline.versions.values(), key=lambda version: version.number, reverse=True)

    def version_text(self, persona_id: str, version: str | int | Version) -> str:
        """Return the text of a version given by number (also as a string of digits), by name, or out of `log`.

        Raises:
            UnknownVersion: there is none.
        """
        if isinstance(version, Version):  # the log need not be read once more
            return readable(self.file(persona_id).versions.load(version.sha))
        file, timeline = self._recorded(persona_id)
        return readable(file.versions.load(_find(persona_id, timeline, version).sha))

    def name_version(self, persona_id: str, name: str, *, version: str | int | None = None) -> Version:
        """Give a version a name, so that it is never thinned out.

        Args:
            persona_id: whose version.
            name: one line, not only digits, not taken by another version of this persona.
            version: which; None stores the text as it is now as a version of its own.

        Raises:
            InvalidValue: the name is empty, a number or taken.
            UnknownVersion: there is no such version.
        """
        file = self.file(persona_id)
        if not name.strip() or name.strip() != name or any(mark in name for mark in "\n\r\0"):
            raise InvalidValue("A version's name is a single line, not empty.")
        if len(name) > VERSION_NAME_LIMIT:
            raise InvalidValue(f"A version's name has at most {VERSION_NAME_LIMIT} characters.")
        if name.isdigit():
            raise InvalidValue("A version's name must not be a number: versions have numbers already.")
        encode(name)
        with file.lock():
            content = file.read_if_there()
            timeline = file.noticed(content)
            if any(other.name == name for other in timeline.versions.values()):
                raise InvalidValue(f"There is already a version called {name!r}.")
            if version is not None:
                found = _find(persona_id, timeline, version)
            else:
                number = file.snapshot(timeline, self._content(file), by=Author("user"), reason=name).version
                found = timeline.versions[number]
            file.versions.append({"type": "name", "version": found.number, "name": name}, sync=True)
        return replace(found, name=name)

    def diff(
        self,
        persona_id: str,
        from_version: str | int | None = None,
        to_version: str | int | None = None,
    ) -> Diff:
        """Return the difference between two versions, or a version and now.

        Args:
            persona_id: whose texts.
            from_version: the older one; None: the last version.
            to_version: the newer one; None: the text as it is now.

        Raises:
            UnknownVersion: no such version, or there are none yet.
        """
        file, timeline = self._recorded(persona_id)
        if from_version is not None:
            older = _find(persona_id, timeline, from_version)
        elif timeline.versions:
            older = timeline.versions[max(timeline.versions)]
        else:
            raise UnknownVersion(f"{persona_id} has no versions yet: nothing has been changed.")
        newer = None if to_version is None else _find(persona_id, timeline, to_version)
        old = readable(file.versions.load(older.sha))
        new = readable(self._content(file) if newer is None else file.versions.load(newer.sha))
        to_name = "now" if newer is None else f"version {newer.number}"
        title = f"{persona_id}.toml"
        diff = unified_diff(old, new, f"{title} (version {older.number})", f"{title} ({to_name})")
        added, removed = count(old, new)
        return Diff(older.number, newer.number if newer else None, diff, added, removed)

    def restore(self, persona_id: str, version: str | int, *, by: Author) -> Persona:
        """Make the file what it was in `version`, byte for byte; also brings back a deleted persona.

        A change like any other: it has a version of its own and can be undone. After a deletion it is a change
        from the text that was deleted. A persona that was a symlink becomes one again, and its target gets
        the text; where the link would lead nowhere, the persona becomes a file of its own.

        Raises:
            UnknownVersion: there is none.
        """
        from personas.versions.restore import write_version

        file = self.file(persona_id)
        with file.lock():
            before = file.read_if_there()
            timeline = file.noticed(before)
            if before is None and not timeline.versions:
                raise unknown_persona(self.home, persona_id, has_versions=False)
            found = _find(persona_id, timeline, version)
            after = file.versions.load(found.sha, before)
            write_version(file, timeline, before, found.number, after, by=by)
            if before is None:
                give_back(self.home, persona_id)
            return read_persona(persona_id, after, self.session_of(persona_id))

    def undo(self, persona_id: str, *, by: Author, only: str | None = None) -> Undone:
        """Undo the last unit (an agent's run, or a stretch of the person's editing); again: the one before.

        What was written since stays.

        Args:
            persona_id: whose file.
            by: who undoes it.
            only: `agent` undoes the agent's last run, whatever was done since; the key of a unit undoes that one.

        Raises:
            NothingToUndo: no unit is left.
            Conflict: what was written since touches the same lines; nothing changed. Carries the text after
                the unit (`base`), before it (`ours`) and now (`theirs`).
        """
        return self._step(persona_id, "undo", by, only)

    def redo(self, persona_id: str, *, by: Author, only: str | None = None) -> Undone:
        """Do again what the last undo undid; any new change ends that. Arguments and errors as in `undo`."""
        return self._step(persona_id, "redo", by, only)

    # -- the current conversation ---------------------------------------------------------------------

    def session_of(self, persona_id: str) -> str | None:
        """Return the id of the persona's current conversation, or None if it never had one."""
        return current_sessions(self.home).get(persona_id)

    def link_session(self, persona_id: str, session_id: str) -> None:
        """Make `session_id` the persona's current conversation.

        Raises:
            InvalidValue: the session id has other characters than letters, digits, `-` and `_`.
        """
        self.file(persona_id)  # refuses what is no id
        link_session(self.home, persona_id, session_id)

    # -- inside ---------------------------------------------------------------------------------------

    def file(self, persona_id: str) -> PersonaFile:
        """Return a persona's file with its versions, for what works on both; it need not exist."""
        return PersonaFile(self.home, persona_id, self._now, self.in_hand.get(persona_id))

    def _existing(self, persona_id: str) -> PersonaFile:
        """Return a persona's file, refusing an unknown id before any lock is made for it."""
        file = self.file(persona_id)
        if not os.path.lexists(file.path):
            raise unknown_persona(self.home, persona_id, has_versions=file.versions.exists())
        return file

    def _content(self, file: PersonaFile) -> bytes:
        """Return a persona's bytes; an unknown id is told with the ids that look like it."""
        content = file.read_if_there()
        if content is not None:
            return content
        raise unknown_persona(self.home, file.persona_id, has_versions=file.versions.exists())

    def _change(
        self,
        file: PersonaFile,
        change: Change,
        revision: str | None,
        by: Author,
        reason: str,
        retrace: Retrace | None,
        alone: bool,
    ) -> Persona:
        from personas.changes import ReplaceText

        before = self._content(file)
        if revision is not None and sha256(before) != revision:
            raise file.stale(change, revision, before)
        bom = before.startswith(BOM)
        # Replacing the whole file is how a person mends one that is not even UTF-8.
        old = readable(before) if isinstance(change, ReplaceText) else decode(before).text
        new = change.apply(old)
        after = encode(new.removeprefix("\ufeff") if bom else new, bom=bom)
        if after != before:
            note = (change.subject, change.summarise(old, new))
            timeline = file.noticed(before)
            if retrace is None:
                typed = change.typed and not alone
                file.write(timeline, before, after, by=by, note=note, reason=reason, typed=typed)
            else:
                from personas.versions.undo_step import retrace_step

                unit, after = retrace_step(file, timeline, before, after, retrace)
                file.write(timeline, before, after, by=by, note=note, reason=reason, role=retrace, unit=unit)
        return read_persona(file.persona_id, after, self.session_of(file.persona_id))

    def _recorded(self, persona_id: str) -> tuple[PersonaFile, Timeline]:
        """Return a persona's versions, changes from outside included where they can be recorded now."""
        file = self.file(persona_id)
        if not file.versions.exists():
            return file, file.timeline(self._content(file))
        try:
            with file.lock():
                return file, file.noticed(file.read_if_there())
        except (Busy, StorageError, UnknownVersion):
            return file, file.timeline(file.read_if_there())

    def _step(
        self, persona_id: str, direction: Literal["undo", "redo"], by: Author, only: str | None
    ) -> Undone:
        from personas.versions.undo_step import take_step

        file = self._existing(persona_id)
        with file.lock(), parsing_once():
            taken = take_step(file, self._content(file), direction, by=by, only=only)
            if taken is None:
                of = "of the agent's " if only == "agent" else ""
                raise NothingToUndo(f"There is nothing {of}to {direction} in {persona_id}.")
            unit, entry, after = taken
            persona = read_persona(persona_id, after, self.session_of(persona_id))
            return Undone(persona, entry.version, unit.describe(), unit.run_id)


def _find(persona_id: str, timeline: Timeline, version: str | int) -> Version:
    found = timeline.find(version)
    if found is None:
        raise UnknownVersion(f"{persona_id} has no version {version!r}; log shows which there are.")
    return found
