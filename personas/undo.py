"""Undo and redo of one unit: in a document, and in every document that the unit changed."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from personas.document import Document
from personas.errors import Conflict, DamagedVersion, PersonaError, UnknownVersion
from personas.files.home import Home
from personas.files.text_file import BOM, decode, encode, readable
from personas.folder import read_all
from personas.toml.parse import parsing_once
from personas.versions.authorship import Author
from personas.versions.undo import IMPORT, Direction, Hop, HunksConflict, Unit, may_span_documents, reverse
from personas.versions.unit_index import UnitIndex


class UndoConflict(Conflict):
    """A unit that cannot be undone or redone without touching what was written since; nothing changed.

    Args:
        unit: which.
    """

    def __init__(self, message: str, *, base: str, ours: str, theirs: str, unit: Unit) -> None:
        super().__init__(message, base=base, ours=ours, theirs=theirs)
        self.unit = unit


@dataclass(frozen=True, slots=True)
class UndoResult:
    """What was undone or redone.

    Attributes:
        unit: which unit.
        version: number of the version that the document has now.
        content: of the document; None: it was left as it is, other documents were not.
        also: the other documents in which it was done.
        left: the documents that were left as they are, each with the reason.
    """

    unit: Unit
    version: int
    content: bytes | None
    also: tuple[str, ...] = ()
    left: tuple[tuple[str, str], ...] = ()


def step_everywhere(
    home: Home,
    document: Document,
    find: Callable[[str], Document],
    direction: Direction,
    *,
    by: Author,
    only: str | None = None,
) -> UndoResult | None:
    """Undo or redo the next unit of a document, there and in the other documents that it changed.

    Args:
        home: the home.
        document: whose next unit.
        find: returns a document by its key.
        direction, by, only: see `step`.

    Returns:
        None where no unit is left. What cannot be done in one of several documents is left out, and named in the result.

    Raises:
        UndoConflict, PersonaError: see `step`; nothing was changed in any document.
    """
    conflict: UndoConflict | None = None
    done: UndoResult | None = None
    try:
        done = step(document, direction, by=by, only=only)
    except UndoConflict as error:
        conflict = error
        done = UndoResult(error.unit, 0, None)
    if done is None:
        return None
    also, left = _step_in_others(home, document, find, direction, by, done.unit.key)
    if conflict is None:
        return UndoResult(done.unit, done.version, done.content, also, left)
    if not also:
        raise conflict
    version = document.log(document.read()).current
    return UndoResult(done.unit, version, None, also, ((document.key, str(conflict)), *left))


def _step_in_others(
    home: Home,
    document: Document,
    find: Callable[[str], Document],
    direction: Direction,
    by: Author,
    key: str,
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the other documents in which a unit was undone or redone, and those that were left."""
    if not may_span_documents(key):
        return (), ()
    also: list[str] = []
    left: list[tuple[str, str]] = []
    try:
        keys = UnitIndex(home).documents(key)
    except PersonaError as error:
        return (), (("other documents", str(error)),)
    used = _used_elsewhere(home, keys) if direction == "undo" and key.startswith(IMPORT) else {}
    for other in keys:
        if other == document.key:
            continue
        if other in used:
            left.append((other, f"{used[other]} uses it too."))
            continue
        try:
            if step(find(other), direction, by=by, only=key) is not None:
                also.append(other)
        except PersonaError as error:
            left.append((other, str(error)))
    return tuple(also), tuple(left)


def _used_elsewhere(home: Home, keys: Collection[str]) -> dict[str, str]:
    """Return documents of the library by key that a persona links whose own key is not among `keys`, with its id.

    An import uses again what another one has made.
    """
    from personas.library.assembly import linked

    return {
        f"{kind}/{name}": persona.id
        for persona in read_all(home, {})
        if persona.id not in keys
        for kind, names in linked(persona).items()
        for name in names
    }


