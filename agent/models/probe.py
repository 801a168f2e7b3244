"""Trying a model out before it is chosen: does it answer, and does it call a tool."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

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
    ToolSpec,
)

_TOOL = ToolSpec(
    "report",
    "Report one word.",
    {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
)
_SYSTEM = "You are being tested. Do exactly what the user asks, briefly."


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What trying a model out showed.

    Attributes:
        answers: it wrote some text and ended properly.
        calls_tools: it called the tool it was asked to call.
        error: what failed, if something did.
    """

    answers: bool
    calls_tools: bool
    error: ModelError | None = None

    @property
    def message(self) -> str:
        """One sentence for the person."""
        if self.error is not None:
            return self.error.message
        if not self.answers:
            return "The model answered without any text."
        if not self.calls_tools:
            return "The model answers but did not call the tool it was asked to call; it may not be able to edit."
        return "The model answers and calls tools."


async def try_out(model: Model) -> ProbeResult:
    """Send one message and one request for a tool call; never raises."""
    text, _, error = await _ask(model, "Reply with the single word: ready", ())
    if error is not None:
        return ProbeResult(False, False, error)
    _, tools, error = await _ask(model, "Call the tool report with the word ready.", (_TOOL,))
    return ProbeResult(bool(text.strip()), _TOOL.name in tools, error)


async def _ask(
    model: Model, text: str, tools: tuple[ToolSpec, ...]
) -> tuple[str, set[str], ModelError | None]:
    """Return the text, the names of complete calls, and the error of one answer."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": text}]
    request = Request(system=_SYSTEM, messages=messages, tools=tools, max_tokens=2048)
    kinds: dict[int, BlockStart] = {}
    said: list[str] = []
    called: set[str] = set()
    async with aclosing(cast("AsyncGenerator[BlockEvent]", model.stream(request))) as events:
        async for event in events:
            match event:
                case BlockStart(block):
                    kinds[block] = event
                case BlockDelta(block, piece) if kinds[block].kind == "text":
                    said.append(piece)
                case BlockEnd(block, complete=True) if kinds[block].kind == "tool_call":
                    called.add(kinds[block].tool_name)
                case Failed(error):
                    return "".join(said), called, error
                case Done():
                    return "".join(said), called, None
    return (
        "".join(said),
        called,
        ModelError("incomplete", "The connection ended before the model finished its answer."),
    )
