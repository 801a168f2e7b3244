"""The engine: a queue of runs, each run once, whatever becomes of the workers. What a run is, is not known here.

DBOS keeps the queue and who works on what. It does not notice by itself that a worker is gone: that is `heartbeat`.
Runs are put into the queue as JSON by DBOS's client; a row holds nothing but ids and hashes.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress

from dbos import DBOS, DBOSClient, EnqueueOptions
from dbos._context import current_owner_xid
from sqlalchemy.exc import DBAPIError

from agent.worker.database import SERIALIZER, Database
from agent.worker.heartbeat import Heartbeat
from personas.errors import PersonaError, StorageError

FORMAT = "1"
"""The number of the format of the rows. A program with another one leaves them alone."""
QUEUE = "actions"
POLL = 0.5
"""Seconds between two looks into the queue."""
LOOK = 1.0
"""Seconds between two looks after the other workers."""
PAUSE = 5.0
"""Seconds after which a run is tried again that could not begin, or a database that was away."""
_LOWEST = 1_000_000  # for DBOS a lower number comes first

Fence = Callable[[], Awaitable[None]]
log = logging.getLogger(__name__)


class LeaseLost(PersonaError):
    """This worker was given up, and the run is another one's now: nothing of it may be stored any more."""


class RetryLater(PersonaError):
    """The run cannot begin yet; it goes back into the queue for a moment, and another run begins in its place."""


class _RunHandedOver(BaseException):
    """Ends a run here that goes on elsewhere. No `Exception`: DBOS would record that as the end of the run."""


Execute = Callable[[str, str, str, str, Fence], Awaitable[str]]
"""Runs one run to its end; returns its state. Arguments: the home's name, the action's id, the run's id, the hash that the person
agreed to, and the fence. Called again with the same ids where a worker was lost. It may raise `RetryLater` before it began.
"""


