"""A model that follows a script: for tests, demos and replays. It answers each request with the next answer.

An answer is a sequence of block events and of the cues below. `answer()` writes one in words.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.core.model import (
    BlockDelta,
    BlockEnd,
    BlockEvent,
    BlockStart,
    Done,
    Failed,
    ModelError,
    Request,
    Usage,
)


@dataclass(frozen=True, slots=True)
class Pause:
    """Let `seconds` go by."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Raise:
    """Raise this, which a model must not do."""

    error: BaseException


@dataclass(frozen=True, slots=True)
class Hang:
    """Never go on. A stubborn one ignores its cancellation as well, `stubborn` times."""

    stubborn: int = 0


@dataclass(frozen=True, slots=True)
class Act:
    """Call a function at this point of the answer."""

    function: Callable[[], object]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call in the words of `answer()`; `raw` replaces the JSON of `input`, `whole=False` leaves it open."""

    name: str
    input: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    raw: str | None = None
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Thought:
    """Thinking in the words of `answer()`."""

    text: str
    signature: str = "signed"
    redacted: str = ""


Cue = Pause | Raise | Hang | Act
Script = Sequence[BlockEvent | Cue]
Part = str | ToolUse | Thought | Cue


def answer(
    *parts: Part, stop_reason: str = "", usage: Usage | None = None, chunk: int = 0, ids: str = "call"
) -> list[BlockEvent | Cue]:
    """Return a complete answer with these blocks in order.

    Args:
        parts: text, tool calls, thinking, and cues between them.
        stop_reason: by default what fits the parts.
        usage: tokens to report.
        chunk: characters of a delta; 0 sends each block in one.
        ids: stem of the ids of calls that have none.
    """
    events: list[BlockEvent | Cue] = []
    block = 0
    calls = 0
    for part in parts:
        if isinstance(part, Pause | Raise | Hang | Act):
            events.append(part)
            continue
        if isinstance(part, str):
            events.append(BlockStart(block, "text"))
            events.extend(BlockDelta(block, piece) for piece in _pieces(part, chunk))
            events.append(BlockEnd(block))
        elif isinstance(part, Thought):
            events.append(BlockStart(block, "thinking"))
            events.extend(BlockDelta(block, piece) for piece in _pieces(part.text, chunk))
            events.append(BlockEnd(block, signature=part.signature, redacted=part.redacted))
        else:
            calls += 1
            raw = json.dumps(dict(part.input)) if part.raw is None else part.raw
            events.append(BlockStart(block, "tool_call", part.id or f"{ids}_{calls}", part.name))
            events.extend(BlockDelta(block, piece) for piece in _pieces(raw, chunk))
            if part.whole:
                events.append(BlockEnd(block, input_json=raw))
        block += 1
    reason = stop_reason or ("tool_use" if calls else "end_turn")
    events.append(Done(reason, usage or Usage(output_tokens=1)))
    return events


def failed(kind: Any, message: str = "It failed.", *, retryable: bool = False, **details: Any) -> Failed:
    """Return the event of a failed attempt."""
    return Failed(ModelError(kind, message, retryable, **details))


class ScriptedModel:
    """Follows a script.

    Args:
        answers: one for each request, in order; a function is asked with the request. After the last one
            every request fails.
        name, endpoint: what the model calls itself.

    Attributes:
        requests: every request made, in order.
        open_streams: how many answers are being read now.
    """

    def __init__(
        self,
        answers: Iterable[Script | Callable[[Request], Script]] = (),
        *,
        name: str = "scripted",
        endpoint: str = "embedded",
    ) -> None:
        self._answers: Iterator[Script | Callable[[Request], Script]] = iter(answers)
        self._name = name
        self._endpoint = endpoint
        self.requests: list[Request] = []
        self.open_streams = 0

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    @property
    def endpoint(self) -> str:
        """Where it lives."""
        return self._endpoint

    async def stream(self, request: Request) -> AsyncIterator[BlockEvent]:
        """Follow the next answer of the script."""
        self.requests.append(request)
        script = next(self._answers, None)
        if script is None:
            yield failed("client", "The script has no further answer.")
            return
        if callable(script):
            script = script(request)
        self.open_streams += 1
        try:
            for item in script:
                if isinstance(item, Pause | Raise | Hang | Act):
                    await _perform(item)
                else:
                    yield item
        finally:
            self.open_streams -= 1


async def _perform(cue: Cue) -> None:
    if isinstance(cue, Pause):
        await asyncio.sleep(cue.seconds)
    elif isinstance(cue, Raise):
        raise cue.error
    elif isinstance(cue, Act):
        cue.function()
    else:
        ignored = 0
        while True:
            try:
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                ignored += 1
                if ignored > cue.stubborn:
                    raise


def _pieces(text: str, chunk: int) -> Iterator[str]:
    if chunk <= 0:
        yield text
        return
    for start in range(0, len(text), chunk):
        yield text[start : start + chunk]
