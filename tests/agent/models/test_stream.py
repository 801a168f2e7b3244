"""From a request to block events: whatever the bytes, the faults and the moment of a cancellation."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.model import BlockDelta, BlockEnd, BlockEvent, Done, Failed, ModelError
from agent.models.anthropic.error_mapping import Where, explain_exception
from agent.models.anthropic.stall_timeouts import StallClocks, StallLimits
from agent.models.anthropic.stream import transfer
from agent.models.anthropic.stream_accumulator import Accumulator
from tests.support.messages_answers import Answer, Call, Text, encode_event, wire_events
from tests.support.model_clock import FakeClock

Put = Callable[[bytes], Awaitable[None]]
STREAM = b"".join(
    encode_event(event) for event in wire_events(Answer((Text("Hello there."), Call("t", {"a": 1}))))
)


def events_of(read: Callable[[Put], Awaitable[None]], clock: FakeClock | None = None) -> Any:
    clock = clock or FakeClock()
    return transfer(
        read,
        Accumulator(),
        clock=clock,
        stalls=StallClocks(clock.now(), StallLimits(), "http://x"),
        explain=lambda error: explain_exception(error, Where("http://x")),
    )


def reading(
    chunks: list[bytes], fault: Exception | None = None, pause: bool = False
) -> Callable[[Put], Awaitable[None]]:
    async def read(put: Put) -> None:
        for chunk in chunks:
            await put(chunk)
            if pause:
                await asyncio.sleep(0)
        if fault is not None:
            raise fault

    return read


def run(read: Callable[[Put], Awaitable[None]]) -> list[BlockEvent]:
    async def collect() -> list[BlockEvent]:
        out = [event async for event in events_of(read)]
        assert len(asyncio.all_tasks()) == 1
        return out

    return asyncio.run(collect())


def cut(stream: bytes, size: int) -> list[bytes]:
    return [stream[at : at + size] for at in range(0, len(stream), size)]


@settings(max_examples=60, deadline=None)
@given(
    chunks=st.lists(st.binary(max_size=30), max_size=8)
    | st.builds(lambda end, size: cut(STREAM[:end], size), st.integers(0, len(STREAM)), st.integers(1, 300)),
    fault=st.sampled_from(
        [None, OSError("gone"), KeyError("x"), ValueError("\ud83d"), RecursionError(), UnicodeError("y")]
    ),
    pause=st.booleans(),
)
def test_any_bytes_and_any_fault_end_in_one_last_event(
    chunks: list[bytes], fault: Exception | None, pause: bool
) -> None:
    out = run(reading(chunks, fault, pause))
    assert [isinstance(event, Done | Failed) for event in out].count(True) == 1
    assert isinstance(out[-1], Done | Failed)
    if fault is not None and isinstance(out[-1], Done):
        assert b'"stop_reason": "tool_use"' in b"".join(chunks)  # the answer was whole before the fault


def test_what_came_before_a_fault_is_not_lost() -> None:
    half = STREAM[: STREAM.index(b"content_block_stop")]
    out = run(reading(cut(half, 7), OSError("gone")))
    assert "".join(event.text for event in out if isinstance(event, BlockDelta)) == "Hello there."
    assert isinstance(out[-1], Failed)
    assert out[-1].error.kind == "network"


def test_an_answer_is_complete_from_its_stop_reason_on_wherever_and_however_the_stream_ends() -> None:
    whole_at = STREAM.index(b"\n\n", STREAM.index(b'"stop_reason": "tool_use"')) + 2
    for end in range(STREAM.index(b"content_block_delta"), len(STREAM)):
        out = run(reading([STREAM[:end]]))
        if isinstance(out[-1], Failed):
            assert end < whole_at
            assert out[-1].error.kind == "incomplete"  # not that the server sent nonsense
        else:
            assert end >= whole_at - 2  # the event was whole without its blank line
    for fault in (OSError("gone"), ValueError("odd")):
        assert isinstance(run(reading([STREAM[:whole_at]], fault))[-1], Done)


@pytest.mark.parametrize("ping_every", [None, 0.4])
async def test_an_answer_without_the_mark_of_its_end_is_not_waited_for(ping_every: float | None) -> None:
    clock, began = FakeClock(), asyncio.Event()
    end = STREAM.index(b"event: message_stop")

    async def read(put: Put) -> None:
        await put(STREAM[:end])
        began.set()
        while True:
            await asyncio.sleep(0)
            if ping_every is not None:
                await put(encode_event({"type": "ping"}))

    out: list[tuple[BlockEvent, float]] = []

    async def collect() -> None:
        async for event in events_of(read, clock):
            out.append((event, clock.now()))

    async with asyncio.timeout(60):
        task = asyncio.create_task(collect())
        await began.wait()
        while not task.done():
            for _ in range(9):  # all there is to do comes before the next moment
                await asyncio.sleep(0)
            clock.advance(0.5)
    last, at = out[-1]
    assert isinstance(last, Done)
    assert [event.complete for event, _ in out if isinstance(event, BlockEnd)] == [True, True]
    assert at <= 1003.0  # and not the minutes a silent server has


@pytest.mark.parametrize(
    "data", [b"upstream timed out", b'"upstream timed out"', b'{"message": "upstream timed out"}']
)
def test_an_error_event_in_any_shape_keeps_the_servers_words(data: bytes) -> None:
    out = run(reading([b"event: error\ndata: " + data + b"\n\n"]))
    assert isinstance(out[-1], Failed)
    assert "upstream timed out" in out[-1].error.message


def test_more_chunks_than_the_queue_holds_come_through_in_order() -> None:
    out = run(reading(cut(STREAM, 1)))
    assert isinstance(out[-1], Done)
    assert "".join(event.text for event in out if isinstance(event, BlockDelta)) == 'Hello there.{"a": 1}'


@pytest.mark.parametrize("steps", range(0, 40, 3))
async def test_a_cancellation_at_any_moment_leaves_no_task_behind(steps: int) -> None:
    closed = asyncio.Event()

    async def read(put: Put) -> None:
        try:
            await reading(cut(STREAM, 100), pause=True)(put)
            await asyncio.sleep(60)
        finally:
            closed.set()

    async def consume() -> None:
        async for _ in events_of(read):
            await asyncio.sleep(0)

    task = asyncio.create_task(consume())
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task}, timeout=20)
    assert task.done()
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) == 1
    assert closed.is_set() or steps == 0


async def test_a_request_that_swallows_its_cancellation_is_left_behind() -> None:
    release = asyncio.Event()

    async def read(put: Put) -> None:
        await put(STREAM)
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    started = asyncio.get_running_loop().time()
    out = [event async for event in events_of(read)]
    assert isinstance(out[-1], Done)
    assert asyncio.get_running_loop().time() - started < 20
    release.set()


def named(name: str, base: type[Exception] = Exception, cause: Exception | None = None) -> Exception:
    error = type(name, (base,), {})("because of x")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind", "retryable", "words"),
    [
        (
            named("APIConnectionError", cause=named("ConnectError", cause=OSError(111, "refused"))),
            "network",
            True,
            "refused",
        ),
        (named("APITimeoutError", cause=named("ConnectTimeout")), "network", True, "running"),
        (named("ConnectError", cause=named("SSLCertVerificationError")), "network", False, "certificate"),
        (named("ProxyError"), "network", True, "proxy"),
        (
            named("RemoteProtocolError", base=type("TransportError", (Exception,), {})),
            "network",
            True,
            "broke",
        ),
        (named("UnsupportedProtocol"), "client", False, "http://"),
        (named("DecodingError"), "protocol", True, "decompressed"),
        (named("OversizedEvent"), "protocol", False, "too long"),
        (ZeroDivisionError("secret"), "client", False, "ZeroDivisionError"),
    ],
)
def test_an_exception_of_the_client_is_told_by_what_it_is(
    error: Exception, kind: str, retryable: bool, words: str
) -> None:
    told = explain_exception(error, Where("http://x", secrets=("secret",)))
    assert isinstance(told, ModelError)
    assert (told.kind, told.retryable) == (kind, retryable)
    assert words in told.message
    assert "secret" not in told.message


def test_an_endless_chain_of_exceptions_is_no_trap() -> None:
    first, second = OSError("a"), OSError("b")
    first.__context__, second.__context__ = second, first
    assert explain_exception(first, Where()).kind == "network"


async def test_a_request_that_fails_after_nobody_waits_for_it_any_more_is_reported_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agent.models.anthropic.stream.SETTLE", 0.0)
    unseen: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: unseen.append(context))
    may_end, ended = asyncio.Event(), asyncio.Event()

    async def read(put: Put) -> None:
        await put(STREAM[: len(STREAM) // 2])
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await may_end.wait()
            ended.set()
            raise ValueError("sk-ant-a-key") from None

    stream = events_of(read)
    await anext(stream)
    await stream.aclose()
    may_end.set()
    await ended.wait()
    await asyncio.sleep(0)
    gc.collect()
    assert not unseen
