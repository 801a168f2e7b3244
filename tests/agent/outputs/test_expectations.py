"""Every type of expectation and its `not-`, judged; regular expressions that would run for ever; samples together."""

from __future__ import annotations

import time
from typing import Any

import pytest

from agent.outputs.expectations import Facts, check, decide, distance, of_all
from agent.outputs.regex import RegexWorker
from personas.test_inputs import TYPES, Expectation, fault_of

OPEN = '{ "type": "object" }'
SCHEMA = {
    "type": "object",
    "required": ["name", "tags"],
    "properties": {
        "name": {"type": "string", "minLength": 2, "pattern": "^[A-Z]"},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2},
        "age": {"type": ["integer", "null"], "minimum": 0},
    },
    "additionalProperties": False,
}

CASES: list[tuple[dict[str, Any], str, bool]] = [
    ({"type": "equals", "value": "Four"}, "Four", True),
    ({"type": "equals", "value": "Four"}, "Four.", False),
    ({"type": "equals", "value": 4}, "4", True),
    ({"type": "contains", "value": "Sorry"}, "I am Sorry.", True),
    ({"type": "contains", "value": "Sorry"}, "I am sorry.", False),
    ({"type": "icontains", "value": "STRASSE"}, "the Straße", True),
    ({"type": "icontains", "value": "x"}, "abc", False),
    ({"type": "contains-all", "value": ["a", "b"]}, "b a", True),
    ({"type": "contains-all", "value": ["a", "b"]}, "a", False),
    ({"type": "contains-any", "value": ["a", "b"]}, "b", True),
    ({"type": "contains-any", "value": ["a", "b"]}, "c", False),
    ({"type": "icontains-all", "value": ["A", "B"]}, "b a", True),
    ({"type": "icontains-all", "value": ["A", "B"]}, "b", False),
    ({"type": "icontains-any", "value": ["A", "B"]}, "b", True),
    ({"type": "icontains-any", "value": ["A", "B"]}, "c", False),
    ({"type": "starts-with", "value": "Yes"}, "Yes, it is.", True),
    ({"type": "starts-with", "value": "Yes"}, "No. Yes.", False),
    ({"type": "regex", "value": r"\d{3}"}, "call 555 now", True),
    ({"type": "regex", "value": r"^\d{3}"}, "call 555 now", False),
    ({"type": "is-json"}, '[1, {"a": null}]', True),
    ({"type": "is-json"}, "[1, NaN]", False),
    ({"type": "is-json", "value": SCHEMA}, '{"name": "Ann", "tags": ["a"], "age": null}', True),
    ({"type": "is-json", "value": SCHEMA}, '{"name": "ann", "tags": ["a"]}', False),
    ({"type": "is-json", "value": SCHEMA}, '{"name": "Ann", "tags": ["c"]}', False),
    ({"type": "is-json", "value": SCHEMA}, '{"name": "Ann", "tags": [], "age": true}', False),
    ({"type": "is-json", "value": SCHEMA}, '{"name": "Ann", "tags": [], "more": 1}', False),
    ({"type": "contains-json"}, 'Here: {"a": [1]} as asked.', True),
    ({"type": "contains-json"}, "Here: {a: 1} and [", False),
    ({"type": "contains-json", "value": SCHEMA}, 'no {"a": 1} but {"name": "Bo", "tags": []}', True),
    ({"type": "contains-json", "value": SCHEMA}, 'only {"a": 1}', False),
    ({"type": "word-count", "max": 3}, "one two three", True),
    ({"type": "word-count", "max": 2}, "one two three", False),
    ({"type": "word-count", "min": 4}, "one two three", False),
    ({"type": "word-count", "value": 3}, " one\ttwo\nthree ", True),
    ({"type": "char-count", "min": 2, "max": 4}, "äöü", True),
    ({"type": "char-count", "value": 4}, "äöü", False),
    ({"type": "levenshtein", "value": "kitten", "threshold": 3}, "sitting", True),
    ({"type": "levenshtein", "value": "kitten", "threshold": 2}, "sitting", False),
    ({"type": "levenshtein", "value": "kitten"}, "kitten" + "s" * 6, False),
    ({"type": "latency", "threshold": 2000}, "x", True),
    ({"type": "latency", "threshold": 1000}, "x", False),
    ({"type": "cost", "threshold": 0.01}, "x", True),
    ({"type": "cost", "threshold": 0.001}, "x", False),
]


def verdict(table: dict[str, Any], text: str, **facts: Any) -> Any:
    assert fault_of(table) == ""
    known = {"seconds": 1.5, "cost": 0.002, **facts}
    return check(Expectation(**table), Facts(text, **known))


