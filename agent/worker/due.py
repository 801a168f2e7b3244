"""Finds what is due, by the actions of a home, their approvals and the time, and puts a run for each due time into the queue.

Any number of workers may look at the same time: a run's id follows from the action and the due time, and the queue takes each id once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from agent.actions import run_log
from agent.actions.consent import Approval, approval_of, may_run_unattended
from personas.action_document import read_actions
from personas.actions.document import Action
from personas.actions.schedule import due_now, is_missed
from personas.actions.states import ActionState
from personas.errors import PersonaError
from personas.store import Store

Plan = tuple[Action, Approval, Sequence[datetime]]
"""An action, the person's word for it, and the due times that are to be run now."""
LOOK = 5.0
"""Seconds between two looks for due work."""
NOTE = timedelta(minutes=1)
"""How often it is noted that somebody looked, where nothing was due."""
_TIME = "%Y%m%dT%H%M%SZ"


class Enqueue(Protocol):
    """Puts a run into the queue; nothing happens where it ever was in it."""

    def __call__(self, run_id: str, action_id: str, consent: str, *, priority: int = 0) -> None: ...


def run_id_of(home_name: str, action_id: str, due: datetime) -> str:
    """Return the id of the run of an action that is for a due time, the same for whoever looks."""
    time = due.astimezone(UTC).strftime(_TIME)
    return f"{time}-{hashlib.sha256(f'{home_name}/{action_id}/{time}'.encode()).hexdigest()[:16]}"


def due_of(run_id: str) -> datetime | None:
    """Return the due time a run is for, None where its id says none."""
    try:
        return datetime.strptime(run_id.partition("-")[0], _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


@dataclass
class Scheduler:
    """Looks for due work.

    Attributes:
        store: the home.
        home_name: its name.
        enqueue: puts a run into the queue.
        now: the one clock that due times are compared with.
        price: what so many runs of an action would cost, in dollars; None where that is unknown.
        confirm_dollars: above what price a backlog waits until it is approved.
    """

    store: Store
    home_name: str
    enqueue: Enqueue
    now: Callable[[], datetime]
    price: Callable[[Action, int], float | None]
    confirm_dollars: float
    _agreed: dict[str, datetime | None] = field(default_factory=dict)
    _noted: datetime | None = None

    def look(self) -> int:
        """Put what is due into the queue; return how many runs. Blocking.

        Raises:
            PersonaError: something could not be read or written; all else was done, and the next look does the rest.
        """
        now, home = self.now(), self.store.home
        last_look = run_log.last_look(home)
        plans = []
        for action in read_actions(home):
            approval = approval_of(home, action) if may_run_unattended(home, action) else None
            if approval is not None:
                plans.append((action, approval, due_now(action, approval.at, last_look, now)))
        why = self._why_backlog_waits(plans, now)
        found, failure = 0, None
        for action, approval, times in plans:
            try:
                found += self._enqueue_all(action, times, now, why)
                found += self._enqueue_agreed(action, approval, now)
            except PersonaError as error:  # its log cannot be written: the others go on
                failure = error
        if failure is not None:
            raise failure
        if found or self._noted is None or abs(now - self._noted) >= NOTE:
            run_log.note_look(home, now)
            self._noted = now
        return found

    def _why_backlog_waits(self, plans: Iterable[Plan], now: datetime) -> str:
        """Return why missed runs are not begun yet; empty where they are."""
        missed = [(action, sum(is_missed(due, now) for due in times)) for action, _, times in plans]
        prices = [self.price(action, count) for action, count in missed if count]
        total = sum(price for price in prices if price is not None)
        if total <= self.confirm_dollars:
            return ""
        return (
            f"{sum(count for _, count in missed)} missed runs would cost about ${total:.2f}, above confirm_dollars: "
            "approve it again to have it run"
        )

    def _enqueue_all(self, action: Action, times: Iterable[datetime], now: datetime, why: str) -> int:
        """Begin the runs for these due times; those that were missed wait where there is a reason why."""
        count = 0
        for due in times:
            waits = bool(why) and is_missed(due, now)
            run = run_log.begin(
                self.store.home,
                action,
                run_id_of(self.home_name, action.id, due),
                now=now,
                due=due,
                state=ActionState.WAITING if waits else ActionState.SCHEDULED,
                why=why if waits else "",
            )
            if not waits and not run.is_over:
                self.enqueue(run.id, action.id, action.revision, priority=action.priority)
                count += 1
        return count

    def _enqueue_agreed(self, action: Action, approval: Approval, now: datetime) -> int:
        """Put missed runs into the queue that wait for the person's word, once that is given."""
        agreed = approval.again_at
        if agreed is None or self._agreed.get(action.id) == agreed:
            return 0
        waiting = [
            run
            for run in run_log.runs(self.store.home, action.id)
            if run.state is ActionState.WAITING
            and run.started_at is None
            and (due_of(run.id) or now) < agreed
        ]
        for run in waiting:
            run_log.change(self.store.home, action.id, run.id, now=now, why="")
            self.enqueue(run.id, action.id, action.revision, priority=action.priority)
        self._agreed[action.id] = agreed
        return len(waiting)
