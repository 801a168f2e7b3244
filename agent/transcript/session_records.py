"""Records of a session's log: the end of a run, and reading turns from records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agent.core.events import AgentEnd
from agent.core.turns import LOG_RECORDS, Turn, utc_now
from agent.transcript.turn_records import from_record


def run_end(event: AgentEnd) -> dict[str, Any]:
    """Return the record of a run's end."""
    record: dict[str, Any] = {
        "type": "run_end",
        "run_id": event.run_id,
        "created_at": utc_now(),
        "outcome": event.outcome,
        "stop_reason": event.stop_reason,
        "usage": event.usage.to_record(),
        "steps": event.steps,
    }
    if event.error is not None:
        record["error"] = {"kind": event.error.kind, "message": event.error.message}
    return record


def field_text(record: Mapping[str, Any], name: str) -> str:
    """Return a field that is to be a text; empty where it is none."""
    value = record.get(name)
    return value if isinstance(value, str) else ""


def to_turn(record: Mapping[str, Any], problems: list[str]) -> Turn | None:
    """Return the turn a record holds; None for other records and for what is no turn whatever it says.

    Args:
        record: as it was read.
        problems: gets why it is none.
    """
    kind = record.get("type")
    if isinstance(kind, str) and kind in LOG_RECORDS:
        return None
    try:
        return from_record(record)
    except ValueError as error:
        problems.append(f"A record was left out: {error}.")
        return None


def without_repeats(turns: Iterable[Turn], problems: list[str]) -> list[Turn]:
    """Return the turns, each id once; `problems` gets which were left out."""
    seen: set[str] = set()
    kept: list[Turn] = []
    for turn in turns:
        if turn.id in seen:
            problems.append(f"A second turn with the id {turn.id[:80]} was left out.")
            continue
        seen.add(turn.id)
        kept.append(turn)
    return kept
