"""`persona chat`: one message to the agent, without a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tui.cli.group import Invocation
from tui.cli.options import json_option, model_option, persona_argument
from tui.cli.task_answers import answer_timeout, wait_option

if TYPE_CHECKING:
    from agent.chat.chat import Chat
    from agent.jobs.agent_jobs import AgentJobs
    from agent.jobs.job import AgentKind, Job
    from tui.cli.stream import Printer


@click.command()
@persona_argument
@click.argument("message")
@json_option("Print one JSON object a line.")
@model_option
@click.option("--new", "fresh", is_flag=True, help="Begin a new conversation.")
@click.option("--task", "as_task", is_flag=True, help="Let the agent work on until the task is done.")
@click.option("--review", is_flag=True, help="Propose the changes instead of writing them.")
@wait_option
@click.pass_obj
def chat(
    invocation: Invocation,
    persona_id: str,
    message: str,
    as_json: bool,
    fresh: bool,
    as_task: bool,
    review: bool,
    wait: float | None,
) -> None:
    """Say something to the agent of a persona.

    Its answer is printed while it comes.

    `-` as the message reads it from stdin. When a task asks something, the next line of stdin answers it. With
    nobody there to answer it ends with exit code 3 and waits for `persona reply`: at the end of stdin at once, on a
    terminal never, on a pipe after 2 seconds of silence, and with --json, where a program may think as long as it
    likes, when the pipe is closed. --wait says how long instead.

    With --review nothing is written: the changes are a proposal, which you look at with `persona diff`, and keep or
    refuse with `persona restore`.

    \b
    persona chat optimist "make the second line warmer"
    persona chat optimist - --json < request.txt
    persona chat optimist "rewrite the test inputs, one by one" --task
    persona chat optimist "rewrite the test inputs" --task --wait 0
    persona chat optimist "make it shorter" --review
    """
    from tui.cli.chat_runner import converse, message_of, run_printed

    kind: AgentKind = "task" if as_task else "chat"

    def begin(printer: Printer) -> int:
        said = message_of(message)

        async def act(runner: AgentJobs, conversation: Chat) -> Job:
            return await runner.start(conversation, said, kind=kind, proposes=review)

        waits = answer_timeout(wait, as_json)
        return converse(
            invocation, persona_id, printer, act, wait=waits, fresh=fresh, between=not (fresh or as_task)
        )

    raise click.exceptions.Exit(run_printed(as_json, begin))
