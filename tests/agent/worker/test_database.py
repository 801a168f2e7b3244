"""Databases that somebody else could have written to, and workers that are gone by one clock and not by another."""

from __future__ import annotations

import base64
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from agent.worker.database import Database, Untrusted, name_of_home
from agent.worker.heartbeat import BEAT, Heartbeat
from personas.errors import InvalidValue, PersonaError
from personas.files.process import process_start, this_machine
from tests.agent.worker.place import Writer


class Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return open, (str(self.path), "w")


def test_a_database_with_a_pickled_row_is_refused_and_the_row_is_not_opened(tmp_path: Path) -> None:
    Database("", "home", tmp_path / "state").close()
    bomb = base64.b64encode(pickle.dumps(Bomb(tmp_path / "went-off"))).decode()
    with sqlite3.connect(tmp_path / "state" / "home.db") as doctored:
        for table in ("fine", "workflow_status", 'a "quoted" one'):
            name = '"' + table.replace('"', '""') + '"'
            doctored.execute(f"CREATE TABLE {name} (inputs TEXT, serialization TEXT)")
            doctored.execute(f"INSERT INTO {name} VALUES ('{{}}', 'portable_json'), ('{{}}', NULL)")
        doctored.execute("INSERT INTO workflow_status VALUES (?, 'py_pickle')", (bomb,))
    with pytest.raises(Untrusted, match="not JSON"):
        Database("", "home", tmp_path / "state")
    from dbos import _serialization

    with pytest.raises(Untrusted):  # and one that is written later
        _serialization.deserialize_args(bomb, "py_pickle", _serialization.DBOSPortableJSON)
    assert not (tmp_path / "went-off").exists()


def test_a_database_that_others_may_write_is_refused(tmp_path: Path) -> None:
    state = tmp_path / "state"
    Database("", "home", state).close()
    (state / "home.db").chmod(0o666)
    with pytest.raises(Untrusted, match="not yours alone"):
        Database("", "home", state)
    (state / "home.db").chmod(0o600)
    state.chmod(0o777)
    with pytest.raises(Untrusted, match="not yours alone"):
        Database("", "home", state)
    state.chmod(0o700)
    (state / "other.db").symlink_to(state / "home.db")
    with pytest.raises(Untrusted):
        Database("", "other", state)


def test_a_database_that_cannot_be_used_is_told_in_a_sentence(tmp_path: Path) -> None:
    for address in ("mysql://host/name", "postgresql://host:port/name"):
        with pytest.raises(InvalidValue, match=r"worker\.database"):
            Database(address, "home", tmp_path)
    (tmp_path / "home.db").write_text("not a database" * 100)
    (tmp_path / "home.db").chmod(0o600)
    with pytest.raises(PersonaError, match="cannot be read"):
        Database("", "home", tmp_path)
    with pytest.raises(PersonaError, match="cannot be read") as failed:
        Database("postgresql://me:secret@127.0.0.1:1/name", "home", tmp_path)
    assert "secret" not in str(failed.value) and "\n" not in str(failed.value)


def test_a_home_has_one_name_for_all_its_workers(tmp_path: Path) -> None:
    assert name_of_home(tmp_path, "team") == "team"
    assert name_of_home(tmp_path) == name_of_home(tmp_path / "." / "") != name_of_home(tmp_path / "other")
    for wrong in ("Team", "a/b", " ", "x" * 41, 'a"b'):
        with pytest.raises(InvalidValue):
            name_of_home(tmp_path, wrong)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_worker_is_given_up_after_three_missed_beats(tmp_path: Path) -> None:
    database, clock = Database("", "home", tmp_path / "state"), Clock()
    mine, other = (Heartbeat(database, machine=where, clock=clock) for where in ("here", "there"))
    mine.begin()
    other.begin()
    for _ in range(20):
        clock.now += BEAT
        mine.beat()
        other.beat()
        assert mine.alive() == {mine.id, other.id}
    for _ in range(3):
        clock.now += BEAT
        mine.beat()
        assert mine.alive() == {mine.id, other.id}, "the third beat may just be on its way"
    clock.now += 2
    late = Heartbeat(database, machine="elsewhere", clock=clock)
    late.begin()
    assert late.alive() == {mine.id, late.id}, "one that joins knows too"
    other.beat()
    assert other.id not in other.alive(), "it finds that out"
    mine.leave()
    assert other.alive() == {late.id}


def test_a_worker_of_this_machine_is_given_up_at_once_when_its_process_is_gone(tmp_path: Path) -> None:
    database = Database("", "home", tmp_path / "state")
    mine, other, reused = (Heartbeat(database, clock=Clock()) for _ in range(3))
    for each in (mine, other, reused):
        each.begin()
    assert mine.alive() == {mine.id, other.id, reused.id}
    table = database.table("persona_workers")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        started = process_start(process.pid)
        sql = f"UPDATE {table} SET pid = :pid, started = :started WHERE id = :id"
        database.rows(sql, pid=process.pid, started=started, id=other.id)
        assert other.id in mine.alive()
        process.communicate()
    database.rows(sql, pid=os.getpid(), started="before", id=reused.id)  # another process has its number
    assert mine.alive() == {mine.id}
    assert this_machine()


def test_who_cannot_beat_itself_gives_up_only_who_is_stopped(tmp_path: Path) -> None:
    database, clock = Database("", "home", tmp_path / "state"), Clock()
    mine, far, gone, stopped = (Heartbeat(database, machine=where, clock=clock) for where in "abaa")
    for each in (mine, far, gone, stopped):
        each.begin()
    with Writer(tmp_path / "state" / "home.db") as process:
        database.rows(
            f"UPDATE {database.table('persona_workers')} SET pid = :pid, started = :started WHERE id = :id",
            pid=process.pid,
            started=process_start(process.pid),
            id=stopped.id,
        )
        assert len(mine.alive()) == 4
        clock.now += 10 * BEAT  # the database was away, or locked: nobody could beat
        assert len(mine.alive()) == 4
        database.rows(f"UPDATE {database.table('persona_workers')} SET pid = 0 WHERE id = :id", id=gone.id)
        process.stop_over_a_write()
        assert mine.alive() == {mine.id, far.id}
        assert process.wait(30) == -signal.SIGKILL, "it may be what holds the database"
    mine.beat()
    clock.now += BEAT
    mine.beat()
    assert mine.alive() == {mine.id, far.id}
    for _ in range(3):
        clock.now += BEAT
        mine.beat()
    assert mine.alive() == {mine.id}
