"""`persona reply`: the answer to a task that waits, or the word that lets one go on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from personas.errors import InvalidValue
from tui.cli.group import Invocation

if TYPE_CHECKING:
    from agent.chat import Chat
    from agent.task import AgentTask
    from agent.task_runner import AgentTaskRunner
    from tui.cli.stream import Printer


@click.command()
@click.argument("persona_id", metavar="ID")
@click.argument("message", default="")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@click.option("--model", "model", metavar="MODEL", help="The agent's model, or `offline`.")
@click.option("--stop", "stop", is_flag=True, help="Give the task up; what was done stays.")
@click.pass_obj
def reply(
    invocation: Invocation, persona_id: str, message: str, as_json: bool, model: str | None, stop: bool
) -> None:
    """Answer the question of a task about a persona; the task then goes on.

    An approval is answered with once, task, always, or no and a reason. A task that was interrupted or stopped by a
    limit goes on with whatever you say to it. `-` as the message reads it from stdin.

    \b
    persona reply optimist "the second one"
    persona reply optimist "no, keep that test input"
    persona reply optimist continue
    persona reply optimist --stop
    """
    from agent.task_found import read_task
    from tui.cli.conversing import converse, message_of, picked, run_printed

    if model:
        invocation.model_flag = model
    if stop == bool(message):
        raise click.UsageError("give either an answer or --stop")

    def begin(printer: Printer) -> int:
        said = message_of(message) if message else ""

        async def act(runner: AgentTaskRunner, conversation: Chat) -> AgentTask:
            if stop:
                return await runner.stop_found(conversation)
            task = await asyncio.to_thread(read_task, conversation.store, persona_id)
            if task is not None and task.can_continue:
                wants_only_that = said.strip().casefold() == "continue"
                return await runner.resume(conversation, "" if wants_only_that else said)
            if task is None or task.pending is None or not task.is_waiting:
                raise InvalidValue(
                    f"No task about {persona_id} waits; begin one with persona chat {persona_id} --task"
                )
            return await runner.respond(conversation, picked(task.pending, said))

        return converse(invocation, persona_id, printer, act)

    raise click.exceptions.Exit(run_printed(as_json, begin))
