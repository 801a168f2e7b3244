"""The body of a request to the Messages API: what is asked, as far as the endpoint's profile allows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.core.model import Request
from agent.core.turns import thaw
from agent.models.anthropic.endpoint_profiles import EndpointProfile

DEFAULT_MAX_TOKENS = 32_000
"""Tokens per answer where the model's own limit is not known; a server that allows less says so."""

USUAL_CONTEXT = 200_000
"""Tokens of context where the model's own limit is not known yet."""
FEWEST_CHARACTERS = 2
"""Characters that make a token at the least, in text people write; more tokens than that are not feared."""

_EFFORTS = {"off": "low", "minimal": "low", "low": "low", "medium": "medium", "high": "high", "max": "max"}
_BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16_384, "max": 24_576}


def build_body(name: str, request: Request, profile: EndpointProfile) -> dict[str, Any]:
    """Return the request body for `request` as `profile` allows it."""
    wanted = request.max_tokens or DEFAULT_MAX_TOKENS
    max_tokens = min(wanted, profile.max_tokens or wanted)
    body: dict[str, Any] = {
        "model": name,
        "max_tokens": max_tokens,
        "messages": thaw(request.messages),
        "stream": True,
    }
    if request.system:
        body["system"] = request.system
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": thaw(tool.input_schema)}
            for tool in request.tools
        ]
    if request.forced_tool is not None:
        body["tool_choice"] = {"type": "tool", "name": request.forced_tool}
    if profile.cache_control:
        body["cache_control"] = {"type": "ephemeral"}
    if profile.thinking:
        body |= _thinking(request, profile, max_tokens)
    return body


def _thinking(request: Request, profile: EndpointProfile, max_tokens: int) -> dict[str, Any]:
    level = request.thinking
    if level == "off" and profile.thinking_off:
        return {"thinking": {"type": "disabled"}}
    if level == "off" and not profile.adaptive_thinking:
        return {}  # a model that thinks only when asked to
    display = {"display": "summarized"} if profile.thinking_display else {}
    if profile.adaptive_thinking:
        effort = {"output_config": {"effort": _EFFORTS[level]}} if profile.effort else {}
        return {"thinking": {"type": "adaptive", **display}, **effort}
    budget = min(_BUDGETS[level], max_tokens - 1)
    return {"thinking": {"type": "enabled", "budget_tokens": budget, **display}} if budget >= 1024 else {}


def length_of(request: Request) -> int:
    """Return about how many characters a request has, without its structure."""
    return len(request.system) + sum(_length(message) for message in request.messages)


def _length(value: object) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(_length(item) for item in value.values())
    if isinstance(value, list | tuple):
        return sum(_length(item) for item in value)
    return 1
