"""The scenarios of `conformance/`, one test each; every one must also keep what holds for all runs."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from agent.core.events import ModelNotice
from agent.core.turns import AssistantTextTurn, NoticeTurn, ToolCallTurn, ToolResultTurn, UserTurn, thaw
from tests.agent.invariants import broken_invariants
from tests.agent.scenario import Played, play, tokens

FOLDER = Path(__file__).parent / "conformance"
SCENARIOS: list[dict[str, Any]] = [
    scenario
    for path in sorted(FOLDER.glob("*.toml"))
    for scenario in tomllib.loads(path.read_text(encoding="utf-8"))["scenario"]
]


def observed(played: Played) -> dict[str, Any]:
    """What a scenario may expect besides the events."""
    end = played.ends[-1]
    turns = [turn for event in played.ends for turn in event.turns]
    last = played.model.requests[-1].messages if played.model.requests else []
    return {
        "outcome": end.outcome,
        "stop_reason": end.stop_reason,
        "texts": [turn.content for turn in turns if isinstance(turn, AssistantTextTurn)],
        "said": [turn.content for turn in turns if isinstance(turn, UserTurn)],
        "results": [turn.output for turn in turns if isinstance(turn, ToolResultTurn)],
        "errors": [turn.is_error for turn in turns if isinstance(turn, ToolResultTurn)],
        "notices": [turn.kind for turn in turns if isinstance(turn, NoticeTurn)],
        "notice": " ".join(turn.content for turn in turns if isinstance(turn, NoticeTurn)),
        "undelivered": [turn.content for turn in end.undelivered],
        "requests": len(played.model.requests),
        "steps": end.steps,
        "elapsed": round(played.elapsed, 3),
        "executed": played.executed,
        "error": end.error.message if end.error else "",
        "error_kind": end.error.kind if end.error else "",
        "output_tokens": end.usage.output_tokens,
        "queued": [turn.content for turn in (*played.agent.steering_queue, *played.agent.follow_up_queue)],
        "last_request": [
            [block.get("text") or block.get("content") or block["type"] for block in message["content"]]
            if not isinstance(message["content"], str)
            else message["content"]
            for message in last
        ],
        "keys": [request.api_key for request in played.model.requests],
        "turn_types": [turn.type for turn in played.agent.turns],
        "ran_with": [
            thaw((turn.details or {}).get("ran_with", "none"))
            for turn in turns
            if isinstance(turn, ToolResultTurn)
        ],
        "inputs": [thaw(turn.input) for turn in turns if isinstance(turn, ToolCallTurn)],
        "model_notices": [event.message for event in played.runs[-1] if isinstance(event, ModelNotice)],
        "open_streams": played.model.open_streams,
        "logged": [_short(message) for message in played.logged],
    }


def _short(message: str) -> str:
    """A logged message without what is different each time."""
    return message.partition(": <")[0]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario["name"])
def test_scenario(scenario: dict[str, Any]) -> None:
    played = play(scenario)
    for events in played.runs:
        turns = [turn for event in events[-1:] for turn in event.turns]
        assert broken_invariants(events, turns) == []
    if "events" in scenario:
        assert tokens(played.runs[-1]) == scenario["events"].split()
    seen = observed(played)
    expect = scenario.get("expect", {})
    assert "events" in scenario or expect, "a scenario expects something"
    for key, value in expect.items():
        if key.endswith("_has"):
            assert value in str(seen[key.removesuffix("_has")])
        elif key.endswith("_most"):
            assert seen[key.removesuffix("_most")] <= value
        else:
            assert seen[key] == value, key


def test_there_are_at_least_a_hundred_scenarios_with_names_of_their_own() -> None:
    assert len({scenario["name"] for scenario in SCENARIOS}) == len(SCENARIOS) >= 100
