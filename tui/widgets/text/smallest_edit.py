"""The smallest edit that makes one text of another. Pure."""

from __future__ import annotations

from textual.widgets.text_area import Edit, Location

from personas.lines import common_length


def _location(text: str, index: int) -> Location:
    row = text.count("\n", 0, index)
    return row, index - (text.rfind("\n", 0, index) + 1)


def smallest_edit(old: str, new: str) -> Edit:
    """Return the one edit that turns `old` into `new`, without what they have in common at both ends."""
    start = common_length(old, new)
    most = min(len(old), len(new)) - start
    tail = common_length(old[::-1][:most], new[::-1][:most])
    return Edit(
        new[start : len(new) - tail],
        _location(old, start),
        _location(old, len(old) - tail),
        maintain_selection_offset=True,
    )
