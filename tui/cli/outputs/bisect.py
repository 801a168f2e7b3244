"""`persona bisect`: which version turned the verdict of a test input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from personas.errors import PersonaError
from tui.cli.exit_codes import COULD_NOT_RUN
from tui.cli.group import Invocation
from tui.cli.options import dry_option, jobs_option, persona_argument, yes_option
from tui.cli.outputs.running import (
    NO_MODEL,
    NotRun,
    OutputRuns,
    reported_errors,
    say_estimate,
    until_judged,
)
from tui.cli.printing import print_diff, print_json, print_text

if TYPE_CHECKING:
    from agent.outputs.bisect_run import Bisected, Probe


@click.command()
@persona_argument
@click.option(
    "--input", "input_id", metavar="INPUT", required=True, help="The test input whose verdict changed."
)
@click.option(
    "--samples",
    type=click.IntRange(5, 1000),
    help="Most outputs of one version; 15 if not given. The last two may take twice as many.",
)
@click.option(
    "--good", metavar="V", help="A version from before the change; else the first that has passed so far."
)
@click.option("--bad", metavar="V", help="A version from after the change; else the text as it is now.")
@jobs_option
@click.option("--model", "model", metavar="MODEL", help="The model to run on.")
@click.option("--revert", is_flag=True, help="Undo the change that is found; what was written since stays.")
@yes_option
@dry_option
@click.option("--json", "as_json", is_flag=True, help="Print {good, bad, decided, version, hunk, probes}.")
@click.pass_obj
def bisect(
    invocation: Invocation,
    persona_id: str,
    input_id: str,
    samples: int | None,
    good: str | None,
    bad: str | None,
    jobs: int | None,
    model: str | None,
    revert: bool,
    agreed: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Find the version that changed the verdict of a test input.

    Each version it looks at is run several times, until chance can be told from a change. If that is impossible, the
    versions in between are named. Stored outputs are used again, so a stopped run continues.

    \b
    persona bisect optimist --input rain
    persona bisect optimist --input rain --good 3 --bad 12 --revert
    """
    from agent.outputs.bisect_run import BisectRun, left_places
    from agent.outputs.bisect_run import revert as take_back
    from agent.outputs.variant import chosen_inputs, read_runnable
    from tui.cli.stderr import print_error

    with reported_errors():
        runs = OutputRuns(invocation, model, jobs)
        persona = read_runnable(runs.store, persona_id)
        [test_input] = chosen_inputs(persona, [input_id])
        search = BisectRun(
            runs.evaluator, persona, test_input, samples=samples, good=good, bad=bad,
            fixed=runs.is_connected and not dry_run,
        )  # fmt: skip
    expected = search.estimate()
    if dry_run:
        say_estimate(expected, as_json)
        return

    def print_probe(probe: Probe) -> None:
        if not as_json:
            print_text(probe.sentence)

    async def work() -> int:
        if not runs.is_connected:
            raise NotRun(NO_MODEL)
        runs.confirm(expected, agreed=agreed, as_json=as_json)
        found = await search.run(runs.evaluator.pace(), runs.attend, print_probe)
        record, left = found.to_record(), 0
        if revert and found.decided:
            try:
                _, left = take_back(runs.store, persona_id, found)
                record["reverted"] = runs.store.current_version(persona_id)
            except PersonaError as error:
                record["error"] = str(error)
        if as_json:
            print_json(record, indent=2)
        else:
            _say(found)
            if "reverted" in record:
                print_text(f"Reverted as version {record['reverted']}{left_places(left)}.")
                print_text(f"Undo that with: persona undo {persona_id} {record['reverted']}")
        if "error" in record:
            print_error(record["error"])
        return COULD_NOT_RUN if "error" in record else 0

    raise click.exceptions.Exit(until_judged(runs, work()))


def _say(found: Bisected) -> None:
    print_text(f"{found.sentence}.")
    if found.hunk and found.probes:
        print_diff(found.hunk)
