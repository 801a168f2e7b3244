"""A kind of job that the program does not have yet fits in: its own log, its own run, its own id, beside the agent's."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent.jobs.agent_jobs import AgentJobs
from agent.jobs.job import Job, move
from agent.jobs.job_log import JobLog, fold
from agent.jobs.options import JobOptions
from agent.jobs.runner import JobRunner
from agent.models.scripted import answer
from agent.transcript.job_records import last_job
from personas.errors import InvalidValue
from personas.files.journal import Journal
from personas.store import Store
from tests.support.task_bench import ASK, COMPLETE, Bench


class Outputs:
    """Where this kind keeps its records: a file of its own."""

    def __init__(self, path: Path) -> None:
        self.journal = Journal(path)

    def note_job(self, record: dict[str, Any]) -> None:
        self.journal.append(record)

    def make_lasting(self) -> None:
        self.journal.sync()

    def job(self) -> Job | None:
        found = last_job(self.journal)
        return fold(found, "kept", "") if found is not None else None


class DummyRun:
    """A job of a kind of its own: it counts until it is told to end."""

    def __init__(self, outputs: Outputs, runner: JobRunner) -> None:
        self.job = Job(kind="dummy", persona_id="kept", session_id="", original_prompt="Count.")
        self.begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.log = JobLog(lambda: outputs)
        self._runner = runner
        self._end = asyncio.Event()
        self._status: Any = "completed"

    async def go(self) -> int:
        self.log.write("started", self.job, sync=True)
        self.job = move(self.job, "thinking", step_count=1)
        self.begun.set_result(None)
        self._runner.notify(self.job)
        await self._end.wait()
        if self._status != "interrupted":
            self.log.write("ended", self.job, outcome=self._status)
        return 42

    def stop(self, _reason: str = "") -> None:
        self._status = "cancelled"
        self._end.set()

    def interrupt(self, _reason: str) -> None:
        self._status = "interrupted"
        self._end.set()

    def suspend(self) -> bool:
        return False

    def finish(self) -> None:
        self._end.set()

    def announce_end(self) -> None:
        self.job = move(self.job, self._status)
        self._runner.notify(self.job)


async def begin(runner: JobRunner, outputs: Outputs) -> DummyRun:
    run = DummyRun(outputs, runner)
    await runner.until_begun(run, runner.launch(run, run.go()))
    return run


async def test_it_runs_beside_the_agents_job_of_the_same_persona(store: Store, tmp_path: Path) -> None:
    bench = Bench(store, [answer(ASK), answer(COMPLETE)], JobOptions(request_pause=0, at_once=1))
    runner, outputs = bench.runner.runner, Outputs(tmp_path / "outputs.jsonl")
    await bench.runner.start(bench.chat, "Do it.")
    await bench.until("waiting_user")
    run = await begin(runner, outputs)
    assert {job.kind for job in runner.jobs} == {"task", "dummy"}
    assert (bench.task.kind, bench.seen[-1]) == ("task", run.job), "the persona's id means the agent's job"
    assert outputs.job() is not None and not outputs.job().is_over  # type: ignore[union-attr]
    with pytest.raises(InvalidValue):
        runner.launch(run, run.go())
    waiting = asyncio.ensure_future(runner.wait(run.job.id))
    await asyncio.sleep(0)
    run.finish()
    assert await waiting == 42 and bench.seen[-1].status == "completed"
    left = outputs.job()
    assert left is not None and (left.kind, left.status, left.step_count) == ("dummy", "completed", 1)
    await bench.runner.respond(bench.chat, "the first")
    await bench.runner.wait("kept")
    assert bench.task.status == "completed" and runner.jobs == []


async def test_it_is_stopped_by_its_id_and_ends_with_the_program(store: Store, tmp_path: Path) -> None:
    jobs, outputs = AgentJobs(), Outputs(tmp_path / "outputs.jsonl")
    first = await begin(jobs.runner, outputs)
    assert jobs.runner.stop(first.job.id) and not jobs.runner.stop("nobody knows it")
    await jobs.runner.wait(first.job.id)
    left = outputs.job()
    assert left is not None and left.status == "cancelled"
    second = await begin(jobs.runner, outputs)
    await jobs.close()
    assert second.job.status == "interrupted" and jobs.runner.jobs == []
    left = outputs.job()
    assert left is not None and (left.id, left.is_working) == (second.job.id, True), "its log has no end"
