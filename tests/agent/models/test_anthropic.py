"""`AnthropicModel` against a real server on loopback."""

from __future__ import annotations

from typing import Any

from agent.models.anthropic import AnthropicModel
from agent.models.base import BlockDelta, BlockEnd, BlockStart, Done, Request, ToolSpec
from agent.models.profiles import Profiles
from tests.messages_server import KEY, MessagesServer, call, say


def model_at(server: MessagesServer, **options: Any) -> AnthropicModel:
    return AnthropicModel(**{"api_key": KEY, "base_url": server.url, "known": Profiles()} | options)


def ask(text: str = "Hello", **options: Any) -> Request:
    tool = ToolSpec("get_persona", "Read the persona.", {"type": "object", "properties": {}})
    request = {
        "system": "You edit personas.",
        "messages": [{"role": "user", "content": text}],
        "tools": [tool],
    }
    return Request(**(request | options))


async def collect(model: AnthropicModel, request: Request) -> list[Any]:
    return [event async for event in model.stream(request)]


def text_of(events: list[Any]) -> str:
    return "".join(event.text for event in events if isinstance(event, BlockDelta))


async def test_text_streams_in_deltas_and_ends_with_done() -> None:
    async with MessagesServer([say("Hello, I am here to help.", delta=5)]) as server:
        events = await collect(model_at(server), ask())
    assert events[0] == BlockStart(0, "text")
    assert [event.text for event in events if isinstance(event, BlockDelta)] == [
        "Hello",
        ", I a",
        "m her",
        "e to ",
        "help.",
    ]
    assert events[-2] == BlockEnd(0)
    assert isinstance(events[-1], Done)
    assert events[-1].stop_reason == "end_turn"
    assert events[-1].usage.input_tokens == 25
    assert events[-1].usage.output_tokens == 17


async def test_a_tool_call_carries_its_raw_input() -> None:
    async with MessagesServer([call("get_persona", {"a": 1}, text="Looking.")]) as server:
        events = await collect(model_at(server), ask())
    start = next(event for event in events if isinstance(event, BlockStart) and event.kind == "tool_call")
    assert (start.block, start.tool_name) == (1, "get_persona")
    assert start.tool_use_id.startswith("toolu_")
    assert BlockEnd(1, '{"a": 1}') in events
    assert events[-1].stop_reason == "tool_use"
