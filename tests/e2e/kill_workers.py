"""Kill and stop workers while many actions are due, and see that each run is stored once and that nothing is asked twice
but what a worker was killed over.

python -m tests.e2e.kill_workers --actions 300 --workers 3 --seed 1 [--postgres] [--hosts]

With `--hosts` each worker sees only its own processes, as on a host of its own; that takes the right to `unshare`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy.exc import DBAPIError

from agent.actions import run_log
from agent.actions.consent import approve
from agent.core.turns import ToolResultTurn
from agent.transcript.session_store import open_session
from agent.worker.database import Database
from personas.action_document import read_actions
from personas.changes import AddTestInput
from personas.files.process import is_stopped
from personas.versions.authorship import USER
from tests.support import forked, postgres
from tests.support.messages_server import Answer, MessagesServer, call, say
from tests.support.persona_agent import Backend, Workplace

KINDS = ("persona", "persona", "agent", "test")
EVERY = 5.0
"""Seconds between two kills."""
WAKE = 38.0
"""Seconds after which the stopped worker is woken: it was given up by then, unless nobody could join meanwhile."""
IN_TIME, OF_OTHERS = 3.0, 35.0
"""Seconds in which a killed worker's runs are taken over; and those of another host, or where a stopped worker is in the
midst of a write to SQLite, which keeps everybody from writing."""
SLOW = 0.12
"""Seconds between two events of an answer: it takes about two seconds."""
SEPARATE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")


def answer(body: dict[str, Any]) -> Answer:
    """Answer with the number that is asked for; the agent is done with that."""
    number = number_of(body)
    words = f"This is the answer to number {number}, said slowly enough to be killed over."
    if "task_complete" in json.dumps(body.get("tools", [])):
        return call("task_complete", {"summary": words}, delay=SLOW)
    return say(words, delay=SLOW)


def number_of(body: dict[str, Any]) -> int:
    """Return which action a request is made for."""
    found = re.findall(r"[Nn]umber (\d+)\.", json.dumps(body["messages"]))
    return int(found[0])


@dataclass
class Figures:
    """What a run of the whole came to."""

    killed: int = 0
    stopped: int = 0
    seconds: float = 0.0
    asked_again: int = 0
    given_up: list[float] = field(
        default_factory=list
    )  # seconds from a kill to when its runs were in the queue again
    behind: list[float] = field(default_factory=list)  # the same, where the stopped worker held the database

    def __str__(self) -> str:
        slowest, behind = (
            ", ".join(f"{seconds:.1f}" for seconds in sorted(times)[-6:]) or "-"
            for times in (self.given_up, self.behind)
        )
        return (
            f"{self.killed} workers killed, {self.stopped} stopped, in {self.seconds:.0f} s; each run stored once; "
            f"{self.asked_again} requests made again; {len(self.given_up)} workers that had work taken over, the slowest after {slowest} s; "
            f"{len(self.behind)} while the stopped one held the database, the slowest after {behind} s"
        )


class Farm:
    """Some workers, and what they work on."""

    def __init__(
        self, folder: Path, server: MessagesServer, *, database: str, hosts: bool, jobs: int
    ) -> None:
        env = {
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": server.key,
            "XDG_STATE_HOME": str(folder / "state"),
        }
        self.server = server
        self.place = Workplace(folder / "home", Backend("loopback", env))
        self.hosts, self.jobs = hosts, jobs
        (folder / "config.toml").write_text(
            f'confirm_dollars = 1000.0\n[worker]\nhome = "farm"\ndatabase = "{database}"\n'
        )
        self.database = Database(database, "farm", folder / "state" / "persona-editor" / "worker")
        self.workers: list[subprocess.Popen[bytes]] = []
        self.stopped: list[subprocess.Popen[bytes]] = []
        self.log = open(folder / "workers.log", "ab")  # noqa: SIM115 - as long as the farm

    def prepare(self, actions: int) -> None:
        """Write the actions, all due in a moment, and approve them."""
        with _env(self.place):
            store = self.place.store  # a new home is trusted
        store.home.actions.mkdir(exist_ok=True)
        due = datetime.now(UTC) + timedelta(seconds=2)
        for number in range(actions):
            kind = KINDS[number % len(KINDS)]
            persona = store.create(f"Number {number}", system_prompt="You answer.\n")
            if kind == "test":
                store.change(persona.id, AddTestInput(f"Tell number {number}."), revision=None, by=USER)
            (store.home.actions / f"action-{number}.toml").write_text(
                f'title = "Action {number}"\npersona = "{persona.id}"\nkind = "{kind}"\nedits = "apply"\n'
                f'instructions = "Tell number {number}."\nat = {due:%Y-%m-%dT%H:%M:%S}Z\n'
            )
        with _env(self.place):
            approve(store.home, read_actions(store.home), now=due - timedelta(seconds=1))

    def begin(self) -> None:
        """Start one more worker."""
        command = [
            *(SEPARATE if self.hosts else ()),
            sys.executable,
            "-m",
            "tui",
            "worker",
            "--jobs",
            str(self.jobs),
        ]
        self.workers.append(
            forked.Popen(
                command,
                env=self.place.environment(),
                cwd=self.place.home.parent,
                stdin=subprocess.DEVNULL,
                stdout=self.log,
                stderr=self.log,
            )
        )

    def pid(self, worker: subprocess.Popen[bytes]) -> int:
        """Return the number of the worker's process, which may be behind another one."""
        if not self.hosts:
            return worker.pid
        children = Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()
        return int(children[0]) if children else worker.pid

    def signal(self, worker: subprocess.Popen[bytes], number: int) -> str:
        """Send a signal to a worker; return its id, empty where it has not joined yet."""
        pid, found = self.pid(worker), [""]
        with contextlib.suppress(DBAPIError, OSError):  # no table yet; it has ended
            rows = self.database.rows(
                f"SELECT id, machine, pid FROM {self.database.table('persona_workers')}"
            )
            status = Path(f"/proc/{pid}/status").read_text()
            number_there = int(re.findall(r"^NSpid:.*?(\d+)$", status, re.MULTILINE)[0])  # as it sees itself
            there = (os.readlink(f"/proc/{pid}/ns/pid"), number_there)
            found += [
                str(row["id"]) for row in rows if (str(row["machine"]).split()[-1], row["pid"]) == there
            ]
        with contextlib.suppress(ProcessLookupError):
            subprocess.run(["kill", f"-{number}", str(pid)], check=False)
        return found[-1]

    def work_of(self, worker_id: str) -> set[str]:
        """Return the runs a worker is at."""
        return {
            str(row["workflow_uuid"])
            for row in self.database.rows(
                f"SELECT workflow_uuid FROM {self.database.table('workflow_status')} "
                "WHERE status = 'PENDING' AND executor_id = :id",
                id=worker_id,
            )
        }

    def is_held(self) -> bool:
        """Whether the stopped worker is in the midst of a write to SQLite, so that nobody else can write."""
        file = Path(f"{self.database.url.removeprefix('sqlite:///')}-shm")
        if not self.stopped or not file.exists():
            return False
        pid, number = self.pid(self.stopped[0]), file.stat().st_ino
        return is_stopped(pid) and bool(
            re.search(rf"WRITE {pid} \S+:{number} 120 120$", Path("/proc/locks").read_text(), re.MULTILINE)
        )

    def unfinished(self, actions: int) -> int:
        """Return how many runs are not over."""
        home = self.place.store.home
        logs = (home.state / "actions").glob("*.jsonl")
        return actions - sum(b'"completed"' in path.read_bytes() for path in logs)

    def end(self) -> None:
        """End all workers."""
        for worker in (*self.workers, *self.stopped):
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):
                self.signal(worker, signal.SIGKILL)
            worker.kill()
            worker.wait()
        self.log.close()
        self.database.close()


