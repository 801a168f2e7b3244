"""Which workers there are, and which are gone: each has a row that it counts up, and looks at the rows of the others.

On one machine a worker is gone when its process is. Elsewhere, and where a process is there and stopped, it is given up
when its count has stood still for three beats, by the clock of whoever looks: the clocks of several hosts may differ.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

import sqlalchemy as sa

from agent.core.turns import new_id
from agent.worker.database import Database
from personas.files.process import is_running, process_start, this_machine

BEAT = 10.0
"""Seconds between two beats of a worker."""
SILENT = 3 * BEAT + 1
"""Seconds without a beat after which a worker is given up."""

log = logging.getLogger(__name__)


class Heartbeat:
    """The row of this worker, and what is known of the others.

    Args:
        database: where the rows are.
        machine: which workers' processes can be seen from here, see `this_machine`.
        clock: seconds that only go forward.
    """

    def __init__(
        self, database: Database, *, machine: str = "", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.id = new_id("worker")
        self._database, self._clock = database, clock
        self._machine = machine or this_machine()
        self._table = database.table("persona_workers")
        self._seen: dict[str, tuple[int, float]] = {}  # by worker: its count, and when it was first seen
        self._beaten = clock()

    def begin(self) -> None:
        """Write this worker's row. To be done before it takes any work."""
        columns = "id TEXT PRIMARY KEY, machine TEXT, pid INTEGER, started TEXT, beats INTEGER"
        with suppress(sa.exc.DBAPIError):  # another worker makes it at this moment
            self._database.rows(f"CREATE TABLE IF NOT EXISTS {self._table} ({columns})")
        pid = os.getpid()
        self._database.rows(
            f"INSERT INTO {self._table} VALUES (:id, :machine, :pid, :started, 0)",
            id=self.id,
            machine=self._machine,
            pid=pid,
            started=process_start(pid),
        )

    def beat(self) -> None:
        """Count this worker's row up, where it is time."""
        if self._clock() - self._beaten >= BEAT:
            self._database.rows(f"UPDATE {self._table} SET beats = beats + 1 WHERE id = :id", id=self.id)
            self._beaten = self._clock()

    def leave(self) -> None:
        """Take this worker's row away: whatever it had begun is anybody's."""
        self._database.rows(f"DELETE FROM {self._table} WHERE id = :id", id=self.id)

    def alive(self) -> set[str]:
        """Give up the workers that are gone; return the ids of the others.

        This worker's own is missing where another one has given it up.
        """
        alive = set()
        for row in self._database.rows(f"SELECT id, machine, pid, started, beats FROM {self._table}"):
            worker, pid, started = str(row["id"]), int(str(row["pid"])), str(row["started"])
            here = row["machine"] == self._machine
            count, since = self._seen.get(worker, (-1, 0.0))
            if row["beats"] != count:
                self._seen[worker] = (int(str(row["beats"])), since := self._clock())
            is_silent = self._clock() - since > SILENT
            if worker == self.id or not (is_silent or (here and not is_running(pid, started))):
                alive.add(worker)
                continue
            log.warning(
                "the worker %s (pid %s) is given up: %s", worker, pid, "silent" if is_silent else "gone"
            )
            if here and is_running(pid, started):
                # It is stopped in the midst of something, and may hold locks that its successor needs.
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            self._database.rows(f"DELETE FROM {self._table} WHERE id = :id", id=worker)
        return alive
