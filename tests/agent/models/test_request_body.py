"""What is asked of a server, as far as its profile allows."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from agent.core.model import Request, ThinkingLevel, ToolSpec
from agent.models.anthropic.endpoint_profiles import EndpointProfile
from agent.models.anthropic.request_body import DEFAULT_MAX_TOKENS, build_body
from tests.support.messages_strict import refuse_body

HELLO = [{"role": "user", "content": "Hello"}]


def body(profile: EndpointProfile | None = None, **options: Any) -> dict[str, Any]:
    request = Request(**({"system": "S", "messages": HELLO} | options))
    return build_body("claude-sonnet-5-5", request, profile or EndpointProfile())


def test_the_plain_request() -> None:
    assert body() == {
        "model": "claude-sonnet-5-5",
        "max_tokens": DEFAULT_MAX_TOKENS,
        "messages": HELLO,
        "stream": True,
        "system": "S",
        "cache_control": {"type": "ephemeral"},
        "thinking": {"type": "disabled"},
    }


@pytest.mark.parametrize(
    ("level", "effort"),
    [("minimal", "low"), ("low", "low"), ("medium", "medium"), ("high", "high"), ("max", "max")],
)
def test_a_thinking_level_is_adaptive_thinking_with_an_effort(level: ThinkingLevel, effort: str) -> None:
    made = body(thinking=level)
    assert made["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert made["output_config"] == {"effort": effort}


@pytest.mark.parametrize(
    ("level", "budget"),
    [("minimal", 1024), ("low", 2048), ("medium", 8192), ("high", 16_384), ("max", 19_999)],
)
def test_a_model_without_adaptive_thinking_gets_a_budget_below_max_tokens(
    level: ThinkingLevel, budget: int
) -> None:
    made = body(EndpointProfile(adaptive_thinking=False), thinking=level, max_tokens=20_000)
    assert made["thinking"] == {"type": "enabled", "budget_tokens": budget, "display": "summarized"}
    assert "output_config" not in made


def test_no_budget_is_sent_where_none_fits() -> None:
    assert "thinking" not in body(EndpointProfile(adaptive_thinking=False), thinking="max", max_tokens=1000)


def test_a_model_that_always_thinks_gets_the_least_effort_and_shows_its_thinking() -> None:
    made = body(EndpointProfile(thinking_off=False))
    assert made["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert made["output_config"] == {"effort": "low"}


def test_what_a_profile_forbids_is_left_out() -> None:
    profile = EndpointProfile(cache_control=False, thinking=False, max_tokens=100)
    made = body(profile, thinking="high")
    assert set(made) == {"model", "max_tokens", "messages", "stream", "system"}
    assert made["max_tokens"] == 100


def test_an_empty_system_prompt_is_left_out() -> None:
    assert "system" not in body(system="")


def test_frozen_values_become_plain_ones() -> None:
    schema = MappingProxyType({"type": "object", "required": ("x",)})
    call = {"type": "tool_use", "id": "a", "name": "t", "input": MappingProxyType({"x": (1,)})}
    made = body(tools=[ToolSpec("t", "d", schema)], messages=({"role": "assistant", "content": (call,)},))
    assert made["tools"] == [
        {"name": "t", "description": "d", "input_schema": {"type": "object", "required": ["x"]}}
    ]
    assert made["messages"][0]["content"][0]["input"] == {"x": [1]}


@pytest.mark.parametrize("level", ["off", "minimal", "low", "medium", "high", "max"])
def test_every_level_keeps_the_rules_of_the_api(level: ThinkingLevel) -> None:
    assert refuse_body(body(thinking=level), counting=False, max_tokens=128_000) is None
