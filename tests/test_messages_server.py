"""The test server refuses what the Messages API refuses, and serves programs as well as tests."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.support.messages_server import KEY, MessagesServer, say

HEADERS = {
    "authorization": f"Bearer {KEY}",
    "anthropic-version": "2026-10-21",
    "content-type": "application/json",
}
GOOD = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 10,
    "stream": True,
    "messages": [{"role": "user", "content": "Hi"}],
}


def post(
    server: MessagesServer, body: Any, headers: dict[str, str] | None = None, path: str = "/v1/messages"
) -> tuple[int, str]:
    """Return status and body; `headers` of None are left out by giving them as empty."""
    chosen = {key: value for key, value in {**HEADERS, **(headers or {})}.items() if value}
    request = urllib.request.Request(server.url + path, json.dumps(body).encode(), chosen)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_a_good_request_is_streamed_and_recorded() -> None:
    with MessagesServer([say("Hello")]) as server:
        status, body = post(server, GOOD)
        assert status == 200
        assert "event: message_stop" in body
        assert server.bodies == [GOOD]
        assert server.refusals == []


@pytest.mark.parametrize(
    ("headers", "status", "kind"),
    [
        ({"authorization": ""}, 401, "authentication_error"),
        ({"authorization": "Bearer wrong"}, 401, "authentication_error"),
        ({"authorization": "", "x-api-key": KEY}, 200, ""),
        ({"anthropic-version": ""}, 400, "invalid_request_error"),
        ({"anthropic-version": "1999-01-01"}, 400, "invalid_request_error"),
    ],
)
def test_headers_are_checked(headers: dict[str, str], status: int, kind: str) -> None:
    with MessagesServer([say("Hello")]) as server:
        got, body = post(server, GOOD, headers)
    assert got == status
    if status != 200:
        error = json.loads(body)
        assert (error["type"], error["error"]["type"]) == ("error", kind)


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"colour": "red"}, 400, "colour: Extra inputs"),
        ({"temperature": 0.5}, 400, "temperature"),
        ({"max_tokens": 0}, 400, "max_tokens"),
        ({"max_tokens": 999_999}, 400, "999999 > 128000"),
        ({"model": "claude-9"}, 404, "claude-9"),
        ({"messages": []}, 400, "messages"),
        ({"messages": [{"role": "user", "content": " "}]}, 400, "non-empty"),
        ({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}, 400, "prefill"),
        ({"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}, 400, "alternate"),
        ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, 400, "thinking"),
        ({"thinking": {"type": "disabled"}, "output_config": {"effort": "max"}}, 400, "effort"),
        ({"tools": [{"name": "a b", "input_schema": {"type": "object"}}]}, 400, "tools.0.name"),
        ({"tools": [{"name": "a", "input_schema": {"type": "object"}, "label": "x"}]}, 400, "tools.0.label"),
        ({"cache_control": {"type": "always"}}, 400, "cache_control"),
    ],
)  # fmt: skip
def test_a_body_that_breaks_a_rule_is_refused_as_the_api_does(
    change: dict[str, Any], status: int, words: str
) -> None:
    with MessagesServer([say("Hello")]) as server:
        got, body = post(server, GOOD | change)
    assert got == status
    assert words in json.loads(body)["error"]["message"]


def test_an_unknown_path_and_a_body_that_is_no_object_are_refused() -> None:
    with MessagesServer([say("Hello")]) as server:
        assert post(server, GOOD, path="/v1/completions")[0] == 404
        assert post(server, [1])[0] == 400
        assert (
            post(server, GOOD | {"max_tokens": 5, "stream": True}, path="/v1/messages/count_tokens")[0] == 400
        )


def test_a_used_up_script_is_an_error_and_not_a_hang() -> None:
    with MessagesServer([]) as server:
        status, body = post(server, GOOD)
    assert status == 500
    assert "used up" in body
