"""What undoing or redoing a step of an editor's history would lead to. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from textual.widgets.text_area import Edit, Location


def after_undo(text: str, step: Sequence[Edit]) -> str:
    """Return what a text is once a step that led to it is undone."""
    for edit in reversed(step):
        result = edit._edit_result
        assert result is not None
        text = _replaced(text, edit.top, result.end_location, result.replaced_text)
    return text


def after_redo(text: str, step: Sequence[Edit]) -> str:
    """Return what a text is once a step that was undone is redone."""
    for edit in step:
        text = _replaced(text, edit.top, edit.bottom, edit.text)
    return text


def _replaced(text: str, start: Location, end: Location, by: str) -> str:
    return text[: _index(text, start)] + by + text[_index(text, end) :]


def _index(text: str, location: Location) -> int:
    row, column = location
    index = 0
    for _ in range(row):
        index = text.index("\n", index) + 1
    return index + column