def step(
    document: Document, direction: Direction, *, by: Author, only: str | None = None
) -> UndoResult | None:
    """Undo or redo the next unit of one document that still has an effect.

    Args:
        document: whose.
        direction: which way.
        by: who does it.
        only: see `UndoHistory.candidates`.

    Returns:
        None where no unit is left.

    Raises:
        BrokenFile, UndoConflict: see `without`.
        UnknownVersion: a text it needs is lost, so the unit never can be; the next step skips it.
        StorageError: the disk refused; the document is as it was.
    """
    with document.lock(), parsing_once():
        there = document.read_if_there()
        if there is None and not (direction == "redo" and document.log(None).is_undone):
            document.read()  # which says that there is none
        before, log = there or b"", document.catch_up(there)
        for unit in log.history.candidates(direction, only):
            skip = {"type": "skip", "stack": direction, "unit": unit.key}
            try:
                after = without(document, unit, before, direction)
            except UnknownVersion:
                document.versions.append(skip)  # it will never be had again: what is older stays in reach
                raise
            if after == before and not unit.is_elsewhere:
                document.versions.append(skip)
                continue
            number, note = log.next_version, ("file", f"{direction} of {unit.describe()}")
            if there is None:
                document.make(after, by=by, reason=note[1], unit=unit.key, role=direction)
            elif not after and unit.key.startswith(IMPORT) and not document.is_optional:
                document.delete(log, before, by=by, reason=note[1], unit=unit.key, role=direction)
            else:
                document.write(log, before, after, by=by, note=note, role=direction, unit=unit.key)
            return UndoResult(unit, number, after)
    return None


def without(document: Document, unit: Unit, before: bytes, direction: Direction) -> bytes:
    """Return a document's content with a unit's steps taken out and everything else kept.

    Args:
        document: whose texts the steps are between.
        unit: what to undo or redo.
        before: the content.
        direction: which way, for the message.

    Raises:
        BrokenFile: a text is not UTF-8.
        UnknownVersion: a text between the steps is not stored any more, or damaged (`DamagedVersion`).
        UndoConflict: what was written since meets the steps, or the outcome would be a broken file.
    """
    failed = f"Could not {direction} {unit.describe()} in {document.key}"
    hops = unit.hops
    try:
        contents = {
            sha: document.versions.load(sha, before) for hop in hops for sha in (hop.before, hop.after)
        }
    except UnknownVersion as error:
        lost = "is damaged" if isinstance(error, DamagedVersion) else "is not stored any more"
        raise type(error)(
            f"{failed}: a text it needs {lost}; nothing changed. The next {direction} skips it."
        ) from None
    now = document.unpack(before)
    stored = {sha: document.unpack(content) for sha, content in contents.items()}
    files: dict[Path, bytes | None] = {}
    for path in dict.fromkeys(path for each in (now, *stored.values()) for path in each):
        try:
            files[path] = _reverse_file(
                hops, now.get(path), {sha: each.get(path) for sha, each in stored.items()}
            )
        except HunksConflict as conflict:
            raise UndoConflict(
                f"{failed}: what was written since is in the same place; nothing changed.",
                base=conflict.after,
                ours=conflict.before,
                theirs=readable(now.get(path) or b""),
                unit=unit,
            ) from None
    after = document.pack(files)
    if document.is_broken(after) and not document.is_broken(before):
        raise UndoConflict(
            f"{failed}: it would break the file; nothing changed.",
            base=document.text(before),
            ours=document.text(after),
            theirs=document.text(before),
            unit=unit,
        )
    return document.settled(before, after)


def _reverse_file(hops: list[Hop], now: bytes | None, stored: dict[str, bytes | None]) -> bytes | None:
    """Take a unit's steps out of one file of a document; None stands for a file that is not there.

    Raises:
        BrokenFile: a text is not UTF-8.
        HunksConflict: it cannot be done.
    """
    if all(stored[hop.before] == stored[hop.after] for hop in hops):
        return now
    if len(hops) == 1 and now == stored[hops[0].after]:
        return stored[hops[0].before]
    texts = {sha: "" if content is None else decode(content).text for sha, content in stored.items()}
    text = reverse(hops, "" if now is None else decode(now).text, texts.__getitem__)
    if not text and stored[hops[0].before] is None:
        return None
    return encode(text, bom=(now or b"").startswith(BOM))
