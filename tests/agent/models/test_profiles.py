"""What a refusal teaches about an endpoint."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.model import Request
from agent.models.anthropic.endpoint_profiles import (
    OLDER_VERSION,
    EndpointProfile,
    Profiles,
    find_room,
    learn,
)
from agent.models.anthropic.request_body import build_body

TOO_LARGE = (
    "max_tokens is too large: 32000. This model's maximum context length is 8192 tokens and your request has "
    "1000 input tokens"
)


def sent(profile: EndpointProfile | None = None, **options: Any) -> dict[str, Any]:
    request = Request(system="S", messages=[{"role": "user", "content": "Hi"}], **options)
    return build_body("m", request, profile or EndpointProfile())


@pytest.mark.parametrize(
    ("status", "text", "level", "change"),
    [
        (400, "cache_control: Extra inputs are not permitted", "off", {"cache_control": False}),
        (422, '[{"loc": ["body", "cache_control"], "msg": "extra"}]', "off", {"cache_control": False}),
        (400, "This model does not support the effort parameter.", "high", {"effort": False}),
        (400, "output_config.effort: 'max' is not supported by this model", "max", {"effort": False}),
        (400, "thinking: Extra inputs are not permitted", "off", {"thinking": False}),
        (400, "thinking.type.disabled is not supported for this model", "off", {"thinking_off": False}),
        (400, "adaptive thinking is not supported on this model", "high", {"adaptive_thinking": False}),
        (400, "thinking.adaptive.display: unknown value", "high", {"thinking_display": False}),
        (400, "thinking is not supported by this model", "high", {"thinking": False}),
        (400, "anthropic-version: unknown version", "off", {"anthropic_version": OLDER_VERSION}),
        (401, "x-api-key header is required", "off", {"api_key_header": True}),
        (400, "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens", "off", {"max_tokens": 8192}),
        (400, "'max_tokens' must be less than or equal to 4096", "off", {"max_tokens": 4096}),
    ],
)  # fmt: skip
def test_a_feature_refused_by_name_is_dropped(
    status: int, text: str, level: Any, change: dict[str, Any]
) -> None:
    learned = learn(EndpointProfile(), status, text, sent(thinking=level))
    assert learned is not None
    assert learned[0] == EndpointProfile(**change)
    assert learned[1].endswith(".")


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (400, "messages.3.content.0: Invalid `signature` in `thinking` block"),
        (400, "messages[1].content[0].cache_control: too many"),
        (401, "invalid x-api-key"),
        (403, "cache_control is not for you"),
        (500, "thinking failed"),
        (400, "prompt is too long"),
        (400, "max_tokens: 32000 > 100000"),
        (400, "max_tokens: 32000 > 255, which is the maximum"),
        (400, "max_tokens must be at most 1"),
        (400, "max_tokens: 1 > " + "1" * 5000),
        (400, TOO_LARGE),
        (400, f"maximum context length is {'9' * 5000} tokens and you have {'9' * 5000} input tokens"),
        (400, "This model's maximum context length is 8192 tokens and your request has 9000 input tokens"),
        (400, "output_config: not known"),
        (200, ""),
    ],
)
def test_other_refusals_teach_nothing(status: int, text: str) -> None:
    assert learn(EndpointProfile(), status, text, sent()) is None


@pytest.mark.parametrize(
    ("status", "text", "room"),
    [
        (400, TOO_LARGE, 7192),
        (422, TOO_LARGE, 7192),
        (500, TOO_LARGE, None),
        (
            400,
            "input length and `max_tokens` exceed context limit: 174167 + 32000 > 200000, decrease it",
            25_833,
        ),
        (
            400,
            "input length and `max_tokens` exceed context limit: 199759 + 32000 > 200000, decrease it",
            None,
        ),
        (400, "input length and `max_tokens` exceed context limit: 100 + 32000 > 200000, decrease it", None),
        (400, "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens", None),
        (400, "prompt is too long", None),
    ],
)
def test_the_room_a_conversation_leaves_is_read_from_the_refusal(
    status: int, text: str, room: int | None
) -> None:
    assert find_room(status, text, sent()) == room


@settings(max_examples=100, deadline=None)
@given(
    words=st.lists(
        st.sampled_from(["cache_control", "thinking", "adaptive", "disabled", "display", "effort", "output_config", "anthropic-version",
                         "x-api-key is required", "max_tokens: 9 > 8", "max_tokens must be at most 5", "max_tokens must be at most 0"]),
        min_size=1, max_size=4,
    ),
    status=st.sampled_from([400, 401, 422]),
    level=st.sampled_from(["off", "low", "max"]),
)  # fmt: skip
def test_learning_ends_whatever_the_server_keeps_saying(words: list[str], status: int, level: Any) -> None:
    profile = EndpointProfile()
    for _ in range(12):
        learned = learn(profile, status, " ".join(words), sent(profile, thinking=level))
        if learned is None:
            return
        assert learned[0] != profile
        profile = learned[0]
    raise AssertionError("it learns for ever")


def test_what_was_learned_holds_for_one_model_at_one_endpoint() -> None:
    known = Profiles()
    known.put("http://a", "m", EndpointProfile(cache_control=False))
    assert known.get("http://a", "m") == EndpointProfile(cache_control=False)
    assert known.get("http://a", "other") is known.get("http://b", "m") is None
