"""Copies of texts that an editor gets, in the home's `state/`: each is there until its text is taken over.

The name says what is edited and which program waits for it, so a copy that is nobody's any more is known. Blocking.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from personas.errors import PersonaError, StorageError
from personas.files.process import process_start
from personas.files.text_file import read_regular

if TYPE_CHECKING:
    from personas.files.home import Home

MESSAGE = "message"
_NAME = re.compile(r"(?P<what>.+?)(?:\.(?P<program>\d+-[0-9a-f]{12}))?\.\w{8}\.\w+")
"""An older program did not say which program waits."""
_OLD_FOLDER = re.compile(r"editor-[0-9a-f]{16}")
_LONGEST = 40
"""Characters of what is edited in the name of a copy."""


def write_copy(folder: Path, what: str, text: str, ending: str = ".toml") -> Path:
    """Write a text to a new file in a folder, and return its path.

    Args:
        folder: the home's `state/`.
        what: what is edited: a document's key, or `MESSAGE`.
        text: the text.
        ending: of the file's name, for the editor.

    Raises:
        StorageError: the disk refused.
    """
    from tempfile import mkstemp

    copy = None
    try:
        handle, name = mkstemp(prefix=f"{_short(what)}.{_program(os.getpid())}.", suffix=ending, dir=folder)
        copy = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
    except OSError as error:
        if copy is not None:
            remove_copy(copy)  # cut short, it would be taken for an edit that somebody left
        raise StorageError(f"cannot write a draft in {folder}: {error.strerror}") from None
    return copy


def hand_out_message(home: Home | None, text: str) -> Path:
    """Write a message to a new file, in the home or, where that cannot be, in the folder for temporary files.

    Raises:
        StorageError: the disk refused.
    """
    from tempfile import gettempdir

    if home is not None:
        with suppress(PersonaError):
            return write_copy(home.inside(home.state), MESSAGE, text, ".md")
    return write_copy(Path(gettempdir()), MESSAGE, text, ".md")


def as_read(text: str) -> str:
    """Return a message as it is read where the editor left it as it was."""
    return text.encode("utf-8", "replace").decode("utf-8").removesuffix("\n")


def read_copy(copy: Path) -> str:
    """Return what the editor left in a copy; a pipe or device in its place is an error, not read.

    Raises:
        StorageError: the file is gone, is not UTF-8 or cannot be read.
    """
    try:
        return read_regular(copy, root=copy.parent).decode("utf-8-sig")
    except FileNotFoundError:
        raise StorageError("the editor removed its file") from None
    except PersonaError as error:
        raise StorageError(f"what the editor wrote cannot be read ({str(error).rstrip('.')})") from None
    except UnicodeDecodeError:
        raise StorageError("what the editor wrote is not UTF-8 text") from None


def remove_if_same(copy: Path, text: str) -> bool:
    """Remove a copy in which nothing else is than the text it was made of; return whether nothing else was in it."""
    with suppress(PersonaError):
        if os.path.lexists(copy) and read_copy(copy) != text:
            return False
        remove_copy(copy)
        return True
    return False


def remove_copy(copy: Path) -> None:
    """Remove a copy: its text is taken over, or not wanted."""
    with suppress(OSError):
        copy.unlink()


def copies_of(folder: Path, what: str) -> list[Path]:
    """Return the copies of something, be their programs running or not."""
    return [path for path, found in _copies(folder) if found["what"] == _short(what)]


def left_copies(folder: Path) -> list[tuple[str, Path]]:
    """Return what was edited, and the copy, where the program that waited for it has ended."""
    old = [
        (MESSAGE, path / "message.md")  # an older program gave each message a folder
        for path in _entries(folder)
        if _OLD_FOLDER.fullmatch(path.name) and not path.is_symlink() and (path / "message.md").is_file()
    ]
    return old + [
        (found["what"], path)
        for path, found in _copies(folder)
        if (program := found["program"]) and program != _program(int(program.partition("-")[0]))
    ]


def _copies(folder: Path) -> list[tuple[Path, re.Match[str]]]:
    return [(path, found) for path in _entries(folder) if (found := _NAME.fullmatch(path.name))]


def _entries(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(folder.iterdir())
    return []


def _short(what: str) -> str:
    return what[:_LONGEST].replace("/", "-")


def _program(pid: int) -> str:
    """Return the part of a file's name that identifies a process, also when its number is used again."""
    return f"{pid}-{hashlib.sha256(process_start(pid).encode()).hexdigest()[:12]}"
