"""`--check`: the tests of the personas that a document of the library is a part of, before and after a change of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import click

from personas.library.documents import Kind
from personas.library_store import LibraryStore
from tui.cli.group import Invocation
from tui.cli.outputs.compare import comparison_rows
from tui.cli.outputs.running import NO_MODEL, OutputRuns, reported_errors, say_estimate, until_judged
from tui.cli.printing import columns, print_json, print_text
from tui.cli.stderr import print_error

if TYPE_CHECKING:
    from agent.outputs.blast_radius import BlastReport


def set_checked(
    invocation: Invocation,
    kind: Kind,
    name: str,
    fields: Mapping[str, Any],
    samples: int | None,
    *,
    agreed: bool,
    dry_run: bool,
    as_json: bool,
) -> NoReturn:
    """Set keys of a document if no test breaks by it, and end with an exit code of `test`.

    Args:
        samples: of each input, on both sides; None: as the files say.
    """
    from agent.outputs.blast_radius import BlastRadius

    library = LibraryStore(invocation.store)
    with reported_errors():
        runs = OutputRuns(invocation)
        revision = library.get(kind, name).revision
        changed = library.preview(kind, name, fields)
        runs.pick_up(*library.touched(kind, name))
        radius = BlastRadius(
            runs.evaluator, changed, fixed=runs.is_connected and not dry_run, samples=samples
        )
    expected = radius.estimate()
    if dry_run:
        say_estimate(expected, as_json)
        raise click.exceptions.Exit(0)
    pace = runs.evaluator.pace()

    async def work() -> int:
        if runs.is_connected:
            runs.confirm(expected, agreed=agreed, as_json=as_json)
            await radius.run(pace, runs.attend)
        report = radius.report()
        code = report.exit_code
        record: dict[str, Any] = {"id": f"{kind}/{name}", "summary": "not saved"}
        if code == 0:
            library.update(kind, name, fields, revision=revision)
            record = library.changed(f"{kind}/{name}", f"set {', '.join(fields)} of {kind} {name}")
        elif code == 4 and not runs.is_connected:
            print_error(NO_MODEL)
        if as_json:
            check = {**report.to_record(), "usage": pace.usage.to_record(), "cost": pace.cost}
            print_json({**record, "saved": code == 0, "check": check}, indent=2)
        else:
            _say(report)
            print_text(record["summary"])
        return code

    raise click.exceptions.Exit(until_judged(runs, work()))


def _say(report: BlastReport) -> None:
    for one in report.touched:
        print_text(f"{one.title}: {'; '.join(one.summary_lines)}")
        for line in columns(comparison_rows(one.comparison)):
            print_text(line)
    for broken in report.broken:
        print_text(f"{broken.title}: {broken.error}")
    print_text(f"{report.sentence}.")
