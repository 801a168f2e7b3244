"""Where texts lie that could not be stored in a persona's file, and how they go and come back with the persona.

One file for each text, in the home's `state/`; its name says whose it is, which field, and which program wrote it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from pathlib import Path

from personas.errors import PersonaError
from personas.files.home import Home
from personas.files.text_file import sha256

_NAME = re.compile(r"(unsaved-[0-9a-f]{20}-[0-9a-f]{12})(?:-([0-9a-f]{16}))?\.json")
_ASIDE = "unsaved"
"""The folder in a deleted persona's versions."""


def new_writer() -> str:
    """Return a name for a program that keeps texts; nobody else has it."""
    return secrets.token_hex(8)


def beginning(persona_id: str = "") -> str:
    """Return how the names of the files of one persona begin, or of all: an id may hold any letters."""
    return f"unsaved-{sha256(persona_id.encode('utf-8', 'replace'))[:20]}-" if persona_id else "unsaved-"


def file_name(persona_id: str, field: str, writer: str) -> str:
    """Return the name of the file of one text."""
    return f"{beginning(persona_id)}{sha256(field.encode('utf-8', 'replace'))[:12]}-{writer}.json"


def writer_of(name: str, persona_id: str, field: str) -> str | None:
    """Return who wrote a file, empty where the name says nobody; None where it is not the file of this text."""
    match = _NAME.fullmatch(name)
    if match is None or not file_name(persona_id, field, "").startswith(f"{match[1]}-"):
        return None
    return match[2] or ""


def kept_names(home: Home, start: str) -> list[str]:
    """Return the names of the files that begin so, sorted; none where the folder cannot be read."""
    return _names(home.state, start)


def is_kept(home: Home, persona_id: str) -> bool:
    """Whether any text of a persona is kept."""
    return bool(kept_names(home, beginning(persona_id)))


def set_aside(home: Home, persona_id: str) -> None:
    """A persona is deleted: what is kept of it goes to its versions."""
    _move(home, home.state, home.versions / persona_id / _ASIDE, beginning(persona_id))


def give_back(home: Home, persona_id: str) -> None:
    """A deleted persona is back: so is what was kept of it."""
    _move(home, home.versions / persona_id / _ASIDE, home.state, beginning(persona_id))


def _move(home: Home, source: Path, target: Path, start: str) -> None:
    """Move the files whose names begin so, under names of their own; what cannot be moved stays."""
    names = _names(source, start)
    if not names:
        return
    with contextlib.suppress(OSError, PersonaError):
        home.inside(source)
        home.inside(target.parent)
        target.mkdir(0o700, exist_ok=True)
        home.inside(target)
        for name in names:
            match = _NAME.fullmatch(name)
            if match is not None:
                os.replace(source / name, target / f"{match[1]}-{new_writer()}.json")  # noqa: PTH105


def _names(folder: Path, start: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(e.name for e in entries if e.name.startswith(start) and _NAME.fullmatch(e.name))
    except OSError:
        return []
