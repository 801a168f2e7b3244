"""Versions, undo and redo: every change can be taken back, and nothing a person wrote gets lost on the way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from personas.changes import (
    AddTestInput,
    EditPrompt,
    ReplaceText,
    SetDescription,
    SetName,
    SetPrompt,
    UpdateTestInput,
)
from personas.errors import (
    Conflict,
    InvalidValue,
    NothingToUndo,
    StorageError,
    UnknownPersona,
    UnknownVersion,
)
from personas.files.home import Home, open_home
from personas.persona import Persona
from personas.store import Store
from personas.versions import log as version_log
from personas.versions import pruning
from personas.versions import version_store as versions
from personas.versions.authorship import USER, Author, Undone, Version
from tests.personas.conftest import Clock

_TEXT = 'name = "A"\nsystem_prompt = """\nOne.\nTwo.\nThree.\nFour.\nFive.\n"""\n'


def _run(number: int) -> Author:
    return Author("agent", "s1", f"r{number}")


@pytest.fixture
def file(home: Home) -> Path:
    path = home.personas / "a.toml"
    path.write_text(_TEXT)
    return path


@pytest.fixture
def change(store: Store, file: Path):
    def make(what, by=USER, reason=""):
        return store.change("a", what, revision=None, by=by, reason=reason)

    return make


# -- the log ------------------------------------------------------------------------------------------


def test_the_texts_of_a_log_are_read_without_reading_the_journal_again(
    store, change, clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "BCD":
        change(SetName(name))
        clock.pass_by(minutes=11)
    log = store.log("a")
    monkeypatch.setattr(versions.VersionFolder, "records", lambda _folder: pytest.fail("it was read"))
    texts = [store.version_text("a", version) for version in reversed(log)]
    assert [text.splitlines()[0] for text in texts] == ['name = "B"', 'name = "C"', 'name = "D"']


def test_a_version_is_the_text_after_a_change_and_says_what_the_change_was(
    store, change, clock, file
) -> None:
    change(SetName("B"), _run(1), "you asked for it")
    clock.pass_by(minutes=1)
    change(SetDescription("d"))
    second, first = store.log("a")
    assert (first.number, first.by, first.reason) == (1, _run(1), "you asked for it")
    assert (first.at, first.added, first.removed) == ("2026-01-01T12:00:00.000Z", 1, 1)
    assert (second.number, second.by, second.reason) == (2, USER, "description +1 -0")
    assert store.version_text("a", 0) == store.text_before("a", first) == _TEXT
    assert store.version_text("a", "1") == store.text_before("a", second) == _TEXT.replace('"A"', '"B"')
    assert store.version_text("a", 2) == file.read_text()
    assert first.to_record() == {
        "version": 1,
        "name": None,
        "by": "agent",
        "session_id": "s1",
        "run_id": "r1",
        "request": None,
        "at": "2026-01-01T12:00:00.000Z",
        "reason": "you asked for it",
        "added": 1,
        "removed": 1,
    }


def test_a_diff_compares_versions_and_now(store, change) -> None:
    change(SetName("B"), _run(1))
    change(SetName("C"), _run(2))
    last = store.diff("a")
    assert (last.from_, last.to, last.added, last.removed) == (1, 2, 1, 1)
    assert '-name = "B"\n+name = "C"\n' in last.diff
    assert '-name = "A"\n+name = "C"\n' in store.diff("a", 0).diff
    assert store.diff("a", 1).diff.splitlines()[2:] == last.diff.splitlines()[2:]
    assert store.diff("a", 1).to is None
    assert store.diff("a", "1", "2").to_record()["to"] == 2
    assert store.diff("a", 1, 1).diff == ""


def test_what_was_never_changed_has_no_versions(store: Store, file: Path) -> None:
    assert store.log("a") == []
    for act in (
        lambda: store.diff("a"),
        lambda: store.restore("a", 1, by=USER),
        lambda: store.version_text("a", "x"),
    ):
        with pytest.raises(UnknownVersion):
            act()
    for act in (lambda: store.log("b"), lambda: store.restore("b", 1, by=USER), lambda: store.diff("b")):
        with pytest.raises(UnknownPersona):
            act()


def test_autosaves_within_ten_minutes_are_one_version(store, change, clock) -> None:
    for minute in range(25):
        change(SetPrompt(f"minute {minute}\n"))
        clock.pass_by(minutes=1)
    assert [version.number for version in store.log("a")] == [3, 2, 1]
    assert store.version_text("a", 0) == _TEXT
    assert "minute 10\n" in store.version_text("a", 1)
    assert "minute 21\n" in store.version_text("a", 2)
    first = store.log("a")[2]
    assert (first.added, first.removed) == (1, 5)


def test_texts_in_the_middle_of_a_stretch_are_not_kept(store, change, home) -> None:
    for n in range(20):
        change(SetPrompt(f"autosave {n}\n"))
    assert len(list((home.versions / "a" / "texts").iterdir())) == 2


def test_another_author_ends_a_stretch(store, change) -> None:
    change(SetPrompt("one\n"))
    change(SetPrompt("two\n"), _run(1))
    change(SetPrompt("three\n"))
    assert [version.by.kind for version in store.log("a")] == ["user", "agent", "user"]


def test_each_text_is_stored_once_and_small(store, change, home) -> None:
    for n in range(6):
        change(SetPrompt(("a" if n % 2 else "b") * 100_000), _run(n))
    stored = list((home.versions / "a" / "texts").iterdir())
    assert len(stored) == 3
    assert all(path.stat().st_size < 2000 and path.stat().st_mode & 0o777 == 0o600 for path in stored)


def test_changes_from_outside_become_versions(store, change, file) -> None:
    change(SetName("B"), _run(1))
    file.write_text(file.read_text() + "\n# by hand\n")
    newest = store.log("a")[0]
    assert (newest.by.kind, newest.reason, newest.added) == ("external", "changed outside the program", 2)
    assert store.version_text("a", newest.number) == file.read_text()
    assert store.version_text("a", 1) == _TEXT.replace('"A"', '"B"')
    assert "+# by hand" in store.diff("a").diff
    assert len(store.log("a")) == 2


def test_a_new_persona_edited_by_hand_keeps_its_first_text(store: Store) -> None:
    persona = store.create("New", system_prompt="first")
    before = store.text(persona.id)
    store.path(persona.id).write_text('name = "by hand"')
    assert [version.by.kind for version in store.log(persona.id)] == ["external"]
    assert store.version_text(persona.id, 0) == before
    assert store.version_text(persona.id, 1) == 'name = "by hand"'


def test_a_file_removed_outside_can_be_restored(store, change, file) -> None:
    change(SetName("B"), _run(1))
    now = file.read_text()
    file.unlink()
    newest = store.log("a")[0]
    assert newest.by.kind == "external"
    store.restore("a", newest.number, by=Author("restore"))
    assert file.read_text() == now


def test_versions_have_names(store, change) -> None:
    change(SetName("B"), _run(1))
    assert store.name_version("a", "before the agent", version=0) == 0
    assert store.name_version("a", "good") == 1
    change(SetName("C"), _run(2))
    assert store.restore("a", "before the agent", by=Author("restore")).name == "A"
    assert store.restore("a", "good", by=Author("restore")).name == "B"
    assert [version.name for version in store.log("a")] == [None, None, None, "good"]
    for wrong in ("good", "7", "", " x", "a\nb", "x" * 201):
        with pytest.raises(InvalidValue):
            store.name_version("a", wrong)
    with pytest.raises(UnknownVersion):
        store.name_version("a", "new", version=99)


def test_restoring_is_itself_a_change(store, change, file) -> None:
    change(SetName("B"), _run(1))
    store.restore("a", 0, by=Author("restore"))
    assert file.read_text() == _TEXT
    newest = store.log("a")[0]
    assert (newest.number, newest.by.kind, newest.reason) == (2, "restore", "version 0 restored")
    assert store.undo("a", by=USER).persona.name == "B"
    store.restore("a", 1, by=Author("restore"))
    assert len(store.log("a")) == 3


def test_a_damaged_text_is_told_and_nothing_is_written(store, change, file, home) -> None:
    change(SetName("B"), _run(1))
    sha = store.log("a")[0].before
    (home.versions / "a" / "texts" / f"{sha}.z").write_bytes(b"noise")
    now = file.read_text()
    for act in (lambda: store.restore("a", 0, by=USER), lambda: store.undo("a", by=USER)):
        with pytest.raises(StorageError, match="damaged"):
            act()
    assert file.read_text() == now


def test_a_strangers_journal_does_no_harm(store, change, home) -> None:
    change(SetName("B"), _run(1))
    with (home.versions / "a" / "journal.jsonl").open("a") as journal:
        journal.write(
            '{"type":"change"}\n{"type":"known","sha":"../../x"}\n{"type":"name","version":99}\n{}\n'
        )
        journal.write('{"type":"thinned","undo":[3],"redo":[],"sha":null,"next":1,"kept":1}\nnoise\n')
        unit = '{"key":"k","kind":["x"],"hops":[],"notes":[]}'
        journal.write('{"type":"thinned","undo":[' + unit + '],"redo":[],"sha":"x","next":1e999,"kept":1}\n')
        journal.write('{"type":"name","version":1e999,"name":"x"}\n')
    assert [version.number for version in store.log("a")] == [1]
    change(SetName("C"), _run(2))
    assert [version.number for version in store.log("a")] == [2, 1]


# -- undo and redo ------------------------------------------------------------------------------------


def test_undo_goes_further_back_each_time_and_redo_forward_again(store, change, file, home) -> None:
    texts = [file.read_text()]
    for n, author in enumerate([_run(1), USER, _run(2)]):
        change(SetName(f"N{n}"), author)
        texts.append(file.read_text())
    for text in reversed(texts[:-1]):
        Store(home).undo("a", by=USER)  # a new store each time, as after a restart
        assert file.read_text() == text
    with pytest.raises(NothingToUndo):
        store.undo("a", by=USER)
    for text in texts[1:]:
        Store(home).redo("a", by=USER)
        assert file.read_text() == text
    with pytest.raises(NothingToUndo):
        store.redo("a", by=USER)


def test_an_agents_run_is_one_unit(store, change, file) -> None:
    change(SetName("B"), _run(1))
    change(EditPrompt("One.", "1."), _run(1))
    change(AddTestInput("x"), _run(1))
    done = store.undo("a", by=USER)
    assert file.read_text() == _TEXT
    assert done.summary == "the agent's run (name: A -> B, system prompt +1 -1, test input added: x)"
    assert store.version_text("a", done.version) == _TEXT
    store.redo("a", by=USER)
    assert store.get("a").name == "B"


def test_what_the_person_wrote_since_stays(store, change, file) -> None:
    change(EditPrompt("One.", "1."), _run(1))
    file.write_text(file.read_text().replace("Five.", "By hand.") + "# a comment\n")
    store.undo("a", by=USER)
    assert file.read_text() == _TEXT.replace("Five.", "By hand.") + "# a comment\n"
    store.redo("a", by=USER)
    assert file.read_text() == _TEXT.replace("Five.", "By hand.").replace("One.", "1.") + "# a comment\n"


def test_the_agents_run_can_be_undone_from_under_the_persons_edits(store, change, file) -> None:
    change(EditPrompt("One.", "1."), _run(1))
    change(EditPrompt("Five.", "Mine."))
    change(SetName("B"), _run(1))  # the same run goes on
    change(SetDescription("mine"))
    store.undo("a", by=USER, only="agent")
    persona = store.get("a")
    assert (persona.name, persona.description) == ("A", "mine")
    assert persona.system_prompt == "One.\nTwo.\nThree.\nFour.\nMine.\n"
    with pytest.raises(NothingToUndo):
        store.undo("a", by=USER, only="agent")
    store.redo("a", by=USER, only="agent")
    assert (store.get("a").name, store.get("a").description) == ("B", "mine")
    store.undo("a", by=USER, only="agent")
    store.undo("a", by=USER)
    store.undo("a", by=USER)
    assert file.read_text() == _TEXT


def test_only_the_agents_undo_says_that_it_found_nothing_of_the_agents(store, change) -> None:
    change(SetName("B"))
    for only, of in (("agent", " of the agent's"), ("version:7", "")):
        with pytest.raises(NothingToUndo, match=f"nothing{of} to undo"):
            store.undo("a", by=USER, only=only)


def test_where_both_wrote_nothing_changes_and_both_are_shown(store, change, file) -> None:
    change(EditPrompt("One.", "1."), _run(1))
    agents = file.read_text()
    change(EditPrompt("1.", "Mine."))
    now = file.read_text()
    log = store.log("a")
    with pytest.raises(Conflict) as caught:
        store.undo("a", by=USER, only="agent")
    assert (caught.value.base, caught.value.ours, caught.value.theirs) == (agents, _TEXT, now)
    assert file.read_text() == now
    assert store.log("a") == log
    store.undo("a", by=USER)
    store.undo("a", by=USER)
    assert file.read_text() == _TEXT


def test_a_new_change_ends_redo(store, change) -> None:
    change(SetName("B"), _run(1))
    store.undo("a", by=USER)
    change(SetDescription("d"))
    with pytest.raises(NothingToUndo):
        store.redo("a", by=USER)


def test_a_unit_without_effect_is_passed_over(store, change, file) -> None:
    change(SetName("B"), _run(1))
    change(SetDescription("d"), _run(2))
    file.write_text(file.read_text().replace('description = "d"\n', ""))
    store.undo("a", by=USER)
    assert file.read_text() == _TEXT
    with pytest.raises(NothingToUndo):
        store.undo("a", by=USER)


def test_an_undo_that_would_break_the_file_is_a_conflict(store, change, file) -> None:
    change(ReplaceText(_TEXT.replace('name = "A"\n', "")), _run(1))
    file.write_text(file.read_text() + 'name = "mine"\n')
    now = file.read_text()
    with pytest.raises(Conflict, match="would break the file") as caught:
        store.undo("a", by=USER)
    assert caught.value.theirs == file.read_text() == now
    assert caught.value.ours == _TEXT + 'name = "mine"\n'


def test_an_undo_is_followed_by_a_stretch_of_its_own(store, change, file) -> None:
    change(SetPrompt("one\n"))
    store.undo("a", by=USER)
    change(SetPrompt("two\n"))
    store.undo("a", by=USER)
    assert file.read_text() == _TEXT


def test_adding_a_test_input_is_a_unit_of_its_own_beside_typing(store, change) -> None:
    change(SetPrompt("typed\n"))
    change(AddTestInput("x", id="x"))
    change(UpdateTestInput("x", "y"))
    store.undo("a", by=USER)
    assert store.get("a").test_inputs[0].content == "x"
    store.undo("a", by=USER)
    persona = store.get("a")
    assert (persona.test_inputs, persona.system_prompt) == ((), "typed\n")


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["user", "run1", "run2"])), min_size=1, max_size=8),
    st.integers(0, 8),
)
def test_undoing_and_redoing_any_number_of_units_comes_back_to_the_same_text(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[int, str]], steps: int
) -> None:
    root = tmp_path_factory.mktemp("home")
    (root / "personas").mkdir()
    home = open_home(root, {"PERSONA_CONFIG": str(root / "config.toml")})
    path = home.personas / "a.toml"
    start = "".join(f"line{n} = 0\n\n" for n in range(10))
    path.write_text(start)
    clock = Clock()
    store = Store(home, now=clock)
    for at, (line, who) in enumerate(edits):
        lines = path.read_text().splitlines(keepends=True)
        lines[2 * line] = f"line{line} = {at + 1}\n"
        by = USER if who == "user" else Author("agent", "s", who)
        store.change("a", ReplaceText("".join(lines)), revision=None, by=by)
        clock.pass_by(minutes=4)
    end = path.read_text()
    undone = 0
    try:
        for _ in range(steps):
            store.undo("a", by=USER)
            undone += 1
    except NothingToUndo:
        assert path.read_text() == start
    except Conflict:
        pass  # two runs that took turns on one line cannot be told apart
    for _ in range(undone):
        store.redo("a", by=USER)
    assert path.read_text() == end


def test_a_run_undone_before_something_new_was_written_can_be_asked_for(store, change, file) -> None:
    change(EditPrompt("One.", "1."), _run(1))
    store.undo("a", by=USER)
    change(EditPrompt("Five.", "Mine."))
    with pytest.raises(NothingToUndo):
        store.redo("a", by=USER)
    store.redo("a", by=USER, only="agent")
    assert store.get("a").system_prompt == "1.\nTwo.\nThree.\nFour.\nMine.\n"
    store.undo("a", by=USER)
    assert "Five." in store.get("a").system_prompt, "what is youngest goes first"
    store.undo("a", by=USER)
    assert file.read_text() == _TEXT


def test_a_run_undone_before_the_agent_wrote_something_else_is_gone(store, change) -> None:
    change(EditPrompt("One.", "1."), _run(1))
    store.undo("a", by=USER)
    change(EditPrompt("Five.", "5."), _run(2))
    with pytest.raises(NothingToUndo):
        store.redo("a", by=USER, only="agent")


def test_what_is_set_alone_is_undone_alone(store, change) -> None:
    change(SetPrompt("typed\n"))
    store.change("a", SetName("B"), revision=None, by=USER, own_unit=True)
    change(SetPrompt("typed on\n"))
    store.undo("a", by=USER)
    assert (store.get("a").name, store.get("a").system_prompt) == ("B", "typed\n")
    store.undo("a", by=USER)
    assert (store.get("a").name, store.get("a").system_prompt) == ("A", "typed\n")


# -- pruning -------------------------------------------------------------------------------------


def test_pruning_keeps_names_runs_and_what_can_be_undone(
    store, change, clock, home, file, monkeypatch
) -> None:
    monkeypatch.setattr(version_log, "_RECORDS_LIMIT", 100)
    monkeypatch.setattr(versions, "_UNITS_KEPT", 40)
    monkeypatch.setattr(pruning, "_ALWAYS", 10)
    change(SetPrompt("the first\n"))
    store.name_version("a", "kept")
    change(SetName("by the agent"), _run(1))
    clock.pass_by(days=300)
    for n in range(150):
        clock.pass_by(minutes=11)
        change(SetPrompt(f"save {n}\n"))
    now = file.read_text()
    log = store.log("a")
    assert log[0].number == 152
    assert len(log) < 80
    assert [version.name for version in log].count("kept") == 1
    assert "agent" in [version.by.kind for version in log]
    for version in log:
        store.version_text("a", version.number)
    assert (home.versions / "a" / "journal.jsonl").read_bytes().count(b"\n") < 250
    for _ in range(30):
        store.undo("a", by=USER)
    assert "save 119\n" in file.read_text()
    for _ in range(30):
        store.redo("a", by=USER)
    assert file.read_text() == now


def test_pruning_keeps_one_version_in_each_stretch_of_time() -> None:
    now = datetime(2026, 6, 1, tzinfo=UTC)
    made = [
        Version(n + 1, USER, (now - timedelta(minutes=10 * (6000 - n))).isoformat(), "", before="", sha="")
        for n in range(6000)
    ]
    kept = pruning.versions_to_keep(made, now)
    numbers = [version.number for version in kept]
    assert numbers[0] == 1 and numbers[-200:] == list(range(5801, 6001))
    older = numbers[:-200]
    assert 35 < len(older) < 70
    assert pruning.versions_to_keep(kept, now) == kept


def test_pruning_keeps_the_text_before_and_after_each_run_and_makes_one_change_of_a_run() -> None:
    now = datetime(2026, 6, 1, tzinfo=UTC)
    authors = [author for run in range(100) for author in (USER, USER, _run(run), _run(run), _run(run))]
    made = [
        Version(n, by, (now - timedelta(days=300, seconds=-n)).isoformat(), "", before=f"{n - 1}", sha=f"{n}")
        for n, by in enumerate(authors, start=1)
    ]
    kept = {version.number: version for version in pruning.versions_to_keep(made, now)}
    assert len(kept) < 430
    for first in range(3, 200, 5):  # the number of a run's first change
        assert kept[first - 1].sha == f"{first - 1}" and kept[first + 2].sha == f"{first + 2}"
        assert first not in kept and first + 1 not in kept
        assert kept[first + 2].before == f"{first - 1}"


def test_a_pruned_journal_knows_how_many_records_it_kept(store, change, clock, home, file) -> None:
    for n in range(3):
        change(SetPrompt(f"save {n}\n"))
        store.name_version("a", f"name {n}")
    folder = versions.VersionFolder(home, "a")
    folder.prune(folder.log(None), clock())
    pruned = folder.log(None)
    assert pruned.kept == pruned.records > 2 * len(pruned.versions) + 1


def test_what_a_run_of_several_edits_changed_is_told_without_the_counts_of_one(store: Store, change) -> None:
    change(EditPrompt("One.", "1."), by=_run(1))
    assert "(system prompt +1 -1)" in store.undo("a", by=USER).summary
    for old, new in (("One.", "1."), ("Two.", "2."), ("Three.", "3.")):
        change(EditPrompt(old, new), by=_run(2))
    undone = store.undo("a", by=USER)
    assert undone.summary == "the agent's run (system prompt)"
    assert undone.persona.system_prompt == "One.\nTwo.\nThree.\nFour.\nFive.\n"


def test_an_undo_in_a_thousand_documents_is_told_in_a_line() -> None:
    also = tuple(f"part/lore-{number}" for number in range(1000))
    assert Undone(Persona(id="a", name="A"), 1, "it", also=also[:2]).others == "part/lore-0, part/lore-1"
    assert Undone(Persona(id="a", name="A"), 1, "it", also=also).others.endswith("part/lore-19 and 980 more")
