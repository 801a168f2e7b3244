"""A worker at work: it looks for due runs, runs them, and tells what it does. How a run is run is an argument."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from agent.actions import run_log
from agent.actions.consent import refusal_reason
from agent.actions.run_log import BUSY, ActionRun
from agent.transcript.session_store import AgentAtWork
from agent.worker.database import Database
from agent.worker.due import LOOK, Scheduler, due_of
from agent.worker.engine import Engine, Fence, LeaseLost, RetryLater
from personas.action_document import find_action
from personas.actions.document import Action
from personas.actions.states import ActionState
from personas.errors import PersonaError
from personas.files.slug import command
from personas.store import Store

_POLL = 0.2  # seconds between two looks whether all is done

Run = Callable[[Action, str, datetime | None, Fence], Awaitable[ActionRun]]
"""Runs one run of an action, by its id, for a due time, to its end; the fence is asked before anything is stored. It
raises `AgentAtWork` where the run has to wait for its persona."""

log = logging.getLogger(__name__)


@dataclass
class Worker:
    """Runs the due actions of one home.

    Attributes:
        store: the home.
        home_name: its name, the same for all its workers.
        database: where the queue is.
        run: runs one.
        price: what so many runs of an action would cost, in dollars; None where that is unknown.
        confirm_dollars: above what price a backlog waits until it is approved.
        jobs: how many runs at once.
        now: the one clock of due times.
        tell: hears of every run that begins or ends, and of what keeps the worker from its work.
    """

    store: Store
    home_name: str
    database: Database
    run: Run
    price: Callable[[Action, int], float | None]
    confirm_dollars: float
    jobs: int
    now: Callable[[], datetime]
    notify: Callable[[str], None]
    _put_back: set[str] = field(default_factory=set)
    _trouble: str = ""

    async def serve(self, *, once: bool = False) -> None:
        """Work until the program ends, or with `once` until what is due is done.

        Raises:
            LeaseLost: another worker gave this one up; the process should begin anew.
            PersonaError: the database cannot be used.
        """
        self.engine = Engine(self.database, self.home_name, self._execute, jobs=self.jobs)
        scheduler = Scheduler(
            self.store, self.home_name, self.engine.enqueue, self.now, self.price, self.confirm_dollars
        )
        await asyncio.to_thread(self.engine.start, asyncio.get_running_loop())
        while not self.engine.given_up.is_set():
            await self._look(scheduler)
            if once:
                await self._finish()
                await asyncio.to_thread(self.engine.stop)
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(self.engine.given_up.wait(), LOOK)
        raise LeaseLost("This worker was given up by another one.")

    def leave(self) -> None:
        """Leave what is at work to the other workers, for a process that ends. Blocking."""
        self.engine.heartbeat.leave()

    async def _look(self, scheduler: Scheduler) -> None:
        try:
            await asyncio.to_thread(scheduler.look)
            self._trouble = ""
        except PersonaError as error:  # the disk is full, a folder cannot be read: it may come back
            log.warning("cannot look for due work: %s", error)
            if str(error) != self._trouble:
                self._trouble = str(error)
                self.notify(f"cannot look for due work: {error}")

    async def _finish(self) -> None:
        """Wait until everything is done that this worker can do now."""
        mine = ("", self.engine.heartbeat.id)
        while not self.engine.given_up.is_set():
            left = await asyncio.to_thread(self.engine.unfinished)
            if not {run for run, worker in left.items() if worker in mine} - self._put_back:
                return
            await asyncio.sleep(_POLL)

    # -- one run ---------------------------------------------------------------------------------------

    async def _execute(self, _home_name: str, action_id: str, run_id: str, consent: str, fence: Fence) -> str:
        action = await asyncio.to_thread(find_action, self.store.home, action_id)
        if action is None:
            self.notify(f"{action_id}: not run, it was deleted")
            return "cancelled"
        due = due_of(run_id)
        run = await asyncio.to_thread(
            run_log.begin,
            self.store.home,
            action,
            run_id,
            now=self.now(),
            due=due,
            state=ActionState.SCHEDULED,
        )
        if run.is_over:
            return str(run.state)
        if why := await asyncio.to_thread(self._why_not, action, consent):
            await self._change(action, run, state=ActionState.CANCELLED, why=why)
            self.notify(f"{action.title}: not run, {why}")
            return "cancelled"
        self._put_back.discard(run_id)
        if run.why != BUSY:
            self.notify(f"{action.title}: started")
        try:
            ended = await self.run(action, run_id, due, fence)
        except AgentAtWork as busy:
            self._put_back.add(run_id)
            if run.why != BUSY:
                self.notify(f"{action.title}: waits, {BUSY}")
            raise RetryLater(str(busy)) from None
        self._put_back.clear()  # its persona may be free now
        self.notify(f"{action.title}: {ended.state}{f', {ended.why}' if ended.why else ''}")
        return str(ended.state)

    def _why_not(self, action: Action, consent: str) -> str:
        """Why a run may not begin now, whatever was right when it was put into the queue."""
        if action.revision != consent and action.error is None:
            return f"the action was changed since this was due: `{command('action approve', action.id)}`"
        return refusal_reason(self.store.home, action)

    async def _change(self, action: Action, run: ActionRun, **values: object) -> ActionRun:
        return await asyncio.to_thread(
            run_log.change, self.store.home, action.id, run.id, now=self.now(), **values
        )
