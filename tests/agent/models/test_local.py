"""Finding model servers on this machine, and trying a model out."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from agent.models.anthropic.client import AnthropicModel
from agent.models.anthropic.endpoint_profiles import Profiles
from agent.models.local_servers import LocalServer, find_local_servers
from agent.models.probe import try_out
from tests.support.messages_server import KEY, MessagesServer, Refusal, call, say


@contextmanager
def serving(pages: Mapping[str, tuple[int, Any]]) -> Iterator[tuple[int, list[str]]]:
    """Serve JSON (or bytes) by path; yields the port and what was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.command} {self.path}")
            status, content = pages.get(self.path, (404, {}))
            self.send_response(status)
            if status == 302:
                self.send_header("location", content)
            self.end_headers()
            self.wfile.write(content if isinstance(content, bytes) else json.dumps(content).encode())

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1], asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


OPENAI_LIST = {"object": "list", "data": [{"id": "qwen3:4b", "object": "model"}, {"id": "gemma3"}]}


async def test_a_server_and_its_models_are_found() -> None:
    with serving({"/v1/models": (200, OPENAI_LIST)}) as (port, asked):
        found = await find_local_servers([(port, "Ollama")])
    assert found == [LocalServer("Ollama", f"http://127.0.0.1:{port}", ("qwen3:4b", "gemma3"))]
    assert all(line.startswith("GET ") for line in asked)


@pytest.mark.parametrize(
    ("props", "warned"),
    [
        ({"chat_template": "{{ messages }}"}, True),
        ({"chat_template": "{% if tools %}"}, False),
        ({"chat_template": "x", "chat_template_caps": {"supports_tools": True}}, False),
        ({"chat_template": "{% if tools %}", "chat_template_caps": {"supports_tools": False}}, True),
        ({"other": 1}, False),
    ],
)
async def test_a_chat_template_without_tools_is_told(props: dict[str, Any], warned: bool) -> None:
    with serving({"/v1/models": (200, {"data": [{"id": "m"}]}), "/props": (200, props)}) as (port, _):
        (server,) = await find_local_servers([(port, "llama.cpp")])
    assert ("no tools" in server.note) == warned


@pytest.mark.parametrize(
    "pages",
    [{}, {"/v1/models": (200, b"<html>")}, {"/v1/models": (200, [1])}, {"/v1/models": (200, {"data": 5})}, {"/v1/models": (302, "http://example.org/")}, {"/v1/models": (500, {})}],
)  # fmt: skip
async def test_what_lists_no_models_is_no_model_server(pages: dict[str, tuple[int, Any]]) -> None:
    with serving(pages) as (port, _):
        assert await find_local_servers([(port, "vLLM")]) == []


async def test_a_server_that_wants_a_key_or_has_no_model_says_so() -> None:
    with (
        serving({"/v1/models": (401, {})}) as (first, _),
        serving({"/v1/models": (200, {"data": []})}) as (second, _),
    ):
        found = await find_local_servers([(first, "vLLM"), (second, "LM Studio")])
    assert [server.note for server in found] == ["It wants a key.", "It has no model loaded."]


async def test_a_port_that_is_closed_or_silent_is_skipped() -> None:
    with socket.socket() as silent, socket.socket() as closed:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        closed.bind(("127.0.0.1", 0))
        ports = [(one.getsockname()[1], "x") for one in (silent, closed)]
        assert await find_local_servers(ports, seconds=0.1) == []


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 ", b"HTTP/1.1 200 OK\r\nx: ", b"HTTP/1.1 200 OK\r\n\r\n[1"])
async def test_a_server_that_answers_drop_by_drop_is_skipped(head: bytes) -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head)
        left = asyncio.create_task(reader.read())
        while not (await asyncio.wait({left}, timeout=0.01))[0]:
            writer.write(b" ")
        left.exception()
        writer.close()

    server = await asyncio.start_server(drip, "127.0.0.1", 0)
    async with asyncio.timeout(5):
        assert await find_local_servers([(server.sockets[0].getsockname()[1], "x")], seconds=0.1) == []
    server.close()


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([say("ready"), call("report", {"word": "ready"})], "answers and calls tools"),
        ([say("ready"), say("I cannot.")], "did not call the tool"),
        ([say(" "), call("report")], "without any text"),
        ([Refusal(529, "overloaded_error", "busy")], "busy"),
        ([say("ready"), say("x", stop_reason="", message_stop=False)], "cut off"),
    ],
)
async def test_a_model_is_tried_with_a_message_and_a_tool_call(answers: list[Any], message: str) -> None:
    async with MessagesServer(answers) as server:
        trial = await try_out(AnthropicModel(api_key=KEY, base_url=server.url, known=Profiles()))
    assert message in trial.message
