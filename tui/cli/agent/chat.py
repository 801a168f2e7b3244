"""`persona chat`: one message to the agent, without a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tui.cli.agent.task_answers import answer_timeout, wait_option
from tui.cli.group import Invocation
from tui.cli.options import json_option, model_option, require_persona

if TYPE_CHECKING:
    from agent.chat.chat import Chat
    from agent.jobs.agent_jobs import AgentJobs
    from agent.jobs.job import AgentKind, Job
    from tui.cli.agent.stream import Printer


@click.command()
@click.argument("words", metavar="[ID] MESSAGE", nargs=-1, required=True)
@click.option("--to", "to", metavar="ID[,ID…]", help="Say it to the agents of these personas, a job each.")
@click.option("--all", "to_all", is_flag=True, help="Say it to the agents of all personas.")
@json_option("Print one JSON object a line.")
@model_option
@click.option("--new", "fresh", is_flag=True, help="Begin a new conversation.")
@click.option("--task", "as_task", is_flag=True, help="Let the agent work on until the task is done.")
@click.option("--review", is_flag=True, help="Propose the changes instead of writing them.")
@wait_option
@click.pass_obj
def chat(
    invocation: Invocation,
    words: tuple[str, ...],
    to: str | None,
    to_all: bool,
    as_json: bool,
    fresh: bool,
    as_task: bool,
    review: bool,
    wait: float | None,
) -> None:
    """Send a message to the agent of a persona.

    The answer is printed while it arrives.

    `-` as the message reads it from stdin. When a task asks something, the next line of stdin answers it. With
    nobody there to answer it ends with exit code 3 and waits for `persona reply`: at the end of stdin at once, on a
    terminal never, on a pipe after 2 seconds of silence, and with --json, where a program may think as long as it
    likes, when the pipe is closed. --wait says how long instead.

    With --review nothing is written: the changes are a proposal, which you look at with `persona diff`, and keep or
    refuse with `persona restore`.

    With --to or --all each persona's agent gets the message, some at a time. What was changed of each is printed when its
    job is over, and one undo, of any of them, undoes all of it. Where one fails the others go on, and the exit code is
    1. Questions wait for `persona reply`.

    \b
    persona chat optimist "make the second line warmer"
    persona chat optimist - --json < request.txt
    persona chat optimist "rewrite the test inputs, one by one" --task
    persona chat optimist "rewrite the test inputs" --task --wait 0
    persona chat optimist "make it shorter" --review
    persona chat --to optimist,skeptic "make it shorter" --review
    """
    from tui.cli.agent.chat_runner import converse, message_of, run_printed

    kind: AgentKind = "task" if as_task else "chat"
    is_for_many = to is not None or to_all
    if is_for_many and (to is not None) == to_all:
        raise click.UsageError("--to and --all exclude each other.")
    if is_for_many and wait is not None:
        raise click.UsageError("--wait takes one persona; the questions of several wait for `persona reply`.")
    if len(words) != 2 - is_for_many:
        wanted = "a message alone: --to names the personas" if is_for_many else "a persona's ID and a message"
        raise click.UsageError(f"This takes {wanted}.")
    message = words[-1]
    if is_for_many:
        from tui.cli.agent.broadcast import chat_with_many, ids_named

        said, ids = message_of(message), ids_named(invocation.store, to)
        if not ids:
            raise click.UsageError("There is no persona to say it to.")
        code = chat_with_many(invocation, ids, said, kind=kind, fresh=fresh, proposes=review, as_json=as_json)
        raise click.exceptions.Exit(code)
    persona_id = require_persona(words[0])

    def begin(printer: Printer) -> int:
        said = message_of(message)

        async def act(runner: AgentJobs, conversation: Chat) -> Job:
            return await runner.start(conversation, said, kind=kind, proposes=review)

        waits = answer_timeout(wait, as_json)
        return converse(
            invocation, persona_id, printer, act, wait=waits, fresh=fresh, between=not (fresh or as_task)
        )

    raise click.exceptions.Exit(run_printed(as_json, begin))
