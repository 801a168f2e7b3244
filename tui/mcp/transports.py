"""How a client reaches the MCP server: over stdin and stdout, or over HTTP on this machine with a token."""

from __future__ import annotations

import secrets
import socket
from typing import Any

import anyio
import uvicorn
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from personas.errors import PersonaError
from tui.mcp.client_config import HOST, PATH

_LARGEST = 16 * 1024 * 1024  # bytes of a request
_END_WITHIN = 3  # seconds for what is under way when the server is stopped


def serve_stdio(server: Server[Any]) -> None:
    """Serve one client until it closes stdin."""

    async def serve() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(serve)


def listen(port: int) -> socket.socket:
    """Return a socket on a port of this machine, 0: on a free one.

    Raises:
        PersonaError: the port is taken.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise PersonaError(
            f"Port {port} cannot be used ({error.strerror}); name another with --port."
        ) from None
    return listening


def serve_http(server: Server[Any], listening: socket.socket, token: str) -> None:
    """Serve whoever has the token until Ctrl+C or SIGTERM."""
    port = listening.getsockname()[1]
    names = [f"{name}:{port}" for name in (HOST, "localhost")]
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=_LARGEST,
        transport_security=TransportSecuritySettings(
            allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
        ),
    )
    config = uvicorn.Config(
        _with_token(app, token), log_config=None, access_log=False, timeout_graceful_shutdown=_END_WITHIN
    )
    uvicorn.Server(config).run(sockets=[listening])


def _with_token(app: ASGIApp, token: str) -> ASGIApp:
    """Return an application that answers only requests that bring the token."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not secrets.compare_digest(given.encode(), token.encode()):
                refusal = PlainTextResponse(
                    "The token is missing or wrong.", 401, {"WWW-Authenticate": "Bearer"}
                )
                await refusal(scope, receive, send)
                return
        await app(scope, receive, send)

    return guarded
