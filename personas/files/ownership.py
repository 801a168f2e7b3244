"""Whose a file or a folder is, for what lies outside of homes and nobody else may write."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def is_foreign(path: Path, *, folder: bool = False) -> bool:
    """Whether something else than a file (or `folder`) of this person is at `path`, or others may write to it."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    is_kind = stat.S_ISDIR if folder else stat.S_ISREG
    return not is_kind(found.st_mode) or found.st_uid != os.geteuid() or bool(found.st_mode & 0o022)
