"""`ProxyModel`: a model behind a server of one's own that holds the key.

One POST to `{url}/api/stream` with a bearer token and `{"model", "context", "options"}`; the answer is
server-sent events, one JSON object in each `data:` line:

    {"type": "block_start", "block": 0, "kind": "text" | "thinking" | "tool_call", "tool_use_id", "tool_name"}
    {"type": "block_delta", "block": 0, "kind": …, "text": "…"}          # kind may be left out
    {"type": "block_end", "block": 0, "input_json", "signature", "redacted"}
    {"type": "done", "stop_reason": "end_turn", "usage": {…}, "message_id"}
    {"type": "error", "message": "…", "kind", "retryable", "retry_after", "usage"}

No key leaves this side, and of the options only those listed in `OPTIONS`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, get_args

from agent.core.clock import Clock, SystemClock
from agent.core.model import (
    BlockDelta,
    BlockEnd,
    BlockEvent,
    BlockKind,
    BlockStart,
    Done,
    ErrorKind,
    Failed,
    ModelError,
    Request,
    Usage,
    seconds_of,
)
from agent.core.turns import thaw
from agent.models.anthropic import error_body, error_mapping
from agent.models.anthropic.endpoint import check_base_url, check_key, hide_secrets
from agent.models.anthropic.error_mapping import ModelFailure, Where
from agent.models.anthropic.stall_timeouts import StallClocks, StallLimits
from agent.models.anthropic.stream import Put, transfer
from agent.models.anthropic.stream_accumulator import join_halves, read_usage
from agent.models.http_client import HttpClient

OPTIONS = ("thinking", "max_tokens", "session_id")
"""The fields of a `Request` that are sent as options; its `api_key` is not among them."""
_STREAM_PATH = "/api/stream"

_KINDS: tuple[str, ...] = get_args(BlockKind)
_ERROR_KINDS: tuple[str, ...] = get_args(ErrorKind)


class ProxyModel:
    """A model behind a proxy.

    Args:
        name: the model's name, as the proxy knows it.
        url: the proxy's base URL, without `/api/stream`.
        token: the bearer token for the proxy (not a key for the model), or None for a proxy without one.
        token_name: the setting the token comes from, named when the proxy refuses it.
        stall_limits: the limits of the stall clocks.
        clock: read by the stall clocks.
    """

    def __init__(
        self,
        name: str,
        *,
        url: str,
        token: str | None = None,
        token_name: str = "the proxy's token",
        stall_limits: StallLimits | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._name = name
        self._url = url.strip().rstrip("/")
        self._token = token
        self._token_name = token_name
        self._stall_limits = stall_limits or StallLimits()
        self._clock = clock or SystemClock()
        self._http = HttpClient(self.endpoint)

    def __repr__(self) -> str:
        return f"ProxyModel({self._name!r}, endpoint={self.endpoint!r})"

    @property
    def name(self) -> str:
        """The model's name, as the proxy knows it."""
        return self._name

    @property
    def endpoint(self) -> str:
        """The proxy's base URL without secrets."""
        return hide_secrets(self._url)

    def stream(self, request: Request) -> AsyncGenerator[BlockEvent, None]:
        """Make one attempt; see `Model.stream`."""
        where = Where(self.endpoint, self._name, self._token_name, (self._token,))

        async def read(put: Put) -> None:
            await self._read(build_request(self._name, request), where, put)

        return transfer(
            read,
            ProxyReader(where),
            clock=self._clock,
            stalls=StallClocks(self._clock.now(), self._stall_limits, self.endpoint),
            explain=lambda error: (
                error.error
                if isinstance(error, ModelFailure)
                else error_mapping.explain_exception(error, where)
            ),
        )

    async def _read(self, body: Mapping[str, Any], where: Where, put: Put) -> None:
        token, problem = check_key(self._token, self._token_name)
        problem = problem or check_base_url(self._url)
        if problem is not None:
            raise ModelFailure(problem)
        client = await self._http.get(where)
        headers = {"accept": "text/event-stream", "content-type": "application/json"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        content = json.dumps(body, ensure_ascii=False, default=_plain).encode()
        async with client.stream(
            "POST", f"{self._url}{_STREAM_PATH}", content=content, headers=headers
        ) as response:
            if not response.is_success:
                refusal = await error_body.read_refusal(response)
                answer = error_mapping.as_headers(response.headers)
                raise ModelFailure(error_mapping.explain_status(response.status_code, refusal, where, answer))
            content_type = response.headers.get("content-type", "")
            if "event-stream" not in content_type.lower():
                start = await error_body.read_beginning(
                    response, error_mapping.PAGE_LIMIT, error_body.REFUSAL_SECONDS
                )
                raise ModelFailure(error_mapping.explain_page(content_type, start, where))
            async for chunk in error_body.decompressed(response):
                await put(chunk)

    async def close(self) -> None:
        """Close the connections that are kept for the next request."""
        await self._http.close()


def build_request(name: str, request: Request) -> dict[str, Any]:
    """Return the body for the proxy: `{"model", "context", "options"}`, the messages as the request has them."""
    options = {key: getattr(request, key) for key in OPTIONS}
    return {
        "model": name,
        "context": {
            "system": request.system,
            "messages": request.messages,
            "tools": [
                {"name": tool.name, "description": tool.description, "input_schema": thaw(tool.input_schema)}
                for tool in request.tools
            ],
        },
        "options": {key: value for key, value in options.items() if value is not None},
    }


def _plain(value: object) -> object:
    """What `json` does not know by itself: read-only mappings and other sequences."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return list(value)
    raise TypeError(f"{type(value).__name__} cannot be sent")


class ProxyReader:
    """Turns the proxy's events into block events; never raises.

    Args:
        where: what its error messages may name.
    """

    def __init__(self, where: Where) -> None:
        self._where = where
        self._kinds: dict[int, BlockKind] = {}  # of the blocks that are open
        self._numbers: dict[int, int] = {}  # the proxy's number -> ours, for the same
        self._inputs: dict[int, list[str]] = {}
        self._halves: dict[int, str] = {}  # the first half of a surrogate pair, until the second comes
        self._count = 0
        self._usage = Usage()
        self.finished = False

    def feed(self, event: object, name: str = "") -> list[BlockEvent]:
        """Return what one event means; unknown ones mean nothing."""
        if self.finished:
            return []
        if not isinstance(event, Mapping):
            return self._wrong("an event that is not an object")
        match event.get("type", name):
            case "block_start":
                return self._start(event)
            case "block_delta":
                return self._delta(event)
            case "block_end":
                return self._end(event)
            case "done":
                return self._done(event)
            case "error":
                return self._error(event)
        return []

    def close(self) -> list[BlockEvent]:
        """Return what the end of the stream means when no `done` came."""
        message = "The answer was cut off before its end; send a message to go on."
        return self.fail(ModelError("incomplete", message, retryable=True))

    @property
    def is_whole(self) -> bool:
        """Never before `done` came, which is the end."""
        return False

    def cut(self, error: ModelError) -> list[BlockEvent]:
        """`fail`: nothing is whole before its `done`."""
        return self.fail(error)

    def fail(self, error: ModelError) -> list[BlockEvent]:
        """End the answer with `error`; what is open stays without an end."""
        if self.finished:
            return []
        self.finished = True
        return [Failed(error, self._usage)]

    def _wrong(self, what: str) -> list[BlockEvent]:
        message = f"The proxy at {self._where.endpoint} sent {what}; the answer stops there."
        return self.fail(ModelError("protocol", message, retryable=True))

    def _start(self, event: Mapping[str, Any]) -> list[BlockEvent]:
        index, kind = event.get("block"), event.get("kind")
        if type(index) is not int or kind not in _KINDS:
            return self._wrong("a block without number or kind")
        if index in self._kinds:
            return self._wrong("a block that had already begun")
        number, self._count = self._count, self._count + 1
        self._kinds[index], self._numbers[index], self._inputs[index] = kind, number, []
        return [BlockStart(number, kind, _text(event, "tool_use_id"), _text(event, "tool_name"))]

    def _delta(self, event: Mapping[str, Any]) -> list[BlockEvent]:
        index = event.get("block")
        if type(index) is not int or index not in self._kinds:
            return self._wrong("more of a block that is not open")
        if event.get("kind", self._kinds[index]) != self._kinds[index]:
            return self._wrong("a delta for the wrong kind of block")
        text = event.get("text")
        if not isinstance(text, str):
            return []
        text, self._halves[index] = join_halves(self._halves.get(index, ""), text)
        return self._more(index, text)

    def _more(self, index: int, text: str) -> list[BlockEvent]:
        if not text:
            return []
        if self._kinds[index] == "tool_call":
            self._inputs[index].append(text)
        return [BlockDelta(self._numbers[index], text)]

    def _flush(self, index: int) -> list[BlockEvent]:
        """What is left of a surrogate pair whose second half never came."""
        return self._more(index, "\ufffd" if self._halves.pop(index, "") else "")

    def _end(self, event: Mapping[str, Any]) -> list[BlockEvent]:
        index = event.get("block")
        if type(index) is not int or index not in self._kinds:
            return self._wrong("the end of a block that is not open")
        events = self._flush(index)
        kind, number, parts = self._kinds.pop(index), self._numbers.pop(index), self._inputs.pop(index)
        whole = _text(event, "input_json") or "".join(parts)
        if kind == "tool_call" and whole and not parts:
            events.append(BlockDelta(number, whole))
        signature, redacted = _text(event, "signature"), _text(event, "redacted")
        return [*events, BlockEnd(number, whole if kind == "tool_call" else "", signature, redacted)]

    def _done(self, event: Mapping[str, Any]) -> list[BlockEvent]:
        self._usage = read_usage(self._usage, event.get("usage"))
        stop_reason = _text(event, "stop_reason")
        if not stop_reason:
            return self._wrong("an end without a stop reason")
        events: list[BlockEvent] = []
        for index in self._kinds:
            events += self._flush(index)
            events.append(BlockEnd(self._numbers[index], "".join(self._inputs[index]), complete=False))
        self.finished = True
        return [*events, Done(stop_reason, self._usage, _text(event, "message_id"))]

    def _error(self, event: Mapping[str, Any]) -> list[BlockEvent]:
        self._usage = read_usage(self._usage, event.get("usage"))
        kind = event.get("kind")
        error = error_mapping.explain_event(
            event.get("error", {"message": event.get("message")}), self._where
        )
        if kind in _ERROR_KINDS:
            message = self._where.clean(_text(event, "message")) or error.message
            seconds = seconds_of(event.get("retry_after"))
            error = ModelError(kind, message, event.get("retryable") is True, seconds)
        return self.fail(error)


def _text(event: Mapping[str, Any], key: str) -> str:
    value = event.get(key)
    if not isinstance(value, str):
        return ""
    return (
        value
        if value.isascii()
        else value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    )