@contextlib.contextmanager
def _env(place: Workplace) -> Any:
    from unittest import mock

    with mock.patch.dict("os.environ", place.environment()):
        yield


def run(
    folder: Path,
    *,
    actions: int,
    workers: int,
    seed: int,
    database: str = "",
    hosts: bool = False,
    jobs: int = 4,
    every: float = EVERY,
    within: float = 1800.0,
    stops: bool = True,
    kills: int = sys.maxsize,
) -> Figures:
    """Have workers run all actions while some of them are killed, and one is stopped; check what is stored."""
    choose, figures = random.Random(seed), Figures()
    with MessagesServer(answer) as server:
        farm = Farm(folder, server, database=database, hosts=hosts, jobs=jobs)
        try:
            farm.prepare(actions)
            for _ in range(workers):
                farm.begin()
            _disturb(farm, choose, figures, actions, every, within, stops, kills)
            _check(farm, figures, actions)
        finally:
            farm.end()
    return figures


def _disturb(
    farm: Farm,
    choose: random.Random,
    figures: Figures,
    actions: int,
    every: float,
    within: float,
    stops: bool,
    kills: int,
) -> None:
    """Kill a worker every few seconds until all runs are over; stop one, and wake it once it was given up."""
    while not farm.server.bodies:  # until one is at work
        assert all(worker.poll() is None for worker in farm.workers)
        time.sleep(0.1)
    begun = time.monotonic()
    killed: dict[str, tuple[float, set[str]]] = {}  # by worker: since when, and the runs it was at
    behind: set[str] = set()  # of these, whose successors could not write for some time
    next_kill = begun + every
    woken = 0.0
    while farm.unfinished(actions) > 0:
        now = time.monotonic()
        assert now - begun < within, f"{farm.unfinished(actions)} runs are not over"
        if killed and farm.is_held():
            behind.update(killed)
        for worker_id, (since, work) in list(killed.items()):
            if not work & farm.work_of(worker_id):
                (figures.behind if worker_id in behind else figures.given_up).append(now - since)
                del killed[worker_id]
        if woken and now > woken:
            farm.signal(farm.stopped[0], signal.SIGCONT)
            woken = 0.0
        if now > next_kill and figures.killed < kills:
            next_kill = now + every
            worker = farm.workers.pop(choose.randrange(len(farm.workers)))
            if stops and not farm.stopped:
                farm.stopped.append(worker)
                farm.signal(worker, signal.SIGSTOP)
                woken, figures.stopped = now + WAKE, 1
            else:
                worker_id = farm.signal(worker, signal.SIGKILL)
                worker.wait()
                figures.killed += 1
                if work := farm.work_of(worker_id):
                    killed[worker_id] = (time.monotonic(), work)
            farm.begin()
        time.sleep(0.1)
    figures.seconds = time.monotonic() - begun


