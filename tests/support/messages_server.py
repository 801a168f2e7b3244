"""A real HTTP server on loopback that speaks the Messages API and enforces its rules strictly.

It runs in a thread of its own, so it serves async tests, sync tests and programs started as processes:

    with MessagesServer([say("Hello"), call("get_persona")]) as server:      # or `async with`
        … ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY=server.key …
    server.bodies                      # the accepted and refused requests, decoded

Answers come from a script (a list, used up in order) or from a brain (a function of the request body).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.messages_answers import (
    Answer,
    Block,
    Call,
    Page,
    Redacted,
    Refusal,
    Reply,
    Silence,
    Text,
    Thinking,
    call,
    encode_event,
    say,
    whole_message,
    wire_events,
)
from tests.support.messages_brain import ToolUsingBrain
from tests.support.messages_strict import KNOWN_VERSIONS, refuse_body

__all__ = [
    "KEY", "Answer", "Block", "Call", "MessagesServer", "Page", "Recorded", "Redacted", "Refusal", "Silence", "Text",
    "Thinking", "ToolUsingBrain", "call", "say",
]  # fmt: skip

KEY = "test-key-for-loopback"
BATCHES = "/v1/messages/batches"
MODELS = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5")
Brain = Callable[[dict[str, Any]], Reply]


@dataclass(frozen=True, slots=True)
class Recorded:
    """A request as it came; header names are lower case, `body` is None where it was no JSON."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    raw: bytes
    target: str = ""  # the path with its query


