"""The store: creating, changing and deleting personas without ever losing or overwriting a word."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from personas.changes import AddTestInput, EditPrompt, ReplaceText, SetDescription, SetName, SetPrompt
from personas.errors import (
    BrokenFile,
    Conflict,
    InvalidValue,
    OutsideHome,
    StorageError,
    UnknownPersona,
    UnknownVersion,
)
from personas.files.home import Home
from personas.files.text_file import SIZE_LIMIT
from personas.store import Store
from personas.versions.authorship import USER, Author
from tests.personas.conftest import Clock

AGENT = Author("agent", "s1", "r1")
_TEXT = '# mine\nname = "A"  # a comment\nsystem_prompt = """\nYou are a.\n"""\n'


@pytest.fixture
def file(home: Home) -> Path:
    path = home.personas / "a.toml"
    path.write_text(_TEXT)
    return path


def test_a_new_persona_has_an_id_from_its_name(store: Store) -> None:
    persona = store.create("Überoptimist", system_prompt="You are.\nSo be it.\n")
    assert (persona.id, persona.name) == ("uberoptimist", "Überoptimist")
    assert store.get("uberoptimist") == persona
    assert store.text("uberoptimist") == (
        'name = "Überoptimist"\nsystem_prompt = """\nYou are.\nSo be it.\n"""\n'
    )
    assert store.path("uberoptimist").stat().st_mode & 0o777 == 0o600


def test_a_taken_id_is_never_overwritten(store: Store, home: Home) -> None:
    (home.personas / "My-Cat.toml").write_text("")
    assert store.create("my cat").id == "my-cat-2"
    assert store.create("My Cat").id == "my-cat-3"


def test_the_id_of_a_deleted_persona_stays_taken(store: Store) -> None:
    store.create("Cat")
    store.delete("cat", by=USER)
    assert store.create("Cat").id == "cat-2"


def test_a_copy_keeps_everything_but_the_name(store: Store, file: Path) -> None:
    copy = store.create("B", from_id="a")
    assert store.text(copy.id) == _TEXT.replace('"A"', '"B"')
    other = store.create("C", from_id="a", system_prompt="New.")
    assert (other.system_prompt, store.text("a")) == ("New.", _TEXT)


def test_a_name_or_source_that_cannot_be_creates_nothing(store: Store, home: Home) -> None:
    (home.personas / "broken.toml").write_text("name =")
    for error, name, source in (
        (InvalidValue, " ", None),
        (InvalidValue, "\ud800", None),
        (BrokenFile, "x", "broken"),
        (UnknownPersona, "x", "nobody"),
    ):
        with pytest.raises(error):
            store.create(name, from_id=source)
    assert store.ids() == ["broken"]


def test_a_change_alters_one_line_of_the_file(store: Store, file: Path) -> None:
    before = store.get("a")
    after = store.change("a", SetName("B"), revision=before.revision, by=AGENT)
    assert file.read_text() == _TEXT.replace('"A"', '"B"')
    assert (after.name, after.revision) == ("B", store.get("a").revision)
    assert after.revision != before.revision


@pytest.mark.parametrize(
    "content",
    [_TEXT.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + _TEXT.encode(), _TEXT.rstrip("\n").encode()],
    ids=["CRLF", "byte order mark", "no final newline"],
)
def test_the_way_a_file_is_written_survives(store: Store, file: Path, content: bytes) -> None:
    file.write_bytes(content)
    file.chmod(0o640)
    store.change("a", SetName("B"), revision=None, by=USER)
    assert file.read_bytes() == content.replace(b'"A"', b'"B"')
    assert file.stat().st_mode & 0o777 == 0o640
    store.undo("a", by=USER)
    assert file.read_bytes() == content


def test_a_symlinked_persona_is_edited_at_its_target(store: Store, home: Home) -> None:
    (home.root / "shared").mkdir()
    target = home.root / "shared" / "real.toml"
    target.write_text(_TEXT)
    link = home.personas / "link.toml"
    link.symlink_to("../shared/real.toml")
    store.change("link", SetName("B"), revision=None, by=USER)
    assert link.is_symlink()
    assert target.read_text() == _TEXT.replace('"A"', '"B"')


def test_a_symlink_out_of_the_home_is_not_followed(store: Store, home: Home, tmp_path: Path) -> None:
    (tmp_path / "outside.toml").write_text(_TEXT)
    (home.personas / "out.toml").symlink_to(tmp_path / "outside.toml")
    with pytest.raises(OutsideHome):
        store.change("out", SetName("B"), revision=None, by=USER)
    assert (tmp_path / "outside.toml").read_text() == _TEXT


def test_an_equal_value_writes_nothing(store: Store, file: Path, home: Home) -> None:
    before = file.stat()
    store.change("a", SetName("A"), revision=None, by=USER)
    after = file.stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)
    assert store.log("a") == []
    assert not (home.versions / "a").exists()


def test_a_change_of_an_old_revision_is_a_conflict_with_both_texts(store: Store, file: Path) -> None:
    old = store.get("a").revision
    store.change("a", SetDescription("new"), revision=old, by=USER)
    now = file.read_text()
    with pytest.raises(Conflict) as caught:
        store.change("a", SetName("B"), revision=old, by=AGENT)
    assert caught.value.base == _TEXT
    assert caught.value.ours == _TEXT.replace('"A"', '"B"')
    assert caught.value.theirs == file.read_text() == now


def test_an_edit_in_the_last_moment_is_seen(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    revision = store.get("a").revision
    from personas.files import text_file

    real = text_file._write_new

    def write_and_be_overtaken(descriptor: int, content: bytes, mode: int) -> None:
        real(descriptor, content, mode)
        if list(file.parent.glob(".persona-*.tmp")):
            file.write_text("name = 'outside'")

    monkeypatch.setattr(text_file, "_write_new", write_and_be_overtaken)
    with pytest.raises(Conflict) as caught:
        store.change("a", SetName("B"), revision=revision, by=AGENT)
    assert file.read_text() == caught.value.theirs == "name = 'outside'"
    assert caught.value.ours == _TEXT.replace('"A"', '"B"')
    assert [path.name for path in file.parent.iterdir()] == ["a.toml"]
    monkeypatch.undo()
    store.change("a", SetName("C"), revision=None, by=AGENT)
    assert [version.by.kind for version in store.log("a")] == ["agent"]
    assert store.text_before("a", store.log("a")[0]) == "name = 'outside'"


def test_a_change_of_whatever_is_there_succeeds_on_top_of_who_overtook_it(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from personas.files import text_file

    real = text_file._write_new
    others = ['description = "theirs"\n' + _TEXT]

    def write_and_be_overtaken_once(descriptor: int, content: bytes, mode: int) -> None:
        real(descriptor, content, mode)
        if others and list(file.parent.glob(".persona-*.tmp")):
            file.write_text(others.pop())

    monkeypatch.setattr(text_file, "_write_new", write_and_be_overtaken_once)
    after = store.change("a", SetName("B"), revision=None, by=AGENT)
    assert not others
    assert (after.name, after.description) == ("B", "theirs")
    assert file.read_text() == 'description = "theirs"\n' + _TEXT.replace('"A"', '"B"')


def test_the_record_of_a_change_is_on_the_disk_before_the_file_is_replaced(
    store: Store, file: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = home.versions / "a" / "journal.jsonl"
    synced: list[str] = []
    before_the_file: list[list[str]] = []
    real = os.replace

    def fsync(descriptor: int) -> None:
        if journal.exists() and os.path.samestat(os.fstat(descriptor), journal.stat()):
            synced.append(journal.read_text())

    def replace(source: Path, target: Path) -> None:
        if target == file:
            before_the_file.append(synced[:])
        real(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    store.change("a", SetName("B"), revision=None, by=USER, reason="because")
    (kept,) = before_the_file
    assert '"because"' in kept[-1]


def test_a_broken_file_is_refused_and_left_alone(store: Store, file: Path) -> None:
    for content in (b"name =", b'name = "\xff"'):
        file.write_bytes(content)
        with pytest.raises(BrokenFile):
            store.change("a", SetName("B"), revision=None, by=USER)
        assert file.read_bytes() == content
    store.change("a", ReplaceText('name = "whole"'), revision=None, by=USER)
    assert store.get("a").name == "whole"


def test_a_persona_can_not_grow_beyond_the_limit(store: Store, file: Path) -> None:
    with pytest.raises(InvalidValue, match="larger than 16 MB"):
        store.change("a", ReplaceText("#" * (SIZE_LIMIT + 1)), revision=None, by=USER)
    assert file.read_text() == _TEXT


def test_a_deleted_persona_comes_back_with_restore(store: Store, file: Path) -> None:
    number = store.delete("a", by=USER)
    assert not file.exists()
    with pytest.raises(UnknownPersona, match="restore"):
        store.get("a")
    assert [version.number for version in store.log("a")] == [number + 1]
    assert store.version_text("a", number) == _TEXT
    assert store.restore("a", number, by=Author("restore")).name == "A"
    assert file.read_text() == _TEXT
    assert [version.reason for version in store.log("a")] == [f"version {number} restored", "deleted"]


def test_the_first_text_is_version_0_before_anything_is_changed(store: Store, file: Path) -> None:
    assert store.version_number("a", "0") == 0 and store.version_text("a", 0) == _TEXT
    assert store.restore("a", 0, by=USER).name == "A" and store.log("a") == []


def test_a_day_means_the_text_as_it_began(store: Store, clock: Clock, file: Path) -> None:
    assert file.exists()
    for name in ("B", "C", "D"):  # on the first, second and third of January, at noon
        store.change("a", SetName(name), by=USER, revision=None)
        clock.pass_by(days=1)
    clock.pass_by(days=-1)
    for day, name in {
        "2025-12-31": "A", "2026-01-01": "A", "2026-01-02": "B", "yesterday": "B", "today": "C", "2026-01-03": "C",
        "2026-01-04": "D",
    }.items():  # fmt: skip
        assert f'name = "{name}"' in store.version_text("a", day), day
    assert (store.diff("a", "yesterday").from_, store.diff("a", "today", "2026-01-04").to) == (1, 3)
    with pytest.raises(UnknownVersion):
        store.version_text("a", "2026-02-30")
    store.name_version("a", "today", version=1)
    assert store.version_number("a", "today") == 1, "a name that somebody gave goes before"


def test_an_unknown_persona_leaves_no_trace(store: Store, home: Home) -> None:
    for act in (
        lambda: store.change("nobody", SetName("B"), revision=None, by=USER),
        lambda: store.undo("nobody", by=USER),
        lambda: store.delete("nobody", by=USER),
        lambda: store.log("nobody"),
    ):
        with pytest.raises(UnknownPersona):
            act()
    assert list(home.locks.iterdir()) == list(home.personas.iterdir()) == []
    assert [path.name for path in home.versions.iterdir()] == [".gitignore"]


def test_a_write_protected_file_is_one_clear_line(store: Store, file: Path) -> None:
    file.chmod(0o444)
    with pytest.raises(StorageError, match="read-only"):
        store.change("a", SetName("B"), revision=None, by=USER)
    assert file.read_text() == _TEXT
    assert store.log("a") == []


_CHANGE = """
import sys
from pathlib import Path
from personas.versions.authorship import Author
from personas.changes import AddTestInput
from personas.files.home import Home
from personas.store import Store
store = Store(Home(Path(sys.argv[1])))
for n in range(15):
    by = Author("agent", "s", sys.argv[2])
    store.change("a", AddTestInput("x", id=f"{sys.argv[2]}-{n}"), revision=None, by=by)
