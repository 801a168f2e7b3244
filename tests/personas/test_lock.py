"""Locks: one holder at a time, who it is, and no trouble where there are no locks."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from personas.errors import Busy, OutsideHome, StorageError
from personas.lock import hold, holder

_HOLD = """
import sys
import threading
from pathlib import Path
from personas.lock import hold
with hold(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_holder_is_told_who_the_first_is(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    other = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert other.stdout is not None and other.stdout.readline() == b"held\n"
    with (
        pytest.raises(Busy, match=f"The session is busy .pid {other.pid}") as caught,
        hold(path, what="The session"),
    ):
        pass
    assert caught.value.pid == other.pid == holder(path)
    other.kill()
    other.communicate()
    with hold(path, wait=5):
        assert path.read_text() == str(os.getpid())
    assert holder(path) is None


def test_threads_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    with hold(tmp_path / "lock"), pytest.raises(Busy), hold(tmp_path / "lock", wait=0.02):
        pass


def test_the_lock_is_free_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="mine"), hold(tmp_path / "lock"):
        raise ValueError("mine")
    with hold(tmp_path / "lock"):
        pass


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_a_file_system_without_locks_holds_nothing_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refuse)
    reached = False
    with hold(tmp_path / "lock"), hold(tmp_path / "lock"):
        reached = True
    assert reached


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("pipe", "link"):
        with pytest.raises(OutsideHome), hold(tmp_path / name):
            pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_missing_folder_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="Could not lock"), hold(tmp_path / "no" / "lock"):
        pass


def test_to_look_who_holds_it_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    path.write_text("4711")  # left by a holder that was killed
    assert holder(path) is None
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            holder(path)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        for _ in range(500):
            with hold(path):
                assert holder(path) == os.getpid()
    finally:
        stop.set()
        looking.join()