class Engine:
    """A worker's part in the queue of one home. One in a process.

    Args:
        database: where the queue is.
        home_name: the home's name.
        execute: runs one; in the loop that `start` is called in.
        jobs: how many at once in each worker; what the worker says that began last.
        heartbeat: this worker's.
    """

    def __init__(
        self,
        database: Database,
        home_name: str,
        execute: Execute,
        *,
        jobs: int = 4,
        heartbeat: Heartbeat | None = None,
    ) -> None:
        self.heartbeat = heartbeat or Heartbeat(database)
        self._database, self._execute, self._jobs = database, execute, jobs
        self._home_name = home_name
        self._statuses = database.table("workflow_status")
        self._stopping = threading.Event()
        self.given_up = asyncio.Event()
        """Set when another worker gave this one up: nothing more can be stored, and it should begin anew."""

    # -- blocking --------------------------------------------------------------------------------------

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Join: make the tables, tell of this worker, and begin to take work.

        Raises:
            LeaseLost: another worker gave this one up.
            StorageError: the database cannot be written.
        """
        with self._writing():
            self._join(loop)
        threading.Thread(target=self._watch, args=(loop,), name="heartbeat", daemon=True).start()

    def _join(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(
            DBAPIError
        ):  # no table yet; else one that is stopped over a write keeps this one from joining
            self.heartbeat.alive()
        DBOS.migrate(self._database.url, schema=self._database.schema or "dbos")
        self._client = DBOSClient(
            system_database_url=self._database.url,
            dbos_system_schema=self._database.schema,
            serializer=SERIALIZER,
        )
        self._client.register_queue(QUEUE, worker_concurrency=self._jobs, polling_interval_sec=POLL)
        self.heartbeat.begin()
        DBOS(
            config={
                "name": "persona",
                "system_database_url": self._database.url,
                "dbos_system_schema": self._database.schema or "dbos",
                "application_version": FORMAT,
                "executor_id": self.heartbeat.id,
                "serializer": SERIALIZER,
                "log_level": "WARNING",
                "enable_otlp": False,
                "notification_listener_polling_interval_sec": 0.2,  # how long its end takes; nothing listens
            }
        )
        logging.getLogger("dbos").propagate = True

        @DBOS.workflow(name="run")
        def run(home_name: str, action_id: str, run_id: str, consent: str) -> str:
            owner = current_owner_xid(run_id)

            async def fence() -> None:
                while True:
                    try:
                        return await asyncio.to_thread(self._check_owner, run_id, owner)
                    except DBAPIError as error:  # it is away: nobody else can take the run over either
                        log.warning("the run %s waits for the worker's database: %s", run_id, error.orig)
                        await asyncio.sleep(PAUSE)

            work = self._run(home_name, action_id, run_id, consent, fence)
            try:
                return asyncio.run_coroutine_threadsafe(work, loop).result()
            except LeaseLost:
                raise _RunHandedOver from None
            except (RetryLater, CancelledError) as not_now:  # cancelled: the program ends
                self._put_back(run_id, owner, PAUSE if isinstance(not_now, RetryLater) else 0)
                raise _RunHandedOver from None

        DBOS.launch()
        self.take_over()

    def enqueue(self, run_id: str, action_id: str, consent: str, *, priority: int = 0) -> None:
        """Put a run into the queue; nothing happens where it ever was in it.

        Args:
            run_id: says which it is, to all workers alike.
            action_id: the action.
            consent: the hash of what the person agreed to.
            priority: higher first.

        Raises:
            StorageError: the database cannot be written.
        """
        options: EnqueueOptions = {
            "workflow_name": "run",
            "queue_name": QUEUE,
            "workflow_id": run_id,
            "app_version": FORMAT,
            "priority": _LOWEST - priority,
        }
        with self._writing():
            self._client.enqueue(options, self._home_name, action_id, run_id, consent)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise StorageError(
                f"The worker's database {self._database} cannot be written: {error.orig}."
            ) from None

    def unfinished(self) -> dict[str, str]:
        """Return the runs that are not over: by their ids, the id of the worker that is at it, empty for none."""
        rows = self._database.rows(
            f"SELECT workflow_uuid, executor_id, status FROM {self._statuses} "
            "WHERE status IN ('ENQUEUED', 'DELAYED', 'PENDING') AND queue_name = :queue",
            queue=QUEUE,
        )
        return {
            str(row["workflow_uuid"]): str(row["executor_id"]) if row["status"] == "PENDING" else ""
            for row in rows
        }

    def take_over(self) -> None:
        """Put the runs of workers that are gone into the queue again.

        Raises:
            LeaseLost: this worker is one of them.
        """
        # In this order: a worker has its row before it takes work, so one that joins meanwhile is not taken for gone.
        working = {worker for worker in self.unfinished().values() if worker}
        alive = self.heartbeat.alive()
        if self.heartbeat.id not in alive:
            raise LeaseLost("This worker was given up by another one.")
        # Not only of those just given up: who gave one up may have been killed over it.
        if gone := sorted(working - alive):
            DBOS._recover_pending_workflows(gone)

    def stop(self) -> None:
        """Leave: what is at work here is anybody's. The process should end then."""
        self._stopping.set()
        self.heartbeat.leave()
        DBOS.destroy(destroy_registry=True)
        self._client.destroy()

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Beat, and take over from those who do not. A thread of its own: no run can keep it waiting."""
        while not self._stopping.wait(LOOK):
            try:
                self.take_over()
                self.heartbeat.beat()
            except LeaseLost:
                loop.call_soon_threadsafe(self.given_up.set)
                return
            except Exception as error:  # noqa: BLE001 - the disk is full, the database away: it may come back
                log.warning("the worker's database cannot be used at the moment: %s", error)

    # -- in the loop -----------------------------------------------------------------------------------

    async def _run(self, home_name: str, action_id: str, run_id: str, consent: str, fence: Fence) -> str:
        try:
            if home_name != self._home_name:
                return "failed"
            return await self._execute(home_name, action_id, run_id, consent, fence)
        except (RetryLater, LeaseLost):
            raise
        except Exception:  # an error here is none of the queue
            log.exception("the run %s of %s failed", run_id, action_id)
            return "failed"

    def _put_back(self, run_id: str, owner: str | None, seconds: float) -> None:
        """Have a run taken out of the queue again in a moment: DBOS wakes what is delayed."""
        self._database.rows(
            f"UPDATE {self._statuses} SET status = 'DELAYED', delay_until_epoch_ms = :until, owner_xid = NULL, "
            "started_at_epoch_ms = NULL, recovery_attempts = 0 "
            "WHERE workflow_uuid = :id AND owner_xid = :owner AND status = 'PENDING'",
            id=run_id,
            owner=owner,
            until=int((time.time() + seconds) * 1000),
        )

    def _check_owner(self, run_id: str, owner: str | None) -> None:
        found = self._database.rows(
            f"SELECT 1 FROM {self._statuses} WHERE workflow_uuid = :id AND owner_xid = :owner "
            "AND status = 'PENDING'",
            id=run_id,
            owner=owner,
        )
        if not found:
            raise LeaseLost(f"The run {run_id} was given to another worker.")
