"""`persona inputs`: the test inputs of a persona, listed, added, deleted, moved to another one, read and written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from personas.errors import BrokenFile, InvalidValue, StorageError
from personas.files.text_file import SIZE_LIMIT, decode, expanded, storage_error
from tui.cli.group import Invocation
from tui.cli.options import json_option, persona_argument
from tui.cli.personas.manage import describe, read_stdin, with_lf
from tui.cli.printing import columns, print_diff, print_json, print_text
from tui.cli.stderr import print_note

if TYPE_CHECKING:
    from personas.input_sets import InputsChange
    from personas.persona import TestInput

inputs_argument = click.argument("input_ids", metavar="INPUT...", nargs=-1, required=True)
to_option = click.option("--to", "other", metavar="OTHER", required=True, help="The persona that gets them.")
dry_option = click.option("--dry-run", is_flag=True, help="Print the diffs; write nothing.")
result_option = json_option("Print {id, revision, version, summary, inputs}.")


class _OfOnePersona(click.Group):
    """Lets options stand behind the id too: `persona inputs ID --json`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if len(args) > 1 and not args[0].startswith("-") and args[1].startswith("-"):
            args = [*args[1:], args[0]]
        return super().parse_args(ctx, args)


@click.group(cls=_OfOnePersona, invoke_without_command=True)
@persona_argument
@json_option("Print them as they are in the file, as a JSON array.")
@click.pass_context
def inputs(ctx: click.Context, persona_id: str, as_json: bool) -> None:
    """List the test inputs of a persona, or change them.

    \b
    persona inputs mentor
    persona inputs mentor add "What is 2+2?"
    persona inputs mentor mv sum refund --to skeptic
    persona inputs mentor import questions.csv --column question
    """
    ctx.meta["persona_id"] = persona_id
    if ctx.invoked_subcommand is not None:
        if as_json:
            raise click.UsageError("--json belongs behind the word for what is to be done", ctx)
        return
    invocation: Invocation = ctx.obj
    persona = invocation.store.get(persona_id)
    if as_json:
        from personas.input_sets import tables_of

        print_json(tables_of(invocation.store, persona_id), indent=2)
        return
    if persona.error is not None:
        print_text(f"broken: {describe(persona.error)}")
    for line in columns([(one.id, _notes(one), one.content) for one in persona.test_inputs]):
        print_text(line)
    if not persona.test_inputs and persona.error is None:
        print_note("It has no test inputs.")


@inputs.command("add")
@click.argument("text", metavar="TEXT|-")
@click.option("--id", "input_id", metavar="INPUT", help="Its id; else it is made of the first words.")
@result_option
@click.pass_context
def add_input(ctx: click.Context, text: str, input_id: str | None, as_json: bool) -> None:
    """Add a test input at the end; `-` reads the text from stdin."""
    from personas.changes import AddTestInput

    invocation, persona_id = _of(ctx)
    content = read_stdin() if text == "-" else with_lf(text)
    change = AddTestInput(content, id=input_id)
    from personas.versions.authorship import USER

    persona = invocation.store.change(persona_id, change, revision=None, by=USER, own_unit=True)
    made = persona.test_inputs[-1].id
    _report(invocation, persona_id, f"added {made}", [made], as_json)


