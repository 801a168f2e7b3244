"""What was typed in a field of one line and is not stored, for its own undo and redo. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from personas.versions.undo import Direction


class FieldPast:
    """What a person took back in one field before it was stored. What is stored is undone with everything else."""

    def __init__(self) -> None:
        self._undone: str | None = None
        self._goal: str | None = None

    def typing(self, raw: str) -> None:
        """The field holds this now: unless a step led there, there is nothing to do again any more."""
        if raw != self._goal:
            self._undone = None

    def step(self, operation: Direction, raw: str, stored: str, *, unsaved: bool) -> str | None:
        """Return what the field is to show after a step back or forth; None where the step is not the field's.

        Args:
            operation: which way.
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
