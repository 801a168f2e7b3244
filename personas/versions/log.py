"""The version log of a document, folded from its journal: its versions, and what can be undone. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from personas.versions.authorship import Author, Version, is_author_kind
from personas.versions.undo import COUNTS, IMPORT, NOTHING, UndoHistory

SHA = re.compile(r"[0-9a-f]{64}\Z")
"""A SHA-256 in hex."""
PROPOSAL = re.compile(r"proposal-[0-9]{1,9}\Z")
"""The name of a proposal."""
_STRETCH = 600  # seconds in which one person's autosaves are one version
_RECORDS_LIMIT = 1000  # a longer journal is pruned


def to_journal(version: Version) -> dict[str, Any]:
    """Return the record of a change that `from_journal` reads."""
    by = version.by
    optional = {"request": by.request, "link": version.link, "pruned": version.pruned or None}
    return {
        "type": "change",
        "version": version.number,
        "before": version.before,
        "after": version.sha,
        "role": version.role,
        "by": [by.kind, by.session_id, by.run_id],
        "at": version.at,
        "reason": version.reason,
        "note": list(version.note),
        "added": version.added,
        "removed": version.removed,
        "typed": version.typed,
        "unit": version.unit,
        **{key: value for key, value in optional.items() if value is not None},
    }


def proposal_to_journal(proposal: Version) -> dict[str, Any]:
    """Return the record of an open proposal; a later one of the same name replaces it."""
    return {**to_journal(proposal), "type": "proposal", "name": proposal.name}


def from_journal(record: dict[str, Any]) -> Version:
    """Read a change back, also one that an earlier release recorded.

    Raises:
        KeyError, TypeError, ValueError, OverflowError: the record is none of ours.
    """
    kind, session_id, run_id = record["by"]
    before, after = record["before"], record["after"]
    if not is_author_kind(kind) or not SHA.match(before) or not (after is None or SHA.match(after)):
        raise ValueError("not a change")
    subject, summary = record["note"]
    version = Version(
        number=int(record["version"]),
        by=Author(kind, *map(_text_or_none, (session_id, run_id, record.get("request")))),
        at=str(record["at"]),
        reason=str(record["reason"]) or str(summary),
        before=before,
        sha=after,
        added=int(record["added"]),
        removed=int(record["removed"]),
        role=record["role"],
        note=(str(subject), str(summary)),
        typed=record["typed"] is True,
        unit=str(record["unit"]),
        link=_text_or_none(record.get("link")),
        pruned=record.get("pruned") is True,
    )
    return _from_earlier_release(version)


def _from_earlier_release(version: Version) -> Version:
    """Translate a record of an earlier release, in which a version was the text before its change."""
    unchanged = not version.added and not version.removed
    if version.role == "snapshot" and version.sha is not None:
        if (
            version.before != version.sha and unchanged
        ):  # the kept text stood where the one before a change did
            return replace(version, role="kept", before=version.sha, sha=version.before)
        if not version.note[0]:
            return replace(version, role="change", pruned=True)
    if version.role in ("undo", "redo") and version.note[0] != "file":  # a part of what was typed
        return replace(version, role="change")
    return version


@dataclass
class VersionLog:
    """The versions of one document, and what can be undone in it.

    Attributes:
        versions: by number, ascending.
        history: what can be undone and redone.
        first_sha: SHA-256 of version 0, the first text that was known; None if there is none.
        last: the last change that reached the file, None if there was none or something came after it.
        last_sha: SHA-256 of the text the program last knew the file to have; None if it knew of no file.
        gone: the change that deleted the file, None while it is there.
        names: the names of versions, by number; version 0 may have one.
        next_version: the number the next version gets.
        proposals: the changes that wait for the person's word, by name, oldest first.
        proposed: how many proposals there were; a name is not given again.
        records: how many records the journal has.
        kept: how many it had when it was last pruned.
    """

    versions: dict[int, Version] = field(default_factory=dict)
    history: UndoHistory = field(default_factory=UndoHistory)
    first_sha: str | None = None
    last: Version | None = None
    last_sha: str | None = None
    gone: Version | None = None
    names: dict[int, str] = field(default_factory=dict)
    next_version: int = 1
    proposals: dict[str, Version] = field(default_factory=dict)
    proposed: int = 0
    records: int = 0
    kept: int = 0

    @property
    def is_long(self) -> bool:
        """Whether it is time to prune."""
        return self.records > max(_RECORDS_LIMIT, 2 * self.kept)

    @property
    def is_open(self) -> bool:
        """Whether what is typed next may join the last version."""
        return self.last is not None and self.last.typed

    @property
    def is_undone(self) -> bool:
        """Whether there is no file because that it was made was undone."""
        return self.gone is not None and self.gone.role == "undo"

    @property
    def current(self) -> int:
        """The number of the text that the file has, as far as is known; 0: the first one."""
        return max((version.number for version in self.changes()), default=0)

    def changes(self) -> list[Version]:
        """Return the versions that were the file's, oldest first."""
        return [version for version in self.versions.values() if version.role != "kept"]

    def before(self, number: int) -> int:
        """Return the number of the text before a change."""
        return max((version.number for version in self.changes() if version.number < number), default=0)

    def stretch(self, by: Author, before: str, now: datetime) -> Version | None:
        """Return the last change if the person `by` is still at the same stretch of editing.

        Args:
            by: who makes the next change.
            before: SHA-256 of the text it changes.
            now: an aware datetime.
        """
        last = self.last
        if last is None or by.kind != "user" or last.by.kind != "user" or not last.typed:
            return None
        first = self.versions.get(last.number)
        if last.role != "change" or last.sha != before or first is None:
            return None
        try:
            age = (now - datetime.fromisoformat(first.at)).total_seconds()
        except (ValueError, TypeError):  # a time nobody can read
            return None
        return first if 0 <= age <= _STRETCH else None

    def find(self, version: str | int, now: datetime) -> int | None:
        """Return the number of a version given by number, by digits, by name, or by a day; 0 is the first text.

        Args:
            version: a day is `today`, `yesterday` or `2026-11-29`, and means the text as it began (UTC).
            now: an aware datetime.
        """
        if isinstance(version, str):
            for number, name in self.names.items():
                if name == version and (number == 0 or number in self.versions):
                    return number
            if (day := _day(version, now)) is not None:
                return max((one.number for one in self.changes() if one.at < day), default=0)
            if not (version.isascii() and version.isdigit()) or len(version) > 9:
                return None
        number = int(version)
        return number if number in self.versions or number == 0 else None

    def is_reached(self, version: Version, current: str | None) -> bool:
        """Whether a recorded change is in the file, given the file's SHA-256 (None: there is no file).

        What brings a deleted document back starts from no file, though its record names the text that was deleted.
        """
        if version.role == "kept":
            return True
        if version.sha is not None and self.gone is not None:
            return current is not None
        return current != version.before

    def take(self, version: Version) -> None:
        """Account for a change that reached the file, or a text that is kept beside it."""
        number = version.number
        self.next_version = max(self.next_version, number + 1)
        self.last = version
        if (first := self.versions.get(number)) is not None:  # an autosave that joined its stretch
            reason = (
                first.note[0] if COUNTS.search(first.reason) else first.reason
            )  # they were the first one's
            first = replace(
                first, sha=version.sha, added=version.added, removed=version.removed, reason=reason
            )
        self.versions[number] = replace(first or version, name=self.names.get(number))
        if version.role == "kept":
            return
        is_made = version.before == NOTHING and version.unit.startswith(IMPORT)
        self.first_sha = self.first_sha or (version.sha if is_made else version.before)
        self.last_sha = version.sha
        self.gone = version if version.sha is None else None
        if version.role != "snapshot" and not version.pruned:
            self.history.add(version)


