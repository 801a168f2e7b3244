"""`persona` and `persona open`: the full-screen program."""

from __future__ import annotations

import click

from tui.cli.group import Invocation
from tui.cli.start import has_screen, run_program
from tui.terminal.tty import has_terminal


@click.command("open")
@click.argument("persona_id", metavar="[ID]", required=False)
@click.pass_obj
def open_persona(invocation: Invocation, persona_id: str | None = None) -> None:
    """Open the program, with one persona or the first.

    \b
    persona
    persona open optimist
    """
    require_screen()
    raise click.exceptions.Exit(run_program(invocation, persona_id))


def require_screen() -> None:
    """Refuse a terminal that cannot show a full-screen program.

    Raises:
        click.UsageError: there is none, or it calls itself dumb.
    """
    if has_screen():
        return
    if has_terminal():
        raise click.UsageError("TERM=dumb cannot show the program; use `persona chat ID MESSAGE`")
    raise click.UsageError("the program needs a terminal; without one, use `persona chat ID MESSAGE`")
