"""Runs jobs of any kind in this program: each is observed, stopped, left and awaited by its id."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from agent.core.redaction import report
from agent.jobs.job import Job
from personas.errors import InvalidValue

log = logging.getLogger(__name__)

Observer = Callable[[Job], object]


class JobRun(Protocol):
    """One job at work. What a kind of job adds is a class like this one.

    Attributes:
        job: the job as it is now; its id never changes.
        begun: done once it is at work, or with what kept it from beginning.
    """

    job: Job
    begun: asyncio.Future[None]

    def stop(self, reason: str = "") -> None:
        """End it at once, for good, by the person's word."""

    def interrupt(self, reason: str) -> None:
        """End it at once for a program that ends: it is interrupted."""

    def suspend(self) -> bool:
        """Leave it waiting, where it waits for the person; return whether it did."""

    def announce_end(self) -> None:
        """Tell how it ended, once nothing of it runs any more."""


class JobRunner:
    """Runs jobs side by side. Belongs to the thread of its event loop.

    Which of them may run at one time is for those who launch them to say.
    """

    def __init__(self) -> None:
        self.runs: dict[str, JobRun] = {}
        self._endings: dict[str, asyncio.Task[Any]] = {}
        self._observers: list[Observer] = []

    @property
    def jobs(self) -> list[Job]:
        """The jobs that are at work, or wait, in this program."""
        return [run.job for run in self.runs.values()]

    def job(self, job_id: str) -> Job | None:
        """Return a job as it is now, None where it does not run here."""
        run = self.runs.get(job_id)
        return run.job if run is not None else None

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Call `observer` with a job after every change of it; returns what ends that."""
        self._observers.append(observer)
        return lambda: self._observers.remove(observer) if observer in self._observers else None

    def notify(self, job: Job) -> None:
        """Tell the observers what a job is now."""
        for observer in tuple(self._observers):
            try:
                observer(job)
            except Exception as error:  # noqa: BLE001 - a screen's fault must not end the run
                report(log, "an observer of jobs failed", error)

    def launch(self, run: JobRun, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a job; return what ends with it, which need not be awaited. See `until_begun`.

        Raises:
            InvalidValue: it is already running.
        """
        if run.job.id in self.runs:
            work.close()
            raise InvalidValue(f"The job {run.job.id} is at work.")
        self.runs[run.job.id] = run
        ending = asyncio.get_running_loop().create_task(self._follow(run, work))
        ending.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._endings[run.job.id] = ending
        return ending

    async def until_begun(self, run: JobRun, ending: asyncio.Task[Any]) -> None:
        """Return once a job that was launched is at work, or raise what kept it from beginning."""
        waiting: set[asyncio.Future[Any]] = {ending, run.begun}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if not run.begun.done():
            run.begun.cancel()
            await ending
        try:
            run.begun.result()
        except BaseException:
            await asyncio.wait({ending})
            raise

    def stop(self, job_id: str, reason: str = "") -> bool:
        """Stop a job at once and for good; return whether it was at work, or waiting."""
        run = self.runs.get(job_id)
        if run is not None:
            run.stop(reason)
        return run is not None

    def interrupt(self, job_id: str, reason: str) -> None:
        """End a job at once for a program that ends: it is interrupted, and may be gone on with."""
        if (run := self.runs.get(job_id)) is not None:
            run.interrupt(reason)

    def suspend(self, job_id: str) -> bool:
        """Leave a waiting job waiting on the disk, for a program that ends; return whether it was waiting."""
        run = self.runs.get(job_id)
        return run is not None and run.suspend()

    async def wait(self, job_id: str) -> Any:
        """Wait until a job does not run any more; return what came of it, None where it does not run."""
        ending = self._endings.get(job_id)
        return await asyncio.shield(ending) if ending is not None else None

    def end_all(self, reason: str) -> None:
        """Have every job end for a program that ends: those that wait stay waiting, the others are interrupted."""
        for job_id in tuple(self.runs):
            if not self.suspend(job_id):
                self.interrupt(job_id, reason)

    async def until_idle(self, seconds: float) -> None:
        """Wait until nothing runs any more, but not for longer than so many seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._endings:
                    await asyncio.wait(tuple(self._endings.values()))
                    await asyncio.sleep(0)

    async def _follow(self, run: JobRun, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            return await work
        finally:
            del self.runs[run.job.id]
            del self._endings[run.job.id]
            if run.begun.done() and not run.begun.cancelled() and run.begun.exception() is None:
                run.announce_end()
