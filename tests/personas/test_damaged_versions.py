"""A stored text that a power cut or a bad disk damaged costs what only it could give back, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from personas.changes import SetDescription, SetName, SetPrompt
from personas.errors import DamagedVersion, NothingToUndo, StorageError, UnknownVersion
from personas.files.text_file import SIZE_LIMIT, sha256
from personas.store import Store
from personas.versions import version_store as versions
from personas.versions.authorship import USER, Author
from personas.versions.version_store import VersionFolder

_TEXT = 'name = "A"\nsystem_prompt = "p"\n'
_RUN = Author("agent", "s", "r")

Damage = Callable[[Path], object]
damages = pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\0" * 50),
        lambda path: path.write_bytes(path.read_bytes()[:9]),
        lambda path: path.write_bytes(path.with_name(f"{sha256(b'other')}.z").read_bytes()),
        lambda path: path.unlink(),
    ],
    ids=["empty", "zeros", "cut off", "another text", "missing"],
)


@pytest.fixture
def file(store: Store) -> Path:
    path = store.home.personas / "a.toml"
    path.write_text(_TEXT)
    VersionFolder(store.home, "a").store(b"other")
    return path


def stored(store: Store, text: str) -> Path:
    return store.home.versions / "a" / "texts" / f"{sha256(text.encode())}.z"


@damages
def test_what_is_edited_outside_over_a_damaged_text_can_be_changed_undone_and_deleted(
    store: Store, file: Path, damage: Damage
) -> None:
    for act in (
        lambda: store.change("a", SetName("C"), revision=None, by=USER),
        lambda: store.name_version("a", f"named {len(store.log('a'))}"),
        lambda: store.delete("a", by=USER),
    ):
        store.change("a", SetDescription(f"{len(store.log('a'))}"), revision=None, by=_RUN)
        damage(stored(store, file.read_text()))
        file.write_text(file.read_text() + "# by hand\n")
        outside = file.read_text()
        act()
        (written,) = [version for version in store.log("a")[:2] if version.by.kind == "external"]
        assert store.version_text("a", written.number) == outside
    store.restore("a", written.number, by=USER)
    assert file.read_text() == outside


@damages
def test_what_is_edited_outside_next_is_noticed_again(store: Store, file: Path, damage: Damage) -> None:
    store.change("a", SetName("B"), revision=None, by=_RUN)
    damage(stored(store, file.read_text()))
    file.write_text(first := file.read_text() + "# by hand\n")
    assert [version.by.kind for version in store.log("a")] == ["external", "agent"]
    file.write_text(first + "# once more\n")
    assert [version.by.kind for version in store.log("a")] == ["external", "external", "agent"]
    assert store.version_text("a", store.log("a")[1].number) == first


@damages
def test_a_stretch_whose_first_text_is_damaged_is_followed_by_a_new_one(
    store: Store, file: Path, damage: Damage
) -> None:
    store.change("a", SetPrompt("one\n"), revision=None, by=USER)
    one = file.read_text()
    damage(stored(store, _TEXT))
    store.change("a", SetPrompt("two\n"), revision=None, by=USER)
    store.change("a", SetPrompt("three\n"), revision=None, by=USER)
    assert store.undo("a", by=USER).persona.system_prompt == "one\n" and file.read_text() == one


@damages
def test_a_text_at_hand_is_stored_anew_over_a_damaged_one(store: Store, file: Path, damage: Damage) -> None:
    store.change("a", SetName("B"), revision=None, by=_RUN)
    before = file.read_text()
    damage(stored(store, before))
    store.change("a", SetName("C"), revision=None, by=Author("agent", "s", "next"))
    assert store.text_before("a", store.log("a")[0]) == before
    store.undo("a", by=USER)
    assert file.read_text() == before


@damages
def test_the_text_that_is_in_the_file_need_not_be_stored(store: Store, file: Path, damage: Damage) -> None:
    store.change("a", SetName("B"), revision=None, by=_RUN)
    damage(stored(store, file.read_text()))
    assert store.preview_undo("a")[1] == _TEXT
    store.undo("a", by=USER)
    assert file.read_text() == _TEXT
    damage(stored(store, _TEXT))
    store.restore("a", 2, by=USER)
    assert file.read_text() == _TEXT


@damages
def test_a_unit_whose_text_is_damaged_is_told_and_what_is_older_can_be_undone(
    store: Store, file: Path, damage: Damage
) -> None:
    store.change("a", SetDescription("older"), revision=None, by=USER)
    middle = file.read_text()
    store.change("a", SetName("B"), revision=None, by=_RUN)
    store.change("a", SetName("C"), revision=None, by=Author("agent", "s", "next"))
    store.undo("a", by=USER)
    damage(stored(store, middle))
    now = file.read_text()
    with pytest.raises(
        UnknownVersion, match=r"^Could not undo the agent's run \(.*\) in a: a text it needs is "
    ):
        store.undo("a", by=USER)
    assert file.read_text() == now
    with pytest.raises(UnknownVersion, match=r"^Could not undo your edit"):
        store.undo("a", by=USER)
    with pytest.raises(NothingToUndo):
        store.undo("a", by=USER)
    assert file.read_text() == now
    assert store.redo("a", by=USER).persona.name == "C"


@damages
def test_what_is_older_than_a_lost_unit_is_undone_around_what_came_since(
    store: Store, file: Path, damage: Damage
) -> None:
    long = "".join(f"line {n}\n" for n in range(20))
    store.change("a", SetPrompt(long), revision=None, by=USER)
    store.change("a", SetPrompt(long.replace("line 1\n", "oldest\n")), revision=None, by=_RUN)
    for run in ("5", "10", "15"):
        prompt = store.get("a").system_prompt.replace(f"line {run}\n", f"new {run}\n")
        lost = file.read_text()
        store.change("a", SetPrompt(prompt), revision=None, by=Author("agent", "s", run))
    damage(stored(store, lost))
    for _ in range(2):
        with pytest.raises(UnknownVersion):
            store.undo("a", by=USER)
    store.undo("a", by=USER)
    assert store.get("a").system_prompt == prompt.replace("new 5\n", "line 5\n")
    store.undo("a", by=USER)
    assert "oldest" not in store.get("a").system_prompt


@damages
def test_a_deleted_text_that_is_damaged_is_no_hindrance_to_another(
    store: Store, file: Path, damage: Damage
) -> None:
    store.change("a", SetName("B"), revision=None, by=_RUN)
    deleted = file.read_text()
    number = store.delete("a", by=USER)
    damage(stored(store, deleted))
    with pytest.raises(UnknownVersion):
        store.restore("a", number, by=USER)
    store.restore("a", 0, by=USER)
    assert file.read_text() == _TEXT


def test_a_damaged_text_is_told_as_such(store: Store, file: Path) -> None:
    store.change("a", SetName("B"), revision=None, by=_RUN)
    stored(store, _TEXT).write_bytes(b"noise")
    for act in (
        lambda: store.version_text("a", 0),
        lambda: store.diff("a"),
        lambda: store.undo("a", by=USER),
    ):
        with pytest.raises(DamagedVersion, match="damaged") as raised:
            act()
        assert isinstance(raised.value, StorageError)


@pytest.fixture
def reads_fail(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Turns it on and off that no stored text can be read: a bad disk, or too many open files."""
    read = versions.read_regular
    fails = False

    def read_or_fail(path: Path, **kwargs: Any) -> bytes:
        if fails and path.suffix == ".z":
            raise StorageError(f"Could not read {path}: too many files are open.")
        return read(path, **kwargs)

    def turn(on: bool) -> None:
        nonlocal fails
        fails = on

    monkeypatch.setattr(versions, "read_regular", read_or_fail)
    return turn


