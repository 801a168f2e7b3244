"""A written value becomes another: arrays and inline tables only where they differ, so that comments stay."""

from __future__ import annotations

from typing import Any

from personas.toml.brackets import insert_entries, remove_entries
from personas.toml.guard import Replacement, same_data
from personas.toml.layout import assignment
from personas.toml.nodes import Array, Document, InlineTable, Node, Scalar
from personas.toml.render import render_value


def change_value(document: Document, node: Node, old: Any, new: Any) -> list[Replacement]:
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
    return [Replacement(node.start, node.end, source)]


def _change_array(document: Document, node: Array, old: list[Any], new: list[Any]) -> list[Replacement]:
    text, newline = document.text, document.newline
    if not (old and new) and "#" not in text[node.start : node.end]:
        return [Replacement(node.start, node.end, render_value(new, newline))]
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
    document: Document, node: InlineTable, old: dict[str, Any], new: dict[str, Any]
) -> list[Replacement] | None:
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
