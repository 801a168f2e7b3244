"""Which stored versions are kept when there are many: all recent ones, then fewer and fewer. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from personas.authorship import Version

_ALWAYS = 200  # the newest ones
_STEPS = (  # younger than this: one version kept in each stretch of that length
    (timedelta(days=2), timedelta(hours=1)),
    (timedelta(days=60), timedelta(days=1)),
)
_BEYOND = timedelta(days=7)


def versions_to_keep(versions: list[Version], now: datetime) -> list[Version]:
    """Return the versions to keep, ascending.

    Never dropped: named ones, the text before each of the agent's runs, the first one, the newest ones, and the newest
    of those that other programs wrote over.

    Args:
        versions: all of them.
        now: an aware datetime.
    """
    ordered = sorted(versions, key=lambda version: version.number)
    recent = {version.number for version in ordered[-_ALWAYS:]}
    recent.update([version.number for version in ordered if version.by.kind == "external"][-_ALWAYS:])
    runs: set[tuple[str | None, str]] = set()
    slots: set[tuple[timedelta, int]] = set()
    kept = []
    for version in ordered:
        slot = _slot(version, now)
        starts_run = version.by.run_id is not None and (version.by.session_id, version.by.run_id) not in runs
        if starts_run or version.name is not None or version.number in recent or slot not in slots:
            kept.append(version)
        slots.add(slot)
        if version.by.run_id is not None:
            runs.add((version.by.session_id, version.by.run_id))
    return kept


def _slot(version: Version, now: datetime) -> tuple[timedelta, int]:
    """Return the stretch of time a version falls into; of each stretch the first version is kept."""
    try:
        at = datetime.fromisoformat(version.at)
        age = now - at
    except (ValueError, TypeError):  # a time nobody can read: as old as can be
        return _BEYOND, 0
    length = next((step for limit, step in _STEPS if age < limit), _BEYOND)
    return length, int(at.timestamp() // length.total_seconds())
