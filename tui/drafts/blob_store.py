"""A JSON file in the home's `state/` that is never written so that it could not be read back.

Where it would be large, its long texts lie beside it, each in a file named by what it holds. What cannot be read is
never written over: it is set aside. All of it may come from a stranger: it is read as text and nothing is done by it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from personas.errors import PersonaError, StorageError
from personas.files.home import Home
from personas.files.lock import hold
from personas.files.text_file import encode, read_regular, remove_file, replace_file

LARGEST = 4 * 1024 * 1024
"""Bytes of the file itself, as it is written."""
LARGEST_READ = 32 * 1024 * 1024
"""Bytes up to which it is read: earlier versions wrote more."""
LARGEST_TEXTS = 128 * 1024 * 1024
"""Bytes of the long texts of one file together."""
ROOMY = 1024 * 1024
"""Bytes of the file from which on its long texts lie beside it."""
_LONG, _NOT_SHORT = 4096, 64
"""Characters of a text that lies beside the file: of those first, then, where they are too many, of these."""
_MARK = "/file"
"""What stands for a text that lies beside the file; no persona's id holds a slash."""
_PATIENCE = 1.0
"""Seconds to wait for another program that writes the same file."""
_STALE = 3600
"""Seconds after which a text that nothing names is nobody's any more."""

Replace = Callable[..., object]


@dataclass(frozen=True, slots=True)
class Found:
    """What was read.

    Attributes:
        record: the JSON object, with None for a long text that cannot be read; None where there is no object.
        said: what was not readable and where it is now, in sentences.
        is_blocked: something is there that can be neither read nor set aside: it must not be written over.
        names: the files of the long texts that were read.
    """

    record: dict[str, Any] | None = None
    said: tuple[str, ...] = ()
    is_blocked: bool = False
    names: frozenset[str] = frozenset()


