"""The scenarios of `task_conformance/`, one test each; every one must also keep what holds for all tasks."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest

from agent.chat.chat import Chat
from agent.core.events import Event
from agent.core.turns import NoticeTurn, ToolResultTurn, UserTurn
from agent.jobs.job import TRANSITIONS
from agent.jobs.recovery import find_job
from agent.models.scripted import ScriptedModel
from personas.store import Store
from tests.agent.invariants import broken_invariants
from tests.agent.task_scenario import Life, play_task
from tests.support.messages_rules import violations

FOLDER = Path(__file__).parent / "task_conformance"
SCENARIOS: list[dict[str, Any]] = [
    scenario
    for path in sorted(FOLDER.glob("*.toml"))
    for scenario in tomllib.loads(path.read_text(encoding="utf-8"))["scenario"]
]


def broken_rules(life: Life) -> list[str]:
    """Return what must hold for every life of a program and does not."""
    found = []
    for _, tasks in groupby(life.seen, key=lambda task: task.id):
        states = [status for status, _ in groupby(task.status for task in tasks)]
        for before, after in pairwise(states):
            if after not in TRANSITIONS[before]:
                found.append(f"{before} -> {after}")
    for request in life.model.requests:
        found.extend(violations({"messages": request.messages}))
    if life.runner.is_live(life.persona_id):
        found.append("something still runs")
    runs: list[list[Event]] = []
    for event in life.events:
        if event.seq == 0:
            runs.append([])
        runs[-1].append(event)
    for run in runs:
        turns = [turn for event in run[-1:] for turn in getattr(event, "turns", ())]
        found.extend(broken_invariants(run, turns))
    return found


def started_calls(store: Store, persona_id: str) -> list[str]:
    """Return the wire ids of the calls on the persona that began to act, in the order of the log."""
    path = store.home.sessions / f"{store.session_of(persona_id)}.jsonl"
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    control = {
        record["tool_use_id"]
        for record in records
        if record["type"] == "tool_call"
        and record["tool_name"] in ("ask_user", "task_complete", "send_update")
    }
    started = [record["tool_use_id"] for record in records if record["type"] == "started"]
    return [call_id for call_id in started if call_id not in control]


def observed(store: Store, lives: Sequence[Life]) -> dict[str, Any]:
    """What a scenario may expect."""
    last = lives[-1]
    task = last.runner.job("kept")
    chat = Chat(store, "kept", ScriptedModel())
    chat.load()
    found = find_job(store, "kept")
    return {
        "states": last.states,
        "first_states": lives[0].states,
        "status": task.status if task else "",
        "summary": task.summary if task else "",
        "steps": task.step_count if task else 0,
        "message": task.error_message if task else "",
        "found": found.status if found else "",
        "notices": [turn.kind for turn in chat.turns if isinstance(turn, NoticeTurn)],
        "results": [turn.output for turn in chat.turns if isinstance(turn, ToolResultTurn)],
        "said": [turn.content for turn in chat.turns if isinstance(turn, UserTurn)],
        "prompt": store.get("kept").system_prompt,
        "requests": len(last.model.requests),
        "error": last.error,
        "started": len(started_calls(store, "kept")),
    }


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario["name"])
def test_scenario(scenario: dict[str, Any], tmp_path: Path) -> None:
    store, lives = play_task(scenario, tmp_path)
    assert [fault for life in lives for fault in broken_rules(life)] == []
    started = started_calls(store, "kept")
    assert len(started) == len(set(started)), "a call acts once"
    seen = observed(store, lives)
    assert scenario["expect"]
    for key, value in scenario["expect"].items():
        if key.endswith("_has"):
            assert value in str(seen[key.removesuffix("_has")])
        else:
            assert seen[key] == value, key


def test_every_scenario_has_a_name_of_its_own() -> None:
    assert len({scenario["name"] for scenario in SCENARIOS}) == len(SCENARIOS) >= 20
