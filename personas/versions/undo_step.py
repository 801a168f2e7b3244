"""One step of undo or redo in a persona's file: what it would make of the file, and making it.

Which units there are and what reversing one does to a text is in `undo`.
"""

from __future__ import annotations

import contextlib
from typing import Literal

from personas.errors import BrokenFile, Conflict, DamagedVersion, PersonaError, UnknownVersion
from personas.files.text_file import BOM, decode, encode, sha256
from personas.persona_file import PersonaFile
from personas.persona_reading import read_persona
from personas.toml.parse import parse
from personas.versions.authorship import Author
from personas.versions.timeline import Entry, Timeline
from personas.versions.undo import Retrace, Unit, reverse


def take_step(
    file: PersonaFile,
    before: bytes,
    direction: Literal["undo", "redo"],
    *,
    by: Author,
    only: str | None = None,
) -> tuple[Unit, Entry, bytes] | None:
    """Undo or redo the next unit that still has an effect, under the file's lock.

    Args:
        file: whose.
        before: the file's bytes.
        direction: which way.
        by: who does it.
        only: `agent` takes the next of the agent's runs, whatever the person did since; a unit's key takes that one.

    Returns:
        The unit, the recorded change and the file's new bytes; None where no unit is left.

    Raises:
        BrokenFile, Conflict: see `without`.
        UnknownVersion: a text it needs is lost, so the unit never can be; the next step passes it over.
        StorageError: the disk refused; the file is as it was.
    """
    timeline = file.noticed(before)
    for unit in timeline.cursor.candidates(direction, only):
        skip = {"type": "skip", "stack": direction, "unit": unit.key}
        try:
            after = without(file, unit, before, direction)
        except UnknownVersion:
            file.versions.append(skip)  # it will never be had again: what is older stays in reach
            raise
        if after == before:
            file.versions.append(skip)
            continue
        note = ("file", f"{direction} of {unit.describe()}")
        entry = file.write(timeline, before, after, by=by, note=note, role=direction, unit=unit.key)
        return unit, entry, after
    return None


def retrace_step(
    file: PersonaFile, timeline: Timeline, before: bytes, after: bytes, direction: Retrace
) -> tuple[str, bytes]:
    """Find what a step that the person took back, or did again, is of: a unit, a part of one, or neither.

    Args:
        file: whose.
        timeline: from `file.noticed(before)`.
        before: the file's bytes.
        after: what the step makes of them.
        direction: which way.

    Returns:
        The unit's key, empty for a unit of its own, and the bytes to write: where the step leads to the data at
        the unit's end, they are that text, comments and layout as they were.
    """
    cursor = timeline.cursor
    key = cursor.joined(direction, sha256(before))
    if key:
        candidates = [unit for unit in cursor.candidates(direction) if unit.key == key]
    else:
        candidates = cursor.candidates(direction, "user")[:1]
    for unit in candidates:
        with contextlib.suppress(PersonaError):  # no text to compare with: then it is a part
            end = reverse(
                unit, decode(before).text, lambda sha: decode(file.versions.load(sha, before)).text
            ).text
            if end is not None and parse(end) == parse(decode(after).text):
                return unit.key, encode(end, bom=before.startswith(BOM))
    return key, after


def without(file: PersonaFile, unit: Unit, before: bytes, direction: Literal["undo", "redo"]) -> bytes:
    """Return the file's bytes with a unit's steps taken out and everything else kept.

    Args:
        file: whose texts the steps are between.
        unit: what to undo or redo.
        before: the file's bytes.
        direction: which way, for the message.

    Raises:
        BrokenFile: a text is not UTF-8.
        UnknownVersion: a text between the steps is not stored any more, or damaged (`DamagedVersion`).
        Conflict: what was written since meets the steps, or the outcome would be a broken file.
    """
    ends_here = len(unit.hops) == 1 and unit.hops[0].after == sha256(before)
    try:
        now = decode(before).text
    except BrokenFile:
        if ends_here:  # nothing was written since: what was there before is all that is wanted
            return file.versions.load(unit.hops[0].before, before)
        raise
    try:
        reversal = reverse(unit, now, lambda sha: decode(file.versions.load(sha, before)).text)
    except UnknownVersion as error:
        lost = "is damaged" if isinstance(error, DamagedVersion) else "is not stored any more"
        raise type(error)(
            f"Could not {direction} {unit.describe()} in {file.persona_id}: a text it needs {lost}; nothing "
            f"changed. The next {direction} passes it over."
        ) from None
    if reversal.text is None:
        reason, base, ours = "what was written since is in the same place", reversal.after, reversal.before
    else:
        after = encode(reversal.text, bom=before.startswith(BOM))
        broken = read_persona(file.persona_id, after).error
        if broken is None or read_persona(file.persona_id, before).error is not None:
            return after
        reason, base, ours = "it would break the file", now, reversal.text
    raise Conflict(
        f"Could not {direction} {unit.describe()} in {file.persona_id}: {reason}; nothing changed.",
        base=base,
        ours=ours,
        theirs=now,
    )
