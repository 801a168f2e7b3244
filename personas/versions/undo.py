"""The undo history of a document: its units, and reversing one in a text. Pure.

A unit is an agent's run, or one editing stretch of a person. Undo and redo reverse its hunks by three-way merge.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from personas.versions.authorship import Note, Version, is_author_kind
from personas.versions.merge import merge3

Direction = Literal["undo", "redo"]

IMPORT = "import:"
"""How the key of a unit begins that makes personas: undone, it takes them away."""

NOTHING = hashlib.sha256(b"").hexdigest()
"""SHA-256 of what a document that is not there holds."""

COUNTS = re.compile(r"\+\d+ -\d+$")
"""The counts at the end of a summary: those of one change."""
_TOGETHER = "many_"


def run_together(message_id: str, persona_id: str) -> str:
    """Return the id of a persona's run where one message began runs of several: all of them are one unit."""
    return f"{_TOGETHER}{message_id}.{persona_id}"


def is_together(run_id: str) -> bool:
    """Whether a run was begun together with those of other personas."""
    return run_id.startswith(_TOGETHER)


def key_of_run(session_id: str | None, run_id: str) -> str:
    """Return the key of the unit that an agent's run is, or is a part of."""
    if is_together(run_id):
        return f"run::{run_id.partition('.')[0]}"
    return key_of_proposal(session_id, run_id)


def key_of_proposal(session_id: str | None, run_id: str) -> str:
    """Return the key of what one run proposes, which is kept or refused by itself."""
    return f"run:{session_id}:{run_id}"


def key_of_version(number: int) -> str:
    """Return the key of a unit that is one version of one document."""
    return f"version:{number}"


def may_span_documents(key: str) -> bool:
    """Whether changes of several documents can have this unit."""
    return not key.startswith("version:")


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a unit: SHA-256 of the text before it and after it."""

    before: str
    after: str


@dataclass(slots=True)
class Unit:
    """What is undone at once.

    Attributes:
        key: names the unit in the document's log.
        kind: the kind of author who made it.
        hops: its steps, oldest first; once it was undone or redone, that one step.
        notes: subject and summary of each of its changes.
        position: its place in time; a run that goes on is as young as its last change.
        undone_at: when it was undone, counted like `position`; 0: it is not.
        superseded: how far something new that was written since it was undone puts it aside: 1: a run that is redone
            only as the agent's, 2: redone only by its key.
    """

    key: str
    kind: str
    hops: list[Hop] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    position: int = 0
    undone_at: int = 0
    superseded: int = 0

    @property
    def run_id(self) -> str | None:
        """The agent's run that made it, if one did."""
        made, _, run = self.key.partition(":")
        return run.partition(":")[2] if made == "run" else None

    @property
    def is_elsewhere(self) -> bool:
        """Whether it changed other documents only, and is noted here so that it is undone from here too."""
        return all(hop.before == hop.after for hop in self.hops)

    def describe(self) -> str:
        """Say in a few words what the unit did."""
        said: dict[str, str] = {}
        for subject, summary in self.notes:
            said[subject] = summary if subject not in said or said[subject] == summary else subject
        parts = list(said.values())
        text = ", ".join(parts[:3]) + (f" and {len(parts) - 3} more" if len(parts) > 3 else "")
        if self.key.startswith(IMPORT):
            return f"the import ({text.removeprefix('imported ')})"
        names = {
            "agent": "the agent's run",
            "user": "your edit",
            "restore": "the restore",
            "external": "the change from outside",
        }
        who = names.get(self.kind, self.kind)
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
        if not is_author_kind(record["kind"]):
            raise ValueError("not a unit")
        return cls(str(record["key"]), record["kind"], hops, notes)


