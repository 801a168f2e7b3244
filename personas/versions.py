"""Stored versions of one persona on disk: its texts by hash, its journal, and what the journal amounts to.

A change is recorded before the file is written and marked done after; a record whose change never reached the
file is recognised and ignored. Whoever calls a method that writes holds the persona's lock.
"""

from __future__ import annotations

import contextlib
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from personas.authorship import KINDS, USER, Author, AuthorKind, Diff, Undone, Version
from personas.errors import StorageError, UnknownVersion
from personas.home import Home
from personas.journal import Journal, encode_record
from personas.textfile import SIZE_LIMIT, read_regular, replace_file, sha256, storage_error
from personas.undo import Cursor, Hop, Unit

__all__ = ["USER", "Author", "AuthorKind", "Diff", "Timeline", "Undone", "Version", "VersionFolder"]

Role = Literal["change", "undo", "redo", "external", "snapshot", "delete"]

_SHA = re.compile(r"[0-9a-f]{64}\Z")
_STRETCH = 600  # seconds in which one person's autosaves are one version
_UNITS_KEPT = 200
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
        if kind not in KINDS or not _SHA.match(record["before"]) or not (after is None or _SHA.match(after)):
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
        next_version: the number the next version gets.
        records: how many records the journal has.
        kept: how many it had when it was last thinned out.
    """

    versions: dict[int, Version] = field(default_factory=dict)
    cursor: Cursor = field(default_factory=Cursor)
    last: Entry | None = None
    last_sha: str | None = None
    gone: Entry | None = None
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
        hop = Hop(entry.before, entry.after)
        if entry.role == "change":
            self.cursor.changed(entry.unit, entry.by.kind, hop, entry.note)
        elif entry.role == "undo":
            self.cursor.undone(entry.unit, hop)
        elif entry.role == "redo":
            self.cursor.redone(entry.unit, hop)

    def _add_version(self, entry: Entry) -> None:
        first = self.versions.get(entry.version)
        self.next_version = max(self.next_version, entry.version + 1)
        if first is not None:
            self.versions[entry.version] = replace(first, added=entry.added, removed=entry.removed)
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
        )


class VersionFolder:
    """The versions of one persona.

    Args:
        home: the home.
        persona_id: a checked id (a plain file name).
    """

    def __init__(self, home: Home, persona_id: str) -> None:
        self._home = home
        self._persona_id = persona_id
        self.path = home.versions / persona_id
        self._texts = self.path / "texts"
        self._journal_path = self.path / "journal.jsonl"

    def exists(self) -> bool:
        """Whether anything was ever stored."""
        return os.path.lexists(self.path)

    # -- reading --------------------------------------------------------------------------------------

    def timeline(self, current: str | None) -> Timeline:
        """Return what the journal says.

        Args:
            current: SHA-256 of the file as it is now, None if there is no file; tells whether the last recorded
                change reached it.
        """
        if not self.exists():
            return Timeline()
        self._home.inside(self.path)
        timeline = Timeline()
        pending: Entry | None = None
        records = Journal(self._journal_path).read().records
        timeline.records = len(records)
        for record in records:
            try:
                pending = self._take(timeline, pending, record)
            except (KeyError, TypeError, ValueError, OverflowError):
                continue  # a record of another program or another time; the rest still counts
        if pending is not None and timeline.is_reached(pending, current):
            timeline.take(pending)
        return timeline

    def _take(self, timeline: Timeline, pending: Entry | None, record: dict[str, Any]) -> Entry | None:
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
            self._take_thinned(timeline, record)
        return None

    @staticmethod
    def _take_thinned(timeline: Timeline, record: dict[str, Any]) -> None:
        undo, redo = ([Unit.from_record(unit) for unit in record[stack]] for stack in ("undo", "redo"))
        sha = None if record["sha"] is None else _checked_sha(record["sha"])
        next_version, kept = int(record["next"]), int(record["kept"])
        timeline.cursor.undo = {unit.key: unit for unit in undo}
        timeline.cursor.redo = {unit.key: unit for unit in redo}
        timeline.last, timeline.last_sha = None, sha
        timeline.next_version = max(timeline.next_version, next_version)
        timeline.kept = kept

    def load(self, sha: str) -> bytes:
        """Return a stored text.

        Raises:
            UnknownVersion: it is not stored (any more).
            StorageError: what is stored is damaged.
        """
        if not _SHA.match(sha):
            raise UnknownVersion(f"The text of that version of {self._persona_id} is not stored.")
        try:
            packed = read_regular(self._texts / f"{sha}.z", root=self._home.root)
        except FileNotFoundError:
            raise UnknownVersion(f"The text of that version of {self._persona_id} is not stored.") from None
        try:
            content = zlib.decompressobj().decompress(packed, SIZE_LIMIT + 1)
        except zlib.error:
            content = b""
        if sha256(content) != sha:
            raise StorageError(f"A stored version of {self._persona_id} is damaged: {sha[:12]}.")
        return content

    def has(self, sha: str) -> bool:
        """Whether a text is stored."""
        return os.path.lexists(self._texts / f"{sha}.z")

    # -- writing --------------------------------------------------------------------------------------

    def store(self, content: bytes) -> str:
        """Store a text unless it is there already; return its SHA-256."""
        sha = sha256(content)
        if not self.has(sha):
            self._make_folders()
            replace_file(self._texts / f"{sha}.z", zlib.compress(content, 6), root=self._home.root)
        return sha

    def append(self, record: dict[str, Any], *, sync: bool = False) -> None:
        """Add a record to the journal."""
        self._make_folders()
        with Journal(self._journal_path) as journal:
            journal.append(record, sync=sync)

    def _make_folders(self) -> None:
        self._home.inside(self.path)
        try:
            for folder in (self.path, self._texts):
                folder.mkdir(0o700, exist_ok=True)
        except OSError as error:
            raise storage_error(error, "create", self._texts) from None
        self._home.inside(self._texts)

    def thin(self, timeline: Timeline, now: datetime) -> None:
        """Drop old versions that lie close together, and their texts; see `personas.thinning`."""
        from personas.thinning import versions_to_keep

        kept = versions_to_keep(list(timeline.versions.values()), now)
        timeline.cursor.undo = dict(list(timeline.cursor.undo.items())[-_UNITS_KEPT:])
        shas = timeline.cursor.shas() | {version.sha for version in kept}
        if timeline.last_sha is not None:
            shas.add(timeline.last_sha)
        records = list(self._thinned_records(timeline, kept))
        text = b"".join(encode_record(record) for record in records)
        replace_file(self._journal_path, text, root=self._home.root)
        self._drop_texts(shas)

    @staticmethod
    def _thinned_records(timeline: Timeline, kept: list[Version]) -> Iterator[dict[str, Any]]:
        for version in kept:
            entry = Entry(
                version=version.number,
                before=version.sha,
                after=version.sha,
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
            "undo": [unit.to_record() for unit in timeline.cursor.undo.values()],
            "redo": [unit.to_record() for unit in timeline.cursor.redo.values()],
            "sha": timeline.last_sha,
            "next": timeline.next_version,
            "kept": 2 * len(kept) + 1,
        }

    def drop_unused(self, sha: str, timeline: Timeline) -> None:
        """Drop a text that nothing refers to any more, such as an autosave in the middle of a stretch."""
        used = timeline.cursor.shas() | {version.sha for version in timeline.versions.values()}
        if sha not in used and sha != timeline.last_sha:
            with contextlib.suppress(OSError):  # left over, it costs room, nothing else
                os.unlink(self._texts / f"{sha}.z")  # noqa: PTH108

    def _drop_texts(self, keep: set[str]) -> None:
        try:
            with os.scandir(self._texts) as entries:
                for entry in entries:
                    if entry.name.endswith(".z") and entry.name[:-2] not in keep:
                        os.unlink(entry.path)  # noqa: PTH108 - scandir's own path
        except OSError:
            return  # what is left over costs room, nothing else


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _checked_sha(value: Any) -> str:
    if not isinstance(value, str) or not _SHA.match(value):
        raise ValueError("not a hash")
    return value
