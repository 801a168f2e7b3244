"""Taking typed values out of parsed TOML, and where in the file something has the wrong type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from personas.errors import BrokenFile, PersonaError

Path = tuple[str | int, ...]
Fault = tuple[Path, str]
"""Where something is wrong, and what."""

NUMBER_LIMIT = 2**63  # what TOML promises to hold; printing a longer one can fail
_LOCATED = 20  # faults whose place is looked up to find the first one

_KINDS = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}


class FileError(NamedTuple):
    """Why a file cannot be read in full, with a 1-based position where one is known.

    The message is a clause to be built into a sentence: without a full stop at its end.
    """

    message: str
    line: int | None = None
    column: int | None = None


def as_file_error(error: PersonaError) -> FileError:
    """Return what an error says, with its place."""
    if isinstance(error, BrokenFile):
        return FileError(message=error.message, line=error.line, column=error.column)
    return FileError(message=str(error).removesuffix("."))


def first_fault(text: str, faults: list[Fault]) -> FileError:
    """Return the fault that stands first in the file, and how many more there are."""
    from personas.toml.scanner import locate

    places = []
    for path, message in faults[:_LOCATED]:
        try:
            span = locate(text, path)
        except PersonaError:
            span = None
        places.append((span.line if span else 1 << 60, span.column if span else 0, message))
    line, column, message = min(places)
    if len(faults) > 1:
        message += f" (and {len(faults) - 1} more)"
    if line == 1 << 60:
        return FileError(message=message)
    return FileError(message=message, line=line, column=column)


class Fields:
    """Takes typed fields out of parsed TOML, noting what has the wrong type in `faults`."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields
        self.faults: list[Fault] = []

    def text(self, key: str) -> str:
        """Return a text, empty where there is none."""
        value = self.typed(self.fields, key, str, ())
        return value if value is not None else ""

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the texts of a list."""
        values = self.typed(self.fields, key, list, ()) or []
        for i, value in enumerate(values):
            if type(value) is not str:
                self.note((key, i), f"{key} must hold texts, not {_kind(value)}")
        return tuple(value for value in values if type(value) is str)

    def tables(self, key: str) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Yield the tables of a list, each with its path."""
        for i, table in enumerate(self.typed(self.fields, key, list, ()) or []):
            if type(table) is dict:
                yield (key, i), table
            else:
                self.note((key, i), f"{key} must hold tables, not {_kind(table)}")

    def typed(self, table: dict[str, Any], key: str, kind: type, above: Path) -> Any:
        """Return the value if it has the type; else None, with a fault noted if there is a value."""
        value = table.get(key)
        if kind is int and type(value) is int and not -NUMBER_LIMIT <= value < NUMBER_LIMIT:
            self.note((*above, key), f"{key} is too large a number")
            return None
        if value is None or type(value) is kind:
            return value
        self.note((*above, key), f"{key} must be {_KINDS[kind]}, not {_kind(value)}")
        return None

    def note(self, path: Path, message: str) -> None:
        """Note what is wrong at a path."""
        self.faults.append((path, message))


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "a date or time")
