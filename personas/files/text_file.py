"""Bytes to text and back, safe reading and atomic writing of regular files inside a folder.

Knows nothing of personas. A file is only ever replaced whole: what was there stays there until the new bytes are
on the disk.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from personas.errors import BrokenFile, InvalidValue, OutsideHome, StorageError

try:
    import fcntl
except ImportError:  # a system without flock
    fcntl = None  # type: ignore[assignment]

SIZE_LIMIT = 16 * 1024 * 1024
BOM = b"\xef\xbb\xbf"

_OPEN = (
    os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
)
_STALE = 3600  # seconds after which a temporary file counts as left behind, on a system without locks
_TEMPORARY = r"\.persona-[0-9a-f]{16}\.tmp"
LOCKED = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)
"""What the system says where somebody has the lock; with anything else there are no locks."""
_swept: dict[Path, float] = {}  # folders looked through by this process, and when (monotonic)
_REASONS = {
    errno.ENOSPC: "the disk is full; free some space and try again",
    errno.EDQUOT: "your disk quota is used up; free some space and try again",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission denied; check who owns it",
    errno.EPERM: "permission denied; check who owns it",
    errno.ENAMETOOLONG: "the name is too long",
    errno.EMFILE: "too many files are open",
    errno.ENOTDIR: "a part of the path is not a folder",
}


class Decoded(NamedTuple):
    """A file's text without its byte order mark, and whether it had one. Line endings are as on disk."""

    text: str
    bom: bool


def storage_error(error: OSError, action: str, path: Path) -> StorageError:
    """Turn an operating system error into one clear line.

    Args:
        error: what was raised.
        action: the verb: "write", "read", "create", ….
        path: the file it was about.
    """
    reason = _REASONS.get(error.errno or 0) or (error.strerror or str(error)).lower()
    return StorageError(f"Could not {action} {path}: {reason}.")


def sha256(content: bytes) -> str:
    """Return the SHA-256 of `content` in hex: a persona's revision, a version's key."""
    return hashlib.sha256(content).hexdigest()


def decode(content: bytes) -> Decoded:
    """Decode UTF-8 with or without a byte order mark.

    Raises:
        BrokenFile: the bytes are not UTF-8; line and column say where.
    """
    bom = content.startswith(BOM)
    body = content[len(BOM) :] if bom else content
    try:
        return Decoded(body.decode("utf-8"), bom)
    except UnicodeDecodeError as error:
        before = body[: error.start]
        line_start = before.rfind(b"\n") + 1
        column = len(before[line_start:].decode("utf-8", "replace")) + 1
        raise BrokenFile("the file is not UTF-8", before.count(b"\n") + 1, column) from None


def readable(content: bytes) -> str:
    """Return a file's text for showing and counting, whatever its bytes are."""
    try:
        return decode(content).text
    except BrokenFile:
        return content.decode("utf-8", "replace")


def encode(text: str, *, bom: bool = False) -> bytes:
    """Encode text as UTF-8, the byte order mark first where there was one.

    Raises:
        InvalidValue: the text holds half of a character (a lone surrogate), which UTF-8 cannot say.
    """
    try:
        return (BOM if bom else b"") + text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidValue(
            f"The text holds a character that cannot be stored (U+{ord(text[error.start]):04X}); remove it."
        ) from None


def expanded(named: str) -> Path:
    """Return a path as a person names it, where `~` is their own folder and `~somebody` that of somebody.

    Raises:
        StorageError: there is no such user.
    """
    try:
        return Path(named).expanduser()
    except RuntimeError:
        raise StorageError(f"There is no {named}: no such user.") from None


def resolve_inside(path: Path, root: Path) -> Path:
    """Follow all symlinks of `path` and return where it ends, which must be inside `root`.

    Raises:
        OutsideHome: it leads out of `root`, or round in circles.
    """
    real_root = os.path.realpath(root)
    real = os.path.realpath(path)
    if real != real_root and not real.startswith(real_root.rstrip(os.sep) + os.sep):
        raise OutsideHome(f"{path} leads out of {root}; only files inside it are used.")
    return Path(real)


