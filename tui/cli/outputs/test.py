"""`persona test`: judges the outputs of test inputs, running what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from personas.errors import PersonaError
from tui.cli.group import Invocation
from tui.cli.options import batch_option, dry_option, jobs_option, samples_option, yes_option
from tui.cli.outputs.running import (
    NO_MODEL,
    OutputRuns,
    reported_errors,
    say_batch,
    say_estimate,
    until_judged,
)
from tui.cli.outputs.stored import MARKS
from tui.cli.printing import columns, print_json, print_text

if TYPE_CHECKING:
    from agent.outputs.baseline import BaselineDiff
    from agent.outputs.evaluation import Evaluation
    from agent.outputs.rate_limiter import RateLimiter
    from agent.outputs.report import PersonaReport
    from personas.persona import Persona


@click.command()
@click.argument("ids", metavar="[ID]…", nargs=-1)
@click.option("--all", "of_all", is_flag=True, help="All personas.")
@click.option("--tag", metavar="TAG", help="The personas with this tag.")
@click.option(
    "--changed",
    metavar="REF",
    help="Only those whose file, or what it links, differs from this git revision.",
)
@click.option(
    "--input", "inputs", metavar="INPUT", multiple=True, help="Only this test input; may be repeated."
)
@samples_option
@click.option("--min-pass", type=click.IntRange(1, 1000), help="Samples that must pass; beats the file.")
@jobs_option
@click.option("--model", "model", metavar="MODEL", help="The model to run on.")
@click.option("--each-stage", is_flag=True, help="Each stage of its arc in turn; the file stays on its own.")
@click.option("--fresh", is_flag=True, help="Run everything again.")
@click.option("--bless", is_flag=True, help="Write the baseline that later tests compare with.")
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), help="Write JUnit XML.")
@click.option("--md", type=click.Path(dir_okay=False, path_type=Path), help="Write Markdown.")
@batch_option
@yes_option
@dry_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def test(
    invocation: Invocation,
    ids: tuple[str, ...],
    of_all: bool,
    tag: str | None,
    changed: str | None,
    inputs: tuple[str, ...],
    samples: int | None,
    min_pass: int | None,
    jobs: int | None,
    model: str | None,
    each_stage: bool,
    fresh: bool,
    bless: bool,
    junit: Path | None,
    md: Path | None,
    batch: bool,
    agreed: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Judge the outputs of test inputs by what is expected.

    Inputs without a fresh output are run first. Exit code 0: all hold; 1: an expectation failed; 4: something could not be run. Without a model it judges what is
    stored.

    \b
    persona test optimist
    persona test optimist --input rain --fresh
    persona test --all --changed main --junit results.xml
    persona test optimist --samples 5 --min-pass 4 --bless
    persona test robot --each-stage
    """
    from dataclasses import replace

    from agent.outputs.batches import PRICE
    from agent.outputs.cost import NOTHING
    from agent.outputs.report import PersonaReport, exit_code
    from agent.outputs.variant import chosen_inputs
    from personas.compiled import Options, stages_of
    from personas.persona import broken_file
    from tui.cli.stderr import print_error, print_note

    if inputs and bless:
        raise click.UsageError("--bless needs all test inputs")
    if each_stage and (bless or batch):
        raise click.UsageError(f"--each-stage does not go with {'--bless' if bless else '--batch'}")
    with reported_errors():
        runs = OutputRuns(invocation, model, jobs)
        chosen = _chosen(runs, ids, of_all or (changed is not None and not ids), tag, changed)
        wanted = {one.id: chosen_inputs(one, inputs if one.error is None else ()) for one in chosen}
        runs.pick_up(*(one.id for one in chosen))
    if not chosen and not as_json:
        print_text(
            f"No persona is selected: {f'none differs from {changed}' if changed else f'none has the tag {tag}'}."
        )
    broken: list[PersonaReport] = []
    evaluations: list[tuple[str, Evaluation]] = []  # each with the stage it is of
    for persona in chosen:
        try:
            if persona.error is not None:
                raise broken_file(persona.id, persona.error, is_readable=bool(persona.revision))
            stages = [one.name for one in stages_of(runs.store.home, persona)] if each_stage else []
            for stage in stages or [""]:
                options = Options(stage=stage or None)
                fixed = runs.is_connected and not dry_run
                evaluation = runs.evaluator.evaluation(
                    persona,
                    runs.evaluator.variant(persona, fixed=fixed, options=options),
                    wanted[persona.id],
                    samples=samples,
                    min_pass=min_pass,
                    only_missing=not (fresh and runs.is_connected),
                )
                evaluations.append((stage, evaluation))
        except PersonaError as error:
            broken.append(PersonaReport(persona.id, (), str(error)))
    share = PRICE if batch else 1.0
    expected = sum((one.estimate(runs.evaluator.endpoint, share) for _, one in evaluations), NOTHING)
    if dry_run:
        say_estimate(expected, as_json)
        return
    pace = runs.evaluator.pace()

    async def work() -> int:
        if runs.is_connected:
            runs.confirm(expected, agreed=agreed, as_json=as_json)
            if batch:
                await runs.evaluator.run_batches([one for _, one in evaluations], pace, say_batch)
            else:
                for _, one in evaluations:
                    await runs.evaluator.run(one, pace, runs.attend)
        reports = [*(replace(one.report(), stage=stage) for stage, one in evaluations), *broken]
        if not runs.is_connected and any(one.could_not_run for report in reports for one in report.inputs):
            print_error(NO_MODEL)
        elif not runs.is_connected and fresh:
            print_note(f"only stored outputs were judged, nothing was run: {NO_MODEL}")
        _finish(
            runs,
            [one for _, one in evaluations],
            reports,
            bless=bless,
            junit=junit,
            md=md,
            pace=pace,
            as_json=as_json,
        )
        return exit_code(reports)

    raise click.exceptions.Exit(until_judged(runs, work()))


