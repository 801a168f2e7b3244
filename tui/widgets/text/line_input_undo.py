"""Undo and redo of what was typed in a one-line field and is not stored yet. No widget."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from personas.versions.undo import Direction


class LineInputUndo:
    """The undo of one field back to what is stored, and its redo. Stored text is undone by its version."""

    def __init__(self) -> None:
        self._undone: str | None = None
        self._goal: str | None = None

    def typing(self, raw: str) -> None:
        """The field holds this now: unless undo or redo led there, nothing is left to redo."""
        if raw != self._goal:
            self._undone = None

    def step(self, operation: Direction, raw: str, stored: str, *, unsaved: bool) -> str | None:
        """Return what the field is to show after undo or redo; None where the field has nothing to undo or redo.

        Args:
            operation: undo or redo.
            raw: what the field holds.
            stored: what is stored.
            unsaved: whether the two differ.
        """
        if operation == "undo" and unsaved:
            self._undone, self._goal = raw, stored
            return stored
        if operation == "redo" and self._undone is not None:
            self._goal, self._undone = self._undone, None
            return self._goal
        return None
