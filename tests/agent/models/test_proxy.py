"""`ProxyModel` against a real server, and its reader against anything."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.model import (
    BlockDelta,
    BlockEnd,
    BlockEvent,
    BlockStart,
    Done,
    Failed,
    Request,
    ToolSpec,
    Usage,
)
from agent.models.anthropic.error_mapping import Where
from agent.models.anthropic.sse import SSEParser
from agent.models.anthropic.stream import read_event
from agent.models.proxy import ProxyModel, ProxyReader
from tests.support.examples import examples
from tests.support.proxy_server import ProxyServer

START = {"type": "block_start", "block": 0, "kind": "text"}
HELLO = {"type": "block_delta", "block": 0, "text": "Hello"}
END = {"type": "block_end", "block": 0}
DONE = {"type": "done", "stop_reason": "end_turn", "usage": {"input_tokens": 3, "output_tokens": 2}}
ANSWER = [START, HELLO, END, DONE]


def sse(*events: Any, ending: str = "\n") -> bytes:
    return "".join(f"data: {json.dumps(event)}{ending}{ending}" for event in events).encode()


def run(*events: Any) -> list[BlockEvent]:
    reader = ProxyReader(Where("http://proxy"))
    return [out for event in events for out in reader.feed(event)] + reader.close()


def read(stream: bytes, size: int) -> list[BlockEvent]:
    """What comes of a stream in chunks of a size."""
    parser, reader = SSEParser(), ProxyReader(Where())
    chunks = (stream[at : at + size] for at in range(0, len(stream), size))
    out = [one for chunk in chunks for event in parser.feed(chunk) for one in read_event(reader, event)]
    return out + reader.close()


async def ask(server: ProxyServer, request: Request | None = None, **options: Any) -> list[BlockEvent]:
    model = ProxyModel("sonnet", **{"url": server.url, "token": "tok-123"} | options)
    return [
        event
        async for event in model.stream(
            request or Request(system="S", messages=[{"role": "user", "content": "Hi"}])
        )
    ]


async def test_an_answer_comes_through_and_the_request_is_what_the_page_says() -> None:
    tool = ToolSpec("t", "d", {"type": "object"})
    request = Request(
        system="S", messages=[{"role": "user", "content": "Hi"}], tools=[tool], thinking="low", max_tokens=9,
        session_id="s1", api_key="sk-never-sent",
    )  # fmt: skip
    async with ProxyServer(sse(*ANSWER)) as server:
        events = await ask(server, request)
    assert events == [
        BlockStart(0, "text"),
        BlockDelta(0, "Hello"),
        BlockEnd(0),
        Done("end_turn", Usage(3, 2)),
    ]
    path, headers, body = server.requests[0]
    assert (path, headers["authorization"]) == ("/api/stream", "Bearer tok-123")
    assert json.loads(body) == {
        "model": "sonnet",
        "context": {
            "system": "S", "messages": [{"role": "user", "content": "Hi"}],
            "tools": [{"name": "t", "description": "d", "input_schema": {"type": "object"}}],
        },
        "options": {"thinking": "low", "max_tokens": 9, "session_id": "s1"},
    }  # fmt: skip
    assert b"sk-never-sent" not in body


@pytest.mark.parametrize(
    "stream",
    [
        sse(*ANSWER, ending="\r\n"),
        sse(*ANSWER)[:-2],
        sse({"type": "news"}, *ANSWER),
        b": hello\n\n" + sse(*ANSWER),
    ],
)
async def test_line_ends_a_missing_last_newline_and_unknown_events_are_fine(stream: bytes) -> None:
    async with ProxyServer(stream) as server:
        events = await ask(server)
    assert events[-1] == Done("end_turn", Usage(3, 2))
    assert events[1] == BlockDelta(0, "Hello")


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40))
def test_any_chunking_gives_the_same_answer(size: int) -> None:
    assert read(sse(*ANSWER), size) == run(*ANSWER)


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (401, b'{"error": "who are you?"}', "authentication", "who are you?"),
        (429, b'{"error": {"message": "slow"}}', "rate_limit", "slow"),
        (500, b"it broke", "server", "it broke"),
        (200, b"<html>login</html>", "protocol", "login"),
    ],
)
async def test_an_http_error_becomes_one_error_with_the_servers_words(
    status: int, body: bytes, kind: str, words: str
) -> None:
    async with ProxyServer(body, status=status, content_type="text/html") as server:
        events = await ask(server)
    assert [type(event) for event in events] == [Failed]
    assert events[0].error.kind == kind  # type: ignore[union-attr]
    assert words in events[0].error.message  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("stream", "kind"),
    [
        (sse(START, HELLO), "incomplete"),
        (sse(START, HELLO) + b"data: {nonsense\n\n", "protocol"),
        (
            sse(START, HELLO, {"type": "block_delta", "block": 0, "kind": "thinking", "text": "x"}, DONE),
            "protocol",
        ),
        (sse(START, HELLO, {"type": "block_delta", "block": 1, "text": "x"}, DONE), "protocol"),
        (sse(START, HELLO, START, DONE), "protocol"),
        (sse(START, HELLO, {"type": "done"}), "protocol"),
        (sse(START, HELLO, {"type": "error", "message": "upstream is gone"}), "server"),
        (
            sse(START, HELLO, {"type": "error", "message": "slow", "kind": "rate_limit", "retryable": True}),
            "rate_limit",
        ),
    ],
)
def test_each_fault_is_one_error_and_keeps_the_partial_text(stream: bytes, kind: str) -> None:
    events = read(stream, len(stream))
    assert events[:2] == [BlockStart(0, "text"), BlockDelta(0, "Hello")]
    assert [type(event) for event in events[2:]] == [Failed]
    assert events[-1].error.kind == kind  # type: ignore[union-attr]


async def test_a_dropped_connection_keeps_the_partial_text() -> None:
    async with ProxyServer(sse(START, HELLO), drop=True) as server:
        events = await ask(server)
    assert events[1] == BlockDelta(0, "Hello")
    assert events[-1].error.kind == "network"  # type: ignore[union-attr]


async def test_an_unreachable_proxy_is_named() -> None:
    async with ProxyServer(b"") as server:
        pass
    events = await ask(server)
    assert events[-1].error.kind == "network"  # type: ignore[union-attr]
    assert server.url in events[-1].error.message  # type: ignore[union-attr]


async def test_a_token_that_cannot_be_sent_is_not_shown() -> None:
    async with ProxyServer(sse(*ANSWER)) as server:
        events = await ask(server, token="tok\n123")
    assert events[-1].error.kind == "authentication"  # type: ignore[union-attr]
    assert "123" not in repr(events)
    assert server.requests == []


def test_a_tool_call_is_joined_from_its_deltas_or_given_whole() -> None:
    start = {"type": "block_start", "block": 4, "kind": "tool_call", "tool_use_id": "a", "tool_name": "t"}
    parts = [{"type": "block_delta", "block": 4, "text": piece} for piece in ('{"x"', ": 1}")]
    assert BlockEnd(0, '{"x": 1}') in run(start, *parts, {"type": "block_end", "block": 4}, DONE)
    assert BlockEnd(0, '{"x": 1}') in run(
        start, {"type": "block_end", "block": 4, "input_json": '{"x": 1}'}, DONE
    )


def test_a_call_that_is_still_open_at_the_end_is_incomplete() -> None:
    start = {"type": "block_start", "block": 0, "kind": "tool_call", "tool_use_id": "a", "tool_name": "t"}
    assert BlockEnd(0, "", complete=False) in run(start, DONE)


value = (
    st.none()
    | st.integers(-1, 3)
    | st.sampled_from(["text", "tool_call", "\ud83d", "", "server"])
    | st.lists(st.none(), max_size=1)
)
event = st.fixed_dictionaries(
    {"type": st.sampled_from(["block_start", "block_delta", "block_end", "done", "error", "x"]) | value},
    optional=dict.fromkeys(
        ["block", "kind", "text", "input_json", "stop_reason", "usage", "message", "retry_after", "error"],
        value,
    ),
)


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(event | value, max_size=12))
def test_nothing_makes_the_reader_raise(events: list[Any]) -> None:
    out = run(*events)
    assert sum(isinstance(one, Done | Failed) for one in out) == 1
    assert isinstance(out[-1], Done | Failed)
    str(out).encode()


def more(text: str, block: int = 0) -> dict[str, Any]:
    return {"type": "block_delta", "block": block, "text": text}


def test_a_surrogate_pair_in_two_deltas_is_joined() -> None:
    events = run(START, more("a\ud83d"), more("\ude00b"), END, DONE)
    assert [event.text for event in events if isinstance(event, BlockDelta)] == ["a", "\U0001f600b"]


def test_a_half_without_its_other_half_is_replaced() -> None:
    events = run(
        START, more("a\ud83d"), END, {**START, "block": 1}, more("\ude00", 1), more("\ud83d", 1), DONE
    )
    assert [event.text for event in events if isinstance(event, BlockDelta)] == [
        "a",
        "\ufffd",
        "\ufffd",
        "\ufffd",
    ]


def test_the_input_of_a_call_is_joined_over_deltas_as_well() -> None:
    call = {"type": "block_start", "block": 0, "kind": "tool_call", "tool_use_id": "c", "tool_name": "t"}
    events = run(call, more('{"x":"\ud83d'), more('\ude00"}'), END, DONE)
    assert BlockEnd(0, '{"x":"\U0001f600"}') in events


async def test_messages_that_cannot_be_changed_are_sent_as_they_are() -> None:
    messages = (
        MappingProxyType({"role": "user", "content": (MappingProxyType({"type": "text", "text": "Hi"}),)}),
    )
    async with ProxyServer(sse(*ANSWER)) as server:
        await ask(server, Request(system="S", messages=messages))
    sent = json.loads(server.requests[0][2])["context"]["messages"]
    assert sent == [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]


@pytest.mark.parametrize(
    ("secret", "text", "shown"),
    [
        ("e", "the server is here", "the server is here"),
        ("e", "wrong key e, sorry", "wrong key [key], sorry"),
        ("key", "no such monkey: key=key", "no such monkey: [key]=[key]"),
        ("sk-12345", "got xsk-12345x", "got x[key]x"),
        ("", "nothing", "nothing"),
    ],
)
def test_a_short_secret_does_not_mangle_words(secret: str, text: str, shown: str) -> None:
    assert Where(secrets=(secret,)).clean(text) == shown
