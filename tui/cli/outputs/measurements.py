"""`persona measurements`: the scores of a persona over time."""

from __future__ import annotations

import click

from personas.measurements import HEADINGS, as_csv, dimensions, read_measurements
from tui.cli.group import Invocation
from tui.cli.options import json_option, persona_argument
from tui.cli.printing import columns, print_json, print_text


@click.command()
@persona_argument
@click.option("--csv", "as_table", is_flag=True, help="Print CSV: dimension, score, notes, source, time.")
@json_option("Print a JSON array of {dimension, score, notes, source, time}, oldest first.")
@click.pass_obj
def measurements(invocation: Invocation, persona_id: str, as_table: bool, as_json: bool) -> None:
    """Show what was measured: a line and a sparkline a dimension.

    \b
    persona measurements optimist
    persona measurements optimist --csv > optimist.csv
    """
    found = read_measurements(invocation.store.home, persona_id)
    if not found:
        invocation.store.get(persona_id)  # it may be a slip
    if as_json:
        print_json([one.to_record() for one in found], indent=2)
    elif as_table:
        print_text(as_csv(found), end="")
    elif found:
        for line in columns([HEADINGS, *(one.row for one in dimensions(found))]):
            print_text(line)
    else:
        print_text("No measurements yet: ask the agent to score the persona.")
