"""A stored version put back into its persona's file, which may have been deleted, or a symlink."""

from __future__ import annotations

import contextlib
import os

from personas.persona_file import PersonaFile
from personas.versions.authorship import Author
from personas.versions.timeline import Timeline


def write_version(
    file: PersonaFile, timeline: Timeline, before: bytes | None, number: int, after: bytes, *, by: Author
) -> None:
    """Make the file what it was in a version, under the file's lock; of equal bytes nothing is written.

    A deleted file that was a symlink becomes one again first, and its target gets the text.

    Args:
        file: the file.
        timeline: from `file.noticed(before)`.
        before: the file's bytes; None: there is no file.
        number: the version's number, for the log.
        after: the version's bytes.
        by: who restores it.

    Raises:
        Conflict: the file is no longer `before`.
        StorageError: the disk refused; the file is as it was.
    """
    if before is not None or os.path.lexists(file.path) or not file.relink(timeline):
        _write(file, number, after, by, relinked=False)
        return
    try:
        _write(file, number, after, by, relinked=True)
    except BaseException:
        with contextlib.suppress(OSError):
            file.path.unlink()  # the link alone
        raise


def _write(file: PersonaFile, number: int, after: bytes, by: Author, *, relinked: bool) -> None:
    before = file.read_if_there()  # a link that was made again has led to a text
    timeline = file.noticed(before)
    reason = f"version {number} restored"
    if before is None:
        file.bring_back(timeline, after, by=by, reason=reason)
    elif before != after:
        file.write(timeline, before, after, by=by, note=("file", reason))
    elif relinked:
        file.snapshot(timeline, after, by=by, reason=reason)
