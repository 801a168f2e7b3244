"""A home with a persona, a clock and a queue that only writes down."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from agent.actions.consent import approve
from agent.worker.due import Scheduler
from personas.action_store import create_action
from personas.actions.document import Action
from personas.files.home import open_home
from personas.store import Store

START = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)


class Place:
    """A home with a persona, a clock and a queue."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(open_home(folder))
        self.store.create("Kept", system_prompt="You keep.\n")
        self.now = START
        self.queue: dict[str, tuple[str, str, int]] = {}
        self.price = 0.0

    def enqueue(self, run_id: str, action_id: str, consent: str, *, priority: int = 0) -> None:
        self.queue.setdefault(run_id, (action_id, consent, priority))

    def scheduler(self) -> Scheduler:
        return Scheduler(
            self.store,
            "home",
            self.enqueue,
            now=lambda: self.now,
            price=lambda _action, count: self.price * count,
            confirm_dollars=1.0,
        )

    def action(self, title: str, *, approved: bool = True, **values: object) -> Action:
        values = {"title": title, "persona": "kept", "instructions": "Go.", "schedule": "0 * * * *", **values}
        action = create_action(self.store, values)
        if approved:
            approve(self.store.home, [action], now=self.now)
        return action

    def look(self, **forward: int) -> list[str]:
        """Let time pass, look with a new worker, and return the actions of the runs that are new in the queue."""
        self.now += timedelta(**forward)
        before = set(self.queue)
        self.scheduler().look()
        return [action for run, (action, _, _) in self.queue.items() if run not in before]
