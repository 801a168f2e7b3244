"""The accumulator: decoded events of a Messages API stream in, block events out, in linear time.

It never raises, whatever comes. An answer is complete (`Done`) only when a stop reason arrived and no
error did; anything else ends in `Failed`, with blocks that were still open left without an end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.core.model import (
    BlockDelta,
    BlockEnd,
    BlockEvent,
    BlockKind,
    BlockStart,
    Done,
    Failed,
    ModelError,
    Notice,
    Usage,
    UsageSoFar,
    is_count,
)
from agent.models.anthropic.error_mapping import Where, explain_event

_KINDS: Mapping[str, BlockKind] = {
    "text": "text",
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "tool_use": "tool_call",
}
_SKIPPED = "The server sent events this program does not understand; they were skipped."
_MOST_NOTICES = 10
_USAGE_FIELDS = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)


@dataclass(slots=True)
class _Block:
    """A block that has started and not ended."""

    number: int
    kind: BlockKind
    tool_use_id: str = ""
    tool_name: str = ""
    given: object = None  # the input, when it came whole in the start event
    parts: list[str] = field(default_factory=list)  # raw JSON of the input, when it came in deltas
    signature: str = ""
    redacted: str = ""
    half: str = ""  # the first half of a surrogate pair whose second has not come yet


class Accumulator:
    """Turns the events of one answer into block events.

    Args:
        explain: makes a `ModelError` of the body of an `error` event.
    """

    def __init__(self, explain: Callable[[object], ModelError] | None = None) -> None:
        self._explain = explain or (lambda error: explain_event(error, Where()))
        self._open: dict[int | None, _Block] = {}
        self._ended: dict[int | None, BlockKind] = {}
        self._skipped: set[int | None] = set()
        self._noted: set[str] = set()
        self._count = 0
        self._message_id = ""
        self._started = False
        self._stop_reason = ""
        self.usage = Usage()
        self.finished = False

    def feed(self, event: object, name: str = "") -> list[BlockEvent]:
        """Return what one event means; after the end of the answer, nothing.

        Args:
            event: the decoded JSON of the event, anything at all.
            name: the name in the `event:` line, used when the JSON has no `type`.
        """
        if self.finished:
            return []
        if not isinstance(event, Mapping):
            return self._note(_SKIPPED)
        kind = event.get("type")
        if not isinstance(kind, str) or not kind:
            kind = name or ("error" if "error" in event else "")
        match kind:
            case "content_block_delta":
                return self._delta(event)
            case "content_block_start":
                return self._start(event)
            case "content_block_stop":
                return self._stop(event)
            case "message_start":
                return self._message_start(event)
            case "message_delta":
                return self._message_delta(event)
            case "message_stop":
                return self.close()
            case "ping":
                return []
            case "error":
                return self.fail(self._explain(event.get("error", event)))
            case _:
                return self._note(_SKIPPED)

    def close(self) -> list[BlockEvent]:
        """Return what the end of the stream means: `Done` if a stop reason arrived, else `Failed`."""
        if self.finished:
            return []
        if not self._stop_reason:
            message = "The answer was cut off before its end; send a message to go on."
            return self.fail(ModelError("incomplete", message, retryable=True))
        events: list[BlockEvent] = []
        for index in list(self._open):
            events += self._end(index, complete=False)
        self.finished = True
        events.append(Done(self._stop_reason, self.usage, self._message_id))
        return events

    @property
    def is_whole(self) -> bool:
        """Whether a stop reason arrived and every block has ended; servers without `message_stop` end there."""
        return bool(self._stop_reason) and not self._open and not self.finished

    def cut(self, error: ModelError) -> list[BlockEvent]:
        """Return what it means that nothing more comes, for the reason in `error`: `Done` after a stop reason."""
        return self.close() if self._stop_reason else self.fail(error)

    def fail(self, error: ModelError) -> list[BlockEvent]:
        """End the answer with `error`; what is open stays without an end."""
        if self.finished:
            return []
        events: list[BlockEvent] = [delta for block in self._open.values() for delta in _flush(block)]
        self.finished = True
        events.append(Failed(error, self.usage))
        return events

    # -- the events -----------------------------------------------------------------------------------

    def _message_start(self, event: Mapping[str, Any]) -> list[BlockEvent]:
        message = event.get("message")
        message = message if isinstance(message, Mapping) else {}
        message_id = _word(message.get("id"))
        another = not message_id or message_id != self._message_id
        if another and self._started and (self._count or self._stop_reason):
            error = "The server mixed two answers into one; nothing of it was carried out."
            return self.fail(ModelError("protocol", error, retryable=True))
        self._started = True
        self._message_id = message_id or self._message_id
        self.usage = read_usage(self.usage, message.get("usage"))
        return [UsageSoFar(self.usage)] if self.usage != Usage() else []

    def _message_delta(self, event: Mapping[str, Any]) -> list[BlockEvent]:
        self.usage = read_usage(self.usage, event.get("usage"))
        delta = event.get("delta")
        if not isinstance(delta, Mapping):
            return []
        self._stop_reason = _word(delta.get("stop_reason")) or self._stop_reason
        details = delta.get("stop_details")
        explanation = _word(details.get("explanation")) if isinstance(details, Mapping) else ""
        return [Notice(explanation)] if explanation else []

    def _start(self, event: Mapping[str, Any]) -> list[BlockEvent]:
        index = _index(event)
        content = event.get("content_block")
        content = content if isinstance(content, Mapping) else {}
        wire_kind = _word(content.get("type"))
        kind = _KINDS.get(wire_kind)
        if kind is None:
            events = self._supersede(index)
            self._skipped.add(index)
            named = wire_kind[:40] or "unknown"
            return events + self._note(f"A part of the answer ({named}) cannot be shown and was skipped.")
        self._skipped.discard(index)
        tool_use_id, tool_name = _word(content.get("id")), _word(content.get("name"))
        block = self._open.get(index)
        events = []
        if block is None or not _same(block, kind, tool_use_id, tool_name):
            events += self._supersede(index)
            events += self._begin(index, kind, tool_use_id, tool_name)
            block = self._open[index]
        if kind == "tool_call":
            if content.get("input") not in (None, "", {}):
                block.given = content["input"]
        else:
            block.signature = _word(content.get("signature")) or block.signature
            block.redacted = _word(content.get("data")) or block.redacted
            events += _text(block, _string(content.get("text" if kind == "text" else "thinking")))
        return events

    def _delta(self, event: Mapping[str, Any]) -> list[BlockEvent]:
        delta = event.get("delta")
        if not isinstance(delta, Mapping):
            return []
        index = _index(event)
        match delta.get("type"):
            case "text_delta":
                return self._more(index, "text", _string(delta.get("text")))
            case "thinking_delta":
                return self._more(index, "thinking", _string(delta.get("thinking")))
            case "input_json_delta":
                return self._input(index, delta.get("partial_json"))
            case "signature_delta":
                block = self._open.get(index)
                if block is not None and block.kind == "thinking":
                    block.signature = _word(delta.get("signature")) or block.signature
                return []
            case "citations_delta":
                return []
            case _:
                return [] if index in self._skipped else self._note(_SKIPPED)

    def _stop(self, event: Mapping[str, Any]) -> list[BlockEvent]:
        index = _index(event)
        self._skipped.discard(index)
        return self._end(index, complete=True) if index in self._open else []

    # -- blocks ---------------------------------------------------------------------------------------

    def _begin(
        self, index: int | None, kind: BlockKind, tool_use_id: str = "", tool_name: str = ""
    ) -> list[BlockEvent]:
        block = _Block(self._count, kind, tool_use_id, tool_name)
        self._count += 1
        self._open[index] = block
        return [BlockStart(block.number, kind, tool_use_id, tool_name)]

    def _end(self, index: int | None, *, complete: bool) -> list[BlockEvent]:
        block = self._open.pop(index)
        self._ended[index] = block.kind
        events: list[BlockEvent] = [*_flush(block)]
        raw = "".join(block.parts)
        if block.kind == "tool_call" and not block.parts and block.given is not None:
            raw = _dump(block.given)
            events.append(BlockDelta(block.number, raw))
        events.append(BlockEnd(block.number, raw, block.signature, block.redacted, complete))
        return events

    def _supersede(self, index: int | None) -> list[BlockEvent]:
        """Close an open block whose index the server uses again."""
        return self._end(index, complete=False) if index in self._open else []

    def _more(self, index: int | None, kind: BlockKind, text: str) -> list[BlockEvent]:
        """Text or thinking for `index`; a block is opened where the server opened none, so no text is lost."""
        if not text:
            return []
        block = self._open.get(index)
        if block is not None and block.kind == kind:
            return _text(block, text)
        events = self._supersede(index)
        events += self._begin(index, kind)
        return events + _text(self._open[index], text)

    def _input(self, index: int | None, partial: object) -> list[BlockEvent]:
        block = self._open.get(index)
        if block is None or block.kind != "tool_call":
            if index in self._skipped or not partial:
                return []
            if self._ended.get(index) == "tool_call":
                # The call was reported as complete, and was not: only the end of the answer undoes that.
                error = "The server sent more of a tool call after its end; nothing of it was carried out."
                return self.fail(ModelError("protocol", error, retryable=True))
            return self._note("The server sent input for a tool call that never began; it was skipped.")
        if isinstance(partial, str):
            return _text(block, partial)
        if isinstance(partial, Mapping) and partial:
            block.given = partial
        return []

    # -- small things -----------------------------------------------------------------------------------

    def _note(self, message: str) -> list[BlockEvent]:
        """Say `message`, the same words only once, and not without end."""
        if message in self._noted or len(self._noted) >= _MOST_NOTICES:
            return []
        self._noted.add(message)
        return [Notice(message)]


def read_usage(usage: Usage, report: object) -> Usage:
    """Return `usage` overwritten with the counts in `report`; reports are cumulative, never added."""
    if not isinstance(report, Mapping):
        return usage
    counts = usage.to_record()
    for name in _USAGE_FIELDS:
        count = report.get(name)
        if is_count(count):
            counts[name] = count
    return Usage(**counts)


def _same(block: _Block, kind: BlockKind, tool_use_id: str, tool_name: str) -> bool:
    """Whether a start event for an open index repeats the start of that block."""
    if block.kind != kind:
        return False
    return tool_use_id in ("", block.tool_use_id) and tool_name in ("", block.tool_name)


def _text(block: _Block, text: str) -> list[BlockEvent]:
    """Return `text` as a delta; a surrogate pair that was cut in two is joined, a lone half becomes U+FFFD."""
    text, block.half = join_halves(block.half, text)
    if not text:
        return []
    if block.kind == "tool_call":
        block.parts.append(text)
    return [BlockDelta(block.number, text)]


def join_halves(half: str, text: str) -> tuple[str, str]:
    """Return `text` as it can be encoded, with `half` of a surrogate pair before it, and the half it ends with."""
    if not half and text.isascii():
        return text, ""
    text, half = half + text, ""
    if text and "\ud800" <= text[-1] <= "\udbff":
        text, half = text[:-1], text[-1]
    return _mend(text), half


def _flush(block: _Block) -> list[BlockEvent]:
    """Return what is left of a surrogate pair whose second half never came."""
    if not block.half:
        return []
    block.half = ""
    if block.kind == "tool_call":
        block.parts.append("\ufffd")
    return [BlockDelta(block.number, "\ufffd")]


def _mend(text: str) -> str:
    """Return `text` with surrogate pairs joined and lone halves as U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _index(event: Mapping[str, Any]) -> int | None:
    index = event.get("index")
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def _string(value: object) -> str:
    """Return a string as the server sent it, surrogates and all; `""` for anything else."""
    return value if isinstance(value, str) else ""


def _word(value: object) -> str:
    """Return a name, an id or a signature that can be encoded."""
    text = _string(value)
    return text if text.isascii() else _mend(text)


def _dump(value: object) -> str:
    try:
        return _mend(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return "null"  # not an object: the call is refused with a reason, never run
