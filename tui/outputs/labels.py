"""What stands under a test input: its last output as one line. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tui.outputs.controller import InputState

SIGNS: Mapping[str, str] = {"pass": "✓", "fail": "✗", "error": "!", "none": ""}
"""By verdict."""
RUNS = "…"
"""The sign of an output that is being made."""
SOURCES = {"recording": "recorded", "pasted": "pasted"}
_SHOWN = 400  # characters of an output that arrives, more than a line of any terminal holds


class OutputLine(NamedTuple):
    """The last output of a test input.

    Attributes:
        sign: its verdict, or that it is being made.
        text: its first line, or the last words of one that is being made; any text.
        notes: what else is to be said, the most important first.
        is_outdated: whether it was made from something else than there is now.
    """

    sign: str
    text: str
    notes: tuple[str, ...] = ()
    is_outdated: bool = False


def output_line(
    state: InputState | None, streaming: Mapping[int, str | None], now: datetime
) -> OutputLine | None:
    """Return the line for a test input; None where it has no output.

    Args:
        state: what is known of it.
        streaming: its outputs that are being made, see `OutputsController.streaming`.
        now: in UTC.
    """
    if streaming:
        texts = [text for text in streaming.values() if text is not None]
        words = texts[-1][-_SHOWN:].split() if texts else []
        more = len(streaming) - 1
        return OutputLine(RUNS, " ".join(words[-12:]) or "waiting", (f"{more} more",) if more else ())
    if state is None:
        return None
    output, report = state.last, state.report
    if output is None:
        return OutputLine(SIGNS["error"], report.reason) if report.is_broken else None
    counts = (
        f"{report.passed} of {report.samples}" if report.samples > 1 and _verdict(state) != "none" else ""
    )
    notes = (
        "outdated" if state.outdated else "",
        state.tried_with,
        SOURCES.get(output.source or "", ""),
        counts,
        age(now, output.started_at),
        output.model.removeprefix("claude-"),
    )
    return OutputLine(
        SIGNS[_verdict(state)],
        output.first_line,
        tuple(note for note in notes if note),
        bool(state.outdated),
    )


def _verdict(state: InputState) -> str:
    """Return the verdict of a test input, `none` also while not all is judged."""
    return "none" if state.report.is_open else state.report.verdict


def expected(kind: str, value: object) -> str:
    """Return what is expected of an output: the type of an expectation and what it wants, as a verdict has both."""
    return kind if value is None else f"{kind} {_wanted(value)}"


def _wanted(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_wanted(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_wanted, value))
    return f"“{value}”" if isinstance(value, str) else str(value)


def age(now: datetime, then: str) -> str:
    """Return how long ago a time of a record was, changing seldom: `now`, `3 min`, `2 h`, `5 d`; empty for no time."""
    try:
        seconds = (now - datetime.fromisoformat(then)).total_seconds()
    except (ValueError, TypeError):
        return ""
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now"
