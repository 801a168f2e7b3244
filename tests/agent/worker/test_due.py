"""What is put into the queue, and when: with a clock that tests set, and a queue that only writes down."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agent.actions import run_log
from agent.actions.consent import approve, cancel
from agent.worker.due import due_of, run_id_of
from personas.action_document import find_action
from personas.action_store import update_action
from personas.actions.states import ActionState
from personas.errors import PersonaError
from personas.files import trust
from tests.agent.worker.place import START, Place


def test_each_due_time_is_enqueued_once_by_any_number_of_schedulers(place: Place) -> None:
    hourly = place.action("Hourly", priority=7)
    place.action("Not approved", approved=False)
    place.action("Off", enabled=False)
    place.action("By hand", schedule=None)
    cancelled = place.action("Cancelled")
    cancel(place.store.home, cancelled.id)
    assert place.look(minutes=59) == []
    assert place.look(minutes=2) == ["hourly"]
    (run_id,) = place.queue
    due = START + timedelta(hours=1)
    assert place.queue[run_id] == ("hourly", hourly.revision, 7)
    assert run_id == run_id_of("home", "hourly", due) and due_of(run_id) == due
    assert run_id not in (run_id_of("other", "hourly", due), run_id_of("home", "other", due))
    (run,) = run_log.runs(place.store.home, "hourly")
    assert (run.id, run.state, run.due) == (run_id, ActionState.SCHEDULED, "2026-06-01T13:00:00.000Z")
    for _ in range(3):
        assert place.look(minutes=1) == []


def test_what_was_changed_or_is_in_a_home_that_is_not_trusted_is_not_enqueued(place: Place) -> None:
    place.action("Hourly")
    update_action(place.store, "hourly", {"instructions": "Do something else."})
    assert place.look(hours=2) == []
    place.action("Other")
    trust.distrust(place.store.home.root)
    assert place.look(hours=2) == []


def test_an_action_that_cannot_be_read_keeps_no_other_from_its_time(place: Place) -> None:
    place.action("Hourly")
    for name in ("broken", "gone"):
        place.action(name)
    (place.store.home.actions / "broken.toml").write_bytes(b"title = \xff")
    (place.store.home.actions / "gone.toml").unlink()
    (place.store.home.actions / "gone.toml").symlink_to("/nowhere")
    assert place.look(minutes=61) == ["hourly"]


def test_a_disk_that_refuses_one_run_keeps_no_other_from_its_time_and_loses_none(place: Place) -> None:
    for name in ("First", "Full", "Last"):
        place.action(name)
    run_log.note_look(place.store.home, place.now)
    in_the_way = place.store.home.state / "actions" / "full.jsonl"
    in_the_way.mkdir()
    with pytest.raises(PersonaError):
        place.look(minutes=61)
    assert [action for action, _, _ in place.queue.values()] == ["first", "last"]
    in_the_way.rmdir()
    assert place.look(minutes=2) == ["full"]


def test_a_clock_that_jumps_neither_repeats_nor_loses_what_is_due(place: Place) -> None:
    place.action("Hourly", catch_up="all")
    assert place.look(minutes=61) == ["hourly"]
    assert place.look(days=-30) == []
    assert place.look(days=30) == []
    assert place.look(hours=3) == ["hourly"] * 3
    assert place.look(days=400) == ["hourly"] * 48, "within the window of two days"


def test_an_expensive_backlog_waits_until_the_action_is_approved_again(place: Place) -> None:
    place.price = 0.4
    action = place.action("Hourly", catch_up="all")
    place.action("Later", schedule="30 5 * * *")
    assert place.look(hours=5, minutes=1) == ["hourly"], "the one that is due now"
    waiting = [run for run in run_log.runs(place.store.home, "hourly") if run.state is ActionState.WAITING]
    assert [run.due for run in waiting] == [f"2026-06-01T{hour}:00:00.000Z" for hour in (16, 15, 14, 13)]
    assert "4 missed runs would cost about $1.60" in waiting[0].why and "approve" in waiting[0].why
    assert place.look(minutes=10) == []
    found = find_action(place.store.home, action.id)
    assert found is not None
    approve(place.store.home, [found], now=place.now)
    assert place.look(minutes=1) == ["hourly"] * 4
    assert place.look(minutes=1) == []
    assert {run.why for run in run_log.runs(place.store.home, "hourly")} == {""}
