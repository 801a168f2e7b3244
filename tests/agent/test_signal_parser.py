"""Signals in a text that is cut anywhere: what is found is what a second, plain reading of the whole text finds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.response_assembler import parse_input
from agent.signals.parser import WORDS, InvalidSignal, Piece, Signal, SignalParser

ASSET = 'GENERATE_ASSET\n---\n{"name": "plan", "kind": "md", "content": "# A\\n{ ``` \\" GENERATE_ASSET\\n---\\n"}\n'
SCORE = 'STORE_MEASUREMENT\n---\n{"dimension": "warmth",\n "score": 4}\n'


def parse(parts: Iterable[str]) -> list[Piece]:
    parser = SignalParser()
    return [piece for part in parts for piece in parser.feed(part)] + parser.end()


def told(pieces: Iterable[Piece]) -> tuple[list[str | Signal], list[str]]:
    """The texts and signals, neighbouring texts as one, and the words of the faults."""
    joined: list[str | Signal] = []
    faults = []
    for piece in pieces:
        if isinstance(piece, InvalidSignal):
            faults.append(piece.word)
        elif isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        elif piece:
            joined.append(piece)
    return joined, faults


def reference(text: str) -> Iterable[Piece]:
    """The pieces by a plain reading, line by line, of the whole text."""
    at, fence = 0, ""
    while at < len(text):
        begun = re.compile(rf"({'|'.join(WORDS)})[ \t]*\r?\n---[ \t]*\r?\n[ \t\r\n]*").match(text, at)
        if begun is not None and not fence:
            try:
                end = json.JSONDecoder().raw_decode(text, begun.end())[1]
            except (ValueError, RecursionError):
                end = begun.end()
            value, fault = parse_input(text[begun.end() : end])
            behind = re.compile(r"[ \t\r]*(\n|\Z)").match(text, end)
            if end > begun.end() and not fault and behind is not None:
                yield Signal(begun[1], value, text[at : behind.end()])
                at = behind.end()
                continue
            yield InvalidSignal(begun[1], "")
        line = text[at:].partition("\n")[0]
        bare = line.rstrip("\r")
        if not fence and (opened := re.match(r" {0,3}(`{3,})[^`]*\Z| {0,3}(~{3,})", bare)):
            fence = opened[1] or opened[2]
        elif fence and (closed := re.fullmatch(r" {0,3}(`+|~+)[ \t]*", bare)) and closed[1].startswith(fence):
            fence = ""
        yield text[at : at + len(line) + 1]
        at += len(line) + 1


FRAGMENTS = [
    *WORDS, "---", "\n", "\n", "\r\n", " ", "{", "}", "[", "]", '"', "\\", ":", ",", "1", "e", "null", "é", "\0", "```",
    "~~~~", "`", "```json\n", "    ", "prose", "GENERATE_", '{"a": 1}', '{"a": {"b": "}{"}}', '{"a": 1, "a": 2}', ASSET,
    *(f"{word}\n---\n" for word in WORDS), "GENERATE_ASSET \t\r\n--- \r\n", SCORE, '{"a": "x\ny"}', '{"a": "x\\\n', "\x0b",
]  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join), st.data())
def test_a_text_cut_anywhere_is_read_like_the_whole(text: str, data: st.DataObject) -> None:
    whole = told(parse([text]))
    assert whole == told(reference(text))
    assert "".join(one.text if isinstance(one, Signal) else one for one in whole[0]) == text
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    assert told(parse(list(text))) == whole
    assert told(parse(text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True))) == whole


@pytest.mark.parametrize(
    "text", [f"Here.\n\n{ASSET}\nAnd:\n{SCORE}{ASSET}Done.", SCORE.rstrip("\n"), "STORE_MEASUREMENT\n"]
)
def test_no_cut_shows_a_piece_of_a_signal(text: str) -> None:
    whole = told(parse([text]))
    for cut in range(len(text) + 1):
        assert told(parse([text[:cut], text[cut:]])) == whole
        before = "".join(piece for piece in SignalParser().feed(text[:cut]) if isinstance(piece, str))
        assert not re.search(r"GENERATE|STORE|---|warmth|plan", before)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("GENERATE_ASSET\n---\nno object\n", "no JSON object"),
        ("GENERATE_ASSET\n---\n[1]\n", "no JSON object"),
        ("GENERATE_ASSET\n---\n```json\n{}\n```\n", "no JSON object"),
        ('GENERATE_ASSET\n---\n{"a": }\n', "not valid JSON"),
        ('GENERATE_ASSET\n---\n{"a": 1, "a": 2}\n', "not valid JSON"),
        ('GENERATE_ASSET\n---\n{"a": "x\ny"}\n', "a line ends within a text"),
        ('GENERATE_ASSET\n---\n{"a": 1} and more\n', "something follows"),
        ('GENERATE_ASSET\n---\n{"a": ', "breaks off"),
    ],
)
def test_a_malformed_signal_is_text_and_says_why(text: str, why: str) -> None:
    pieces = parse([text])
    assert told(pieces) == ([text], ["GENERATE_ASSET"])
    assert [piece.why for piece in pieces if isinstance(piece, InvalidSignal) and why in piece.why]


def test_what_only_looks_like_a_signal_is_text() -> None:
    for text in (
        f"```\n{SCORE}```\n",
        f"~~~~ md\n```\n{SCORE}",
        f" {SCORE}",
        f"> {SCORE}",
        "It is GENERATE_ASSET\n---\n{}\n",
        "GENERATE_ASSET:\n---\n{}\n",
        "GENERATE_ASSET\n\n---\n{}\n",
        "GENERATE_ASSETS\n---\n{}\n",
        "GENERATE_ASSET\n----\n{}\n",
        "generate_asset\n---\n{}\n",
        "STORE_MEASUREMENT",
    ):
        assert told(parse([text])) == ([text], [])


def test_a_long_text_costs_no_more_by_the_end() -> None:
    for text in (
        "GENERATE_ASSET\n---\n{" * 10_000,
        "word " * 40_000,
        f'GENERATE_ASSET\n---\n{{"a": "{"x" * 200_000}"}}\n',
    ):
        parser = SignalParser()
        begun = process_time()
        for at in range(0, len(text), 4):
            parser.feed(text[at : at + 4])
        parser.end()
        assert process_time() - begun < 3
