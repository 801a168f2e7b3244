"""What the Messages API refuses in a request body: unknown fields, limits, thinking, and `violations`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.support.messages_rules import violations

KNOWN_VERSIONS = ("2023-06-01", "2026-10-21")
ALWAYS_THINKING = ("claude-opus-5-5", "claude-fable-5-1")
_FIELDS = {
    "cache_control", "container", "diagnostics", "inference_geo", "max_tokens", "messages", "metadata", "model",
    "output_config", "service_tier", "speed", "stop_sequences", "stream", "system", "thinking", "tool_choice", "tools",
}  # fmt: skip
_TOOL_FIELDS = {"name", "description", "input_schema", "cache_control", "strict", "type"}


def refuse_body(body: Mapping[str, Any], *, counting: bool, max_tokens: int) -> str | None:
    """Return the message of the 400 the API would answer, or None when the body is acceptable.

    Args:
        counting: the request is for `count_tokens`, which needs no `max_tokens`.
        max_tokens: the most the model may be asked for.
    """
    unknown = sorted(set(body) - _FIELDS - {"temperature", "top_p", "top_k"})
    if unknown:
        return f"{unknown[0]}: Extra inputs are not permitted"
    for name in ("model", "messages") if counting else ("model", "messages", "max_tokens"):
        if name not in body:
            return f"{name}: Field required"
    if counting and body.keys() & {"max_tokens", "stream"}:
        return "max_tokens: Extra inputs are not permitted"
    if wrong := violations(body):
        return "; ".join(wrong)
    if not counting and body["max_tokens"] > max_tokens:
        return f"max_tokens: {body['max_tokens']} > {max_tokens}, which is the maximum allowed number of output tokens for {body['model']}"
    for at, tool in enumerate(body.get("tools", ())):
        if extra := sorted(set(tool) - _TOOL_FIELDS):
            return f"tools.{at}.{extra[0]}: Extra inputs are not permitted"
    cache = body.get("cache_control")
    if cache is not None and cache not in ({"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}):
        return "cache_control: Input should be {'type': 'ephemeral'}"
    return _refuse_thinking(body)


def _refuse_thinking(body: Mapping[str, Any]) -> str | None:
    thinking = body.get("thinking")
    effort = (body.get("output_config") or {}).get("effort")
    if effort not in (None, "low", "medium", "high", "xhigh", "max"):
        return f"output_config.effort: unknown effort {effort}"
    if thinking is None:
        return None
    match thinking.get("type"):
        case "adaptive" if set(thinking) <= {"type", "display"}:
            return None
        case "disabled" if body["model"] in ALWAYS_THINKING:
            return f"thinking.type.disabled: is not supported for {body['model']}; use thinking.type.adaptive"
        case "disabled" if set(thinking) == {"type"}:
            allowed = effort in (None, "low", "medium", "high")
            return None if allowed else "thinking.type.disabled: needs effort high or lower"
        case "enabled":
            return "thinking.type.enabled: is not supported for this model; use thinking.type.adaptive"
    return "thinking: Input does not match any of the expected tags"