class TextRecord:
    """One such file, and the long texts beside it.

    Args:
        home: whose state it is.
        name: the name of the file without its ending.
    """

    def __init__(self, home: Home, name: str) -> None:
        self._home = home
        self._name = name
        self._beside = re.compile(rf"{re.escape(name)}-[0-9a-f]{{32}}\.txt")

    @property
    def path(self) -> Path:
        """The file."""
        return self._home.state / f"{self._name}.json"

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other programs from writing such files, as far as there are locks. Blocking."""
        with ExitStack() as lock:
            with suppress(PersonaError):  # who holds it so long hangs: nobody is to wait for that
                lock.enter_context(hold(self._home.locks / "texts.lock", wait=_PATIENCE))
            yield

    # -- reading ------------------------------------------------------------------------------------------

    def read(self) -> Found:
        """Read the file and its long texts; what is not readable is set aside. Blocking."""
        try:
            stored = json.loads(self._bytes(self.path, LARGEST_READ))
            if not isinstance(stored, dict):
                raise ValueError("no object")
            reading = _Reading(self)
            record = reading.resolve(stored)
        except FileNotFoundError:
            return Found()
        except _Blocked as error:
            return Found(said=(str(error),), is_blocked=True)
        except (ValueError, RecursionError):
            return self._set_aside(self.path, "What was remembered of this home")
        return Found(record, tuple(reading.said), reading.is_blocked, frozenset(reading.names))

    def _bytes(self, path: Path, limit: int) -> bytes:
        """Return what a file holds.

        Raises:
            FileNotFoundError: nothing is there.
            ValueError: it is too large.
            _Blocked: the disk does not give it, or it is no regular file in the home.
        """
        try:
            return read_regular(path, root=self._home.root, limit=limit)
        except FileNotFoundError:
            raise
        except (OSError, PersonaError) as error:
            with suppress(OSError):
                if isinstance(error, StorageError) and os.lstat(path).st_size > limit:
                    raise ValueError("too large") from None
            raise _Blocked(str(error)) from None

    def _set_aside(self, path: Path, what: str) -> Found:
        """Give a file that cannot be read a name under which nothing writes over it."""
        aside = path.with_name(f"unreadable-{secrets.token_hex(4)}-{path.name}")
        try:
            os.replace(self._home.inside(path.parent) / path.name, aside)  # noqa: PTH105
        except (OSError, PersonaError):
            return Found(said=(f"{what} cannot be read: {path}",), is_blocked=True)
        return Found(said=(f"{what} could not be read. It is kept in {aside}.",))

    # -- writing ------------------------------------------------------------------------------------------

    def write(self, record: dict[str, Any], known: Found, *, replace: Replace = replace_file) -> bool:
        """Store a record, so that `read` gives it again; return whether that was possible. Blocking.

        Args:
            record: what is to be stored.
            known: what `read` gave just now, other programs being kept out.
            replace: writes one file; takes what `replace_file` takes.
        """
        if known.is_blocked:
            return False
        content, texts = self._laid_out(record)
        if len(content) > LARGEST or sum(map(len, texts.values())) > LARGEST_TEXTS:
            return False
        try:
            for name, text in texts.items():
                if name not in known.names:
                    replace(self._home.state / name, text, root=self._home.root)
            replace(self.path, content, root=self._home.root)
        except (OSError, PersonaError):
            return False
        if texts or known.names:
            self._remove_texts(texts, known.names)
        return True

    def _laid_out(self, record: dict[str, Any]) -> tuple[bytes, dict[str, bytes]]:
        """Return the bytes of the file, and those of the texts beside it by their names."""
        content = _as_json(record)
        texts: dict[str, bytes] = {}
        for allowed, longest in ((ROOMY, _LONG), (LARGEST, _NOT_SHORT)):
            if len(content) > allowed:
                texts = {}
                content = _as_json(self._moved_out(record, longest, texts))
        return content, texts

    def _moved_out(self, value: Any, longest: int, texts: dict[str, bytes]) -> Any:
        """Return `value` with the name of a file for each longer text; `texts` gets them."""
        if isinstance(value, str) and len(value) > longest:
            content = value.encode("utf-8", "surrogatepass")
            name = self._name_for(content)
            texts[name] = content
            return {_MARK: name}
        if isinstance(value, dict):
            return {key: self._moved_out(one, longest, texts) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self._moved_out(one, longest, texts) for one in value]
        return value

    def _name_for(self, content: bytes) -> str:
        return f"{self._name}-{hashlib.sha256(content).hexdigest()[:32]}.txt"

    def remove(self) -> None:
        """Remove the file and the texts beside it. Blocking."""
        with self.alone():
            known = self.read()
            with suppress(OSError, PersonaError):
                remove_file(self.path, root=self._home.root)
                self._remove_texts({}, known.names)

    def _remove_texts(self, wanted: dict[str, bytes], known: frozenset[str]) -> None:
        """Remove the long texts that were stored before, and those that a killed program left."""
        with suppress(OSError, PersonaError), os.scandir(self._home.inside(self._home.state)) as entries:
            for entry in entries:
                if entry.name in wanted or not self._beside.fullmatch(entry.name):
                    continue
                age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                if entry.name in known or age > _STALE:
                    os.unlink(entry.path)  # noqa: PTH108 - scandir's own path


class _Blocked(Exception):
    """Something is there that the disk does not give."""


class _Reading:
    """Puts the long texts of a record back into it."""

    def __init__(self, place: TextRecord) -> None:
        self._place = place
        self._left = LARGEST_TEXTS
        self._texts: dict[str, str | None] = {}
        self.said: list[str] = []
        self.is_blocked = False
        self.names: set[str] = set()

    def resolve(self, value: Any) -> Any:
        if isinstance(value, dict):
            name = value.get(_MARK) if len(value) == 1 else None
            if isinstance(name, str) and self._place._beside.fullmatch(name):
                return self._text(name)
            return {key: self.resolve(one) for key, one in value.items()}
        return [self.resolve(one) for one in value] if isinstance(value, list) else value

    def _text(self, name: str) -> str | None:
        """Return a text from its file, None where it cannot be read."""
        if name not in self._texts:
            self._texts[name] = None
            path = self._place.path.with_name(name)
            try:
                content = self._place._bytes(path, self._left)
                if self._place._name_for(content) != name:
                    raise ValueError("another text")
                self._texts[name] = content.decode("utf-8", "surrogatepass")
                self._left -= len(content)
                self.names.add(name)
            except FileNotFoundError:
                self.said.append(f"A long text that was remembered is gone: {path}")
            except _Blocked as error:
                self.said.append(str(error))
                self.is_blocked = True
            except ValueError:
                found = self._place._set_aside(path, "A long text that was remembered")
                self.said += found.said
                self.is_blocked |= found.is_blocked
        return self._texts[name]


def _as_json(record: dict[str, Any]) -> bytes:
    return encode(json.dumps(record, ensure_ascii=True) + "\n")
