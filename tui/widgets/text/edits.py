"""What edits of a text area do to a text: the smallest edit between two texts, and the text after undo and redo."""

from __future__ import annotations

from collections.abc import Sequence

from textual.widgets.text_area import Edit, Location

from personas.lines import common_length
from tui.terminal.textual_compat.edit_history import result_of


def smallest_edit(old: str, new: str) -> Edit:
    """Return the one edit that turns `old` into `new`, without what they have in common at both ends."""
    start = common_length(old, new)
    most = min(len(old), len(new)) - start
    tail = common_length(old[::-1][:most], new[::-1][:most])
    return Edit(
        new[start : len(new) - tail],
        location_at(old, start),
        location_at(old, len(old) - tail),
        maintain_selection_offset=True,
    )


def after_undo(text: str, batch: Sequence[Edit]) -> str:
    """Return the text once a batch of edits that led to it is undone."""
    for edit in reversed(batch):
        result = result_of(edit)
        text = _replaced(text, edit.top, result.end_location, result.replaced_text)
    return text


def after_redo(text: str, batch: Sequence[Edit]) -> str:
    """Return the text once a batch of edits that was undone is redone."""
    for edit in batch:
        text = _replaced(text, edit.top, edit.bottom, edit.text)
    return text


def _replaced(text: str, start: Location, end: Location, by: str) -> str:
    return text[: index_of(text, start)] + by + text[index_of(text, end) :]


def location_at(text: str, index: int) -> Location:
    """Return line and column of a place in a text."""
    row = text.count("\n", 0, index)
    return row, index - (text.rfind("\n", 0, index) + 1)


def index_of(text: str, location: Location) -> int:
    """Return the place in a text that is at a line and column."""
    row, column = location
    index = 0
    for _ in range(row):
        index = text.index("\n", index) + 1
    return index + column
