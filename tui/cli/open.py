"""`persona` and `persona open`: the full-screen program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from personas.errors import PersonaError
from tui.cli.group import Invocation
from tui.signals import Guard, has_terminal

if TYPE_CHECKING:
    from agent.models.base import Model
    from personas.home import Found
    from personas.store import Store
    from tui.config import Settings

USAGE = 2


@click.command("open")
@click.argument("persona_id", metavar="[ID]", required=False)
@click.pass_obj
def open_persona(invocation: Invocation, persona_id: str | None = None) -> None:
    """Open the program, with one persona or the first.

    \b
    persona
    persona open optimist
    """
    if not has_terminal():
        raise click.UsageError("the program needs a terminal; without one, use `persona chat ID MESSAGE`")
    raise click.exceptions.Exit(_run(invocation, persona_id))


def _run(invocation: Invocation, persona_id: str | None) -> int:
    """Run the program; return its exit code.

    Raises:
        PersonaError: it could not begin, or failed.
    """
    from personas.home import Home
    from tui import driver_guard
    from tui.app import PersonaApp
    from tui.models import connection

    loaded = invocation.config
    found = Home.find(invocation.home_flag)
    driver_guard.install()
    app = PersonaApp(
        lambda: _open(invocation, found.home.root),
        make_model=lambda name: _make_model(loaded.settings, name),
        model_name=connection(loaded.settings).model,
        settings=loaded.settings,
        persona_id=persona_id,
        offer=found.offer,
        accept=lambda answer: _accept(invocation, found, answer),
        config_path=loaded.path,
    )
    guard = Guard(app.leave_by_signal)
    app.guard = guard
    try:
        code = app.run(mouse=loaded.settings.mouse)
    finally:
        guard.stop()
    if app.failure:
        where = f"; details: {app.fault_log}" if app.fault_log else ""
        raise PersonaError(app.failure + where)
    return guard.code or code or app.return_code or 0


def _open(invocation: Invocation, root: Path) -> Store:
    if "store" in invocation.__dict__:  # made already, to look an id up
        return invocation.store
    from personas.home import open_home
    from personas.store import Store

    return Store(open_home(root))


def _accept(invocation: Invocation, found: Found, answer: bool) -> Callable[[], Store]:
    """Remember whether the current folder is to be the home; return what opens the home."""
    from personas import trust

    assert found.offer is not None
    trust.remember(found.offer, answer)
    root = found.offer if answer else found.home.root
    return lambda: _open(invocation, root)


def _make_model(settings: Settings, name: str) -> Model:
    """Return the model the settings name, or another one by name on the same connection."""
    from dataclasses import replace

    from tui.models import build_model, connection

    return build_model(connection(replace(settings, model=name) if name else settings))
