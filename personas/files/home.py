"""Where things lie on disk: which home is meant, its folders, and how a new one begins."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from personas.errors import OutsideHome, PersonaError
from personas.files import trust
from personas.files.text_file import expanded, is_stale, resolve_inside, storage_error, try_lock

APP = "persona-editor"
EXAMPLES = Path(__file__).parent.parent / "examples"
RECORDINGS = EXAMPLES / "recordings"
"""Versions and outputs that come with examples, laid out as in a home."""

_FOLDER = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_A_MOMENT = 10  # seconds within which a beginning is locked
_BEGINNING = r"\.(?:personas|library)-[0-9a-f]{16}\.tmp"

PRIVATE = ("agent-sessions", "outputs", "versions", "assets", "measurements", "state")
"""Folders of what the program remembers; each keeps itself out of git."""


class Home:
    """The folder with everything. Holds paths; `open_home` makes the folders.

    Args:
        root: the folder; made absolute, symlinks in it followed.

    Attributes:
        instead: what is read in place of the files of documents, None for one that is not there. Empty, but for what a run
            reads whose changes are a proposal.
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self.instead: dict[Path, bytes | None] = {}

    def __repr__(self) -> str:
        return f"Home({str(self.root)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Home) and other.root == self.root

    def __hash__(self) -> int:
        return hash(self.root)

    @cached_property
    def personas(self) -> Path:
        """One TOML file a persona."""
        return self.root / "personas"

    @cached_property
    def about(self) -> Path:
        """What the personas are for, in the owner's words; optional."""
        return self.root / "about.md"

    @cached_property
    def library(self) -> Path:
        """Parts, traits, skills, guardrails and arcs."""
        return self.root / "library"

    @cached_property
    def sessions(self) -> Path:
        """The stored conversations."""
        return self.root / "agent-sessions"

    @cached_property
    def outputs(self) -> Path:
        """What personas answered to test inputs."""
        return self.root / "outputs"

    @cached_property
    def versions(self) -> Path:
        """Stored versions, one folder a persona."""
        return self.root / "versions"

    @cached_property
    def actions(self) -> Path:
        """Work with a schedule, or by hand: one TOML file an action."""
        return self.root / "actions"

    @cached_property
    def assets(self) -> Path:
        """What actions made."""
        return self.root / "assets"

    @cached_property
    def measurements(self) -> Path:
        """What actions measured."""
        return self.root / "measurements"

    @cached_property
    def state(self) -> Path:
        """What the program may forget without harm, and the locks."""
        return self.root / "state"

    @cached_property
    def locks(self) -> Path:
        """One lock file a thing, see `personas.files.lock`."""
        return self.state / "locks"

    def inside(self, path: Path) -> Path:
        """Return where `path` ends when its symlinks are followed.

        Raises:
            OutsideHome: outside this home.
        """
        return resolve_inside(path, self.root)

    @classmethod
    def find(
        cls, flag: str | None = None, env: Mapping[str, str] = os.environ, cwd: Path | None = None
    ) -> HomeChoice:
        """Say which home is meant. Nothing is created.

        Args:
            flag: what `--home` says, if anything.
            env: the environment.
            cwd: the current folder; None asks the system.
        """
        here = _current_folder() if cwd is None else cwd
        if flag:
            return HomeChoice(cls(_expand(flag, here)), "flag")
        if named := env.get("PERSONA_HOME"):
            return HomeChoice(cls(_expand(named, here)), "environment")
        offer = None
        if here is not None and holds_personas(here):
            accepted = trust.remembered(here, env)
            if accepted:
                return HomeChoice(cls(here), "accepted")
            offer = here if accepted is None else None
        from platformdirs import user_data_path

        default = cls(user_data_path(APP, appauthor=False))
        if offer is not None and Path(os.path.realpath(offer)) == default.root:
            offer = None
        return HomeChoice(default, "default", offer)


class HomeChoice(NamedTuple):
    """Which home is meant, and why.

    Attributes:
        home: the home.
        how: what named it.
        offer: the current folder, when it holds personas and nobody has said yet whether to use it.
    """

    home: Home
    how: Literal["flag", "environment", "accepted", "default"]
    offer: Path | None = None


def holds_personas(folder: Path) -> bool:
    """Whether `folder` has a `personas` folder with at least one TOML file."""
    try:
        with os.scandir(folder / "personas") as entries:
            return any(entry.name.endswith(".toml") and not entry.name.startswith(".") for entry in entries)
    except OSError:
        return False


def open_home(root: Path, env: Mapping[str, str] = os.environ) -> Home:
    """Create what is missing of a home and return it.

    A home without a `personas` folder gets the examples, but for the folder of a git repository; one the program made from nothing is trusted. A home
    on a read-only disk opens as it is.

    Args:
        root: the folder.
        env: the environment, which says where trust is remembered.

    Raises:
        OutsideHome: a folder of the home is a symlink out of it, or no folder.
        StorageError: the disk refused.
    """
    home = Home(root)
    fresh = _is_nothing(home.root)
    try:
        _make_folder(home.root)
        is_new = _missing(home.personas, home)
        has_examples = is_new and not (home.root / ".git").exists()
        has_library = not _missing(home.library, home)
        if has_examples:
            if not has_library:
                _begin(home.library, (EXAMPLES / "library").iterdir())
            _begin(home.personas, EXAMPLES.glob("*.toml"))
        elif is_new:
            _begin(home.personas, ())
        _remove_stale_beginnings(home.root)
        for name in PRIVATE:
            _make_private(home.root / name, home)
        _show_to_git(home.actions, home)
        if has_examples:
            _add_recordings(home.root)
        if _missing(home.locks, home):
            home.locks.mkdir(0o700, exist_ok=True)
    except OSError as error:
        is_there = os.path.isdir(home.personas)  # noqa: PTH112 - never raises, also where nobody may look
        if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM) or not is_there:
            raise storage_error(error, "create", home.root) from None
    if fresh:
        with contextlib.suppress(PersonaError):  # the home works without; only unattended work then asks
            trust.trust(home.root, env)
    return home


