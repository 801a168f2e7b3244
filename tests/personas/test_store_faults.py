"""A full disk or a death at every single call to the system: the file is old or new, the versions agree with it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from personas.changes import SetDescription, SetName
from personas.errors import NothingToUndo, PersonaError, StorageError
from personas.files.home import Home, open_home
from personas.store import Store
from personas.versions.authorship import USER, Author
from tests.support.examples import THOROUGH

_CALLS = ("open", "write", "pwrite", "ftruncate", "fsync", "fchmod", "replace", "link", "unlink", "mkdir")
_TEXT = 'name = "A"\nsystem_prompt = "p"\n'
_RUN = Author("agent", "s", "r")


class _Killed(BaseException):
    """The process ends here."""


@contextmanager
def _fault_at(number: int, *, kill: bool, lasting: bool = False) -> Iterator[dict[str, int]]:
    """Let the call with this number fail: as on a full disk, or as the last thing the process did.

    A write that fails has written half. Yields the count of calls.
    """
    seen = {"calls": 0}
    originals = {name: getattr(os, name) for name in _CALLS}

    def wrap(name: str) -> Callable[..., Any]:
        real = originals[name]

        def call(*args: Any, **kwargs: Any) -> Any:
            seen["calls"] += 1
            if seen["calls"] < number or (seen["calls"] > number and not kill and not lasting):
                return real(*args, **kwargs)
            if name == "unlink" and not kill:
                return real(*args, **kwargs)  # a full disk still deletes
            if name == "write" and seen["calls"] == number:
                real(args[0], bytes(args[1])[: len(args[1]) // 2])
            if kill:
                raise _Killed
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        return call

    try:
        for name in _CALLS:
            setattr(os, name, wrap(name))
        yield seen
    finally:
        for name, real in originals.items():
            setattr(os, name, real)


@pytest.fixture
def fresh(tmp_path: Path, env: dict[str, str]) -> Callable[[], tuple[Store, Path]]:
    """Makes a home with one persona that has one change, again and again."""
    count = 0

    def make() -> tuple[Store, Path]:
        nonlocal count
        count += 1
        (tmp_path / str(count) / "personas").mkdir(parents=True)
        home = open_home(tmp_path / str(count), env)
        path = home.personas / "a.toml"
        path.write_text(_TEXT)
        store = Store(home)
        store.change("a", SetDescription("first"), revision=None, by=_RUN)
        return store, path

    return make


_ACTS: dict[str, Callable[[Store], object]] = {
    "change": lambda store: store.change("a", SetName("B"), revision=None, by=USER),
    "undo": lambda store: store.undo("a", by=USER),
    "restore": lambda store: store.restore("a", 1, by=Author("restore")),
    "delete": lambda store: store.delete("a", by=USER),
    "bring back": lambda store: store.restore("a", 1, by=Author("restore")),
}


def _begin(name: str, fresh: Callable[[], tuple[Store, Path]]) -> tuple[Store, Path]:
    store, path = fresh()
    if name == "bring back":
        store.delete("a", by=USER)
    return store, path


def _content(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


def _after(name: str, fresh: Callable[[], tuple[Store, Path]]) -> str | None:
    store, path = _begin(name, fresh)
    _ACTS[name](store)
    return _content(path)


def _require_sound(path: Path) -> None:
    """The versions can be read, a further change can be made, and undone again."""
    store = Store(Home(path.parent.parent))
    if not path.exists():
        store.restore("a", store.log("a")[0].number, by=USER)
    before = path.read_text()
    for version in store.log("a"):
        store.version_text("a", version.number)
    numbers = [version.number for version in store.log("a")]
    assert numbers == sorted(set(numbers), reverse=True)
    store.change("a", SetName("Later"), revision=None, by=Author("agent", "s", "later"))
    assert 'name = "Later"' in path.read_text()
    store.undo("a", by=USER)
    assert path.read_text() == before
    assert store.ids() == ["a"]


@pytest.mark.parametrize("lasting", [False, True], ids=["for a moment", "from then on"])
@pytest.mark.parametrize("name", _ACTS)
def test_a_full_disk_leaves_the_old_file_and_says_so(
    fresh: Callable[[], tuple[Store, Path]], name: str, lasting: bool
) -> None:
    act = _ACTS[name]
    after = _after(name, fresh)
    number = -lasting  # in the everyday run every second call, the others where it lasts
    while True:
        number += 1 if THOROUGH > 1 else 2
        store, path = _begin(name, fresh)
        before = _content(path)
        failed = False
        with _fault_at(number, kill=False, lasting=lasting) as seen:
            try:
                act(store)
            except PersonaError as error:
                failed = True
                assert isinstance(error, StorageError) and "\n" not in str(error)
        if seen["calls"] < number:
            break
        assert _content(path) == (before if failed else after)
        assert not list(path.parent.glob(".*"))
        _require_sound(path)
    assert number > 8


@pytest.mark.parametrize("name", _ACTS)
def test_a_death_at_any_moment_leaves_old_or_new(fresh: Callable[[], tuple[Store, Path]], name: str) -> None:
    act = _ACTS[name]
    after = _after(name, fresh)
    number = 0
    outcomes = set()
    while True:
        number += 1
        store, path = _begin(name, fresh)
        before = _content(path)
        with _fault_at(number, kill=True) as seen, suppress(_Killed):
            act(store)
        if seen["calls"] < number:
            break
        outcomes.add(_content(path))
        assert _content(path) in (before, after)
        _require_sound(path)
    assert outcomes == {before, after}


def test_a_recorded_change_that_never_reached_the_file_is_ignored(
    fresh: Callable[[], tuple[Store, Path]],
) -> None:
    store, path = fresh()
    before = path.read_text()
    real = os.replace

    def die_before_the_file(source: Path, target: Path) -> None:
        if target == path:
            raise _Killed
        real(source, target)

    os.replace = die_before_the_file  # type: ignore[assignment]
    unlink, os.unlink = os.unlink, lambda *_: None  # type: ignore[assignment]
    try:
        with pytest.raises(_Killed):
            store.change("a", SetName("B"), revision=None, by=USER)
    finally:
        os.replace, os.unlink = real, unlink
    store = Store(Home(path.parent.parent))
    assert path.read_text() == before
    assert [version.number for version in store.log("a")] == [1]
    store.undo("a", by=USER)
    assert path.read_text() == _TEXT
    with pytest.raises(NothingToUndo):
        store.undo("a", by=USER)


def test_a_persona_is_created_whole_or_not_at_all(fresh: Callable[[], tuple[Store, Path]]) -> None:
    number = 0
    while True:
        number += 1
        store, path = fresh()
        with _fault_at(number, kill=number % 2 == 0) as seen, suppress(_Killed, StorageError):
            store.create("New", system_prompt="whole\n")
        if seen["calls"] < number:
            break
        store = Store(Home(path.parent.parent))
        assert store.ids() in (["a"], ["a", "new"])
        if "new" in store.ids():
            assert store.get("new").system_prompt == "whole\n"
        assert store.create("New").id in ("new", "new-2")
