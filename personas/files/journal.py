"""Crash-safe append-only JSON lines: one record, one line, one write.

Whatever a crash, a full disk or another program left in the file, reading gives every whole record and says
what it had to skip.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import stat
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from personas.errors import InvalidValue, OutsideHome
from personas.files.text_file import storage_error, sync_folder

LINE_LIMIT = 64 * 1024 * 1024
FIRST_LIMIT = 64 * 1024

_OPEN = (
    os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
)
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_decode = json.JSONDecoder().decode


@dataclass(frozen=True, slots=True)
class Problem:
    """A line (counted from 1) that could not be read as it should, and why."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Reading:
    """All whole records in order, and what was wrong between them."""

    records: list[dict[str, Any]]
    problems: list[Problem]


class Journal:
    """One append-only file. Several threads and processes may append at once.

    Nobody who appends waits for the disk but who asks for it: the lock is never held while the disk is waited for.

    Args:
        path: the file; created with mode 0600 by the first append. Its folder must exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = -1
        self._end = -1  # where our last record ended; beyond it somebody else wrote
        self._lock = threading.Lock()

    def append(self, record: dict[str, Any], *, sync: bool = False) -> None:
        """Add one record at the end; a torn line before it is closed first.

        Args:
            record: anything JSON can say. Lone surrogates survive.
            sync: wait until it is on the disk.

        Raises:
            InvalidValue: the record is no JSON, or longer than the line limit.
            OutsideHome: the file is a symlink or no regular file.
            StorageError: the disk refused; later appends stay readable.
        """
        line = encode_record(record)
        try:
            copy = self._add(line, copied=sync)
            if copy >= 0:
                _make_last(copy)
        except OSError as error:
            self._end = -1
            raise storage_error(error, "write", self.path) from None

    def sync(self, *, close: bool = False) -> None:
        """Wait until everything appended so far is on the disk; `close` the file as well.

        Raises:
            StorageError: the disk refused.
        """
        try:
            with self._lock:
                copy = os.dup(self._descriptor) if self._descriptor >= 0 else -1
                if close:
                    self._close()
            if copy >= 0:
                _make_last(copy)
        except OSError as error:
            raise storage_error(error, "write", self.path) from None

    def read(self) -> Reading:
        """Return all whole records and the problems met. A missing file is an empty one.

        Raises:
            OutsideHome: the file is a symlink or no regular file.
            StorageError: it cannot be read at all.
        """
        try:
            descriptor = _open_regular(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return Reading([], [])
        except OSError as error:
            raise storage_error(error, "read", self.path) from None
        try:
            with os.fdopen(descriptor, "rb", buffering=1 << 18) as file:
                return _Reader().read(file)
        except OSError as error:
            raise storage_error(error, "read", self.path) from None

    def holds(self, word: bytes) -> bool:
        """Return whether these bytes, of which none is a capital, are anywhere in the file, in any case.

        Raises:
            OutsideHome, StorageError: see `read`.
        """
        for descriptor in self._reading():
            with os.fdopen(os.dup(descriptor), "rb") as file:
                return word in file.read().lower()
        return False

    def first(self) -> dict[str, Any] | None:
        """Return the record on the first line, or None when there is none, or none that short (`FIRST_LIMIT`).

        Raises:
            OutsideHome: the file is a symlink or no regular file.
            StorageError: it cannot be read at all.
        """
        for descriptor in self._reading():
            raw = os.pread(descriptor, min(FIRST_LIMIT, LINE_LIMIT) + 1, 0).split(b"\n", 1)[0]
            if len(raw) >= min(FIRST_LIMIT, LINE_LIMIT):
                return None
            return _Reader()._parse(raw + b"\n", 1)
        return None

    def backwards(self) -> Iterator[dict[str, Any] | Problem]:
        """Yield the records from the last to the first, and the problems between them, as far as one asks.

        A problem's line counts from the end, -1 being the last. A missing file is an empty one.

        Raises:
            OutsideHome: the file is a symlink or no regular file.
            StorageError: it cannot be read at all.
        """
        reader = _Reader()
        for descriptor in self._reading():
            number = 0
            after, after_number = b"", 0  # the record behind this one in the file
            for raw in _lines_backwards(descriptor):
                number -= 1
                record = None
                if raw is None:
                    reader.problems.append(Problem(number, "the line is too long"))
                    after = b""
                else:
                    record = reader._parse(raw, number)
                if record is not None:
                    if raw == after and "id" in record:
                        reader.problems.append(Problem(after_number, "the same record twice"))
                        record = None
                    after, after_number = raw or b"", number
                yield from reader.problems
                reader.problems.clear()
                if record is not None:
                    yield record

    def _reading(self) -> Iterator[int]:
        """Yield the file's descriptor for reading once, or not at all when there is no file."""
        try:
            descriptor = _open_regular(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return
        except OSError as error:
            raise storage_error(error, "read", self.path) from None
        try:
            yield descriptor
        except OSError as error:
            raise storage_error(error, "read", self.path) from None
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Close the file; a later append opens it again."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = self._end = -1

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_descriptor", -1) >= 0:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)

    def _add(self, line: bytes, *, copied: bool) -> int:
        """Write one line; return a copy of the descriptor where one is wanted, else -1."""
        while True:
            with self._lock:
                size, is_new = self._open()
                if not is_new:
                    self._write(line, torn=size != self._end and self._is_torn(size))
                    return os.dup(self._descriptor) if copied else -1
            sync_folder(self.path.parent)

    def _open(self) -> tuple[int, bool]:
        """Have the file open; return its size and whether it is new. One removed meanwhile is created again."""
        if self._descriptor >= 0:
            status = os.fstat(self._descriptor)
            if status.st_nlink:
                return status.st_size, False
            self._close()
        try:
            self._descriptor = _open_regular(self.path, os.O_RDWR | os.O_APPEND)
        except FileNotFoundError:
            self._descriptor = _open_regular(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            return 0, True
        return os.fstat(self._descriptor).st_size, False

    def _is_torn(self, size: int) -> bool:
        return size > 0 and os.pread(self._descriptor, 1, size - 1) != b"\n"

    def _write(self, line: bytes, *, torn: bool) -> None:
        """Write one line with one call; after a short write, once more as a line of its own."""
        for _ in range(2):
            content = b"\n" + line if torn else line
            written = os.write(self._descriptor, content)
            if written == len(content) - 1:
                written += os.write(self._descriptor, b"\n")  # the record is whole: never write it twice
            if written == len(content):
                self._end = os.lseek(self._descriptor, 0, os.SEEK_CUR)
                return
            torn = True
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _make_last(copy: int) -> None:
    """Wait until what was written through a descriptor is on the disk, and close this copy of it.

    A copy, because who appends meanwhile may close the file, or find it gone and create it again.
    """
    try:
        os.fsync(copy)
    finally:
        os.close(copy)


def encode_record(record: dict[str, Any]) -> bytes:
    """Return the line that stands for a record, with its newline; numbers that are not finite become null.

    Raises:
        InvalidValue: the record is no JSON, or longer than the line limit.
    """
    try:
        try:
            text = _encode(record)
        except ValueError:  # perhaps only for a number that JSON has no word for
            text = _encode(_with_finite_numbers(record))
        line = (text + "\n").encode("ascii")
    except RecursionError:
        raise InvalidValue("The record is nested too deeply to be stored.") from None
    except (TypeError, ValueError) as error:
        raise InvalidValue(f"The record cannot be stored as JSON: {error}.") from None
    if len(line) > LINE_LIMIT:
        raise InvalidValue(f"The record is longer than {LINE_LIMIT // (1024 * 1024)} MB.")
    return line


def _with_finite_numbers(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _with_finite_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_finite_numbers(item) for item in value]
    return value


def _open_regular(path: Path, flags: int) -> int:
    try:
        descriptor = os.open(path, flags | _OPEN, 0o600)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
            raise OutsideHome(f"{path} is not a regular file; it is left alone.") from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OutsideHome(f"{path} is not a regular file; it is left alone.")
    return descriptor


def _lines_backwards(descriptor: int) -> Iterator[bytes | None]:
    """Yield the lines from the last to the first; None for one that is too long."""
    position = os.fstat(descriptor).st_size
    rest: list[bytes] = []  # the pieces of the line that reaches into the blocks before, last first
    length = 0
    block = 1 << 12  # most often the last line is all that is asked for
    ends_file = True
    while position > 0:
        start = max(0, position - block)
        lines = os.pread(descriptor, position - start, start).split(b"\n")
        position = start
        block = min(block * 2, 1 << 20)
        if len(lines) > 1:
            last = lines.pop()
            length += len(last)
            rest.append(last)
            if length or not ends_file:
                yield _line(rest, length, ends_file)
            ends_file = False
            for line in reversed(lines[1:]):
                yield _line([line], len(line), ends_file)
            rest, length = [], 0
        length += len(lines[0])
        if length <= LINE_LIMIT:
            rest.append(lines[0])
    if length:
        yield _line(rest, length, ends_file)
    elif not ends_file:
        yield b"\n"


def _line(pieces: list[bytes], length: int, ends_file: bool) -> bytes | None:
    """Join the pieces of a line, last first, with its newline; None for one that is too long."""
    newline = b"" if ends_file else b"\n"
    if length + len(newline) > LINE_LIMIT:
        return None
    return b"".join([*reversed(pieces), newline])


class _Reader:
    """Reads lines into records, collecting problems."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self.problems: list[Problem] = []

    def read(self, file: Any) -> Reading:
        number = 0
        previous = b""
        while raw := file.readline(LINE_LIMIT + 1):
            number += 1
            if len(raw) > LINE_LIMIT:
                if not raw.endswith(b"\n"):
                    self._skip_rest(file)
                self.problems.append(Problem(number, "the line is too long"))
                previous = b""
                continue
            record = self._parse(raw, number)
            if record is None:
                continue
            if raw == previous and "id" in record:
                self.problems.append(Problem(number, "the same record twice"))
                continue
            previous = raw
            self.records.append(record)
        return Reading(self.records, self.problems)

    def _parse(self, raw: bytes, number: int) -> dict[str, Any] | None:
        try:
            record = _decode(raw.decode("utf-8"))
        except (ValueError, RecursionError):
            return self._salvage(raw, number)
        if type(record) is dict:
            return record
        self.problems.append(Problem(number, "the line holds no record"))
        return None

    def _salvage(self, raw: bytes, number: int) -> dict[str, Any] | None:
        """Read a line that has NUL runs around its record; report every other fault."""
        body = raw.strip(b"\0\r\n\t ")
        if not body:
            if b"\0" in raw:
                self.problems.append(Problem(number, "zero bytes"))
            return None  # an empty line is nobody's fault: healing leaves them
        if len(body) < len(raw.rstrip(b"\r\n")):
            with contextlib.suppress(ValueError, RecursionError):
                record = _decode(body.decode("utf-8"))
                if type(record) is dict:
                    self.problems.append(Problem(number, "zero bytes around the record"))
                    return record
        if raw.endswith(b"\n"):
            self.problems.append(Problem(number, "the line is damaged"))
        else:
            self.problems.append(Problem(number, "the last line is cut off"))
        return None

    @staticmethod
    def _skip_rest(file: Any) -> None:
        while (part := file.readline(1 << 20)) and not part.endswith(b"\n"):
            pass
