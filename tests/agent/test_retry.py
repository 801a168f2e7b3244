"""When a failed request is tried again, and when a run has used up what it may."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.limits import Limits, RepeatWatch, Spending, reached, shorten
from agent.core.model import ErrorKind, ModelError, Usage
from agent.core.retry import GiveUp, RetryPolicy, Wait, decide
from agent.core.turns import ToolCallTurn
from agent.models.prices import cost

POLICY = RetryPolicy()


def error(kind: ErrorKind = "overloaded", **fields: object) -> ModelError:
    return ModelError(kind, "It failed.", **{"retryable": True, **fields})  # type: ignore[arg-type]


def delay(failures: int, jitter: float = 0.5, **fields: object) -> float:
    verdict = decide(error(**fields), failures, POLICY, jitter)  # type: ignore[arg-type]
    assert isinstance(verdict, Wait)
    assert verdict.attempt == failures
    return verdict.delay


def test_waits_double() -> None:
    assert [delay(failures) for failures in (1, 2, 3, 4)] == [1.0, 2.0, 4.0, 8.0]


def test_jitter_spreads_the_waits_and_keeps_them_in_bounds() -> None:
    assert delay(1, 0.0) == 0.75
    assert delay(1, 1.0) == 1.25


def test_retry_after_is_never_undercut_and_never_above_a_minute() -> None:
    assert delay(1, 0.0, retry_after=7.0) == 7.0
    assert 7.0 < delay(1, 1.0, retry_after=7.0) < 9.0
    assert delay(1, 1.0, retry_after=60.0) == 60.0


def test_our_own_wait_is_never_longer_than_the_policy_says() -> None:
    verdict = decide(error(), 9, RetryPolicy(retries=9, longest=30.0), 0.5)
    assert verdict == Wait(9, 30.0)


def test_a_server_that_asks_for_no_wait_is_asked_again_at_once() -> None:
    assert delay(3, 0.0, retry_after=0.0) == 0.0
    assert delay(3, 1.0, retry_after=0.0) == 0.1


def test_jitter_adds_a_second_at_the_most_to_what_a_server_asks_for() -> None:
    assert delay(1, 1.0, retry_after=40.0) == 41.0


@pytest.mark.parametrize("nonsense", [float("nan"), -5.0])
def test_a_senseless_retry_after_is_ignored(nonsense: float) -> None:
    assert delay(1, 0.5, retry_after=nonsense) == 1.0


def test_a_long_retry_after_gives_up_and_says_how_long() -> None:
    verdict = decide(error(retry_after=61.0), 1, POLICY, 0.5)
    assert isinstance(verdict, GiveUp)
    assert "61 seconds" in verdict.error.message


def test_attempts_are_counted_where_there_was_more_than_one() -> None:
    once = decide(error(), 1, RetryPolicy(retries=0), 0.5)
    thrice = decide(error(), 3, RetryPolicy(retries=2), 0.5)
    assert once == GiveUp(error())
    assert isinstance(thrice, GiveUp)
    assert thrice.error.message == "It failed. (3 attempts were made.)"


def test_attempts_are_bounded() -> None:
    verdict = decide(error(), 5, POLICY, 0.5)
    assert isinstance(verdict, GiveUp)
    assert "5 attempts" in verdict.error.message


@pytest.mark.parametrize(
    "kind",
    ["authentication", "permission", "not_found", "invalid_request", "too_large", "spend_limit", "client"],
)
def test_these_kinds_are_never_tried_again(kind: ErrorKind) -> None:
    assert isinstance(decide(error(kind), 1, POLICY, 0.5), GiveUp)


def test_what_nobody_may_retry_is_given_up_whatever_its_kind() -> None:
    assert decide(error(retryable=False), 1, POLICY, 0.5) == GiveUp(error(retryable=False))


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_these_statuses_are_never_tried_again(status: int) -> None:
    assert isinstance(decide(error(status=status), 1, POLICY, 0.5), GiveUp)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529, None])
def test_these_statuses_are_tried_again(status: int | None) -> None:
    assert isinstance(decide(error(status=status), 1, POLICY, 0.5), Wait)


def test_limits_name_what_was_reached() -> None:
    limits = Limits(max_steps=3, max_tokens=100, max_cost=2.0, price=lambda model, usage: 1.0)
    assert reached(limits, steps=2, usage=Usage(1, 1), cost=1.99) is None
    assert "3 steps" in (reached(limits, steps=3, usage=Usage()) or "")
    assert "100 tokens" in (reached(limits, steps=1, usage=Usage(99, 1)) or "")
    assert "cost of 5.00" in (reached(limits, steps=1, usage=Usage(0, 5), cost=5.0) or "")


def test_each_request_is_priced_by_itself() -> None:
    limits = Limits(max_cost=1.0, price=cost, spent=0.01)
    spending = Spending(limits, "claude-haiku-5-5")
    one = Usage(input_tokens=60_000, output_tokens=100)
    for _ in range(5):
        spending.add(one)
    assert spending.cost == pytest.approx(0.01 + 5 * (cost("claude-haiku-5-5", one) or 0))
    assert spending.cost < 0.01 + (cost("claude-haiku-5-5", Usage(300_000, 500)) or 0)
    assert spending.unknown_price() is None


@pytest.mark.parametrize("price", [None, lambda model, usage: None], ids=["no function", "unknown"])
def test_a_cost_budget_that_cannot_hold_is_told_once(price: Any) -> None:
    spending = Spending(Limits(max_cost=2.0, price=price), "mystery")
    spending.add(Usage(1, 1))
    assert "mystery are not known" in (spending.unknown_price() or "")
    spending.add(Usage(1, 1))
    assert spending.unknown_price() is None and spending.cost == 0.0


@pytest.mark.parametrize("price", ["1", float("nan"), float("inf")])
def test_a_price_is_a_number(price: Any) -> None:
    with pytest.raises(TypeError, match="price must be a number"):
        Spending(Limits(max_cost=2.0, price=lambda model, usage: price), "m").add(Usage())


def test_cached_tokens_count_towards_the_budget() -> None:
    assert reached(Limits(max_tokens=10), steps=1, usage=Usage(1, 1, 4, 4)) is not None


def call(**fields: object) -> ToolCallTurn:
    return ToolCallTurn(tool_use_id="x", tool_name="look", input=fields)


def test_repeats_are_the_same_call_with_the_same_input_failing_in_a_row() -> None:
    watch = RepeatWatch(3)
    assert watch.record(call(a=1, b=2), is_error=True) is None
    assert watch.record(call(b=2, a=1), is_error=True) is None
    assert "3 times" in (watch.record(call(a=1, b=2), is_error=True) or "")


def test_its_own_success_or_a_step_without_it_starts_a_calls_count_again() -> None:
    watch = RepeatWatch(2)
    assert watch.record(call(a=1), is_error=True) is None
    assert watch.record(call(a=1), is_error=False) is None
    assert watch.record(call(a=1), is_error=True) is None
    watch.end_step()
    assert watch.record(call(a=2), is_error=True) is None
    watch.end_step()
    assert watch.record(call(a=1), is_error=True) is None
    watch.end_step()
    assert watch.record(call(a=2), is_error=False) is None
    assert watch.record(call(a=1), is_error=True) is not None


def test_shortening_keeps_head_and_tail() -> None:
    assert shorten("abc", 3) == "abc"
    assert shorten("0123456789", 6) == "0123\n[… 4 characters left out …]\n89"
