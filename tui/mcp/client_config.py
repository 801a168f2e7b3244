"""Where the MCP server is reached and with which token, and that as the configuration of well-known clients."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from personas.files.json_file import edit_json

HOST = "127.0.0.1"
PORT = 7337
PATH = "/mcp"

Client = Literal["claude", "codex", "cursor"]
CLIENTS: tuple[Client, ...] = ("claude", "codex", "cursor")
_NAME = "persona"


def url(port: int) -> str:
    """Return where the server is on this machine."""
    return f"http://{HOST}:{port}{PATH}"


def kept_token() -> str:
    """Return the token of this person, made when first asked for; it lies in the person's own state folder.

    Raises:
        Busy, StorageError: see `edit_json`.
    """
    from platformdirs import user_state_path

    path = user_state_path("persona-editor", appauthor=False) / "mcp.json"
    with edit_json(path, lock="mcp.lock", what="The token") as kept:
        token = kept.get("token")
        if not isinstance(token, str) or not token:
            token = kept["token"] = secrets.token_urlsafe(32)
    return token


def config_of(client: Client, arguments: Sequence[str], *, port: int | None) -> str:
    """Return what to paste into the configuration of a client.

    Args:
        client: whose.
        arguments: of `persona`, when the client starts the server itself.
        port: where the server runs over HTTP; None: the client starts it.

    Raises:
        Busy, StorageError: see `kept_token`.
    """
    entry: dict[str, object]
    if port is None:
        script = Path(sys.executable).with_name("persona")
        command, *before = [str(script)] if script.exists() else [sys.executable, "-P", "-m", "tui"]
        entry = {"command": command, "args": [*before, *arguments]}
    else:
        kind = {"type": "http"} if client == "claude" else {}
        headers = "http_headers" if client == "codex" else "headers"
        entry = {**kind, "url": url(port), headers: {"Authorization": f"Bearer {kept_token()}"}}
    if client == "codex":
        import tomli_w

        return tomli_w.dumps({"mcp_servers": {_NAME: entry}})
    return json.dumps({"mcpServers": {_NAME: entry}}, indent=2) + "\n"
