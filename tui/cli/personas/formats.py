"""`persona formats`: which files of other programs can be imported and exported."""

from __future__ import annotations

import click

from tui.cli.group import Invocation
from tui.cli.options import json_option
from tui.cli.printing import columns, print_json, print_text


@click.command("formats")
@json_option("Print [{name, label, suffix, import, export}].")
@click.pass_obj
def list_formats(_invocation: Invocation, as_json: bool) -> None:
    """List the formats for import and export.

    \b
    persona formats
    """
    from personas.formats.registry import formats

    rows = [
        {
            "name": one.name,
            "label": one.label,
            "suffix": one.suffix,
            "import": one.read is not None,
            "export": one.write is not None,
        }
        for one in formats()
    ]
    if as_json:
        print_json(rows, indent=2)
        return
    for line in columns(
        [
            (
                str(one["name"]),
                " ".join(way for way in ("import", "export") if one[way]),
                f"{one['label']} ({one['suffix']})",
            )
            for one in rows
        ]
    ):
        print_text(line)
