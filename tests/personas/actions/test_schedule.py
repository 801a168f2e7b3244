"""Due times: a year of cron expressions against `cronsim`, the nights in which clocks change, and what is caught up on."""

from __future__ import annotations

import random
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from typing import Literal
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim

from personas.actions.document import Action
from personas.actions.schedule import due_now, due_times, in_words, last_due, next_due

START = datetime(2026, 1, 1, tzinfo=UTC)
YEAR = datetime(2027, 1, 1, tzinfo=UTC)
EXPRESSIONS = (
    """
*/30 * 24-26 10 *|7 * * * *|15,45 * 28-31 3 *|0 */2 * * *|30 1-4 * * *|0,30 2,3 * * *|*/20 2 * * *|10 0,12 * * *|59 23 * * *
0 0 * * *|1 0 * * *|30 0 * * *|0 1 * * *|30 1 * * *|0 2 * * *|15 2 * * *|30 2 * * *|45 2 * * *|0 3 * * *|30 3 * * *
0 3 * * 1-5|0 9 * * MON|0 9 * * 0|0 9 * * 7|0 17 * * FRI|30 2 * * SUN|0 2 * * 6,0|0 8 * * 1,3,5|0 9 * * 1#1|0 9 * * 5L
0 0 1 * *|0 0 15 * *|0 6 1,15 * *|0 0 31 * *|0 0 L * *|0 12 LW * *|0 0 29 2 *|0 0 29 * *|30 2 29 3 *|30 2 25 10 *
0 0 13 * 5|0 12 1 * 1|0 0 */2 * 1|5 4 1-7 * SUN|0 0 1 1 *|0 0 1 */3 *|0 3 1 3,10 *|30 2 5 4,10 *|0 22 * 6-8 *|*/45 3 28-31 * *
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


def _action(
    schedule: str | None = None,
    zone: str = "UTC",
    catch_up: Literal["skip", "once", "all"] = "all",
    window: timedelta = timedelta(days=7),
    at: datetime | None = None,
) -> Action:
    return Action(
        id="nightly",
        title="Nightly",
        schedule=schedule,
        timezone=zone,
        catch_up=catch_up,
        window=window,
        at=at,
    )


def test_a_year_of_looks_finds_each_due_time_exactly_once() -> None:
    assert len(EXPRESSIONS) == 50
    zones = cycle(("Europe/Berlin", "Australia/Lord_Howe"))  # whose clocks go back half an hour
    for number, (expression, zone) in enumerate(zip(EXPRESSIONS, zones, strict=False)):
        reference = set[datetime]()
        for due in CronSim(expression, START.astimezone(ZoneInfo(zone))):
            if due.astimezone(UTC) > YEAR:
                break
            reference.add(due.astimezone(UTC))
        action, chance = _action(expression, zone), random.Random(number)
        now, found = START, list[datetime]()
        while now < YEAR:
            looked, now = now, min(YEAR, now + timedelta(minutes=chance.choice((7, 200, 3000, 9000))))
            found += due_now(action, START, looked, now)
        assert found == sorted(reference), expression


def _local(expression: str, zone: str, start: str, count: int) -> list[str]:
    """Return the first due times after a local time, each with its offset."""
    since = datetime.fromisoformat(start).replace(tzinfo=ZoneInfo(zone))
    found = due_times(_action(expression, zone), since, since + timedelta(days=4000))
    return [f"{due.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M %z}" for due in islice(found, count)]


@pytest.mark.parametrize(
    ("expression", "zone", "start", "expected"),
    [
        pytest.param(
            *("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00"),
            ["2026-10-25 02:30 +0200", "2026-10-26 02:30 +0100"],
            id="the hour that comes twice",
        ),
        pytest.param(
            *("0 * * * *", "Europe/Berlin", "2026-10-25T01:30"),
            ["2026-10-25 02:00 +0200", "2026-10-25 02:00 +0100", "2026-10-25 03:00 +0100"],
            id="every hour, also the second one",
        ),
        pytest.param(
            *("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00"),
            ["2026-03-29 03:00 +0200", "2026-03-30 02:30 +0200"],
            id="the hour that is skipped",
        ),
        pytest.param(
            *("0,30 2,3 * * *", "Europe/Berlin", "2026-03-29T00:00"),
            ["2026-03-29 03:00 +0200", "2026-03-29 03:30 +0200", "2026-03-30 02:00 +0200"],
            id="several times that are skipped are one",
        ),
        pytest.param(
            *("0 0 * * *", "Africa/Cairo", "2026-04-23T12:00"),
            ["2026-04-24 01:00 +0300", "2026-04-25 00:00 +0300"],
            id="the midnight that is missing",
        ),
        pytest.param(
            *("0 0 29 2 *", "UTC", "2026-01-01T00:00"),
            ["2028-02-29 00:00 +0000", "2032-02-29 00:00 +0000"],
            id="29 February",
        ),
        pytest.param(
            *("0 0 L * *", "UTC", "2028-01-15T00:00"),
            ["2028-01-31 00:00 +0000", "2028-02-29 00:00 +0000", "2028-03-31 00:00 +0000"],
            id="last day",
        ),
        pytest.param(
            *("0 0 31 * *", "UTC", "2026-01-31T00:00"),
            ["2026-03-31 00:00 +0000", "2026-05-31 00:00 +0000"],
            id="months without the day",
        ),
        pytest.param(
            *("0 0 13 * 5", "UTC", "2026-01-10T00:00"),
            ["2026-01-13 00:00 +0000", "2026-01-16 00:00 +0000", "2026-01-23 00:00 +0000"],
            id="day or weekday",
        ),
        pytest.param(
            *("0 0 */2 * 1", "UTC", "2026-01-10T00:00"),
            ["2026-01-19 00:00 +0000", "2026-02-09 00:00 +0000"],
            id="day and weekday, where one begins with a star",
        ),
    ],
)
def test_edge_cases(expression: str, zone: str, start: str, expected: list[str]) -> None:
    assert _local(expression, zone, start, len(expected)) == expected


def test_a_look_within_the_hour_that_comes_twice_finds_nothing_again() -> None:
    action, first = _action("30 2 * * *", "Europe/Berlin"), datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    for minutes in range(0, 120, 10):
        looked = first + timedelta(minutes=minutes)
        assert due_now(action, START, looked, looked + timedelta(minutes=10)) == ()


HOUR, DAY = timedelta(hours=1), timedelta(days=1)
NOW = datetime(2026, 6, 10, 3, 30, tzinfo=UTC)
TODAY = datetime(2026, 6, 10, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("catch_up", "window", "days"),
    [("skip", 3 * DAY, [0]), ("once", 3 * DAY, [1, 0]), ("all", 3 * DAY, [2, 1, 0]), ("all", 12 * HOUR, [0])],
)
def test_what_is_caught_up_on(
    catch_up: Literal["skip", "once", "all"], window: timedelta, days: list[int]
) -> None:
    action = _action("0 3 * * *", catch_up=catch_up, window=window)
    assert due_now(action, START, NOW - 10 * DAY, NOW) == tuple(TODAY - DAY * day for day in days)
    assert due_now(action, NOW - HOUR, NOW - 10 * DAY, NOW) == (TODAY,)  # approved since
    assert due_now(action, NOW - 10 * DAY, None, NOW)[-1] == TODAY
    assert due_now(action, START, NOW, NOW) == ()
    assert due_now(action, NOW, None, NOW) == ()


def test_a_window_shorter_than_an_hour_takes_nothing_from_what_is_due() -> None:
    action = _action("0 3 * * *", catch_up="skip", window=timedelta(minutes=5))
    assert due_now(action, START, NOW - DAY, NOW) == (TODAY,)


def test_a_clock_that_was_ahead_stops_nothing() -> None:
    action = _action("0 3 * * *", catch_up="once")
    ahead = NOW + 400 * DAY
    assert due_now(action, ahead, ahead, NOW) == ()
    assert due_now(action, ahead, NOW, NOW + DAY)  # it goes on from the next look


def test_once_at_a_time() -> None:
    at = datetime(2026, 6, 10, 3, tzinfo=UTC)
    action = _action(at=at)
    assert next_due(action, START) == at and next_due(action, at) is None
    assert last_due(action, at) == at and last_due(action, at - HOUR) is None
    assert due_now(action, START, at - HOUR, NOW) == (at,)
    assert due_now(action, at, at - HOUR, NOW) == ()  # approved too late


def test_last_and_next_due_stand_on_both_sides_of_now() -> None:
    for expression in EXPRESSIONS:
        action = _action(expression, "Europe/Berlin")
        for now in (NOW, datetime(2026, 10, 25, 1, 10, tzinfo=UTC), datetime(2026, 3, 29, 1, 0, tzinfo=UTC)):
            before, after = last_due(action, now), next_due(action, now)
            assert before is not None and after is not None and before <= now < after
            assert list(due_times(action, before, after)) == [after], expression


def test_a_schedule_is_said_in_words_with_what_comes_next() -> None:
    said = in_words(_action("0 3 * * 1-5", "Europe/Berlin"), NOW)
    assert said == (
        "at 03:00 on Monday through Friday (0 3 * * 1-5, Europe/Berlin); "
        "next: Thu 2026-06-11 03:00, Fri 2026-06-12 03:00, Mon 2026-06-15 03:00"
    )
    assert in_words(_action(), NOW) == "by hand"
    assert in_words(_action(at=NOW + DAY), NOW) == "once, Thu 2026-06-11 03:30 (UTC)"
    assert in_words(_action(at=NOW), NOW) == "its time has passed"


def test_cronsim_is_loaded_only_where_a_schedule_is_read() -> None:
    program = """
import sys
from personas.actions.document import read_action
import agent.actions.consent, agent.actions.run_log, personas.action_store, personas.actions.schedule
read_action("a", b'persona = "b"\\nkind = "test"\\nat = 2026-12-01T09:00:00')
print("cronsim" in sys.modules)
read_action("a", b'persona = "b"\\nkind = "test"\\nschedule = "0 3 * * *"')
print("cronsim" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
