"""`persona coverage`: what each piece of a prompt is good for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from tui.cli.exit_codes import COULD_NOT_RUN
from tui.cli.group import Invocation
from tui.cli.options import dry_option, jobs_option, yes_option
from tui.cli.outputs.running import (
    NO_MODEL,
    NotRun,
    OutputRuns,
    reported_errors,
    say_estimate,
    until_judged,
)
from tui.cli.printing import columns, print_json, print_text

if TYPE_CHECKING:
    from agent.outputs.coverage import Coverage


@click.command()
@click.argument("persona_id", metavar="ID")
@click.option(
    "--samples",
    type=click.IntRange(2, 1000),
    help="Outputs of each input, with and without each piece; 8 if not given. With fewer, little can be told from chance.",
)
@click.option(
    "--input", "inputs", metavar="INPUT", multiple=True, help="Only this test input; may be repeated."
)
@jobs_option
@click.option("--model", "model", metavar="MODEL", help="The model to run on.")
@yes_option
@dry_option
@click.option("--json", "as_json", is_flag=True, help="Print {pieces, noise, calls}.")
@click.pass_obj
def coverage(
    invocation: Invocation,
    persona_id: str,
    samples: int | None,
    inputs: tuple[str, ...],
    jobs: int | None,
    model: str | None,
    agreed: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Show which pieces of the prompt the tests cover.

    Each section, paragraph and bullet is removed in turn, and the test inputs are run without it. A run of the whole
    prompt shows first how much verdicts and answers differ by chance.

    \b
    persona coverage optimist --dry-run
    persona coverage optimist --input rain
    """
    from agent.outputs.coverage import CoverageRun
    from agent.outputs.variant import chosen_inputs, read_runnable
    from tui.cli.stderr import print_error

    with reported_errors():
        runs = OutputRuns(invocation, model, jobs)
        persona = read_runnable(runs.store, persona_id)
        chosen = chosen_inputs(persona, inputs)
        variant = runs.evaluator.variant(persona, fixed=runs.is_connected and not dry_run)
        covering = CoverageRun(runs.evaluator, persona, variant, chosen, samples=samples)
    expected = covering.estimate()
    if dry_run:
        say_estimate(expected, as_json)
        return

    async def work() -> int:
        missing = f"{', '.join(covering.missing)} cannot be tried: {NO_MODEL}" if covering.missing else ""
        if missing and not covering.evaluations[0].inputs:
            raise NotRun(missing)
        runs.confirm(expected, agreed=agreed, as_json=as_json)
        pace, reports = runs.evaluator.pace(), []
        for one in covering.evaluations:
            reports.append(await runs.evaluator.run(one, pace, runs.attend))
            if not as_json and sys.stderr.isatty():
                sys.stderr.write(f"{len(reports)} of {len(covering.evaluations)} prompts\n")
        found = covering.found(reports)
        if as_json:
            print_json(found.to_record(), indent=2)
        else:
            _say(found)
        if found.error:
            print_error(f"something could not be run: {found.error}")
        if missing:
            print_error(missing)
        return COULD_NOT_RUN if found.error or missing else 0

    raise click.exceptions.Exit(until_judged(runs, work()))


def _say(found: Coverage) -> None:
    from agent.outputs.statistics import show_rate
    from tui.outputs.findings import RESULTS, SIGNS

    if not found.pieces:
        print_text("The prompt has no pieces to remove.")
        return
    print_text("Unchanged prompt:")
    rows: list[tuple[str, ...]] = [
        (
            f"  {input_id}",
            f"passes {show_rate(one['passed'], one['samples'])}" if one["samples"] else "no expectations",
            f"answers differ by {one['difference']:.0%}",
        )
        for input_id, one in found.noise.items()
    ]
    for line in columns(rows):
        print_text(line)
    print_text("Without:")
    rows = [
        (
            f"  {SIGNS[one.finding]}",
            f"line {one.piece.line}",
            RESULTS[one.finding],
            ", ".join(one.inputs),
            one.piece.text,
        )
        for one in found.pieces
    ]
    for line in columns(rows):
        print_text(line)