def read_log(records: Sequence[dict[str, Any]], current: str | None) -> VersionLog:
    """Fold the records of a journal into the version log.

    Args:
        records: oldest first; those of another program or another time are passed over.
        current: SHA-256 of the file as it is now, None if there is no file; shows whether the last recorded
            change reached it.
    """
    log = VersionLog(records=len(records))
    pending: Version | None = None
    for record in records:
        try:
            pending = _take(log, pending, record)
        except (KeyError, TypeError, ValueError, OverflowError):
            continue  # the rest still counts
    if pending is not None and log.is_reached(pending, current):
        log.take(pending)
    log.versions = dict(sorted(log.versions.items()))
    _find_texts(log)
    return log


def _find_texts(log: VersionLog) -> None:
    """Point each version that an earlier release pruned to the next text that is stored.

    It kept the texts before the changes only: where those behind a version were dropped, the text after it is lost.
    """
    changes = log.changes()
    for version, following in pairwise(changes):
        unknown = version.sha == version.before and (version.added or version.removed)
        if version.pruned and not version.unit and (unknown or following.number > version.number + 1):
            log.versions[version.number] = replace(version, sha=following.before)


def _take(log: VersionLog, pending: Version | None, record: dict[str, Any]) -> Version | None:
    """Account for one record; return the change that is now waiting to be known as done."""
    kind = record["type"]
    if kind == "change":
        version = from_journal(record)
        if pending is not None and (pending.role == "kept" or version.before != pending.before):
            log.take(pending)
        log.next_version = max(log.next_version, version.number + 1)
        return version
    if kind == "proposal":
        _take_proposal(log, record)
        return pending
    if kind == "void":
        return None
    if pending is not None:
        log.take(pending)
    if kind == "known":
        log.last_sha = _checked_sha(record["sha"])
        log.first_sha = log.first_sha or log.last_sha
        log.last = log.gone = None
    elif kind == "name":
        number, name = int(record["version"]), str(record["name"])
        if number:
            log.versions[number] = replace(log.versions[number], name=name)
        log.names[number] = name
        log.last = None
    elif kind == "fixed":
        log.last = None
    elif kind == "skip":
        log.history.drop(str(record["unit"]))
        log.last = None
    elif kind == "thinned":
        _take_pruned(log, record)
    return None


