"""A home with a persona, a clock and a queue that only writes down; and a process that keeps others from writing."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agent.actions.consent import approve
from agent.worker.due import Scheduler
from personas.action_store import create_action
from personas.actions.document import Action
from personas.files.home import open_home
from personas.files.process import is_stopped
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


class Writer(subprocess.Popen[bytes]):
    """A process that begins a write to an SQLite database, and is stopped then."""

    def __init__(self, file: Path) -> None:
        code = "import sqlite3, sys; it = sqlite3.connect(sys.argv[1]); input(); it.execute('BEGIN IMMEDIATE'); input()"
        super().__init__([sys.executable, "-c", code, str(file)], stdin=subprocess.PIPE)

    def stop_over_a_write(self) -> None:
        assert self.stdin is not None
        self.stdin.write(b"\n")
        self.stdin.flush()
        while not re.search(rf"WRITE {self.pid} \S+ 120 120\n", Path("/proc/locks").read_text()):
            assert self.poll() is None
        self.send_signal(signal.SIGSTOP)
        while not is_stopped(self.pid):
            assert self.poll() is None

    def __exit__(self, *raised: Any) -> None:
        self.kill()
        super().__exit__(*raised)
