"""What a task may use up: one rule for steps, minutes, tokens and dollars, whoever answers what it asks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent.core.model import Usage
from agent.core.turns import NoticeTurn, ToolResultTurn
from agent.jobs.agent_jobs import AgentJobs
from agent.jobs.job import Job, Used
from agent.jobs.options import JobOptions
from agent.models.scripted import ToolUse, answer
from personas.store import Store
from tests.agent.test_tasks import HandClock
from tests.support.task_bench import ASK, COMPLETE, EDIT, Bench

MOST: dict[str, tuple[dict[str, Any], str]] = {
    "steps": ({"max_steps": 4}, "Stopped after 4 steps, the most one task may take."),
    "tokens": ({"max_tokens": 3_500}, "Stopped after 4,000 tokens; one task may use 3,500."),
    "dollars": ({"max_cost": 0.007}, "Stopped at a cost of 0.01; one task may cost 0.01."),
    "minutes": ({"max_seconds": 450}, "Stopped after 7.5 minutes of work, the longest one task may take."),
}
"""Each limit so that it is reached with the fourth answer of the model, of 1,000 tokens and 2 minutes each."""

READ = ToolUse("get_persona")


class Program(Bench):
    """A program whose model takes two minutes for each answer."""

    def begin(self) -> Program:
        self.clock = HandClock()
        self.steps: int | None = None
        self.runner = AgentJobs(self.options, clock=self.clock)
        self.runner.observe(self._take_time)
        self.model._name, self.model._endpoint = "claude-sonnet-5-5", "https://api.anthropic.com"
        return self

    def _take_time(self, task: Job) -> None:
        before, self.steps = self.steps, task.step_count
        if before is not None and task.step_count > before:
            self.clock.pass_time(120)


def script(*uses: ToolUse) -> list[Any]:
    return [answer(use, usage=Usage(input_tokens=1_000), ids=f"c{number}") for number, use in enumerate(uses)]


async def stands(program: Program) -> Job:
    """Return the task once it waits or has ended."""
    async with asyncio.timeout(120):
        while program.runner.is_live("kept") and program.task.pending_question is None:
            await asyncio.sleep(0)
    return program.task


async def leave(program: Program) -> None:
    """The program ends while its task waits."""
    assert program.runner.suspend("kept")
    await program.runner.wait("kept")


@pytest.mark.parametrize("limit", MOST)
@pytest.mark.parametrize("restarts", [False, True], ids=["one program", "a program for each answer"])
async def test_answers_go_on_with_the_budget_as_it_was(store: Store, limit: str, restarts: bool) -> None:
    options, notice = MOST[limit]
    answers = script(ASK, READ, ASK, READ, ASK, COMPLETE)
    program = Program(store, answers, JobOptions(request_pause=0, **options)).begin()
    await program.runner.start(program.chat, "Do it.")
    while (await stands(program)).is_waiting:
        if restarts:
            await leave(program)
            answers = answers[len(program.model.requests) :]
            program = Program(store, answers, program.options).begin()
        await program.runner.respond(program.chat, "the first")
    assert (program.task.status, program.task.step_count) == ("limit", 4)
    last = program.chat.turns[-1]
    assert isinstance(last, NoticeTurn) and last.content == notice
    assert program.task.usage.input_tokens == (3_000 if limit == "minutes" else 4_000), "none is lost"


@pytest.mark.parametrize("limit", MOST)
async def test_each_continue_gives_the_whole_budget_anew(store: Store, limit: str) -> None:
    options, _ = MOST[limit]
    program = Program(store, script(*[READ] * 20), JobOptions(request_pause=0, **options)).begin()
    assert (await program.run()).status == "limit"
    for steps in (8, 12):
        await program.runner.resume(program.chat)
        await program.runner.wait("kept")
        assert (program.task.status, program.task.step_count) == ("limit", steps)
    assert program.task.worked_seconds == pytest.approx(12 * 120)


async def test_an_answer_to_the_last_permitted_step_makes_what_was_left_and_no_further_request(
    store: Store,
) -> None:
    options = JobOptions(request_pause=0, max_steps=1)
    program = Program(store, [answer(ASK, EDIT)], options).begin()
    await program.runner.start(program.chat, "Do it.")
    await program.until("waiting_user")
    await leave(program)
    after = Program(store, [], options).begin()
    await after.runner.respond(after.chat, "the first")
    await after.runner.wait("kept")
    assert after.task.status == "limit" and after.model.requests == [] and "Sometimes." in after.prompt
    results = [turn for turn in after.chat.turns if isinstance(turn, ToolResultTurn)]
    assert [turn.is_error for turn in results] == [False, False]


def test_what_counts_is_kept_and_nonsense_makes_no_task() -> None:
    task = Job(persona_id="kept", session_id="s", original_prompt="x", used=Used(steps=3, dollars=0.5))
    assert Job.model_validate(task.to_record()) == task
    for bad in ({"steps": -1}, {"tokens": "9"}, {"dollars": float("inf")}, {"seconds": float("nan")}):
        with pytest.raises(ValueError):
            Job.model_validate({**task.to_record(), "used": bad})
