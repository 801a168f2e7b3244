"""A worker at work in this process, on SQLite, with runs that tests make up."""

from __future__ import annotations

import signal
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from agent.actions import run_log
from agent.actions.run import BUSY
from agent.actions.run_log import ActionRun
from agent.transcript.session_store import agent_lock
from agent.worker import engine
from agent.worker.database import Database
from agent.worker.heartbeat import SILENT, Heartbeat
from agent.worker.worker import Worker
from personas.action_store import update_action
from personas.actions.document import Action
from personas.actions.states import ActionState
from personas.errors import StorageError
from personas.files import trust
from personas.files.process import process_start
from tests.agent.worker.place import Place, Writer

Act = Callable[[Action], Awaitable[None]]


class Working:
    """A worker with `--once` over a place, whose runs call `act` and are then completed."""

    def __init__(self, place: Place, folder: Path, act: Act, *, jobs: int = 1) -> None:
        self.place, self.act = place, act
        self.ran: list[str] = []
        self.said: list[str] = []
        self.worker = Worker(
            place.store,
            "home",
            Database("", "home", folder / "state"),
            run=self.run,
            price=lambda _action, count: place.price * count,
            confirm_dollars=1.0,
            jobs=jobs,
            now=lambda: place.now,
            notify=self.said.append,
        )

    async def run(
        self, action: Action, run_id: str, due: object, fence: Callable[[], Awaitable[None]]
    ) -> ActionRun:
        home = self.place.store.home
        if action.kind == "agent":
            with agent_lock(self.place.store, action.persona):
                pass
        run_log.change(home, action.id, run_id, now=self.place.now, state=ActionState.RUNNING)
        self.ran.append(action.id)
        await self.act(action)
        await fence()
        return run_log.end(
            home, action.id, run_id, ActionState.COMPLETED, now=self.place.now, output=f"{due}"
        )

    async def once(self) -> None:
        await self.worker.serve(once=True)

    def state(self, action_id: str) -> tuple[ActionState, str]:
        run = run_log.runs(self.place.store.home, action_id)[0]
        return run.state, run.why


async def nothing(_action: Action) -> None:
    pass


async def test_what_is_due_is_run_once_in_the_order_of_priority(place: Place, tmp_path: Path) -> None:
    for title, priority in (("Low", -3), ("High", 900), ("Middle", 0)):
        place.action(title, priority=priority, kind="persona")
    place.now += timedelta(minutes=61)
    working = Working(place, tmp_path, nothing)
    await working.once()
    assert working.ran == ["high", "middle", "low"]
    assert working.state("high") == (ActionState.COMPLETED, "")
    assert working.said[:2] == ["High: started", "High: completed"]
    (run,) = run_log.runs(place.store.home, "low")
    assert run.output == "2026-06-01 13:00:00+00:00"
    await working.once()
    assert len(working.ran) == 3


async def test_an_action_that_changes_while_it_is_in_the_queue_does_not_run_and_says_why(
    place: Place,
    tmp_path: Path,
) -> None:
    for title in ("First", "Changed", "Gone", "Cancelled", "Last"):
        place.action(title, kind="persona", priority=10 if title == "First" else 0)
    place.now += timedelta(minutes=61)

    async def act(action: Action) -> None:
        home = place.store.home
        if action.id == "first":
            update_action(place.store, "changed", {"priority": 1})
            (home.actions / "gone.toml").unlink()
            run_log.cancel_runs(home, "cancelled", now=place.now)
        if action.id == "last":
            raise StorageError("The disk is full.")

    working = Working(place, tmp_path, act)
    await working.once()
    assert working.ran == ["first", "last"]
    state, why = working.state("changed")
    assert (
        state is ActionState.CANCELLED and "changed since" in why and "persona action approve changed" in why
    )
    assert working.state("cancelled") == (ActionState.CANCELLED, run_log.CANCELLED)
    assert "gone: not run, it was deleted" in working.said


async def test_trust_that_is_taken_back_holds_for_what_is_in_the_queue(place: Place, tmp_path: Path) -> None:
    for title in ("First", "Second"):
        place.action(title, kind="persona", priority=10 if title == "First" else 0)
    place.now += timedelta(minutes=61)

    async def act(_action: Action) -> None:
        trust.distrust(place.store.home.root)

    working = Working(place, tmp_path, act)
    await working.once()
    assert working.ran == ["first"]
    state, why = working.state("second")
    assert state is ActionState.CANCELLED and "not trusted" in why


async def test_an_action_whose_persona_is_busy_waits_and_keeps_no_other_from_its_turn(
    place: Place,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "PAUSE", 0.5)
    place.action("Waits", priority=9)
    place.action("Beside", kind="test")
    place.now += timedelta(minutes=61)
    working = Working(place, tmp_path, nothing)
    with agent_lock(place.store, "kept"):
        await working.once()
        assert working.ran == ["beside"]
        assert working.state("waits")[0] is ActionState.SCHEDULED
        assert working.said[:2] == ["Waits: started", f"Waits: waits, {BUSY}"]
    working = Working(place, tmp_path, nothing)
    await working.once()
    assert working.ran == ["waits"]


async def test_a_home_that_cannot_be_read_is_told_once(
    place: Place,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_log, "last_look", lambda _home: (_ for _ in ()).throw(StorageError("No disk.")))
    working = Working(place, tmp_path, nothing)
    await working.once()
    await working.once()
    assert working.said == ["cannot look for due work: No disk."]


async def test_a_run_waits_while_the_database_is_away(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "PAUSE", 0.0)
    asked, refusals = engine.Engine._check_owner, [OperationalError("", {}, Exception("away"))] * 2

    def check_owner(self: engine.Engine, run_id: str, owner: str | None) -> None:
        if refusals:
            raise refusals.pop()
        asked(self, run_id, owner)

    monkeypatch.setattr(engine.Engine, "_check_owner", check_owner)
    place.action("Hourly")
    place.now += timedelta(minutes=61)
    working = Working(place, tmp_path, nothing)
    await working.once()
    assert working.ran == ["hourly"] and working.state("hourly")[0] is ActionState.COMPLETED


async def test_a_database_in_which_the_queue_cannot_be_made_is_told_in_a_sentence(
    place: Place, tmp_path: Path
) -> None:
    working = Working(place, tmp_path, nothing)
    working.worker.database.rows("CREATE TABLE workflow_status (other TEXT)")
    with pytest.raises(StorageError, match="cannot be written: "):
        await working.once()


async def test_a_worker_that_was_stopped_over_a_write_keeps_no_other_from_joining(
    place: Place, tmp_path: Path
) -> None:
    place.action("Due", kind="persona")
    place.now += timedelta(minutes=61)
    working = Working(place, tmp_path, nothing)
    database = working.worker.database
    with Writer(tmp_path / "state" / "home.db") as stopped:
        heartbeat = Heartbeat(database, clock=lambda: time.monotonic() - 2 * SILENT)
        heartbeat.begin()
        database.rows(
            f"UPDATE {database.table('persona_workers')} SET pid = :pid, started = :started",
            pid=stopped.pid,
            started=process_start(stopped.pid),
        )
        stopped.stop_over_a_write()
        await working.once()
        assert stopped.wait(30) == -signal.SIGKILL
    assert working.ran == ["due"]
