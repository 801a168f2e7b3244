"""The conversation as a flat list of turns: what each kind holds, and its form in the session file.

A turn is one item of the conversation (seed words: user, assistant_text, tool_call, tool_result; ours
beyond: thinking, notice). Turns are immutable: what they are given is copied and frozen. How they become a provider's messages is `messages.py`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from math import isfinite
from os import urandom
from types import MappingProxyType
from typing import Any, ClassVar

from agent.core.fast_dataclass import CONVERT, Quick, quick


def new_id(prefix: str) -> str:
    """Return a fresh id such as `turn_1f0c…` (the prefix and 96 random bits in hex)."""
    return f"{prefix}_{urandom(12).hex()}"


def _new_turn_id() -> str:
    try:
        return "turn_" + _random.pop()
    except IndexError:
        drawn = urandom(12 * 64).hex()  # asking the system each time is half of what making a turn costs
        _random.extend(drawn[at : at + 24] for at in range(24, len(drawn), 24))
        return "turn_" + drawn[:24]


_random: list[str] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_random.clear)  # else both would go on with the same


def utc_now() -> str:
    """Return the present as UTC ISO 8601 with milliseconds, `2026-01-31T12:00:00.000Z`."""
    return _utc_milli(time.time_ns() // 1_000_000)


@lru_cache(maxsize=8)  # several turns are made in a millisecond
def _utc_milli(millis: int) -> str:
    return f"{_utc_second(millis // 1000)}.{millis % 1000:03}Z"


@lru_cache(maxsize=8)  # many are made in a second, and a second is dear to put in words
def _utc_second(seconds: int) -> str:
    """`2026-01-31T12:00:00` of seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").removesuffix("+00:00")


_FLAT = frozenset({str, int, float, bool, type(None)})
_NOTHING: Mapping[Any, Any] = MappingProxyType({})


def _is_flat(value: Mapping[Any, Any]) -> bool:
    """Whether the values of a mapping are plain ones all of them, as they mostly are: then there is little to do."""
    return _FLAT.issuperset(map(type, value.values()))


def freeze(value: Any) -> Any:
    """Return a copy of JSON-like `value` with every dict a read-only mapping, every list and set a tuple.

    What is no JSON at all (an application's own objects) stays what it is.
    """
    kind = type(value)
    if kind in _FLAT:
        return value
    if kind is dict or isinstance(value, Mapping):
        if not value:
            return _NOTHING
        if kind is dict and _is_flat(value):
            return MappingProxyType(value.copy())
        return MappingProxyType({key: freeze(item) for key, item in value.items()})
    if isinstance(value, (list, tuple)):
        return tuple([freeze(item) for item in value])
    if isinstance(value, set | frozenset):
        return tuple(sorted((freeze(item) for item in value), key=repr))
    return bytes(value) if isinstance(value, bytearray) else value


def thaw(value: Any) -> Any:
    """Return a plain, mutable copy of a value made by `freeze` (dicts and lists again)."""
    kind = type(value)
    if kind in _FLAT:
        return value
    if kind is MappingProxyType or isinstance(value, Mapping):
        if kind is MappingProxyType and _is_flat(value):
            return dict(value)
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [thaw(item) for item in value]
    return value


def as_json(value: Any, levels: int | None = None) -> Any:
    """Return any value as plain JSON of at most `levels` levels: what JSON cannot say becomes a text about it.

    Total: what an application put into its turns may be anything, and must not cost the turn.
    """
    kind = type(value)
    if kind is str or kind is bool or value is None:
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


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurn(Quick):
    """What the person (or an application on their behalf) said."""

    type: ClassVar[str] = "user"
    content: str
    id: str = field(default_factory=_new_turn_id)
    created_at: str = field(default_factory=utc_now)


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantTextTurn(Quick):
    """One text block of an answer. `interrupted`: it was cut before the block ended."""

    type: ClassVar[str] = "assistant_text"
    content: str
    interrupted: bool = False
    id: str = field(default_factory=_new_turn_id)
    created_at: str = field(default_factory=utc_now)


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingTurn(Quick):
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


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallTurn(Quick):
    """A tool call of the model. `input` is the raw object it sent (frozen), `{}` when it was unusable.

    `fault`: why this call can never run (cut, malformed, not an object), in words for the model; empty
    when the call is well formed. `tool_use_id` is the wire id, unique within the session.
    """

    type: ClassVar[str] = "tool_call"
    tool_use_id: str
    tool_name: str
    input: Mapping[str, Any] = field(metadata={CONVERT: freeze})
    fault: str = ""
    id: str = field(default_factory=_new_turn_id)
    created_at: str = field(default_factory=utc_now)


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultTurn(Quick):
    """The one result of a tool call. `details`: data for the screen (a diff, counts), never sent."""

    type: ClassVar[str] = "tool_result"
    tool_use_id: str
    output: str
    is_error: bool = False
    details: Mapping[str, Any] | None = field(default=None, metadata={CONVERT: freeze})
    id: str = field(default_factory=_new_turn_id)
    created_at: str = field(default_factory=utc_now)


NUDGE = "nudge"
"""Kind of a notice that is meant for the model, which is sent it as a word of the user; people need not see it."""

FAILED = "error"
"""Kind of the notice that says why a run failed; whoever is told the end of that run hears it there, too."""


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeTurn(Quick):
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


@quick
@dataclass(frozen=True, slots=True, kw_only=True)
class CustomTurn(Quick):
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


TURN_KINDS = frozenset(
    {UserTurn, AssistantTextTurn, ThinkingTurn, ToolCallTurn, ToolResultTurn, NoticeTurn, CustomTurn}
)
"""The classes of turns, to be found in quickly."""

Turn = UserTurn | AssistantTextTurn | ThinkingTurn | ToolCallTurn | ToolResultTurn | NoticeTurn | CustomTurn

LOG_RECORDS = frozenset({"session", "run_start", "started", "step_end", "run_end"})
"""What else there is in a session file beside turns, by its `type`."""

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
                raise ValueError(f"{name} of a {kind} record is no text")
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


DEEPEST = 100
"""Levels of nesting a tool's input may have; deeper ones are refused rather than walked."""


def nesting_exceeds(value: Any, levels: int) -> bool:
    """Return whether JSON-like `value` is nested deeper than `levels`; never recurses itself."""
    if type(value) in (dict, MappingProxyType) and levels >= 0 and _is_flat(value):
        return False
    layer = [value]
    for _ in range(levels + 1):
        layer = [
            inner
            for item in layer
            for inner in (item.values() if isinstance(item, Mapping) else item)
            if type(inner) not in _FLAT and isinstance(inner, (dict, list, tuple, Mapping))
        ]
        if not layer:
            return False
    return True
