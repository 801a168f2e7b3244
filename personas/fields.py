"""The fields in the text of a persona's file, as changes read and write them, and how a change is said briefly. Pure.

What has another type in the file than the program gives it is refused: that is for a person to look at.
"""

from __future__ import annotations

from typing import Any

from personas.errors import EditRefused, InvalidValue
from personas.toml import edit as toml_edit
from personas.toml.parse import parse
from personas.versions.merge import count

_SHOWN_LENGTH = 40


def set_field(text: str, path: tuple[str | int, ...], value: Any) -> str:
    """Return the text with a value set; equal text where it is so already.

    Raises:
        BrokenFile: the text is no TOML.
        EditRefused: the file has a value of another type there.
    """
    fields = parse(text)
    if len(path) > 1:
        field_at(fields, path[:1], list if path[0] == "test_inputs" else dict)
    old = field_at(fields, path, type(value))
    return text if old == value else toml_edit.set_value(text, path, value)


def field_at(fields: Any, path: tuple[str | int, ...], kind: type) -> Any:
    """Return the value at `path`, or None where there is none.

    Raises:
        EditRefused: it has another type.
    """
    value = fields
    for part in path:
        value = value.get(part) if isinstance(part, str) else value[part]
        if value is None:
            return None
    if type(value) is not kind:
        where = ".".join(str(part) for part in path if isinstance(part, str))
        raise EditRefused(f"{where} has the wrong type in the file; mend it by hand first.")
    return value


def require_line(text: str, what: str, limit: int) -> None:
    """Check a text that is to be one line, not blank, of at most `limit` characters.

    Args:
        text: what is to be stored.
        what: names it in the error, as the beginning of a sentence.
        limit: most characters.

    Raises:
        InvalidValue: it is not.
    """
    if not text.strip():
        raise InvalidValue(f"{what} must not be empty.")
    if any(mark in text for mark in "\n\r\0"):
        raise InvalidValue(f"{what} is a single line.")
    if len(text) > limit:
        raise InvalidValue(f"{what} has at most {limit} characters; this one has {len(text)}.")


def line_counts(old: str, new: str) -> str:
    """Return how many lines of a text were added and removed: `+2 -1`; how the file writes it is another matter."""
    added, removed = count(old, new)
    return f"+{added} -{removed}"


def short(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_LENGTH else line[: _SHOWN_LENGTH - 1] + "…"
