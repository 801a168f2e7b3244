"""What is kept of a file as the table `[x.FORMAT]`: made fit for TOML, without keys, passwords and accounts. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, time
from math import isfinite
from typing import Any

from personas.fields import NUMBER_LIMIT
from personas.formats.secrets import is_secret, is_secret_flag, sets_secret, without_logins
from personas.formats.text import plain_text
from personas.formats.types import Note

DEEPEST = 60
_NOTHING = object()
_BARE = re.compile(r"[^\s.]+")


def toml_ready(table: Mapping[str, Any], where: str, source: str = "") -> tuple[dict[str, Any], list[Note]]:
    """Return a table as TOML can hold it, and a note for each key at its top, and for each value that was left out.

    Args:
        table: plain data, such as JSON or YAML gives it.
        where: the table that it becomes, such as `x.card`.
        source: the path of the table in the source, empty for its top.
    """
    found: dict[str, Any] = {}
    notes: list[Note] = []
    for key, value in table.items():
        name, path = plain_text(str(key)), _joined(source, str(key))
        left_out: list[Note] = []
        kept = _ready(name, value, path, 1, left_out)
        if kept is not _NOTHING:
            found[name] = kept
            notes.append(Note(path, _joined(where, name)))
        notes += left_out
    return found, notes


def _ready(key: str, value: Any, path: str, depth: int, notes: list[Note]) -> Any:
    if value is None:
        return _left_out(path, "it says nothing (null)", notes)
    if depth > DEEPEST:
        return _left_out(path, f"it nests deeper than {DEEPEST} levels", notes)
    if why := is_secret(key, value):
        return _left_out(path, why, notes)
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if sets_secret(value):
            return _left_out(path, "it gives a key or a password", notes)
        if (bare := without_logins(value)) != value:
            notes.append(Note(path, None, "who logs in, in its URL; the rest is kept"))
        return plain_text(bare)
    if isinstance(value, int):
        return value if -NUMBER_LIMIT <= value < NUMBER_LIMIT else str(value)
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, date | time):
        return value
    if isinstance(value, Mapping):
        found = {}
        named = value.get("name", value.get("key"))
        for name, one in value.items():
            name = plain_text(str(name))
            if name == "value" and isinstance(named, str) and (why := is_secret(named, one)):
                _left_out(_joined(path, name), why, notes)
                continue
            kept = _ready(name, one, _joined(path, name), depth + 1, notes)
            if kept is not _NOTHING:
                found[name] = kept
        return found
    if isinstance(value, list | tuple):
        items = [
            _left_out(_joined(path, str(at)), "it is a key or a password", notes)
            if at and isinstance(one, str) and is_secret_flag(value[at - 1])
            else _ready(key, one, _joined(path, str(at)), depth + 1, notes)
            for at, one in enumerate(value)
        ]
        return [one for one in items if one is not _NOTHING]
    return _left_out(path, f"{type(value).__name__} is nothing that TOML can hold", notes)


def _left_out(path: str, why: str, notes: list[Note]) -> object:
    notes.append(Note(path, None, why))
    return _NOTHING


def _joined(path: str, key: str) -> str:
    name = key if _BARE.fullmatch(key) else repr(key)
    return f"{path}.{name}" if path else name
