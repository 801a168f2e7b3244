"""`AnthropicModel` against a real server on loopback."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import warnings
from typing import Any

import pytest

from agent.core.model import (
    BlockDelta,
    BlockEnd,
    BlockStart,
    Done,
    Failed,
    Model,
    Request,
    ToolSpec,
    Usage,
    UsageSoFar,
)
from agent.models.anthropic.client import AnthropicModel
from agent.models.anthropic.endpoint_profiles import EndpointProfile, Profiles
from agent.models.anthropic.error_mapping import ModelFailure
from tests.support.messages_answers import Answer
from tests.support.messages_server import (
    KEY,
    Call,
    MessagesServer,
    Page,
    Redacted,
    Refusal,
    Text,
    Thinking,
    call,
    say,
)


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


async def collect(model: Model, request: Request) -> list[Any]:
    return [event async for event in model.stream(request)]


def text_of(events: list[Any]) -> str:
    return "".join(event.text for event in events if isinstance(event, BlockDelta))


async def test_text_streams_in_deltas_and_ends_with_done() -> None:
    async with MessagesServer([say("Hello, I am here to help.", delta=5)]) as server:
        events = await collect(model_at(server), ask())
    assert events[0] == UsageSoFar(Usage(25, 1))
    assert events[1] == BlockStart(0, "text")
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


async def test_thinking_comes_with_what_a_replay_needs() -> None:
    answer = Answer((Thinking("Let me see.", "c2ln"), Redacted("AAAA"), Text("Yes.")))
    async with MessagesServer([answer]) as server:
        events = await collect(model_at(server), ask(thinking="high"))
    assert BlockEnd(0, signature="c2ln") in events
    assert BlockEnd(1, redacted="AAAA") in events
    assert text_of(events) == "Let me see.Yes."


async def test_several_calls_in_one_answer_keep_their_order() -> None:
    answer = Answer((Call("a", {"x": 1}), Call("b"), Call("c", {"y": "z"}, whole=True)))
    async with MessagesServer([answer]) as server:
        events = await collect(model_at(server), ask())
    assert [event.tool_name for event in events if isinstance(event, BlockStart)] == ["a", "b", "c"]
    assert [event.input_json for event in events if isinstance(event, BlockEnd)] == [
        '{"x": 1}',
        "",
        '{"y": "z"}',
    ]


async def test_the_request_has_the_headers_of_the_api_and_no_other_key() -> None:
    async with MessagesServer([say("ok")]) as server:
        await collect(model_at(server, api_key=f" {KEY}\n"), ask())
        headers = server.requests[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["anthropic-version"] == "2026-10-21"
    assert "x-api-key" not in headers
    assert "metadata" not in server.bodies[0]


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
async def test_the_base_url_may_end_in_v1(ending: str) -> None:
    async with MessagesServer([say("ok")]) as server:
        model = model_at(server, base_url=server.url + ending)
        assert text_of(await collect(model, ask())) == "ok"
        assert model.endpoint == server.url


async def test_a_token_is_sent_as_a_bearer() -> None:
    async with MessagesServer([say("ok")]) as server:
        assert text_of(await collect(model_at(server, api_key=None, auth_token=KEY), ask())) == "ok"


async def test_the_key_of_a_request_wins_and_may_change() -> None:
    async with MessagesServer(lambda _body: say("ok")) as server:
        model = model_at(server, api_key="old")
        assert text_of(await collect(model, ask(api_key=KEY))) == "ok"
        assert isinstance((await collect(model, ask()))[-1], Failed)
        assert text_of(await collect(model, ask(api_key=KEY))) == "ok"


async def test_an_empty_key_of_a_request_is_no_key_and_not_another_one() -> None:
    async with MessagesServer(lambda _body: say("ok")) as server:
        for model in (model_at(server), model_at(server, api_key=None, auth_token=KEY)):
            assert isinstance((await collect(model, ask(api_key="")))[-1], Failed)
            assert text_of(await collect(model, ask())) == "ok"


async def test_a_local_server_needs_no_key_and_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "from-the-environment")
    async with MessagesServer([say("ok")], key=None) as server:
        assert text_of(await collect(model_at(server, api_key=None), ask())) == "ok"
        assert "authorization" not in server.requests[0].headers


async def test_the_environment_cannot_turn_requests_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "other")
    async with MessagesServer([say("ok")]) as server:
        assert text_of(await collect(model_at(server), ask())) == "ok"


def test_nothing_shows_the_key() -> None:
    model = AnthropicModel("m", api_key="sk-secret", base_url="https://user:sk-pass@host/v1")
    assert "sk-" not in repr(model) + model.endpoint + repr(ask(api_key="sk-secret"))


async def test_no_log_holds_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with MessagesServer([say("ok")], only_api_key_header=True) as server:
        await collect(model_at(server), ask(api_key=KEY))
    assert len(caplog.records) > 0
    assert KEY not in caplog.text


async def test_no_warnings_are_written_to_the_screen() -> None:
    refusal = Refusal(400, message="adaptive thinking is not supported on this model")
    async with MessagesServer([refusal, say("ok")], models=None, strict=False) as server:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            events = await collect(model_at(server, name="claude-opus-4-6"), ask(thinking="high"))
    assert text_of(events) == "ok"


async def test_the_connection_is_kept_for_the_next_request() -> None:
    async with MessagesServer(lambda _body: say("ok")) as server:
        model = model_at(server)
        for _ in range(3):
            await collect(model, ask())
        assert server.connections == 1
        await model.close()


def test_one_model_serves_one_event_loop_after_the_other() -> None:
    with MessagesServer(lambda _body: say("ok")) as server:
        model = model_at(server)
        for _ in range(2):
            assert text_of(asyncio.run(collect(model, ask()))) == "ok"


async def test_two_requests_at_once_do_not_mix() -> None:
    async with MessagesServer(
        lambda body: say(body["messages"][0]["content"] * 20, delta=3, delay=0.0002)
    ) as server:
        model = model_at(server)
        words = ["one", "two", "three"]
        answers = await asyncio.gather(*(collect(model, ask(word)) for word in words))
    assert [text_of(events) for events in answers] == [word * 20 for word in words]


@pytest.mark.parametrize("kind", ["anthropic", "proxy"])
async def test_two_first_requests_at_once_share_one_client(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agent.models import http_client, proxy

    build, built = http_client.build_client, []

    def build_noted(*args: Any) -> Any:
        built.append(build(*args))
        return built[-1]

    monkeypatch.setattr(http_client, "build_client", build_noted)
    async with MessagesServer(lambda _body: say("ok")) as server:
        model = model_at(server) if kind == "anthropic" else proxy.ProxyModel("m", url=server.url)
        await asyncio.gather(*(collect(model, ask()) for _ in range(3)))
        await model.close()
    assert len(built) >= 3
    assert all(client.is_closed for client in built)


async def test_the_models_of_a_server_are_listed_and_their_limits_kept() -> None:
    async with MessagesServer([say("ok")], max_tokens=9000) as server:
        model = model_at(server)
        listed = await model.list_models()
        assert [one.id for one in listed] == ["claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"]
        assert isinstance((await collect(model, ask()))[-1], Done)
        assert [body["max_tokens"] for body in server.bodies] == [9000]


async def test_a_limit_that_a_refusal_told_is_kept_over_what_the_list_says() -> None:
    async with MessagesServer([say("ok")], max_tokens=9000) as server:
        known = Profiles()
        known.put(server.url, "claude-sonnet-5-5", EndpointProfile(max_tokens=4000))
        model = model_at(server, known=known)
        await model.list_models()
        assert isinstance((await collect(model, ask()))[-1], Done)
        assert [body["max_tokens"] for body in server.bodies] == [4000]


async def test_a_server_that_cannot_list_its_models_is_told() -> None:
    async with MessagesServer() as server:
        for options, kind in (
            ({"api_key": "wrong"}, "authentication"),
            ({"base_url": server.url + "/x"}, "not_found"),
        ):
            with pytest.raises(ModelFailure) as caught:
                await model_at(server, **options).list_models()
            assert caught.value.error.kind == kind
            assert caught.value.__context__ is None


async def test_tokens_are_counted_where_the_server_can() -> None:
    async with MessagesServer() as server:
        assert await model_at(server).count_tokens(ask("word " * 100)) == pytest.approx(200, abs=60)
        assert server.refusals == []
        assert await model_at(server, base_url=server.url + "/x").count_tokens(ask()) is None
        assert await model_at(server, api_key="bad\nkey").count_tokens(ask()) is None


def test_importing_the_model_does_not_import_the_http_client() -> None:
    code = "import sys, agent.models.anthropic.client, agent.models.proxy, agent.models.local_servers; print(sorted({'anthropic', 'httpx2', 'pydantic'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_the_http_client_is_loaded_off_the_event_loop_and_without_the_sdk() -> None:
    code = """
