"""Which home is meant, how a new one begins, and whose homes are trusted."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from personas.errors import OutsideHome, StorageError
from personas.files import trust
from personas.files.home import PRIVATE, Home, open_home
from personas.store import Store


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_flag_wins_over_the_environment_and_that_over_the_default(
    tmp_path: Path, env: dict[str, str]
) -> None:
    env |= {"PERSONA_HOME": str(tmp_path / "env"), "XDG_DATA_HOME": str(tmp_path)}
    assert Home.find(str(tmp_path / "flag"), env, tmp_path).home == Home(tmp_path / "flag")
    found = Home.find(None, env, tmp_path)
    assert (found.home, found.how) == (Home(tmp_path / "env"), "environment")
    env["PERSONA_HOME"] = ""
    assert Home.find(None, env, tmp_path).how == "default"


def test_a_relative_home_lies_in_the_current_folder(tmp_path: Path, env: dict[str, str]) -> None:
    assert Home.find("mine", env, tmp_path).home.root == tmp_path.resolve() / "mine"


def test_a_current_folder_with_personas_is_offered_until_someone_answers(
    tmp_path: Path, env: dict[str, str]
) -> None:
    folder = tmp_path / "project"
    (folder / "personas").mkdir(parents=True)
    assert Home.find(None, env, folder).offer is None
    (folder / "personas" / "a.toml").write_text("")
    found = Home.find(None, env, folder)
    assert (found.how, found.offer) == ("default", folder)
    trust.remember(folder, False, env)
    assert Home.find(None, env, folder).offer is None
    trust.remember(folder, True, env)
    found = Home.find(None, env, folder)
    assert (found.home, found.how) == (Home(folder), "accepted")
    assert not trust.is_trusted(folder, env)


def test_a_new_home_is_private_and_has_the_examples(tmp_path: Path, env: dict[str, str]) -> None:
    home = open_home(tmp_path / "deep" / "home", env)
    personas = Store(home).list()
    assert "optimist" in [persona.id for persona in personas]
    assert all(persona.error is None and persona.description and persona.test_inputs for persona in personas)
    for folder in (
        tmp_path / "deep",
        home.root,
        home.personas,
        home.locks,
        *(home.root / name for name in PRIVATE),
    ):
        assert _mode(folder) == 0o700
    assert _mode(home.personas / "optimist.toml") == 0o600
    for name in PRIVATE:
        assert (home.root / name / ".gitignore").read_text() == "*\n"
    assert not (home.personas / ".gitignore").exists()


def test_a_repository_gets_no_examples(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    home = open_home(tmp_path / "work", env)
    assert [*home.personas.iterdir()] == [] and not home.library.exists()


def test_examples_come_only_where_there_is_no_personas_folder(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "home" / "personas").mkdir(parents=True)
    home = open_home(tmp_path / "home", env)
    assert Store(home).ids() == []
    (home.personas / "mine.toml").write_text("")
    assert Store(open_home(tmp_path / "home", env)).ids() == ["mine"]


def test_opening_twice_changes_nothing(tmp_path: Path, env: dict[str, str]) -> None:
    home = open_home(tmp_path / "home", env)
    (home.personas / "optimist.toml").unlink()
    (home.versions / ".gitignore").write_text("mine")
    again = open_home(tmp_path / "home", env)
    assert "optimist" not in Store(again).ids()
    assert (home.versions / ".gitignore").read_text() == "mine"


def test_a_home_the_program_made_is_trusted_a_found_one_is_not(tmp_path: Path, env: dict[str, str]) -> None:
    made = open_home(tmp_path / "made", env)
    (tmp_path / "cloned" / "personas").mkdir(parents=True)
    cloned = open_home(tmp_path / "cloned", env)
    assert trust.is_trusted(made.root, env)
    assert not trust.is_trusted(cloned.root, env)
    trust.trust(cloned.root, env)
    assert trust.is_trusted(cloned.root, env)
    trust.distrust(cloned.root, env)
    assert not trust.is_trusted(cloned.root, env)
    assert trust.is_trusted(made.root, env)


def test_no_home_can_speak_for_itself(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "cloned" / "personas").mkdir(parents=True)
    for name in ("homes.json", "state", "config"):
        (tmp_path / "cloned" / name).mkdir()
    home = open_home(tmp_path / "cloned", env)
    assert not trust.is_trusted(home.root, env)
    assert not trust.file_of(env).is_relative_to(home.root)


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"trusted": 3, "accepted": []}', '{"trusted": [1, null]}']
)
def test_a_damaged_list_of_homes_trusts_nobody(tmp_path: Path, env: dict[str, str], content: str) -> None:
    trust.file_of(env).parent.mkdir(parents=True)
    trust.file_of(env).write_text(content)
    assert not trust.is_trusted(tmp_path, env)
    assert trust.remembered(tmp_path, env) is None
    trust.trust(tmp_path, env)
    assert trust.is_trusted(tmp_path, env)


@pytest.mark.parametrize("name", ["personas", "versions", "agent-sessions", "state"])
def test_a_folder_that_leads_out_of_the_home_is_refused(
    tmp_path: Path, env: dict[str, str], name: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    home = tmp_path / "home"
    (home / "personas").mkdir(parents=True)
    if name == "personas":
        (home / name).rmdir()
    (home / name).symlink_to(outside)
    with pytest.raises(OutsideHome):
        open_home(home, env)
    assert list(outside.iterdir()) == []


def test_a_file_in_a_folders_place_is_one_clear_line(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises((OutsideHome, StorageError)) as caught:
        open_home(tmp_path / "file" / "home", env)
    assert "\n" not in str(caught.value)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "versions").write_text("")
    with pytest.raises(OutsideHome):
        open_home(tmp_path / "home", env)


def test_a_home_on_a_read_only_disk_can_be_read(
    tmp_path: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home" / "personas").mkdir(parents=True)
    (tmp_path / "home" / "personas" / "a.toml").write_text('name = "A"')

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, os.strerror(30))

    monkeypatch.setattr(os, "mkdir", refuse)
    assert Store(open_home(tmp_path / "home", env)).get("a").name == "A"


def test_settings_in_the_folder_of_nobody_are_told_in_a_sentence_and_keep_no_home_from_opening(
    tmp_path: Path,
) -> None:
    env = {"PERSONA_CONFIG": "~nobody-of-this-name/config.toml"}
    with pytest.raises(StorageError, match="no such user"):
        trust.file_of(env)
    assert "optimist" in Store(open_home(tmp_path / "home", env)).ids()


def _let_nobody_look(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse to say what is there, as a folder does that may not be entered."""

    def refusing(real: Callable[..., os.stat_result]) -> Callable[..., os.stat_result]:
        def look(at: str | Path, **how: object) -> os.stat_result:
            if str(at).startswith(str(path)):
                raise PermissionError(13, os.strerror(13))
            return real(at, **how)

        return look

    monkeypatch.setattr(os, "stat", refusing(os.stat))
    monkeypatch.setattr(os, "lstat", refusing(os.lstat))


