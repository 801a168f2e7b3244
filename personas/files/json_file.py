"""Small JSON files of the person, outside any home: read without a lock, changed under one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from personas.errors import PersonaError
from personas.files.text_file import encode, read_regular, replace_file, storage_error


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a file; a missing or damaged file is an empty one."""
    try:
        stored = json.loads(read_regular(path, root=path.parent))
    except (FileNotFoundError, PersonaError, ValueError, RecursionError):
        return {}
    return stored if isinstance(stored, dict) else {}


@contextmanager
def edit_json(path: Path, *, lock: str, what: str) -> Iterator[dict[str, Any]]:
    """Give the object in a file, to be changed, and write it; other writers wait.

    Args:
        path: the file; its folder is made first.
        lock: name of the lock file beside it.
        what: what the file holds, as the subject of a sentence.

    Raises:
        Busy: another process has been writing it for seconds.
        StorageError: the disk refused.
    """
    from personas.files.lock import hold

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(error, "create", path.parent) from None
    with hold(path.with_name(lock), wait=5, what=what):
        stored = read_json(path)
        yield stored
        replace_file(path, encode(json.dumps(stored, indent=2) + "\n"), root=path.parent)