@pytest.mark.parametrize(("table", "text", "holds"), CASES)
def test_a_type_holds_or_not_and_its_opposite_does_the_other(
    table: dict[str, Any], text: str, holds: bool
) -> None:
    assert verdict(table, text).verdict == ("pass" if holds else "fail")
    assert verdict({**table, "type": "not-" + table["type"]}, text).verdict == ("fail" if holds else "pass")


def test_a_fail_says_what_was_expected() -> None:
    reasons = {verdict(table, text).reason for table, text, holds in CASES if not holds}
    assert reasons >= {
        "3 words, more than 2", "3 words, fewer than 4", "3 characters, not 4", "has none of “a, b”",
        "begins with “No. Yes.”, not “Yes”", r"does not match “^\d{3}”", "took 1500 ms, more than 1000",
        "cost $0.002000, more than $0.001000",
    }  # fmt: skip


def test_every_type_is_tried_with_both_answers() -> None:
    for kind in TYPES - {"llm-rubric"}:
        assert {holds for table, _, holds in CASES if table["type"] == kind} == {True, False}, kind


@pytest.mark.parametrize("negation", ["", "not-"])
@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"type": "regex", "value": "("}, "is not a regular expression"),
        ({"type": "cost", "threshold": 1}, "price"),
        ({"type": "latency", "threshold": 1}, "time"),
        ({"type": "is-json", "value": {"$ref": "#"}}, "not supported"),
        ({"type": "is-json", "value": {"type": "objekt"}}, "does not exist"),
        ({"type": "levenshtein", "value": "x" * 9000, "threshold": 9000}, "too long"),
    ],
)
def test_what_cannot_be_judged_is_an_error_under_not_too(
    table: dict[str, Any], words: str, negation: str
) -> None:
    text = "y" * 9000 if table["type"] == "levenshtein" else '{"a": 1}'
    found = verdict({**table, "type": negation + table["type"]}, text, seconds=None, cost=None)
    assert found.verdict == "error" and words in found.reason


def test_a_regular_expression_that_would_run_for_ever_ends_as_a_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = time.monotonic()
    found = verdict({"type": "regex", "value": r"(a+)+$"}, "a" * 60 + "!")
    assert time.monotonic() - begun < 10
    assert found.verdict == "error" and "longer than 1 s" in found.reason
    assert verdict({"type": "regex", "value": "b+"}, "abba").verdict == "pass", "the next one is searched"
    monkeypatch.setattr(RegexWorker.search, "__defaults__", (0.1,))  # the seconds
    in_a_schema = {"type": "is-json", "value": {"pattern": r"^(\w+\s?)*$"}}
    for table, text in (
        ({"type": "not-regex", "value": r"(a+)+$"}, "a" * 60 + "!not-"),
        (in_a_schema, '"' + "word " * 30 + '!"'),
    ):
        found = verdict(table, text)
        assert found.verdict == "error" and "longer than" in found.reason


def test_hostile_texts_are_judged_quickly() -> None:
    begun = time.monotonic()
    for text in (
        "[" * 200_000,
        '{"a":' * 50_000,
        "\ud800" * 1000,
        "{" + "[1]," * 50_000,
        "[" * 400 + "1," * 200_000,
    ):
        for kind in ("is-json", "contains-json"):
            assert verdict({"type": kind}, text).verdict in ("pass", "fail")
        assert verdict({"type": "regex", "value": "x"}, text).verdict == "fail"
    assert time.monotonic() - begun < 10


def test_json_is_found_behind_much_that_is_none() -> None:
    assert verdict({"type": "contains-json"}, "- [ ] a box\n" * 1000 + '{"a": 1}').verdict == "pass"


def test_edits_are_counted_as_the_whole_table_would() -> None:
    for one, other in (("kitten", "sitting"), ("", "abc"), ("flaw", "lawn"), ("same", "same"), ("ab", "ba")):
        table = [list(range(len(other) + 1))]
        for line, sign in enumerate(one, 1):
            table.append([line])
            for at, there in enumerate(other, 1):
                table[line].append(
                    min(table[-2][at] + 1, table[line][at - 1] + 1, table[-2][at - 1] + (sign != there))
                )
        real = table[-1][-1]
        for most in range(8):
            assert distance(one, other, most) == min(real, most + 1)


def test_samples_decide_together() -> None:
    assert decide(["pass", "pass", "fail"], 2) == "pass"
    assert decide(["pass", "fail", "error"], 2) == "error", "the one that could not run may still decide it"
    assert decide(["fail", "fail", "error"], 2) == "fail"
    assert decide(["pass", "pass", "error"], 2) == "pass"
    assert of_all(["pass", "error", "fail"]) == "fail" and of_all(["pass", "error"]) == "error"
    assert of_all(["pass", "pass"]) == "pass"