@inputs.command("rm")
@inputs_argument
@dry_option
@result_option
@click.pass_context
def remove_inputs(ctx: click.Context, input_ids: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Delete test inputs; one undo brings all of them back."""
    from personas.input_sets import delete

    invocation, persona_id = _of(ctx)
    change = delete(invocation.store, persona_id, input_ids)
    _do(invocation, [change], f"deleted {', '.join(change.ids)}", dry_run, as_json)


@inputs.command("mv")
@inputs_argument
@to_option
@dry_option
@result_option
@click.pass_context
def move_inputs(
    ctx: click.Context, input_ids: tuple[str, ...], other: str, dry_run: bool, as_json: bool
) -> None:
    """Move test inputs to another persona.

    Their expectations move with them. One undo, of either persona, reverts it. An id that is taken there gets a number.
    Comments that touch a test input move too, except where a file writes test inputs in braces. Outputs stay behind.
    """
    _move(ctx, input_ids, other, dry_run, as_json, is_copy=False)


@inputs.command("cp")
@inputs_argument
@to_option
@dry_option
@result_option
@click.pass_context
def copy_inputs(
    ctx: click.Context, input_ids: tuple[str, ...], other: str, dry_run: bool, as_json: bool
) -> None:
    """Copy test inputs to another persona, as `mv` moves them."""
    _move(ctx, input_ids, other, dry_run, as_json, is_copy=True)


@inputs.command("import")
@click.argument("file", metavar="FILE|-")
@click.option("--column", metavar="NAME", default="", help="Of CSV or JSON Lines: where the texts are.")
@dry_option
@result_option
@click.pass_context
def import_inputs(ctx: click.Context, file: str, column: str, dry_run: bool, as_json: bool) -> None:
    """Add the test inputs of a file: one a line (.txt, .md), CSV, or JSON Lines.

    Of CSV the column `content`, `input`, `prompt`, `question`, `message`, `text` or `query` is taken, and `id`; of JSON
    Lines `messages` too, which is a conversation, and all that `export` writes. What is there already is not added again.
    """
    from personas.input_records import read_inputs
    from personas.input_sets import add

    invocation, persona_id = _of(ctx)
    invocation.store.text(persona_id)  # an unknown one is told first
    if file == "-":
        read = read_inputs(read_stdin(), column=column)
    else:
        path = expanded(file)
        content = _content(path)
        name = file if path.is_file() else ""  # a pipe has no name that says what it is
        try:
            read = read_inputs(with_lf(decode(content).text), name=name, column=column)
        except (BrokenFile, InvalidValue) as error:
            raise InvalidValue(f"{file}: {error}") from None
    change = add(invocation.store, persona_id, read.tables)
    for note in read.notes:
        print_note(note)
    if change.there:
        print_note(f"{change.there} of them {'are' if change.there > 1 else 'is'} there already.")
    _do(invocation, [change], f"added {', '.join(change.ids) or 'nothing'}", dry_run, as_json)


@inputs.command("export")
@click.argument("file", metavar="FILE|-")
@click.pass_context
def export_inputs(ctx: click.Context, file: str) -> None:
    """Write them as JSON Lines, which `import` reads.

    An existing file is not overwritten. `-` is stdout.
    """
    from personas.input_records import write_inputs
    from personas.input_sets import tables_of

    invocation, persona_id = _of(ctx)
    found = tables_of(invocation.store, persona_id)
    text = write_inputs(found, ascii_only=file == "-")
    if file == "-":
        print_text(text, end="")
        return
    path = expanded(file)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as new:
            new.write(text)
    except FileExistsError:
        raise StorageError(f"There is already {path}; name another file.") from None
    except OSError as error:
        raise storage_error(error, "write", path) from None
    print_text(f"wrote {len(found)} to {path}")


def _of(ctx: click.Context) -> tuple[Invocation, str]:
    return ctx.obj, ctx.meta["persona_id"]


def _move(
    ctx: click.Context,
    input_ids: Sequence[str],
    other: str,
    dry_run: bool,
    as_json: bool,
    *,
    is_copy: bool,
) -> None:
    from personas.input_sets import move

    invocation, persona_id = _of(ctx)
    changes = move(invocation.store, persona_id, input_ids, other, is_copy=is_copy)
    named = ", ".join(
        old if old == new else f"{old} as {new}"
        for old, new in zip(dict.fromkeys(input_ids), changes[0].ids, strict=True)
    )
    _do(invocation, changes, f"{'copied' if is_copy else 'moved'} {named} to {other}", dry_run, as_json)


def _do(
    invocation: Invocation, changes: Sequence[InputsChange], summary: str, dry_run: bool, as_json: bool
) -> None:
    """Write the changes, or print what they would change; the answer is about the first persona."""
    from personas.input_sets import write

    if dry_run:
        for one in changes:
            print_diff(one.diff)
        return
    write(invocation.store, changes)
    _report(invocation, changes[0].persona_id, summary, changes[0].ids, as_json)


def _report(invocation: Invocation, key: str, summary: str, ids: Sequence[str], as_json: bool) -> None:
    from personas.library_store import LibraryStore

    if as_json:
        print_json({**LibraryStore(invocation.store).changed(key, summary), "inputs": list(ids)})
    else:
        print_text(summary)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise storage_error(error, "read", path) from None
    if len(content) > SIZE_LIMIT:
        raise InvalidValue(
            f"{path} is larger than {SIZE_LIMIT // (1024 * 1024)} MB, the most that is allowed."
        )
    return content


def _notes(test_input: TestInput) -> str:
    """Return what a test input has beside its text, in a few words."""
    from personas.input_sets import counted

    said = [
        f"{counted(len(test_input.messages), 'message')}" if test_input.messages else "",
        f"{counted(len(test_input.expect), 'expectation')}" if test_input.expect else "",
        f"{counted(test_input.samples, 'output')}" if test_input.samples else "",
        f"cannot be run: {describe(test_input.error)}" if test_input.error else "",
    ]
    return ", ".join(filter(None, said))
