"""The commands on personas: list, new, show, rm."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from personas.errors import InvalidValue
from personas.external_writes import know
from personas.fields import FileError
from personas.files.slug import command
from personas.files.text_file import SIZE_LIMIT, encode
from personas.persona import Persona
from personas.versions.authorship import USER
from tui.cli.group import Invocation
from tui.cli.library.compile import assembled, override_option, say_missing
from tui.cli.options import RESULT, document_argument, json_option, persona_argument
from tui.cli.printing import columns, print_as_it_is, print_json, print_text

if TYPE_CHECKING:
    from agent.jobs.job import Job
    from personas.store import Store


@click.command("list")
@json_option("Print a JSON array.")
@click.pass_obj
def list_personas(invocation: Invocation, as_json: bool) -> None:
    """List the personas, broken files too.

    Unfinished tasks are marked: ? waits for your answer, ! interrupted or stopped at a limit, * at work.

    \b
    persona list
    persona list --json | jq '.[].id'
    persona list --json | jq '.[] | select(.task.question).id'
    """
    from tui.cli.agent.tasks import open_tasks

    personas = noted(invocation.store, invocation.store.list())
    tasks = open_tasks(invocation.store)
    if as_json:
        print_json([_listed(persona, tasks.get(persona.id)) for persona in personas], indent=2)
        return
    rows = [_row(persona) for persona in personas]
    if tasks:
        rows = [_with_task(row, tasks.get(row[0])) for row in rows]
    for line in columns(rows):
        print_text(line)
    if not personas:
        print_text("No personas yet. Make one with: persona new NAME")


@click.command()
@click.argument("name")
@click.option("--from", "from_id", metavar="ID", help="Copy this persona, comments and all.")
@click.option(
    "--prompt", metavar="TEXT|-", help="The system prompt; `-` reads all of stdin. Line ends become LF."
)
@json_option(RESULT)
@click.pass_obj
def new(invocation: Invocation, name: str, from_id: str | None, prompt: str | None, as_json: bool) -> None:
    """Make a persona and print its id.

    \b
    persona new "Night Owl" --prompt "You answer only at night."
    persona new "Optimist, but terse" --from optimist
    """
    prompt = read_stdin() if prompt == "-" else with_lf(prompt or "")
    from tui.drafts.unsaved_text import documents_with_drafts

    store = invocation.store
    reserved = documents_with_drafts(store.home)
    persona = store.create(name, system_prompt=prompt, from_id=from_id, reserved=reserved)
    if as_json:
        print_json(
            {
                "id": persona.id,
                "revision": persona.revision,
                "version": 0,
                "summary": f"created {persona.name!r}",
            }
        )
    else:
        print_text(persona.id)


@click.command()
@persona_argument
@click.option("--prompt", is_flag=True, help="Print only the effective prompt, exactly as it is.")
@override_option
@json_option("Print the persona as JSON.")
@click.pass_obj
def show(
    invocation: Invocation, persona_id: str, prompt: bool, overrides: tuple[str, ...], as_json: bool
) -> None:
    """Show one persona.

    With --prompt its effective prompt alone, for scripts: no line end is added.

    \b
    persona show optimist
    persona show optimist --json | jq -r .system_prompt
    persona show optimist --prompt > prompt.txt
    """
    if prompt:
        if as_json:
            raise click.UsageError("--prompt prints a text; `persona compile ID --json` prints JSON")
        _, persona, done = assembled(invocation, persona_id, {"overrides": overrides})
        from personas.persona import broken_file

        if persona.note is not None:  # marks of a merge are no words for a model
            raise broken_file(persona.id, persona.note, is_readable=True)
        print_as_it_is(encode(done.text))
        say_missing(done)
        return
    if overrides:
        raise click.UsageError("--override belongs to --prompt")
    persona = invocation.store.get(persona_id)
    know(invocation.store, persona_id)
    if persona.system_prompt_file:
        others = [one for one in invocation.store.list() if one.id != persona_id]
        persona = noted(invocation.store, [persona, *others])[0]
    if as_json:
        print_json(persona.to_record(), indent=2)
        return
    print_text(f"{persona.name}  ({persona.id})")
    if persona.error is not None:
        mend = way_back(invocation.store, persona) or command("edit", persona.id)
        print_text(
            f"broken: {describe(persona.error)}" + (f"; fix it with: {mend}" if persona.revision else "")
        )
    if persona.note is not None:
        print_text(f"note: {describe(persona.note)}")
    for label, text in (
        ("description", persona.description),
        ("tags", ", ".join(persona.tags)),
        ("summary", persona.summary),
        ("prompt file", persona.system_prompt_file),
    ):
        if text:
            print_text(f"{label}: {text}")
    print_text(f"\n{persona.system_prompt}")
    if persona.test_inputs:
        print_text("test inputs:")
    for test_input in persona.test_inputs:
        print_text(f"  {test_input.id}: {test_input.content}".rstrip().replace("\n", "\n    "))


@click.command("rm")
@document_argument
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option("Print {id, version}.")
@click.pass_obj
def remove(invocation: Invocation, persona_id: str, yes: bool, as_json: bool) -> None:
    """Delete a persona. Its versions stay; `persona restore` brings it back.

    If the file is a link out of the home, only the link is deleted.

    \b
    persona rm optimist
    persona rm optimist --yes
    """
    kept = ""
    if not invocation.store.path(persona_id).is_symlink():
        kept = invocation.store.get(persona_id).system_prompt_file  # refuses an unknown one before it asks
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("there is no terminal to ask on; add --yes")
        click.confirm(f"Delete {persona_id!r}?", abort=True, err=True)
    version = invocation.store.delete(persona_id, by=USER)
    if as_json:
        print_json({"id": persona_id, "version": version})
    elif version is None:
        print_text(f"deleted the link {persona_id}; nothing else was deleted")
    else:
        stays = f"; {kept}, which has its prompt, stays" if kept else ""
        back = f"bring it back with: {command('restore', persona_id)} {version}"
        print_text(f"deleted {persona_id}{stays}; {back}")


def noted(store: Store, personas: Iterable[Persona]) -> list[Persona]:
    """Return the personas, each whose prompt is in the file of another one too with a note that says so."""
    found = list(personas)
    by_file: dict[str, list[int]] = {}
    for at, one in enumerate(found):
        if name := one.system_prompt_file:
            by_file.setdefault(os.path.realpath(store.home.root / name), []).append(at)
    for twins in by_file.values():
        ids = [found[at].id for at in twins]
        for at in twins if len(twins) > 1 else ():
            one = found[at]
            shared = (
                f"{one.system_prompt_file} is the prompt's file of {', '.join(sorted({*ids} - {one.id}))} too"
            )
            found[at] = replace(one, note=one.note or FileError(message=shared))
    return found


def way_back(store: Store, persona: Persona) -> str:
    """Return the command that brings back the file of a persona's prompt; empty where that is not what is wrong."""
    if not persona.lacks_prompt_file:
        return ""
    last = store.file(persona.id).last_with(store.home.root / persona.system_prompt_file)
    return "" if last is None else f"{command('restore', persona.id)} {last[0]}"


