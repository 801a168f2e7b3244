"""The Message Batches of the Messages API: what the server says of a batch, and its results. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.core.model import ModelError, Usage, is_count
from agent.models.anthropic.stream_accumulator import join_halves, read_usage

BATCHES_PATH = "/v1/messages/batches"
RESULTS_LIMIT = 512 * 1024 * 1024
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_WITHOUT_ANSWER = {
    "canceled": "The batch was cancelled before this request was answered.",
    "expired": "The batch expired before this request was answered.",
}


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """How far a batch is: so many of its requests are done, whatever came of them."""

    id: str
    has_ended: bool
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What came of one request of a batch: an answer, or why there is none."""

    text: str = ""
    thinking: str = ""
    stop_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    error: str | None = None


def is_batch_id(value: object) -> bool:
    """Return whether a value can be a batch's id, and stand in a path."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def read_status(content: bytes) -> BatchStatus:
    """Return the status in an answer of the server.

    Raises:
        ValueError: there is none in it.
    """
    answer = _table(json.loads(content))
    if not is_batch_id(answer.get("id")):
        raise ValueError("no batch")
    counts = {name: count for name, count in _table(answer.get("request_counts")).items() if is_count(count)}
    total = sum(counts.values())
    has_ended = answer.get("processing_status") == "ended"
    return BatchStatus(answer["id"], has_ended, total - counts.get("processing", 0), total)


def read_results(content: bytes, explain: Callable[[object], ModelError]) -> dict[str, BatchResult]:
    """Return the results by the names of the requests, in whatever order they come.

    Args:
        content: one JSON object a line.
        explain: makes a `ModelError` of the error of a request.

    Raises:
        ValueError: a line is no result, so that something may be missing.
    """
    found = {}
    for line in content.splitlines():
        if line.strip():
            record = _table(json.loads(line))
            if not isinstance(record.get("custom_id"), str):
                raise ValueError("no result")
            found[record["custom_id"]] = _result(_table(record.get("result")), explain)
    return found


def _result(result: Mapping[str, Any], explain: Callable[[object], ModelError]) -> BatchResult:
    kind = result.get("type")
    if kind != "succeeded":
        error = _table(result.get("error"))
        message = _WITHOUT_ANSWER.get(str(kind)) or explain(error.get("error", error)).message
        return BatchResult(error=message)
    answer = _table(result.get("message"))
    content = answer.get("content")
    blocks = [_table(block) for block in content] if isinstance(content, list) else []
    text, thinking = (
        "".join(_text(block.get(kind)) for block in blocks if block.get("type") == kind)
        for kind in ("text", "thinking")
    )
    usage, stop_reason = read_usage(Usage(), answer.get("usage")), answer.get("stop_reason")
    if not isinstance(stop_reason, str):
        return BatchResult(usage=usage, error="The answer in the batch has no end.")
    return BatchResult(text, thinking, stop_reason, usage)


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    """Return a text as it can be encoded, or an empty one."""
    if not isinstance(value, str):
        return ""
    text, half = join_halves("", value)
    return text + "\ufffd" * bool(half)
