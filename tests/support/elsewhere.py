"""Another process, as its locks show it."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PID = 4711
"""Its number."""


@contextmanager
def held_elsewhere(path: Path, pid: int | None = PID) -> Iterator[None]:
    """Hold the lock file at `path` as another process does; `pid`: what the file says of it, None for nothing."""
    path.parent.mkdir(exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.write("" if pid is None else str(pid))
        file.flush()
        yield
