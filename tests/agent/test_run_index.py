"""Which run of a stored conversation a turn is of."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from agent.transcript.run_index import RunSpan, run_of_turn, unit_of_turn
from personas.changes import SetPrompt
from personas.files.home import open_home
from personas.files.journal import Journal
from personas.store import Store
from personas.versions.authorship import Author


def turn(kind: str, turn_id: str) -> dict[str, Any]:
    return {"type": kind, "id": turn_id, "created_at": "t"}


LOG = [
    {"type": "session", "id": "session_1", "created_at": "t0"},
    {"type": "run_start", "run_id": "a", "created_at": "t1"},
    turn("user", "u1"),
    turn("tool_call", "c1"),
    turn("user", "steer"),
    turn("tool_result", "r1"),
    {"type": "run_end", "run_id": "a", "created_at": "t2"},
    turn("custom", "by hand"),
    turn("user", "u2"),
    {"type": "run_start", "run_id": "b", "created_at": "t3"},
    turn("tool_call", "c2"),
    {"type": "run_start", "run_id": "c", "created_at": "t4"},
    turn("user", "u3"),
]
A, B, C = RunSpan("a", "t1", "t2"), RunSpan("b", "t3", "t4"), RunSpan("c", "t4")


@pytest.mark.parametrize(
    ("turns", "run"),
    [
        *((["u1"], A), (["c1"], A), (["steer"], A), (["r1"], A), (["c2"], B), (["u3"], C)),
        (["u2"], B),
        (["by hand", "r1"], None),
        (["a mark that no log has", "r1"], A),
        (["nothing of it"], None),
    ],
)
def test_a_turn_is_of_the_run_that_it_stands_in_or_that_it_opens(
    tmp_path: Path, turns: list[str], run: RunSpan | None
) -> None:
    journal = Journal(tmp_path / "session_1.jsonl")
    for record in LOG:
        journal.append(record)
    assert run_of_turn(journal.path, turns) == run


def test_a_change_is_of_the_run_that_made_it_or_of_the_task_that_was_under_way() -> None:
    assert A.holds("t1.5", "task_1")
    assert A.holds("t9", "a")
    assert not A.holds("t3", "task_1")
    assert C.holds("t9", "task_1")
    assert B.holds("t3.5", "task_1") and not B.holds("t5", "task_1")


@pytest.mark.parametrize(
    ("changes", "unit"),
    [
        ([("1", "b"), ("3", "c")], "b"),
        ([("1", "task_1"), ("3", "task_2")], "task_1"),
        ([("3", "c"), ("4", "task_2")], ""),
        ([("1", "b"), ("1", "task_1")], "b"),  # of one moment: its own name is certain
        ([("1", "task_1"), ("1", "b")], "b"),
    ],
)
def test_the_changes_of_a_run_that_a_kill_cut_are_not_those_of_the_runs_after_it(
    tmp_path: Path, changes: list[tuple[str, str]], unit: str
) -> None:
    def at(second: str) -> str:
        return f"2026-01-01T00:00:0{second}.000Z"

    home = open_home(tmp_path / "home", {"PERSONA_CONFIG": str(tmp_path / "config.toml")})
    now = "0"
    store = Store(home, now=lambda: datetime.fromisoformat(at(now)))
    store.create("Wren")
    journal = Journal(home.inside(home.sessions) / "s.jsonl")
    journal.append({"type": "run_start", "run_id": "b", "created_at": at("0")})
    journal.append(turn("user", "u1"))
    journal.append({"type": "run_start", "run_id": "c", "created_at": at("2")})
    for now, run in changes:  # noqa: B007 - the store's clock
        change = SetPrompt(store.get("wren").system_prompt + f"{run}\n")
        store.change("wren", change, revision=None, by=Author("agent", "s", run))
    key = unit_of_turn(store, "wren", "s", ["u1"])
    assert key == (f"run:s:{unit}" if unit else "")
