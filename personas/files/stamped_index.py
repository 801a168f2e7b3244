"""What was read from the files of a folder, stored with the stamp of each, so that next time only changed files are read."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from personas.errors import PersonaError
from personas.files.file_stamp import Stamp
from personas.files.json_file import read_json
from personas.files.text_file import encode, replace_file

_MANY = 100  # entries made anew, from which on all are stored


class StampedIndex:
    """Entries by name, in a file that may be lost without harm. A small folder has none: reading it takes no time.

    Args:
        path: where they are stored.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stored = read_json(path)
        self._added: dict[str, Any] = {}

    def get(self, name: str, stamp: Stamp | None) -> Any:
        """Return what was stored of a file that has not changed since; None: it is to be read. It may be any JSON value."""
        match self._stored.get(name):
            case [stored, value] if stamp is not None and stored == [*stamp]:
                return value
        return None

    def add(self, name: str, stamp: Stamp | None, value: Any) -> None:
        """Add what a file says, a JSON value, with the stamp that it had before it was read."""
        if stamp is not None:
            self._added[name] = [stamp, value]

    def keep(self, names: Collection[str]) -> None:
        """Store the entries of these names, where many are new; a disk that refuses is no harm."""
        if len(self._added) >= _MANY:
            entries = {**self._stored, **self._added}
            kept = {name: entries[name] for name in names if name in entries}
            with contextlib.suppress(PersonaError):
                replace_file(self._path, encode(json.dumps(kept)), root=self._path.parent)
