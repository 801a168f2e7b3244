"""The commands on conversations: history, clear."""

from __future__ import annotations

import click

from personas.files.slug import command
from tui.cli.group import Invocation
from tui.cli.options import json_option, persona_argument
from tui.cli.printing import print_json, print_text, summarise


@click.command()
@persona_argument
@json_option("Print {session_id, turns}, and the unfinished task.")
@click.pass_obj
def history(invocation: Invocation, persona_id: str, as_json: bool) -> None:
    """Show the current conversation about a persona.

    \b
    persona history optimist
    persona history optimist --json | jq '.turns[].type'
    """
    from agent.transcript.session_store import read_history
    from agent.transcript.turn_records import to_record
    from tui.cli.agent.tasks import open_task, task_field, task_line
    from tui.cli.agent.transcript import transcript
    from tui.cli.stderr import print_error

    session_id, turns, problems = read_history(invocation.store, persona_id, as_stored=as_json)
    for problem in summarise(problems):
        print_error(problem)
    task = open_task(invocation.store, persona_id)
    if as_json:
        records = [to_record(turn) for turn in turns]
        print_json({"session_id": session_id, "turns": records, **task_field(task)}, indent=2)
        return
    for line in transcript(turns):
        print_text(line)
    if task is not None:
        print_text(task_line(task))
    if not turns:
        print_text(f'No conversation yet. Begin one with: {command("chat", persona_id)} "…"')


@click.command()
@persona_argument
@json_option("Print {session_id}.")
@click.pass_obj
def clear(invocation: Invocation, persona_id: str, as_json: bool) -> None:
    """Begin a new conversation about a persona.

    Its id is printed. The old conversation is kept.

    \b
    persona clear optimist
    """
    from agent.jobs.recovery import leave_task
    from agent.transcript.session_store import start_session
    from tui.cli.stderr import print_error

    if left := leave_task(invocation.store, persona_id):
        print_error(left)
    session_id = start_session(invocation.store, persona_id)
    if as_json:
        print_json({"session_id": session_id})
    else:
        print_text(session_id)
