"""A conversation that is too long for its model is sent shorter, and never bricked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agent.chat.chat import Chat
from agent.core.model import BlockEvent, Done, Failed, Notice, Request, Waiting
from agent.core.turns import NoticeTurn
from agent.models.anthropic.client import AnthropicModel
from agent.models.anthropic.stall_timeouts import StallLimits
from agent.models.context_fallback import ContextFallback, last_messages
from agent.models.model_list import ModelInfo
from personas.files.home import open_home
from personas.store import Store
from tests.support.messages_answers import Reply
from tests.support.messages_server import MessagesServer, Refusal, say
from tests.support.model_clock import FakeClock


def spoken(body: dict[str, Any]) -> list[str]:
    """The user's words in a request."""
    return [
        block["text"]
        for message in body["messages"]
        if message["role"] == "user"
        for block in message["content"]
        if block["type"] == "text"
    ]


def takes_at_most(count: int) -> Any:
    def answer(body: dict[str, Any]) -> Reply:
        if len(spoken(body)) > count:
            return Refusal(400, message="prompt is too long: 200500 tokens > 200000 maximum")
        return say("fine")

    return answer


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(open_home(tmp_path / "home", {"PERSONA_CONFIG": str(tmp_path / "config.toml")}))
    store.create("Long", system_prompt="You are long.\n")
    return store


async def test_a_long_conversation_goes_on_with_what_fits(store: Store) -> None:
    async with MessagesServer(takes_at_most(3)) as server:
        chat = Chat(store, "long", AnthropicModel(api_key=server.key, base_url=server.url))
        notices: list[str] = []
        chat.subscribe(lambda event: notices.append(event.message) if event.type == "model_notice" else None)
        for number in range(6):
            end = await chat.send(f"message {number}")
            assert end.outcome == "completed", end.error
        assert spoken(server.bodies[-1])[-1] == "message 5"
        assert len(notices) == 1 and "too long" in notices[0]
        assert len(server.refusals) == 1
    assert [turn.content for turn in chat.turns if turn.type == "user"] == [f"message {n}" for n in range(6)]
    assert {turn.kind for turn in chat.turns if isinstance(turn, NoticeTurn)} <= {"no_call"}


async def test_one_message_that_is_too_long_fails_with_what_to_do(store: Store) -> None:
    async with MessagesServer(takes_at_most(0)) as server:
        chat = Chat(store, "long", AnthropicModel(api_key=server.key, base_url=server.url))
        end = await chat.send("an endless message")
        assert end.outcome == "failed" and end.error is not None and end.error.kind == "too_large"
        assert len(server.bodies) == 1


def conversation(count: int) -> list[dict[str, Any]]:
    """User messages with a call and its result each."""
    made: list[dict[str, Any]] = []
    for number in range(count):
        made += [
            {"role": "user", "content": [{"type": "text", "text": f"m{number}"}]},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": f"t{number}", "name": "x", "input": {}}],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": f"t{number}", "content": "ok"}],
            },
            {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
        ]
    return made


@pytest.mark.parametrize(("count", "first"), [(1, "m4"), (2, "m3"), (5, "m0"), (9, "m0"), (0, "m0")])
def test_it_is_cut_only_where_the_user_began_anew(count: int, first: str) -> None:
    cut = last_messages(conversation(5), count)
    assert cut[0] == {"role": "user", "content": [{"type": "text", "text": first}]}
    assert cut[-1] == conversation(5)[-1]


class Counting:
    """A model that takes so many messages."""

    name, endpoint = "counting", "embedded"

    def __init__(self, most: int) -> None:
        self.most = most
        self.asked: list[int] = []

    async def stream(self, request: Request) -> Any:
        self.asked.append(len(request.messages))
        if len(request.messages) > self.most:
            from agent.core.model import ModelError

            yield Failed(ModelError("too_large", "too long"))
        else:
            yield Done("end_turn")


async def events_of(model: ContextFallback, messages: list[dict[str, Any]]) -> list[BlockEvent]:
    return [event async for event in model.stream(Request(system="", messages=messages))]


async def test_what_fitted_once_is_kept_for_the_requests_after_it() -> None:
    inner = Counting(9)
    model = ContextFallback(inner)
    first = await events_of(model, conversation(8))
    assert [type(event) for event in first] == [Notice, Notice, Done]
    assert inner.asked == [32, 16, 8]
    inner.asked.clear()
    assert [type(event) for event in await events_of(model, conversation(8))] == [Done]
    assert inner.asked == [8]


