"""The errors of the documents. Each message is one sentence a person can act on."""

from __future__ import annotations


class PersonaError(Exception):
    """Anything that can be shown to a person in one line; the root of all our errors."""


class UnknownPersona(PersonaError):
    """No persona file has this id."""


class UnknownVersion(PersonaError):
    """No stored version has this number or name."""


class NothingToUndo(PersonaError):
    """No unit of changes is left to undo, or to redo."""


class InvalidValue(PersonaError):
    """A value that cannot be stored, for example an empty test input or a taken id."""


class BrokenFile(PersonaError):
    """A file that is not a readable persona.

    Args:
        message: what is wrong, without the position and without a full stop.
        line: 1-based line, or None where unknown.
        column: 1-based column, or None where unknown.
    """

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        where = f" (line {line}, column {column})" if line is not None else ""
        super().__init__(message + where)
        self.message = message
        self.line = line
        self.column = column


class EditRefused(PersonaError):
    """The change could not be made without touching something else; the file is as it was."""


class Conflict(PersonaError):
    """The file changed since it was read.

    Args:
        message: one sentence.
        base: the text the change was based on.
        ours: the text we wanted to write (equal to `base` when the change was not computed).
        theirs: the text that is on disk now.
    """

    def __init__(self, message: str, *, base: str, ours: str, theirs: str) -> None:
        super().__init__(message)
        self.base = base
        self.ours = ours
        self.theirs = theirs


class Busy(PersonaError):
    """Another process holds the lock; `pid` says which, when known."""

    def __init__(self, message: str, pid: int | None = None) -> None:
        super().__init__(message)
        self.pid = pid


class OutsideHome(PersonaError):
    """A path that leaves the home, or is no regular file."""


class StorageError(PersonaError):
    """The disk refused: full, read-only, no permission. What was there is still there."""


class DamagedVersion(UnknownVersion, StorageError):
    """What is stored of a version is not what was stored: it counts as not stored."""
