"""Which workers there are, and which are gone: each has a row with the time of its last beat, and looks at those of the others.

On one machine a worker is gone when its process is. Elsewhere, and where a process is there and stopped, it is given up after
three missed beats. All of them go by one clock that nobody sets: the database server's, or where there is none, the machine's
since it started. A worker whose own beats do not get through, as where the database is away or locked, gives up nobody for
being silent: then all of them are.
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
from personas.files.process import is_running, is_stopped, process_start, this_machine

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
        clock: seconds that only go forward, the same for all processes of a machine.
    """

    def __init__(
        self, database: Database, *, machine: str = "", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.id = new_id("worker")
        self._database, self._clock = database, clock
        self._machine = machine or this_machine()
        self._table = database.table("persona_workers")
        self._beaten = clock()
        self._in_touch_since = 0.0  # by the clock of all

    def _now(self) -> float:
        """The clock of all workers."""
        if not self._database.schema:
            return self._clock()
        (row,) = self._database.rows("SELECT EXTRACT(EPOCH FROM clock_timestamp()) AS now")
        return float(str(row["now"]))

    def begin(self) -> None:
        """Write this worker's row. To be done before it takes any work."""
        columns = "id TEXT PRIMARY KEY, machine TEXT, pid INTEGER, started TEXT, beat DOUBLE PRECISION"
        with suppress(sa.exc.DBAPIError):  # another worker makes it at this moment
            self._database.rows(f"CREATE TABLE IF NOT EXISTS {self._table} ({columns})")
        pid = os.getpid()
        self._database.rows(
            f"INSERT INTO {self._table} VALUES (:id, :machine, :pid, :started, :now)",
            id=self.id,
            machine=self._machine,
            pid=pid,
            started=process_start(pid),
            now=self._now(),
        )

    def beat(self) -> None:
        """Note that this worker is there, where it is time."""
        if self._clock() - self._beaten >= BEAT:
            now = self._now()
            self._database.rows(f"UPDATE {self._table} SET beat = :now WHERE id = :id", id=self.id, now=now)
            if self._is_out_of_touch():
                self._in_touch_since = now
            self._beaten = self._clock()

    def _is_out_of_touch(self) -> bool:
        """Whether the last beat of this worker did not get through, or it was stopped itself."""
        return self._clock() - self._beaten > 2 * BEAT

    def leave(self) -> None:
        """Take this worker's row away: whatever it had begun is anybody's."""
        self._database.rows(f"DELETE FROM {self._table} WHERE id = :id", id=self.id)

    def alive(self) -> set[str]:
        """Give up the workers that are gone; return the ids of the others.

        This worker's own is missing where another one has given it up.
        """
        alive, gone, now = set(), list[str](), self._now()
        for row in self._database.rows(f"SELECT id, machine, pid, started, beat FROM {self._table}"):
            worker, pid, started = str(row["id"]), int(str(row["pid"])), str(row["started"])
            beat, here = float(str(row["beat"])), row["machine"] == self._machine
            is_silent = now - max(beat, self._in_touch_since) > SILENT
            if self._is_out_of_touch():  # the one that is stopped may be the one that holds the database
                is_silent = now - beat > SILENT and here and is_stopped(pid)
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
            gone.append(worker)
        for worker in gone:  # last: until the stopped one was ended, it may have kept everybody from writing
            self._database.rows(f"DELETE FROM {self._table} WHERE id = :id", id=worker)
        return alive