def _check(farm: Farm, figures: Figures, actions: int) -> None:
    store = farm.place.store
    asked = Counter(number_of(body) for body in farm.server.bodies)
    attempts = {
        str(row["workflow_uuid"]): int(str(row["recovery_attempts"]))
        for row in farm.database.rows(
            f"SELECT workflow_uuid, recovery_attempts FROM {farm.database.table('workflow_status')}"
        )
    }
    for number in range(actions):
        words = f"This is the answer to number {number}, said slowly enough to be killed over."
        (one,) = run_log.runs(store.home, f"action-{number}")
        assert one.state == "completed", one
        kind, persona_id = KINDS[number % len(KINDS)], f"number-{number}"
        if kind == "test":
            outputs = [
                json.loads(line)
                for path in store.home.outputs.rglob("*.jsonl")
                if persona_id == path.stem or persona_id in path.parts
                for line in path.read_text().splitlines()
            ]
            assert sum(words == output.get("text") for output in outputs) == 1, outputs
        else:
            assert one.output == words
        if kind == "agent":
            session = open_session(store, persona_id, str(one.session_id))
            done = [turn for turn in session.turns if isinstance(turn, ToolResultTurn) and not turn.is_error]
            assert len(done) == 1, "a call that never ran is made again, one that ran is not"
        assert 1 <= asked[number] <= max(attempts[one.id], 1), f"{number}: asked {asked[number]} times"
        figures.asked_again += asked[number] - 1
    assert set(attempts) == {
        run_log.runs(store.home, f"action-{number}")[0].id for number in range(actions)
    }, "each due time was put into the queue once"


def main() -> None:
    """The long form, as a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--actions", type=int, default=300)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--hosts", action="store_true")
    given = parser.parse_args()
    with contextlib.ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        database = f"{held.enter_context(postgres.cluster())}/postgres" if given.postgres else ""
        figures = run(
            folder,
            actions=given.actions,
            workers=given.workers,
            seed=given.seed,
            database=database,
            hosts=given.hosts,
        )
    print(f"{given.actions} actions: {figures}")
    limit = OF_OTHERS if given.hosts else IN_TIME
    assert max(figures.given_up, default=0.0) <= limit, f"a takeover took longer than {limit:.0f} s"
    assert max(figures.behind, default=0.0) <= OF_OTHERS, "a stopped worker held the database for too long"


if __name__ == "__main__":
    main()
