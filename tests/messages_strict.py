"""What the Messages API refuses in a request body: fields, limits, tools, and the rules of the conversation."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Mapping
from typing import Any

KNOWN_VERSIONS = ("2023-06-01", "2026-10-21")
_FIELDS = {
    "cache_control", "container", "diagnostics", "inference_geo", "max_tokens", "messages", "metadata", "model",
    "output_config", "service_tier", "speed", "stop_sequences", "stream", "system", "thinking", "tool_choice", "tools",
}  # fmt: skip
_SAMPLING = ("temperature", "top_p", "top_k")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def refuse_body(body: Mapping[str, Any], *, counting: bool, max_tokens: int) -> str | None:
    """Return the message of the 400 the API would answer, or None when the body is acceptable."""
    for name in _SAMPLING:
        if name in body:
            return f"{name}: sampling parameters are not supported on this model"
    unknown = sorted(set(body) - _FIELDS)
    if unknown:
        return f"{unknown[0]}: Extra inputs are not permitted"
    for name in ("model", "messages") if counting else ("model", "messages", "max_tokens"):
        if name not in body:
            return f"{name}: Field required"
    if not counting and (wrong := _refuse_max_tokens(body["max_tokens"], max_tokens, str(body["model"]))):
        return wrong
    return (
        _refuse_system(body.get("system", "x"))
        or _refuse_thinking(body)
        or _refuse_tools(body.get("tools", []))
        or _refuse_conversation(body)
    )


def _refuse_max_tokens(asked: Any, most: int, model: str) -> str | None:
    if type(asked) is not int or asked < 1:
        return "max_tokens: Input should be a positive integer"
    if asked > most:
        return f"max_tokens: {asked} > {most}, which is the maximum allowed number of output tokens for {model}"
    return None


def _refuse_system(system: Any) -> str | None:
    if isinstance(system, str):
        return None if system.strip() else "system: text content blocks must contain non-whitespace text"
    return None if isinstance(system, list) else "system: Input should be a valid string or list"


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
        case "disabled" if set(thinking) == {"type"}:
            return None if effort in (None, "low", "medium", "high") else "thinking.type.disabled: needs effort high or lower"
        case "enabled":
            return "thinking.type.enabled: is not supported for this model; use thinking.type.adaptive"
    return "thinking: Input does not match any of the expected tags"


def _refuse_tools(tools: Any) -> str | None:
    names = []
    for at, tool in enumerate(tools):
        if not _NAME.fullmatch(str(tool.get("name", ""))):
            return f"tools.{at}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        if extra := set(tool) - {"name", "description", "input_schema", "cache_control", "strict", "type"}:
            return f"tools.{at}.{sorted(extra)[0]}: Extra inputs are not permitted"
        schema = tool.get("input_schema")
        if not isinstance(schema, Mapping) or schema.get("type") != "object":
            return f"tools.{at}.input_schema.type: Field required"
        names.append(tool["name"])
    return "tools: Tool names must be unique" if len(set(names)) < len(names) else None


def _refuse_conversation(body: Mapping[str, Any]) -> str | None:
    if importlib.util.find_spec("tests.messages_rules") is None:
        return None
    wrong = importlib.import_module("tests.messages_rules").violations(body)
    return "; ".join(wrong) or None