def require_size(content: bytes, what: str) -> None:
    """Check that a file is not larger than it may be.

    Raises:
        InvalidValue: it is; `what` says of what it would be the file, for the message.
    """
    if len(content) > SIZE_LIMIT:
        raise InvalidValue(f"The {what} would be larger than {SIZE_LIMIT // (1024 * 1024)} MB.")


def read_regular(path: Path, *, root: Path, limit: int = SIZE_LIMIT) -> bytes:
    """Read a regular file inside `root`, never waiting on a pipe or touching a device.

    Args:
        path: the file; symlinks are followed inside `root` only.
        root: the folder that must hold it.
        limit: most bytes to read.

    Raises:
        FileNotFoundError: nothing is there.
        OutsideHome: it lies outside, or is no regular file.
        StorageError: it is too large or cannot be read.
    """
    try:
        try:
            direct = not stat.S_ISLNK(os.lstat(path).st_mode) and path.parent == root
            real = path if direct else resolve_inside(path, root)
            _require_regular(os.lstat(real).st_mode, path)
            descriptor = os.open(real, os.O_RDONLY | _OPEN)
        except NotADirectoryError:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path)) from None
        try:
            status = os.fstat(descriptor)
            _require_regular(status.st_mode, path)
            if status.st_size > limit:
                raise StorageError(f"{path} is larger than {limit // (1024 * 1024)} MB; it is left alone.")
            return _read_up_to(descriptor, limit, status.st_size, path)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OutsideHome(f"{path} is a symlink that leads nowhere.") from None
        raise storage_error(error, "read", path) from None


def _read_up_to(descriptor: int, limit: int, expected: int, path: Path) -> bytes:
    """Read to the end of the file, which may grow meanwhile, but not beyond `limit`."""
    parts = []
    left = limit + 1
    step = expected + 1
    while left > 0 and (part := os.read(descriptor, min(left, step))):
        parts.append(part)
        left -= len(part)
        step = 65536
    if left <= 0:
        raise StorageError(f"{path} is larger than {limit // (1024 * 1024)} MB; it is left alone.")
    return b"".join(parts)


def _require_regular(mode: int, path: Path) -> None:
    if not stat.S_ISREG(mode):
        raise OutsideHome(f"{path} is not a regular file; it is left alone.")


def replace_file(
    path: Path,
    content: bytes,
    *,
    root: Path,
    check: Callable[[], None] | None = None,
    exclusive: bool = False,
) -> None:
    """Put `content` at `path` in one step: temporary file in the same folder, fsync, rename, fsync.

    A symlink stays a symlink, its target inside `root` is replaced; an existing file keeps its mode, a new one
    gets 0600. On any error the old file is whole and no temporary file is left; one left by a process that was
    killed goes with the first write of another one to the same folder. As long as it is written it is locked.

    Args:
        path: the file.
        content: all its new bytes.
        root: the folder that must hold it.
        check: called right before the rename; what it raises stops the write.
        exclusive: refuse to replace an existing file.

    Raises:
        FileExistsError: `exclusive`, and something is there.
        OutsideHome: it lies outside `root`, or what is there is no regular file.
        StorageError: the disk refused, or the file is marked read-only.
    """
    real = resolve_inside(path, root)
    try:
        mode = _mode_to_keep(real, path)
        with _temporary_in(real.parent) as (temporary, descriptor):
            _write_new(descriptor, content, mode)
            if check is not None:
                check()
            if exclusive:
                _link_new(temporary, real)
            else:
                os.replace(temporary, real)  # noqa: PTH105 - one name for the call that tests make fail
        with contextlib.suppress(OSError):  # it is written; "failed" would be a lie now
            sync_folder(real.parent)
        _remove_leftovers(real.parent)
    except FileExistsError:
        if exclusive:
            raise
        raise StorageError(f"Could not write {path}: a temporary file is in the way.") from None
    except OSError as error:
        raise storage_error(error, "write", path) from None


