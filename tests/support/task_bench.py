"""A persona, a scripted model and a task runner on one bench, for tests of tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.chat.chat import Chat
from agent.core.turns import NoticeTurn, ToolResultTurn
from agent.jobs.agent_jobs import AgentJobs
from agent.jobs.approval_policy import ApprovalRules
from agent.jobs.job import Job, Status
from agent.jobs.job_log import JobLog, Mark, past
from agent.jobs.options import JobOptions
from agent.models.scripted import ScriptedModel, ToolUse
from agent.transcript.session_store import open_session
from personas.store import Store

PROMPT = "You are kept.\nAlways.\nTo the end.\n"
COMPLETE = ToolUse("task_complete", {"summary": "All done."})
EDIT = ToolUse("edit_system_prompt", {"old": "Always.", "new": "Sometimes."})
ASK = ToolUse("ask_user", {"question": "Which one?", "options": ["the first", "the second"]})


def session_file(store: Store, persona_id: str = "kept") -> Path:
    """The log of the persona's conversation, which has the records of its jobs, too."""
    return store.home.sessions / f"{store.session_of(persona_id)}.jsonl"


def log_event(store: Store, event: Any, task: Job, **frame: Any) -> None:
    """Write an event of a task as a program would that dies right after it."""
    session = open_session(store, task.persona_id, task.session_id)
    JobLog(lambda: session, None if event == "started" else task).write(event, task, **frame)
    session.close()


def logged(store: Store, persona_id: str = "kept") -> tuple[list[Job], list[Mark]]:
    """All jobs of the persona's conversation, and the marks of its tasks, as the log has them."""
    session = open_session(store, persona_id, store.session_of(persona_id) or "")
    session.earlier()
    return past(session.jobs, persona_id, session.id)


async def leave_waiting(store: Store, *answers: Any, prompt: str = "go") -> Job:
    """Leave a task of the persona `one` that waits for an answer, as a program does that is quit."""
    runner = AgentJobs(JobOptions(ApprovalRules("ask-all"), request_pause=0), is_trusted=lambda _home: True)
    await runner.start(Chat(store, "one", ScriptedModel(answers)), prompt)
    while (job := runner.job("one")) is None or job.pending_question is None:
        await asyncio.sleep(0.001)
    runner.suspend("one")
    await runner.wait("one")
    return job


@dataclass
class Bench:
    """A persona's chat on a scripted model, a runner, and every state the task was seen in."""

    store: Store
    answers: Sequence[Any]
    options: JobOptions = JobOptions(request_pause=0)  # noqa: RUF009 - immutable
    seen: list[Job] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.model = ScriptedModel(self.answers)
        self.chat = Chat(self.store, "kept", self.model)
        self.runner = AgentJobs(self.options)
        self.runner.observe(self.seen.append)

    @property
    def task(self) -> Job:
        found = self.runner.job("kept")
        assert found is not None
        return found

    @property
    def states(self) -> list[Status]:
        """The states in order, repetitions left out."""
        found: list[Status] = []
        for task in self.seen:
            if not found or found[-1] != task.status:
                found.append(task.status)
        return found

    @property
    def prompt(self) -> str:
        return self.store.get("kept").system_prompt

    async def until(self, status: Status) -> Job:
        """Return the task once it is in this state."""
        async with asyncio.timeout(120):
            while self.runner.job("kept") is None or self.task.status != status:
                await asyncio.sleep(0)
        return self.task

    async def run(self, text: str = "Do it.", kind: Any = "task") -> Job:
        """Run a task to its end."""
        await self.runner.start(self.chat, text, kind=kind)
        await self.runner.wait("kept")
        return self.task

    def notices(self) -> list[str]:
        return [turn.kind for turn in self.chat.turns if isinstance(turn, NoticeTurn)]

    def results(self) -> list[str]:
        return [turn.output for turn in self.chat.turns if isinstance(turn, ToolResultTurn)]
