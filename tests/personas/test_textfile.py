"""Safe reading and atomic writing: nothing outside, nothing but files, old or new but never half."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from personas.errors import BrokenFile, InvalidValue, OutsideHome, StorageError
from personas.files import text_file
from personas.files.text_file import decode, encode, read_regular, remove_file, replace_file
from tests.support.elsewhere import held_elsewhere


@given(st.text(st.characters(exclude_categories=["Cs"])), st.booleans())
def test_text_survives_bytes_and_back(text: str, bom: bool) -> None:
    if text.startswith("\ufeff"):
        bom = True
    decoded = decode(encode(text, bom=bom))
    assert (decoded.text, decoded.bom) == (text, bom)


def test_bytes_that_are_no_utf_8_are_told_with_their_place() -> None:
    with pytest.raises(BrokenFile) as caught:
        decode("one\nzwölf ".encode() + b"\xff")
    assert (caught.value.line, caught.value.column) == (2, 7)


def test_half_a_character_cannot_be_written() -> None:
    with pytest.raises(InvalidValue, match="U\\+D83D"):
        encode("a\ud83d")


def test_a_new_file_is_private_and_an_old_one_keeps_its_mode(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("x")
    old.chmod(0o664)
    for path in (old, new):
        replace_file(path, b"content", root=tmp_path)
    assert old.stat().st_mode & 0o777 == 0o664
    assert new.stat().st_mode & 0o777 == 0o600
    assert old.read_bytes() == new.read_bytes() == b"content"


def test_a_symlink_inside_stays_one_and_its_target_changes(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "real").write_text("old")
    (tmp_path / "link").symlink_to("deep/real")
    assert read_regular(tmp_path / "link", root=tmp_path) == b"old"
    replace_file(tmp_path / "link", b"new", root=tmp_path)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "deep" / "real").read_bytes() == b"new"
    assert sorted(path.name for path in (tmp_path / "deep").iterdir()) == ["real"]


def test_nothing_outside_is_read_or_written(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "home-too"
    home.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (home / "file").symlink_to(outside / "secret")
    (home / "folder").symlink_to(outside)
    (home / "loop").symlink_to("loop")
    for path in (
        home / "file",
        home / "folder" / "secret",
        home / ".." / "home-too" / "secret",
        home / "loop",
    ):
        with pytest.raises((OutsideHome, FileNotFoundError)):
            read_regular(path, root=home)
        with pytest.raises((OutsideHome, StorageError)):
            replace_file(path, b"x", root=home)
    assert (outside / "secret").read_text() == "secret"
    with pytest.raises(OutsideHome):
        remove_file(home / "folder" / "secret", root=home)


def test_pipes_folders_and_devices_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path, root in (
        (tmp_path / "pipe", tmp_path),
        (tmp_path / "folder", tmp_path),
        (Path("/dev/zero"), Path("/")),
    ):
        with pytest.raises(OutsideHome, match="not a regular file"):
            read_regular(path, root=root)
        with pytest.raises(OutsideHome):
            replace_file(path, b"x", root=root)


def test_a_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * 11)
    with pytest.raises(StorageError, match="larger than"):
        read_regular(tmp_path / "big", root=tmp_path, limit=10)
    assert read_regular(tmp_path / "big", root=tmp_path, limit=11) == b"x" * 11


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
@pytest.mark.parametrize("call", ["open", "write", "fsync", "replace", "fchmod"])
def test_when_the_disk_refuses_the_old_file_is_whole_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, refuse)
        with pytest.raises(StorageError) as caught:
            replace_file(path, b"new", root=tmp_path)
    assert "\n" not in str(caught.value)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_protected_file_is_respected(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(StorageError, match="read-only"):
        replace_file(path, b"new", root=tmp_path)
    assert path.read_text() == "old"


def test_a_check_that_fails_stops_the_write(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def check() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        replace_file(path, b"new", root=tmp_path, check=check)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("links", [True, False], ids=["with hard links", "without hard links"])
def test_an_exclusive_write_replaces_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:

        def refuse(*_: object, **__: object) -> None:
            raise OSError(errno.EPERM, "no links here")

        monkeypatch.setattr(os, "link", refuse)
    replace_file(tmp_path / "file", b"first", root=tmp_path, exclusive=True)
    with pytest.raises(FileExistsError):
        replace_file(tmp_path / "file", b"second", root=tmp_path, exclusive=True)
    assert (tmp_path / "file").read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


@pytest.mark.parametrize("locks", [True, False], ids=["with locks", "without locks"])
def test_what_a_killed_process_left_goes_with_a_later_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locks: bool
) -> None:
    looks: list[object] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: looks.append(folder) or scandir(folder))

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks here")

    if not locks:
        monkeypatch.setattr(fcntl, "flock", refuse)
    name = ".persona-{}.tmp".format
    others = [name("A" * 16), name("0" * 15), "persona-0.tmp", name("f" * 16) + "x"]
    old, new = [name("0123456789abcdef"), name("f" * 16)], name("0" * 15 + "1")
    at_work = name("a" * 16)
    for file in (*others, *old, new, at_work):
        (tmp_path / file).write_text("half")
    (tmp_path / name("d" * 16)).mkdir()
    (tmp_path / name("e" * 16)).symlink_to("file")
    two_hours_ago = time.time() - 7200
    for file in (*others, *old, name("d" * 16), *([at_work] if locks else [])):
        os.utime(tmp_path / file, (two_hours_ago, two_hours_ago))
    os.utime(tmp_path / name("e" * 16), (two_hours_ago, two_hours_ago), follow_symlinks=False)
    with held_elsewhere(tmp_path / at_work) if locks else nullcontext():
        for content in (b"one", b"two"):
            replace_file(tmp_path / "file", content, root=tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    # Without locks, what is new may be written just now.
    assert left == {"file", *others, at_work, name("d" * 16), name("e" * 16), *([] if locks else [new])}
    assert looks == [tmp_path]


def test_a_file_that_is_being_written_is_nothing_that_was_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look() -> None:
        """Be another program that writes its first file there."""
        monkeypatch.setattr(text_file, "_swept", {})
        replace_file(tmp_path / "another", b"another", root=tmp_path)

    replace_file(tmp_path / "file", b"text", root=tmp_path, check=look)
    lock, taken = text_file.try_lock, []

    def lock_late(descriptor: int) -> bool | None:
        """Be looked at between the making of the file and its locking."""
        if not taken:
            taken.append(descriptor)
            look()
        return lock(descriptor)

    monkeypatch.setattr(text_file, "try_lock", lock_late)
    replace_file(tmp_path / "file", b"new", root=tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "file": b"new",
        "another": b"another",
    }
