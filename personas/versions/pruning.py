"""Which stored versions are kept when there are many: all recent ones, then fewer and fewer. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

from personas.versions.authorship import Version

_ALWAYS = 200  # this many of the newest versions are never pruned
_STEPS = (  # (age, stretch): up to this age one version is kept for each stretch
    (timedelta(days=2), timedelta(hours=1)),
    (timedelta(days=60), timedelta(days=1)),
)
_BEYOND = timedelta(days=7)  # the stretch of all that is older


def versions_to_keep(versions: list[Version], now: datetime) -> list[Version]:
    """Return the versions to keep, ascending. Numbers stay; they have gaps then.

    Never dropped: named ones, the text before each of the agent's runs and the one after it, the newest ones, and the
    newest of those that other programs wrote. A run whose changes in the middle are dropped is one change from then on.

    Args:
        versions: all of them.
        now: an aware datetime.
    """
    ordered = sorted(versions, key=lambda version: version.number)
    keep = {version.number for version in ordered[-_ALWAYS:]}
    keep.update([version.number for version in ordered if version.role == "external"][-_ALWAYS:])
    keep.update(version.number for version in ordered if version.name is not None)
    keep.update(_around_runs(ordered))
    slots: set[tuple[timedelta, int]] = set()
    for version in ordered:
        if version.by.run_id is None and (slot := _slot(version, now)) not in slots:
            keep.add(version.number)
            slots.add(slot)
    kept: list[Version] = []
    dropped: Version | None = None  # the last change, where it is dropped and one of a run
    for version in ordered:
        if dropped is not None and (dropped.by, dropped.sha) == (version.by, version.before):
            version = replace(version, before=dropped.before)
        dropped = version if version.number not in keep and version.by.run_id is not None else None
        if version.number in keep:
            kept.append(version)
    return kept


def _around_runs(ordered: list[Version]) -> set[int]:
    """Return the numbers of the texts that an agent's run began with or led to, also where others wrote in between."""
    changes = [version for version in ordered if version.role != "kept"]
    return {
        version.number
        for version, following in pairwise(changes)
        if version.by != following.by and (version.by.run_id or following.by.run_id)
    }


def _slot(version: Version, now: datetime) -> tuple[timedelta, int]:
    """Return the stretch of time a version falls into; of each stretch the first version is kept."""
    try:
        at = datetime.fromisoformat(version.at)
        age = now - at
    except (ValueError, TypeError):  # a time nobody can read: as old as can be
        return _BEYOND, 0
    length = next((step for limit, step in _STEPS if age < limit), _BEYOND)
    return length, int(at.timestamp() // length.total_seconds())