def describe(error: FileError) -> str:
    """Return a file's error with its position, as one phrase."""
    where = f", line {error.line}, column {error.column}" if error.line is not None else ""
    return error.message + where


def read_stdin() -> str:
    """Return all of stdin as text, its last line end too; line ends become LF.

    Raises:
        InvalidValue: it is not UTF-8, or larger than any persona may be.
    """
    content = sys.stdin.buffer.read(SIZE_LIMIT + 1)
    if len(content) > SIZE_LIMIT:
        raise InvalidValue(f"stdin has more than {SIZE_LIMIT // (1024 * 1024)} MB, the most that is allowed")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidValue("stdin is not UTF-8 text") from None
    return with_lf(text)


def with_lf(text: str) -> str:
    """Return a text with each of its line ends as LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _listed(persona: Persona, task: Job | None) -> dict[str, object]:
    from tui.cli.agent.tasks import task_field

    return {
        "id": persona.id,
        "name": persona.name,
        "description": persona.description,
        "tags": list(persona.tags),
        "test_inputs": len(persona.test_inputs),
        "error": persona.error._asdict() if persona.error else None,
        **task_field(task),
    }


def _row(persona: Persona) -> tuple[str, ...]:
    said = persona.description
    if persona.error is not None:
        said = f"broken: {describe(persona.error)}"
    elif persona.note is not None:
        said = f"note: {describe(persona.note)}"
    return persona.id, persona.name, said


def _with_task(row: tuple[str, ...], task: Job | None) -> tuple[str, ...]:
    from tui.cli.agent.tasks import task_word

    return *row[:2], task_word(task) if task is not None else "", *row[2:]
