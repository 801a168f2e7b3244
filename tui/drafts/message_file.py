"""The message a person writes in their own editor: a file in the home's `state/`, there until its text is taken over.

Whatever ends, the editor, the program or the terminal, what was saved is the draft again at the next start, and what
an editor left beside it (a swap file) is kept and named. What is read back may come from a stranger: it is read as text
and nothing is done by it.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from personas.errors import PersonaError
from personas.files.home import Home, private
from personas.files.lock import hold
from personas.files.text_file import read_regular

_NAME = re.compile(r"editor-[0-9a-f]{16}")
_MESSAGE = "message.md"
_ABOUT = ".draft.json"
_LARGEST = 512 * 1024
"""Bytes of a message that is taken back at the start."""
_MOST = 100
"""Folders that are looked at."""

BACK = "What you wrote in your editor is in the draft again."


@dataclass(frozen=True, slots=True)
class DraftFile:
    """A draft as a file.

    Attributes:
        folder: where it lies, alone with what the editor puts beside it.
        before: what it held at first.
        persona_id: whose draft it is; empty for nobody's.
        lock: an open file that says that somebody is at it, as long as this program or the editor has it; None for none.
        lock_path: that file.
    """

    folder: Path
    before: str
    persona_id: str = ""
    lock: int | None = None
    lock_path: Path | None = None

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / _MESSAGE

    def has_others(self) -> bool:
        """Whether an editor left more than the message and copies of what it was: a swap file. Blocking."""
        return _has_others(self.folder)

    def read(self) -> str:
        """Return what it holds now; may raise `OSError`, also where the editor left something else than a file. Blocking."""
        try:
            return _as_text(read_regular(self.path, root=self.folder))
        except PersonaError as error:
            raise OSError(errno.EINVAL, str(error).removesuffix(".")) from None

    def is_news(self, written: str) -> bool:
        """Whether a text that was read is another one than what the file held at first."""
        return written not in (self.before, _as_text(_as_bytes(self.before)))

    def keep(self, before: str) -> None:
        """The text is taken over; what else is there stays. Blocking."""
        with suppress(OSError):
            _note(self.folder, self.persona_id, before)
        self._unlock()

    def remove(self) -> None:
        """The text is taken over, and nothing else is wanted. Blocking."""
        from shutil import rmtree

        rmtree(self.folder, ignore_errors=True)
        if self.lock_path is not None:
            with suppress(OSError):
                self.lock_path.unlink()
        self._unlock()

    def _unlock(self) -> None:
        if self.lock is not None:
            with suppress(OSError):
                os.close(self.lock)


def hand_out(home: Home | None, persona_id: str, text: str) -> DraftFile:
    """Write a draft into a file of its own, in the home or, where that cannot be, in a temporary folder. Blocking.

    Raises:
        OSError: the disk refused.
    """
    if home is not None:
        with suppress(OSError, PersonaError):
            return _in_home(home, persona_id, text)
    from tempfile import mkdtemp

    folder = Path(mkdtemp(prefix="persona-"))
    _write(folder / _MESSAGE, text)
    return DraftFile(folder, text, persona_id)


def _in_home(home: Home, persona_id: str, text: str) -> DraftFile:
    name = f"editor-{secrets.token_hex(8)}"
    folder = home.inside(home.state) / name
    lock_path = _lock_path(home, name)
    made = DraftFile(folder, text, persona_id, _take_lock(lock_path), lock_path)
    try:
        folder.mkdir(0o700)
        _note(folder, persona_id, text)
        _write(made.path, text)
    except OSError:
        made.remove()
        raise
    return made


def _take_lock(path: Path) -> int | None:
    """Lock a new file that an editor can inherit; None where the system has no locks."""
    try:
        import fcntl
    except ImportError:
        return None
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with suppress(OSError):  # a file system without
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def take_back(
    home: Home,
    drafts: Mapping[str, str],
    known: Callable[[], Collection[str]],
    store: Callable[[Mapping[str, str]], bool],
) -> list[str]:
    """Put what editors left of drafts into them; return what there is to say of it. Blocking.

    Args:
        home: the home.
        drafts: the drafts, by persona.
        known: gives the ids of the personas there are.
        store: takes the drafts where some changed; returns whether the disk has them: then the files are removed.
    """
    now = dict(drafts)
    done: list[tuple[DraftFile, str]] = []
    said: list[str] = []
    with ExitStack() as locks:
        for left in _left(home, locks):
            written = _written(home, left)
            new = written is None or (left.is_news(written) and bool(written.strip()))
            if new and (written is None or left.persona_id not in known()):
                said.append(f"A message written in your editor was left in {left.path}.")
                continue
            if new and written is not None:
                now[left.persona_id] = merged(left.before, now.get(left.persona_id, ""), written)
                said.append(BACK)
            done.append((left, left.before if written is None else written))
        if BACK in said and not store(now):
            return said
        for left, written in done:
            if left.has_others():
                left.keep(written)
                said.append(left_more(left.folder))
            else:
                left.remove()
    return list(dict.fromkeys(said))


def _left(home: Home, locks: ExitStack) -> Iterator[DraftFile]:
    """Yield the files that neither a program nor an editor is at, and hold their locks."""
    try:
        with os.scandir(home.inside(home.state)) as entries:
            names = sorted(
                e.name for e in entries if _NAME.fullmatch(e.name) and e.is_dir(follow_symlinks=False)
            )
    except (OSError, PersonaError):
        return
    for name in names[:_MOST]:
        folder, lock_path = home.state / name, _lock_path(home, name)
        try:
            locks.enter_context(hold(lock_path))
        except PersonaError:
            continue
        persona_id, before = _about(home, folder)
        yield DraftFile(folder, before, persona_id, lock_path=lock_path)


def _about(home: Home, folder: Path) -> tuple[str, str]:
    try:
        stored = json.loads(read_regular(folder / _ABOUT, root=home.root))
    except (OSError, PersonaError, ValueError, RecursionError):
        return "", ""
    values = (stored.get(name) for name in ("persona_id", "before")) if isinstance(stored, dict) else ("", "")
    persona_id, before = (value if isinstance(value, str) else "" for value in values)
    return persona_id, before


def _written(home: Home, left: DraftFile) -> str | None:
    """What a file holds; None where that cannot be read."""
    try:
        return _as_text(read_regular(left.path, root=home.root, limit=_LARGEST))
    except FileNotFoundError:
        return left.before
    except (OSError, PersonaError):
        return None


def merged(before: str, now: str, written: str) -> str:
    """Return the draft after the editor: what it wrote in place of what it was given, and what came meanwhile."""
    if now in (before, written) or not now.strip():
        return written
    if before and now.endswith(f"\n{before}"):
        return now[: -len(before)] + written
    return f"{now}\n{written}" if written.strip() else now


def left_more(folder: Path) -> str:
    """Return what to say of an editor that was cut short and left more than it had saved."""
    return f"Your editor left what it had not saved in {folder}: it can bring it back. Remove the folder after that."


def _lock_path(home: Home, name: str) -> Path:
    return home.locks / f"{name}.lock"


def _note(folder: Path, persona_id: str, before: str) -> None:
    _write(folder / _ABOUT, json.dumps({"persona_id": persona_id, "before": before}) + "\n")


def _write(path: Path, text: str) -> None:
    with open(path, "wb", opener=private) as file:
        file.write(_as_bytes(text))


def _as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _as_text(content: bytes) -> str:
    return content.decode("utf-8", "replace").removesuffix("\n")


def _has_others(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(
                entry.name not in (_MESSAGE, _ABOUT)
                and not entry.name.endswith("~")  # what the message was before it was saved
                and not entry.is_symlink()  # says who edits
                for entry in entries
            )
    except OSError:
        return False