import asyncio, sys, threading
from agent.models.anthropic.client import AnthropicModel
from agent.core.model import Request
threads = []
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "httpx2":
            threads.append(threading.current_thread() is threading.main_thread())
sys.meta_path.insert(0, Finder())
async def main():
    async for _ in AnthropicModel(api_key="k", base_url="http://127.0.0.1:9").stream(Request(system="", messages=[])):
        pass
asyncio.run(main())
print(threads, "anthropic" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[False] False"


async def test_bytes_that_cannot_be_decompressed_are_told() -> None:
    async with MessagesServer([say("ok", headers={"content-encoding": "gzip"})]) as server:
        events = await collect(model_at(server), ask())
    assert [event.error.kind for event in events if isinstance(event, Failed)] == ["protocol"]


async def test_an_empty_event_stream_is_an_incomplete_answer() -> None:
    async with MessagesServer([Page(b"", "text/event-stream")]) as server:
        events = await collect(model_at(server), ask())
    assert [event.error.kind for event in events if isinstance(event, Failed)] == ["incomplete"]


async def test_a_model_can_be_made_ready_before_the_first_request(monkeypatch: pytest.MonkeyPatch) -> None:
    from agent.models import http_client

    async with MessagesServer([say("ok")]) as server:
        model = model_at(server)
        await model.prepare()
        assert server.requests == []
        monkeypatch.delattr(http_client, "build_client")
        assert text_of(await collect(model, ask())) == "ok"
        await model.close()


async def test_what_fails_while_a_model_is_made_ready_is_told_by_its_first_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/does/not/exist.pem")
    model = AnthropicModel(api_key="k", base_url="https://server.invalid", known=Profiles())
    await model.prepare()
    assert "SSL_CERT_FILE" in (await collect(model, ask()))[-1].error.message
