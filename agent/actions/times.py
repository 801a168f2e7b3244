"""Times as they are stored: UTC in ISO 8601 with milliseconds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def stamp(time: datetime) -> str:
    """Return an aware time as it is stored, `2026-01-31T12:00:00.000Z`."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_stamp(stored: Any) -> datetime | None:
    """Return a stored time; None for anything else, and for one that not every zone has."""
    try:
        time = datetime.fromisoformat(stored)
    except (TypeError, ValueError):
        return None
    return time if time.tzinfo is not None and 1970 <= time.year < 9999 else None
