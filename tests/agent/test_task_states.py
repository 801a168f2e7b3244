"""The table of transitions, written out once more, and that there is no other way from one state to another."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest

import agent
from agent.core.turns import ToolCallTurn, ToolResultTurn, UserTurn
from agent.jobs.job import (
    TRANSITIONS,
    ForbiddenTransition,
    Job,
    Status,
    move,
)
from agent.jobs.recovery import as_left
from agent.transcript.session_log import Session
from tests.agent.test_tasks import SEED_EDGES

ADDED_EDGES = {
    ("thinking", "waiting_approval"),
    ("tool_executing", "waiting_approval"),
    ("waiting_approval", "thinking"),
    ("waiting_approval", "tool_executing"),
    ("waiting_approval", "cancelled"),
    ("waiting_approval", "interrupted"),
    ("running", "limit"),
    ("thinking", "limit"),
    ("tool_executing", "limit"),
    ("limit", "running"),
    ("limit", "cancelled"),
    ("running", "interrupted"),
    ("thinking", "interrupted"),
    ("tool_executing", "interrupted"),
    ("waiting_user", "interrupted"),
    ("interrupted", "running"),
    ("interrupted", "cancelled"),
}
STATES: tuple[Status, ...] = get_args(Status)


def a_task(status: Status) -> Job:
    return Job(persona_id="kept", session_id="s", original_prompt="x", status=status)


def test_the_table_has_exactly_the_edges_of_the_diagram_and_of_the_three_added_states() -> None:
    edges = {(start, end) for start, ends in TRANSITIONS.items() for end in ends}
    assert edges == SEED_EDGES | ADDED_EDGES
    assert set(TRANSITIONS) == set(STATES)


@pytest.mark.parametrize("start", STATES)
@pytest.mark.parametrize("end", STATES)
def test_a_task_moves_along_these_edges_and_no_others(start: Status, end: Status) -> None:
    if (start, end) in SEED_EDGES | ADDED_EDGES:
        assert move(a_task(start), end, step_count=3).step_count == 3
        assert move(a_task(start), end).status == end
    else:
        with pytest.raises(ForbiddenTransition):
            move(a_task(start), end)


@pytest.mark.parametrize("status", STATES)
def test_no_copy_of_a_task_has_another_status(status: Status) -> None:
    with pytest.raises(ForbiddenTransition):
        a_task("running").model_copy(update={"step_count": 1, "status": status})
    with pytest.raises((TypeError, ValueError)):
        setattr(a_task("running"), "status", status)  # noqa: B010 - what a stranger would write


def test_no_other_code_sets_the_status_of_a_task() -> None:
    """A job is made at one place for each kind, without a status; what goes round the copy that checks is used in `move` alone."""
    doors = []
    for package in (Path(agent.__file__).parent, Path(agent.__file__).parent.parent / "tui"):
        for source in sorted(package.rglob("*.py")):
            doors += [f"{source.name}: {door}" for door in _doors(ast.parse(source.read_text("utf-8")))]
    assert doors == [
        "agent_jobs.py: Job",
        "job.py: BaseModel.model_copy",
        "job_log.py: Job.model_validate",
        "job_log.py: Job",
        "runner.py: Job",
    ]


def _doors(tree: ast.Module) -> list[str]:
    """What in a module could give a task a status: constructors, copies that check nothing, attributes set by force."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        last = name.rpartition(".")[2]
        forced = last in ("model_construct", "__setattr__", "setattr") and "status" in ast.unparse(node)
        if forced or name in ("Job", "BaseModel.model_copy", "Job.model_validate"):
            assert name != "Job" or "status" not in {keyword.arg for keyword in node.keywords}
            found.append(name)
    return found


@pytest.mark.parametrize("status", ["running", "thinking", "tool_executing"])
def test_a_task_found_done_came_there_along_the_table(tmp_path: Path, status: Status) -> None:
    session = Session.create(tmp_path, "kept")
    call = ToolCallTurn(tool_use_id="done_1", tool_name="task_complete", input={"summary": "All done."})
    for turn in (
        UserTurn(content="x"),
        call,
        ToolResultTurn(tool_use_id="done_1", output="ok", is_error=False),
    ):
        session.add(turn)
    found = as_left(a_task(status), session)
    assert (found.status, found.summary, found.current_tool) == ("completed", "All done.", None)
