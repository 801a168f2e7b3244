"""Locks: one holder at a time, who it is, and no trouble where there are no locks."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from personas.errors import Busy, OutsideHome, StorageError
from personas.files import lock
from personas.files.lock import hold, holder, holder_elsewhere
from tests.support.elsewhere import PID, held_elsewhere

_HOLD = """
import sys
import threading
import time
from pathlib import Path
from personas.files.lock import hold
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


def test_a_thread_waits_for_another_one_as_long_as_that_is_at_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, done, looks, ended = tmp_path / "lock", list[str](), list[float](), threading.Event()
    monkeypatch.setattr(time, "monotonic", lambda: float(len(looks)))  # a second a look

    def look(descriptor: int) -> int | None:
        looks.append(0)
        if len(looks) > 20:
            ended.set()
        return read_pid(descriptor)

    read_pid = lock._read_pid
    monkeypatch.setattr(lock, "_read_pid", look)

    def write() -> None:
        try:
            with hold(path, wait=5):
                done.append("written")
        finally:
            ended.set()

    with hold(path):
        assert holder_elsewhere(path) is None
        writing = threading.Thread(target=write)
        writing.start()
        assert ended.wait(60) and len(looks) > 20 and done == []
    writing.join(60)
    assert done == ["written"] and not lock._held_here
    with held_elsewhere(path):
        assert holder_elsewhere(path) == PID
        writing = threading.Thread(target=refused, args=(path, done))
        writing.start()
        writing.join(60)
    assert done == ["written", f"This is busy (pid {PID}); try again when it is done."]


def refused(path: Path, said: list[str]) -> None:
    """Note what is said to who wants the lock."""
    with pytest.raises(Busy) as caught, hold(path, wait=5):
        pass
    said.append(str(caught.value))


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