def _chosen(
    runs: OutputRuns, ids: tuple[str, ...], of_all: bool, tag: str | None, changed: str | None
) -> list[Persona]:
    """Return the personas that are meant, each once, in the order they are named or listed."""
    if not (ids or of_all or tag):
        raise click.UsageError("name a persona, or --all, --tag TAG or --changed REF")
    named = [runs.store.get(persona_id) for persona_id in dict.fromkeys(ids)]
    listed = runs.store.list() if of_all or tag else []
    found = {one.id: one for one in (*named, *(one for one in listed if of_all or tag in one.tags))}
    if changed is None:
        return list(found.values())
    from tui.cli.outputs.git_changes import ChangedSince

    since = ChangedSince(runs.store.home, changed)
    return [one for one in found.values() if since.differs(one)]


def _finish(
    runs: OutputRuns,
    evaluations: list[Evaluation],
    reports: list[PersonaReport],
    *,
    bless: bool,
    junit: Path | None,
    md: Path | None,
    pace: RateLimiter,
    as_json: bool,
) -> None:
    """Write and print what came of it."""
    from agent.outputs import report_files
    from agent.outputs.baseline import bless as write_baseline
    from agent.outputs.baseline import since_baseline
    from tui.cli.stderr import print_error

    home = runs.store.home
    since: dict[str, BaselineDiff | None] = {}
    for one, report in zip(evaluations, reports, strict=False):  # behind them stand broken files
        if report.stage:  # the baseline is of the persona's own stage
            continue
        try:
            since[report.id] = since_baseline(home, report)
        except PersonaError as error:
            print_error(str(error))
        if bless and any(each.could_not_run for each in report.inputs):
            print_error(f"{report.id} is not blessed: something could not be run")
        elif bless:
            path = write_baseline(home, one.variant, report)
            if not as_json:
                print_text(f"blessed: {path}")
    if junit is not None:
        write_report(junit, report_files.junit(reports))
    if md is not None:
        write_report(md, report_files.markdown(reports))
    if as_json:
        records = []
        for report in reports:
            record = report.to_record()
            if (found := since.get(report.id)) is not None:
                record["baseline"] = {"broke": found.broke, "fixed": found.fixed}
            records.append(record)
        counts = {name: sum(one[name] for one in records) for name in ("passed", "failed", "errors")}
        print_json(
            {"personas": records, **counts, "usage": pace.usage.to_record(), "cost": pace.cost}, indent=2
        )
        return
    for report in reports:
        _say_report(report, since.get(report.id))


def _say_report(report: PersonaReport, since: BaselineDiff | None) -> None:
    print_text(f"{report.title}: {report.summary}")
    rows: list[tuple[str, ...]] = [(f"  {MARKS[one.verdict]}", one.id, one.sentence) for one in report.inputs]
    for line in columns(rows):
        print_text(line)
    if since is not None and since.broke:
        print_text(f"  broke since the baseline: {', '.join(since.broke)}")
    if since is not None and since.fixed:
        print_text(f"  fixed since the baseline: {', '.join(since.fixed)}")


def write_report(path: Path, text: str) -> None:
    """Write a report where the person wants it.

    Raises:
        PersonaError: the disk refused.
    """
    try:
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise PersonaError(f"cannot write {path}: {error.strerror}") from None
