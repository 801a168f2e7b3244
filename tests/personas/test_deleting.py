"""Deleting, bringing back and undoing, in any order: undo never gets stuck, and nothing is lost."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from personas.changes import ReplaceText, SetName
from personas.errors import Conflict, NothingToUndo, UnknownPersona
from personas.files.home import Home, open_home
from personas.store import Store
from personas.versions.authorship import USER, Author
from tests.personas.conftest import Clock

RESTORE = Author("restore")
Act = Callable[..., object]


def _run(number: int) -> Author:
    return Author("agent", "s1", f"r{number}")


@pytest.fixture
def file(home: Home) -> Path:
    path = home.personas / "a.toml"
    path.write_text('name = "first"\n')
    return path


def _rename_twice(store: Store) -> None:
    for number, name in enumerate(("second", "third")):
        store.change("a", SetName(name), revision=None, by=_run(number))


# -- undo after a deletion ----------------------------------------------------------------------------


@pytest.mark.parametrize("by_hand", [False, True], ids=["deleted in the program", "deleted by hand"])
def test_undo_takes_back_a_restore_that_followed_a_deletion(store: Store, file: Path, by_hand: bool) -> None:
    _rename_twice(store)
    if by_hand:
        file.unlink()
    else:
        store.delete("a", by=USER)
    store.restore("a", 0, by=RESTORE)
    names = []
    for _ in range(3):
        done = store.undo("a", by=USER)
        names.append((done.persona.name, done.summary.split(" (")[0]))
    assert names == [("third", "the restore"), ("second", "the agent's run"), ("first", "the agent's run")]
    with pytest.raises(NothingToUndo):
        store.undo("a", by=USER)
    assert [store.redo("a", by=USER).persona.name for _ in range(3)] == ["second", "third", "first"]


def test_undo_goes_on_where_it_was_when_the_deleted_text_came_back(store: Store, file: Path) -> None:
    _rename_twice(store)
    store.undo("a", by=USER)
    store.restore("a", store.delete("a", by=USER), by=RESTORE)
    assert store.redo("a", by=USER).persona.name == "third"
    store.undo("a", by=USER)
    assert store.undo("a", by=USER).persona.name == "first"


def test_a_file_brought_back_by_hand_is_a_change_from_outside(store: Store, file: Path) -> None:
    _rename_twice(store)
    now = file.read_text()
    number = store.delete("a", by=USER)
    file.write_text("# by hand\n" + now)
    newest = store.log("a")[0]
    assert (newest.number, newest.reason) == (number + 2, "brought back outside the program")
    store.undo("a", by=USER)
    assert file.read_text() == "# by hand\n" + now.replace("third", "second")


def test_a_file_brought_back_as_it_was_is_known_again(store: Store, file: Path) -> None:
    _rename_twice(store)
    now = file.read_text()
    store.delete("a", by=USER)
    file.write_text(now)
    assert store.log("a")[0].reason == "deleted"
    file.write_text(now + "# more\n")
    newest = store.log("a")[0]
    assert newest.reason == "changed outside the program"
    assert store.text_before("a", newest) == now


# -- symlinks -----------------------------------------------------------------------------------------


@pytest.fixture
def link(home: Home) -> Path:
    (home.root / "shared").mkdir()
    (home.root / "shared" / "real.toml").write_text('name = "first"\n')
    path = home.personas / "a.toml"
    path.symlink_to("../shared/real.toml")
    return path


def test_deleting_a_symlink_leaves_its_target_and_restoring_brings_the_link_back(
    store: Store, link: Path
) -> None:
    target = link.resolve()
    _rename_twice(store)
    number = store.delete("a", by=USER)
    assert target.read_text() == 'name = "third"\n'
    assert not link.is_symlink()
    assert store.restore("a", number, by=RESTORE).name == "third"
    assert str(link.readlink()) == "../shared/real.toml"
    assert store.log("a")[0].reason == f"version {number} restored"
    assert store.undo("a", by=USER).persona.name == "second"
    assert target.read_text() == 'name = "second"\n'


def test_what_became_of_the_target_meanwhile_is_kept_as_a_version(store: Store, link: Path) -> None:
    target = link.resolve()
    number = store.delete("a", by=USER)
    target.write_text('name = "meanwhile"\n')
    assert store.restore("a", number, by=RESTORE).name == "first"
    assert link.is_symlink() and target.read_text() == 'name = "first"\n'
    assert store.undo("a", by=USER).persona.name == "meanwhile"


def test_a_target_that_is_gone_comes_back_too(store: Store, link: Path) -> None:
    target = link.resolve()
    number = store.delete("a", by=USER)
    target.unlink()
    store.restore("a", number, by=RESTORE)
    assert link.is_symlink() and target.read_text() == 'name = "first"\n'


@pytest.mark.parametrize(
    "way_out", ["/etc/passwd", "../../outside.toml", "a.toml", "../shared", "no/folder.toml"]
)
def test_a_link_that_leads_nowhere_good_is_not_made_again(
    store: Store, link: Path, home: Home, tmp_path: Path, way_out: str
) -> None:
    (tmp_path / "outside.toml").write_text("untouched")
    number = store.delete("a", by=USER)
    journal = home.versions / "a" / "journal.jsonl"
    journal.write_text(journal.read_text().replace("../shared/real.toml", way_out))
    assert store.restore("a", number, by=RESTORE).name == "first"
    assert not link.is_symlink() and link.read_text() == 'name = "first"\n'
    assert (tmp_path / "outside.toml").read_text() == "untouched"


# -- any order ----------------------------------------------------------------------------------------

_PLACES = 4  # lines so far apart that changes of two of them never meet
Lines = list[int]


class Life(RuleBasedStateMachine):
    """A persona's life beside a model of it: its lines, and the lines that each unit turned from this to that.

    Undoing a unit gives each of its lines back, unless one of them is neither as before nor as after it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        root = Path(self._folder.name) / "home"
        (root / "personas").mkdir(parents=True)
        self.home = open_home(root, {"PERSONA_CONFIG": str(root.parent / "config.toml")})
        self.path = self.home.personas / "a.toml"
        self.clock = Clock()
        self.store = Store(self.home, now=self.clock)
        self.number = 0
        self.lines = [0] * _PLACES
        self.there = True
        self.undo: list[tuple[Lines, Lines]] = []
        self.redo: list[tuple[Lines, Lines]] = []
        self.path.write_text(self._text())

    def teardown(self) -> None:
        self._folder.cleanup()

    @invariant()
    def the_file_is_as_the_model(self) -> None:
        assert (self.path.read_text() if self.path.exists() else None) == (
            self._text() if self.there else None
        )

    def _text(self) -> str:
        return "".join(f"line{n} = {value}\n\n\n" for n, value in enumerate(self.lines))

    def _turn(self, place: int) -> None:
        self.number += 1
        self.lines = [self.number if n == place else value for n, value in enumerate(self.lines)]

    def _has_versions(self) -> bool:
        return (self.home.versions / "a").exists()

    @precondition(lambda self: self.there)
    @rule(place=st.integers(0, _PLACES - 1), agent=st.booleans())
    def change(self, place: int, agent: bool) -> None:
        self.clock.pass_by(minutes=11)
        before = self.lines
        self._turn(place)
        by = _run(self.number) if agent else USER
        self.store.change("a", ReplaceText(self._text()), revision=None, by=by)
        self.undo.append((before, self.lines))
        self.redo.clear()

    @precondition(lambda self: self.there)
    @rule(place=st.integers(0, _PLACES - 1))
    def edit_by_hand(self, place: int) -> None:
        self._turn(place)
        self.path.write_text(self._text())

    @precondition(lambda self: self.there)
    @rule()
    def delete(self) -> None:
        self.store.delete("a", by=USER)
        self.there = False
        with pytest.raises(UnknownPersona):
            self.store.undo("a", by=USER)

    @precondition(lambda self: self.there and self._has_versions())
    @rule()
    def delete_by_hand(self) -> None:
        self.store.log("a")  # so that the text is known
        self.path.unlink()
        self.there = False

    @precondition(lambda self: not self.there)
    @rule(place=st.none() | st.integers(0, _PLACES - 1))
    def bring_back_by_hand(self, place: int | None) -> None:
        self.store.log("a")  # so that its absence is known
        if place is not None:
            self._turn(place)
        self.path.write_text(self._text())
        self.there = True

    @precondition(lambda self: self._has_versions())
    @rule(pick=st.integers(0, 30))
    def restore(self, pick: int) -> None:
        log = self.store.log("a")
        version = log[pick % len(log)].number
        before, text = self.lines, self.store.version_text("a", version)
        self.lines = [int(line.split("= ")[1]) for line in text.split("\n\n\n")[:-1]]
        self.store.restore("a", version, by=RESTORE)
        self.there = True
        if before != self.lines:
            self.undo.append((before, self.lines))
            self.redo.clear()

    @precondition(lambda self: self.there)
    @rule()
    def undo_one(self) -> None:
        self._step(self.store.undo, self.undo, self.redo)

    @precondition(lambda self: self.there)
    @rule()
    def redo_one(self) -> None:
        self._step(self.store.redo, self.redo, self.undo)

    def _step(self, act: Act, source: list[tuple[Lines, Lines]], target: list[tuple[Lines, Lines]]) -> None:
        while source:
            before, after = source[-1]
            touched = [n for n in range(_PLACES) if before[n] != after[n]]
            if any(self.lines[n] not in (before[n], after[n]) for n in touched):
                with pytest.raises(Conflict):
                    act("a", by=USER)
                return
            source.pop()
            now = self.lines
            self.lines = [before[n] if n in touched else now[n] for n in range(_PLACES)]
            if self.lines != now:
                act("a", by=USER)
                target.append((now, self.lines))
                return
        with pytest.raises(NothingToUndo):
            act("a", by=USER)

    @rule()
    def reopen(self) -> None:
        self.store = Store(self.home, now=self.clock)


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=20, stateful_step_count=25, deadline=None)
