"""`persona reply`: answering a waiting task, or continuing a stopped one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from personas.errors import InvalidValue
from personas.files.slug import command
from tui.cli.agent.task_answers import answer_timeout, wait_option
from tui.cli.group import Invocation
from tui.cli.options import document_argument, json_option, model_option

if TYPE_CHECKING:
    from agent.chat.chat import Chat
    from agent.jobs.agent_jobs import AgentJobs
    from agent.jobs.job import Job
    from tui.cli.agent.stream import Printer


@click.command()
@document_argument
@click.argument("message", default="")
@json_option("Print one JSON object a line.")
@model_option
@click.option("--stop", "stop", is_flag=True, help="Give up the task; its changes stay.")
@wait_option
@click.pass_obj
def reply(
    invocation: Invocation,
    persona_id: str,
    message: str,
    as_json: bool,
    stop: bool,
    wait: float | None,
) -> None:
    """Answer the question of a task, or continue a task. ID is a persona's, or of a run in `persona action runs`.

    An approval is answered with once, task, always, or no and a reason. A task that was interrupted or stopped by a
    limit goes on with whatever you say to it. `-` as the message reads it from stdin. Further questions are answered as
    with `persona chat`.

    \b
    persona reply optimist "the second one"
    persona reply optimist "no, keep that test input"
    persona reply optimist continue
    persona reply optimist --stop
    """
    from agent.jobs.recovery import find_job, refuse_when_at_work
    from personas.action_store import get_action
    from tui.cli.actions.action_run import go_on, waiting_run
    from tui.cli.agent.chat_runner import converse, message_of, picked, run_printed

    run = waiting_run(invocation.store, persona_id)
    if stop == bool(message):
        raise click.UsageError("give either an answer or --stop")

    def begin(printer: Printer) -> int:
        said = message_of(message) if message else ""

        async def act(runner: AgentJobs, conversation: Chat) -> Job:
            if stop:
                return await runner.stop_found(conversation)
            task = await asyncio.to_thread(find_job, conversation.store, conversation.persona_id)
            if task is not None and task.can_continue:
                wants_only_that = said.strip().casefold() == "continue"
                return await runner.resume(conversation, "" if wants_only_that else said)
            refuse_when_at_work(conversation.store, task)
            if task is None or task.pending is None or not task.is_waiting:
                failed = task is not None and task.status == "error"
                why = f"the last one failed: {task.error_message} " if failed and task is not None else ""
                raise InvalidValue(
                    f"No task about {persona_id} waits; {why}begin one with {command('chat --task', persona_id)}"
                )
            answer, asked = picked(task.pending, said), task.pending.id
            return await runner.respond(conversation, answer, question_id=asked)

        waits = answer_timeout(wait, as_json)
        if run is not None:
            action = get_action(invocation.store, run.action_id)
            return go_on(invocation, action, run.id, printer, wait=waits, act=act)
        return converse(invocation, persona_id, printer, act, wait=waits)

    raise click.exceptions.Exit(run_printed(as_json, begin))
