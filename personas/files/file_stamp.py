"""A stamp of a file (inode, size, time) that changes whenever the file does. Blocking."""

from __future__ import annotations

from pathlib import Path

Stamp = tuple[int, int, int]


def stamp_of(path: Path) -> Stamp | None:
    """Return what the disk says of a file or folder, another after each change; None where there is none."""
    try:
        status = path.stat()
    except (OSError, ValueError):  # a path that no file can have
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
