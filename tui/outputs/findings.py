"""How the findings of a coverage are shown: a sign for each, and what it means. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.outputs.coverage import PieceCoverage

SIGNS = {"tests fail": "●", "answers change": "◐", "nothing notices": "○", "not exercised": "?"}
ASCII_SIGNS = {"tests fail": "#", "answers change": "~", "nothing notices": "o", "not exercised": "?"}
COLOURS = {
    "tests fail": "text-success",
    "answers change": "text-accent",
    "nothing notices": "text-warning",
    "not exercised": "text-secondary",
}
RESULTS = {
    "tests fail": "tests fail",
    "answers change": "answers change",
    "nothing notices": "no test detects it",
    "not exercised": "not covered",
}
"""What happens without a piece, in a row or a list."""
_MEANINGS = {
    "tests fail": "tests fail without it",
    "answers change": "answers change without it",
    "nothing notices": "no test detects its removal",
    "not exercised": "not covered by any test input",
}


def meaning(covered: PieceCoverage) -> str:
    """Return what was found of a piece, as a clause."""
    inputs = f": {', '.join(covered.inputs)}" if covered.inputs else ""
    return f"{_MEANINGS[covered.finding]}{inputs}"


def summary(pieces: Sequence[PieceCoverage]) -> str:
    """Return how often each was found, in one sentence."""
    counts = {finding: sum(one.finding == finding for one in pieces) for finding in SIGNS}
    return "Each of {} pieces of the prompt removed: {}.".format(
        len(pieces), ", ".join(f"{RESULTS[finding]} ({count})" for finding, count in counts.items() if count)
    )
