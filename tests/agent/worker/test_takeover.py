"""Workers that are killed, stopped and woken, as processes, on SQLite and on PostgreSQL: each run is stored once."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from tests.agent.worker import trial as trial_worker
from tests.support import postgres

FORKS = get_context(
    "forkserver"
)  # loading the engine is what takes the time of a worker's start: once for all
FORKS.set_forkserver_preload([trial_worker.__name__])
IN_TIME = 90
"""Seconds that a loaded machine gets; how long a takeover takes is measured by `tests.e2e.kill_workers`."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    if postgres.programs() is None:
        pytest.skip("PostgreSQL is not installed (Debian's package postgresql)")
    with postgres.cluster() as address:
        yield f"{address}/postgres"


class Trial:
    """Some workers on one queue."""

    def __init__(self, folder: Path, database: str) -> None:
        self.folder, self.database = folder, database
        self.workers: list[ForkServerProcess] = []

    def begin(self, *options: str) -> ForkServerProcess:
        home = f"trial-{self.folder.name[-30:].replace('_', '-')}"  # a schema of its own
        options = ("--folder", str(self.folder), "--database", self.database, "--home", home, *options)
        worker = FORKS.Process(target=trial_worker.main, args=[options])
        worker.start()
        self.workers.append(worker)
        self.until(lambda: self.notified("ready", worker))
        return worker

    def notified(self, word: str, worker: ForkServerProcess | None = None) -> list[str]:
        """The runs of which a worker, or any, told this."""
        path = self.folder / "told"
        lines = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
        return [run for said, run, pid in lines if said == word and worker in (None, self._of(pid))]

    def _of(self, pid: str) -> ForkServerProcess | None:
        return next((worker for worker in self.workers if str(worker.pid) == pid), None)

    def until(self, condition: Callable[[], object]) -> None:
        ends = time.monotonic() + IN_TIME
        while not condition():
            assert time.monotonic() < ends, (self.folder / "told").read_text()
            time.sleep(0.02)

    def go(self) -> None:
        """Let all runs go on to their end."""
        (self.folder / "go").touch()


@pytest.fixture
def trial(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Trial]:
    """Workers on SQLite, or on what the parameter says."""
    is_server = getattr(request, "param", "sqlite") == "postgresql"
    trial = Trial(tmp_path, request.getfixturevalue("server") if is_server else "")
    try:
        yield trial
    finally:
        for worker in trial.workers:
            worker.kill()
            worker.join()


on_both = pytest.mark.parametrize("trial", ["sqlite", "postgresql"], indirect=True)


RUNS = [f"run-{number}" for number in range(4)]


@on_both
def test_the_runs_of_a_killed_worker_are_taken_over_and_each_is_stored_once(trial: Trial) -> None:
    first = trial.begin()
    trial.until(lambda: len(trial.notified("begin", first)) == 2)
    second = trial.begin("--jobs", "4")  # it enqueues the same runs again
    first.kill()
    trial.until(lambda: sorted(trial.notified("begin", second)) == RUNS)
    trial.go()
    trial.until(lambda: len(trial.notified("stored")) == 4)
    assert sorted(trial.notified("stored", second)) == RUNS


@on_both
def test_a_stopped_worker_of_another_machine_is_given_up_and_stores_nothing_when_it_wakes(
    trial: Trial,
) -> None:
    first = trial.begin("--machine", "one", "--beat", "0.5")
    trial.until(lambda: len(trial.notified("begin", first)) == 2)
    os.kill(first.pid or 0, signal.SIGSTOP)
    second = trial.begin("--machine", "two", "--beat", "0.5", "--jobs", "4")
    trial.until(lambda: sorted(trial.notified("begin", second)) == RUNS)
    trial.go()
    os.kill(first.pid or 0, signal.SIGCONT)
    trial.until(lambda: trial.notified("given-up", first) and len(trial.notified("stored")) == 4)
    assert sorted(trial.notified("stored", second)) == RUNS
    assert trial.notified("stored", first) == []


def test_a_stopped_worker_of_this_machine_is_ended_for_the_locks_it_holds(trial: Trial) -> None:
    first = trial.begin("--beat", "0.5")
    trial.until(lambda: len(trial.notified("begin", first)) == 2)
    os.kill(first.pid or 0, signal.SIGSTOP)
    trial.begin("--beat", "0.5")
    first.join(IN_TIME)
    assert first.exitcode == -signal.SIGKILL
    trial.go()
    trial.until(lambda: sorted(trial.notified("stored")) == RUNS)
    assert trial.notified("stored", first) == []