class UndoHistory:
    """The units of one document. Fed with its changes in order, it says what is next to undo and to redo."""

    def __init__(self) -> None:
        self.units: dict[str, Unit] = {}
        self._count = 0

    def add(self, version: Version) -> None:
        """Account for a change that left a text, or took back that the document was made."""
        if version.sha is None and version.role != "undo":
            return
        hop = Hop(version.before, version.sha or NOTHING)
        if version.role in ("undo", "redo"):
            unit = self.units.setdefault(
                version.unit, Unit(version.unit, version.by.kind, notes=[version.note])
            )
            unit.hops, unit.superseded = [hop], 0
            unit.undone_at = self._next() if version.role == "undo" else 0
            unit.position = unit.position or self._next()
        else:
            if version.by.kind != "external":
                self._end_redo(version.by.kind)
            self._add_hop(version, hop)

    def _end_redo(self, kind: str) -> None:
        """Something new was written: what was undone before is not redone by itself any more.

        The agent's last runs can still be redone as such, until the agent changes something again.
        """
        for unit in self.units.values():
            if unit.undone_at:
                unit.superseded = max(unit.superseded, 1 if unit.kind == "agent" != kind else 2)

    def _add_hop(self, version: Version, hop: Hop) -> None:
        unit = self.units.get(version.unit)
        if unit is None or unit.undone_at:
            unit = self.units[version.unit] = Unit(version.unit, version.by.kind)
        unit.position = self._next()
        if unit.hops and unit.hops[-1].after == hop.before:
            unit.hops[-1] = Hop(unit.hops[-1].before, hop.after)  # directly on top of its last step: one step
        else:
            unit.hops.append(hop)
        note = version.note
        if note in unit.notes and COUNTS.search(note[1]):
            note = note[0], note[0]  # the counts of one change are not those of the unit
        if note not in unit.notes:
            unit.notes.append(note)

    def candidates(self, direction: Direction, only: str | None = None) -> list[Unit]:
        """Return what can be undone or redone, the next one first.

        Args:
            direction: which way.
            only: units of that kind of author, or the one with that key. Without it changes from outside are left out.
        """
        if direction == "undo":
            units = [unit for unit in self.units.values() if not unit.undone_at]
            units.sort(key=lambda unit: -unit.position)
        else:
            units = [unit for unit in self.units.values() if unit.undone_at]
            units.sort(key=lambda unit: -unit.undone_at)
        if only is None:
            return [
                unit for unit in units if not unit.superseded and (unit.undone_at or unit.kind != "external")
            ]
        return [unit for unit in units if only == unit.key or (only == unit.kind and unit.superseded < 2)]

    def drop(self, key: str) -> None:
        """Forget a unit that has no effect any more, or whose texts are lost."""
        self.units.pop(key, None)

    def keep_newest(self, count: int) -> None:
        """Forget all but the newest units that can be undone, and those that can be redone."""
        for unit in self.candidates("undo")[count:]:
            del self.units[unit.key]
        outside = [unit.key for unit in self.units.values() if unit.kind == "external" and not unit.undone_at]
        superseded = [unit.key for unit in self.units.values() if unit.superseded == 2]
        for key in [*outside[:-count], *superseded]:
            del self.units[key]

    def shas(self) -> set[str]:
        """Return the hashes of all texts that undoing and redoing may need."""
        return {sha for unit in self.units.values() for hop in unit.hops for sha in (hop.before, hop.after)}

    def _next(self) -> int:
        self._count += 1
        return self._count

    def to_record(self) -> dict[str, Any]:
        """Return the JSON-ready form that `take_record` reads: each list with the next one last."""
        undone = self.candidates("redo")
        lists = {
            "undo": sorted((unit for unit in self.units.values() if not unit.undone_at), key=_position),
            "redo": undone[::-1],
            "aside": [unit for unit in self.units.values() if unit.superseded == 1],
        }
        return {name: [unit.to_record() for unit in units] for name, units in lists.items()}

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
            unit.position = self._next()
        for unit in [*aside, *redo]:
            unit.undone_at = self._next()
        for unit in aside:
            unit.superseded = 1
        self.units = {unit.key: unit for unit in [*aside, *redo, *undo]}


def _position(unit: Unit) -> int:
    return unit.position


class HunksConflict(Exception):
    """What was written since is in the same place as a step, which led from `before` to `after`."""

    def __init__(self, before: str, after: str) -> None:
        self.before = before
        self.after = after


def reverse(hops: list[Hop], now: str, load: Callable[[str], str]) -> str:
    """Take a unit's steps out of the text as it is now, keeping everything else.

    Args:
        hops: the steps, oldest first.
        now: the text.
        load: gives the text of a SHA-256; its errors pass through.

    Raises:
        HunksConflict: that cannot be done.
    """
    for hop in reversed(hops):
        before, after = load(hop.before), load(hop.after)
        merged = merge3(after, before, now).text
        if merged is None:
            raise HunksConflict(before, after)
        now = merged
    return now
