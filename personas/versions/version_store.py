"""Stored versions of one persona on disk: its texts by hash, and its journal.

A change is recorded before the file is written and marked done after; a record whose change never reached the
file is recognised and ignored. Whoever calls a method that writes holds the persona's lock.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from datetime import datetime
from typing import Any

from personas.errors import DamagedVersion, PersonaError, UnknownVersion
from personas.files.home import Home
from personas.files.journal import Journal, encode_record
from personas.files.text_file import SIZE_LIMIT, read_regular, replace_file, sha256, storage_error
from personas.versions.timeline import SHA, Timeline, read_timeline, thinned_records

_UNITS_KEPT = 200
_PACKED_LIMIT = SIZE_LIMIT + SIZE_LIMIT // 1024
"""Most bytes of a stored text: what cannot be made smaller grows a little."""


class VersionFolder:
    """The versions of one persona.

    Whatever reads or writes the disk may raise `StorageError` (it refused) or `OutsideHome` (a folder leads out of
    the home).

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
        return read_timeline(self.records(), current)

    def records(self) -> list[dict[str, Any]]:
        """Return the whole records of the journal, oldest first."""
        if not self.exists():
            return []
        self._home.inside(self.path)
        return Journal(self._journal_path).read().records

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
            raise UnknownVersion(f"The text of that version of {self._persona_id} is not stored.")
        try:
            packed = read_regular(self._texts / f"{sha}.z", root=self._home.root, limit=_PACKED_LIMIT)
        except FileNotFoundError:
            raise UnknownVersion(f"The text of that version of {self._persona_id} is not stored.") from None
        try:
            content = zlib.decompressobj().decompress(packed, SIZE_LIMIT + 1)
        except zlib.error:
            content = b""
        if sha256(content) != sha:
            raise DamagedVersion(f"A stored version of {self._persona_id} is damaged: {sha[:12]}.")
        return content

    def find(self, sha: str) -> bytes | None:
        """Return a stored text, None where it is lost: not stored, or damaged.

        A text that only cannot be read now, on a bad disk or by who has too many files open, is not lost.
        """
        try:
            return self.load(sha)
        except UnknownVersion:
            return None

    # -- writing --------------------------------------------------------------------------------------

    def store(self, content: bytes) -> str:
        """Store a text unless it is there already, whole; return its SHA-256."""
        sha = sha256(content)
        try:
            self.load(sha)
        except PersonaError:  # also where it only cannot be read now: writing it anew mends that, or says why
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
        from personas.versions.pruning import versions_to_keep

        kept = versions_to_keep(list(timeline.versions.values()), now)
        timeline.cursor.undo = dict(list(timeline.cursor.undo.items())[-_UNITS_KEPT:])
        shas = timeline.cursor.shas() | {version.sha for version in kept}
        if timeline.last_sha is not None:
            shas.add(timeline.last_sha)
        outside = (timeline.outside.get(version.number) for version in kept)
        shas.update(entry.after for entry in outside if entry is not None and entry.after is not None)
        records = list(thinned_records(timeline, kept))
        text = b"".join(encode_record(record) for record in records)
        replace_file(self._journal_path, text, root=self._home.root)
        self._drop_texts(shas)

    def drop_unused(self, sha: str, timeline: Timeline) -> None:
        """Drop a text that nothing refers to any more, such as an autosave in the middle of a stretch."""
        used = timeline.cursor.shas() | {timeline.last_sha}
        for version in timeline.versions.values():
            used |= {version.sha, version.after}  # the text after it may be what another program wrote
        if sha not in used:
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
