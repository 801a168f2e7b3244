"""Writing one task to its log while it runs: what it is, and where its steps and its ends stand in the conversation."""

from __future__ import annotations

import asyncio
import logging

from agent.jobs.job import AgentTask
from agent.jobs.task_log import MarkKind, TaskLog
from personas.errors import PersonaError
from personas.files.home import Home

log = logging.getLogger(__name__)


class TaskRecord:
    """The log of the task that runs.

    Args:
        home: the home.
        on: whether it is written from the start.

    Attributes:
        on: whether anything is written; a message that is no task is written once it waits.
        written: whether anything was.
    """

    def __init__(self, home: Home, *, on: bool) -> None:
        self.on = on
        self.written = False
        self._home = home
        self._log: TaskLog | None = None

    async def keep(self, task: AgentTask) -> None:
        """Write the task, lasting when this returns.

        Raises:
            PersonaError: the disk refused.
        """
        if self.on:
            await asyncio.to_thread(self._of(task).write, task, sync=True)
            self.written = True

    async def keep_quietly(self, task: AgentTask, ends_after: str = "") -> None:
        """Write the end of the task where nobody can be told that the disk refuses.

        Args:
            task: as its end leaves it.
            ends_after: the turn after which the conversation says so; empty where it does not.
        """
        try:
            if ends_after and self.on:
                await asyncio.to_thread(self._of(task).write, task)
                await asyncio.to_thread(self._of(task).mark, task, "ending", ends_after, sync=True)
            else:
                await self.keep(task)
        except PersonaError as error:
            log.warning("the end of the task could not be written: %s", error)

    def note(self, task: AgentTask, kind: MarkKind | None = None, after: str = "") -> None:
        """Write it where a disk that refuses must not end the run: the conversation has its own log.

        Args:
            task: as it is now.
            kind: what begins here, None for nothing.
            after: the turn after which it begins.
        """
        if not self.on:
            return
        try:
            if kind is None:
                self._of(task).write(task)
            elif after:
                self._of(task).mark(task, kind, after)
        except PersonaError as error:
            log.warning("the task could not be written: %s", error)

    def begin_anew(self) -> None:
        """What is written next is not next to what was written last: another task was written in between."""
        if self._log is not None:
            self._log.forget()

    def close(self) -> None:
        """Close the file."""
        if self._log is not None:
            self._log.close()

    def _of(self, task: AgentTask) -> TaskLog:
        if self._log is None:
            self._log = TaskLog(self._home, task.session_id)
        return self._log
