"""The smallest edit that makes one text of another. Pure."""

from __future__ import annotations

from textual.widgets.text_area import Edit, Location


def _location(text: str, index: int) -> Location:
    row = text.count("\n", 0, index)
    return row, index - (text.rfind("\n", 0, index) + 1)


def smallest_edit(old: str, new: str) -> Edit:
    """Return the one edit that turns `old` into `new`, without what they have in common at both ends."""
    start = _common_length(old, new)
    most = min(len(old), len(new)) - start
    tail = _common_length(old[::-1][:most], new[::-1][:most])
    return Edit(
        new[start : len(new) - tail],
        _location(old, start),
        _location(old, len(old) - tail),
        maintain_selection_offset=True,
    )


def _common_length(first: str, second: str) -> int:
    """Return how many characters both have in common at the start."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