class MessagesServer:
    """The server; see the module's top.

    Args:
        answers: a script of replies, or a brain.
        key: the only key that is accepted; None accepts a request without any.
        models: the models it knows; None means any.
        max_tokens: the most a request may ask for.
        strict: whether the rules of the API are enforced.
        refused_words: features (words) that are answered by 400 as older servers do, if the body has them.
        only_api_key_header: the key counts only in `x-api-key`.
        only_versions: the `anthropic-version`s it knows.

    A batch ends when its status is asked for while `batches_end`, and asks the brain then: a `Refusal` is an error of that
    request alone, a `Silence` one that expired. Results come in the opposite order.
    """

    def __init__(
        self,
        answers: Sequence[Reply] | Brain | None = None,
        *,
        key: str | None = KEY,
        models: Sequence[str] | None = MODELS,
        max_tokens: int = 128_000,
        strict: bool = True,
        refused_words: Sequence[str] = (),
        only_api_key_header: bool = False,
        only_versions: Sequence[str] = KNOWN_VERSIONS,
    ) -> None:
        self._brain: Brain = answers if callable(answers) else self._next
        self.script: list[Reply] = [] if answers is None or callable(answers) else list(answers)
        self.key = key or ""
        self.models = models
        self.max_tokens = max_tokens
        self.strict = strict
        self.refused_words = tuple(refused_words)
        self.only_api_key_header = only_api_key_header
        self.only_versions = tuple(only_versions)
        self.requests: list[Recorded] = []
        self.refusals: list[str] = []
        self.props: dict[str, Any] = {}  # what a llama.cpp server tells of itself, to anybody
        self.batches: dict[str, dict[str, Any]] = {}  # by id: the requests, and the results once it has ended
        self.batches_end = True
        self.client_left = threading.Event()
        self.connections = 0
        self.busiest = self._answering = (
            0  # the most requests that were answered at one time, and those of now
        )
        self.url = ""
        self._key = key
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The bodies of all requests to `/v1/messages`, in order."""
        return [request.body for request in self.requests if request.path == "/v1/messages"]

    def _next(self, body: dict[str, Any]) -> Reply:
        if not self.script:
            return Refusal(500, "api_error", "the script of the test server is used up")
        return self.script.pop(0)

    # -- running ----------------------------------------------------------------------------------------

    def __enter__(self) -> MessagesServer:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)), daemon=True)
        self._thread.start()
        if not ready.wait(10):
            raise RuntimeError("the test server did not start")
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._loop is not None and self._stop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread is not None:
            self._thread.join(10)

    async def __aenter__(self) -> MessagesServer:
        return self.__enter__()

    async def __aexit__(self, *_exc: object) -> None:
        await asyncio.to_thread(self.__exit__)

    async def _serve(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        connections: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            connections.add(task)
            self.connections += 1
            try:
                await self._connection(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass
            finally:
                connections.discard(task)
                writer.close()

        server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=64 * 1024 * 1024)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ready.set()
        await self._stop.wait()
        server.close()
        for task in list(connections):
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    # -- one connection ---------------------------------------------------------------------------------

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")
            method, target, _ = first.split(" ", 2)
            headers = {
                name.strip().lower(): value.strip()
                for name, _, value in (line.partition(":") for line in lines if line)
            }
            raw = await reader.readexactly(int(headers.get("content-length", 0)))
            try:
                body = json.loads(raw) if raw else None
            except ValueError:
                body = None
            request = Recorded(method, target.partition("?")[0], headers, body, raw, target)
            self.requests.append(request)
            self._answering += 1
            self.busiest = max(self.busiest, self._answering)
            try:
                await self._answer(request, reader, writer)
            finally:
                self._answering -= 1

    async def _answer(
        self, request: Recorded, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        reply: Reply | dict[str, Any] = self._route(request)
        match reply:
            case dict():
                await _send(writer, 200, json.dumps(reply).encode(), "application/json")
            case Refusal():
                self.refusals.append(reply.message)
                error: dict[str, Any] = {"type": reply.type, "message": reply.message}
                if reply.details is not None:
                    error["details"] = dict(reply.details)
                body = json.dumps({"type": "error", "error": error, "request_id": "req_test"}).encode()
                content = body if reply.body is None else reply.body
                await _send(writer, reply.status, content, reply.content_type, reply.headers)
            case Page():
                await _send(writer, 200, reply.body, reply.content_type)
            case Silence():
                await self._until_client_leaves(reader)
            case Answer():
                await self._stream(reply, str(request.body.get("model")), reader, writer)

    def _route(self, request: Recorded) -> Reply | dict[str, Any]:
        if request.path == "/props":
            return self.props
        if self._key is not None:
            bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
            given = {request.headers.get("x-api-key", "")} | (set() if self.only_api_key_header else {bearer})
            if not given - {""}:
                return Refusal(401, "authentication_error", "x-api-key header is required")
            if self._key not in given:
                return Refusal(
                    401,
                    "authentication_error",
                    "invalid x-api-key" if self.only_api_key_header else "invalid key",
                )
        if request.headers.get("anthropic-version", "") not in self.only_versions:
            return Refusal(400, "invalid_request_error", "anthropic-version: header is missing or not known")
        match request.method, request.path:
            case "GET", "/v1/models":
                return {"data": [self._model(name) for name in self.models or ()], "has_more": False,
                        "first_id": None, "last_id": None}  # fmt: skip
            case "POST", "/v1/messages" | "/v1/messages/count_tokens":
                return self._messages(request)
            case "POST", path if path == BATCHES:
                return self._create_batch(request.body)
            case "GET", path if path.startswith(f"{BATCHES}/"):
                return self._batch(*path.removeprefix(f"{BATCHES}/").split("/"))
        return Refusal(404, "not_found_error", f"no such path: {request.path}")

    def _messages(self, request: Recorded) -> Reply | dict[str, Any]:
        body = request.body
        if not isinstance(body, dict):
            return Refusal(400, message="the body is not a JSON object")
        for word in self.refused_words:
            if word in request.raw.decode("utf-8", "replace"):
                return Refusal(400, message=f"{word}: Extra inputs are not permitted")
        counting = request.path.endswith("count_tokens")
        if self.strict:
            wrong = refuse_body(body, counting=counting, max_tokens=self.max_tokens)
            if wrong is not None:
                return Refusal(400, message=wrong)
        if self.models is not None and body.get("model") not in self.models:
            return Refusal(404, "not_found_error", f"model: {body.get('model')}")
        if counting:
            return {"input_tokens": len(json.dumps(body)) // 4}
        try:
            return self._brain(body)
        except Exception as error:
            return Refusal(500, "api_error", f"the brain of the test server failed: {error!r}")

    def _create_batch(self, body: Any) -> Reply | dict[str, Any]:
        requests = body.get("requests") if isinstance(body, dict) else None
        if not isinstance(requests, list) or not requests or set(body) != {"requests"}:
            return Refusal(400, message="requests: Field required")
        names = [str(one.get("custom_id")) for one in requests]
        if len(set(names)) < len(names) or not all(
            re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", one) for one in names
        ):
            return Refusal(400, message="custom_id: must be unique and match ^[a-zA-Z0-9_-]{1,64}$")
        if any("stream" in one["params"] for one in requests):
            return Refusal(400, message="params.stream: Extra inputs are not permitted")
        batch_id = f"msgbatch_{len(self.batches) + 1:03d}"
        self.batches[batch_id] = {"requests": requests, "results": None}
        return self._batch_status(batch_id)

    def _batch(self, batch_id: str, wanted: str = "") -> Reply | dict[str, Any]:
        batch = self.batches.get(batch_id)
        if batch is None or (wanted and batch["results"] is None):
            return Refusal(404, "not_found_error", f"no such batch: {batch_id}")
        if wanted:
            lines = [json.dumps(one) + "\n" for one in reversed(batch["results"])]
            return Page("".join(lines).encode(), "application/x-jsonl")
        if batch["results"] is None and self.batches_end:
            batch["results"] = [
                {"custom_id": one["custom_id"], "result": self._batch_result(one["params"])}
                for one in batch["requests"]
            ]
        return self._batch_status(batch_id)

    def _batch_result(self, params: dict[str, Any]) -> dict[str, Any]:
        wrong = refuse_body(params, counting=False, max_tokens=self.max_tokens)
        match Refusal(400, message=wrong) if wrong is not None else self._brain(params):
            case Answer() as answer:
                return {"type": "succeeded", "message": whole_message(answer, params["model"])}
            case Refusal() as refusal:
                inner = {"type": refusal.type, "message": refusal.message}
                return {
                    "type": "errored",
                    "error": {"type": "error", "error": inner, "request_id": "req_test"},
                }
        return {"type": "expired"}

    def _batch_status(self, batch_id: str) -> dict[str, Any]:
        batch = self.batches[batch_id]
        kinds = [one["result"]["type"] for one in batch["results"] or ()]
        counts = {kind: kinds.count(kind) for kind in ("succeeded", "errored", "canceled", "expired")}
        counts["processing"] = len(batch["requests"]) - len(kinds)
        has_ended = batch["results"] is not None
        return {"id": batch_id, "type": "message_batch", "processing_status": "ended" if has_ended else "in_progress",
                "request_counts": counts, "results_url": f"{self.url}{BATCHES}/{batch_id}/results" if has_ended else None}  # fmt: skip

    def _model(self, name: str) -> dict[str, Any]:
        return {"type": "model", "id": name, "display_name": name.replace("-", " ").title(), "lifecycle": "active",
                "created_at": "2026-09-01T00:00:00Z", "max_tokens": self.max_tokens, "max_input_tokens": 1_000_000}  # fmt: skip

    async def _stream(
        self, answer: Answer, model: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        headers = {"cache-control": "no-cache", "request-id": "req_test", **answer.headers}
        head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n"
        writer.write((head + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n").encode("latin-1"))
        written = 0
        for number, event in enumerate([*wire_events(answer, model), None]):
            if number == answer.stall_after_events:
                await writer.drain()
                await self._until_client_leaves(reader, writer, answer.ping_every)
                return
            if number == answer.error_after_events:
                event = {"type": "error", "error": dict(answer.error)}
            if number == answer.drop_after_events:
                break
            if event is None:
                writer.write(b"0\r\n\r\n")
                await writer.drain()
                return
            content = encode_event(event, named=answer.named, crlf=answer.crlf)
            if answer.drop_after_bytes is not None and written + len(content) > answer.drop_after_bytes:
                _write_chunk(writer, content[: answer.drop_after_bytes - written])
                break
            written += len(content)
            size = answer.write or len(content)
            for at in range(0, len(content), size):
                _write_chunk(writer, content[at : at + size])
                if answer.write:
                    await writer.drain()
                    await asyncio.sleep(0)
            await writer.drain()
            if reader.at_eof() or reader.exception():
                self.client_left.set()
                raise ConnectionResetError
            if number == answer.error_after_events:
                break
            if answer.delay:
                await asyncio.sleep(answer.delay)
        await writer.drain()
        raise ConnectionResetError  # the connection is dropped in the middle of the answer

    async def _until_client_leaves(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter | None = None,
        ping: float | None = None,
    ) -> None:
        waited = 0.0
        # A client that resets the connection while a ping is written ends it with an exception, not with an end of file.
        while not (reader.at_eof() or reader.exception()):
            await asyncio.sleep(0.005)
            waited += 0.005
            if writer is not None and ping is not None and waited >= ping:
                waited = 0.0
                _write_chunk(writer, encode_event({"type": "ping"}))
        self.client_left.set()
        raise ConnectionResetError


def _write_chunk(writer: asyncio.StreamWriter, content: bytes) -> None:
    if content:
        writer.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")


async def _send(
    writer: asyncio.StreamWriter,
    status: int,
    body: bytes,
    content_type: str,
    headers: Mapping[str, str] | None = None,
) -> None:
    lines = {"content-type": content_type, "content-length": str(len(body)), **(headers or {})}
    head = f"HTTP/1.1 {status} X\r\n" + "".join(f"{key}: {value}\r\n" for key, value in lines.items())
    writer.write((head + "\r\n").encode("latin-1") + body)
    await writer.drain()


def main() -> None:
    """Serve the tool-using brain until Ctrl+C, for trying the program by hand."""
    with MessagesServer(ToolUsingBrain()) as server:
        print(f"ANTHROPIC_BASE_URL={server.url} ANTHROPIC_API_KEY={server.key}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