"""


def test_changes_of_two_processes_all_arrive(store: Store, file: Path, home: Home) -> None:
    root = Path(__file__).parents[2]
    writers = [
        subprocess.Popen([sys.executable, "-c", _CHANGE, str(home.root), who], cwd=root) for who in ("p", "q")
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    persona = store.get("a")
    assert persona.error is None
    assert {test.id for test in persona.test_inputs} == {
        f"{who}-{n}" for who in ("p", "q") for n in range(15)
    }
    assert [version.number for version in store.log("a")] == list(range(30, 0, -1))
    store.undo("a", by=USER, only="agent")
    assert len({test.id[0] for test in store.get("a").test_inputs}) == 1


def test_threads_creating_the_same_name_get_ids_of_their_own(store: Store) -> None:
    ids: list[str] = []
    threads = [threading.Thread(target=lambda: ids.append(store.create("Same").id)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ids) == sorted(store.ids()) == ["same", "same-2", "same-3", "same-4", "same-5", "same-6"]


def test_a_megabyte_prompt_is_edited_in_time(store: Store) -> None:
    import time

    persona = store.create("Big", system_prompt="a line of the prompt\n" * 50_000 + "the end\n")
    began = time.process_time()
    store.change(persona.id, EditPrompt("the end", "The End"), revision=persona.revision, by=AGENT)
    assert time.process_time() - began < 1.5
    assert store.get(persona.id).system_prompt.endswith("The End\n")


def test_all_changes_go_through_one_door(store: Store, file: Path) -> None:
    for change in (SetPrompt("p"), AddTestInput("t"), SetDescription("d")):
        store.change("a", change, revision=None, by=AGENT, reason="because")
    assert [version.reason for version in store.log("a")] == ["because"] * 3
