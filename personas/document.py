"""A document on disk together with its versions: reading it, and the one way it is written.

A document is one file, or several that are changed and undone as one. A write stores the old text and a record first,
compares what is on disk right before the rename, and marks the record done. Whoever writes holds `lock()`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from personas.errors import (
    Busy,
    Conflict,
    OutsideHome,
    PersonaError,
    StorageError,
    UnknownPersona,
)
from personas.files.bundle import pack, unpack
from personas.files.home import Home
from personas.files.lock import busy, hold
from personas.files.slug import is_id
from personas.files.text_file import (
    make_link,
    read_link,
    readable,
    remove_file,
    replace_file,
    require_size,
    sha256,
    storage_error,
)
from personas.folder import read_beside, read_file, require_beside
from personas.versions.authorship import Author, Note, Role, Version
from personas.versions.log import VersionLog, to_journal
from personas.versions.merge import count
from personas.versions.undo import (
    key_of_run,
    key_of_version,
    may_span_documents,
)
from personas.versions.unit_index import UnitIndex
from personas.versions.version_store import VersionFolder

LONGEST_WAIT = 5.0
"""Seconds to wait for another process that writes."""


class Document:
    """One document's files and versions.

    Whatever reads or writes the disk may raise `StorageError` (it refused) or `OutsideHome` (it leads out of the
    home, or is no regular file).

    Args:
        home: the home.
        key: under which its versions are stored: a persona's id, or kind and name with a slash between.
        paths: its files; the first one is always there, the others need not be.
        now: the clock.
        subject: what it is called in messages, as the beginning of a sentence.
        is_broken: whether a content is none that the program can read; an undo must not lead there.
        is_optional: whether it may be absent. Then its content is empty, so that making and deleting it are changes
            like others, and an empty file counts as none.
        beside: returns the further files that a content of the first one names. They need not be there, and they are the
            person's: none is deleted, nor replaced before what it holds is known.

    Raises:
        OutsideHome: the key holds what is no plain file name.
    """

    def __init__(
        self,
        home: Home,
        key: str,
        paths: tuple[Path, ...],
        *,
        now: Callable[[], datetime],
        subject: str = "",
        is_broken: Callable[[bytes], bool] = lambda _content: False,
        is_optional: bool = False,
        beside: Callable[[bytes], tuple[Path, ...]] = lambda _first: (),
    ) -> None:
        if not all(is_id(part) for part in key.split("/", 1)):
            raise OutsideHome(f"{key!r} cannot be the name of a document: a name is a plain file name.")
        self._home = home
        self._now = now
        self._subject = subject or f"The document {key}"
        self.is_broken = is_broken
        self.is_optional = is_optional
        self._beside = beside
        self.key = key
        self.paths = paths
        self.path: Path = paths[0]
        self.versions = VersionFolder(home, key)
        self._index = UnitIndex(home)

    # -- reading --------------------------------------------------------------------------------------

    @property
    def lock_path(self) -> Path:
        """The file that whoever writes this document locks."""
        name = self.key.replace("/", "-") if "/" in self.key else f"persona-{self.key}"
        if len(name.encode()) > 208:
            name = f"persona-{hashlib.sha256(self.key.encode()).hexdigest()}"
        return self._home.locks / f"{name}.lock"

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other writers of this document out.

        Raises:
            Busy: another process has been at work for seconds.
        """
        self._home.inside(self._home.locks)
        try:
            self._home.locks.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, "create", self._home.locks) from None
        with hold(self.lock_path, wait=LONGEST_WAIT, what=self._subject):
            yield

    def busy(self, pid: int | None) -> Busy:
        """Return the error of a document that somebody else has been writing for so long."""
        return busy(self._subject, pid)

    def read(self) -> bytes:
        """Return the content.

        Raises:
            UnknownPersona: there is no such file.
            OutsideHome, StorageError: see the class.
        """
        content = self.read_if_there()
        if content is None:
            raise UnknownPersona(f"There is no persona {self.key!r}.")
        return content

    def read_if_there(self) -> bytes | None:
        """Return the content, or None where there is no file."""
        files = {path: self._read(path) for path in self.paths}
        if (first := files[self.path]) is None and not self.is_optional:
            return None
        return self.pack(
            {**files, **{path: read_beside(self._home, path) for path in self._beside(first or b"")}}
        )

    def paths_now(self) -> tuple[Path, ...]:
        """Return all its files, those that its first one names too."""
        return (*self.paths, *self._beside(self._read(self.path) or b""))

    def beside(self, content: bytes) -> tuple[Path, ...]:
        """Return the further files that a content names."""
        return self._beside(unpack(content)[0] or b"")

    def pack(self, files: Mapping[Path, bytes | None]) -> bytes:
        """Return the content that these files are."""
        if self.is_optional and not any(files.values()):
            return b""
        paths = (*self.paths, *self._beside(files[self.path] or b""))
        return pack([files.get(path) for path in paths])

    def unpack(self, content: bytes) -> dict[Path, bytes | None]:
        """Return the files in a content by where they lie; those that its first one names only where they are in it."""
        files = unpack(content, len(self.paths))
        paths = (*self.paths, *self.beside(content))
        return {
            path: file or None if self.is_optional else file for path, file in zip(paths, files, strict=False)
        }

    def settled(self, before: bytes | None, after: bytes) -> bytes:
        """Return `after` with the files that it names, and `before` does not, as they are on the disk, if they are.

        So going over to another file, or back to it, writes over nothing that is not known.
        """
        known = {} if before is None else self.unpack(before)
        files = self.unpack(after)
        for path in self.beside(after):
            if path not in known or files.get(path) is None:
                files[path] = known.get(path) or read_beside(self._home, path) or files.get(path)
        return self.pack(files)

    def _read(self, path: Path) -> bytes | None:
        try:
            return read_file(self._home, path)
        except FileNotFoundError:
            return None

    def text(self, content: bytes) -> str:
        """Return a content as it is shown: the text of its file, or of each of its files."""
        files = self.unpack(content)
        if len(files) == 1:
            return readable(files[self.path] or b"")
        shown = ""
        for path, file in files.items():
            if file is not None:
                shown += "" if shown.endswith("\n") or not shown else "\n"
                shown += f"==> {path.name}\n{readable(file)}"
        return shown

    # -- noticing what others write ---------------------------------------------------------------------

    def log(self, content: bytes | None) -> VersionLog:
        """Return the log as it is recorded."""
        return self.versions.log(None if content is None else sha256(content))

    def last_with(self, path: Path) -> tuple[int, bytes] | None:
        """Return the last version in which one of its files was there, and what that held; None where none is stored."""
        log = self.versions.log(None)
        for number, sha in (*((one.number, one.sha) for one in reversed(log.changes())), (0, log.first_sha)):
            content = self.versions.find(sha)
            if content is not None and (file := self.unpack(content).get(path)) is not None:
                return number, file
        return None

    def catch_up(self, content: bytes | None) -> VersionLog:
        """Return the log, in which a change made outside the program has become a version of its own.

        Where the text before it cannot be read just now, the error is raised, and nothing is written.
        """
        log = self.log(content)
        version = self._external_change(log, content)
        if version is not None:
            if content is not None:
                self.versions.store(content)
            self._record(version)
            self._mark_done()
            log.take(version)
            log.records += 2
        elif content is not None and (log.last_sha or log.gone):
            self._know(log, content)  # unless it is known: it may be back as it was
        return log

    def preview_log(self, content: bytes | None) -> VersionLog:
        """Return the log as `catch_up` would, without writing anything."""
        log = self.log(content)
        if (version := self._external_change(log, content)) is not None:
            log.take(version)
        return log

    def _external_change(self, log: VersionLog, content: bytes | None) -> Version | None:
        """Return the change that was made outside since the last version, None where there is none to be made."""
        current = None if content is None else sha256(content)
        known = log.last_sha
        if known is None and log.gone is not None and content is not None:
            known = log.gone.before
        if known is None or known == current:
            return None
        before = self.versions.find(known)
        what = "deleted" if content is None else "changed" if log.last_sha else "brought back"
        version = self._version(
            log,
            (content or b"") if before is None else before,  # nothing is counted where it is lost
            content,
            role="external",
            by=Author("external"),
            reason=f"{what} outside the program",
            subject="file",
        )
        return replace(version, before=known)

    def _know(self, log: VersionLog, content: bytes) -> None:
        if log.last_sha == sha256(content):
            return
        self.remember(content)
        log.last_sha, log.gone, log.last = sha256(content), None, None
        log.first_sha = log.first_sha or log.last_sha
        log.records += 1

    def know(self, content: bytes) -> VersionLog:
        """Keep what the file holds now, unless that is done: then what is written over it can be had again."""
        log = self.catch_up(content)
        self._know(log, content)
        return log

    def remember(self, content: bytes) -> None:
        """Keep what the file holds now as known, so that later changes from outside are noticed."""
        sha = self.versions.store(content)
        self.versions.append({"type": "known", "sha": sha, "at": self._time()})

    def fix(self, content: bytes) -> int:
        """Return the number of the text that the file holds; it stays that text's, whatever is typed next."""
        log = self.know(content)
        if log.is_open:
            self.versions.append({"type": "fixed", "version": log.current})
        return log.current

    # -- writing ----------------------------------------------------------------------------------------

    def write(
        self,
        log: VersionLog,
        before: bytes,
        after: bytes,
        *,
        by: Author,
        note: Note,
        reason: str = "",
        role: Role = "change",
        typed: bool = False,
        unit: str = "",
    ) -> Version:
        """Replace `before`, which is on disk, by `after`, and return the recorded change.

        Args:
            log: from `catch_up(before)`; brought up to date.
            before, after: the document's content.
            by, reason: for the log.
            note: subject and summary of the change.
            role: what kind of change.
            typed: whether it may join the person's stretch of editing.
            unit: key of the unit of undo; empty: the agent's run, or the change by itself.

        Raises:
            Conflict: the document is no longer `before`.
            InvalidValue: `after` is larger than a document may be.
            StorageError: the disk refused; the document is as it was.
        """
        require_size(after, "document")
        before_sha = self.versions.store(before)
        self.versions.store(after)
        stretch = log.stretch(by, before_sha, self._now()) if typed and role == "change" else None
        start = before
        if stretch is not None:
            try:
                start = self.versions.load(stretch.before)
            except PersonaError:  # lost, or not to be read now: then nothing is joined, and nothing refused
                stretch = None
        version = self._version(
            log,
            before,
            after,
            role=role,
            by=by,
            reason=reason,
            subject=note[0],
            summary=note[1],
            typed=typed,
            unit=unit,
            stretch=stretch,
            counted_from=start,
        )
        self._add_to_index(log, version)
        self._record(version)
        with self._void_on_error(version.sha):
            self._replace(before, after)
        self._mark_done()
        log.take(version)
        if stretch is not None:
            self.versions.drop_unused(before_sha, log)
        if log.is_long:
            with contextlib.suppress(PersonaError):  # the change is made; pruning can wait
                self.versions.prune(log, self._now())
        return version

    def _replace(self, before: bytes, after: bytes) -> None:
        """Write the files that differ; where one cannot be written, those before it are put back."""
        old, new = self.unpack(before), self.unpack(after)
        old |= {path: read_beside(self._home, path) for path in new if path not in old}
        written: list[Path] = []
        if len(old) > 1:
            self._require(before, after)
        try:
            for path, file in new.items():
                if old[path] != file:
                    self._put(path, file, partial(self._require_file, path, old[path], before, after))
                    written.append(path)
        except BaseException:
            for path in written:
                with contextlib.suppress(PersonaError, OSError):
                    self._put(path, old[path], lambda: None)
            raise

    def _put(self, path: Path, content: bytes | None, check: Callable[[], None]) -> None:
        if content is not None:
            if path not in self.paths:
                require_beside(self._home, path)
            if self.is_optional or path not in self.paths:
                self._make_folder(path.parent)
            replace_file(path, content, root=self._home.root, check=check)
            return
        check()
        with contextlib.suppress(FileNotFoundError):
            remove_file(path, root=self._home.root)
        if self.is_optional:
            with contextlib.suppress(OSError):
                path.parent.rmdir()  # where nothing else is in it

    def _make_folder(self, folder: Path) -> None:
        try:
            self._home.inside(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, "create", folder) from None

    def delete(
        self,
        log: VersionLog,
        before: bytes,
        *,
        by: Author,
        reason: str = "deleted",
        role: Role = "delete",
        unit: str = "",
    ) -> int:
        """Remove the files (of a symlink the link alone); return the number of the version that has their text.

        Arguments and errors as in `write`.
        """
        self.versions.store(before)
        number = log.current
        version = self._version(
            log, before, None, role=role, by=by, subject="file", summary=reason, unit=unit
        )
        self._record(version)
        with self._void_on_error(None):
            self._require(before, b"")
            for path in reversed(self.paths):
                with contextlib.suppress(FileNotFoundError):
                    remove_file(path, root=self._home.root)
        self._mark_done()
        return number

    def restore(
        self, log: VersionLog, before: bytes | None, number: int, after: bytes, *, by: Author
    ) -> bytes:
        """Make the document what it was in a version, and return its content; of equal content nothing is written.

        A file that its first one names stays as it is where the document is brought back, or had another one.

        A deleted file that was a symlink becomes one again first, and its target gets the text. It is not made where
        it would lead out of the home, to something else than a file, or to no folder.

        Args:
            log: from `catch_up(before)`.
            before: the content; None: there is no file.
            number: the version's number, for the log.
            after: the version's content.
            by: who restores it.

        Raises:
            Conflict: the document is no longer `before`.
            StorageError: the disk refused; the document is as it was.
        """
        link = None if log.gone is None or before is not None else log.gone.link
        if link is None or os.path.lexists(self.path) or not make_link(self.path, link, root=self._home.root):
            return self._restore(number, after, by, relinked=False)
        try:
            return self._restore(number, after, by, relinked=True)
        except BaseException:
            with contextlib.suppress(OSError):
                self.path.unlink()  # the link alone
            raise

    def _restore(self, number: int, after: bytes, by: Author, *, relinked: bool) -> bytes:
        before = self.read_if_there()  # a link that was made again has led to a text
        after = self.settled(before, after)
        log = self.catch_up(before)
        reason = f"version {number} restored"
        if before is None:
            self._bring_back(log, after, by=by, reason=reason)
        elif before != after:
            self.write(log, before, after, by=by, note=("file", reason))
        elif relinked:
            self._record(
                self._version(log, after, after, role="snapshot", by=by, subject="file", summary=reason)
            )
            self._mark_done()
        return after

    def _bring_back(self, log: VersionLog, content: bytes, *, by: Author, reason: str) -> None:
        """Write a deleted document again: a change from the text it had to `content`, which can be undone.

        Arguments and errors as in `write`; StorageError too where the file is there again.
        """
        self.versions.store(content)
        deleted = None if log.gone is None else self.versions.find(log.gone.before)
        before = content if deleted is None else deleted
        role: Role = "snapshot" if before == content else "change"
        version = self._version(log, before, content, role=role, by=by, subject="file", summary=reason)
        self._record(version)
        with self._void_on_error(version.sha):
            try:
                self._create(content)
            except FileExistsError:
                raise StorageError(
                    f"Another program has just created {self.path}; nothing was written. Try again."
                ) from None
        self._mark_done()

    def make(self, content: bytes, *, by: Author, reason: str, unit: str, role: Role = "change") -> bytes:
        """Write a document that is not there: a change from nothing, and a part of a unit; return its content.

        Raises:
            FileExistsError: it is there.
            StorageError: the disk refused; there is no document.
        """
        log, content = self.log(None), self.settled(None, content)
        for one in (b"", content):
            self.versions.store(one)
        version = self._version(
            log, b"", content, role=role, by=by, subject="file", summary=reason, unit=unit
        )
        self._add_to_index(log, version)
        self._record(version)
        with self._void_on_error(version.sha):
            self._create(content)
        self._mark_done()
        return content

    def _create(self, content: bytes) -> None:
        """Write the files of a document that is not there; one that its first file names stays as it is, if it is."""
        files = self.unpack(content)
        replace_file(self.path, files.pop(self.path) or b"", root=self._home.root, exclusive=True)
        for path, file in files.items():
            if path in self.paths or self._read(path) is None:
                self._put(path, file, lambda: None)

    def keep(self, log: VersionLog, content: bytes, kept: bytes, *, by: Author, reason: str) -> None:
        """Store a text that is not in the file as a version of its own; the file stays as it is."""
        self.versions.store(content)
        self.versions.store(kept)
        version = self._version(log, content, kept, role="kept", by=by, subject="file", summary=reason)
        self._record(version)
        self._mark_done()

    # -- records ----------------------------------------------------------------------------------------

    def _version(
        self,
        log: VersionLog,
        before: bytes,
        after: bytes | None,
        *,
        role: Role,
        by: Author,
        subject: str,
        summary: str = "",
        reason: str = "",
        typed: bool = False,
        unit: str = "",
        stretch: Version | None = None,
        counted_from: bytes | None = None,
    ) -> Version:
        number = log.next_version if stretch is None else stretch.number
        old = self.text(before if counted_from is None else counted_from)
        added, removed = count(old, "" if after is None else self.text(after))
        if not unit:
            is_run = by.kind == "agent" and by.run_id is not None
            unit = key_of_run(by.session_id, by.run_id or "") if is_run else key_of_version(number)
        summary = summary or f"file +{added} -{removed}"
        return Version(
            number=number,
            by=by,
            at=self._time(),
            reason=reason or summary,
            before=sha256(before),
            sha=None if after is None else sha256(after),
            added=added,
            removed=removed,
            role=role,
            note=(subject, summary),
            typed=typed,
            unit=unit,
            link=read_link(self.path) if role == "delete" else None,
        )

    def _time(self) -> str:
        return self._now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _add_to_index(self, log: VersionLog, version: Version) -> None:
        """Note that a unit has changed this document too, so that it is undone here with the others."""
        if may_span_documents(version.unit) and version.unit not in log.history.units:
            self._index.add(version.unit, self.key)

    def _record(self, version: Version) -> None:
        self.versions.append(to_journal(version), sync=True)

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

    def _require(self, before: bytes, wanted: bytes) -> None:
        """Raise Conflict unless the document still is what we read."""
        now = self.read_if_there()
        if now != before:
            raise Conflict(
                f"Another program has just changed {self.path.name}; nothing was written. Try again.",
                base=self.text(before),
                ours=self.text(wanted),
                theirs="" if now is None else self.text(now),
            )

    def _require_file(self, path: Path, old: bytes | None, before: bytes, wanted: bytes) -> None:
        """The same for one of the files, right before it is replaced."""
        if self._read(path) != old:
            self._require(before, wanted)
