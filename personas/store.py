"""`Store`: the one door to read, list, change, delete, undo and restore personas.

Every write goes through `_write`: under the persona's lock, checked against the hash of what is on disk,
old text stored first, atomic.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from personas.authorship import Author, Diff, Undone, Version
from personas.changes import Change
from personas.home import Home
from personas.persona import Persona


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

    # -- reading --------------------------------------------------------------------------------------

    def ids(self) -> builtins.list[str]:
        """Return the ids of all persona files, sorted without regard to case. One look at the folder."""
        raise NotImplementedError

    def list(self) -> builtins.list[Persona]:
        """Return every persona in the order of `ids`; a broken file is a `Persona` with `error` set."""
        raise NotImplementedError

    def get(self, persona_id: str) -> Persona:
        """Return one persona, with `error` set when its file is broken.

        Raises:
            UnknownPersona: no such file; the message names the nearest ids.
        """
        raise NotImplementedError

    def text(self, persona_id: str) -> str:
        """Return the file's text as it is on disk (without a byte order mark, line endings kept).

        Raises:
            BrokenFile: the file is not UTF-8.
        """
        raise NotImplementedError

    def path(self, persona_id: str) -> Path:
        """Return where the persona's file lies; it need not exist.

        Raises:
            OutsideHome: the id is no plain file name.
        """
        raise NotImplementedError

    # -- changing -------------------------------------------------------------------------------------

    def create(
        self, name: str, *, system_prompt: str = "", from_id: str | None = None, by: Author
    ) -> Persona:
        """Create a persona with a new id made from `name`.

        Args:
            name: display name, one line.
            system_prompt: the prompt; with `from_id`, used instead of the copied one unless empty.
            from_id: a persona to copy, comments and all.
            by: who creates it.

        Raises:
            InvalidValue: the name is empty or holds what cannot be stored.
            BrokenFile: the persona to copy is broken.
        """
        raise NotImplementedError

    def change(
        self, persona_id: str, change: Change, *, revision: str | None, by: Author, reason: str = ""
    ) -> Persona:
        """Apply one change and return the persona as it is then. A change to equal text writes nothing.

        Args:
            persona_id: whose file.
            change: what to do, see `personas.changes`.
            revision: `Persona.revision` the caller looked at; None: whatever is on disk now.
            by: who changes it.
            reason: why, for the log; a summary of the change when empty.

        Raises:
            Conflict: the file is no longer at `revision`; carries both texts.
            BrokenFile, EditRefused, InvalidValue: see `Change.apply`; the file is as it was.
            Busy: another process has been changing this persona for seconds.
        """
        raise NotImplementedError

    def delete(self, persona_id: str, *, by: Author) -> int:
        """Delete the file and return the number of the version that keeps its text for `restore`."""
        raise NotImplementedError

    # -- versions -------------------------------------------------------------------------------------

    def log(self, persona_id: str) -> builtins.list[Version]:
        """Return the stored versions, newest first; also those of a deleted persona."""
        raise NotImplementedError

    def version_text(self, persona_id: str, version: str | int) -> str:
        """Return the text of a version given by number (also as a string of digits) or by name.

        Raises:
            UnknownVersion: there is none.
        """
        raise NotImplementedError

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
        raise NotImplementedError

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
        raise NotImplementedError

    def restore(self, persona_id: str, version: str | int, *, by: Author) -> Persona:
        """Make the file what it was in `version`, byte for byte; also brings back a deleted persona.

        A change like any other: it has a version of its own and can be undone.

        Raises:
            UnknownVersion: there is none.
        """
        raise NotImplementedError

    def undo(self, persona_id: str, *, by: Author, only: Literal["agent"] | None = None) -> Undone:
        """Undo the last unit (an agent's run, or a stretch of the person's editing); again: the one before.

        What was written since stays.

        Args:
            persona_id: whose file.
            by: who undoes it.
            only: `agent` undoes the agent's last run, whatever the person did since.

        Raises:
            NothingToUndo: no unit is left.
            Conflict: what was written since touches the same lines; nothing changed. Carries the text after
                the unit (`base`), before it (`ours`) and now (`theirs`).
        """
        raise NotImplementedError

    def redo(self, persona_id: str, *, by: Author, only: Literal["agent"] | None = None) -> Undone:
        """Do again what the last undo undid; any new change ends that. Arguments and errors as in `undo`."""
        raise NotImplementedError

    # -- the current conversation ---------------------------------------------------------------------

    def session_of(self, persona_id: str) -> str | None:
        """Return the id of the persona's current conversation, or None if it never had one."""
        raise NotImplementedError

    def link_session(self, persona_id: str, session_id: str) -> None:
        """Make `session_id` the persona's current conversation.

        Raises:
            InvalidValue: the session id has other characters than letters, digits, `-` and `_`.
        """
        raise NotImplementedError
