"""When actions are due. Pure: the time is an argument, and all due times are in UTC.

Cron expressions mean what `cronsim` says, which alone is imported here, and only where a schedule is read: in the night
in which clocks go back a due time comes once, and one that clocks skip comes right behind the gap.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from typing import TYPE_CHECKING

from personas.actions.document import Action
from personas.errors import InvalidValue

if TYPE_CHECKING:
    from cronsim import CronSim

GRACE = timedelta(hours=1)
"""A due time is missed when nothing has looked for due work for so long after it."""

_LONGEST_CRON = 200
_AROUND_CHANGES = timedelta(hours=3)  # more than clocks are ever put forward or back


def check_cron(expression: str) -> None:
    """Check a cron expression.

    Raises:
        InvalidValue: it is none, or names a day that never comes.
    """
    start = datetime(2026, 1, 1, tzinfo=UTC)
    if len(expression.split()) != 5:
        raise InvalidValue("schedule must have five fields: minute, hour, day, month, weekday")
    if next(_after(expression, start), None) is None:
        raise InvalidValue(f"schedule {expression[:60]!r} is never due")


def zone_of(name: str) -> tzinfo:
    """Return a time zone by its name, such as `Europe/Berlin`.

    Raises:
        InvalidValue: there is none, or this machine does not know it.
    """
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):  # which includes `ZoneInfoNotFoundError`
        raise InvalidValue(
            f"timezone {name[:60]!r} is not known here; it is a name such as Europe/Berlin"
        ) from None


def require_ahead(at: datetime, zone: str, now: datetime) -> None:
    """Check that a time is still to come.

    Args:
        at: the time; without an offset it is one of `zone`.
        zone: a time zone's name.
        now: the time of now.

    Raises:
        InvalidValue: it has passed, or there is no such time zone.
    """
    here = zone_of(zone)
    if (at if at.tzinfo is not None else at.replace(tzinfo=here)) <= now:
        raise InvalidValue(
            f"{at:%Y-%m-%dT%H:%M} has passed; it is {now.astimezone(here):%Y-%m-%dT%H:%M} in {zone}."
        )


def due_times(action: Action, since: datetime, until: datetime) -> Iterator[datetime]:
    """Yield the due times after `since` and not after `until`, each once, earliest first.

    Args:
        action: whether it is enabled does not matter here.
        since, until: aware times.
    """
    if action.at is not None:
        at = action.at.astimezone(UTC)
        if since < at <= until:
            yield at
        return
    if action.schedule is None:
        return
    last = since.astimezone(UTC)
    for due in _after(action.schedule, since.astimezone(zone_of(action.timezone))):
        if due > until:
            return
        if due > last:  # several times that clocks skip are one
            last = due
            yield due


def next_due(action: Action, after: datetime) -> datetime | None:
    """Return the first due time after a time, None where there is none any more."""
    return next(due_times(action, after, datetime.max.replace(tzinfo=UTC)), None)


def last_due(action: Action, now: datetime) -> datetime | None:
    """Return the last due time up to now, None where there was none."""
    since = datetime.min.replace(tzinfo=UTC)
    if action.schedule is not None:
        local = now.astimezone(zone_of(action.timezone))
        before = next(_cron(action.schedule, local, reverse=True), None)
        if before is None:
            return None
        since = before.astimezone(UTC) - _AROUND_CHANGES
    *_, last = (None, *due_times(action, since, now))
    return last


def is_missed(due: datetime, now: datetime) -> bool:
    """Whether a due time was missed: nothing looked for due work within an hour (`GRACE`) of it."""
    return now - due > GRACE


def due_now(
    action: Action, approved_at: datetime, last_look: datetime | None, now: datetime
) -> tuple[datetime, ...]:
    """Return the due times that are to be run now, earliest first; each is returned by one look only.

    All that are not missed are, and of those that are, within `window`, what `catch_up` says: none (`skip`), the latest
    (`once`) or `all`.

    Args:
        action: the action.
        approved_at: due times count from then.
        last_look: when somebody last looked for due work; None: nobody has.
        now: the time. What the other two say of the future does not count: the clock was ahead.
    """
    since = max((one for one in (approved_at, last_look) if one is not None and one <= now), default=now)
    times = list(due_times(action, max(since, now - max(action.window, GRACE)), now))
    missed = [due for due in times if is_missed(due, now)]
    in_time = [due for due in times if not is_missed(due, now)]
    if action.catch_up == "skip":
        missed = []
    elif action.catch_up == "once":
        missed = missed[-1:]
    return (*missed, *in_time)


def in_words(action: Action, now: datetime, *, count: int = 3) -> str:
    """Say when an action is due, with the next times in its own zone.

    Args:
        action: the action.
        now: the time.
        count: how many times at most.
    """
    if not action.is_timed:
        return "by hand"
    zone = zone_of(action.timezone)
    times = islice(due_times(action, now, datetime.max.replace(tzinfo=UTC)), count)
    shown = [f"{due.astimezone(zone):%a %Y-%m-%d %H:%M}" for due in times]
    coming = f"next: {', '.join(shown)}" if shown else "its time has passed"
    if action.schedule is None:
        return f"once, {shown[0]} ({action.timezone})" if shown else coming
    said = _cron(action.schedule, now).explain()
    return f"{said[:1].lower()}{said[1:]} ({action.schedule}, {action.timezone}); {coming}"


def _after(expression: str, start: datetime) -> Iterator[datetime]:
    for due in _cron(expression, start):
        try:
            yield due.astimezone(UTC)
        except OverflowError:
            return


def _cron(expression: str, start: datetime, *, reverse: bool = False) -> CronSim:
    from cronsim import CronSim, CronSimError

    try:
        if len(expression) > _LONGEST_CRON:
            raise CronSimError("it is too long")
        return CronSim(expression, start, reverse=reverse)
    except (CronSimError, ValueError) as error:
        raise InvalidValue(f"schedule {expression[:60]!r} is not a cron expression: {error}") from None
