"""Calls without a result: which there are, and what they are answered with."""

from __future__ import annotations

import pytest

from agent.core.messages import NO_RESULT
from agent.core.repair import NEVER_RAN, OUTCOME_UNKNOWN, last_call_failed, missing_results, unanswered_calls
from agent.core.turns import CustomTurn, NoticeTurn, ToolResultTurn, Turn
from tests.agent.test_messages import call, result, text, thinking, user

NOTICE = NoticeTurn(content="n", kind="limit")
OTHER = CustomTurn(type="weather", fields={})
FAILED = result("a", is_error=True)


@pytest.mark.parametrize(
    ("turns", "open_calls"),
    [
        ([], []),
        ([user("q"), text("a")], []),
        ([user("q"), call("a"), call("b"), call("c")], ["a", "b", "c"]),
        ([user("q"), call("a"), call("b"), call("c"), result("b")], ["a", "c"]),
        ([user("q"), call("a"), result("a")], []),
        ([user("q"), call("a"), text("t"), call("b"), thinking()], ["a", "b"]),
        ([user("q"), call("a"), NOTICE, call("b"), OTHER, result("b"), NOTICE], ["a"]),
        ([user("q"), call("a"), user("more"), result("b"), user("and more")], ["a"]),
        ([user("q"), call("a"), user("r"), call("b")], ["b"]),
        ([user("q"), call("a"), result("x"), call("b"), result("b")], []),
        ([user("q"), call("a"), user("r"), text("t")], []),
    ],
)
def test_open_are_the_calls_of_the_last_answer_without_a_result(
    turns: list[Turn], open_calls: list[str]
) -> None:
    assert [turn.tool_use_id for turn in unanswered_calls(turns)] == open_calls


def test_a_call_is_answered_by_whether_it_had_started() -> None:
    turns = [user("q"), call("a"), call("b"), call("c"), result("b")]

    def outputs(started: set[str] | None) -> list[tuple[str, str, bool]]:
        made: list[ToolResultTurn] = missing_results(turns, started)
        return [(turn.tool_use_id, turn.output, turn.is_error) for turn in made]

    assert outputs(None) == [("a", NO_RESULT, True), ("c", NO_RESULT, True)]
    assert outputs(set()) == [("a", NEVER_RAN, True), ("c", NEVER_RAN, True)]
    assert outputs({"a", "b"}) == [("a", OUTCOME_UNKNOWN, True), ("c", NEVER_RAN, True)]


@pytest.mark.parametrize(
    ("turns", "failed"),
    [
        ([], False),
        ([user("q"), call("a"), FAILED], True),
        ([user("q"), call("a"), FAILED, result("b"), NOTICE, OTHER], True),
        ([user("q"), call("a"), result("a")], False),
        ([user("q"), call("a"), FAILED, text("t")], False),
        ([user("q"), call("a"), FAILED, call("b"), result("b")], False),
        ([user("q"), call("a"), FAILED, user("r")], False),
    ],
)
def test_the_last_call_failed_when_one_of_the_results_at_the_end_is_an_error(
    turns: list[Turn], failed: bool
) -> None:
    assert last_call_failed(turns) is failed
