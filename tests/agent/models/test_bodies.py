"""A body that is no stream of events is read as far as it is looked at, whatever the server goes on sending."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from agent.core.model import Failed, Model, ModelError, Request
from agent.models.anthropic import client as anthropic
from agent.models.anthropic import error_body as bodies
from agent.models.anthropic import stream as transfer
from agent.models.anthropic.capabilities import Profiles
from agent.models.anthropic.client import AnthropicModel
from agent.models.anthropic.error_body import ANSWER_LIMIT, REFUSAL_LIMIT
from agent.models.anthropic.error_mapping import ModelFailure
from agent.models.http_client import build_client
from agent.models.proxy import ProxyModel

_MUCH = 5 * 1024 * 1024
_STALLED = 30.0  # seconds after which a test fails: it would wait for ever

Make = Callable[[str], Model]
models = pytest.mark.parametrize(
    "make",
    [
        lambda url: ProxyModel("m", url=url),
        lambda url: AnthropicModel("m", api_key="k" * 10, base_url=url, known=Profiles()),
    ],
    ids=["proxy", "anthropic"],
)


class Endless:
    """Answers every request with a head and the beginning of a body that never ends.

    Args:
        head: status and header lines.
        body: the beginning, after which nothing comes, or, where `drip` says so, one blank after the other.

    Attributes:
        closed: set when the client has closed the connection.
    """

    def __init__(self, head: str, body: bytes, *, drip: bool = False) -> None:
        self.head = head
        self.body = body
        self.drip = drip
        self.closed = asyncio.Event()
        self.url = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield
        finally:
            server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(f"HTTP/1.1 {self.head}\r\nconnection: close\r\n\r\n".encode() + self.body)
            await writer.drain()
            while self.drip and not reader.at_eof():
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0)
            await reader.read()
        self.closed.set()
        writer.close()


async def failure(model: Model) -> ModelError:
    request = Request(system="", messages=[{"role": "user", "content": "x"}])
    async with asyncio.timeout(_STALLED):
        events = [event async for event in model.stream(request)]
    assert isinstance(events[-1], Failed)
    return events[-1].error


@models
async def test_a_refusal_without_end_is_told_by_its_beginning(make: Make) -> None:
    server = Endless("500 X\r\ncontent-type: text/plain", b"too hot " + b"x" * _MUCH)
    async with server.running():
        error = await failure(make(server.url))
        assert (error.kind, error.status) == ("server", 500) and ": too hot xxx" in error.message
        await asyncio.wait_for(server.closed.wait(), _STALLED)


@models
async def test_a_refusal_that_does_not_go_on_is_told_by_what_came(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "REFUSAL_SECONDS", 0.05)
    server = Endless("429 X\r\ncontent-type: text/plain\r\nretry-after: 7", b"one at a time")
    async with server.running():
        error = await failure(make(server.url))
        assert (error.kind, error.retry_after) == ("rate_limit", 7) and "one at a time" in error.message
        await asyncio.wait_for(server.closed.wait(), _STALLED)


@models
async def test_a_page_that_does_not_go_on_is_told_by_what_came(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "PAGE_SECONDS", 0.05)
    server = Endless("200 OK\r\ncontent-type: text/html", b"<html>Log in")
    async with server.running():
        error = await failure(make(server.url))
        assert error.kind == "protocol" and ": Log in" in error.message
        await asyncio.wait_for(server.closed.wait(), _STALLED)


@pytest.mark.parametrize(
    ("head", "body", "most"),
    [
        ("500 X", b"x" * _MUCH, REFUSAL_LIMIT),
        ("302 X\r\nlocation: https://elsewhere.example/", b"x" * _MUCH, REFUSAL_LIMIT),
        ("500 X\r\ncontent-type: text/event-stream", b"x" * _MUCH, REFUSAL_LIMIT),
        ("500 X\r\ncontent-encoding: gzip", gzip.compress(b"\0" * 32 * 1024 * 1024, 9), ANSWER_LIMIT + 2**20),
        ("200 OK\r\ncontent-type: application/json", b"x" * _MUCH, ANSWER_LIMIT),
        ("200 OK\r\ncontent-type: text/event-stream", b"x" * _MUCH, ANSWER_LIMIT),
    ],
    ids=["refusal", "redirection", "stream", "compressed", "success", "stream that nobody asked for"],
)
async def test_the_client_reads_the_beginning_only(head: str, body: bytes, most: int) -> None:
    server = Endless(head, body)
    async with server.running():
        client = build_client(server.url, "/v1/messages")
        async with asyncio.timeout(_STALLED), client:
            assert len((await client.get(server.url)).content) <= most


async def test_a_short_refusal_is_read_to_its_end_and_a_stream_however_long_it_is() -> None:
    stream = b"x" * _MUCH
    for head, body in (("200 OK\r\ncontent-type: text/event-stream", stream), ("500 X", b'{"error": "no"}')):
        server = Endless(f"{head}\r\ncontent-length: {len(body)}", body)
        async with (
            server.running(),
            asyncio.timeout(_STALLED),
            build_client(server.url, "/v1/messages") as client,
        ):
            assert (await client.post(f"{server.url}/v1/messages")).content == body


async def test_a_question_that_is_answered_drop_by_drop_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anthropic, "_ASK_TIMEOUT", 0.1)
    server = Endless("200 OK\r\ncontent-type: application/json", b"{", drip=True)
    async with server.running(), asyncio.timeout(_STALLED):
        model = AnthropicModel("m", api_key="k" * 10, base_url=server.url, known=Profiles())
        with pytest.raises(ModelFailure, match=r"connection to .* broke") as raised:
            await model.list_models()
        assert raised.value.error.kind == "network"
        assert (
            await model.count_tokens(Request(system="", messages=[{"role": "user", "content": "x"}])) is None
        )
