"""`persona doctor --local`: find a model server on this machine, try a model of it, keep the choice if asked to."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

import click

from agent.models.anthropic.client import AnthropicModel
from agent.models.local_servers import KNOWN_PORTS, LocalServer, find_local_servers
from agent.models.probe import ProbeResult, try_out
from personas.errors import InvalidValue, PersonaError
from tui.cli.logging_setup import set_up
from tui.cli.printing import LONGEST_LINE, print_text
from tui.settings.schema import config_path, write_settings
from tui.terminal.sanitise import one_line


class NoModel(PersonaError):
    """No local server, or none with the model that was asked for."""


def connect_local(ports: Sequence[int], chosen: str | None) -> None:
    """Find model servers on this machine, let the person choose a model, try it, offer to save it in the settings.

    Args:
        ports: further ports to look on.
        chosen: the model to take, and to write to the settings, without asking; None asks for both, or only lists
            where there is no terminal.

    Raises:
        NoModel: nothing was found, or the model does not work.
    """
    places = [*((port, "A server") for port in ports), *KNOWN_PORTS]
    set_up()
    servers = asyncio.run(find_local_servers(places))
    if not servers:
        looked = ", ".join(f"{name} on {port}" for port, name in places)
        raise NoModel(f"no model server answers on this machine (looked for {looked}); start one first")
    offers = [(server, model) for server in servers for model in server.models]
    for server in servers:
        note = f"  {server.note}" if server.note else ""
        print_text(one_line(f"{server.name} at {server.base_url}{note}", LONGEST_LINE))
        for number, (owner, model) in enumerate(offers, 1):
            if owner is server:
                print_text(f"  {number}. {one_line(model, LONGEST_LINE)}")
    if not offers:
        raise NoModel("none of them has a model; load one first")
    if chosen is None and not sys.stdin.isatty():
        print_text("Write one to the settings with: persona doctor --local --take MODEL")
        return
    server, model = _pick(offers, chosen)
    print_text(f"trying {one_line(model, LONGEST_LINE)} …")
    probe = asyncio.run(_try(model, server.base_url))
    if not probe.answers:
        raise NoModel(f"{model} does not work: {probe.message}; the settings were not changed")
    print_text(one_line(probe.message, LONGEST_LINE))
    path = config_path()
    if chosen is None and not click.confirm(f"Write model and base_url to {path}?", err=True):
        print_text("the settings were not changed")
        return
    write_settings(path, {"model": model, "base_url": server.base_url})
    print_text(f"{path} now has model and base_url; they are used from now on")


def _pick(offers: Sequence[tuple[LocalServer, str]], chosen: str | None) -> tuple[LocalServer, str]:
    """Return the server and model that were named, or that the person picks."""
    if chosen is None:
        number = click.prompt("Which one", type=click.IntRange(1, len(offers)), err=True)
        return offers[number - 1]
    for server, model in offers:
        if model == chosen:
            return server, model
    raise InvalidValue(
        f"no local server has a model {chosen!r}; it has {', '.join(model for _server, model in offers)}"
    )


async def _try(model: str, base_url: str) -> ProbeResult:
    return await try_out(AnthropicModel(model, base_url=base_url))
