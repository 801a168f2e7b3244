"""`persona assets`: what the agent left behind, to be listed, shown, edited and exported."""

from __future__ import annotations

from pathlib import Path

import click

from personas.assets import Asset, asset_text, find_asset, list_assets, read_asset
from personas.errors import StorageError
from personas.files.home import Home, private
from personas.files.text_file import expanded
from tui.cli.group import Invocation
from tui.cli.options import json_option
from tui.cli.printing import columns, print_json, print_text


@click.command()
@click.argument("persona_id", metavar="[PERSONA]", required=False)
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--edit", "opens", is_flag=True, help="Open NAME in $VISUAL or $EDITOR.")
@click.option("--export", "folder", metavar="FOLDER", help="Copy NAME, else all of PERSONA, into a folder.")
@json_option("Print a JSON array of {persona, name, size, at}; with NAME one object, with its content.")
@click.pass_obj
def assets(
    invocation: Invocation,
    persona_id: str | None,
    name: str | None,
    opens: bool,
    folder: str | None,
    as_json: bool,
) -> None:
    """List the assets of a persona, or of all; show one.

    \b
    persona assets optimist
    persona assets optimist plan.md
    persona assets optimist plan --edit
    persona assets optimist --export ~/plans
    """
    if (opens and name is None) or (folder is not None and persona_id is None):
        raise click.UsageError("--edit needs PERSONA and NAME, --export needs PERSONA.")
    home = invocation.store.home
    if persona_id is not None and name is not None:
        found = [find_asset(home, persona_id, name)]
    else:
        found = list_assets(home, persona_id)
        if persona_id is not None and not found:
            invocation.store.get(persona_id)  # it may be a slip
    if folder is not None:
        _export(home, found, expanded(folder))
    elif opens:
        from tui.cli.personas.edit import run_editor

        read_asset(home, found[0])  # nothing else than a regular file of the home is opened
        run_editor(found[0].path)
    elif name is not None:
        text = asset_text(home, found[0])
        if as_json:
            print_json({**found[0].to_record(), "content": text})
        else:
            print_text(text.removesuffix("\n"))
    elif as_json:
        print_json([one.to_record() for one in found], indent=2)
    else:
        rows: list[tuple[str, ...]] = [
            (
                *((one.persona,) if persona_id is None else ()),
                one.name,
                f"{one.size} B",
                one.at[:16].replace("T", " "),
            )
            for one in found
        ]
        for line in columns(rows):
            print_text(line)
        if not found:
            print_text("No assets yet: ask the agent to write something down.")


def _export(home: Home, assets: list[Asset], folder: Path) -> None:
    """Copy assets into a folder, which is made where it is missing. What is there is never overwritten.

    Raises:
        StorageError: a name is taken, or the disk refuses; what was copied before stays.
    """
    for asset in assets:
        target = folder / asset.name
        content = read_asset(home, asset)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with open(target, "xb", opener=private) as file:
                file.write(content)
        except FileExistsError:
            raise StorageError(f"There is a {target} already; export to another folder.") from None
        except OSError as error:
            raise StorageError(f"Not exported to {target}: {error.strerror or error}.") from None
        print_text(f"exported {target}")
