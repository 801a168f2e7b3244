"""A persona, a scripted model and a task runner on one bench, for tests of tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.chat.chat import Chat
from agent.core.turns import NoticeTurn, ToolResultTurn
from agent.jobs.job import AgentTask, Status
from agent.jobs.options import TaskOptions
from agent.jobs.runner import AgentTaskRunner
from agent.models.scripted import ScriptedModel, ToolUse
from personas.store import Store

PROMPT = "You are kept.\nAlways.\nTo the end.\n"
COMPLETE = ToolUse("task_complete", {"summary": "All done."})
EDIT = ToolUse("edit_system_prompt", {"old": "Always.", "new": "Sometimes."})
ASK = ToolUse("ask_user", {"question": "Which one?", "options": ["the first", "the second"]})


@dataclass
class Bench:
    """A persona's chat on a scripted model, a runner, and every state the task was seen in."""

    store: Store
    answers: Sequence[Any]
    options: TaskOptions = TaskOptions(request_pause=0)  # noqa: RUF009 - immutable
    seen: list[AgentTask] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.model = ScriptedModel(self.answers)
        self.chat = Chat(self.store, "kept", self.model)
        self.runner = AgentTaskRunner(self.options)
        self.runner.observe(self.seen.append)

    @property
    def task(self) -> AgentTask:
        found = self.runner.task("kept")
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

    async def until(self, status: Status) -> AgentTask:
        """Return the task once it is in this state."""
        async with asyncio.timeout(120):
            while self.runner.task("kept") is None or self.task.status != status:
                await asyncio.sleep(0)
        return self.task

    async def run(self, text: str = "Do it.", mode: Any = "task") -> AgentTask:
        """Run a task to its end."""
        await self.runner.start(self.chat, text, mode=mode)
        await self.runner.wait("kept")
        return self.task

    def notices(self) -> list[str]:
        return [turn.kind for turn in self.chat.turns if isinstance(turn, NoticeTurn)]

    def results(self) -> list[str]:
        return [turn.output for turn in self.chat.turns if isinstance(turn, ToolResultTurn)]
