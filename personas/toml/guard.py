"""Checks every edit: the new text holds the old data with the one change, and differs nowhere else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from personas.errors import BrokenFile, EditRefused
from personas.toml.nodes import KeyPath
from personas.toml.parse import parse


@dataclass(frozen=True, slots=True)
class Splice:
    """Characters `start` to `end` of the old text become `text`."""

    start: int
    end: int
    text: str


def apply(text: str, replacements: Iterable[Splice]) -> str:
    """Return the text with all replacements made; they must not overlap."""
    pieces: list[str] = []
    pos = 0
    for change in sorted(replacements, key=lambda change: (change.start, change.end)):
        pieces += (text[pos : change.start], change.text)
        pos = change.end
    return "".join([*pieces, text[pos:]])


def check(old_text: str, new_text: str, expected: Sequence[Any], replacements: Iterable[Splice]) -> None:
    """Accept an edited text, or raise.

    Args:
        old_text: the text before.
        new_text: the text after.
        expected: the data it may hold, one or more alternatives.
        replacements: the declared spans of the old text, and what they became.

    Raises:
        EditRefused: a character outside the spans differs, or the data is none of the expected.
    """
    old_pos = new_pos = 0
    for change in sorted(replacements, key=lambda change: (change.start, change.end)):
        kept = change.start - old_pos
        if kept < 0 or old_text[old_pos : change.start] != new_text[new_pos : new_pos + kept]:
            raise _refusal()
        old_pos, new_pos = change.end, new_pos + kept + len(change.text)
    if old_text[old_pos:] != new_text[new_pos:]:
        raise _refusal()
    try:
        data = parse(new_text)
    except BrokenFile as error:
        raise _refusal() from error
    if not any(same_data(data, one) for one in expected):
        raise _refusal()


def _refusal() -> EditRefused:
    return EditRefused("The change could not be made without touching something else; the file is as it was.")


def same_data(one: Any, other: Any) -> bool:
    """Whether two values are the same TOML: types count (1 is not 1.0 or true), NaN equals NaN."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return bool(one.keys() == other.keys()) and all(same_data(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same_data, one, other))
    if isinstance(one, float):
        if math.isnan(one):
            return math.isnan(other)
        return bool(one == other) and math.copysign(1, one) == math.copysign(1, other)
    if isinstance(one, datetime):
        return bool(one.isoformat() == other.isoformat())
    return bool(one == other)


def with_value(data: Any, path: KeyPath, value: Any) -> Any:
    """Return a copy of data with one value set; missing tables are made, arrays are not extended."""
    if not path:
        return value
    part, rest = path[0], path[1:]
    if isinstance(part, int):
        return [with_value(item, rest, value) if i == part else item for i, item in enumerate(data)]
    return {**data, part: with_value(data.get(part, {}), rest, value)}


def without_value(data: Any, path: KeyPath) -> list[Any]:
    """Return what data may look like without the value at a path.

    The first alternative leaves all around it; the others let go of tables and arrays that became empty, since
    some ways of writing TOML cannot hold an empty one.
    """
    part, rest = path[0], path[1:]
    if not rest:
        if isinstance(part, int):
            return [[item for i, item in enumerate(data) if i != part]]
        return [{key: item for key, item in data.items() if key != part}]
    results: list[Any] = []
    for inner in without_value(data[part], rest):
        if isinstance(part, int):
            results.append([inner if i == part else item for i, item in enumerate(data)])
        else:
            results.append({**data, part: inner})
            if not inner:
                results.append({key: item for key, item in data.items() if key != part})
    return results
