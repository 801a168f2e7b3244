"""The undo cursor: which units can be undone or redone, and what undoing one makes of a text. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from personas.versions.authorship import KINDS, AuthorKind
from personas.versions.merge import merge3

Retrace = Literal["undo", "redo"]
"""What a step of the person's own did with what was typed: took it back, or did it again."""

Note = tuple[str, str]
"""Subject and summary of a change."""

_COUNTS = re.compile(r"\+\d+ -\d+$")


def key_of_run(session_id: str | None, run_id: str) -> str:
    """Return the key of the unit that is an agent's run."""
    return f"run:{session_id}:{run_id}"


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
        order: its place in time among the others; a run that goes on is as young as its last change.
        typed: whether it is a stretch of typing.
    """

    key: str
    kind: AuthorKind
    hops: list[Hop] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    order: int = 0
    typed: bool = False

    @property
    def run_id(self) -> str | None:
        """The agent's run that made it, if one did."""
        made, _, run = self.key.partition(":")
        return run.partition(":")[2] if made == "run" else None

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
            **({"typed": True} if self.typed else {}),
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
        return cls(str(record["key"]), record["kind"], hops, notes, typed=record.get("typed") is True)


class Cursor:
    """Two stacks of units. Fed with what happened, in order, it says what is next to undo and to redo.

    An undo always gives something to redo and a redo something to undo, also where it was not of a whole unit.
    """

    def __init__(self) -> None:
        self.undo: dict[str, Unit] = {}  # by key, the youngest and next one last
        self.redo: dict[str, Unit] = {}  # by key, the next one last
        self.aside: dict[str, Unit] = {}  # runs that were undone before something new was written
        self._count = 0

    def changed(self, key: str, kind: AuthorKind, hop: Hop, note: Note, *, typed: bool = False) -> None:
        """A change happened: it joins its unit, which becomes the next to undo; nothing is left to redo.

        A run that was undone can still be asked for by itself, until the agent changes something again.
        """
        self.aside.update((unit.key, unit) for unit in self.redo.values() if unit.kind == "agent")
        if kind == "agent":
            self.aside.clear()
        self.redo.clear()
        unit = self.undo.pop(key, None) or Unit(key, kind, typed=typed and kind == "user")
        unit.order = self._next_place()
        if unit.hops and unit.hops[-1].after == hop.before:
            unit.hops[-1] = Hop(unit.hops[-1].before, hop.after)  # directly on top of its last step: one step
        else:
            unit.hops.append(hop)
        if note in unit.notes and _COUNTS.search(note[1]):
            note = note[0], note[0]  # twice as many lines, or the same ones twice: none of the counts is true
        if note not in unit.notes:
            unit.notes.append(note)
        self.undo[key] = unit

    def candidates(self, direction: Retrace, only: str | None = None) -> list[Unit]:
        """Return what can be undone or redone, the next one first; `only` of that kind, or under that key, if given."""
        stack = self.undo if direction == "undo" else self.redo
        units = list(reversed(stack.values()))
        if only == "agent" and direction == "redo":
            units += reversed(self.aside.values())
        return [unit for unit in units if only is None or only in (unit.kind, unit.key)]

    def joined(self, retrace: Retrace, now: str) -> str:
        """Return the key under which a step back or forth of the person's own goes on from the text `now` (SHA-256).

        Empty where no unit ends there.
        """
        source, target = (self.undo, self.redo) if retrace == "undo" else (self.redo, self.undo)
        for stack in (source, target):
            unit = next((unit for unit in reversed(stack.values()) if unit.kind == "user"), None)
            if unit is not None and len(unit.hops) == 1 and unit.hops[0].after == now:
                return unit.key if stack is source or unit.key not in source else ""
        return ""

    def shas(self) -> set[str]:
        """Return the hashes of all texts that undoing and redoing may need."""
        return {
            sha
            for unit in (*self.undo.values(), *self.redo.values(), *self.aside.values())
            for hop in unit.hops
            for sha in (hop.before, hop.after)
        }

    def undone(self, key: str, hop: Hop | None, kind: AuthorKind = "user", note: Note = ("", "")) -> None:
        """A unit was undone by the step `hop`; None: it had no effect any more. `kind`, `note`: of the step."""
        self._move(self.undo, self.redo, key, hop, kind, note)

    def redone(self, key: str, hop: Hop | None, kind: AuthorKind = "user", note: Note = ("", "")) -> None:
        """A unit was done again by the step `hop`; None: its effect was there already. `kind`, `note`: of the step."""
        source = self.redo if key in self.redo or key not in self.aside else self.aside
        self._move(source, self.undo, key, hop, kind, note)
        places = [unit.order for unit in self.undo.values()]
        if places != sorted(places):  # a run that was undone from under what is younger goes back there
            self.undo = {unit.key: unit for unit in sorted(self.undo.values(), key=lambda unit: unit.order)}

    def _move(
        self,
        source: dict[str, Unit],
        target: dict[str, Unit],
        key: str,
        hop: Hop | None,
        kind: AuthorKind,
        note: Note,
    ) -> None:
        unit = source.pop(key, None)
        if hop is None:
            return
        if unit is not None and _is_part(unit, hop):  # the rest stays where it was
            begin, notes = unit.hops[0].before, [*unit.notes]
            below = next(reversed(source.values()), None)
            if below is not None and below.typed and unit.typed and below.hops[-1].after == begin:
                del source[
                    below.key
                ]  # a stretch may have begun in the middle of the part: then both are the rest
                begin, notes = below.hops[0].before, [*below.notes, *notes]
            if begin != hop.after:
                source[key] = Unit(key, unit.kind, [Hop(begin, hop.after)], notes, unit.order, unit.typed)
        moved = target.pop(key, None)
        if moved is not None and len(moved.hops) == 1 and moved.hops[0].after == hop.before:
            hop = Hop(moved.hops[0].before, hop.after)
        unit = unit or moved or Unit(key, kind, notes=[note], order=self._next_place())
        target[key] = Unit(key, unit.kind, [hop], unit.notes, unit.order, unit.typed)

    def _next_place(self) -> int:
        self._count += 1
        return self._count

    def to_record(self) -> dict[str, Any]:
        """Return the JSON-ready form that `take_record` reads."""
        stacks = {"undo": self.undo, "redo": self.redo, **({"aside": self.aside} if self.aside else {})}
        return {name: [unit.to_record() for unit in stack.values()] for name, stack in stacks.items()}

    def take_record(self, record: dict[str, Any]) -> None:
        """Go on from what was recorded.

        Raises:
            KeyError, TypeError, ValueError: the record is none of ours; nothing is changed.
        """
        undo, redo, aside = (
            [Unit.from_record(unit) for unit in units]
            for units in (record["undo"], record["redo"], record.get("aside", []))
        )
        for unit in [*aside, *undo, *reversed(redo)]:
            unit.order = self._next_place()
        self.undo, self.redo, self.aside = ({u.key: u for u in units} for units in (undo, redo, aside))


def _is_part(unit: Unit, hop: Hop) -> bool:
    """Whether a step begins where the unit ends and does not go all the way to where it began."""
    return len(unit.hops) == 1 and unit.hops[0].after == hop.before and unit.hops[0].before != hop.after


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
