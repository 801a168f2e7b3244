"""Consent to unattended work, the log of runs, and the states of actions that follow from both."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest

from agent.actions import consent, run_log
from agent.actions.listing import ListedAction, idle_warning, list_actions, listed
from agent.actions.times import from_stamp
from agent.core.model import Usage
from personas.action_store import create_action, delete_action, get_action, update_action
from personas.actions.document import Action
from personas.actions.states import ENDED, RUN_TRANSITIONS, TRANSITIONS, ActionState, move
from personas.changes import ReplaceText
from personas.errors import InvalidValue
from personas.files import trust
from personas.files.home import Home, open_home
from personas.store import Store
from personas.versions.authorship import USER

NOW = datetime(2026, 6, 10, 2, 30, tzinfo=UTC)
DAY = timedelta(days=1)
S = ActionState


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("PERSONA_CONFIG", str(tmp_path / "config" / "config.toml"))
    return {"PERSONA_CONFIG": str(tmp_path / "config" / "config.toml")}


@pytest.fixture
def store(tmp_path: Path, env: dict[str, str]) -> Store:
    store = Store(open_home(tmp_path / "home", env))
    store.create("Billing")
    return store


def _made(store: Store, title: str = "Nightly", **values: object) -> Action:
    return create_action(store, {"title": title, "persona": "billing", "kind": "test", **values})


def _row(store: Store, action_id: str, now: datetime = NOW) -> ListedAction:
    return next(row for row in list_actions(store.home, now=now) if row.action.id == action_id)


# -- consent ------------------------------------------------------------------------------------------


def test_any_change_of_the_bytes_makes_an_action_dormant(store: Store) -> None:
    home, action = store.home, _made(store, schedule="0 3 * * *")
    assert consent.refusal_reason(home, action) == "not approved: `persona action approve nightly`"
    consent.approve(home, [action], now=NOW)
    assert consent.may_run_unattended(home, action)
    text = store.text("action/nightly")
    for changed in (
        text + "# a comment\n",
        text.replace("\n", "\n\n", 1),
        text.replace("billing", "mentor"),
        text + "[limits]\ndollars = 100\n",
        text + 'colour = "red"\n',
        text.removesuffix("\n"),
    ):
        (home.actions / "nightly.toml").write_text(changed)
        now = get_action(store, "nightly")
        assert not consent.may_run_unattended(home, now), changed
        assert consent.approval_of(home, now) is None
        assert (
            consent.refusal_reason(home, now)
            == "changed since it was approved: `persona action approve nightly`"
        )
    (home.actions / "nightly.toml").write_text(text)
    assert consent.may_run_unattended(home, get_action(store, "nightly"))  # these bytes the person has seen


def test_approvals_are_of_one_home_and_count_only_where_it_is_trusted(store: Store, tmp_path: Path) -> None:
    action = _made(store, schedule="0 3 * * *")
    consent.approve(store.home, [action], now=NOW)
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "about.md").write_text("Look what I made.")  # it is not from nothing
    theirs = Store(open_home(tmp_path / "theirs"))
    theirs.create("Billing")
    copied = _made(theirs, schedule="0 3 * * *")
    assert copied.revision == action.revision
    assert consent.approval_of(theirs.home, copied) is None
    consent.approve(theirs.home, [copied], now=NOW)
    assert consent.refusal_reason(theirs.home, copied) == "the home is not trusted: `persona trust`"
    trust.trust(theirs.home.root)
    assert consent.may_run_unattended(theirs.home, copied)
    consent.forget(theirs.home)
    assert not consent.may_run_unattended(theirs.home, copied)
    assert consent.may_run_unattended(store.home, action)


def test_several_are_approved_at_once_or_none(store: Store) -> None:
    good, _ = _made(store), _made(store, "Other")
    store.change("action/other", ReplaceText("persona = 1\n"), revision=None, by=USER)
    broken = get_action(store, "other")
    with pytest.raises(
        InvalidValue, match=r"The action other is broken: .*; fix it with `persona action edit other`"
    ):
        consent.approve(store.home, [good, broken], now=NOW)
    assert consent.approval_of(store.home, good) is None
    assert not consent.may_run_unattended(store.home, broken)


def test_due_times_count_from_the_first_approval_of_the_same_bytes(store: Store) -> None:
    home, action = store.home, _made(store, schedule="0 3 * * *")
    consent.approve(home, [action], now=NOW)
    consent.approve(home, [action], now=NOW + DAY)
    approval = consent.approval_of(home, action)
    assert approval is not None and (approval.at, approval.again_at) == (NOW, NOW + DAY)
    consent.cancel(home, action.id)
    assert consent.refusal_reason(home, action) == "cancelled: `persona action approve nightly`"
    consent.approve(home, [action], now=NOW + 2 * DAY)
    approval = consent.approval_of(home, action)
    assert approval is not None and (approval.at, approval.again_at) == (NOW + 2 * DAY, None)


def test_why_an_action_may_not_run(store: Store) -> None:
    action = _made(store, schedule="0 3 * * *", enabled=False)
    consent.approve(store.home, [action], now=NOW)
    assert consent.refusal_reason(store.home, action) == "not enabled"
    store.delete("billing", by=USER)
    assert consent.refusal_reason(store.home, action) == "there is no persona billing"


@pytest.mark.parametrize(
    "damage", ["", "[]", "{", '{"HOME": 3}', '{"HOME": {"nightly": {"hash": 1, "at": []}}}']
)
def test_a_damaged_file_of_approvals_approves_nothing(store: Store, tmp_path: Path, damage: str) -> None:
    action = _made(store, schedule="0 3 * * *")
    consent.approve(store.home, [action], now=NOW)
    (tmp_path / "config" / "actions.json").write_text(damage.replace("HOME", str(store.home.root)))
    assert not consent.may_run_unattended(store.home, action)
    consent.approve(store.home, [action], now=NOW)
    assert consent.may_run_unattended(store.home, action)


# -- the log of runs ----------------------------------------------------------------------------------


def test_a_run_is_folded_from_its_records(store: Store) -> None:
    home, action = store.home, _made(store)
    begun = run_log.begin(home, action, "r1", now=NOW, due=NOW, state=S.WAITING, why="persona busy")
    assert (begun.state, begun.started_at, begun.due) == (S.WAITING, None, "2026-06-10T02:30:00.000Z")
    assert run_log.begin(home, action, "r1", now=NOW + DAY) == begun  # taken over: it goes on
    run_log.change(home, action.id, "r1", now=NOW, state=S.RUNNING, why="", session_id="s1")
    run_log.change(
        home, action.id, "r1", now=NOW, usage=Usage(input_tokens=3), cost=0.5, versions=(7, "proposal-1")
    )
    done = run_log.end(home, action.id, "r1", S.COMPLETED, now=NOW + DAY, output="All passed.")
    run_log.begin(home, action, "r2", now=NOW + DAY)
    newest, oldest = run_log.runs(home, action.id)
    assert (newest.id, oldest) == ("r2", done)
    assert oldest.to_record() == {
        "id": "r1",
        "state": "completed",
        "due": "2026-06-10T02:30:00.000Z",
        "started_at": "2026-06-10T02:30:00.000Z",
        "ended_at": "2026-06-11T02:30:00.000Z",
        "why": "",
        "session_id": "s1",
        "output": "All passed.",
        "versions": [7, "proposal-1"],
        "usage": Usage(input_tokens=3).to_record(),
        "cost": 0.5,
    }
    assert run_log.find_run(home, "r1") == done and run_log.find_run(home, "r3") is None
    with pytest.raises(InvalidValue, match="has no run 'r3'"):
        run_log.change(home, action.id, "r3", now=NOW, why="x")


def test_nothing_moves_a_run_but_the_table(store: Store) -> None:
    home, action = store.home, _made(store)
    for number, (old, new) in enumerate(product((S.SCHEDULED, S.WAITING, S.RUNNING, *sorted(ENDED)), S)):
        begin = old if old in (S.SCHEDULED, S.WAITING) else S.RUNNING
        run = run_log.begin(home, action, f"r{number}", now=NOW, state=begin)
        if old is not begin:
            run = run_log.end(home, action.id, run.id, old, now=NOW)
        if new in RUN_TRANSITIONS[old] or (old is new and old not in ENDED):
            assert run_log.change(home, action.id, run.id, now=NOW, state=new).state is new
            continue
        with pytest.raises(InvalidValue, match=f"A run that is {old} cannot become {new}"):
            run_log.change(home, action.id, run.id, now=NOW, state=new)
        assert run_log.find_run(home, run.id) == run
    assert {old for old in S if S.COMPLETED in RUN_TRANSITIONS.get(old, ())} == {S.RUNNING}
    with pytest.raises(InvalidValue):
        move(S.OPEN, S.RUNNING)


def test_of_two_programs_that_end_a_run_the_first_has_the_say(store: Store) -> None:
    home, action = store.home, _made(store)
    run_log.begin(home, action, "r1", now=NOW)
    path = home.state / "actions" / "nightly.jsonl"
    before = path.read_bytes()
    run_log.end(home, action.id, "r1", S.COMPLETED, now=NOW, output="done")
    theirs = path.read_bytes().removeprefix(before)
    path.write_bytes(before)
    assert [run.id for run in run_log.cancel_runs(home, action.id, now=NOW)] == ["r1"]
    with path.open("ab") as file:
        file.write(theirs)
    assert [(run.state, run.output) for run in run_log.runs(home, action.id)] == [(S.CANCELLED, "")]
    assert run_log.cancel_runs(home, action.id, now=NOW) == []


def test_of_a_long_log_the_newest_runs_are_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_log, "LONGEST", 4_000)
    home, action = store.home, _made(store)
    for number in range(60):
        run_log.begin(home, action, f"r{number}", now=NOW)
        run_log.begin(home, action, f"s{number}", now=NOW)  # ends after the next one has begun
        if number:
            run_log.end(home, action.id, f"s{number - 1}", S.COMPLETED, now=NOW, output="x" * 100)
        run_log.end(home, action.id, f"r{number}", S.COMPLETED, now=NOW, output="x" * 100)
    found = run_log.runs(home, action.id)
    assert [run.id for run in found[:4]] == ["s59", "r59", "s58", "r58"] and 10 < len(found) < 60
    assert [run.state for run in found[:4]] == [S.RUNNING, *[S.COMPLETED] * 3]
    assert sum(path.stat().st_size for path in (home.state / "actions").iterdir()) < 10_000


def test_records_that_nobody_can_have_written_change_nothing(store: Store, tmp_path: Path) -> None:
    home, action = store.home, _made(store)
    kept = run_log.begin(home, action, "r1", now=NOW)
    with (home.state / "actions" / "nightly.jsonl").open("a") as file:
        for record in (
            {"type": "begin", "run": "x", "state": "open?"},
            {"type": "begin", "run": "y", "state": "running", "why": 5},
            {"type": "begin", "run": ["z"], "state": "running"},
            {"type": "begin", "run": "../../z", "state": "running"},
            {"type": "change", "run": "r1", "at": "now", "session_id": "../../z"},
            {"type": "change", "run": "r1", "at": "now", "cost": float("inf")},
            {"type": "change", "run": "r1", "at": "now", "cost": 10**400},
            {"type": "change", "run": "r1", "at": "now", "usage": {"input_tokens": "many"}},
            {"type": "change", "run": "r1", "at": "now", "versions": [{"a": 1}]},
            {"type": "change", "run": "r1", "state": "completed"},
            {"type": "change", "run": "r1", "at": "now", "cost": "much"},
            {"type": "change", "run": "r1", "at": "now", "usage": {"shell": "rm"}},
            {"type": "change", "run": "r1", "at": "now", "versions": 7},
            {"type": "change", "run": "nobody", "at": "now", "state": "completed"},
            {"no": "type"},
        ):
            file.write(json.dumps(record) + "\n")
        file.write("{torn")
    assert run_log.runs(home, action.id) == [kept]
    assert from_stamp("0001-01-01T00:00:00+14:00") is None  # which is no time in other zones
    run_log.end(home, action.id, "r1", S.COMPLETED, now=NOW)
    assert run_log.runs(home, action.id)[0].state is S.COMPLETED
    (home.state / "actions" / "other.jsonl").symlink_to(tmp_path / "secret")
    row = listed(home, replace(action, id="other"), now=NOW, last_look=None)
    assert "not a regular file" in row.why  # and the others go on
    assert _row(store, "nightly").state is S.COMPLETED


# -- where an action stands -----------------------------------------------------------------------------


def test_what_a_list_says_of_an_action(store: Store) -> None:
    home, action = store.home, _made(store, schedule="0 3 * * *")
    assert _row(store, "nightly").to_record() == {
        "id": "nightly",
        "title": "Nightly",
        "persona": "billing",
        "kind": "test",
        "state": "waiting",
        "enabled": True,
        "approved": False,
        "due": None,
        "last_due": "2026-06-09T03:00:00.000Z",
        "last_run": None,
        "next": None,
        "why": "not approved: `persona action approve nightly`",
        "error": None,
    }
    consent.approve(home, [action], now=NOW)
    row = _row(store, "nightly")
    assert (row.state, row.next, row.due, row.why) == (S.SCHEDULED, "2026-06-10T03:00:00.000Z", None, "")
    later = NOW + timedelta(hours=1)
    assert _row(store, "nightly", later).due == "2026-06-10T03:00:00.000Z"
    due = datetime(2026, 6, 10, 3, tzinfo=UTC)
    run_log.begin(home, action, "r1", now=later, due=due, state=S.WAITING, why="persona busy")
    run_log.note_look(home, later)
    row = _row(store, "nightly", later)
    assert (row.state, row.why, row.due) == (S.WAITING, "persona busy", "2026-06-10T03:00:00.000Z")
    run_log.end(home, action.id, "r1", S.FAILED, now=later, why="the key has expired")
    row = _row(store, "nightly", later)
    assert (row.state, row.due, row.why) == (S.SCHEDULED, None, "last run failed: the key has expired")
    consent.cancel(home, action.id)
    row = _row(store, "nightly", later)
    assert (row.state, row.next, row.why) == (
        S.CANCELLED,
        None,
        "cancelled: `persona action approve nightly`",
    )


def test_once_and_by_hand_an_action_keeps_its_last_runs_state(store: Store) -> None:
    home = store.home
    by_hand, once = _made(store), _made(store, "Once", at=datetime(2026, 6, 10, 3))
    assert _row(store, "nightly").state is S.OPEN and _row(store, "nightly").why == ""
    consent.approve(home, [once], now=NOW)
    assert _row(store, "once").state is S.SCHEDULED
    for action in (by_hand, once):
        run_log.begin(home, action, f"of-{action.id}", now=NOW + DAY)
        run_log.end(home, action.id, f"of-{action.id}", S.INTERRUPTED, now=NOW + DAY, why="limit: 5 steps")
    run_log.note_look(home, NOW + DAY)
    for action in (by_hand, once):
        row = _row(store, action.id, NOW + DAY)
        assert (row.state, row.why) == (S.INTERRUPTED, "limit: 5 steps")
    run_log.begin(home, by_hand, "again", now=NOW)
    run_log.cancel_runs(home, by_hand.id, now=NOW)
    consent.cancel(home, by_hand.id)
    assert _row(store, "nightly").state is S.CANCELLED
    consent.approve(home, [by_hand], now=NOW)
    assert _row(store, "nightly").state is S.INTERRUPTED
    late = _made(store, "Late", at=datetime(2026, 6, 1))
    consent.approve(home, [late], now=NOW)
    assert (_row(store, "late").state, _row(store, "late").why) == (S.OPEN, "its time has passed")


def test_the_person_is_warned_when_nothing_has_looked_for_a_day(store: Store) -> None:
    home, action = store.home, _made(store, schedule="0 3 * * *")

    def warning(now: datetime) -> str:
        return idle_warning(home, list_actions(home, now=now), now=now)

    assert warning(NOW + 9 * DAY) == ""  # it may not run anyway
    consent.approve(home, [action], now=NOW)
    assert warning(NOW + timedelta(hours=23)) == ""
    assert warning(NOW + DAY) == "no worker has run for 1 day; start `persona worker`"
    run_log.note_look(home, NOW + 2 * DAY)
    assert warning(NOW + 2 * DAY) == ""
    assert warning(NOW + 5 * DAY) == "no worker has run for 3 days; start `persona worker`"
    (home.state / "actions" / "looked").write_bytes(b"\xff")
    assert run_log.last_look(home) is None


class _Life:
    """One action, and what may happen to it, one thing at a time."""

    def __init__(self, store: Store, chance: random.Random) -> None:
        self.store, self.chance, self.now, self.number = store, chance, NOW, 0
        self.action_id = _made(store).id
        self.home: Home = store.home

    @property
    def action(self) -> Action:
        return get_action(self.store, self.action_id)

    @property
    def state(self) -> ActionState:
        return _row(self.store, self.action_id, self.now).state

    def step(self) -> str:
        """Let something happen; return what."""
        name = self.chance.choice([name for name in dir(self) if name.startswith("let_")])
        getattr(self, name)()
        return name

    def let_time_pass(self) -> None:
        self.now += timedelta(hours=self.chance.choice((1, 7, 60)))

    def let_the_person_edit(self) -> None:
        schedule, at = self.chance.choice(
            [("0 3 * * *", None), (None, None), (None, (self.now + DAY).replace(tzinfo=None))]
        )
        update_action(self.store, self.action_id, {"schedule": schedule, "at": at})

    def let_the_person_enable_or_disable(self) -> None:
        update_action(self.store, self.action_id, {"enabled": self.chance.choice((True, False))})

    def let_the_person_approve(self) -> None:
        consent.approve(self.home, [self.action], now=self.now)

    def let_the_person_cancel(self) -> None:
        run_log.cancel_runs(self.home, self.action_id, now=self.now)
        consent.cancel(self.home, self.action_id)

    def let_a_run_begin(self) -> None:
        if all(run.is_over for run in run_log.runs(self.home, self.action_id)):
            self.number += 1
            state = self.chance.choice((S.RUNNING, S.RUNNING, S.WAITING, S.SCHEDULED))
            run_log.begin(self.home, self.action, f"r{self.number}", now=self.now, state=state)
            run_log.note_look(self.home, self.now)

    def let_a_run_move(self) -> None:
        run = next(iter(run_log.runs(self.home, self.action_id)), None)
        if run is not None and not run.is_over:
            new = self.chance.choice(
                sorted(RUN_TRANSITIONS[run.state] - {S.CANCELLED})
            )  # that is the person's
            run_log.change(self.home, self.action_id, run.id, now=self.now, state=new)


def test_nothing_else_happens_to_an_action_than_the_table_says(store: Store) -> None:
    assert TRANSITIONS.keys() == set(S) and RUN_TRANSITIONS.keys() == set(S) - {S.OPEN}
    seen = set[tuple[ActionState, ActionState]]()
    for seed in range(5):
        life = _Life(store, random.Random(seed))
        state = life.state
        for _ in range(40):
            what, before = life.step(), state
            state = life.state
            assert state is before or state in TRANSITIONS[before], (seed, what, before, state)
            seen.add((before, state))
        delete_action(store, life.action_id)
    assert len({pair for pair in seen if pair[0] is not pair[1]}) > 15