def _current_folder() -> Path | None:
    try:
        return Path.cwd()
    except OSError:  # removed under our feet
        return None


def _expand(named: str, here: Path | None) -> Path:
    path = expanded(named)
    return path if path.is_absolute() or here is None else here / path


def _is_nothing(root: Path) -> bool:
    try:
        with os.scandir(root) as entries:
            return next(entries, None) is None
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _missing(folder: Path, home: Home) -> bool:
    """Whether nothing is at `folder`; what is there must be a folder inside the home."""
    try:
        mode = os.lstat(folder).st_mode
    except FileNotFoundError:
        return True
    if stat.S_ISLNK(mode):
        try:
            is_folder = home.inside(folder).is_dir()
        except OutsideHome:
            if folder == home.personas:
                raise _linked_out(folder) from None
            raise
        if not is_folder:
            raise OutsideHome(f"{folder} is a symlink to no folder; remove it.")
    elif not stat.S_ISDIR(mode):
        raise OutsideHome(f"{folder} is not a folder; remove it.")
    return False


def _linked_out(personas: Path) -> OutsideHome:
    """Return the error of a folder of personas that is a link out of its home: it says how to use the real folder."""
    real = Path(os.path.realpath(personas))
    rename = "" if real.name == "personas" else "rename that folder to personas, then "
    return OutsideHome(
        f"{personas} is a link to {real}, outside of this home; to work there, {rename}name the home that holds it: "
        f"persona --home {real.parent}"
    )


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        _make_folder(folder.parent)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(0o700)
        if not folder.is_dir():
            raise OutsideHome(f"{folder} is not a folder.")


def _make_private(folder: Path, home: Home) -> None:
    if _missing(folder, home):
        folder.mkdir(0o700, exist_ok=True)
    ignore = folder / ".gitignore"
    if not os.path.lexists(ignore):
        with contextlib.suppress(FileExistsError), open(ignore, "x", opener=private) as file:
            file.write("*\n")


def _show_to_git(folder: Path, home: Home) -> None:
    """Remove the `.gitignore` with which version 0.2 kept a folder out of git that is for git now."""
    ignore = folder / ".gitignore"
    if not _missing(folder, home) and ignore.is_file() and ignore.read_bytes() == b"*\n":
        ignore.unlink()


def private(path: str, flags: int) -> int:
    """Open a file that only this person can read, as the opener of `open`; a pipe of that name is not waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o600)


def _begin(folder: Path, examples: Iterable[Path]) -> None:
    """Create a folder with examples in it, whole or not at all; locked until it is done."""
    start = folder.parent / f".{folder.name}-{secrets.token_hex(8)}.tmp"
    start.mkdir(0o700)
    descriptor = os.open(start, _FOLDER)
    try:
        try_lock(descriptor)
        for example in examples:
            _copy(example, start / example.name)
        _put_in_place(start, folder)
    finally:
        shutil.rmtree(start, ignore_errors=True)
        os.close(descriptor)


def _put_in_place(start: Path, folder: Path) -> None:
    try:
        start.rename(folder)
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
            raise
        shutil.rmtree(start, ignore_errors=True)  # another process was faster


def _add_recordings(root: Path) -> None:
    """Add what comes with the examples, each whole or not at all, where the home has nothing in its place."""
    for folder in ("versions", "outputs"):
        for shipped in sorted((RECORDINGS / folder).glob("*")):
            there = root / folder / shipped.name
            if not os.path.lexists(there):
                start = there.with_name(f".{there.name}-{secrets.token_hex(8)}.tmp")
                _copy(shipped, start)
                _put_in_place(start, there)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        target.mkdir(0o700)
        for path in source.iterdir():
            _copy(path, target / path.name)
        return
    with open(target, "xb", opener=private) as file:
        file.write(source.read_bytes())


def _remove_stale_beginnings(root: Path) -> None:
    """Remove what processes left that were killed in `_begin`."""
    with contextlib.suppress(OSError), os.scandir(root) as entries:
        for entry in entries:
            if not (re.fullmatch(_BEGINNING, entry.name) and entry.is_dir(follow_symlinks=False)):
                continue
            with contextlib.suppress(OSError):  # it may be done by now
                descriptor = os.open(entry.path, _FOLDER)
                try:
                    free = try_lock(descriptor)
                    if is_stale(entry, _A_MOMENT) if free else free is None and is_stale(entry):
                        shutil.rmtree(entry.path, ignore_errors=True)
                finally:
                    os.close(descriptor)
