"""What a persona's journal amounts to: its recorded changes, versions, and what can be undone. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from personas.versions.authorship import KINDS, Author, Version
from personas.versions.undo import Cursor, Hop

Role = Literal["change", "undo", "redo", "external", "snapshot", "delete"]

SHA = re.compile(r"[0-9a-f]{64}\Z")
"""A SHA-256 in hex."""
_STRETCH = 600  # seconds in which one person's autosaves are one version
_RECORDS_LIMIT = 1000  # a longer journal is thinned out


@dataclass(frozen=True, slots=True)
class Entry:
    """One recorded change.

    Attributes:
        version: the version that holds the text before it; joined autosaves share one.
        before: SHA-256 of the text before.
        after: SHA-256 of the text after; None: the file was deleted.
        role: what kind of change.
        by, at, reason: who, when (UTC ISO 8601), why.
        note: subject and summary.
        added, removed: lines, counted over the whole version.
        typed: whether another autosave may join.
        unit: key of the unit of undo.
        link: where the file led that was deleted, if it was a symlink.
    """

    version: int
    before: str
    after: str | None
    role: Role
    by: Author
    at: str
    reason: str
    note: tuple[str, str]
    added: int
    removed: int
    typed: bool = False
    unit: str = ""
    link: str | None = None

    def to_record(self) -> dict[str, Any]:
        """Return the journal's record."""
        return {
            "type": "change",
            "version": self.version,
            "before": self.before,
            "after": self.after,
            "role": self.role,
            "by": [self.by.kind, self.by.session_id, self.by.run_id],
            "at": self.at,
            "reason": self.reason,
            "note": list(self.note),
            "added": self.added,
            "removed": self.removed,
            "typed": self.typed,
            "unit": self.unit,
            **({} if self.link is None else {"link": self.link}),
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Entry:
        """Read an entry back.

        Raises:
            KeyError, TypeError, ValueError, OverflowError: the record is none of ours.
        """
        kind, session_id, run_id = record["by"]
        after = record["after"]
        if kind not in KINDS or not SHA.match(record["before"]) or not (after is None or SHA.match(after)):
            raise ValueError("not an entry")
        subject, summary = record["note"]
        return cls(
            version=int(record["version"]),
            before=record["before"],
            after=after,
            role=record["role"],
            by=Author(kind, _text_or_none(session_id), _text_or_none(run_id)),
            at=str(record["at"]),
            reason=str(record["reason"]),
            note=(str(subject), str(summary)),
            added=int(record["added"]),
            removed=int(record["removed"]),
            typed=record["typed"] is True,
            unit=str(record["unit"]),
            link=_text_or_none(record.get("link")),
        )


@dataclass
class Timeline:
    """What a journal amounts to.

    Attributes:
        versions: by number, ascending.
        cursor: what can be undone and redone.
        last: the last change that reached the file, None if there was none or something came after it.
        last_sha: SHA-256 of the text the program last knew the file to have; None if it knew of no file.
        gone: the change that deleted the file, None while it is there.
        outside: what other programs wrote, the person's own editor too, by version.
        next_version: the number the next version gets.
        records: how many records the journal has.
        kept: how many it had when it was last thinned out.
    """

    versions: dict[int, Version] = field(default_factory=dict)
    cursor: Cursor = field(default_factory=Cursor)
    last: Entry | None = None
    last_sha: str | None = None
    gone: Entry | None = None
    outside: dict[int, Entry] = field(default_factory=dict)
    next_version: int = 1
    records: int = 0
    kept: int = 0

    @property
    def is_long(self) -> bool:
        """Whether it is time to thin out."""
        return self.records > max(_RECORDS_LIMIT, 2 * self.kept)

    def stretch(self, by: Author, before: str, now: datetime) -> Entry | None:
        """Return the last change if the person `by` is still at the same stretch of editing.

        Args:
            by: who makes the next change.
            before: SHA-256 of the text it changes.
            now: an aware datetime.
        """
        last = self.last
        if last is None or by.kind != "user" or last.by.kind != "user" or not last.typed:
            return None
        first = self.versions.get(last.version)
        if last.role != "change" or last.after != before or first is None:
            return None
        try:
            age = (now - datetime.fromisoformat(first.at)).total_seconds()
        except (ValueError, TypeError):  # a time nobody can read
            return None
        return last if 0 <= age <= _STRETCH else None

    def find(self, version: str | int) -> Version | None:
        """Return a version by number, by digits, or by name."""
        if isinstance(version, str):
            for candidate in self.versions.values():
                if candidate.name == version:
                    return candidate
            if not (version.isascii() and version.isdigit()) or len(version) > 9:
                return None
        return self.versions.get(int(version))

    def is_reached(self, entry: Entry, current: str | None) -> bool:
        """Whether a recorded change is in the file, given the file's SHA-256 (None: there is no file).

        What brings a deleted persona back starts from no file, though its record names the text that was deleted.
        """
        if entry.after is not None and self.gone is not None:
            return current is not None
        return current != entry.before

    def take(self, entry: Entry) -> None:
        """Account for a change that reached the file."""
        self._add_version(entry)
        self.last = entry
        self.last_sha = entry.after
        self.gone = entry if entry.after is None else None
        if entry.after is None:
            return
        if entry.role == "external":
            self.outside[entry.version] = entry
        hop = Hop(entry.before, entry.after)
        if entry.role == "change" or (entry.role == "external" and entry.by.kind != "external"):
            self.cursor.changed(entry.unit, entry.by.kind, hop, entry.note, typed=entry.typed)
        elif entry.role == "undo":
            self.cursor.undone(entry.unit, hop, entry.by.kind, entry.note)
        elif entry.role == "redo":
            self.cursor.redone(entry.unit, hop, entry.by.kind, entry.note)

    def _add_version(self, entry: Entry) -> None:
        first = self.versions.get(entry.version)
        self.next_version = max(self.next_version, entry.version + 1)
        if first is not None:
            self.versions[entry.version] = replace(
                first, added=entry.added, removed=entry.removed, after=entry.after
            )
            return
        self.versions[entry.version] = Version(
            number=entry.version,
            name=None,
            by=entry.by,
            at=entry.at,
            reason=entry.reason or entry.note[1],
            added=entry.added,
            removed=entry.removed,
            sha=entry.before,
            after=entry.after,
        )


def read_timeline(records: Sequence[dict[str, Any]], current: str | None) -> Timeline:
    """Return what the records of a journal amount to.

    Args:
        records: oldest first; those of another program or another time are passed over.
        current: SHA-256 of the file as it is now, None if there is no file; tells whether the last recorded
            change reached it.
    """
    timeline = Timeline(records=len(records))
    pending: Entry | None = None
    for record in records:
        try:
            pending = _take(timeline, pending, record)
        except (KeyError, TypeError, ValueError, OverflowError):
            continue  # the rest still counts
    if pending is not None and timeline.is_reached(pending, current):
        timeline.take(pending)
    return timeline


def _take(timeline: Timeline, pending: Entry | None, record: dict[str, Any]) -> Entry | None:
    """Account for one record; return the change that is now waiting to be known as done."""
    kind = record["type"]
    if kind == "change":
        entry = Entry.from_record(record)
        if pending is not None and entry.before != pending.before:
            timeline.take(pending)
        timeline.next_version = max(timeline.next_version, entry.version + 1)
        return entry
    if kind == "void":
        return None
    if pending is not None:
        timeline.take(pending)
    if kind == "known":
        timeline.last_sha = _checked_sha(record["sha"])
        timeline.last = timeline.gone = None
    elif kind == "name":
        version = timeline.versions[int(record["version"])]
        timeline.versions[version.number] = replace(version, name=str(record["name"]))
    elif kind == "skip":
        move = timeline.cursor.undone if record["stack"] == "undo" else timeline.cursor.redone
        move(str(record["unit"]), None)
        timeline.last = None
    elif kind == "thinned":
        _take_thinned(timeline, record)
    return None


def _take_thinned(timeline: Timeline, record: dict[str, Any]) -> None:
    sha = None if record["sha"] is None else _checked_sha(record["sha"])
    next_version, kept = int(record["next"]), int(record["kept"])
    timeline.cursor.take_record(record)
    timeline.last, timeline.last_sha = None, sha
    timeline.next_version = max(timeline.next_version, next_version)
    timeline.kept = kept


def thinned_records(timeline: Timeline, kept: list[Version]) -> Iterator[dict[str, Any]]:
    """Yield the records of a journal in which nothing but the versions `kept` and the undo units is left.

    Of a change the text after it is kept by its hash alone, but of what other programs wrote:
    `personas.outside_writes` asks for it.
    """
    for version in kept:
        entry = timeline.outside.get(version.number) or Entry(
            version=version.number,
            before=version.sha,
            after=version.after or version.sha,
            role="snapshot",
            by=version.by,
            at=version.at,
            reason=version.reason,
            note=("", version.reason),
            added=version.added,
            removed=version.removed,
        )
        yield entry.to_record()
        yield {"type": "done"}
        if version.name is not None:
            yield {"type": "name", "version": version.number, "name": version.name}
    yield {
        "type": "thinned",
        **timeline.cursor.to_record(),
        "sha": timeline.last_sha,
        "next": timeline.next_version,
        "kept": 2 * len(kept) + sum(version.name is not None for version in kept) + 1,
    }


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _checked_sha(value: Any) -> str:
    if not isinstance(value, str) or not SHA.match(value):
        raise ValueError("not a hash")
    return value
