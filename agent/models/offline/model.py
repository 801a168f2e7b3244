"""`OfflineModel`: the interpreter behind the same protocol as every other model, streaming in small deltas."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable

from agent.core.model import (
    DECLINED,
    BlockDelta,
    BlockEnd,
    BlockEvent,
    BlockStart,
    Done,
    Failed,
    ModelError,
    Request,
)
from agent.models.offline.dialogue import next_step
from agent.models.offline.plan import Answer
from agent.models.offline.task import as_call, as_conversation

_FEW_WORDS = re.compile(r"\S*\s*(?:\S+\s*)?")
_LONGEST_DELTA = 200
_MOST_DELTAS = 500
"""Pieces in which a very long text or tool call is streamed."""


class OfflineModel:
    """The embedded default model: rules, no network, no state.

    Args:
        pause: seconds between two deltas, so that the words can be watched coming; 0 for none.
        sleep: how to wait, injected by tests.
    """

    def __init__(
        self, *, pause: float = 0.0, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        self._pause = pause
        self._sleep = sleep

    @property
    def name(self) -> str:
        """`offline`."""
        return "offline"

    @property
    def endpoint(self) -> str:
        """`embedded`: nothing is sent anywhere."""
        return "embedded"

    async def stream(self, request: Request) -> AsyncIterator[BlockEvent]:
        """Answer one request; see `agent.models.base.Model`."""
        try:
            tools = {tool.name for tool in request.tools}
            step = next_step(as_conversation(request.messages), tools)
            declined = isinstance(step, Answer) and step.declined
            if isinstance(step, Answer):
                step = as_call(step, tools)
        except Exception as error:  # noqa: BLE001 - a model never raises; a fault of ours is told as one
            told = f"The offline model stumbled over this request ({type(error).__name__}); put it in other words."
            yield Failed(ModelError("client", told))
            return
        if isinstance(step, Answer):
            yield BlockStart(0, "text")
            for delta in _deltas(step.text):
                yield BlockDelta(0, delta)
                await self._sleep(self._pause)
            yield BlockEnd(0)
            yield Done(DECLINED if declined else "end_turn")
            return
        identity = _call_id(request, step.name)
        yield BlockStart(0, "tool_call", tool_use_id=identity, tool_name=step.name)
        raw = json.dumps(dict(step.input), ensure_ascii=False)
        length = max(_LONGEST_DELTA, len(raw) // _MOST_DELTAS)
        for at in range(0, len(raw), length):
            yield BlockDelta(0, raw[at : at + length])
            await self._sleep(0)
        yield BlockEnd(0, input_json=raw)
        yield Done(DECLINED if declined else "tool_use")


def _deltas(text: str) -> list[str]:
    """Return a text as the few words at a time in which it is streamed."""
    if len(text) > _MOST_DELTAS * _LONGEST_DELTA:
        length = len(text) // _MOST_DELTAS
        return [text[at : at + length] for at in range(0, len(text), length)]
    found: list[str] = []
    for match in _FEW_WORDS.finditer(text):
        piece = match.group()
        found.extend(piece[at : at + _LONGEST_DELTA] for at in range(0, len(piece), _LONGEST_DELTA))
    return found


def _call_id(request: Request, name: str) -> str:
    """Return a call id that is the same for the same conversation and new within it."""
    digest = hashlib.blake2b(digest_size=9)
    digest.update(f"{len(request.messages)} {name} {request.session_id}".encode())
    for message in request.messages:
        digest.update(str(message.get("content")).encode("utf-8", "replace"))
    return f"toolu_offline_{digest.hexdigest()}"
