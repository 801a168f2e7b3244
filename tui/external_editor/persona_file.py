"""A persona's file in the person's own editor: what others changed meanwhile and what was written there, in one text.

An editor may save the copy it once read over what an agent wrote since: it is merged like any two changes, by lines,
from the text that was handed out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from personas.changes import ReplaceText
from personas.errors import Conflict, PersonaError
from personas.external_writes import begin_edit, moment, written_since
from personas.files.text_file import encode
from personas.persona import read_persona
from personas.versions.authorship import USER
from personas.versions.merge import Hunk
from tui.document.merge import MergeConflict, merge_texts

if TYPE_CHECKING:
    from personas.persona import Persona
    from personas.store import Store

_TRIES = 5
BY_HAND = "edited by hand"
MERGED = "merged with what was changed while the editor was open"


@dataclass(frozen=True, slots=True)
class HandedOut:
    """A file as an editor got it: whose, its text, and the moment, as `personas.external_writes` has it."""

    persona_id: str
    text: str
    since: int


@dataclass(frozen=True, slots=True)
class SavedFile:
    """A file is written: the persona as it is now, and whether somebody else had changed it meanwhile."""

    persona: Persona
    merged: bool


def hand_out(store: Store, persona_id: str) -> HandedOut | None:
    """Note what an editor is about to read; None where that is no text. Blocking.

    What it writes until `personas.external_writes.end_edit` is a change of the person's.

    Raises:
        PersonaError: what is there cannot be kept: what the editor takes away is gone.
    """
    begin_edit(store, persona_id, by=USER, reason=BY_HAND)
    try:
        return HandedOut(persona_id, store.text(persona_id), moment(store, persona_id))
    except PersonaError:
        return None


def merge_files(base: str, ours: str, theirs: str) -> str | MergeConflict:
    """As `tui.document.merge.merge_texts`, for whole files: two that can be read do not become one that cannot. Pure."""
    merged = merge_texts(base, ours, theirs)
    if isinstance(merged, str) and spoils(merged, ours, theirs):
        return MergeConflict(base, ours, theirs, (Hunk(1, base, ours, theirs),))
    return merged


def spoils(text: str, *made_of: str) -> bool:
    """Whether a text is not a persona file although those that it was made of are. Pure."""
    return text not in made_of and _is_broken(text) and not any(map(_is_broken, made_of))


def _is_broken(text: str) -> bool:
    return read_persona("any", encode(text)).error is not None


def with_what_was_taken(given: str, writes: Iterable[tuple[str, str]], now: str) -> str | MergeConflict:
    """Return the file with everything that an editor's writes took away put back, or the conflict where both touch. Pure.

    Args:
        given: what the editor read first.
        writes: what was in the file before each write of the editor, and after it, oldest first.
        now: what is in the file.
    """
    wanted = known = given  # what everybody wants to be there, and the copy that the editor has
    for before, after in [*writes, (now, now)]:
        for text in (before, after):
            merged = merge_files(known, text, wanted)
            if isinstance(merged, MergeConflict):
                return merge_files(known, now, wanted)
            wanted = merged
        known = after
    return wanted


def take_back(store: Store, handed: HandedOut) -> SavedFile | MergeConflict | None:
    """Put back into the file what an editor's older copy took away; None where it took nothing away. Blocking.

    Raises:
        PersonaError: the file cannot be read or written.
    """
    for _ in range(_TRIES):
        writes = written_since(store, handed.persona_id, handed.since)
        now, text = store.get(handed.persona_id), store.text(handed.persona_id)
        merged = with_what_was_taken(handed.text, writes, text) if writes else text
        if merged == text:
            return None
        if isinstance(merged, MergeConflict):
            return merged
        try:
            return SavedFile(_replace(store, now, merged, MERGED, own_unit=True), True)
        except Conflict:
            continue
    raise PersonaError(
        "The file changes faster than it can be saved; what was in it is kept as versions: "
        f"persona log {handed.persona_id}"
    )


def save_file(
    store: Store, persona_id: str, base: str, text: str, reason: str, *, own_unit: bool = False
) -> SavedFile | MergeConflict:
    """Write a text that grew from `base` into the file, merged with what others did to it since. Blocking.

    `alone`: as in `Store.change`.

    Raises:
        PersonaError: the file cannot be read or written.
    """
    for _ in range(_TRIES):
        now, there = store.get(persona_id), store.text(persona_id)
        merged = merge_files(base, text, there)
        if isinstance(merged, MergeConflict):
            return merged
        try:
            return SavedFile(_replace(store, now, merged, reason, own_unit=own_unit), there != base)
        except Conflict:
            continue
    raise PersonaError("The file changes faster than it can be saved.")


def _replace(store: Store, now: Persona, text: str, reason: str, *, own_unit: bool) -> Persona:
    change = ReplaceText(text)
    return store.change(now.id, change, revision=now.revision, by=USER, reason=reason, own_unit=own_unit)
