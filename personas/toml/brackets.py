"""Changes inside `[…]` and `{…}`: elements put in, taken out and moved, in the style around them."""

from __future__ import annotations

import re

from personas.toml.guard import Replacement
from personas.toml.nodes import Array, InlineTable

_REST_OF_LINE = re.compile(r"[ \t]*+(?:#[^\r\n]*+)?(?=\r?\n)")


def insert_entries(
    text: str, container: Array | InlineTable, index: int, sources: list[str], newline: str
) -> list[Replacement]:
    """Put elements before the entry at `index`; `len(entries)` appends.

    Args:
        sources: each element as TOML source, `key = value` for an inline table.
        newline: the line ending of the file, for arrays with one element a line.
    """
    entries = container.entries
    if not entries:
        return [_fill_empty(text, container, sources, newline)]
    before = entries[max(index - 1, 0)]
    indent = _indent_alone(text, before.start)
    if index == 0:
        if indent is None:
            return [Replacement(before.start, before.start, "".join(f"{source}, " for source in sources))]
        at = container.start + 1
        at = _rest_of_line(text, at) or at
        return [Replacement(at, at, "".join(f"{newline}{indent}{source}," for source in sources))]
    if before.comma is None:
        at, first = before.end, ","
    else:
        at, first = before.comma + 1, ""
    line_rest = None if indent is None else _rest_of_line(text, at)
    if line_rest is None:
        joined = ", ".join(sources)
        return [Replacement(at, at, f"{first} {joined}" + ("" if first else ","))]
    lines = ",".join(f"{newline}{indent}{source}" for source in sources) + ("" if first else ",")
    changes = [Replacement(line_rest, line_rest, lines)]
    return [Replacement(at, at, first), *changes] if first else changes


def remove_entries(
    text: str, container: Array | InlineTable, first: int, stop: int, *, with_comments: bool
) -> list[Replacement]:
    """Take out the entries from `first` up to, without, `stop`.

    Args:
        with_comments: whether comment lines directly above the first go too (those on its line always do).
    """
    entries = container.entries
    start, last = entries[first].start, entries[stop - 1]
    end = last.end if last.comma is None else last.comma + 1
    changes = []
    floor = container.start + 1
    if first:
        before = entries[first - 1]
        floor = before.end
        if before.comma is not None:
            floor = before.comma + 1
            if last.comma is None:
                changes.append(Replacement(before.comma, before.comma + 1, ""))
    line_rest = _rest_of_line(text, end)
    indent = _indent_alone(text, start)
    if line_rest is not None and indent is not None:
        start -= len(indent)
        if with_comments:
            start = comments_above(text, start, floor)
        end = text.index("\n", line_rest) + 1
    elif stop < len(entries):
        while text.startswith((" ", "\t"), end):
            end += 1
    else:
        start = floor + len(text[floor:start].rstrip(" \t"))
    return [*changes, Replacement(start, end, "")]


def move_entry(
    text: str, array: Array, index: int, new_index: int, *, with_comments: bool
) -> list[Replacement]:
    """Move an element among the others; commas and line breaks stay where they are.

    Args:
        with_comments: whether the comments above an element and behind it on its line move along.
    """
    order = reordered(len(array.entries), index, new_index)
    slots, notes = [], []
    floor = array.start + 1
    for entry in array.entries:
        behind = entry.end if entry.comma is None else entry.comma + 1
        start, note_end = entry.start, behind
        if with_comments:
            indent = _indent_alone(text, start)
            if indent is not None:
                line_start = start - len(indent)
                above = comments_above(text, line_start, floor)
                if above < line_start:  # from the first comment's mark on
                    start = text.index("#", above)
            note_end = _rest_of_line(text, behind) or behind
        slots.append((start, entry.end))
        notes.append((behind, note_end))
        floor = behind
    changes = []
    for places in (slots, notes):
        for (start, end), source in zip(places, order, strict=True):
            moved = text[slice(*places[source])]
            if moved != text[start:end]:
                changes.append(Replacement(start, end, moved))
    return changes


def reordered(count: int, index: int, new_index: int) -> list[int]:
    """Return which old index stands at each place once `index` has moved to `new_index`."""
    order = [i for i in range(count) if i != index]
    order.insert(new_index, index)
    return order


def comments_above(text: str, line_start: int, floor: int) -> int:
    """Return where the comment lines directly above a line start, going no further up than `floor`."""
    while line_start > floor:
        above = text.rfind("\n", floor, line_start - 1) + 1
        above = above or floor
        if not text[above:line_start].lstrip(" \t").startswith("#") or not _starts_line(text, above):
            break
        line_start = above
    return line_start


def _starts_line(text: str, offset: int) -> bool:
    return offset == 0 or text[offset - 1] in "\n\ufeff"


def _fill_empty(text: str, container: Array | InlineTable, sources: list[str], newline: str) -> Replacement:
    start, end = container.start + 1, container.end - 1
    if isinstance(container, InlineTable):
        return Replacement(start, start if text[start:end].strip() else end, f" {', '.join(sources)} ")
    if "\n" not in text[start:end]:
        return Replacement(start, end, ", ".join(sources))
    line = text[text.rfind("\n", 0, start) + 1 : start]
    indent = line[: len(line) - len(line.lstrip(" \t"))] + "    "
    return Replacement(start, start, "".join(f"{newline}{indent}{source}," for source in sources))


def _indent_alone(text: str, offset: int) -> str | None:
    """Return the blanks before an offset if nothing else stands before it on its line, else None."""
    start = offset
    while start and text[start - 1] in " \t":
        start -= 1
    return text[start:offset] if _starts_line(text, start) else None


def _rest_of_line(text: str, offset: int) -> int | None:
    """Return where the line ends if only blanks and a comment follow, else None."""
    found = _REST_OF_LINE.match(text, offset)
    return found.end() if found else None
