"""A body that is no stream of events is read as far as it is looked at, whatever the server goes on sending."""

from __future__ import annotations

import asyncio
import gzip
import json
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache

import pytest

from agent.core.model import Failed, Model, ModelError, Request
from agent.models.anthropic import client as anthropic
from agent.models.anthropic import error_body
from agent.models.anthropic.client import AnthropicModel
from agent.models.anthropic.endpoint_profiles import Profiles
from agent.models.anthropic.error_body import ANSWER_LIMIT
from agent.models.anthropic.error_mapping import ModelFailure
from agent.models.proxy import ProxyModel

_MUCH = 5 * 1024 * 1024
_HUGE = 64 * 1024 * 1024
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


@contextmanager
def measured() -> Iterator[Callable[[], int]]:
    """Measure the most memory that is taken at once, in bytes."""
    tracemalloc.start()
    try:
        yield lambda: tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


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
    monkeypatch.setattr(error_body, "REFUSAL_SECONDS", 0.05)
    server = Endless("429 X\r\ncontent-type: text/plain\r\nretry-after: 7", b"one at a time")
    async with server.running():
        error = await failure(make(server.url))
        assert (error.kind, error.retry_after) == ("rate_limit", 7) and "one at a time" in error.message
        await asyncio.wait_for(server.closed.wait(), _STALLED)


@models
async def test_a_page_that_does_not_go_on_is_told_by_what_came(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(error_body, "REFUSAL_SECONDS", 0.05)
    server = Endless("200 OK\r\ncontent-type: text/html", b"<html>Log in")
    async with server.running():
        error = await failure(make(server.url))
        assert error.kind == "protocol" and ": Log in" in error.message
        await asyncio.wait_for(server.closed.wait(), _STALLED)


@cache
def packed(times: int) -> bytes:
    """Return 64 MB of JSON, compressed so many times."""
    body = b'{"error": {"message": "' + b" " * _HUGE + b'"}}'
    for _ in range(times):
        body = gzip.compress(body, 9)
    return body


CODINGS = pytest.mark.parametrize(("coding", "times"), [("gzip", 1), ("gzip, gzip", 2), ("br", 1)])


@models
@CODINGS
async def test_a_refusal_that_grows_when_it_is_decompressed_is_told_by_its_status(
    make: Make, coding: str, times: int
) -> None:
    server = Endless(f"403 X\r\ncontent-encoding: {coding}", packed(times))
    async with server.running():
        with measured() as peak:
            error = await failure(make(server.url))
            assert peak() < _MUCH * 2
    assert (error.kind, error.status) == ("permission", 403)


@CODINGS
async def test_a_list_of_models_that_grows_when_it_is_decompressed_is_refused(
    coding: str, times: int
) -> None:
    server = Endless(f"200 OK\r\ncontent-type: application/json\r\ncontent-encoding: {coding}", packed(times))
    async with server.running(), asyncio.timeout(_STALLED):
        model = AnthropicModel("m", api_key="k" * 10, base_url=server.url, known=Profiles())
        with measured() as peak:
            with pytest.raises(ModelFailure) as raised:
                await model.list_models()
            assert peak() < ANSWER_LIMIT * 8
        assert raised.value.error.kind == "protocol"
        await asyncio.wait_for(server.closed.wait(), _STALLED)


@models
async def test_a_stream_that_is_compressed_twice_is_refused(make: Make) -> None:
    server = Endless("200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip, gzip", packed(2))
    async with server.running():
        with measured() as peak:
            assert "decompressed" in (await failure(make(server.url))).message
            assert peak() < _MUCH * 2


async def test_a_list_of_models_is_read_to_its_end_and_one_without_end_is_not() -> None:
    for names, is_whole in ((1_000, True), (100_000, False)):
        body = json.dumps({"data": [{"id": f"model-{number:050}"} for number in range(names)]}).encode()
        server = Endless(f"200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}", body)
        async with server.running(), asyncio.timeout(_STALLED):
            model = AnthropicModel("m", api_key="k" * 10, base_url=server.url, known=Profiles())
            if is_whole:
                assert len(await model.list_models()) == names
            else:
                with pytest.raises(ModelFailure, match="application/json"):
                    await model.list_models()


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
