"""A turn as a JSON object, as it stands in a session file and in what the commands print."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from agent.core.turns import (
    DEEPEST,
    AssistantTextTurn,
    CustomTurn,
    NoticeTurn,
    ThinkingTurn,
    ToolCallTurn,
    ToolResultTurn,
    Turn,
    UserTurn,
    nesting_exceeds,
)

_COMMON = ("id", "created_at")
_TEXT: dict[str, type] = {"content": str}
_KINDS: dict[str, tuple[Callable[..., Turn], dict[str, type], dict[str, type]]] = {
    # kind: (constructor, fields it must have, fields it may have)
    "user": (UserTurn, _TEXT, {}),
    "assistant_text": (AssistantTextTurn, _TEXT, {"interrupted": bool}),
    "thinking": (
        ThinkingTurn,
        _TEXT,
        {"signature": str, "redacted": str, "model": str, "endpoint": str, "interrupted": bool},
    ),
    "tool_call": (ToolCallTurn, {"tool_use_id": str, "tool_name": str, "input": dict}, {"fault": str}),
    "tool_result": (ToolResultTurn, {"tool_use_id": str, "output": str}, {"is_error": bool, "details": dict}),
    "notice": (NoticeTurn, _TEXT, {"kind": str}),
}


def to_record(turn: Turn) -> dict[str, Any]:
    """Return the turn as a JSON object: `type`, `id`, `created_at`, then its fields, defaults left out.

    What an application put into it that is no JSON becomes a text; a record can always be written and read.
    """
    record: dict[str, Any] = {"type": turn.type, "id": turn.id, "created_at": turn.created_at}
    if isinstance(turn, CustomTurn):
        return {**as_json(turn.fields), **record}
    _, required, optional = _KINDS[turn.type]
    for name in required:
        record[name] = getattr(turn, name)
    for name in optional:
        if value := getattr(turn, name):
            record[name] = value
    if isinstance(turn, ToolCallTurn):
        record["input"] = as_json(turn.input)
    elif isinstance(turn, ToolResultTurn):
        record["is_error"] = turn.is_error
        if turn.details is not None:
            record["details"] = as_json(turn.details)
    return record


def from_record(record: Mapping[str, Any]) -> Turn:
    """Return the turn a JSON object describes; a kind we do not know becomes a `CustomTurn`.

    Details of a result that are none are left out: they are for the screen, and the result counts without them.

    Raises:
        ValueError: a field has the wrong type, is missing, or is nested too deeply to be read safely.
    """
    kind = record.get("type")
    if not isinstance(kind, str) or not kind:
        raise ValueError("the record has no type")
    common: dict[str, Any] = {}
    for name in _COMMON:
        if name in record:
            if not isinstance(record[name], str):
                raise ValueError(f"{name} of a {kind} record is not text")
            common[name] = record[name]
    if nesting_exceeds(record, DEEPEST + 1):  # the record and, in it, an input of its own
        raise ValueError(f"the {kind} record is nested too deeply")
    if kind not in _KINDS:
        fields = {key: value for key, value in record.items() if key not in ("type", *_COMMON)}
        return CustomTurn(type=kind, fields=fields, **common)
    make, required, optional = _KINDS[kind]
    fields = {}
    for name, form in required.items():
        if type(record.get(name)) is not form:
            raise ValueError(f"{name} of a {kind} record is missing or of the wrong type")
        fields[name] = record[name]
    for name, form in optional.items():
        if record.get(name) is not None:
            if type(record[name]) is not form:
                if name == "details":
                    continue
                raise ValueError(f"{name} of a {kind} record is of the wrong type")
            fields[name] = record[name]
    return make(**fields, **common)


def as_json(value: Any, levels: int | None = None) -> Any:
    """Return any value as plain JSON of at most `levels` levels: what JSON cannot say becomes a text about it.

    Total: what an application put into its turns may be anything, and must not cost the turn.
    """
    if type(value) is str or isinstance(value, bool) or value is None:
        return value
    left = DEEPEST + 1 if levels is None else levels
    if left > 0 and isinstance(value, Mapping | list | tuple | set | frozenset):
        if isinstance(value, Mapping):
            return {
                key if isinstance(key, str) else _in_words(key): as_json(item, left - 1)
                for key, item in value.items()
            }
        return [as_json(item, left - 1) for item in value]
    if isinstance(value, int) and value.bit_length() < 10_000:  # Python writes no longer ones
        return int(value)
    if isinstance(value, float) and isfinite(value):
        return float(value)
    return str.__str__(value) if isinstance(value, str) else _in_words(value)


def _in_words(value: object) -> str:
    """A short text about a value that is no JSON. Never raises, whatever the value's class does."""
    try:
        return repr(value)[:200]
    except Exception:  # noqa: BLE001 - an object of foreign code
        return f"<{type(value).__name__}>"
