"""Which stored versions are kept when there are many: all recent ones, then fewer and fewer. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from personas.versions.authorship import Author, Version

_ALWAYS = 200  # the newest ones
_STEPS = (  # younger than this: one version kept in each stretch of that length
    (timedelta(days=2), timedelta(hours=1)),
    (timedelta(days=60), timedelta(days=1)),
)
_BEYOND = timedelta(days=7)


def versions_to_keep(versions: list[Version], now: datetime) -> list[Version]:
    """Return the versions to keep, ascending, each with the text after it as it is then (`Version.after`).

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
    return _joined(ordered, kept)


def _joined(ordered: list[Version], kept: list[Version]) -> list[Version]:
    """Return the kept versions of agents' runs with what the run's dropped changes right after them led to.

    Where somebody else changed the text between them, what the run led to cannot be told by one text: then `after` is
    `sha`, as where it is not known.
    """
    numbers = {version.number for version in kept}
    last: dict[Author, Version] = {}  # the kept version of a run that its dropped ones join
    joined: dict[int, Version] = {}
    for version in ordered:
        if version.number in numbers:
            last[version.by] = version
        elif version.by.run_id is not None and (first := last.get(version.by)) is not None:
            follows = first.after == version.sha and first.after != first.sha
            after = version.after if follows else first.sha
            joined[first.number] = last[version.by] = replace(first, after=after)
    return [joined.get(version.number, version) for version in kept]


def _slot(version: Version, now: datetime) -> tuple[timedelta, int]:
    """Return the stretch of time a version falls into; of each stretch the first version is kept."""
    try:
        at = datetime.fromisoformat(version.at)
        age = now - at
    except (ValueError, TypeError):  # a time nobody can read: as old as can be
        return _BEYOND, 0
    length = next((step for limit, step in _STEPS if age < limit), _BEYOND)
    return length, int(at.timestamp() // length.total_seconds())