def test_a_text_that_only_cannot_be_read_now_is_a_version_once_it_can_be(
    store: Store, file: Path, reads_fail: Callable[[bool], None]
) -> None:
    store.change("a", SetName("B"), revision=None, by=_RUN)
    ours = file.read_text()
    file.write_text(outside := ours + "# by hand\n")
    reads_fail(True)
    assert [version.by.kind for version in store.log("a")] == ["agent"]
    for act in (
        lambda: store.change("a", SetName("C"), revision=None, by=USER),
        lambda: store.delete("a", by=USER),
        lambda: store.undo("a", by=USER),
    ):
        with pytest.raises(StorageError, match="too many files") as raised:
            act()
        assert not isinstance(raised.value, UnknownVersion) and file.read_text() == outside
    reads_fail(False)
    assert [version.by.kind for version in store.log("a")] == ["external", "agent"]
    assert store.text_before("a", store.log("a")[0]) == ours
    assert store.version_text("a", store.log("a")[0]) == outside


def test_what_is_typed_is_saved_where_no_earlier_text_can_be_read(
    store: Store, file: Path, reads_fail: Callable[[bool], None]
) -> None:
    store.change("a", SetPrompt("one\n"), revision=None, by=USER)
    reads_fail(True)
    assert store.change("a", SetPrompt("two\n"), revision=None, by=USER).system_prompt == "two\n"
    reads_fail(False)
    assert [version.by.kind for version in store.log("a")] == ["user", "user"]
    assert "one" in store.version_text("a", store.log("a")[1].number)


def test_a_text_of_the_largest_size_is_read_again(store: Store, file: Path) -> None:
    import random

    content = random.Random(1).randbytes(SIZE_LIMIT)
    folder = VersionFolder(store.home, "a")
    assert folder.load(folder.store(content)) == content
