"""The price table and its honest gaps."""

from __future__ import annotations

import pytest

from agent.core.model import Usage
from agent.models.prices import PRICES, cost, show_cost

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (Usage(input_tokens=MILLION), 2.0),
        (Usage(output_tokens=MILLION), 10.0),
        (Usage(cache_creation_input_tokens=MILLION), 2.5),
        (Usage(cache_read_input_tokens=MILLION), 0.1),
        (Usage(), 0.0),
    ],
)
def test_each_kind_of_token_has_its_price(usage: Usage, dollars: float) -> None:
    assert cost("claude-sonnet-5-5", usage) == pytest.approx(dollars)


def test_a_long_prompt_can_have_another_price() -> None:
    assert cost("claude-haiku-5-5", Usage(input_tokens=100_000)) == pytest.approx(0.01)
    assert cost(
        "claude-haiku-5-5", Usage(input_tokens=50_000, cache_read_input_tokens=50_001)
    ) == pytest.approx(0.0275, rel=1e-3)


def test_a_date_behind_the_name_makes_no_difference() -> None:
    assert cost("claude-haiku-4-5-20251001", Usage(input_tokens=MILLION)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("model", "endpoint"),
    [("llama3", "https://api.anthropic.com"), ("claude-sonnet-5-5", "http://127.0.0.1:8080"), ("offline", "embedded"),
     ("claude-sonnet-5-5", "https://api.anthropic.com.example.org"), ("claude-opus-9", "https://api.anthropic.com")],
)  # fmt: skip
def test_an_unknown_price_is_unknown_and_not_nothing(model: str, endpoint: str) -> None:
    assert cost(model, Usage(input_tokens=MILLION), endpoint) is None


@pytest.mark.parametrize(
    ("dollars", "text"),
    [(None, "unknown cost"), (0.0, "$0.00"), (0.001, "<$0.01"), (0.014, "$0.01"), (1234.5, "$1,234.50")],
)
def test_a_cost_reads_as_a_person_expects(dollars: float | None, text: str) -> None:
    assert show_cost(dollars) == text


def test_every_model_has_a_price_for_any_length() -> None:
    assert all(prices[-1].up_to is None for prices in PRICES.values())
