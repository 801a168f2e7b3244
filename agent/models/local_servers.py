"""Model servers on this machine: who listens on the known ports of loopback, and which models it has.

Only GET, only to loopback, never through a proxy, no redirect followed.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from agent.models.anthropic.endpoint import is_loopback
from agent.models.model_list import read_models

KNOWN_PORTS: Sequence[tuple[int, str]] = (
    (11434, "Ollama"),
    (1234, "LM Studio"),
    (8080, "llama.cpp"),
    (8000, "vLLM"),
)
_MAX_BODY = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that was found.

    Attributes:
        name: the program that usually listens there.
        base_url: what to set as the base URL.
        models: the names it offers; empty when it has none loaded or wants a key first.
        note: what the person should know before choosing it, or "".
    """

    name: str
    base_url: str
    models: tuple[str, ...]
    note: str = ""


async def find_local_servers(
    ports: Sequence[tuple[int, str]] = KNOWN_PORTS, *, seconds: float = 1.5
) -> list[LocalServer]:
    """Return the model servers among `ports` of 127.0.0.1, in that order.

    Args:
        ports: port and the name of the program that usually listens there.
        seconds: how long each question may take.
    """
    found = await asyncio.gather(
        *(asyncio.to_thread(ask_local_server, port, name, seconds) for port, name in ports)
    )
    return [server for server in found if server is not None]


def ask_local_server(port: int, name: str, seconds: float) -> LocalServer | None:
    """Return what answers on `port`, or None where nothing that lists models does. Blocks."""
    base_url = f"http://127.0.0.1:{port}"
    status, answer = _get(port, "/v1/models", seconds)
    if status in (401, 403):
        return LocalServer(name, base_url, (), "It wants a key.")
    listed = answer.get("data", answer.get("models")) if isinstance(answer, Mapping) else None
    if status != 200 or not isinstance(listed, list):
        return None
    models = tuple(model.id for model in read_models(answer))
    note = "" if models else "It has no model loaded."
    _, props = _get(port, "/props", seconds)
    return LocalServer(name, base_url, models, note or _note_on_tools(props))


def why_no_tools(base_url: str) -> str:
    """Return why models of a server on this machine cannot call tools, "" where nothing is known. Blocks."""
    try:
        port = urlsplit(base_url).port if is_loopback(base_url) else None
    except ValueError:
        port = None
    return _note_on_tools(_get(port, "/props", 1.5)[1]) if port else ""


def _note_on_tools(props: object) -> str:
    """Return a warning when llama.cpp's properties show a chat template that drops tools silently."""
    if not isinstance(props, Mapping) or not isinstance(props.get("chat_template"), str):
        return ""
    abilities = props.get("chat_template_caps")
    if isinstance(abilities, Mapping) and isinstance(abilities.get("supports_tools"), bool):
        able = abilities["supports_tools"]
    else:
        able = "tool" in props["chat_template"] or bool(props.get("chat_template_tool_use"))
    return "" if able else "Its chat template knows no tools: the model can talk, but not change anything."


def _get(port: int, path: str, seconds: float) -> tuple[int, object]:
    """Return status and decoded JSON of one GET; status 0 where nothing usable answers."""
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    give_up = time.monotonic() + seconds
    end: threading.Timer | None = None
    try:
        connection.connect()
        # The timeout is for each read: what comes drop by drop, the head too, ends when the connection does.
        end = threading.Timer(seconds, _shut, [connection.sock])
        end.start()
        connection.request("GET", path, headers={"accept": "application/json"})
        response = connection.getresponse()
        body = b""
        while piece := response.read1(65536):
            body += piece
            if len(body) > _MAX_BODY or time.monotonic() > give_up:
                return 0, None
        return response.status, json.loads(body) if response.status == 200 else None
    except (OSError, http.client.HTTPException, ValueError, RecursionError):
        return 0, None
    finally:
        if end is not None:
            end.cancel()
        connection.close()


def _shut(connected: socket.socket) -> None:
    with suppress(OSError):  # it ended by itself
        connected.shutdown(socket.SHUT_RDWR)
