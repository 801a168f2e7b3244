"""One persona's file together with its versions: reading it, and the one way it is written.

A write stores the old text and a record first, compares what is on disk right before the rename, and marks the
record done. Whoever writes holds `lock()`.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from personas.errors import (
    Busy,
    Conflict,
    InvalidValue,
    OutsideHome,
    PersonaError,
    StorageError,
    UnknownPersona,
)
from personas.files.home import Home
from personas.files.lock import busy, hold
from personas.files.slug import is_id
from personas.files.text_file import (
    SIZE_LIMIT,
    make_link,
    read_link,
    readable,
    remove_file,
    replace_file,
    sha256,
    storage_error,
)
from personas.folder import read_file
from personas.versions.authorship import Author
from personas.versions.merge import count
from personas.versions.timeline import Entry, Role, Timeline
from personas.versions.undo import key_of_run
from personas.versions.version_store import VersionFolder

if TYPE_CHECKING:
    from personas.changes import Change
    from personas.open_in_editor import Hand

LONGEST_WAIT = 5.0
"""Seconds to wait for another process that writes."""


def busy_persona(persona_id: str, pid: int | None) -> Busy:
    """Return the error of a persona that somebody else has been writing for so long; `pid` as in `personas.lock.busy`."""
    return busy(_subject(persona_id), pid)


def _subject(persona_id: str) -> str:
    return f"The persona {persona_id}"


class PersonaFile:
    """One persona's file and versions.

    Whatever reads or writes the disk may raise `StorageError` (it refused) or `OutsideHome` (it leads out of the
    home, or is no regular file).

    Args:
        home: the home.
        persona_id: any text.
        now: the clock.
        hand: who has the file open in another program, if the person does.

    Raises:
        OutsideHome: the id is no plain file name.
    """

    def __init__(
        self, home: Home, persona_id: str, now: Callable[[], datetime], hand: Hand | None = None
    ) -> None:
        if not is_id(persona_id):
            raise OutsideHome(f"{persona_id!r} cannot be a persona's id: an id is a plain file name.")
        self._home = home
        self._now = now
        self._hand = hand
        self.persona_id = persona_id
        self.path: Path = home.personas / f"{persona_id}.toml"
        self.versions = VersionFolder(home, persona_id)

    @property
    def lock_path(self) -> Path:
        """The file that whoever writes this persona locks."""
        name = self.persona_id
        if len(name.encode()) > 200:
            name = hashlib.sha256(name.encode()).hexdigest()
        return self._home.locks / f"persona-{name}.lock"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other writers of this persona out.

        Raises:
            Busy: another process has been at work for seconds.
        """
        self._home.inside(self._home.locks)
        try:
            self._home.locks.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, "create", self._home.locks) from None
        with hold(self.lock_path, wait=LONGEST_WAIT, what=_subject(self.persona_id)):
            yield

    def read(self) -> bytes:
        """Return the file's bytes.

        Raises:
            UnknownPersona: there is no such file.
            OutsideHome, StorageError: see `read_file`.
        """
        content = self.read_if_there()
        if content is None:
            raise UnknownPersona(f"There is no persona {self.persona_id!r}.")
        return content

    def read_if_there(self) -> bytes | None:
        """Return the file's bytes, or None where there is no file."""
        try:
            return read_file(self._home, self.persona_id)
        except FileNotFoundError:
            return None

    def timeline(self, content: bytes | None) -> Timeline:
        """Return the versions, as they are recorded."""
        return self.versions.timeline(None if content is None else sha256(content))

    def noticed(self, content: bytes | None) -> Timeline:
        """Return the versions; a change made outside the program becomes a version of its own first.

        Where the text before it is lost there is nothing to make a version of: then the file is known from now on as
        it is. One that only cannot be read now is no reason for that: the error is told, and nothing is written.
        While the person has the file open in another program, a change is theirs, and can be undone.
        """
        timeline = self.timeline(content)
        entry = self._missed(timeline, content)
        if entry is not None:
            if content is not None:
                self.versions.store(content)
            self._record(entry)
            if self._hand is not None and content is not None:
                self._hand.unit = entry.unit
            self._mark_done()
            timeline.take(entry)
            timeline.records += 2
        elif content is not None and (timeline.last_sha or timeline.gone):
            self._know(timeline, content)  # unless it is known: back as it was, or the text before it is lost
        return timeline

    def foreseen(self, content: bytes | None) -> Timeline:
        """Return the versions as `noticed` would, without writing anything."""
        timeline = self.timeline(content)
        if (entry := self._missed(timeline, content)) is not None:
            timeline.take(entry)
        return timeline

    def _missed(self, timeline: Timeline, content: bytes | None) -> Entry | None:
        """Return the change that was made outside since the last version, None where there is none to be made."""
        current = None if content is None else sha256(content)
        known = timeline.last_sha
        if known is None and timeline.gone is not None and content is not None:
            known = timeline.gone.before
        if known is None or known == current:
            return None
        before = self.versions.find(known)
        if before is None:
            return None
        what = "deleted" if content is None else "changed" if timeline.last_sha else "brought back"
        added, removed = count(readable(before), "" if content is None else readable(content))
        hand = self._hand if content is not None else None
        return self._entry(
            timeline,
            before=known,
            after=current,
            role="external",
            by=Author("external") if hand is None else hand.by,
            reason=f"{what} outside the program" if hand is None else hand.reason,
            note=("file", f"file +{added} -{removed}"),
            added=added,
            removed=removed,
            unit="" if hand is None else hand.unit,
        )

    def _know(self, timeline: Timeline, content: bytes) -> None:
        if timeline.last_sha == sha256(content):
            return
        self.remember(content)
        timeline.last_sha, timeline.gone, timeline.last = sha256(content), None, None
        timeline.records += 1

    def know(self, content: bytes) -> None:
        """Keep what the file holds now, unless that is done: then what is written over it can be had again."""
        if self.noticed(content).last_sha is None:
            self.remember(content)

    def remember(self, content: bytes) -> None:
        """Keep what the file holds now as known, so that later changes from outside are noticed."""
        sha = self.versions.store(content)
        self.versions.append({"type": "known", "sha": sha, "at": self._time()})

    def write(
        self,
        timeline: Timeline,
        before: bytes,
        after: bytes,
        *,
        by: Author,
        note: tuple[str, str],
        reason: str = "",
        role: Role = "change",
        typed: bool = False,
        unit: str = "",
    ) -> Entry:
        """Replace `before`, which is on disk, by `after`, and return the recorded change.

        Args:
            timeline: from `noticed(before)`; brought up to date.
            before, after: the file's bytes.
            by, reason: for the log.
            note: subject and summary of the change.
            role: what kind of change.
            typed: whether it may join the person's stretch of editing.
            unit: key of the unit undone or redone.

        Raises:
            Conflict: the file is no longer `before`.
            InvalidValue: `after` is larger than a persona may be.
            StorageError: the disk refused; the file is as it was.
        """
        if len(after) > SIZE_LIMIT:
            raise InvalidValue(f"The persona would be larger than {SIZE_LIMIT // (1024 * 1024)} MB.")
        before_sha, after_sha = self.versions.store(before), self.versions.store(after)
        stretch = timeline.stretch(by, before_sha, self._now()) if typed and role == "change" else None
        start = before
        if stretch is not None:
            try:
                start = self.versions.load(timeline.versions[stretch.version].sha)
            except PersonaError:  # lost, or not to be read now: then nothing is joined, and nothing refused
                stretch = None
        added, removed = count(readable(start), readable(after))
        entry = self._entry(
            timeline,
            before=before_sha,
            after=after_sha,
            role=role,
            by=by,
            reason=reason,
            note=note,
            added=added,
            removed=removed,
            typed=typed,
            unit=unit,
            stretch=stretch,
        )
        self._record(entry)
        with self._void_on_error(after_sha):
            replace_file(
                self.path, after, root=self._home.root, check=lambda: self._require(before, readable(after))
            )
        self._mark_done()
        timeline.take(entry)
        if stretch is not None:
            self.versions.drop_unused(before_sha, timeline)
        if timeline.is_long:
            self._thin(timeline)
        return entry

    def stale(self, change: Change, revision: str, now: bytes) -> Conflict:
        """Return the conflict of a change that was meant for the text of an earlier revision."""
        theirs = readable(now)
        base = ours = ""
        with contextlib.suppress(PersonaError):  # the earlier text may not be stored, or not take the change
            base = ours = readable(self.versions.load(revision))
        with contextlib.suppress(PersonaError):
            ours = change.apply(base or theirs)
        return Conflict(
            f"{self.persona_id} was changed meanwhile; nothing was written.",
            base=base,
            ours=ours,
            theirs=theirs,
        )

    def delete(self, timeline: Timeline, before: bytes, *, by: Author) -> Entry:
        """Remove the file (of a symlink the link alone), keeping its text as a version.

        Arguments and errors as in `write`.
        """
        removed = count("", readable(before))[0]
        entry = self._entry(
            timeline,
            before=self.versions.store(before),
            after=None,
            role="delete",
            by=by,
            reason="deleted",
            note=("file", "deleted"),
            added=0,
            removed=removed,
            link=read_link(self.path),
        )
        self._record(entry)
        with self._void_on_error(None):
            self._require(before, "")
            with contextlib.suppress(FileNotFoundError):
                remove_file(self.path, root=self._home.root)
        self._mark_done()
        return entry

    def relink(self, timeline: Timeline) -> bool:
        """Make the deleted file the symlink again that it was, and say whether it was one.

        It is not made where it would lead out of the home, to something else than a file, or to no folder.
        """
        link = None if timeline.gone is None else timeline.gone.link
        return link is not None and make_link(self.path, link, root=self._home.root)

    def bring_back(self, timeline: Timeline, content: bytes, *, by: Author, reason: str) -> Entry:
        """Write a deleted file again: a change from the text it had to `content`, which can be undone.

        Arguments and errors as in `write`; StorageError too where the file is there again.
        """
        after_sha = self.versions.store(content)
        deleted = None if timeline.gone is None else self.versions.find(timeline.gone.before)
        before_sha = after_sha if deleted is None else sha256(deleted)
        added, removed = count(readable(content if deleted is None else deleted), readable(content))
        entry = self._entry(
            timeline,
            before=before_sha,
            after=after_sha,
            role="snapshot" if before_sha == after_sha else "change",
            by=by,
            reason="",
            note=("file", reason),
            added=added,
            removed=removed,
        )
        self._record(entry)
        with self._void_on_error(after_sha):
            try:
                replace_file(self.path, content, root=self._home.root, exclusive=True)
            except FileExistsError:
                raise StorageError(f"{self.path} appeared at this moment; nothing was written.") from None
        self._mark_done()
        timeline.take(entry)
        return entry

    def snapshot(
        self, timeline: Timeline, content: bytes, *, by: Author, reason: str, kept: bytes | None = None
    ) -> Entry:
        """Store the text as it is, or a text `kept` that is not in the file, as a version of its own."""
        sha = self.versions.store(content)
        entry = self._entry(
            timeline,
            before=sha if kept is None else self.versions.store(kept),
            after=sha,
            role="snapshot",
            by=by,
            reason=reason,
            note=("file", reason),
            added=0,
            removed=0,
        )
        self._record(entry)
        self._mark_done()
        timeline.take(entry)
        return entry

    def _entry(
        self,
        timeline: Timeline,
        *,
        before: str,
        after: str | None,
        role: Role,
        by: Author,
        reason: str,
        note: tuple[str, str],
        added: int,
        removed: int,
        typed: bool = False,
        unit: str = "",
        stretch: Entry | None = None,
        link: str | None = None,
    ) -> Entry:
        number = timeline.next_version if stretch is None else stretch.version
        if not unit:
            is_run = by.kind == "agent" and by.run_id is not None
            unit = key_of_run(by.session_id, by.run_id or "") if is_run else f"version:{number}"
        return Entry(
            version=number,
            before=before,
            after=after,
            role=role,
            by=by,
            at=self._time(),
            reason=reason,
            note=note,
            added=added,
            removed=removed,
            typed=typed,
            unit=unit,
            link=link,
        )

    def _time(self) -> str:
        return self._now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _record(self, entry: Entry) -> None:
        self.versions.append(entry.to_record(), sync=True)

    def _mark_done(self) -> None:
        # The file says it too: a missing mark is made up for when the journal is read.
        with contextlib.suppress(PersonaError):
            self.versions.append({"type": "done"})

    @contextmanager
    def _void_on_error(self, after: str | None) -> Iterator[None]:
        """Take the record back when the file did not get the new text."""
        try:
            yield
        except BaseException:
            with contextlib.suppress(PersonaError):
                now = self.read_if_there()
                if (None if now is None else sha256(now)) != after:
                    self.versions.append({"type": "void"})
            raise

    def _require(self, before: bytes, wanted: str) -> None:
        """Raise Conflict unless the file still is what we read."""
        now = self.read_if_there()
        if now != before:
            raise Conflict(
                f"{self.path.name} was changed outside at this moment; nothing was written.",
                base=readable(before),
                ours=wanted,
                theirs="" if now is None else readable(now),
            )

    def _thin(self, timeline: Timeline) -> None:
        with contextlib.suppress(PersonaError):  # the change is made; thinning out can wait
            self.versions.thin(timeline, self._now())
