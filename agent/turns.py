"""The conversation as a flat list of turns: what each kind holds, and its form in the session file.

A turn is one item of the conversation (seed words: user, assistant_text, tool_call, tool_result; ours
beyond: thinking, notice). Turns are immutable. How they become a provider's messages is `messages.py`.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, ClassVar


def new_id(prefix: str) -> str:
    """Return a fresh id such as `turn_1f0c…` (the prefix and 96 random bits in hex)."""
    return f"{prefix}_{secrets.token_hex(12)}"


def utc_now() -> str:
    """Return the present as UTC ISO 8601 with milliseconds, `2026-01-31T12:00:00.000Z`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def freeze(value: Any) -> Any:
    """Return JSON-like `value` with every dict a read-only mapping and every list a tuple."""
    if isinstance(value, Mapping):
        return MappingProxyType({key: freeze(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    return value


def thaw(value: Any) -> Any:
    """Return a plain, mutable copy of a value made by `freeze` (dicts and lists again)."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in value]
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurn:
    """What the person (or an application on their behalf) said."""

    type: ClassVar[str] = "user"
    content: str
    id: str = field(default_factory=lambda: new_id("turn"))
    created_at: str = field(default_factory=utc_now)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantTextTurn:
    """One text block of an answer. `interrupted`: it was cut before the block ended."""

    type: ClassVar[str] = "assistant_text"
    content: str
    interrupted: bool = False
    id: str = field(default_factory=lambda: new_id("turn"))
    created_at: str = field(default_factory=utc_now)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingTurn:
    """One thinking block.

    It is replayed to the model byte for byte, and only when it is complete, signed (or redacted), and
    the request goes to the same `model` at the same `endpoint`.
    """

    type: ClassVar[str] = "thinking"
    content: str
    signature: str = ""
    redacted: str = ""
    model: str = ""
    endpoint: str = ""
    interrupted: bool = False
    id: str = field(default_factory=lambda: new_id("turn"))
    created_at: str = field(default_factory=utc_now)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallTurn:
    """A tool call of the model. `input` is the raw object it sent (frozen), `{}` when it was unusable.

    `fault`: why this call can never run (cut, malformed, not an object), in words for the model; empty
    when the call is well formed. `tool_use_id` is the wire id, unique within the session.
    """

    type: ClassVar[str] = "tool_call"
    tool_use_id: str
    tool_name: str
    input: Mapping[str, Any]
    fault: str = ""
    id: str = field(default_factory=lambda: new_id("turn"))
    created_at: str = field(default_factory=utc_now)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultTurn:
    """The one result of a tool call. `details`: data for the screen (a diff, counts), never sent."""

    type: ClassVar[str] = "tool_result"
    tool_use_id: str
    output: str
    is_error: bool = False
    details: Mapping[str, Any] | None = None
    id: str = field(default_factory=lambda: new_id("turn"))
    created_at: str = field(default_factory=utc_now)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeTurn:
    """Something the program says in the conversation (a limit, a cut history); never sent to a model."""

    type: ClassVar[str] = "notice"
    content: str
    kind: str = ""
    id: str = field(default_factory=lambda: new_id("turn"))
    created_at: str = field(default_factory=utc_now)


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomTurn:
    """A turn of a kind an application adds: shown and stored, skipped by the default conversion.

    Also what an unknown `type` in a session file is read as, so that nothing is lost on a rewrite.
    """

    type: str
    fields: Mapping[str, Any]
    id: str = field(default_factory=lambda: new_id("turn"))
    created_at: str = field(default_factory=utc_now)


Turn = (
    UserTurn | AssistantTextTurn | ThinkingTurn | ToolCallTurn | ToolResultTurn | NoticeTurn | CustomTurn
)
