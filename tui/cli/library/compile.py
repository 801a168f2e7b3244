"""What a persona and its links come to: `compile`, `manifest` and `explain`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from personas.errors import PersonaError
from personas.external_writes import know
from tui.cli.group import Invocation
from tui.cli.options import Command, json_option, persona_argument
from tui.cli.printing import columns, print_json, print_text
from tui.cli.stderr import print_error

if TYPE_CHECKING:
    from personas.compiled import Options
    from personas.library.assembly import Assembled
    from personas.persona import Persona

override_option = click.option(
    "--override", "overrides", metavar="TYPE=NAME", multiple=True, help="Replace the parts of a type."
)
_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    override_option,
    click.option("--types", metavar="T,T", help="Only parts of these types."),
    click.option("--limit", type=int, metavar="N", help="Only the N parts of highest priority."),
    click.option("--stage", metavar="S", help="The stage of the arc to assume."),
)
_budget = click.option(
    "--budget",
    type=int,
    metavar="N",
    help="At most about N tokens: parts of the lowest priority are left out.",
)
_summary = click.option("--summary", is_flag=True, help="The summary instead of the whole text.")


def _with_options(command: Command) -> Command:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command("compile")
@persona_argument
@_summary
@_with_options
@_budget
@json_option("Print {name, compiled_summary, compiled_detail, compiled_at, missing, left_out}.")
@click.pass_obj
def compile_command(
    invocation: Invocation, /, persona_id: str, summary: bool, as_json: bool, **given: Any
) -> None:
    """Print the effective prompt.

    It is the persona's own prompt, then its parts, traits, skills and guardrails. Without options the texts are stored too. Exit code 1: the budget is too small.

    \b
    persona compile mentor
    persona compile mentor --override tone=formal --budget 2000
    """
    from personas.compiled import compile_persona

    options, persona, done = assembled(invocation, persona_id, given, detail=not summary)
    compiled = compile_persona(invocation.store, persona, options)
    if as_json:
        if summary:
            compiled["left_out"] = [one.name for one in done.left_out]
        print_json(compiled)
    else:
        print_text(done.text, end="")
        for one in done.left_out:
            print_error(f"left out: {one.name}")
    say_missing(done, as_json)


@click.command()
@persona_argument
@_with_options
@json_option("Print the manifest as JSON.")
@click.pass_obj
def manifest(invocation: Invocation, /, persona_id: str, as_json: bool, **given: Any) -> None:
    """Show what a persona is made of.

    Parts, traits, skills and guardrails are named, without any content.

    \b
    persona manifest mentor --json
    """
    from personas.compiled import manifest as manifest_of

    options, persona, done = assembled(invocation, persona_id, given)
    found = manifest_of(invocation.store, persona, options)
    if as_json:
        print_json(found, indent=2)
        return
    print_text(f"{persona.id}  {persona.description}".rstrip())
    for line in columns(
        [
            (one.kind, one.name, one.document.type or one.document.trait_type, one.document.description)
            for one in done.pieces
            if one.document is not None
        ]
    ):
        print_text(line)
    if found["arc"]:
        print_text(f"arc {found['arc']['name']}, stage {found['arc']['stage'] or 'none'}")
    say_missing(done, as_json)


@click.command()
@persona_argument
@_summary
@_with_options
@_budget
@json_option("Print {text, lines, pieces, left_out, missing}.")
@click.pass_obj
def explain(invocation: Invocation, /, persona_id: str, summary: bool, as_json: bool, **given: Any) -> None:
    """Show where each line of the effective prompt comes from.

    That is a document, a key and a line in its text, and the level: override, stage or own.

    \b
    persona explain mentor
    persona explain mentor --budget 2000 --json | jq .pieces
    """
    from personas.compiled import explain as explanation_of

    options, persona, done = assembled(invocation, persona_id, given, detail=not summary)
    if as_json:
        print_json(explanation_of(invocation.store, persona, options, detail=not summary))
    else:
        rows: list[tuple[str, ...]] = []
        for line in done.lines:
            piece = line.piece
            where = f"{piece.kind}/{piece.name}" if piece else ""
            at = f"{line.field}:{line.source_line}" if line.source_line else line.field or ""
            rows.append((where, piece.level if piece else "", at, line.text))
        for text in columns(rows):
            print_text(text)
        print_text()
        for piece in done.pieces:
            instead = f", instead of {', '.join(piece.replaced)}" if piece.replaced else ""
            print_text(
                f"{piece.kind}/{piece.name}: about {done.tokens_of(piece)} tokens, {piece.level}{instead}"
            )
        for piece in done.left_out:
            print_error(f"left out: {piece.name}")
    say_missing(done, as_json)


def overrides_of(given: Sequence[str]) -> dict[str, str]:
    """Return what `--override` says, the names of parts by their type."""
    overrides = {}
    for one in given:
        kind, is_given, name = one.partition("=")
        if not is_given or not name:
            raise click.UsageError(f"--override takes TYPE=NAME, not {one!r}")
        overrides[kind] = name
    return overrides


def assembled(
    invocation: Invocation, persona_id: str, given: dict[str, Any], *, detail: bool = True
) -> tuple[Options, Persona, Assembled]:
    """Return the options of a command, the persona, and what both come to."""
    from personas.compiled import Options
    from personas.library.folders import Library
    from personas.persona import broken_file

    overrides = overrides_of(given.pop("overrides"))
    types = given.pop("types", None)
    options = Options(
        overrides=overrides,
        types=None if types is None else [one.strip() for one in types.split(",") if one.strip()],
        **given,
    )
    persona = invocation.store.get(persona_id)
    know(invocation.store, persona_id)
    if persona.error is not None:
        raise broken_file(persona.id, persona.error, is_readable=bool(persona.revision))
    return options, persona, options.assemble(persona, Library(invocation.store.home), detail=detail)


def say_missing(done: Assembled, as_json: bool = False) -> None:
    """Name on stderr what is missing; a budget that is too small is an error."""
    if not as_json:
        for one in done.missing:
            print_error(f"missing: {one.kind} {one.name}" + (f" ({one.reason})" if one.reason else ""))
        for warning in done.warnings:
            print_error(warning)
    if not done.fits:
        raise PersonaError("The text is larger than the budget even without any parts.")
