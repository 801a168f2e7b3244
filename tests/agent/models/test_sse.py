"""Bytes to server-sent events, for any chunking."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.models.anthropic.sse import OversizedEvent, ServerEvent, SSEParser
from tests.support.examples import examples


def parse(*chunks: bytes) -> list[ServerEvent]:
    parser = SSEParser()
    return [event for chunk in chunks for event in parser.feed(chunk)] + parser.close()


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"event: a\ndata: {}\n\n", [("a", "{}")]),
        (b"data: 1\n\ndata: 2\n\n", [("", "1"), ("", "2")]),
        (b"data:1\r\n\r\n", [("", "1")]),
        (b"data: 1\r\rdata: 2\r\r", [("", "1"), ("", "2")]),
        (b"data: a\ndata: b\n\n", [("", "a\nb")]),
        (b": comment\nid: 7\nretry: 5\ndata: x\n\n", [("", "x")]),
        (b"event: only a name\n\ndata: x\n\n", [("", "x")]),
        (b"data: no blank line at the end", [("", "no blank line at the end")]),
        (b"data: no blank line\n", [("", "no blank line")]),
        (b"\xef\xbb\xbfdata: after a BOM\n\n", [("", "after a BOM")]),
        (b"data: x\n\xef\xbb\xbfdata: y\n\n", [("", "x")]),
        (b"data: \xff\xc3\xa9\n\n", [("", "\ufffd\u00e9")]),
        (b"data\n\n", [("", "")]),
        (b"data:   x\n\n", [("", "  x")]),
        (b"\n\n\n", []),
        (b"", []),
    ],
)
def test_lines_become_events(stream: bytes, events: list[tuple[str, str]]) -> None:
    assert parse(stream) == [ServerEvent(*event) for event in events]


@settings(max_examples=examples(20), deadline=None)
@given(
    events=st.lists(st.tuples(st.sampled_from(["", "ping", "é"]), st.text(max_size=30)), max_size=6),
    ending=st.sampled_from(["\n", "\r\n", "\r"]),
    cuts=st.lists(st.integers(0, 400), max_size=12),
)
def test_any_chunking_gives_the_same_events(
    events: list[tuple[str, str]], ending: str, cuts: list[int]
) -> None:
    cleaned = [
        (name, text.encode("utf-8", "replace").decode().replace("\r", "").replace("\n", ""))
        for name, text in events
    ]
    stream = "".join(
        (f"event: {name}{ending}" if name else "") + f"data: {text}{ending}{ending}" for name, text in cleaned
    ).encode()
    bounds = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    pieces = [stream[start:end] for start, end in itertools.pairwise(bounds)]
    expected = [ServerEvent(name, text) for name, text in cleaned]
    assert parse(*pieces) == expected
    assert parse(*(bytes([byte]) for byte in stream)) == expected


@settings(max_examples=examples(20), deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=10))
def test_no_bytes_make_it_raise(chunks: list[bytes]) -> None:
    assert all(isinstance(event, ServerEvent) for event in parse(*chunks))


def test_a_long_line_in_single_bytes_takes_linear_time() -> None:
    def seconds(size: int) -> float:
        chunks = [b"x"] * size
        started = time.process_time()
        parse(b"data: ", *chunks, b"\n\n")
        return time.process_time() - started

    seconds(20_000)
    assert seconds(400_000) < 20 * 6 * max(seconds(20_000), 0.002)


def test_an_event_without_end_is_refused() -> None:
    parser = SSEParser(max_event=1000)
    parser.feed(b"data: 1\n\n" * 500)
    with pytest.raises(OversizedEvent):
        for _ in range(20):
            parser.feed(b"data: " + b"x" * 94 + b"\n")


def test_an_oversized_event_that_begins_in_the_chunk_that_ends_another_is_refused() -> None:
    parser = SSEParser(max_event=1000)
    assert parser.feed(b"data: 1\n\ndata: " + b"x" * 500) == [ServerEvent("", "1")]
    with pytest.raises(OversizedEvent):
        parser.feed(b"x" * 500)


def test_signs_of_life_do_not_add_up_to_an_oversized_event() -> None:
    parser = SSEParser(max_event=1000)
    assert [event for _ in range(500) for event in parser.feed(b": still here\n\n")] == []
    assert parser.feed(b"data: x\n\n") == [ServerEvent("", "x")]