def test_a_home_nobody_may_look_into_is_told_in_a_sentence(
    tmp_path: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home" / "personas").mkdir(parents=True)
    _let_nobody_look(tmp_path / "home" / "personas", monkeypatch)
    with pytest.raises(StorageError, match="permission denied"):
        open_home(tmp_path / "home", env)


def test_a_persona_nobody_may_look_at_is_listed_with_what_is_wrong(
    tmp_path: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(open_home(tmp_path / "home", env))
    _let_nobody_look(store.path("mentor"), monkeypatch)
    wrong = {persona.id: persona.error.message for persona in store.list() if persona.error is not None}
    assert list(wrong) == ["mentor"] and "permission denied" in wrong["mentor"]
    _let_nobody_look(store.home.locks, monkeypatch)
    assert store.writer("mentor") is None


def test_a_new_home_that_cannot_be_made_leaves_no_half_of_it(
    tmp_path: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir()

    def refuse(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", refuse)
        patch.setattr(Path, "rename", refuse)
        with pytest.raises(StorageError, match="disk is full"):
            open_home(tmp_path / "home", env)
    assert list((tmp_path / "home").iterdir()) == []
    assert "optimist" in Store(open_home(tmp_path / "home", env)).ids()


def test_two_programs_begin_the_same_home_at_once(
    tmp_path: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def be_late(start: Path, target: Path) -> Path:
        if start.is_dir():
            shutil.copytree(start, target)
        return rename(start, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", be_late)
        home = open_home(tmp_path / "home", env)
    assert "optimist" in Store(home).ids() and list(home.versions.glob("*/*"))
    assert not list(home.root.rglob("*.tmp"))


def test_a_beginning_that_was_cut_off_is_removed_by_the_next_start(
    tmp_path: Path, env: dict[str, str]
) -> None:
    root = tmp_path / "home"
    open_home(root, env)
    left, new, other, at_work = (root / f".personas-{mark * 16}.tmp" for mark in "01x2")
    for folder in (left, new, other, at_work):
        folder.mkdir()
        (folder / "optimist.toml").write_text("half")
    a_minute_ago = time.time() - 60
    for folder in (left, other, at_work):
        os.utime(folder, (a_minute_ago, a_minute_ago))
    descriptor = os.open(at_work, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    open_home(root, env)
    assert [folder.exists() for folder in (left, new, other, at_work)] == [False, True, True, True]
    os.close(descriptor)
    open_home(root, env)
    assert not at_work.exists()
