"""`persona compare`: two versions, models or personas on the same test inputs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui.cli.group import Invocation
from tui.cli.options import dry_option, jobs_option, persona_argument, samples_option, yes_option
from tui.cli.outputs.running import NO_MODEL, OutputRuns, reported_errors, say_estimate, until_judged
from tui.cli.outputs.stored import MARKS
from tui.cli.printing import columns, print_diff, print_json, print_text

if TYPE_CHECKING:
    from agent.outputs.comparison import Comparison
    from agent.outputs.variant import Variant
    from personas.persona import Persona


@click.command()
@persona_argument
@click.argument("a", metavar="[A]", required=False)
@click.argument("b", metavar="[B]", required=False)
@click.option("--model", "models", metavar="MODEL", multiple=True, help="Given twice: compare these models.")
@click.option("--with", "other_id", metavar="OTHER-ID", help="Compare with this persona.")
@samples_option
@jobs_option
@click.option(
    "--md", type=click.Path(dir_okay=False, path_type=Path), help="Write Markdown, with the differences."
)
@yes_option
@dry_option
@click.option("--json", "as_json", is_flag=True, help="Print {a, b, sentence, p, broke, fixed, inputs}.")
@click.pass_obj
def compare(
    invocation: Invocation,
    persona_id: str,
    a: str | None,
    b: str | None,
    models: tuple[str, ...],
    other_id: str | None,
    samples: int | None,
    jobs: int | None,
    md: Path | None,
    agreed: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Compare two versions of a persona on its test inputs.

    Missing outputs are run first. A and B are versions. Without A it is the last named one, or the one before the agent's
    last run, if need be an earlier one with another prompt; without B the text as it is now. Inputs, expectations and
    settings are those of now. Exit code 1: an expectation fails in B.

    \b
    persona compare optimist
    persona compare optimist 3 5
    persona compare optimist --model claude-sonnet-5-5 --model claude-haiku-5-5
    """
    from agent.outputs.cost import NOTHING
    from agent.outputs.report import exit_code
    from tui.cli.outputs.test import write_report
    from tui.cli.stderr import print_error

    if len(models) > 2 or (len(models) == 2 and (a or other_id)) or (other_id and a):
        raise click.UsageError("compare two versions, two models, or two personas")
    with reported_errors():
        runs = OutputRuns(invocation, models[0] if len(models) == 1 else None, jobs)
        runs.pick_up(persona_id, *([other_id] if other_id else []))
        sides, persona = _sides(
            runs, persona_id, a, b, models, other_id, fixed=runs.is_connected and not dry_run
        )
        judge_model = runs.evaluator.judge_name(persona, sides[1][1])  # one judge for both
        evaluations = [
            runs.evaluator.evaluation(persona, variant, samples=samples, judge_model=judge_model)
            for _, variant in sides
        ]
    expected = sum((one.estimate(runs.evaluator.endpoint) for one in evaluations), NOTHING)
    if dry_run:
        say_estimate(expected, as_json)
        return
    pace = runs.evaluator.pace()

    async def work() -> int:
        if runs.is_connected:
            runs.confirm(expected, agreed=agreed, as_json=as_json)
            for one in evaluations:
                await runs.evaluator.run(one, pace, runs.attend)
        from agent.outputs.comparison import compare_evaluations
        from agent.outputs.report_files import comparison_markdown

        reports = [one.report() for one in evaluations]
        found = compare_evaluations([name for name, _ in sides], evaluations, reports)
        if not runs.is_connected and any(one.could_not_run for report in reports for one in report.inputs):
            print_error(NO_MODEL)
        if md is not None:
            write_report(md, comparison_markdown(found))
        if as_json:
            print_json(found.to_record(), indent=2)
        else:
            _say_comparison(found)
        missing = exit_code(reports[:1]) == 4
        return 4 if missing else exit_code(reports[1:])

    raise click.exceptions.Exit(until_judged(runs, work()))


def _sides(
    runs: OutputRuns,
    persona_id: str,
    a: str | None,
    b: str | None,
    models: tuple[str, ...],
    other_id: str | None,
    *,
    fixed: bool,
) -> tuple[list[tuple[str, Variant]], Persona]:
    """Return both variants with what they are called, and the persona whose inputs are used."""
    from agent.outputs.comparison import version_variants
    from agent.outputs.variant import read_runnable

    persona = read_runnable(runs.store, persona_id)
    if len(models) == 2:
        return [
            (model, runs.evaluator.variant(persona, model=model, fixed=fixed)) for model in models
        ], persona
    if other_id is not None:
        other = read_runnable(runs.store, other_id)
        return [(one.id, runs.evaluator.variant(one, fixed=fixed)) for one in (persona, other)], persona
    before, after = version_variants(runs.evaluator, persona, a, b, fixed=fixed)
    now = "" if b is not None else "now, "
    return [(f"version {before.version}", before), (f"{now}version {after.version}", after)], persona


def comparison_rows(found: Comparison) -> list[tuple[str, ...]]:
    """Return a row an input: both verdicts, its id, and what there is to say on the second one."""
    return [
        (f"  {MARKS[before.verdict]} {MARKS[after.verdict]}", test_input.id, after.sentence)
        for test_input, before, after in found.rows()
    ]


def _say_comparison(found: Comparison) -> None:
    from agent.outputs.comparison import output_diff

    print_text(f"{found.a.name} and {found.b.name}")
    for line in columns(comparison_rows(found)):
        print_text(line)
    print_text(f"{found.finding.sentence}.")
    for test_input, before, after in found.rows():
        if diff := output_diff(before, after):
            print_text()
            print_text(f"── {test_input.id}")
            print_diff(diff, names=False)
