"""`persona mcp`: the personas and their library for other agents, over the Model Context Protocol."""

from __future__ import annotations

import signal
import sys

import click

from personas.errors import PersonaError
from tui.cli.group import Invocation
from tui.cli.printing import print_text
from tui.cli.stderr import print_note
from tui.mcp.client_config import CLIENTS, PORT, Client, config_of, kept_token, url


@click.command("mcp")
@click.option("--http", is_flag=True, help="Serve HTTP on this machine instead of stdin and stdout.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="The port of --http; 0: any free one.",
)
@click.option("--all-tools", is_flag=True, help="List all tools; else about eight, which find the others.")
@click.option("--read-only", is_flag=True, help="Offer only what changes nothing.")
@click.option(
    "--print-config",
    "client",
    type=click.Choice(CLIENTS),
    help="Print what to paste into the settings of a client, and serve nothing.",
)
@click.pass_obj
def mcp_command(
    invocation: Invocation, http: bool, port: int, all_tools: bool, read_only: bool, client: Client | None
) -> None:
    """Serve the personas and their library to another agent.

    It speaks the Model Context Protocol on stdin and stdout, or with --http to those who have the token that it prints.

    \b
    persona mcp --print-config claude
    persona mcp --http --read-only
    """
    store = invocation.store
    if client is not None:
        flags = [flag for flag, given in (("--all-tools", all_tools), ("--read-only", read_only)) if given]
        arguments = ["--home", str(store.home.root), "mcp", *flags]
        print_text(config_of(client, arguments, port=port if http else None), end="")
        return
    try:
        from tui.mcp.server import make_server
        from tui.mcp.transports import listen, serve_http, serve_stdio
    except ModuleNotFoundError as error:
        raise PersonaError(
            f"The package {error.name} is missing: pip install 'mcp>=2.3,<3'; `persona mcp` alone needs it."
        ) from None
    from tui.cli.logging_setup import log_to, set_up

    set_up()
    log_to(store.home)
    server = make_server(store, all_tools=all_tools, read_only=read_only)
    if not http:
        if sys.stdin.isatty():
            print_note("Waiting for an agent (see --print-config). Ctrl+C ends it.")
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # else it waits for a line on stdin first
        serve_stdio(server)
        return
    token = kept_token()
    with listen(port) as listening:
        print_note(f"{url(listening.getsockname()[1])}\nAuthorization: Bearer {token}")
        serve_http(server, listening, token)
