"""Actions as documents: reading a file, and making, changing and deleting one through the store."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from personas.action_document import read_actions
from personas.action_store import create_action, delete_action, get_action, update_action
from personas.actions.document import Action, ActionLimits, read_action
from personas.changes import ReplaceText
from personas.errors import Conflict, InvalidValue, OutsideHome, UnknownPersona
from personas.files.home import Home, open_home
from personas.store import Store
from personas.versions.authorship import USER

WHOLE = """\
# for the night shift
title = "Nightly check"
description = "Runs all test inputs"
persona = "billing"
kind = "agent"
instructions = "Look at the outputs."
expected_output = "A list"
priority = 3
schedule = "0 3 * * 1-5"
timezone = "Europe/Berlin"
catch_up = "all"
window = "36h"
enabled = false
edits = "apply"
colour = "red"  # unknown

[limits]
max_steps = 5
max_minutes = 2.5
tokens = 1000
dollars = 1
"""
LEAST = 'persona = "billing"\ninstructions = "Do it."\n'


def _read(text: str) -> Action:
    return read_action("nightly", text.encode())


def test_every_field_is_read_and_has_a_default() -> None:
    action = _read(WHOLE)
    assert action == Action(
        id="nightly",
        title="Nightly check",
        description="Runs all test inputs",
        persona="billing",
        instructions="Look at the outputs.",
        expected_output="A list",
        priority=3,
        schedule="0 3 * * 1-5",
        timezone="Europe/Berlin",
        catch_up="all",
        window=timedelta(hours=36),
        enabled=False,
        edits="apply",
        limits=ActionLimits(max_steps=5, max_minutes=2.5, tokens=1000, dollars=1.0),
        unknown_keys=("colour",),
        revision=action.revision,
    )
    assert action.to_record()["window"] == "36h"
    least = _read(LEAST)
    assert least.error is None and not least.is_timed
    assert (
        least.title,
        least.kind,
        least.timezone,
        least.catch_up,
        least.window,
        least.enabled,
        least.edits,
    ) == (*("nightly", "agent", "UTC", "once", timedelta(days=2), True, "propose"),)
    assert _read('persona = "billing"\nkind = "test"\n').error is None


@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("at = 2026-12-01T09:00:00", datetime(2026, 12, 1, 9, tzinfo=UTC)),
        ('timezone = "Europe/Berlin"\nat = 2026-12-01T09:00:00', datetime(2026, 12, 1, 8, tzinfo=UTC)),
        ('timezone = "Europe/Berlin"\nat = 2026-12-01T09:00:00-05:00', datetime(2026, 12, 1, 14, tzinfo=UTC)),
    ],
)
def test_a_time_without_an_offset_is_one_of_the_zone(line: str, at: datetime) -> None:
    assert _read(f"{LEAST}{line}\n").at == at


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('kind = "shell"', "kind is 'shell', none of agent, persona, test"),
        ('catch_up = "later"', "catch_up is 'later', none of once, skip, all"),
        ('edits = "ask"', "edits is 'ask', none of propose, apply"),
        ("priority = 5000", "priority must be from -1000 to 1000"),
        ("enabled = 1", "enabled must be true or false, not a whole number"),
        ('schedule = "every day"', "schedule must have five fields: minute, hour, day, month, weekday"),
        ('schedule = "* * * * * *"', "schedule must have five fields: minute, hour, day, month, weekday"),
        ('schedule = "61 * * * *"', "schedule '61 * * * *' is not a cron expression: Bad minute"),
        ('schedule = "0 0 30 2 *"', "schedule '0 0 30 2 *' is not a cron expression: Bad day-of-month"),
        (
            'timezone = "Mars/Olympus"',
            "timezone 'Mars/Olympus' is not known here; it is a name such as Europe/Berlin",
        ),
        (
            'timezone = "../../etc/passwd"',
            "timezone '../../etc/passwd' is not known here; it is a name such as Eur",
        ),
        ('at = "tomorrow"', "at must be a date and time, as in 2026-12-01T09:00:00, and is no date and time"),
        (
            "at = 2026-12-01",
            "at must be a date and time, as in 2026-12-01T09:00:00, and is a date without a time",
        ),
        ("at = 0001-01-01T00:00:00+14:00", "at must be in a year from 1970 to 9998"),
        ("at = 9999-12-31T23:59:59-12:00", "at must be in a year from 1970 to 9998"),
        (
            'schedule = "0 3 * * *"\nat = 2026-12-01T09:00:00',
            "it has both schedule and at; only one of them can be",
        ),
        (
            'window = "forever"',
            'window is a number with m, h, d or w behind it, as in "2d", and at most a year',
        ),
        ("limits = {max_steps = 0}", "max_steps must be at least 1"),
        ("limits = {dollars = -1}", "dollars must be a number greater than 0"),
        ("limits = {max_minutes = inf}", "max_minutes must be a number greater than 0"),
        ("limits = 3", "limits must be a table, not a whole number"),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_the_rest_is_read(line: str, why: str) -> None:
    action = _read(LEAST + line + "\n")
    assert action.error is not None
    assert action.error.message.startswith(why)
    assert action.error.line == 2 + len(line.splitlines())
    assert (action.persona, action.instructions) == ("billing", "Do it.")


def test_a_file_that_says_too_little_or_is_no_toml_is_broken() -> None:
    for text, why in (
        ('instructions = "Do it."', "it names no persona"),
        ('persona = "a/b"\ninstructions = "x"', "'a/b' is not a persona"),
        ('persona = "billing"\ninstructions = " "', "it has no instructions"),
    ):
        error = _read(text).error
        assert error is not None and error.message == why
    broken = _read('title = "x"\npersona = \n')
    assert broken.error is not None and broken.error.line == 2 and broken.revision
    assert read_action("nightly", b"\xff\xfe").error is not None


def test_an_action_has_versions_like_any_document(store: Store) -> None:
    store.create("Billing")
    action = create_action(store, {"title": "Nightly check", "persona": "billing", "instructions": "Look."})
    key = f"action/{action.id}"
    assert (action.id, action.error) == ("nightly-check", None)
    kept = store.text(key) + "# by hand\ncolour = 'red'\n"
    store.change(key, ReplaceText(kept), revision=action.revision, by=USER)
    changed = update_action(store, action.id, {"schedule": "0 3 * * *", "limits": {"dollars": 1.5}})
    assert (changed.schedule, changed.limits.dollars) == ("0 3 * * *", 1.5)
    assert "# by hand\ncolour = 'red'\n" in store.text(key)
    assert update_action(store, action.id, {"schedule": None}).schedule is None
    assert "-schedule" in store.diff(key).diff
    store.undo(key, by=USER)
    assert get_action(store, action.id).schedule == "0 3 * * *"
    first = min(one.number for one in store.log(key))
    store.restore(key, first, by=USER)
    assert get_action(store, action.id).revision == action.revision
    with pytest.raises(Conflict):
        update_action(store, action.id, {"priority": 1}, revision=changed.revision)

    delete_action(store, action.id)
    assert read_actions(store.home) == []
    with pytest.raises(UnknownPersona, match="There is no action 'nightly-check'"):
        get_action(store, action.id)
    again = create_action(store, {"title": "Nightly check", "persona": "billing", "kind": "test"})
    assert again.id == "nightly-check-2"  # the versions of the deleted one stay its own
    with pytest.raises(UnknownPersona, match="did you mean nightly-check-2"):
        get_action(store, "nightly-chek-2")
    store.undo(key, by=USER)
    assert get_action(store, action.id).revision == action.revision


def test_what_cannot_be_is_refused_before_anything_is_written(store: Store) -> None:
    store.create("Billing")
    good = {"title": "Nightly", "persona": "billing", "kind": "test"}
    for wrong, why in (
        ({**good, "schedule": "soon"}, "The action is not valid: schedule must have five fields"),
        ({**good, "kind": "agent"}, "it has no instructions"),
        ({**good, "title": ""}, "A title"),
        ({**good, "colour": "red"}, "An action has no 'colour'; it has title"),
    ):
        with pytest.raises(InvalidValue, match=why):
            create_action(store, wrong)
    with pytest.raises(UnknownPersona, match="did you mean billing"):
        create_action(store, {**good, "persona": "biling"})
    assert read_actions(store.home) == []
    made = create_action(store, good)
    with pytest.raises(InvalidValue):
        update_action(store, made.id, {"priority": 10**6})
    assert get_action(store, made.id) == made
    for name in ("../nightly", "Nightly", ""):
        with pytest.raises(InvalidValue, match="cannot be an action's id"):
            get_action(store, name)


def test_links_out_of_the_home_pipes_and_odd_names_are_broken_and_the_others_are_read(
    store: Store, tmp_path: Path
) -> None:
    folder = store.home.actions
    folder.mkdir(exist_ok=True)
    secret = tmp_path / "secret.toml"
    secret.write_text('persona = "secret"\nkind = "test"\n')
    (folder / "linked.toml").symlink_to(secret)
    (folder / "nowhere.toml").symlink_to(tmp_path / "nothing")
    os.mkfifo(folder / "pipe.toml")
    (folder / "Über Nacht.toml").write_text(LEAST)
    (folder / "good.toml").write_text(LEAST)
    (folder / "empty.toml").write_text("")
    (folder / "notes.txt").write_text("no action")
    found = {one.id: one for one in read_actions(store.home)}
    assert found.keys() == {"linked", "nowhere", "pipe", "good", "Über Nacht"}
    assert [one.id for one in found.values() if one.error is None] == ["good"]
    assert found["linked"].persona == ""
    assert "link" in str(found["linked"].error)
    assert get_action(store, "linked").error == found["linked"].error


def test_a_folder_that_leads_out_is_refused(store: Store, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    store.home.actions.symlink_to(tmp_path / "theirs")
    with pytest.raises(OutsideHome):
        read_actions(store.home)


def test_actions_are_for_git_also_in_a_home_of_an_earlier_version(home: Home, env: dict[str, str]) -> None:
    home.actions.mkdir()
    ignore = home.actions / ".gitignore"
    ignore.write_text("*\n")
    open_home(home.root, env)
    assert not ignore.exists()
    ignore.write_text("*.bak\n")  # the person's own
    open_home(home.root, env)
    assert ignore.exists()
