"""Runs of actions in this program: beside the conversations, as `persona action run` does it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from agent.actions.run import Act, RunContext, run_action, unattended
from agent.core.turns import new_id
from personas.actions.states import ActionState
from tui.settings.model_factory import close_model, run_context
from tui.terminal.sanitise import one_line

if TYPE_CHECKING:
    from agent.actions.run_log import ActionRun
    from agent.chat.chat import Chat
    from agent.core.model import Model
    from agent.jobs.agent_jobs import AgentJobs
    from agent.jobs.job import Job
    from personas.actions.document import Action
    from personas.store import Store
    from tui.app.host import Host


class ActionRunner:
    """Starts and stops runs.

    Args:
        host: the main screen.
        store: the home.
        changed: called when a run began or ended.
    """

    def __init__(self, host: Host, store: Store, changed: Callable[[], object]) -> None:
        self._host, self._store, self._changed = host, store, changed
        self._running: dict[
            str, asyncio.Task[None]
        ] = {}  # by the action's id, in the order in which they began

    @property
    def running(self) -> list[str]:
        """The ids of the actions that are at work here, the one begun last as the last one."""
        return list(self._running)

    def start(self, action: Action, *, run: ActionRun | None = None, answer: str = "") -> None:
        """Run an action, or go on with a run of it that waits, with the person's answer."""
        if action.id in self._running:
            self._host.show_message(f"{one_line(action.title, 60)} is already running.")
            return
        task = self._host.start(self._run(action, run, answer))
        self._running[action.id] = task
        task.add_done_callback(lambda _: self._ended(action.id))
        self._changed()

    def stop_last(self) -> None:
        """Stop the run that was begun last; what it stored stays."""
        if self._running:
            self._running[self.running[-1]].cancel()

    async def close(self) -> None:
        """Stop all runs, and wait until they have."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _ended(self, action_id: str) -> None:
        del self._running[action_id]
        if self._host.program.is_running:
            self._changed()

    async def _run(self, action: Action, run: ActionRun | None, answer: str) -> None:
        done = await self._run_to_end(action, run, answer)
        why = f": {done.why}" if done.why else ""
        failed = done.state in (ActionState.FAILED, ActionState.INTERRUPTED)
        self._host.show_message(one_line(f"{action.title}: {done.state}{why}", 300), error=failed)

    async def _run_to_end(self, action: Action, run: ActionRun | None, answer: str) -> ActionRun:
        program, models = self._host.program, list["Model"]()

        def make_model() -> Model:
            models.append(program.new_model())
            return models[-1]

        async def follow(jobs: AgentJobs, chat: Chat, act: Act) -> None:
            async def reply(jobs: AgentJobs, chat: Chat) -> Job:
                return await jobs.respond(chat, answer)

            await unattended(jobs, chat, reply if answer else act)

        def prepare() -> RunContext:
            evaluator = program.evaluator(self._store, lambda _event: None)
            context = run_context(self._store, program.settings)
            return replace(context, make_model=make_model, evaluator=evaluator)

        context = await asyncio.to_thread(prepare)
        try:
            return await run_action(
                context,
                action,
                run_id=run.id if run is not None else new_id("run"),
                follow=follow,
                on_wait=self._host.show_message,
            )
        finally:
            await context.evaluator.close()
            for model in models:
                await close_model(model)
