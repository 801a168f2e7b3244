"""Stored versions of one document on disk: its texts by hash, and its journal.

A change is recorded before the file is written and marked done after; a record whose change never reached the
file is recognised and ignored. Whoever calls a method that writes holds the persona's lock.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from datetime import datetime
from itertools import islice
from typing import Any

from personas.errors import DamagedVersion, PersonaError, UnknownVersion
from personas.files.file_stamp import Stamp, stamp_of
from personas.files.home import Home
from personas.files.journal import Journal, encode_record
from personas.files.text_file import SIZE_LIMIT, read_regular, replace_file, sha256, storage_error
from personas.versions.authorship import Version
from personas.versions.log import SHA, VersionLog, pruned_records, read_log
from personas.versions.pruning import versions_to_keep

_UNITS_KEPT = 200
"""So many units can be undone, however many versions are pruned."""
_JOURNAL_LIMIT = 256 * 1024 * 1024
_PACKED_LIMIT = SIZE_LIMIT + SIZE_LIMIT // 1024
"""Most bytes of a stored text: what cannot be made smaller grows a little."""


class VersionFolder:
    """The versions of one document.

    Whatever reads or writes the disk may raise `StorageError` (it refused) or `OutsideHome` (a folder leads out of
    the home).

    Args:
        home: the home.
        key: of the document: a checked id, or its kind and a checked name with a slash between.
    """

    def __init__(self, home: Home, key: str) -> None:
        self._home = home
        self._key = key
        # No persona's id begins with a dot: what is no persona has its versions in a folder of its own.
        self.path = home.versions / (f".library/{key}" if "/" in key else key)
        self._texts = self.path / "texts"
        self._journal_path = self.path / "journal.jsonl"

    def exists(self) -> bool:
        """Whether anything was ever stored."""
        return os.path.lexists(self.path)

    # -- reading --------------------------------------------------------------------------------------

    def log(self, current: str | None) -> VersionLog:
        """Return the version log.

        Args:
            current: SHA-256 of the file as it is now, None if there is no file; shows whether the last recorded
                change reached it.
        """
        return read_log(self.records(), current)

    def records(self) -> list[dict[str, Any]]:
        """Return the whole records of the journal, oldest first."""
        if not self.exists():
            return []
        self._home.inside(self.path)
        return Journal(self._journal_path).read().records

    def recent_records(self, count: int) -> list[dict[str, Any]]:
        """Return the last `count` whole records of the journal, oldest first."""
        if not self.exists():
            return []
        self._home.inside(self.path)
        records = (one for one in Journal(self._journal_path).backwards() if isinstance(one, dict))
        return [*islice(records, count)][::-1]

    @property
    def stamp(self) -> Stamp | None:
        """What the disk says of the journal without reading it, None where there is none."""
        return stamp_of(self._journal_path)

    def proposals(self) -> list[Version]:
        """Return the open proposals, oldest first. Of the journal only the lines about proposals are parsed."""
        try:
            journal = read_regular(self._journal_path, root=self._home.root, limit=_JOURNAL_LIMIT)
        except FileNotFoundError:
            return []
        records = []
        for line in journal.splitlines():
            if b'"proposal"' in line:
                with contextlib.suppress(ValueError, RecursionError):  # a torn line, or none of ours
                    records.append(json.loads(line))
        return [*read_log(records, None).proposals.values()]

    def load(self, sha: str, now: bytes | None = None) -> bytes:
        """Return a stored text.

        Args:
            sha: its SHA-256.
            now: the file's bytes, which may be that text: then nothing need be stored.

        Raises:
            UnknownVersion: it is not stored (any more), or what is stored is damaged (`DamagedVersion`).
        """
        if now is not None and sha256(now) == sha:
            return now
        if not SHA.match(sha):
            raise UnknownVersion(f"The text of that version of {self._key} is not stored.")
        try:
            packed = read_regular(self._texts / f"{sha}.z", root=self._home.root, limit=_PACKED_LIMIT)
        except FileNotFoundError:
            raise UnknownVersion(f"The text of that version of {self._key} is not stored.") from None
        try:
            content = zlib.decompressobj().decompress(packed, SIZE_LIMIT + 1)
        except zlib.error:
            content = b""
        if sha256(content) != sha:
            raise DamagedVersion(f"A stored version of {self._key} is damaged: {sha[:12]}.")
        return content

    def find(self, sha: str | None) -> bytes | None:
        """Return a stored text, None where it is lost: not stored, or damaged.

        A text that only cannot be read now, on a bad disk or by who has too many files open, is not lost.
        """
        try:
            return None if sha is None else self.load(sha)
        except UnknownVersion:
            return None

    # -- writing --------------------------------------------------------------------------------------

    def store(self, content: bytes) -> str:
        """Store a text unless it is there already, whole; return its SHA-256."""
        sha = sha256(content)
        try:
            self.load(sha)
        except PersonaError:  # also where it only cannot be read now: writing it anew fixes that, or says why
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
                folder.mkdir(0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, "create", self._texts) from None
        self._home.inside(self._texts)

    def prune(self, log: VersionLog, now: datetime) -> None:
        """Drop old versions that lie close together, and their texts; see `personas.versions.pruning`."""
        kept = versions_to_keep(list(log.versions.values()), now)
        log.history.keep_newest(_UNITS_KEPT)
        shas = log.history.shas() | {log.first_sha, log.last_sha}
        shas.update(version.sha for version in kept)
        shas.update(v.before for v in kept if v.role == "external" or v.by.run_id is not None)
        shas.update(sha for one in log.proposals.values() for sha in (one.before, one.sha))
        text = b"".join(encode_record(record) for record in pruned_records(log, kept))
        replace_file(self._journal_path, text, root=self._home.root)
        self._drop_texts(shas)

    def drop_unused(self, sha: str, log: VersionLog) -> None:
        """Drop a text that nothing refers to any more, such as an autosave in the middle of a stretch."""
        used = log.history.shas() | {log.first_sha, log.last_sha}
        for version in [*log.versions.values(), *log.proposals.values()]:
            used |= {version.before, version.sha}
        if sha not in used:
            with contextlib.suppress(OSError):  # left over, it costs room, nothing else
                os.unlink(self._texts / f"{sha}.z")  # noqa: PTH108

    def _drop_texts(self, keep: set[str | None]) -> None:
        try:
            with os.scandir(self._texts) as entries:
                for entry in entries:
                    if entry.name.endswith(".z") and entry.name[:-2] not in keep:
                        os.unlink(entry.path)  # noqa: PTH108 - scandir's own path
        except OSError:
            return  # what is left over costs room, nothing else
