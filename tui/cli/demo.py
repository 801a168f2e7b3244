"""`persona demo`: a recorded run in the real interface, in a home of its own that is gone afterwards."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from tui.cli.group import Invocation
from tui.cli.open import run_in_terminal
from tui.cli.output import say
from tui.signals import has_terminal


@click.command()
@click.pass_obj
def demo(invocation: Invocation) -> None:
    """Watch a recorded run: an answer, a change and its diff. It needs no key and touches nothing of yours.

    When it is over, or as soon as you type, the program is yours to try, on the offline model.

    \b
    persona demo
    """
    if not has_terminal():
        raise click.UsageError("the demo needs a terminal")
    settings = invocation.config.settings
    from tui.demo_app import DemoApp

    with tempfile.TemporaryDirectory(prefix="persona-demo-", ignore_cleanup_errors=True) as folder:
        code = run_in_terminal(DemoApp(Path(folder), settings))
    if code == 0:
        say("That was the demo; its folder is gone. `persona` opens your own personas.")
    raise click.exceptions.Exit(code)
