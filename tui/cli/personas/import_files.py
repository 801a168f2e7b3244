"""`persona import`: files of other programs become personas, as one unit of undo."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from personas.errors import PersonaError, StorageError
from personas.files.slug import command
from tui.cli.exit_codes import FAILED
from tui.cli.group import Invocation
from tui.cli.options import json_option
from tui.cli.printing import print_json, print_text
from tui.cli.stderr import print_error, print_note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from personas.importing import ImportedFile, ParsedImport

_UNKNOWN = "No format knows it; --as says which it is, see `persona formats`."
_UNKNOWN_TOML = (
    f"{_UNKNOWN} A persona file of this program needs no import: put it into the folder personas of the home."
)
MOST_NAMED = 20
"""Personas of one file that are listed by name; of more imported ones the report says only what a person should know."""


@click.command("import")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--as", "form", metavar="FORMAT", help="The files' format, see `persona formats`; else it is recognised."
)
@click.option("--name", metavar="N", help="The persona's name, instead of the one in the file.")
@click.option("--into", metavar="ID", help="Change this persona instead of making a new one.")
@click.option("--link", is_flag=True, help="Keep the prompt in the file, a Markdown in the home.")
@click.option("--dry-run", is_flag=True, help="Print the report; write nothing.")
@click.option("--all", "wants_all", is_flag=True, help="Of a file with several personas, import all.")
@json_option("Print {imported: [{source, format, id, report}], failed: [{source, reason}]}.")
@click.pass_obj
def import_command(
    invocation: Invocation,
    paths: tuple[str, ...],
    form: str | None,
    name: str | None,
    into: str | None,
    link: bool,
    dry_run: bool,
    wants_all: bool,
    as_json: bool,
) -> None:
    """Import personas from files of other programs.

    PATH is a file, or a folder whose files are looked through. The report says where each field went, and what was left
    out and why. One undo, of any of the personas, undoes the whole import. Exit code 1: a file could not be imported.

    \b
    persona import .claude/agents
    persona import card.png --dry-run
    persona import AGENTS.md --as markdown --into mentor
    persona import --link .claude/agents/billing.md
    """
    from personas.importing import Importer
    from tui.drafts.unsaved_text import documents_with_drafts

    store = invocation.store
    if link and into is not None:
        raise click.UsageError("--link makes a new persona; it does not go with --into")
    if into is not None:
        store.text(into)  # an unknown one is told before anything is done
    importer = Importer(store, reserved=documents_with_drafts(store.home), is_trial=dry_run)
    found, failed = _read(paths, form, "markdown" if link else None)
    if (into is not None or name is not None) and len(found) > 1:
        raise click.UsageError("--into and --name take one file")
    listed = [one for one in found if len(one.personas) > 1 and not wants_all and into is None]
    done: list[ImportedFile] = []
    for one in found:
        if one in listed:
            continue
        try:
            if link:
                done.append(importer.link(one, name=name))
            elif into is not None:
                done.append(importer.change(one, into, name=name))
            else:
                done += importer.add(one, name=name)
        except PersonaError as error:
            failed.append((one.source, str(error)))
    if as_json:
        record: dict[str, Any] = {
            "imported": [one.to_record() for one in done],
            "failed": [{"source": source, "reason": reason} for source, reason in failed],
        }
        if listed:
            record["listed"] = [
                {"source": one.source, "names": [each.name for each in one.personas]} for one in listed
            ]
        print_json(record, indent=2)
    else:
        _print(done, listed, dry_run)
    for source, reason in failed:
        print_error(f"{source}: {reason}")
    if failed:
        raise click.exceptions.Exit(FAILED)


def _read(
    paths: Sequence[str], form: str | None, otherwise: str | None
) -> tuple[list[ParsedImport], list[tuple[str, str]]]:
    """Return what the files hold, and which cannot be read, each with the reason.

    Args:
        paths: files, and folders with files.
        form: the format of all; None: the one that knows each.
        otherwise: the format of a file that none knows; None: it is not read.
    """
    from personas.importing import files_in, read_path

    found: list[ParsedImport] = []
    failed: list[tuple[str, str]] = []
    for path in map(Path, paths):
        is_folder, before = path.is_dir(), len(found) + len(failed)
        for file in files_in(path, form) if is_folder else [path]:
            try:
                if is_folder and not Path(os.path.realpath(file)).is_relative_to(os.path.realpath(path)):
                    raise StorageError("It is a link out of the folder; name its target to import it.")
                one = read_path(file, form)
                if one is None and otherwise is not None and not is_folder:
                    one = read_path(file, otherwise)
            except PersonaError as error:
                failed.append((str(file), str(error)))
                continue
            if one is not None:
                found.append(one)
            elif not is_folder:
                failed.append((str(file), _UNKNOWN_TOML if file.suffix == ".toml" else _UNKNOWN))
        if is_folder and len(found) + len(failed) == before:
            failed.append((str(path), "No file in it is of a format that is known."))
    return found, failed


def _print(done: Sequence[ImportedFile], listed: Sequence[ParsedImport], dry_run: bool) -> None:
    from personas.formats.types import report_lines

    for one in done:
        print_text(f"{one.id}  from {one.source} ({one.format})")
        for line in report_lines(
            one.report if len(done) <= MOST_NAMED else [note for note in one.report if note.why]
        ):
            print_text(f"  {line}")
    for found in listed:
        print_text(
            f"{found.source} ({found.format.name}) holds {len(found.personas)} personas; --all imports them:"
        )
        for each in found.personas[:MOST_NAMED]:
            print_text(f"  {each.name}")
        if len(found.personas) > MOST_NAMED:
            print_text(f"  and {len(found.personas) - MOST_NAMED} more")
        alike = [name for name, count in Counter(one.name for one in found.personas).items() if count > 1]
        if alike:
            more = f" and {len(alike) - MOST_NAMED} more" if len(alike) > MOST_NAMED else ""
            print_text(f"  More than one has the name {', '.join(alike[:MOST_NAMED])}{more}.")
    if done and dry_run:
        print_note("Nothing was written.")
    elif done:
        what = "Imported 1 persona" if len(done) == 1 else f"Imported {len(done)} personas"
        print_note(f"{what}; {command('undo', done[0].id)} undoes it.")
