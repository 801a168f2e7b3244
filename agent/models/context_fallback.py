"""Sends a shorter conversation to a model whose context is too small, instead of failing for good."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from agent.core.model import (
    BlockEvent,
    BlockStart,
    Failed,
    Model,
    Notice,
    Request,
    endpoint_of,
    name_of,
)
from agent.models.anthropic.request_body import length_of


class ContextFallback:
    """Another model, asked again with fewer of the person's messages when it says that a request is too long.

    The conversation itself is not touched. What turned out to fit is kept for the requests after it, as long as they
    are not shorter than what did not fit: a new conversation is sent whole again.

    Args:
        model: the model that is asked.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._most: int | None = None  # of the person's messages, since something did not fit
        self._refused = 0  # length of the shortest request that did not
        self._warned = False  # whether the request before was shortened, and that was said

    @property
    def name(self) -> str:
        """The name of the model that is asked."""
        return name_of(self.model)

    @property
    def endpoint(self) -> str:
        """The endpoint of the model that is asked."""
        return endpoint_of(self.model)

    async def stream(self, request: Request) -> AsyncIterator[BlockEvent]:
        """See `Model.stream`; a `Notice` says when something is left out."""
        while True:
            messages = request.messages
            if self._most is not None and length_of(request) >= self._refused:
                messages = last_messages(messages, self._most)
            if len(messages) == len(request.messages):
                self._warned = False
            elif not self._warned:
                self._warned = True
                last = "last message" if self._most == 1 else f"last {self._most} messages"
                yield Notice(
                    f"The conversation is too long for {self.name}: only your {last}, with what followed, will be sent."
                )
            too_long: Failed | None = None
            shown = False
            async with closing(self.model.stream(replace(request, messages=messages))) as events:
                async for event in events:
                    if isinstance(event, Failed) and event.error.kind == "too_large" and not shown:
                        too_long = event
                        break
                    shown = shown or isinstance(event, BlockStart)
                    yield event
            if too_long is None:
                return
            spoken = len(_beginnings(messages))
            if spoken < 2:
                yield too_long
                return
            length = length_of(replace(request, messages=messages))
            self._refused = length if self._most is None else min(self._refused, length)
            self._most = spoken // 2
            self._warned = False


@asynccontextmanager
async def closing(stream: AsyncIterator[BlockEvent]) -> AsyncGenerator[AsyncIterator[BlockEvent], None]:
    """Close a model's stream behind it, where that can be closed."""
    try:
        yield stream
    finally:
        if (close := getattr(stream, "aclose", None)) is not None:
            await close()


def last_messages(messages: Sequence[Mapping[str, Any]], count: int) -> Sequence[Mapping[str, Any]]:
    """Return the end of `messages` that begins with the `count`-th last message the user began anew."""
    beginnings = _beginnings(messages)
    return messages[beginnings[-count] :] if 0 < count < len(beginnings) else messages


def _beginnings(messages: Sequence[Mapping[str, Any]]) -> list[int]:
    """Where the conversation can be cut: user messages that answer no tool call."""
    return [
        index
        for index, message in enumerate(messages)
        if message["role"] == "user" and not any(_is_result(block) for block in message["content"])
    ]


def _is_result(block: object) -> bool:
    return isinstance(block, Mapping) and block.get("type") == "tool_result"
