"""A home that an earlier release made is read on: its log, its texts, and what can be undone.

`older_home` was made by commit 5f87eeb: `owl` has a change of every kind, `wren` a journal that was thinned out. There a
version was the text before its change; `expected.json` has the texts as they were after each change.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from personas.changes import SetName, SetPrompt
from personas.errors import NothingToUndo
from personas.files.home import open_home
from personas.store import Store
from personas.versions import pruning
from personas.versions.authorship import USER, Author
from tests.personas.conftest import Clock

_DATA = Path(__file__).parent / "older_home"
_EXPECTED = json.loads((_DATA / "expected.json").read_text(encoding="utf-8"))
_OWL = [text for what, text in _EXPECTED["owl"]]
_WREN = {int(number): text for number, text in _EXPECTED["wren"].items()}


@pytest.fixture
def older(tmp_path: Path, env: dict[str, str], clock: Clock) -> Store:
    for name in ("personas", "versions"):
        shutil.copytree(_DATA / name, tmp_path / "old" / name)
    return Store(open_home(tmp_path / "old", env), now=clock)


def test_the_whole_log_is_shown_with_its_numbers_and_names(older: Store) -> None:
    log = older.log("owl")[::-1]
    assert [version.number for version in log] == list(range(1, 14))
    assert [version.by.kind for version in log] == [
        *("user", "agent", "agent", "external", "user", "user", "user", "user", "user", "user", "user"),
        *("restore", "agent"),
    ]
    assert {version.number: version.name for version in log if version.name} == {7: "good"}
    assert log[1].reason == "count"


def test_each_version_is_the_text_after_its_change(older: Store) -> None:
    for number, text in enumerate(_OWL):
        if text is not None and number != 6:
            assert older.version_text("owl", number) == text, number
    assert older.version_text("owl", 6) == 'name = "Night Owl"\nsystem_prompt = """\nnever taken\n"""\n' + (
        'description = "dusk"\n# by hand\n'
    )
    assert older.version_text("owl", "good") == _OWL[7]
    diff = older.diff("owl")
    assert (diff.from_, diff.to, diff.added, diff.removed) == (12, 13, 1, 0)
    assert (older.diff("owl", 1, 3).added, older.diff("owl", 1, 3).removed) == (2, 2)


def test_what_was_kept_and_never_was_the_files_is_told_apart(older: Store) -> None:
    assert [version.number for version in older.log("owl") if version.role == "kept"] == [6]


def test_restoring_and_undoing_go_on_where_they_were(older: Store) -> None:
    path = older.path("owl")
    older.restore("owl", 3, by=Author("restore"))
    assert path.read_text(encoding="utf-8") == _OWL[3]
    older.undo("owl")
    assert path.read_text(encoding="utf-8") == _OWL[13]
    older.undo("owl")
    assert path.read_text(encoding="utf-8") == _OWL[12]
    older.undo("owl")  # what is left of a stretch of which a part was taken back
    assert "summary" not in older.text("owl")
    older.undo("owl")
    assert "Five." in older.text("owl")
    older.undo("owl")
    assert "description" not in older.text("owl")
    with pytest.raises(NothingToUndo):
        older.undo("owl")
    older.redo("owl")
    assert "description" in older.text("owl")
    older.redo("owl", only="agent")
    assert older.get("owl").tags == ("night",)


def test_a_run_that_was_undone_there_can_be_redone_by_its_version(older: Store) -> None:
    assert older.undo("owl", version=10).persona.name == "Night Owl"
    assert "1." in older.get("owl").system_prompt
    assert older.undo("owl", version=2).persona.name == "Owl"


def test_a_version_number_is_never_given_again(older: Store) -> None:
    older.change("owl", SetName("Owlet"), revision=None, by=USER)
    older.change("wren", SetName("Robin"), revision=None, by=USER)
    assert (older.log("owl")[0].number, older.log("wren")[0].number) == (14, 33)


def test_a_log_that_was_thinned_out_has_a_text_for_each_number_and_is_undone(older: Store) -> None:
    log = older.log("wren")[::-1]
    numbers = [version.number for version in log]
    assert numbers[:5] == [1, 2, 3, 9, 14] and numbers[-17:] == list(range(16, 33))
    for version, following in zip(log, [*log[1:], None], strict=True):
        # Where those behind it were dropped, it has what they led to.
        last = version.number if following is None else following.number - 1
        assert older.version_text("wren", version.number) == _WREN[last]
    assert 'system_prompt = """\nstart\n"""' in older.version_text("wren", 0)
    older.undo("wren")
    assert older.text("wren") == _WREN[31]
    assert older.undo("wren").persona.name == "Wren"
    for number in range(28, 18, -1):
        older.undo("wren")
        assert older.text("wren") == _WREN[number] + "# by hand\n"


def test_pruning_an_older_log_loses_no_text_that_it_keeps(
    older: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "_ALWAYS", 4)
    for persona_id in ("owl", "wren"):
        file = older.file(persona_id)
        file.versions.prune(file.catch_up(file.read()), older._now())
        for version in older.log(persona_id):
            assert older.version_text(persona_id, version.number)
        older.version_text(persona_id, 0)
    assert older.version_text("owl", "good") == _OWL[7]
    older.change("wren", SetPrompt("new\n"), revision=None, by=USER)
    older.undo("wren")
    older.undo("wren")
    assert older.text("wren") == _WREN[31]