@contextlib.contextmanager
def _temporary_in(folder: Path) -> Iterator[tuple[Path, int]]:
    """Give a new file in a folder and its descriptor, locked; it is removed again where what is done with it fails."""
    while True:
        temporary = folder / f".persona-{secrets.token_hex(8)}.tmp"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN, 0o600)
        try:
            # Who looked in between, and took it for one that was left, has removed it or is about to: another one then.
            if try_lock(descriptor) is not False and os.fstat(descriptor).st_nlink:
                yield temporary, descriptor
                return
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108
            raise
        finally:
            os.close(descriptor)


def try_lock(descriptor: int) -> bool | None:
    """Lock a file or folder if nobody has; return whether that was done, None where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in LOCKED else None
    return True


def _remove_leftovers(folder: Path) -> None:
    """Remove the temporary files that killed processes left in a folder; looks once an hour at most."""
    now = time.monotonic()
    if now - _swept.get(folder, -_STALE) < _STALE:
        return
    _swept[folder] = now
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if re.fullmatch(_TEMPORARY, entry.name) and entry.is_file(follow_symlinks=False):
                    with contextlib.suppress(OSError):  # it may have its real name by now
                        _remove_if_unused(entry)
    except OSError:
        return  # what is left over costs room, nothing else


def _remove_if_unused(entry: os.DirEntry[str]) -> None:
    """Remove a temporary file unless a process is at it: that has locked it, and a lock goes with its process."""
    descriptor = os.open(entry.path, os.O_WRONLY | _OPEN)
    try:
        free = try_lock(descriptor)
        if free or (free is None and is_stale(entry)):
            os.unlink(entry.path)  # noqa: PTH108 - scandir's own path
    finally:
        os.close(descriptor)


def is_stale(entry: os.DirEntry[str], age: float = _STALE) -> bool:
    """Whether something temporary is so old, in seconds, that whoever made it must be gone."""
    return time.time() - entry.stat(follow_symlinks=False).st_mtime > age


def _mode_to_keep(real: Path, path: Path) -> int:
    try:
        mode = os.lstat(real).st_mode
    except FileNotFoundError:
        return 0o600
    _require_regular(mode, path)
    if not mode & 0o222:
        raise StorageError(f"{path} is marked read-only; allow writing with chmod u+w to change it.")
    return stat.S_IMODE(mode)


def _write_new(descriptor: int, content: bytes, mode: int) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    os.fchmod(descriptor, mode)
    os.fsync(descriptor)


def _link_new(temporary: Path, real: Path) -> None:
    """Give the temporary file its real name unless that is taken."""
    try:
        os.link(temporary, real)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
            raise
        # No hard links on this file system; the caller's lock keeps our own processes apart.
        if os.path.lexists(real):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(real)) from None
        os.replace(temporary, real)  # noqa: PTH105
    else:
        with contextlib.suppress(OSError):  # the file is there; only its other name is left over
            os.unlink(temporary)  # noqa: PTH108


def remove_file(path: Path, *, root: Path) -> None:
    """Remove the file at `path` (a symlink itself, not its target) and make that last.

    Raises:
        FileNotFoundError: nothing is there.
        OutsideHome: the folder it lies in is outside `root`.
        StorageError: the disk refused.
    """
    folder = resolve_inside(path.parent, root)
    try:
        os.unlink(folder / path.name)  # noqa: PTH108
        with contextlib.suppress(OSError):
            sync_folder(folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise storage_error(error, "delete", path) from None


def read_link(path: Path) -> str | None:
    """Return where a symlink says it leads, None where there is none."""
    try:
        return os.readlink(path)  # noqa: PTH115 - the text as it stands, not as a path
    except OSError:
        return None


def make_link(path: Path, target: str, *, root: Path) -> bool:
    """Make a symlink at `path`, and say whether that was done.

    It is not done where it would lead out of `root`, to something else than a file, or to where none can be.
    """
    try:
        real = resolve_inside(path.parent / target, root)
        if real == path or not (real.is_file() or (real.parent.is_dir() and not os.path.lexists(real))):
            return False
        os.symlink(target, path)  # noqa: PTH211
        sync_folder(path.parent)
    except (OSError, ValueError, OutsideHome):
        return False
    return True


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` last through a power cut, where the file system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return  # not readable as a file (permissions, or a system without this notion): nothing more to do
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EIO, errno.EDQUOT):
            raise
    finally:
        os.close(descriptor)
