"""Times as they are stored, UTC in ISO 8601 with milliseconds, and the zone of this machine."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import Any

from personas.actions.schedule import zone_of
from personas.errors import InvalidValue


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


def zone_here() -> str:
    """Return the name of this machine's time zone, UTC where it has none."""
    for name in (
        os.environ.get("TZ", "").lstrip(":"),
        os.path.realpath("/etc/localtime").partition("zoneinfo/")[2],
    ):
        try:
            if name:
                zone_of(name)
                return "UTC" if name == "Etc/UTC" else name
        except InvalidValue:
            continue
    return "UTC"
