"""Checks what must hold of an output without a model: every type but `llm-rubric`, for which `judge` asks one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from agent.outputs import regex
from agent.outputs.json_schema import SchemaError, json_within, parse_json, violation
from personas.test_inputs import Expectation

Outcome = Literal["pass", "fail", "error"]
RUBRIC = "llm-rubric"
DEFAULT_EDITS = 5
"""Edits that `levenshtein` allows where it has no threshold, as in promptfoo."""

_MOST_CELLS = 5_000_000  # of the table that a comparison by edits fills
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one expectation.

    Attributes:
        type, value: of the expectation.
        verdict: `error` where it could not be checked, which is never a fail.
        reason: one clause.
    """

    type: str
    value: Any
    verdict: Outcome
    reason: str

    def to_record(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {"type": self.type, "value": self.value, "verdict": self.verdict, "reason": self.reason}


class CannotCheck(Exception):
    """An expectation cannot be checked; the message is a clause."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What an output is checked by.

    Attributes:
        text: what the persona answered.
        seconds: how long that took, None where it was not measured.
        cost: in dollars, None where the price is unknown.
    """

    text: str
    seconds: float | None = None
    cost: float | None = None


def check(expectation: Expectation, facts: Facts) -> Verdict:
    """Check an output by an expectation that needs no model. Never raises, and never takes long."""
    try:
        holds, reason = _look(expectation, facts)
    except (CannotCheck, regex.RegexError, SchemaError) as error:
        return verdict_of(expectation, "error", str(error))
    return verdict_of(expectation, "pass" if holds is not expectation.is_negated else "fail", reason)


def verdict_of(expectation: Expectation, verdict: Outcome, reason: str) -> Verdict:
    """Return a verdict on an expectation."""
    return Verdict(expectation.type, shown_value(expectation), verdict, reason)


def shown_value(expectation: Expectation) -> Any:
    """Return what an expectation wants, as a verdict names it: its value, or its bounds."""
    record = expectation.to_record()
    for name in ("type", "weight"):
        record.pop(name, None)
    return record["value"] if set(record) == {"value"} else record or None


def decide(outcomes: Iterable[Outcome], needed: int) -> Outcome:
    """Return the verdict of several samples: error where those that could not be judged may still decide it."""
    counted = list(outcomes)
    passed, errors = counted.count("pass"), counted.count("error")
    if passed >= needed:
        return "pass"
    return "error" if passed + errors >= needed else "fail"


def of_all(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the verdict of one sample by its expectations: all must hold, and a fail counts before an error."""
    found = set(outcomes)
    return "fail" if "fail" in found else "error" if "error" in found else "pass"


def _look(expectation: Expectation, facts: Facts) -> tuple[bool, str]:
    """Return whether the type without its `not-` holds, and what was seen."""
    kind, value, text = expectation.base, expectation.value, facts.text
    match kind:
        case "equals":
            return text == str(value), "is the same" if text == str(value) else "is another text"
        case "starts-with":
            found = text.startswith(value)
            return found, f"begins with {_quoted(text)}" + ("" if found else f", not {_quoted(value)}")
        case "contains" | "icontains":
            found = _in(value, text, kind)
            return found, f"{'has' if found else 'has no'} {_quoted(value)}"
        case "contains-all" | "icontains-all":
            missing = [one for one in value if not _in(one, text, kind)]
            return not missing, f"has no {_quoted(missing[0])}" if missing else "has all of them"
        case "contains-any" | "icontains-any":
            there = [one for one in value if _in(one, text, kind)]
            return bool(
                there
            ), f"has {_quoted(there[0])}" if there else f"has none of {_quoted(', '.join(value))}"
        case "regex":
            found = regex.search(value, text)
            return found, f"{'matches' if found else 'does not match'} {_quoted(value)}"
        case "is-json" | "contains-json":
            return _look_for_json(kind, value, text)
        case "word-count":
            return _within(len(text.split()), expectation, "word")
        case "char-count":
            return _within(len(text), expectation, "character")
        case "levenshtein":
            most = DEFAULT_EDITS if expectation.threshold is None else int(expectation.threshold)
            edits = distance(value, text, most)
            return edits <= most, f"{edits} edits away" if edits <= most else f"more than {most} edits away"
        case "latency":
            if facts.seconds is None:
                raise CannotCheck("the time of this output is not known")
            taken, limit = facts.seconds * 1000, expectation.threshold or 0
            return taken <= limit, f"took {taken:.0f} ms" + (
                f", more than {limit:g}" if taken > limit else ""
            )
        case "cost":
            if facts.cost is None:
                raise CannotCheck("the price of this model is unknown")
            limit = expectation.threshold or 0
            over = f", more than ${limit:.6f}" if facts.cost > limit else ""
            return not over, f"cost ${facts.cost:.6f}{over}"
    raise CannotCheck(f"there is no expectation of type {expectation.type!r}")


def _in(part: str, text: str, kind: str) -> bool:
    return part.casefold() in text.casefold() if kind.startswith("icontains") else part in text


def _look_for_json(kind: str, schema: Any, text: str) -> tuple[bool, str]:
    try:
        values = [parse_json(text)] if kind == "is-json" else list(json_within(text))
    except ValueError:
        return False, "is not JSON"
    if not values:
        return False, "has no JSON"
    faults = ["" if schema is None else violation(value, schema) for value in values]
    return "" in faults, "is JSON as it should be" if "" in faults else f"JSON in which {faults[0]}"


def _within(number: int, bounds: Expectation, unit: str) -> tuple[bool, str]:
    if bounds.min is not None and number < bounds.min:
        fault = f", fewer than {bounds.min}"
    elif bounds.max is not None and number > bounds.max:
        fault = f", more than {bounds.max}"
    else:
        fault = "" if bounds.value in (None, number) else f", not {bounds.value}"
    return not fault, f"{number} {unit}{'' if number == 1 else 's'}{fault}"


def distance(one: str, other: str, most: int) -> int:
    """Return the Levenshtein distance of two texts, or `most` + 1 where it is larger.

    Raises:
        CannotCheck: the texts are so long, and so many edits allowed, that it would take too long.
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    if min(2 * most + 1, len(other) + 1) * len(one) > _MOST_CELLS:
        raise CannotCheck("the texts are too long to count edits between them")
    row = {at: at for at in range(min(most, len(other)) + 1)}
    for line, sign in enumerate(one, 1):
        first, last = max(0, line - most), min(len(other), line + most)
        new = {0: line} if first == 0 else {}
        for at in range(max(first, 1), last + 1):
            new[at] = min(
                row.get(at, most + 1) + 1,
                new.get(at - 1, most + 1) + 1,
                row.get(at - 1, most + 1) + (sign != other[at - 1]),
            )
        row = new
    return min(row.get(len(other), most + 1), most + 1)


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line if len(line) <= _SHOWN else line[: _SHOWN - 1] + '…'}”"
