"""One request read to its end: the text, the calls and the usage of a streamed answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import cast

from agent.core.model import (
    BlockDelta,
    BlockEnd,
    BlockEvent,
    BlockStart,
    Done,
    Failed,
    Model,
    ModelError,
    Request,
    Usage,
)


@dataclass(slots=True)
class ToolCall:
    """A tool call of an answer; `json` is its input as it came."""

    name: str
    json: str = ""
    is_complete: bool = False


@dataclass(slots=True)
class ModelReply:
    """What came of one request.

    Attributes:
        text, thinking: of all its blocks.
        calls: its tool calls.
        stop_reason: why it ended, None where it failed.
        usage: tokens, also of a failed one as far as they were told.
        error: why it failed.
    """

    text: str = ""
    thinking: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    stop_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    error: ModelError | None = None


async def request(
    model: Model, asked: Request, on_text: Callable[[str], None] = lambda _text: None
) -> ModelReply:
    """Make one attempt at a request; `on_text` hears the text as it comes. Raises nothing but cancellation."""
    reply = ModelReply(
        error=ModelError(
            "incomplete", "The connection ended before the model finished its answer.", retryable=True
        )
    )
    kinds: dict[int, str] = {}
    calls: dict[int, ToolCall] = {}
    try:
        stream = cast("AsyncGenerator[BlockEvent, None]", model.stream(asked))
        async with aclosing(stream) as events:
            async for event in events:
                match event:
                    case BlockStart():
                        kinds[event.block] = event.kind
                        if event.kind == "tool_call":
                            calls[event.block] = ToolCall(event.tool_name)
                            reply.calls.append(calls[event.block])
                    case BlockDelta() if event.block in calls:
                        calls[event.block].json += event.text
                    case BlockDelta() if kinds.get(event.block) == "thinking":
                        reply.thinking += event.text
                    case BlockDelta() if kinds.get(event.block) == "text":
                        reply.text += event.text
                        on_text(event.text)
                    case BlockEnd() if event.block in calls:
                        calls[event.block].json = event.input_json or calls[event.block].json
                        calls[event.block].is_complete = event.complete
                    case Done():
                        reply.stop_reason, reply.usage, reply.error = event.stop_reason, event.usage, None
                    case Failed():
                        reply.usage, reply.error = event.usage, event.error
    except Exception as error:  # noqa: BLE001 - a model must not raise; if it does, that is this request's error
        reply.error = ModelError("client", f"The model failed: {type(error).__name__}.")
    return reply
