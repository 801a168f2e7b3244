"""Steps of undo of a text area, which Textual 8.2.8 makes and takes, but neither joins nor removes one by one."""

from __future__ import annotations

from textual.widgets.text_area import Edit, EditHistory, EditResult


def join_last_two(history: EditHistory) -> None:
    """Make one step of undo of the last two."""
    last = history._undo_stack.pop()
    history._undo_stack[-1].extend(last)


def drop_redo(history: EditHistory) -> None:
    """Forget the step that would be redone next."""
    history._redo_stack.pop()


def result_of(edit: Edit) -> EditResult:
    """Return what an edit that was done did; that it is undone by is private."""
    assert edit._edit_result is not None
    return edit._edit_result