async def test_a_stream_that_cannot_be_closed_is_shortened_as_well() -> None:
    class Plain:
        def __init__(self, events: AsyncIterator[BlockEvent]) -> None:
            self._events = events

        def __aiter__(self) -> Plain:
            return self

        async def __anext__(self) -> BlockEvent:
            return await anext(self._events)

    class Foreign(Counting):
        def stream(self, request: Request) -> Any:
            return Plain(super().stream(request))

    events = await events_of(ContextFallback(Foreign(9)), conversation(8))
    assert [type(event) for event in events] == [Notice, Notice, Done]


async def test_a_new_conversation_is_sent_whole_again() -> None:
    inner = Counting(6)
    model = ContextFallback(inner)
    await events_of(model, conversation(8))
    inner.asked.clear()
    words = [("user", "Hi"), ("assistant", "Hello"), ("user", "Bye")]
    short = [{"role": role, "content": [{"type": "text", "text": text}]} for role, text in words]
    assert [type(event) for event in await events_of(model, short)] == [Done]
    events = await events_of(model, conversation(8))
    assert [type(event) for event in events] == [Notice, Done], "it is said of each that is shortened"
    assert inner.asked == [3, 4]


async def test_a_request_that_may_be_too_long_is_counted_before_it_is_sent() -> None:
    text = "word " * 420_000
    messages = [{"role": "user", "content": [{"type": "text", "text": text}]}]
    async with MessagesServer([say("fine")]) as server:  # counts 4 characters a token, takes 1,000,000
        model = AnthropicModel(api_key=server.key, base_url=server.url)
        assert isinstance((await events_of(ContextFallback(model), messages))[-1], Done)
        counted = [request.path for request in server.requests]
        assert counted == ["/v1/models", "/v1/messages/count_tokens", "/v1/messages"]

    longer = [{"role": "user", "content": [{"type": "text", "text": text * 2}]}]
    async with MessagesServer([say("never asked")]) as server:
        model = AnthropicModel(api_key=server.key, base_url=server.url)
        last = (await events_of(ContextFallback(model), longer))[-1]
        assert isinstance(last, Failed) and last.error.kind == "too_large"
        assert "1,000,000" in last.error.message
        assert server.bodies == []


async def test_a_short_request_costs_no_question() -> None:
    async with MessagesServer([say("fine")]) as server:
        model = AnthropicModel(api_key=server.key, base_url=server.url)
        await events_of(
            ContextFallback(model), [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
        )
        assert [request.path for request in server.requests] == ["/v1/messages"]


LONG = Request(system="", messages=[{"role": "user", "content": [{"type": "text", "text": "a" * 420_000}]}])


async def test_counting_shows_how_long_it_takes_and_ends_with_who_waits_for_it() -> None:
    clock, asked = FakeClock(), asyncio.Event()
    limits = StallLimits(show_every=5.0)
    model = AnthropicModel(api_key="k", base_url="http://127.0.0.1:9", clock=clock, stall_limits=limits)
    called_off = False

    async def list_models(_key: str | None) -> list[ModelInfo]:
        nonlocal called_off
        asked.set()
        try:
            return await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            called_off = True
            raise

    model.list_models = list_models  # type: ignore[method-assign]
    stream = model.stream(LONG)
    for expected in (5.0, 10.0):
        waiting = asyncio.ensure_future(anext(stream))
        await asked.wait()
        while not clock.alarms:
            await asyncio.sleep(0)
        clock.advance(5.0)
        assert await waiting == Waiting(expected)
    await stream.aclose()
    assert called_off


@pytest.mark.parametrize("unknown", ["context", "tokens"])
async def test_a_server_that_cannot_count_is_asked_once(unknown: str) -> None:
    async with MessagesServer(lambda _body: say("fine")) as server:
        model = AnthropicModel(api_key=server.key, base_url=server.url)
        asked = []

        async def list_models(_key: str | None) -> list[ModelInfo]:
            asked.append("context")
            model._context = None if unknown == "context" else 1000
            return []

        async def count_tokens(_request: Request) -> None:
            asked.append("tokens")

        model.list_models, model.count_tokens = list_models, count_tokens  # type: ignore[method-assign]
        for _ in range(3):
            assert isinstance([event async for event in model.stream(LONG)][-1], Done)
    assert asked == (["context"] if unknown == "context" else ["context", "tokens"])
