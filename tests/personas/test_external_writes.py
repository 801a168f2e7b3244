"""What other programs wrote over a persona's file is a version, whatever became of the journal meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from personas.changes import ReplaceText, SetPrompt
from personas.errors import NothingToUndo
from personas.external_writes import know
from personas.files.home import Home
from personas.store import Store
from personas.versions import log as version_log
from personas.versions import pruning
from personas.versions import version_store as versions
from personas.versions.authorship import Author


@pytest.fixture
def file(home: Home) -> Path:
    path = home.personas / "a.toml"
    path.write_text('name = "A"\nsystem_prompt = "begin"\n')
    return path


def change(store: Store, *numbers: int) -> None:
    for n in numbers:
        store.change("a", SetPrompt(f"{n}"), revision=None, by=Author("agent", "s", f"r{n}"))


def write_outside(file: Path, line: str) -> tuple[str, str]:
    """Add a line by hand; return the text before and after."""
    before = file.read_text()
    file.write_text(before + f"# {line}\n")
    return before, file.read_text()


def test_the_first_text_that_is_known_and_each_one_known_after_it_are_versions(
    store: Store, file: Path
) -> None:
    texts = []
    for line in ("one", "two", "three"):
        know(store, "a")
        know(store, "a")
        texts.append(write_outside(file, line)[0])
    log = store.log("a")
    assert [store.text_before("a", version) for version in reversed(log)] == texts
    assert [store.version_text("a", version.number) for version in log] == [file.read_text(), *texts[:0:-1]]
    assert {(version.by.kind, version.reason) for version in log} == {
        ("external", "changed outside the program")
    }


def test_what_cannot_be_known_stands_in_nobodys_way(store: Store, file: Path, home: Home) -> None:
    (home.versions / "a").write_text("in the way")
    know(store, "a")
    know(store, "nobody")
    assert store.get("a").name == "A"


def test_after_thinning_out_the_file_is_known_and_undo_goes_on(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(version_log, "_RECORDS_LIMIT", 10)
    change(store, 1)
    write_outside(file, "by hand")
    change(store, *range(2, 20))
    known = store.log("a")
    assert [version.by.kind for version in known].count("external") == 1
    for _ in range(19):
        store.undo("a", by=Author("user"))
    assert file.read_text() == 'name = "A"\nsystem_prompt = "begin"\n# by hand\n'
    with pytest.raises(NothingToUndo):
        store.undo("a", by=Author("user"))
    assert [version.by.kind for version in store.log("a")].count("external") == 1


def test_a_written_text_is_a_version_that_no_thinning_out_drops(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(version_log, "_RECORDS_LIMIT", 10)
    monkeypatch.setattr(pruning, "_ALWAYS", 1)
    monkeypatch.setattr(versions, "_UNITS_KEPT", 1)
    change(store, *range(9))
    written = write_outside(file, "by hand")[1]
    for n in range(50):  # of the person's versions most are dropped
        store.change("a", SetPrompt(f"{n}"), revision=None, by=Author("user"), own_unit=True)
    for text in ("stretch", written, "end"):  # typed again in passing
        edit = ReplaceText(text) if text == written else SetPrompt(text)
        store.change("a", edit, revision=None, by=Author("user"))
    log = store.log("a")
    assert len(log) < 50, "it was never thinned out"
    assert [store.version_text("a", one) for one in log if one.by.kind == "external"] == [written]
