"""`persona export`: a persona as a file of another program."""

from __future__ import annotations

from pathlib import Path

import click

from personas.errors import InvalidValue
from tui.cli.group import Invocation
from tui.cli.library.compile import override_option, overrides_of
from tui.cli.options import json_option, persona_argument
from tui.cli.printing import print_as_it_is, print_json
from tui.cli.stderr import print_note


@click.command()
@persona_argument
@click.option("--to", "form", metavar="FORMAT", required=True, help="The format, see `persona formats`.")
@click.option(
    "--out", metavar="PATH", help="Write here, not to stdout; into a file that is there only Markdown goes."
)
@click.option("--image", metavar="FILE", help="Of card-png: the picture to write into.")
@override_option
@json_option("Print {id, format, files, report}, and without --out the text.")
@click.pass_obj
def export(
    invocation: Invocation,
    persona_id: str,
    form: str,
    out: str | None,
    image: str | None,
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Write a persona as a file of another program.

    The text is the effective prompt. What the other format cannot hold is listed on stderr. An existing file is not
    overwritten; Markdown goes into it between two markers, and the rest of it stays.

    \b
    persona export mentor --to claude --out .claude/agents/mentor.md
    persona export mentor --to markdown --out AGENTS.md
    """
    from personas.exporting import export as files_of
    from personas.exporting import read_image, write_files
    from personas.formats.types import report_lines

    exported = files_of(
        invocation.store,
        persona_id,
        form,
        overrides=overrides_of(overrides),
        image=None if image is None else read_image(Path(image)),
    )
    report = [note.to_record() for note in exported.report]
    if out is not None:
        files = write_files(exported, form, Path(out), into=out.endswith("/"))
        if as_json:
            written = [str(path) for path in files]
            print_json({"id": persona_id, "format": form, "files": written, "report": report}, indent=2)
            return
        for path, where in files.items():
            print_note(f"Wrote {path}" + (f", {where}" if where else ""))
    else:
        (name, content), *more = exported.files.items()
        if more or b"\0" in content:
            raise InvalidValue(f"It is {', '.join(exported.files)}: say with --out where to write.")
        if as_json:
            said = {
                "id": persona_id,
                "format": form,
                "files": [name],
                "text": content.decode(),
                "report": report,
            }
            print_json(said, indent=2)
            return
        print_as_it_is(content)
    for line in report_lines([note for note in exported.report if note.why]):
        print_note(f"  {line}")