def _take_proposal(log: VersionLog, record: dict[str, Any]) -> None:
    name = str(record["name"])
    if not PROPOSAL.match(name):
        raise ValueError("not a proposal")
    log.proposed = max(log.proposed, int(name.rpartition("-")[2]))
    if record.get("closed"):
        log.proposals.pop(name, None)
    else:
        log.proposals[name] = replace(from_journal(record), name=name)


def _take_pruned(log: VersionLog, record: dict[str, Any]) -> None:
    sha = None if record["sha"] is None else _checked_sha(record["sha"])
    first = log.first_sha if record.get("first") is None else _checked_sha(record["first"])
    next_version, kept = int(record["next"]), int(record["kept"])
    log.history.take_record(record)
    log.last, log.last_sha, log.first_sha = None, sha, first
    log.next_version = max(log.next_version, next_version)
    log.kept = kept
    log.proposed = max(log.proposed, int(record.get("proposed", 0)))


def pruned_records(log: VersionLog, kept: list[Version]) -> Iterator[dict[str, Any]]:
    """Yield the records of a journal with the versions `kept`, the units of undo and the open proposals alone."""
    count = 0
    for version in kept:
        yield to_journal(replace(version, pruned=True))
        yield {"type": "done"}
        count += 2
    numbers = {0, *(version.number for version in kept)}
    for number, name in log.names.items():
        if number in numbers:
            yield {"type": "name", "version": number, "name": name}
            count += 1
    for proposal in log.proposals.values():
        yield proposal_to_journal(proposal)
        count += 1
    yield {
        "type": "thinned",
        **log.history.to_record(),
        "sha": log.last_sha,
        "first": log.first_sha,
        "next": log.next_version,
        "kept": count + 1,
        "proposed": log.proposed,
    }


def _day(named: str, now: datetime) -> str | None:
    """Return a day as versions have it in their time, None for what is none."""
    today = now.astimezone(UTC).date()
    days = {"today": today, "yesterday": today - timedelta(days=1)}
    try:
        return str(days.get(named) or datetime.strptime(named, "%Y-%m-%d").date())
    except ValueError:
        return None


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _checked_sha(value: Any) -> str:
    if not isinstance(value, str) or not SHA.match(value):
        raise ValueError("not a hash")
    return value
