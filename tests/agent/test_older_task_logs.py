"""Homes in which an earlier version of the program kept tasks in a log of their own: nothing of them is lost.

The homes in `data/homes_with_task_logs` were written by commit 5f87eeb.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent.jobs.recovery import find_job
from agent.models.scripted import answer
from agent.transcript.older_task_log import SUFFIX
from agent.transcript.open_jobs import personas_with_open_jobs
from agent.transcript.session_store import lock_path, read_history
from personas.files import trust
from personas.files.home import open_home
from personas.files.lock import hold
from personas.store import Store
from tests.support.task_bench import COMPLETE, Bench, logged, session_file

HOMES = Path(__file__).parent / "data" / "homes_with_task_logs"


def home_of(name: str, tmp_path: Path) -> Store:
    root = tmp_path / name
    shutil.copytree(HOMES / name, root)
    trust.trust(root)
    return Store(open_home(root))


def older_log(store: Store) -> Path:
    session = session_file(store)
    return session.with_name(f"{session.stem}{SUFFIX}")


@pytest.mark.parametrize(
    ("name", "status", "said"),
    [("question", "waiting_user", "the first"), ("approval", "waiting_approval", "once")],
)
async def test_a_task_that_waited_waits_and_its_answer_goes_on(
    tmp_path: Path, name: str, status: str, said: str
) -> None:
    store = home_of(name, tmp_path)
    assert personas_with_open_jobs(store.home) == ["kept"]
    calls, results = (
        {turn.tool_use_id for turn in read_history(store, "kept")[1] if turn.type == kind}  # type: ignore[union-attr]
        for kind in ("tool_call", "tool_result")
    )
    assert len(calls - results) == 1, "what waits has no result"
    found = find_job(store, "kept")
    assert found is not None and (found.status, found.original_prompt) == (status, "Do it.")
    assert not older_log(store).exists() and find_job(store, "kept") == found
    assert personas_with_open_jobs(store.home) == ["kept"]
    bench = Bench(store, [answer(COMPLETE, ids="new")])
    await bench.runner.respond(bench.chat, said)
    await bench.runner.wait("kept")
    if name == "approval":  # it was agreed to as a diff of the file, and is shown as a diff of the text now
        assert bench.task.status == "waiting_approval"
        await bench.runner.respond(bench.chat, said)
        await bench.runner.wait("kept")
    assert (bench.task.id, bench.task.status, bench.task.step_count) == (found.id, "completed", 2)
    assert "Sometimes." in store.get("kept").system_prompt
    assert personas_with_open_jobs(store.home) == []


async def test_a_task_at_its_limit_with_a_message_behind_it_is_continued(tmp_path: Path) -> None:
    store = home_of("limit", tmp_path)
    found = find_job(store, "kept")
    assert found is not None and (found.status, found.step_count, found.used.steps) == ("limit", 1, 1)
    assert [job.original_prompt for job in logged(store)[0]] == ["Do it.", "Rename it."]
    bench = Bench(store, [answer(COMPLETE, ids="new")])
    await bench.runner.resume(bench.chat)
    await bench.runner.wait("kept")
    assert (bench.task.id, bench.task.status) == (found.id, "completed")


def test_a_task_under_which_the_program_died_is_interrupted(tmp_path: Path) -> None:
    store = home_of("interrupted", tmp_path)
    found = find_job(store, "kept")
    assert found is not None and (found.status, found.step_count) == ("interrupted", 2)


def test_steps_and_ends_of_older_tasks_stand_where_they_stood(tmp_path: Path) -> None:
    store = home_of("replaced", tmp_path)
    assert find_job(store, "kept") is not None
    tasks, marks = logged(store)
    assert [(task.original_prompt, task.status) for task in tasks] == [
        ("First.", "cancelled"),
        ("Second.", "completed"),
    ]
    assert [(mark.kind, mark.job.status, mark.job.step_count) for mark in marks if mark.kind == "ending"] == [
        ("ending", "limit", 1),
        ("ending", "cancelled", 1),
        ("ending", "completed", 3),
    ]
    assert [mark.job.step_count for mark in marks if mark.kind == "step"] == [2, 3]
    turns = [turn.id for turn in read_history(store, "kept")[1]]
    places = [turns.index(mark.after) for mark in marks]
    assert places == sorted(places)


def test_a_log_is_left_alone_while_somebody_is_at_work_or_where_it_is_a_symlink(tmp_path: Path) -> None:
    store = home_of("question", tmp_path)
    older = older_log(store)
    with hold(lock_path(store, store.session_of("kept") or ""), what="It"):
        find_job(store, "kept")
        assert older.exists()
    target = older.rename(tmp_path / "elsewhere")
    older.symlink_to(target)
    assert find_job(store, "kept") is None and older.is_symlink() and target.exists()
