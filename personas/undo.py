"""The undo cursor: which units can be undone or redone, and what undoing one makes of a text. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from personas.authorship import KINDS, AuthorKind
from personas.merge import merge3


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a unit: SHA-256 of the text before it and after it."""

    before: str
    after: str


@dataclass(slots=True)
class Unit:
    """What is undone at once: an agent's run, or a stretch of the person's editing.

    Attributes:
        key: names the unit among those that can be undone.
        kind: who made it.
        hops: its steps, oldest first.
        notes: subject and summary of each of its changes.
    """

    key: str
    kind: AuthorKind
    hops: list[Hop] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)

    def describe(self) -> str:
        """Say in a few words what the unit did."""
        said: dict[str, str] = {}
        for subject, summary in self.notes:
            said[subject] = summary if subject not in said or said[subject] == summary else subject
        parts = list(said.values())
        text = ", ".join(parts[:3]) + (f" and {len(parts) - 3} more" if len(parts) > 3 else "")
        who = {"agent": "the agent's run", "user": "your edit", "restore": "the restore"}.get(
            self.kind, self.kind
        )
        return f"{who} ({text})" if text else who

    def to_record(self) -> dict[str, Any]:
        """Return the JSON-ready form that `Unit.from_record` reads."""
        return {
            "key": self.key,
            "kind": self.kind,
            "hops": [[hop.before, hop.after] for hop in self.hops],
            "notes": [list(note) for note in self.notes],
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Unit:
        """Read a unit back.

        Raises:
            KeyError, TypeError, ValueError: the record is none of ours.
        """
        hops = [Hop(str(before), str(after)) for before, after in record["hops"]]
        notes = [(str(subject), str(summary)) for subject, summary in record["notes"]]
        if record["kind"] not in KINDS:
            raise ValueError("not a unit")
        return cls(str(record["key"]), record["kind"], hops, notes)


class Cursor:
    """Two stacks of units. Fed with what happened, in order, it says what is next to undo and to redo."""

    def __init__(self) -> None:
        self.undo: dict[str, Unit] = {}  # by key, the next one last
        self.redo: dict[str, Unit] = {}

    def changed(self, key: str, kind: AuthorKind, hop: Hop, note: tuple[str, str]) -> None:
        """A change happened: it joins its unit, which becomes the next to undo; nothing is left to redo."""
        self.redo.clear()
        unit = self.undo.pop(key, None) or Unit(key, kind)
        if unit.hops and unit.hops[-1].after == hop.before:
            unit.hops[-1] = Hop(unit.hops[-1].before, hop.after)  # directly on top of its last step: one step
        else:
            unit.hops.append(hop)
        if note not in unit.notes:
            unit.notes.append(note)
        self.undo[key] = unit

    def shas(self) -> set[str]:
        """Return the hashes of all texts that undoing and redoing may need."""
        return {
            sha
            for unit in (*self.undo.values(), *self.redo.values())
            for hop in unit.hops
            for sha in (hop.before, hop.after)
        }

    def undone(self, key: str, hop: Hop | None) -> None:
        """A unit was undone by the step `hop`; None: it had no effect any more."""
        _move(self.undo, self.redo, key, hop)

    def redone(self, key: str, hop: Hop | None) -> None:
        """A unit was done again by the step `hop`; None: its effect was there already."""
        _move(self.redo, self.undo, key, hop)


def _move(source: dict[str, Unit], target: dict[str, Unit], key: str, hop: Hop | None) -> None:
    unit = source.pop(key, None)
    if unit is not None and hop is not None:
        unit.hops = [hop]
        target[key] = unit


@dataclass(frozen=True, slots=True)
class Reversal:
    """What reversing a unit makes of a text: the text, or None where what was written since meets it.

    Then `before` and `after` are the texts of the step that could not be reversed.
    """

    text: str | None
    before: str = ""
    after: str = ""


def reverse(unit: Unit, now: str, load: Callable[[str], str]) -> Reversal:
    """Take a unit's steps out of the text as it is now, keeping everything else.

    Args:
        unit: what to reverse.
        now: the text.
        load: gives the text of a SHA-256; its errors pass through.
    """
    for hop in reversed(unit.hops):
        before, after = load(hop.before), load(hop.after)
        merged = merge3(after, before, now).text
        if merged is None:
            return Reversal(None, before, after)
        now = merged
    return Reversal(now)
