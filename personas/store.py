"""`Store`: the one door to read, list, change, delete, undo and restore personas, and to change other documents.

What takes a persona's id and is about versions, and `change`, take the key of a document of the library too,
`KIND/NAME`, and of an action, `action/ID`; what they return is a `StoredDocument` or a `StoredAction` then.

A file is written under its persona's lock, checked against what is on disk, with the old text stored first, in one
step: see `Document`.
"""

from __future__ import annotations

import builtins
import contextlib
import os
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from personas.document import Document
from personas.errors import (
    Busy,
    Conflict,
    InvalidValue,
    NothingToUndo,
    OutsideHome,
    PersonaError,
    StorageError,
    UnknownVersion,
)
from personas.files.current_sessions import current_sessions, link_session
from personas.files.home import Home
from personas.files.lock import holder_elsewhere
from personas.files.slug import command, free_id, is_id, slug
from personas.files.text_file import decode, encode, readable, replace_file, require_size, sha256
from personas.folder import prompt_files, read_all, remove_dead_link, stems, taken_ids, unknown_persona
from personas.persona import Persona, broken_persona, read_persona
from personas.toml.parse import parsing_once
from personas.undo import step_everywhere, without
from personas.versions.authorship import USER, Author, Diff, Undone, Version
from personas.versions.log import PROPOSAL, VersionLog, read_log
from personas.versions.merge import count, unified_diff
from personas.versions.undo import Direction, key_of_run

if TYPE_CHECKING:
    from personas.changes import Change

