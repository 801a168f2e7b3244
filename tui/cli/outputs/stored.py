"""`persona outputs`: what is stored of a persona's answers."""

from __future__ import annotations

import click

from tui.cli.group import Invocation
from tui.cli.outputs.running import OutputRuns, reported_errors
from tui.cli.printing import columns, print_json, print_text
from tui.outputs.labels import SIGNS

MARKS = {**SIGNS, "none": "·"}


@click.command()
@click.argument("persona_id", metavar="ID")
@click.option("--input", "input_id", metavar="INPUT", help="Only this test input, each answer whole.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array of records, newest first.")
@click.pass_obj
def outputs(invocation: Invocation, persona_id: str, input_id: str | None, as_json: bool) -> None:
    """List the stored outputs of a persona, newest first.

    Each with its verdict, where it comes from, what is outdated, and how it begins.

    \b
    persona outputs optimist
    persona outputs optimist --input rain
    """
    from agent.outputs.output_log import OutputLog, outdated
    from agent.outputs.report import outcome_so_far, verdicts_of
    from agent.outputs.variant import chosen_inputs, read_runnable

    with reported_errors():
        runs = OutputRuns(invocation)
        persona = read_runnable(runs.store, persona_id)
        runs.pick_up(persona_id)
        stored = OutputLog(runs.store.home, persona_id).read()
        if input_id is not None and all(one.input_id != input_id for one in stored.outputs):
            chosen_inputs(persona, [input_id])
        variant = runs.evaluator.variant(persona)
    judge_model = runs.evaluator.judge_name(persona, variant)
    inputs = {one.id: one for one in persona.test_inputs}
    found = []
    for output in reversed(stored.outputs):
        if input_id in (None, output.input_id):
            test_input = inputs.get(output.input_id)
            verdicts = [] if test_input is None else verdicts_of(stored, output, test_input, judge_model)
            found.append((output, outdated(output, variant, test_input), verdicts))
    if as_json:
        print_json([{**one.to_record(verdicts), "outdated": why} for one, why, verdicts in found], indent=2)
        return
    if input_id is not None:
        for one, why, verdicts in found:
            print_text(
                f"── version {one.version} · {one.model}{_note(one.source, why)} · {one.started_at[:16]}"
            )
            print_text(one.error or one.text.rstrip("\n"))
            for verdict in verdicts:
                print_text(f"   {MARKS[verdict.verdict]} {verdict.type}: {verdict.reason}")
            print_text()
        return
    rows: list[tuple[str, ...]] = []
    for one, why, verdicts in found:
        mark = outcome_so_far(one, verdicts)
        is_judged = mark != "none" or not verdicts
        where = f"version {one.version}{_note(one.source, why)}{'' if is_judged else ', not judged yet'}"
        when = one.started_at[:16].replace("T", " ")
        rows.append((MARKS[mark], one.input_id, when, one.model, where, one.first_line))
    for line in columns(rows):
        print_text(line)
    if waiting := sum(len(one.outputs) for one in stored.batches.values()):
        print_text(f"{waiting} more in a batch that is not done yet")
    elif not rows:
        print_text("No outputs yet. Make some with: persona run " + persona_id)


def _note(source: str | None, why: list[str]) -> str:
    """Return what an output's line says of where it comes from and what is outdated."""
    return (f", {source}" if source else "") + (f", outdated: {' '.join(why)}" if why else "")
