"""Each kind of request the program makes is the one the official SDK makes of the same values."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from agent.core.model import Request, ToolSpec
from agent.models.anthropic.client import AnthropicModel
from agent.models.anthropic.endpoint_profiles import OLDER_VERSION, EndpointProfile, Profiles
from agent.models.probe import try_out
from tests.agent.models.test_anthropic import ask, collect
from tests.support.messages_server import KEY, MessagesServer, Recorded, say

HEADERS = ("authorization", "x-api-key", "anthropic-version", "anthropic-beta", "accept", "content-type")
"""The headers by which a server decides; the others say who asks."""
_CONVERSATION: Any = [
    {"role": "user", "content": "Grüße \U0001f600 \u2028 <&>"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "toolu_1", "name": "get_persona", "input": {"a": [1, 2.5, None, "é"]}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "no", "is_error": True},
            {"type": "text", "text": "And now?"},
        ],
    },
]
_SCHEMA = {"type": "object", "properties": {"old": {"type": "string"}}, "additionalProperties": False}
_TOOLS = [
    ToolSpec("get_persona", "Read.", {"type": "object", "properties": {}}),
    ToolSpec("edit", "", _SCHEMA),
]

Act = Callable[[AnthropicModel], Awaitable[object]]


def streaming(**options: Any) -> Act:
    return lambda model: collect(model, ask(**options))


async def both(act: Act, **options: Any) -> list[list[Recorded]]:
    """Return what each of the two sent."""
    from tests.support.sdk_model import SdkModel  # loads the SDK, which takes seconds

    sent = []
    for kind in (AnthropicModel, SdkModel):
        async with MessagesServer(lambda _body: say("ok"), key=None, strict=False) as server:
            given = {"api_key": KEY, "base_url": server.url, "known": Profiles()} | options
            base_url = cast(str, given["base_url"])
            model = kind(**given | {"base_url": base_url.replace("SERVER", server.url)})  # type: ignore[arg-type]
            await act(model)
            await model.close()
            sent.append(server.requests)
    return sent


def what_matters(request: Recorded) -> tuple[Any, ...]:
    headers = {name: request.headers[name] for name in HEADERS if name in request.headers}
    return request.method, request.target, headers, request.body


CASES: list[tuple[Act, dict[str, Any]]] = [
    (streaming(), {}),
    (streaming(messages=_CONVERSATION, tools=_TOOLS), {}),
    (streaming(system="", tools=()), {}),
    *((streaming(thinking=level), {}) for level in ("minimal", "low", "medium", "high", "max")),
    (streaming(thinking="high"), {"profile": EndpointProfile(adaptive_thinking=False)}),
    (streaming(), {"profile": EndpointProfile(cache_control=False, thinking=False, max_tokens=1000)}),
    (streaming(), {"profile": EndpointProfile(api_key_header=True, anthropic_version=OLDER_VERSION)}),
    (streaming(), {"base_url": "SERVER/v1/"}),
    (streaming(), {"base_url": "SERVER/gateway/claude"}),
    (streaming(), {"api_key": None}),
    (streaming(), {"api_key": None, "auth_token": KEY}),
    (streaming(api_key="of-this-request"), {}),
    (streaming(api_key="of-this-request"), {"api_key": None, "auth_token": KEY}),
    (lambda model: model.list_models(), {}),
    (lambda model: model.list_models("of-this-request"), {"profile": EndpointProfile(api_key_header=True)}),
    (lambda model: model.count_tokens(ask(messages=_CONVERSATION, tools=_TOOLS)), {}),
    (lambda model: model.count_tokens(ask(thinking="high", system="")), {"api_key": None}),
    (try_out, {}),
    (lambda model: collect(model, Request(system="", messages=[{"role": "user", "content": "word " * 100_000}])), {}),
]  # fmt: skip


async def test_a_request_is_that_of_the_sdk() -> None:
    for act, options in CASES:
        ours, theirs = await both(act, **options)
        assert len(ours) >= 1
        assert [what_matters(request) for request in ours] == [what_matters(request) for request in theirs]
    # A conversation that may be too long is counted first.
    assert [one.target for one in ours] == [
        "/v1/models?limit=1000",
        "/v1/messages/count_tokens",
        "/v1/messages",
    ]