ACTION = "action/"
"""How the key of an action begins."""

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
        session_id: the conversation that is each persona's current one for who has this store, as for a run in a
            conversation of its own; None: the one that is.
    """

    def __init__(
        self, home: Home, *, now: Callable[[], datetime] = utc_now, session_id: str | None = None
    ) -> None:
        self.home = home
        self._now = now
        self._session_id = session_id
        self._make_document: Callable[..., Document] = Document

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
        try:
            return self._read(persona_id, self._content(file))
        except (OutsideHome, StorageError) as error:
            return broken_persona(persona_id, error, session_id=self.session_of(persona_id))

    def writer(self, persona_id: str) -> int | None:
        """Return the pid of the other process that writes a persona now, 0 if unknown, None for nobody."""
        path = self.file(persona_id).lock_path
        return holder_elsewhere(path) if os.path.lexists(path) else None

    def text(self, persona_id: str) -> str:
        """Return the file's text as it is on disk (without a byte order mark, line endings kept); not the prompt's file.

        Raises:
            BrokenFile: the file is not UTF-8.
        """
        file = self.file(persona_id)
        content = self._content(file)
        return decode(next((one for one in file.unpack(content).values() if one), b"")).text

    def shown(self, persona_id: str) -> str:
        """Return the text of all files as it is shown, see `Document.text`."""
        file = self.file(persona_id)
        return file.text(self._content(file))

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
        persona_id: str | None = None,
    ) -> Persona:
        """Create a persona with a new id made from `name`.

        Args:
            name: display name, one line.
            system_prompt: the prompt; with `from_id`, used instead of the copied one unless empty.
            from_id: a persona to copy, comments and all.
            reserved: ids that are not to be used: unsaved text is kept for them, which must not turn up here.
            persona_id: the id to have, and no other.

        Raises:
            InvalidValue: the name is empty or holds what cannot be stored, or `persona_id` is taken.
            BrokenFile: the persona to copy is broken.
        """
        from personas.changes import SetName
        from personas.toml.edit import set_value

        text = ""
        if from_id is not None:
            from personas.prompt_file import with_own_prompt

            text = with_own_prompt(self._content(self.file(from_id)))  # a file for two would be no copy
        text = SetName(name).apply(text)
        if system_prompt or from_id is None:
            text = set_value(text, ("system_prompt",), system_prompt)
        content = encode(text)
        require_size(content, "persona")
        taken = taken_ids(self.home)
        wanted = persona_id or slug(name, fallback="persona")
        while True:
            free = free_id(wanted, lambda name: name in taken or name in reserved)
            if persona_id is not None and free != persona_id:
                raise InvalidValue(f"There is or was already a persona {persona_id!r}; choose another name.")
            file = self.file(free)
            try:
                with file.lock():
                    replace_file(file.path, content, root=self.home.root, exclusive=True)
                    with contextlib.suppress(StorageError):  # only what later goes on outside needs it
                        file.remember(content)
            except FileExistsError:  # another process took it just now
                taken.add(file.key)
                continue
            return read_persona(file.key, content)

    def make(self, persona_id: str, text: str, *, by: Author, reason: str, unit: str) -> Persona:
        """Make a persona of the whole text of its file, as a change of a unit: undo takes the persona away.

        Raises:
            InvalidValue: there is one of this id already, or the text cannot be stored.
        """
        content = encode(text)
        require_size(content, "persona")
        file = self.file(persona_id)
        try:
            with file.lock():
                content = file.make(content, by=by, reason=reason, unit=unit)
        except FileExistsError:
            raise InvalidValue(f"There is already a persona {persona_id!r}; choose another name.") from None
        return read_persona(persona_id, content)

    def change(
        self,
        persona_id: str,
        change: Change,
        *,
        revision: str | None,
        by: Author,
        reason: str = "",
        own_unit: bool = False,
        unit: str = "",
    ) -> Persona:
        """Apply one change and return the persona as it is then. A change to equal text writes nothing.

        Args:
            persona_id: whose file.
            change: what to do, see `personas.changes`.
            revision: `Persona.revision` the caller looked at; None: whatever is on disk now.
            by: who changes it.
            reason: why, for the log; a summary of the change when empty.
            own_unit: it is a unit of undo by itself, not a part of the person's stretch of editing.
            unit: key of a unit of undo that the change is a part of, also with changes of other documents.

        Raises:
            Conflict: the file is no longer at `revision`; carries both texts.
            BrokenFile, EditRefused, InvalidValue: see `Change.apply`; the file is as it was.
            Busy: another process has been changing this persona for seconds.
        """
        file = self._existing(persona_id)
        for attempts_left in (2, 1, 0):
            try:
                with file.lock(), parsing_once():
                    return self._change(
                        file, change, revision, by, reason, typed=change.typed and not own_unit, unit=unit
                    )
            except Conflict:
                if revision is not None or not attempts_left:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def note_unit(self, persona_id: str, *, by: Author, subject: str, reason: str) -> None:
        """Note that a run of the agent has changed other documents: undone from here too, it is undone there.

        Args:
            persona_id: where it is noted, once.
            by: the agent, with its run.
            subject, reason: what it changed, for the log.
        """
        file = self._existing(persona_id)
        with file.lock():
            content = self._content(file)
            log = file.catch_up(content)
            unit = log.history.units.get(key_of_run(by.session_id, by.run_id or ""))
            if unit is None or unit.undone_at:
                file.write(log, content, content, by=by, note=(subject, subject), reason=reason)

    def keep(self, persona_id: str, change: Change, *, by: Author, reason: str) -> None:
        """Keep the text a change would lead to as a version; the file stays as it is.

        Raises:
            BrokenFile, EditRefused, InvalidValue, Busy, StorageError: see `change`; nothing is kept.
        """
        from personas.applied import applied

        file = self._existing(persona_id)
        with file.lock(), parsing_once():
            content = self._content(file)
            kept, _ = applied(file, content, change)
            if kept != content:
                file.keep(file.catch_up(content), content, kept, by=by, reason=reason)

    def delete(self, persona_id: str, *, by: Author) -> int | None:
        """Delete the file and return the number of the version that has its text, for `restore`.

        None: it was a link that leads to no file of the home; only the link is gone.
        """
        file = self._existing(persona_id)
        with file.lock():
            if remove_dead_link(self.home, persona_id):
                return None
            content = self._content(file)
            return file.delete(file.catch_up(content), content, by=by)

    # -- versions -------------------------------------------------------------------------------------

    def log(self, persona_id: str) -> builtins.list[Version]:
        """Return the versions after the first text, newest first; also those of a deleted persona."""
        _, log = self._recorded(persona_id)
        return sorted(log.versions.values(), key=lambda version: version.number, reverse=True)

    def recent_versions(self, persona_id: str, count: int) -> builtins.list[Version]:
        """Return the versions of the newest changes, newest first, without reading the others: at most about `count`.

        For a first look: what came from outside meanwhile may be missing.
        """
        file = self.file(persona_id)
        content = file.read_if_there()
        log = read_log(file.versions.recent_records(2 * count), None if content is None else sha256(content))
        return sorted(log.versions.values(), key=lambda version: version.number, reverse=True)

    def current_version(self, persona_id: str) -> int:
        """Return the number of the last change that is in the file, or deleted it; 0: the text is the first one."""
        return self._recorded(persona_id)[1].current

    def version_text(self, persona_id: str, version: str | int | Version) -> str:
        """Return the text of a version; of a deletion, the text that was deleted.

        Args:
            persona_id: whose.
            version: its number (also as a string of digits; 0 is the first text), its name, a day (see `VersionLog.find`),
                or a version from `log`.

        Raises:
            UnknownVersion: there is none.
        """
        return self.file(persona_id).text(self.version_content(persona_id, version))

    def version_content(self, persona_id: str, version: str | int | Version) -> bytes:
        """Return the content of a version. Arguments and errors as in `version_text`."""
        if isinstance(version, Version):  # the log need not be read once more
            return self.file(persona_id).versions.load(version.sha or version.before)
        file, log = self._recorded(persona_id)
        return self._load(file, log, self._find(persona_id, log, version))

    def at_version(self, persona_id: str, version: str | int | Version) -> Persona:
        """Return a persona as it was in a version. Arguments and errors as in `version_text`."""
        return read_persona(persona_id, self.version_content(persona_id, version))

    def version_number(self, persona_id: str, version: str | int) -> int:
        """Return the number of a version that is named by its number or its name.

        Raises:
            UnknownVersion: there is none.
        """
        return self._find(persona_id, self._recorded(persona_id)[1], version)

    def text_before(self, persona_id: str, version: Version) -> str:
        """Return the text as it was before a change out of `log`.

        Raises:
            UnknownVersion: it is not stored any more.
        """
        file = self.file(persona_id)
        return file.text(file.versions.load(version.before))

    def fix_version(self, persona_id: str) -> int:
        """Return the number of the version that the file holds, for whoever uses its text; it stays that text's.

        What is typed next is a version of its own, however soon. 0 is the first text.
        """
        file = self._existing(persona_id)
        content = self._content(file)
        log = file.log(content)
        if log.last_sha == sha256(content) and not log.is_open:  # nobody need be waited for
            return log.current
        with file.lock():
            return file.fix(self._content(file))

    def name_version(self, persona_id: str, name: str, *, version: str | int | None = None) -> int:
        """Give a version a name, so that it is never pruned, and return its number.

        Args:
            persona_id: whose version.
            name: one line, not only digits, not taken by another version of this persona.
            version: which; None: the text as it is now.

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
        if PROPOSAL.match(name):
            raise InvalidValue(f"{name!r} names a proposal; choose another name.")
        encode(name)
        with file.lock():
            content = file.read_if_there()
            log = file.catch_up(content)
            if name in log.names.values():
                raise InvalidValue(f"There is already a version called {name!r}.")
            number = (
                file.fix(self._content(file)) if version is None else self._find(persona_id, log, version)
            )
            file.versions.append({"type": "name", "version": number, "name": name}, sync=True)
        return number

    def diff(
        self,
        persona_id: str,
        from_version: str | int | None = None,
        to_version: str | int | None = None,
    ) -> Diff:
        """Return the last change, or the difference between two versions, or a version and now.

        Args:
            persona_id: whose texts.
            from_version: the older one; None: the last change.
            to_version: the newer one; None: the text as it is now.

        Raises:
            UnknownVersion: no such version, or there are none yet.
        """
        file, log = self._recorded(persona_id)
        newer: int | None
        if from_version is not None:
            older = self._find(persona_id, log, from_version)
            newer = None if to_version is None else self._find(persona_id, log, to_version)
            old = self._load(file, log, older)
            new = self._content(file) if newer is None else self._load(file, log, newer)
        elif log.current:
            newer = log.current
            last, older = log.versions[newer], log.before(newer)
            old = file.versions.load(last.before)
            new = self._content(file) if last.sha is None else file.versions.load(last.sha)
        else:
            raise UnknownVersion(f"{persona_id} has no versions yet: nothing has been changed.")
        to_name = "now" if newer is None else f"version {newer}"
        then, now = file.unpack(old), file.unpack(new)
        diffs = []
        for path in {**then, **now}:
            is_first = path == file.path
            title = f"{persona_id}.toml" if is_first else path.relative_to(self.home.root).as_posix()
            was, is_now = (readable(files.get(path) or b"") for files in (then, now))
            diffs.append(unified_diff(was, is_now, f"{title} (version {older})", f"{title} ({to_name})"))
        return Diff(older, newer, "".join(diffs), *count(file.text(old), file.text(new)))

    def restore(self, persona_id: str, version: str | int, *, by: Author) -> Persona:
        """Make the file what it was in `version`, byte for byte; also brings back a deleted persona.

        A change like any other: it has a version of its own and can be undone. After a deletion it is a change
        from the text that was deleted. A persona that was a symlink becomes one again, and its target gets
        the text; where the link would lead nowhere, the persona becomes a file of its own.

        Raises:
            UnknownVersion: there is none.
        """
        file = self.file(persona_id)
        with file.lock():
            before = file.read_if_there()
            log = file.catch_up(before)
            if before is None and not log.versions:
                raise unknown_persona(self.home, persona_id, has_versions=False)
            number = self._find(persona_id, log, version)
            after = self._load(file, log, number, before)
            return self._read(persona_id, file.restore(log, before, number, after, by=by))

    def undo(
        self, persona_id: str, *, by: Author = USER, only: str | None = None, version: str | int | None = None
    ) -> Undone:
        """Undo the last unit (an agent's run, or a stretch of the person's editing); again: the one before.

        What was written since stays. A unit that changed several documents goes back in each where that can be
        done; the result names those that are left.

        Args:
            persona_id: whose file.
            by: who undoes it.
            only: `agent` undoes the agent's last run, whatever was done since; the key of a unit undoes that one.
            version: undoes what the version belongs to, whatever was done since; of an undo, that is a redo.

        Raises:
            NothingToUndo: no unit is left.
            Conflict: what was written since touches the same lines; nothing changed. Carries the text after
                the unit (`base`), before it (`ours`) and now (`theirs`).
            UnknownVersion: there is no such version.
        """
        direction: Direction = "undo"
        if version is not None:
            direction, only = self._unit_of(persona_id, version)
        return self._step(persona_id, direction, by, only, version)

    def redo(self, persona_id: str, *, by: Author = USER, only: str | None = None) -> Undone:
        """Redo what the last undo undid; any new change ends that. Arguments and errors as in `undo`."""
        return self._step(persona_id, "redo", by, only)

    def preview_undo(self, persona_id: str) -> tuple[str, str]:
        """Return the file's text as it is and as `undo` would leave it, without writing anything.

        Raises:
            NothingToUndo: no unit is left.
            Conflict: what was written since is in the same place.
        """
        file = self.file(persona_id)
        before = file.read()
        for unit in file.preview_log(before).history.candidates("undo"):
            after = without(file, unit, before, "undo")
            if after != before:
                return file.text(before), file.text(after)
        raise NothingToUndo(f"There is nothing to undo in {persona_id}.")

    # -- the current conversation ---------------------------------------------------------------------

    def in_session(self, session_id: str) -> Store:
        """Return a store of the same home in which this conversation is each persona's current one."""
        return Store(self.home, now=self._now, session_id=session_id)

    def session_of(self, persona_id: str) -> str | None:
        """Return the id of the persona's current conversation, or None if it never had one."""
        return self._session_id or current_sessions(self.home).get(persona_id)

    def link_session(self, persona_id: str, session_id: str) -> None:
        """Make `session_id` the persona's current conversation.

        Raises:
            InvalidValue: the session id has other characters than letters, digits, `-` and `_`.
        """
        self.file(persona_id)  # refuses what is no id
        link_session(self.home, persona_id, session_id)

    # -- inside ---------------------------------------------------------------------------------------

    def file(self, persona_id: str) -> Document:
        """Return a persona's file with its versions; it need not exist.

        Raises:
            OutsideHome: the id is no plain file name.
        """
        if persona_id.startswith(ACTION):
            from personas.action_document import action_document

            return action_document(self.home, persona_id, now=self._now)
        if "/" in persona_id:
            from personas.library_document import library_document

            return library_document(self.home, persona_id, now=self._now, make=self._make_document)
        if not is_id(persona_id):
            raise OutsideHome(f"{persona_id!r} cannot be a persona's id: an id is a plain file name.")
        return self._make_document(
            self.home,
            persona_id,
            (self.home.personas / f"{persona_id}.toml",),
            now=self._now,
            subject=f"The persona {persona_id}",
            is_broken=lambda content: read_persona(persona_id, content).error is not None,
            beside=partial(prompt_files, self.home),
        )

    def _existing(self, persona_id: str) -> Document:
        """Return a persona's file, refusing an unknown id before any lock is made for it."""
        file = self.file(persona_id)
        if not file.is_optional and not os.path.lexists(file.path):
            raise unknown_persona(self.home, persona_id, has_versions=file.versions.exists())
        return file

    def _content(self, file: Document) -> bytes:
        """Return a persona's bytes; the error for an unknown id names ids that look like it."""
        content = file.read_if_there()
        if content or (content is not None and (not file.is_optional or file.versions.exists())):
            return content
        if file.key.startswith(ACTION):
            from personas.action_document import unknown_action

            raise unknown_action(self.home, file.key)
        if file.is_optional:
            from personas.library_document import unknown_document

            raise unknown_document(self.home, file.key)
        raise unknown_persona(self.home, file.key, has_versions=file.versions.exists())

    def _change(
        self,
        file: Document,
        change: Change,
        revision: str | None,
        by: Author,
        reason: str,
        *,
        typed: bool,
        unit: str,
    ) -> Persona:
        from personas.applied import applied

        before = (file.read_if_there() or b"") if file.is_optional else self._content(file)
        if revision is not None and sha256(before) != revision:
            raise _stale(file, change, revision, before)
        after, note = applied(file, before, change)
        if after != before:
            log = file.catch_up(before)
            file.write(
                log, before, after, by=by, note=note, reason=reason, typed=typed and not unit, unit=unit
            )
        return self._read(file.key, after)

    def _read(self, key: str, content: bytes) -> Persona:
        if key.startswith(ACTION):
            from personas.action_document import read_stored as read_stored_action

            return read_stored_action(key, content)
        if "/" in key:
            from personas.library_document import read_stored

            return read_stored(self.file(key), content)
        return read_persona(key, content, self.session_of(key))

    def _recorded(self, persona_id: str) -> tuple[Document, VersionLog]:
        """Return a persona's versions, changes from outside included where they can be recorded now."""
        file = self.file(persona_id)
        if not file.versions.exists():
            return file, file.log(self._content(file))
        try:
            with file.lock():
                return file, file.catch_up(file.read_if_there())
        except (Busy, StorageError, UnknownVersion):
            return file, file.log(file.read_if_there())

    def _load(self, file: Document, log: VersionLog, number: int, now: bytes | None = None) -> bytes:
        """Return the text of a version; of a deletion, the text that was deleted."""
        if number == 0:
            return self._content(file) if log.first_sha is None else file.versions.load(log.first_sha, now)
        version = log.versions[number]
        return file.versions.load(version.sha or version.before, now)

    def _find(self, persona_id: str, log: VersionLog, version: str | int) -> int:
        found = log.find(version, self._now())
        if found is None:
            raise UnknownVersion(
                f"{persona_id} has no version {version!r}; `{command('log', persona_id)}` shows which there are."
            )
        return found

    def _unit_of(self, persona_id: str, version: str | int) -> tuple[Direction, str]:
        """Return the unit that a version belongs to, and which way undoing the version goes."""
        _, log = self._recorded(persona_id)
        number = self._find(persona_id, log, version)
        found = log.versions.get(number)
        if found is None or found.sha is None or found.role in ("kept", "snapshot"):
            raise NothingToUndo(f"Version {number} of {persona_id} is not a change that can be undone.")
        return "redo" if found.role == "undo" else "undo", found.unit

    def _step(
        self,
        persona_id: str,
        direction: Direction,
        by: Author,
        only: str | None,
        version: str | int | None = None,
    ) -> Undone:
        file = self.file(persona_id)
        if direction == "undo" or not file.log(file.read_if_there()).is_undone:
            file = self._existing(persona_id)
        done = step_everywhere(self.home, file, self.file, direction, by=by, only=only)
        if done is None:
            of = "of the agent's " if only == "agent" else ""
            raise NothingToUndo(
                f"There is nothing {of}to {direction} in {persona_id}."
                if version is None
                else f"The change of version {version} of {persona_id} cannot be undone: it is undone already, or too old."
            )
        for key in (persona_id, *done.also):
            if key.startswith("skill/"):
                from personas.library_document import follow_rename

                follow_rename(self.home, self.file(key), done.unit.key)
        if done.content is None:
            persona = self._read(persona_id, file.read())
        else:
            persona = self._read(persona_id, done.content)
        return Undone(persona, done.version, done.unit.describe(), done.unit.run_id, done.also, done.left)


def _stale(file: Document, change: Change, revision: str, now: bytes) -> Conflict:
    """Return the conflict of a change that was meant for the text of an earlier revision."""
    from personas.applied import applied

    old = None
    with contextlib.suppress(PersonaError):  # the earlier text may not be stored, or not take the change
        old = file.versions.load(revision)
    base = ours = "" if old is None else file.text(old)
    with contextlib.suppress(PersonaError):
        ours = file.text(applied(file, now if old is None else old, change)[0])
    return Conflict(
        f"{file.key} was changed meanwhile; nothing was written.", base=base, ours=ours, theirs=file.text(now)
    )
