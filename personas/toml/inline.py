"""Changes inside arrays and inline tables: only where they differ, in the style around them, so that comments stay."""

from __future__ import annotations

import re
from typing import Any

from personas.toml.guard import Splice, same_data
from personas.toml.layout import assignment, comments_above, starts_line
from personas.toml.nodes import Array, InlineTable, Node, Scalar, ScannedText
from personas.toml.render import render_value

_REST_OF_LINE = re.compile(r"[ \t]*+(?:#[^\r\n]*+)?(?=\r?\n)")


def change_value(document: ScannedText, node: Node, old: Any, new: Any) -> list[Splice]:
    """Replace a value: arrays and inline tables where they differ, all else whole."""
    if same_data(old, new):
        return []
    if isinstance(node, Array) and isinstance(new, list):
        return _change_array(document, node, old, new)
    if isinstance(node, InlineTable) and isinstance(new, dict):
        changes = _change_inline_table(document, node, old, new)
        if changes is not None:
            return changes
    assert isinstance(node, Scalar)
    source = render_value(new, document.newline, document.text[node.start : node.end])
    return [Splice(node.start, node.end, source)]


def _change_array(document: ScannedText, node: Array, old: list[Any], new: list[Any]) -> list[Splice]:
    text, newline = document.text, document.newline
    if not (old and new) and "#" not in text[node.start : node.end]:
        return [Splice(node.start, node.end, render_value(new, newline))]
    head, limit = 0, min(len(old), len(new))
    while head < limit and same_data(old[head], new[head]):
        head += 1
    tail = 0
    while tail < limit - head and same_data(old[-1 - tail], new[-1 - tail]):
        tail += 1
    shared = limit - tail
    changes = []
    for i in range(head, shared):
        changes += change_value(document, node.entries[i].value, old[i], new[i])
    if len(new) > len(old):
        sources = [render_value(item, newline) for item in new[shared : len(new) - tail]]
        changes += insert_entries(text, node, shared, sources, newline)
    elif len(old) > len(new):
        changes += remove_entries(text, node, shared, len(old) - tail, with_comments=False)
    return changes


def _change_inline_table(
    document: ScannedText, node: InlineTable, old: dict[str, Any], new: dict[str, Any]
) -> list[Splice] | None:
    """Return the changes key by key, or None where writing the table anew is the simpler way."""
    gone, added = old.keys() - new.keys(), [key for key in new if key not in old]
    changed = [key for key in old if key in new and not same_data(old[key], new[key])]
    children = [node.children[key] for key in (*gone, *changed)]
    if len(gone) + bool(added) > 1 or not all(isinstance(child, Scalar) for child in children):
        return None
    changes = []
    for key in changed:
        changes += change_value(document, node.children[key], old[key], new[key])
    for key in gone:
        index = next(i for i, entry in enumerate(node.entries) if entry.value is node.children[key])
        changes += remove_entries(document.text, node, index, index + 1, with_comments=False)
    if added:
        sources = [assignment(document, (key,), new[key]) for key in added]
        changes += insert_entries(document.text, node, len(node.entries), sources, document.newline)
    return changes


def insert_entries(
    text: str, container: Array | InlineTable, index: int, sources: list[str], newline: str
) -> list[Splice]:
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
            return [Splice(before.start, before.start, "".join(f"{source}, " for source in sources))]
        at = container.start + 1
        at = _rest_of_line(text, at) or at
        return [Splice(at, at, "".join(f"{newline}{indent}{source}," for source in sources))]
    if before.comma is None:
        at, first = before.end, ","
    else:
        at, first = before.comma + 1, ""
    line_rest = None if indent is None else _rest_of_line(text, at)
    if line_rest is None:
        joined = ", ".join(sources)
        return [Splice(at, at, f"{first} {joined}" + ("" if first else ","))]
    lines = ",".join(f"{newline}{indent}{source}" for source in sources) + ("" if first else ",")
    changes = [Splice(line_rest, line_rest, lines)]
    return [Splice(at, at, first), *changes] if first else changes


def remove_entries(
    text: str, container: Array | InlineTable, first: int, stop: int, *, with_comments: bool
) -> list[Splice]:
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
                changes.append(Splice(before.comma, before.comma + 1, ""))
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
    return [*changes, Splice(start, end, "")]


def move_entry(text: str, array: Array, index: int, new_index: int, *, with_comments: bool) -> list[Splice]:
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
                changes.append(Splice(start, end, moved))
    return changes


def reordered(count: int, index: int, new_index: int) -> list[int]:
    """Return which old index stands at each place once `index` has moved to `new_index`."""
    order = [i for i in range(count) if i != index]
    order.insert(new_index, index)
    return order


def _fill_empty(text: str, container: Array | InlineTable, sources: list[str], newline: str) -> Splice:
    start, end = container.start + 1, container.end - 1
    if isinstance(container, InlineTable):
        return Splice(start, start if text[start:end].strip() else end, f" {', '.join(sources)} ")
    if "\n" not in text[start:end]:
        return Splice(start, end, ", ".join(sources))
    line = text[text.rfind("\n", 0, start) + 1 : start]
    indent = line[: len(line) - len(line.lstrip(" \t"))] + "    "
    return Splice(start, start, "".join(f"{newline}{indent}{source}," for source in sources))


def _indent_alone(text: str, offset: int) -> str | None:
    """Return the blanks before an offset if nothing else stands before it on its line, else None."""
    start = offset
    while start and text[start - 1] in " \t":
        start -= 1
    return text[start:offset] if starts_line(text, start) else None


def _rest_of_line(text: str, offset: int) -> int | None:
    """Return where the line ends if only blanks and a comment follow, else None."""
    found = _REST_OF_LINE.match(text, offset)
    return found.end() if found else None
