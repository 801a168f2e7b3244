"""Which run of a stored conversation a turn is of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent.runs import RunSpan, run_of_turn
from personas.journal import Journal


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
A, B, C = RunSpan("a", "t1", "t2"), RunSpan("b", "t3"), RunSpan("c", "t4")


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
