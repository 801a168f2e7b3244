"""Advisory lock files that say who holds them. Where the file system has no locks, nobody is held up.

Within one process a thread waits for another one as long as that is at work; only another process counts as busy.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from personas.errors import Busy, OutsideHome
from personas.files.text_file import LOCKED, storage_error

try:
    import fcntl
except ImportError:  # a system without flock
    fcntl = None  # type: ignore[assignment]

_PAUSE = 0.01  # seconds between two tries
_A_MOMENT = 0.2  # seconds that somebody who holds it without saying so may be one who only looks
_held_here: dict[tuple[int, int], int] = {}  # the thread that holds it, by device and number of the lock file
_OPEN = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@contextlib.contextmanager
def hold(path: Path, *, wait: float = 0.0, what: str = "This") -> Iterator[None]:
    """Hold the lock file at `path` for the length of a `with` block.

    The lock goes with the process: a crash frees it. The file stays; while it is held, it contains the pid.

    Args:
        path: the lock file; created with mode 0600 in an existing folder.
        wait: seconds to wait for another holder. If not 0, a thread beside the main one, which is nobody's event
            loop, waits for another thread of this process as long as it takes.
        what: the subject of the message, for example "The persona optimist".

    Raises:
        Busy: somebody else holds it; carries the pid where known.
        OutsideHome: a symlink or something else than a file is in its place.
        StorageError: the lock file cannot be created.
    """
    with _opened(path) as descriptor:
        held, which = _take(descriptor, wait, what), _identity(os.fstat(descriptor))
        if held:
            _held_here[which] = threading.get_ident()
            _write_pid(descriptor, str(os.getpid()))
        try:
            yield
        finally:
            if held:
                _write_pid(descriptor, "")
                del _held_here[which]


def holder(path: Path) -> int | None:
    """Return the pid of the process that holds the lock at `path`, 0 if unknown, None if it is free.

    To look is to hold it for a moment, without a pid in the file: who wants it then waits for that moment.
    """
    try:
        with _opened(path) as descriptor:
            if _take(descriptor, 0.0, "This"):
                _write_pid(descriptor, "")
            return None
    except Busy as busy:
        return busy.pid or 0


def holder_elsewhere(path: Path) -> int | None:
    """Return the same of other processes alone, None where this one holds it."""
    pid = holder(path)
    try:
        return None if _identity(os.lstat(path)) in _held_here else pid
    except OSError:
        return pid


def busy(what: str, pid: int | None) -> Busy:
    """Return the error of a lock that somebody else holds.

    Args:
        what: the subject of its sentence.
        pid: of who holds it; None or 0: unknown.
    """
    return Busy(f"{what} is busy{f' (pid {pid})' if pid else ''}; try again when it is done.", pid or None)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    try:
        descriptor = os.open(path, _OPEN, 0o600)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
            raise OutsideHome(f"{path} is not a regular file; remove it.") from None
        raise storage_error(error, "lock", path) from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OutsideHome(f"{path} is not a regular file; remove it.")
        yield descriptor
    finally:
        os.close(descriptor)


def _take(descriptor: int, wait: float, what: str) -> bool:
    """Lock, or say who has it. Returns False where locks do not exist."""
    if fcntl is None:
        return False
    begun = time.monotonic()
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in LOCKED:
                return False  # ENOLCK, ENOTSUP, …: this file system has no locks
        else:
            return True
        if wait and _is_held_beside(descriptor):
            begun = time.monotonic()
        pid, waited = _read_pid(descriptor), time.monotonic() - begun
        if waited >= max(wait, _A_MOMENT if pid is None else _PAUSE):
            raise busy(what, pid)
        time.sleep(_PAUSE)


def _is_held_beside(descriptor: int) -> bool:
    """Whether another thread of this process holds it, and this one may wait for that."""
    thread = _held_here.get(_identity(os.fstat(descriptor)))
    here = threading.current_thread()
    return thread not in (None, here.ident) and here is not threading.main_thread()


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _write_pid(descriptor: int, text: str) -> None:
    with contextlib.suppress(OSError):  # only for messages; the lock itself does not depend on it
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode(), 0)


def _read_pid(descriptor: int) -> int | None:
    try:
        text = os.pread(descriptor, 32, 0)
    except OSError:
        return None
    return int(text) if text.isdigit() else None
