"""The conversation as a flat list of turns: what each kind holds.

Turns are immutable: what they are given is copied and frozen. How they become a provider's messages is
`messages.py`; how they stand in a session file is `agent/transcript/turn_records.py`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar


def new_id(prefix: str) -> str:
    """Return a fresh id such as `turn_1f0c…` (the prefix and 96 random bits in hex)."""
    return f"{prefix}_{os.urandom(12).hex()}"


def utc_now() -> str:
    """Return the present as UTC ISO 8601 with milliseconds, `2026-01-31T12:00:00.000Z`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


_new_turn_id = partial(new_id, "turn")


def freeze(value: Any) -> Any:
    """Return a copy of JSON-like `value` with every dict a read-only mapping, every list and set a tuple.

    What is no JSON at all (an application's own objects) stays what it is.
    """
    if isinstance(value, Mapping):
        return MappingProxyType({key: freeze(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple([freeze(item) for item in value])
    if isinstance(value, set | frozenset):
        return tuple(sorted((freeze(item) for item in value), key=repr))
    return bytes(value) if isinstance(value, bytearray) else value


def thaw(value: Any) -> Any:
    """Return a plain, mutable copy of a value made by `freeze` (dicts and lists again)."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [thaw(item) for item in value]
    return value


DEEPEST = 100
"""Levels of nesting a tool's input may have; deeper ones are refused rather than walked."""


def nesting_exceeds(value: Any, levels: int) -> bool:
    """Return whether JSON-like `value` is nested deeper than `levels`; never recurses itself."""
    layer = [value]
    for _ in range(levels + 1):
        layer = [
            inner
            for item in layer
            for inner in (item.values() if isinstance(item, Mapping) else item)
            if isinstance(inner, Mapping | list | tuple)
        ]
        if not layer:
            return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurn:
    """What the person (or an application on their behalf) said."""

    type: ClassVar[str] = "user"
    content: str
    id: str = field(default_factory=_new_turn_id)
    created_at: str = field(default_factory=utc_now)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantTextTurn:
    """One text block of an answer. `interrupted`: it was cut before the block ended."""

    type: ClassVar[str] = "assistant_text"
    content: str
    interrupted: bool = False
    id: str = field(default_factory=_new_turn_id)
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
    id: str = field(default_factory=_new_turn_id)
    created_at: str = field(default_factory=utc_now)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallTurn:
    """A tool call of the model. `input` is the raw object it sent (frozen), `{}` when it was unusable.

    `fault`: why this call can never run (cut, malformed, not an object), in words for the model; empty
    when the call is well formed. `tool_use_id` is the wire id: the id of the call in requests
    and answers, unique within the session.
    """

    type: ClassVar[str] = "tool_call"
    tool_use_id: str
    tool_name: str
    input: Mapping[str, Any]
    fault: str = ""
    id: str = field(default_factory=_new_turn_id)
    created_at: str = field(default_factory=utc_now)

    def __post_init__(self) -> None:
        object.__setattr__(self, "input", freeze(self.input))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultTurn:
    """The one result of a tool call. `details`: data for the screen (a diff, counts), never sent."""

    type: ClassVar[str] = "tool_result"
    tool_use_id: str
    output: str
    is_error: bool = False
    details: Mapping[str, Any] | None = None
    id: str = field(default_factory=_new_turn_id)
    created_at: str = field(default_factory=utc_now)

    def __post_init__(self) -> None:
        object.__setattr__(self, "details", freeze(self.details))


NUDGE = "nudge"
"""Kind of a notice that is meant for the model, which is sent it as a word of the user; people need not see it."""

FAILED = "error"
"""Kind of the notice that says why a run failed; it also stands in the event that ends the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeTurn:
    """Something the program says in the conversation (a limit, a cut history); but for a nudge never sent to a model."""

    type: ClassVar[str] = "notice"
    content: str
    kind: str = ""
    id: str = field(default_factory=_new_turn_id)
    created_at: str = field(default_factory=utc_now)

    @property
    def is_nudge(self) -> bool:
        """Whether it is meant for the model and not for people."""
        return self.kind == NUDGE


JOB = "job"
"""The type of a record about a job, in a session file."""

LOG_RECORDS = frozenset({"session", "run_start", "started", "step_end", "run_end", JOB})
"""What else there is in a session file beside turns, by its `type`."""

_KINDS = frozenset({"user", "assistant_text", "thinking", "tool_call", "tool_result", "notice"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomTurn:
    """A turn of a kind an application adds: shown and stored, skipped by the default conversion.

    Its `type` is none of the kinds above and none of `LOG_RECORDS`, else ValueError.
    Also what an unknown `type` in a session file is read as, so that nothing is lost on a rewrite.
    """

    type: str
    fields: Mapping[str, Any]
    id: str = field(default_factory=_new_turn_id)
    created_at: str = field(default_factory=utc_now)

    def __post_init__(self) -> None:
        if not self.type or self.type in _KINDS or self.type in LOG_RECORDS:
            raise ValueError(f"A turn of an application's own cannot be of the kind {self.type!r:.60}.")
        object.__setattr__(self, "fields", freeze(self.fields))


Turn = UserTurn | AssistantTextTurn | ThinkingTurn | ToolCallTurn | ToolResultTurn | NoticeTurn | CustomTurn
