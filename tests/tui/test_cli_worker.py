"""`persona worker`: what it runs, what it refuses, and how it ends."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest

from agent.actions import run_log
from agent.actions.consent import approve
from agent.worker.database import Database, name_of_home
from personas.action_store import create_action
from personas.actions.states import ActionState
from personas.files import trust
from tests.support.messages_answers import Silence
from tests.support.messages_server import MessagesServer, say
from tests.support.persona_agent import Backend, Workplace
from tui.app.worker_process import run_worker_process

LATE = timedelta(minutes=30)


def loopback(server: MessagesServer) -> Backend:
    return Backend("loopback", {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key})


def prepare(place: Workplace, title: str, *, trusted: bool = True) -> None:
    """Make an action of a persona's own that was approved before it was due, half an hour ago."""
    with mock.patch.dict("os.environ", place.environment()):
        store, now = place.store, datetime.now(UTC)
        at = (now - LATE).replace(microsecond=0)
        values = {"title": title, "persona": "mentor", "kind": "persona", "instructions": "Say it.", "at": at}
        approve(store.home, [create_action(store, values)], now=now - 2 * LATE)
        (trust.trust if trusted else trust.distrust)(store.home.root)


def state(place: Workplace, action_id: str) -> ActionState:
    return run_log.runs(place.store.home, action_id)[0].state


def test_once_runs_what_is_due_and_ends(place: Workplace) -> None:
    with MessagesServer(lambda _body: say("It is said.")) as server:
        place.backend = loopback(server)
        prepare(place, "Due \x1b\u202e")
        for _ in range(2):
            done = place.run_here("worker", "--once")
            assert done.returncode == 0, done.stderr
            assert b"\x1b" not in done.stderr and "\u202e" not in done.stderr.decode()
        assert len(server.bodies) == 1
    (run,) = run_log.runs(place.store.home, "due")
    assert (run.state, run.output) == (ActionState.COMPLETED, "It is said.")


def test_what_it_cannot_do_is_told_in_a_sentence_and_nothing_runs(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(place, "Due", trusted=False)
    refused = place.run_here("worker", "--once")
    assert (
        refused.returncode == 1 and b"is not trusted" in refused.stderr and b"persona trust" in refused.stderr
    )
    prepare(place, "Other")
    config = place.home.parent / "config.toml"
    for text, said in (
        ('database = "mysql://host/name"', b"worker.database must be"),
        ('home = "Our Team"', b"worker.home must be"),
    ):
        config.write_text(f"[worker]\n{text}\n")
        refused = place.run_here("worker", "--once")
        assert refused.returncode == 1 and said in refused.stderr
    config.unlink()
    monkeypatch.setitem(sys.modules, "agent.worker.database", None)
    monkeypatch.delattr("agent.worker.database", raising=False)
    without = place.run_here("worker", "--once")
    assert without.returncode == 1 and b"pip install 'dbos" in without.stderr
    assert run_log.runs(place.store.home, "due") == run_log.runs(place.store.home, "other") == []


def test_a_worker_that_is_ended_leaves_its_runs_to_the_next_one(place: Workplace) -> None:
    answers = [Silence(), say("It is said.")]
    with MessagesServer(answers) as server:
        place.backend = loopback(server)
        prepare(place, "Due")
        with place.start("worker", stderr=subprocess.PIPE) as worker:
            while not server.bodies:
                assert worker.poll() is None
                time.sleep(0.02)
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(30) == 143
            assert worker.stderr is not None
            *_, last = worker.stderr.read().splitlines()
            assert last == b"Stopped. The next worker continues its runs."
        assert state(place, "due") in (ActionState.SCHEDULED, ActionState.RUNNING)
        with place.start("worker", "--while-open", stdin=subprocess.PIPE) as worker:
            while state(place, "due") is not ActionState.COMPLETED:
                assert worker.poll() is None
                time.sleep(0.02)
            assert worker.stdin is not None
            worker.stdin.close()  # as when the program that began it ends
            assert worker.wait(30) == 0
    (run,) = run_log.runs(place.store.home, "due")
    assert (run.state, run.output) == (ActionState.COMPLETED, "It is said.")


async def test_the_open_program_tells_why_it_has_no_worker(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(place, "Due", trusted=False)
    for name, value in place.environment().items():
        monkeypatch.setenv(name, value)
    (place.home / "tui").mkdir()
    (place.home / "tui" / "__init__.py").write_text("raise SystemExit('owned')")
    monkeypatch.chdir(place.home)
    told: list[str] = []
    await run_worker_process(place.home, "offline", told.append)
    assert "The action worker stopped" in told[0] and "is not trusted" in told[0]


async def test_the_worker_of_the_open_program_uses_its_model(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with MessagesServer(lambda _body: say("It is said.")) as server:
        place.backend = loopback(server)
        prepare(place, "Due")
        for name, value in place.environment().items():
            monkeypatch.setenv(name, value)
        working = asyncio.ensure_future(run_worker_process(place.home, "claude-haiku-4-5", lambda _why: None))
        while not server.bodies and not working.done():
            await asyncio.sleep(0.05)
        working.cancel()
    assert server.bodies[0]["model"] == "claude-haiku-4-5"


def test_a_doctored_queue_is_refused(place: Workplace, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("state")
    env = {"XDG_STATE_HOME": str(folder)}
    prepare(place, "Due")
    database = Database("", name_of_home(place.home), folder / "persona-editor" / "worker")
    database.rows("CREATE TABLE workflow_status (inputs TEXT, serialization TEXT)")
    database.rows("INSERT INTO workflow_status VALUES ('gASV', 'py_pickle')")
    database.close()
    refused = place.run_here("worker", "--once", env=env)
    assert refused.returncode == 1 and b"not JSON" in refused.stderr
    assert run_log.runs(place.store.home, "due") == []


def test_no_other_command_loads_the_engine(place: Workplace) -> None:
    code = (
        "import sys; from tui.cli.group import persona\n"
        "for words in (['action', 'list'], ['worker', '--help'], ['list']):\n"
        "    persona.main(words, standalone_mode=False)\n"
        "print('engine:', sorted({'dbos', 'sqlalchemy', 'psycopg'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=place.environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("engine: []\n")
