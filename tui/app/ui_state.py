"""What the program remembers of a home from one start to the next: which persona was open, unsent
drafts, messages still queued, how the panes stood.

It lies in the home's `state/`, which may come from a stranger: it is read as text and nothing is done by it. A draft
may be of any size; what cannot be read is set aside and never written over.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from personas.errors import PersonaError
from personas.files.home import Home
from personas.files.text_file import read_regular, replace_file
from tui.drafts.blob_store import LARGEST_READ, Found, TextRecord
from tui.drafts.queued_messages import Said, as_stored, read_queued
from tui.drafts.stashed_drafts import Drafts, read_drafts, store_drafts, together

_NAME = "screen"
_ASIDE = 5
"""Drafts that are put aside for one persona."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is remembered.

    Attributes:
        persona_id: which persona was open; empty for none.
        drafts: what was written in the chat bar and not sent, by persona.
        layouts: by class of terminal size, how the panes stand there, as `PaneLayout.layouts` has it.
        known: whether anything was remembered at all.
        queued: what was said to an agent at work and is not delivered, by persona.
        aside: drafts of other programs that gave way to one that was written later, by persona, oldest first.
        answers: the question a draft was written as the answer to, by persona.
        put_away: drafts that the person put away.
        said: what there is to say of what could not be read.
    """

    persona_id: str = ""
    drafts: Mapping[str, str] = field(default_factory=dict)
    layouts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    known: bool = True
    queued: Mapping[str, Said] = field(default_factory=dict)
    aside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    put_away: Drafts = field(default_factory=dict)
    said: tuple[str, ...] = field(default=(), compare=False)

    def with_drafts(self, drafts: Mapping[str, str]) -> Remembered:
        """Return the same with other drafts; one that is not as it was answers no question any more."""
        answers = {
            key: asked for key, asked in self.answers.items() if drafts.get(key) == self.drafts.get(key)
        }
        return replace(self, drafts=drafts, answers=answers)


def recall(home: Home) -> Remembered:
    """Return what is remembered; a missing file remembers nothing, nor does one that cannot be read. Blocking."""
    record = TextRecord(home, _NAME)
    with record.alone():
        return _of(record.read())


def opened_last(home: Home) -> str:
    """Return the id of the persona that was open last, empty where that is not known. Blocking."""
    try:
        content = read_regular(TextRecord(home, _NAME).path, root=home.root, limit=LARGEST_READ)
        return str(json.loads(content)["persona_id"])
    except (OSError, PersonaError, ValueError, TypeError, KeyError, RecursionError):
        return ""


def _of(found: Found) -> Remembered:
    """Return what a record says, which may be anything."""
    stored = found.record
    if stored is None:
        return Remembered(known=False, said=found.said)
    persona_id, drafts, layouts, aside = (
        stored.get(name) for name in ("persona_id", "drafts", "layouts", "aside")
    )
    return Remembered(
        persona_id if isinstance(persona_id, str) else "",
        _texts(drafts),
        {key: _numbers(sizes) for key, sizes in layouts.items() if isinstance(sizes, dict)}
        if isinstance(layouts, dict)
        else {},
        queued=read_queued(stored.get("queued")),
        aside={
            key: tuple(text for text in texts if isinstance(text, str))
            for key, texts in aside.items()
            if isinstance(texts, list)
        }
        if isinstance(aside, dict)
        else {},
        answers=_texts(stored.get("answers")),
        put_away=read_drafts(stored.get("put_away")),
        said=found.said,
    )


def beside(ours: Remembered, base: Remembered, disk: Remembered) -> Remembered:
    """Return what is to be stored where several programs remember the same home, each what it shows. Pure.

    What this program did not change stays as another one stored it. A draft of another one that ours takes the
    place of is put aside, unless ours goes on with it.

    Args:
        ours: what this program has now.
        base: what it had when it stored or read last.
        disk: what is stored.
    """
    if not disk.known:
        return ours
    drafts, aside = dict(ours.drafts), {key: list(texts) for key, texts in disk.aside.items()}
    answers = dict(ours.answers)
    for key in {*drafts, *disk.drafts}:
        mine, before, theirs = (texts.get(key, "") for texts in (ours.drafts, base.drafts, disk.drafts))
        if mine == before or (not mine.strip() and theirs != before):
            drafts[key] = theirs
            if theirs != mine:
                answers[key] = disk.answers.get(key, "")
        elif theirs not in ("", before) and not mine.startswith(theirs):
            aside[key] = [text for text in aside.get(key, ()) if not theirs.startswith(text)] + [theirs]
    queued = dict(ours.queued)
    for key in {*queued, *disk.queued}:
        if ours.queued.get(key) == base.queued.get(key):
            queued[key] = disk.queued.get(key, Said())
    kept = {
        key: [text for text in texts if not drafts.get(key, "").startswith(text)]
        for key, texts in aside.items()
    }
    return replace(
        ours,
        drafts={key: text for key, text in drafts.items() if text.strip()},
        queued={key: said for key, said in queued.items() if said.turns},
        aside={key: tuple(texts[-_ASIDE:]) for key, texts in kept.items() if texts},
        answers={key: asked for key, asked in answers.items() if asked},
        put_away=together(disk.put_away, ours.put_away),
    )


def is_there(home: Home) -> bool:
    """Whether anything is remembered on the disk. Blocking."""
    return os.path.lexists(TextRecord(home, _NAME).path)


def _texts(stored: object) -> dict[str, str]:
    texts = stored.items() if isinstance(stored, dict) else ()
    return {key: text for key, text in texts if isinstance(text, str)}


def _numbers(sizes: Mapping[str, object]) -> dict[str, int]:
    return {key: value for key, value in sizes.items() if type(value) is int and 0 <= value < 10_000}


def remember(home: Home, what: Remembered) -> bool:
    """Store it; return whether that was possible. Blocking."""
    record = TextRecord(home, _NAME)
    with record.alone():
        return _write(record, what, record.read())


def update(home: Home, ours: Remembered, base: Remembered) -> Remembered | None:
    """Store what this program has beside what other programs stored; see `beside`. Blocking.

    Returns:
        What is stored now, and what there is to say; None where the disk refused.
    """
    record = TextRecord(home, _NAME)
    with record.alone():
        found = record.read()
        disk = _of(found)
        if disk.known and disk.said:  # what could not be read was taken away by nobody
            drafts, queued = {**base.drafts, **disk.drafts}, {**base.queued, **disk.queued}
            disk = replace(disk, drafts=drafts, queued=queued)
        result = replace(beside(ours, base, disk), said=found.said)
        return result if _write(record, result, found) else None


def _write(record: TextRecord, what: Remembered, found: Found) -> bool:
    stored = {
        "persona_id": what.persona_id,
        "drafts": dict(what.drafts),
        "queued": as_stored(what.queued),
        "layouts": dict(what.layouts),
        "aside": {key: list(texts) for key, texts in what.aside.items()},
        "answers": dict(what.answers),
        "put_away": store_drafts(what.put_away),
    }
    return record.write(stored, found, replace=replace_file)
