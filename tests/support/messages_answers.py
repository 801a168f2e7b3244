"""What the test server may answer: blocks, faults and refusals as values, and their form on the wire."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

_ids = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    text: str
    signature: str = "c2lnbmF0dXJl"


@dataclass(frozen=True, slots=True)
class Redacted:
    data: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; `input` is an object, or raw JSON text to be sent as it is."""

    name: str
    input: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None
    whole: bool = False  # the input comes in the start event, without deltas


Block = Text | Thinking | Redacted | Call


@dataclass(frozen=True, slots=True)
class Answer:
    """A streamed answer.

    Attributes:
        blocks: its content.
        stop_reason: None means `tool_use` if there is a call, else `end_turn`; `""` means none is sent.
        events: raw events instead of blocks (dicts, or bytes that are written as they are).
        usage: what `message_start` and `message_delta` report.
        delta: characters per delta.
        write: bytes per write to the socket, None for one write per event.
        pings: pings after `message_start`.
        delay: seconds between events.
        named: whether events have an `event:` line.
        crlf: lines end in CRLF.
        message_stop: whether `message_stop` is sent.
        drop_after_events, drop_after_bytes: the connection is dropped there.
        stall_after_events: nothing more comes there, until the client goes or the server is closed.
        ping_every: in a stall, seconds between pings, or None for silence.
        error_after_events, error: an error event comes there and ends the stream.
        headers: further response headers.
    """

    blocks: tuple[Block, ...] = ()
    stop_reason: str | None = None
    events: tuple[Any, ...] | None = None
    usage: Mapping[str, int] = field(default_factory=lambda: {"input_tokens": 25, "output_tokens": 17})
    delta: int = 12
    write: int | None = None
    pings: int = 1
    delay: float = 0.0
    named: bool = True
    crlf: bool = False
    message_stop: bool = True
    drop_after_events: int | None = None
    drop_after_bytes: int | None = None
    stall_after_events: int | None = None
    ping_every: float | None = None
    error_after_events: int | None = None
    error: Mapping[str, Any] = field(
        default_factory=lambda: {"type": "overloaded_error", "message": "Overloaded"}
    )
    headers: Mapping[str, str] = field(default_factory=dict)

    def but(self, **changes: Any) -> Answer:
        """Return this answer with some attributes changed."""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error answer in the API's shape, or with `body` as it is."""

    status: int
    type: str = "invalid_request_error"
    message: str = "refused"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    content_type: str = "application/json"
    details: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Some other body with status 200."""

    body: bytes
    content_type: str = "text/html"


@dataclass(frozen=True, slots=True)
class Silence:
    """No answer at all: not even headers, until the client goes or the server is closed."""


Reply = Answer | Refusal | Page | Silence


def say(text: str, **options: Any) -> Answer:
    """Return an answer of one text block."""
    return Answer((Text(text),), **options)


def call(
    name: str, input: Mapping[str, Any] | str | None = None, *, text: str = "", **options: Any
) -> Answer:
    """Return an answer that calls one tool, after `text` if there is any."""
    before: tuple[Block, ...] = (Text(text),) if text else ()
    return Answer((*before, Call(name, {} if input is None else input)), **options)


def wire_events(answer: Answer, model: str = "claude-sonnet-5-5") -> Iterator[Any]:
    """Yield the events of `answer` in the order the API sends them."""
    if answer.events is not None:
        yield from answer.events
        return
    start_usage = {**answer.usage, "output_tokens": 1}
    yield {
        "type": "message_start",
        "message": {
            "id": f"msg_{next(_ids):06d}", "type": "message", "role": "assistant", "model": model, "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": start_usage,
        },
    }  # fmt: skip
    for _ in range(answer.pings):
        yield {"type": "ping"}
    for index, block in enumerate(answer.blocks):
        yield from _block_events(index, block, answer.delta)
    stop_reason = answer.stop_reason
    if stop_reason is None:
        stop_reason = "tool_use" if any(isinstance(block, Call) for block in answer.blocks) else "end_turn"
    if stop_reason:
        delta = {"stop_reason": stop_reason, "stop_sequence": None}
        yield {"type": "message_delta", "delta": delta, "usage": dict(answer.usage)}
    if answer.message_stop:
        yield {"type": "message_stop"}


def whole_message(answer: Answer, model: str) -> dict[str, Any]:
    """Return an answer of texts and thinking as one message, as it stands in the results of a batch."""
    content = [
        {"type": "text", "text": block.text}
        if isinstance(block, Text)
        else {"type": "thinking", "thinking": block.text, "signature": block.signature}
        for block in answer.blocks
        if isinstance(block, Text | Thinking)
    ]
    return {
        "id": f"msg_{next(_ids):06d}", "type": "message", "role": "assistant", "model": model, "content": content,
        "stop_reason": answer.stop_reason or "end_turn", "stop_sequence": None, "usage": dict(answer.usage),
    }  # fmt: skip


def _block_events(index: int, block: Block, size: int) -> Iterator[dict[str, Any]]:
    deltas: list[dict[str, Any]] = []
    match block:
        case Text(text):
            start: dict[str, Any] = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(text, size)]
        case Thinking(text, signature):
            start = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(text, size)]
            deltas.append({"type": "signature_delta", "signature": signature})
        case Redacted(content):
            start = {"type": "redacted_thinking", "data": content}
        case Call(name, given, tool_id, whole):
            start = {
                "type": "tool_use",
                "id": tool_id or f"toolu_{next(_ids):06d}",
                "name": name,
                "input": {},
            }
            if whole:
                start["input"] = given
            else:
                raw = given if isinstance(given, str) else json.dumps(given) if given else ""
                deltas = [
                    {"type": "input_json_delta", "partial_json": piece} for piece in ["", *_pieces(raw, size)]
                ]
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def encode_event(event: Any, *, named: bool = True, crlf: bool = False) -> bytes:
    """Return one event as server-sent-event bytes; bytes are passed as they are."""
    if isinstance(event, bytes):
        return event
    name = f"event: {event['type']}\n" if named and isinstance(event, dict) and "type" in event else ""
    text = f"{name}data: {json.dumps(event)}\n\n"
    return text.replace("\n", "\r\n").encode() if crlf else text.encode()
