"""What a test input says beyond its content: a conversation, expectations, and how many samples must hold.

Only the shape is read here; what an expectation means is `agent.outputs.expectations`. What is wrong is reported with
its path in the file, and belongs to that input alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Path = tuple[str | int, ...]
Report = Callable[[Path, str], None]

NEGATED = "not-"
TEXT_TYPES = frozenset({"equals", "contains", "icontains", "starts-with", "regex", "llm-rubric"})
LIST_TYPES = frozenset({"contains-all", "contains-any", "icontains-all", "icontains-any"})
JSON_TYPES = frozenset({"is-json", "contains-json"})
COUNT_TYPES = frozenset({"word-count", "char-count"})
THRESHOLD_TYPES = frozenset({"latency", "cost"})
TYPES = TEXT_TYPES | LIST_TYPES | JSON_TYPES | COUNT_TYPES | THRESHOLD_TYPES | {"levenshtein"}
"""The types of expectations, as promptfoo names them; `char-count` is ours."""

MOST_SAMPLES = 1_000
_LIMIT = 2**63
ROLES = ("user", "assistant")
FIELDS = ("type", "value", "min", "max", "threshold", "weight")
"""The keys of an expectation's table."""


class Message(NamedTuple):
    """One message of the conversation that a test input is."""

    role: str
    content: str


class Expectation(NamedTuple):
    """What must hold of an output.

    Attributes:
        type: one of `TYPES`, possibly with `not-` in front.
        value: a text, a list of texts, a number or a JSON schema, as the type wants it.
        min, max: bounds of a count.
        threshold: milliseconds for `latency`, dollars for `cost`, edits for `levenshtein`.
        weight: kept, not used.
    """

    type: str
    value: Any = None
    min: int | None = None
    max: int | None = None
    threshold: float | None = None
    weight: float | None = None

    @property
    def base(self) -> str:
        """The type without `not-`."""
        return self.type.removeprefix(NEGATED)

    @property
    def is_negated(self) -> bool:
        """Whether the opposite must hold."""
        return self.type.startswith(NEGATED)

    def to_record(self) -> dict[str, Any]:
        """Return it as a JSON object, without what is not set."""
        return {name: value for name in FIELDS if (value := getattr(self, name)) is not None}


def read_fields(table: Mapping[str, Any], path: Path, report: Report) -> dict[str, Any]:
    """Return what a test input's table says beyond id and content, by field of `TestInput`.

    Args:
        table: of the test input.
        path: where it stands in the file.
        report: called with the path and the sentence of each fault.
    """
    if "messages" in table and "content" in table:
        report((*path, "messages"), "a test input has content or messages, not both")
    samples, min_pass = read_samples(table, path, report)
    messages = _messages(table["messages"], (*path, "messages"), report) if "messages" in table else ()
    return {
        "messages": messages,
        "expect": _expectations(table.get("expect", []), (*path, "expect"), report),
        "samples": samples,
        "min_pass": min_pass,
    }


def read_samples(table: Mapping[str, Any], path: Path, report: Report) -> tuple[int | None, int | None]:
    """Return how many outputs a run makes and how many of them must pass, None where the table does not say."""
    samples = _count(table, "samples", path, report)
    min_pass = _count(table, "min_pass", path, report)
    if min_pass is not None and samples is not None and min_pass > samples:
        report((*path, "min_pass"), f"min_pass is {min_pass}, more than the {samples} samples")
    return samples, min_pass


def _count(table: Mapping[str, Any], name: str, path: Path, report: Report) -> int | None:
    value = table.get(name)
    if value is None or (type(value) is int and 1 <= value <= MOST_SAMPLES):
        return value
    report((*path, name), f"{name} must be a whole number from 1 to {MOST_SAMPLES}")
    return None


def _messages(value: Any, path: Path, report: Report) -> tuple[Message, ...]:
    if not isinstance(value, list):
        report(path, "messages must be a list of tables with role and content")
        return ()
    messages = []
    for number, item in enumerate(value):
        if (
            not isinstance(item, dict)
            or item.get("role") not in ROLES
            or not isinstance(item.get("content"), str)
        ):
            report((*path, number), 'a message has a role, "user" or "assistant", and a content')
            return ()
        messages.append(Message(role=item["role"], content=item["content"]))
    if not messages or messages[0].role != "user" or messages[-1].role != "user":
        report(path, "messages must begin and end with a message of the user")
    return tuple(messages)


def _expectations(value: Any, path: Path, report: Report) -> tuple[Expectation, ...]:
    if not isinstance(value, list):
        report(path, "expect must be a list of tables")
        return ()
    found = []
    for number, item in enumerate(value):
        if fault := fault_of(item):
            report((*path, number), fault)
        else:
            found.append(read_expectation(item))
    return tuple(found)


def read_expectation(table: Mapping[str, Any]) -> Expectation:
    """Return the expectation that a table without a fault says."""
    return Expectation(**{name: table[name] for name in _names(table["type"]) if name in table})


def _names(kind: str) -> tuple[str, ...]:
    """Return the keys that an expectation of this type has; what else stands there is kept in the file alone."""
    base = kind.removeprefix(NEGATED)
    if base in COUNT_TYPES:
        return ("type", "weight", "value", "min", "max")
    if base in THRESHOLD_TYPES:
        return ("type", "weight", "threshold")
    return ("type", "weight", "value", *(("threshold",) if base == "levenshtein" else ()))


def fault_of(item: Any) -> str:
    """Return what is wrong with the table of an expectation, empty for nothing."""
    if not isinstance(item, dict):
        return "an expectation must be a table with a type"
    kind = item.get("type")
    if not isinstance(kind, str):
        return "an expectation has no type"
    base = kind.removeprefix(NEGATED)
    if base not in TYPES:
        from difflib import get_close_matches

        near = get_close_matches(base, TYPES, n=1)
        return f"there is no expectation of type {kind[:60]!r}" + (
            f"; did you mean {near[0]}?" if near else ""
        )
    if "weight" in item and not _is_number(item["weight"]):
        return "weight must be a number"
    return _fault_of_value(base, item)


def _fault_of_value(base: str, item: Mapping[str, Any]) -> str:
    value = item.get("value")
    if base in TEXT_TYPES:
        if base == "equals" and _is_number(value):
            return ""
        is_blank = isinstance(value, str) and not value and base != "equals"
        return "" if isinstance(value, str) and not is_blank else f"{base} needs a text as its value"
    if base in LIST_TYPES:
        is_list = isinstance(value, list) and value and all(isinstance(one, str) and one for one in value)
        return "" if is_list else f"{base} needs a list of texts as its value"
    if base in JSON_TYPES:
        return (
            ""
            if value is None or (isinstance(value, dict) and _is_json(value))
            else f"{base} takes a table as its value, a JSON schema"
        )
    if base in COUNT_TYPES:
        given = [item[name] for name in ("min", "max", "value") if name in item]
        if not given or not all(type(one) is int and 0 <= one < _LIMIT for one in given):
            return f"{base} needs min, max or value, each a whole number"
        if item.get("min", 0) > item.get("max", item.get("min", 0)):
            return f"{base} has a min above its max"
        return ""
    if base == "levenshtein" and not isinstance(value, str):
        return "levenshtein needs a text as its value"
    threshold = item.get("threshold", 5 if base == "levenshtein" else None)
    return (
        "" if _is_number(threshold) and threshold >= 0 else f"{base} needs a threshold, a number of 0 or more"
    )


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and -_LIMIT < value < _LIMIT


def _is_json(value: Any) -> bool:
    """Whether JSON can say a value of TOML: no date, no number without an end."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
