"""What `AnthropicModel` says when the server, the network or the settings fail."""

from __future__ import annotations

import asyncio
import logging
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from agent.core.model import Done, Failed, Notice, Waiting
from agent.models.anthropic.endpoint_profiles import OLDER_VERSION, EndpointProfile
from agent.models.anthropic.error_mapping import Where, explain_status, text_of_page
from agent.models.anthropic.stall_timeouts import StallLimits
from agent.models.model_list import unknown_model
from tests.agent.models.test_anthropic import ask, collect, model_at, text_of
from tests.support.messages_server import KEY, Answer, MessagesServer, Page, Refusal, Silence, Text, say
from tests.support.model_clock import FakeClock

KEYLESS = "no key is set; set MY_KEY, or paste one with /model in the program"
OVERFLOW = "prompt is too long: 210000 tokens > 200000 maximum"
SPEND = {"error_code": "enforced_spend_limit_reached"}


async def failure(server: MessagesServer, **options: Any) -> Failed:
    """Ask once and return how it failed."""
    events = await collect(model_at(server, **options), ask())
    assert isinstance(events[-1], Failed)
    return events[-1]


@pytest.mark.parametrize(
    ("reply", "kind", "retryable", "words"),
    [
        (Refusal(400, message="messages: broken"), "invalid_request", False, "messages: broken"),
        (Refusal(400, message=OVERFLOW), "too_large", False, "too long"),
        (
            Refusal(400, message="request (9001 tokens) exceeds the available context size (4096)"),
            "too_large",
            False,
            "9001",
        ),
        (Refusal(400, message="Your credit balance is too low"), "spend_limit", False, "billing"),
        (Refusal(402, "billing_error", "pay"), "spend_limit", False, "billing"),
        (Refusal(403, "permission_error", "not yours"), "permission", False, "not yours"),
        (Refusal(413, "request_too_large", "big"), "too_large", False, "too long"),
        (Refusal(429, "rate_limit_error", "slow", details=SPEND), "spend_limit", False, "billing"),
        (Refusal(429, "rate_limit_error", "slow"), "rate_limit", True, "slow down"),
        (Refusal(500, "api_error", "oops"), "server", True, "oops"),
        (Refusal(500, "api_error", "this needs --jinja"), "invalid_request", False, "--jinja"),
        (
            Refusal(502, body=b"<html>Bad gateway</html>", content_type="text/html"),
            "server",
            True,
            ": Bad gateway",
        ),
        (Refusal(503, "api_error", "later"), "overloaded", True, "later"),
        (Refusal(529, "overloaded_error", "Overloaded"), "overloaded", True, "overloaded"),
        (
            Refusal(302, headers={"location": "https://elsewhere.example/"}),
            "protocol",
            False,
            "elsewhere.example",
        ),
        (
            Refusal(400, body=b'{"detail": "no \x1b[31mcolours\x07"}'),
            "invalid_request",
            False,
            "no colours",
        ),
    ],
)
async def test_a_refusal_has_a_kind_and_one_sentence(
    reply: Refusal, kind: str, retryable: bool, words: str
) -> None:
    async with MessagesServer([reply]) as server:
        error = (await failure(server)).error
    assert (error.kind, error.retryable, error.status) == (kind, retryable, reply.status)
    assert words in error.message
    assert "\n" not in error.message
    assert "\x1b" not in error.message


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "3600"}, 3600.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
async def test_the_wait_a_server_asks_for_is_passed_on_at_once(
    headers: dict[str, str], seconds: float | None
) -> None:
    async with MessagesServer([Refusal(429, "rate_limit_error", "slow", headers=headers)]) as server:
        error = (await failure(server)).error
        assert error.retry_after == seconds
        assert len(server.requests) == 1


async def test_a_server_can_say_that_trying_again_is_useless() -> None:
    async with MessagesServer(
        [Refusal(500, "api_error", "no", headers={"x-should-retry": "false"})]
    ) as server:
        assert not (await failure(server)).error.retryable


async def test_a_wrong_key_names_the_variable_and_not_the_key() -> None:
    async with MessagesServer() as server:
        error = (await failure(server, api_key="sk-secret-123", key_name="MY_KEY")).error
    assert error.kind == "authentication"
    assert "MY_KEY" in error.message
    assert "sk-secret-123" not in repr(error)


async def test_a_key_in_the_servers_own_words_is_cut_out() -> None:
    async with MessagesServer([Refusal(400, message=f"bad key {KEY} there")]) as server:
        error = (await failure(server)).error
    assert KEY not in error.message
    assert "[key]" in error.message


async def test_an_unknown_model_is_told_with_its_near_matches() -> None:
    async with MessagesServer() as server:
        error = (await failure(server, name="claude-sonet-5-5")).error
        assert error.kind == "not_found"
        assert "claude-sonet-5-5" in error.message
        assert "claude-sonnet-5-5" in error.message
        assert server.url in error.message


async def test_a_path_that_does_not_exist_is_told_as_such() -> None:
    async with MessagesServer() as server:
        error = (await failure(server, base_url=server.url + "/gateway")).error
    assert error.kind == "not_found"
    assert "/gateway" in error.message


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (Page(b"<html><h1>Sign in</h1></html>"), "Sign in"),
        (Page(b"x" * 100_000, "text/plain"), "xxx"),
    ],
)
async def test_a_success_that_is_no_stream_is_an_error_with_its_beginning(page: Page, words: str) -> None:
    async with MessagesServer([page]) as server:
        error = (await failure(server)).error
    assert error.kind == "protocol"
    assert words in error.message
    assert len(error.message) < 500


@pytest.mark.parametrize(
    "answer",
    [
        say("Half of a sentence", drop_after_bytes=700),
        say("Half of a sentence", stop_reason="", message_stop=False),
        say("Half of a sentence", error_after_events=5),
    ],
)
async def test_a_cut_answer_keeps_its_text_and_is_no_answer(answer: Answer) -> None:
    async with MessagesServer([answer]) as server:
        events = await collect(model_at(server), ask())
    assert isinstance(events[-1], Failed)
    assert events[-1].error.retryable
    assert text_of(events).startswith("Half of")
    assert not any(isinstance(event, Done) for event in events)


async def test_any_form_of_the_stream_gives_the_same_answer() -> None:
    async with MessagesServer(
        [say("Grüße \U0001f600", write=1, crlf=True), say("Grüße \U0001f600")]
    ) as server:
        model = model_at(server)
        events = await collect(model, ask())
        assert text_of(events) == "Grüße \U0001f600"
        assert events[:-1] == (await collect(model, ask()))[:-1]
        assert isinstance(events[-1], Done)


async def test_an_unreachable_server_is_named() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        events = await collect(model_at(MessagesServer(), base_url=url), ask())
    assert events[-1].error.kind == "network"
    assert events[-1].error.retryable
    assert url in events[-1].error.message


@pytest.mark.parametrize(
    "url", ["localhost:8080", "ftp://x", "http://", "http://a b", "http://x:99999", "nonsense", "http://[::1"]
)
async def test_a_base_url_that_is_none_is_told_before_any_request(url: str) -> None:
    events = await collect(model_at(MessagesServer(), base_url=url), ask())
    assert [event.error.kind for event in events] == ["client"]
    assert "http://" in events[0].error.message


@pytest.mark.parametrize("key", ["", "  \n", "sk-a\nsk-b", "sk-ключ", "sk a", "sk-\x07"])
async def test_a_key_that_cannot_be_sent_is_told_before_any_request(key: str) -> None:
    async with MessagesServer([say("never")]) as server:
        events = await collect(model_at(server, api_key=key), ask())
        assert [event.error.kind for event in events] == ["authentication"]
        assert "ANTHROPIC_API_KEY" in events[0].error.message
        assert "sk" not in events[0].error.message.replace("ask", "")
        assert server.requests == []


async def test_no_key_for_the_official_server_is_told_before_any_request() -> None:
    events = await collect(
        model_at(MessagesServer(), api_key=None, base_url="https://api.anthropic.com/v1"), ask()
    )
    assert [event.error.kind for event in events] == ["authentication"]
    assert "--model offline" in events[0].error.message


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:1", "SOCKS"),
        ("SSL_CERT_FILE", "/does/not/exist.pem", "certificates"),
        ("HTTPS_PROXY", "nonsense://x", "proxy"),
    ],
)
async def test_a_client_that_cannot_be_built_is_a_message(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, words: str
) -> None:
    monkeypatch.setenv(variable, value)
    events = await collect(model_at(MessagesServer(), base_url="https://server.invalid"), ask())
    assert [event.error.kind for event in events] == ["client"]
    assert words in events[0].error.message


@pytest.mark.parametrize(
    "proxy", ["http://me:hunter2/x@host:1", "http://host:hunter2", "http://me:x#hunter2@host"]
)
async def test_a_proxy_that_cannot_be_used_is_told_by_its_variable_alone(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy)
    message = (await failure(MessagesServer(), base_url="http://server.invalid")).error.message
    assert "hunter2" not in message and "HTTP_PROXY" in message


async def test_a_socks_proxy_is_told_with_the_package_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://me:hunter2@127.0.0.1:1")
    message = (await failure(MessagesServer(), base_url="http://server.invalid")).error.message
    assert message == "ALL_PROXY names a SOCKS proxy, and the package socksio is missing: pip install socksio"


def test_a_model_is_looked_for_in_a_list_of_any_length_at_once() -> None:
    offered = [f"model-{number:010}" + "abcdefghij" * 100 for number in range(90_000)]
    since = time.process_time()
    message = unknown_model("model-0000000007", "http://x", offered)
    assert time.process_time() - since < 1 and len(message) < 1_000
    assert "model-0000000007" in unknown_model("model-0000000007x", "http://x", [offered[7][:16]])


async def test_a_stream_that_is_closed_in_its_midst_leaves_nothing_to_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "agent")
    async with (
        MessagesServer([say("never", stall_after_events=3)]) as server,
        aclosing(model_at(server).stream(ask())) as events,
    ):
        async for _event in events:
            break
    assert "was dropped" not in caplog.text


async def test_proxies_of_the_environment_are_not_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(variable, "socks5://127.0.0.1:1")
    async with MessagesServer([say("direct")]) as server:
        assert text_of(await collect(model_at(server), ask())) == "direct"


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
async def test_a_proxy_that_is_not_there_is_named_with_its_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "http://me:hunter2@127.0.0.1:1")
    error = (await failure(MessagesServer(), base_url="https://server.invalid")).error
    assert (error.kind, error.retryable) == ("network", True)
    assert f"through the proxy http://127.0.0.1:1 ({variable})" in error.message
    assert "hunter2" not in error.message


@pytest.mark.parametrize(
    ("scheme", "status", "words"),
    [
        ("https", 407, "The proxy PROXY refused the connection to https://server.invalid: 407 X."),
        ("http", 503, "It came through the proxy PROXY."),
    ],
)
async def test_a_proxy_that_refuses_is_named_with_its_variable(
    monkeypatch: pytest.MonkeyPatch, scheme: str, status: int, words: str
) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status} X\r\ncontent-length: 6\r\nconnection: close\r\n\r\nNo way".encode())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        proxy = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        variable = f"{scheme}_proxy".upper()
        monkeypatch.setenv(variable, proxy.replace("//", "//me:hunter2@"))
        error = (await failure(MessagesServer(), base_url=f"{scheme}://server.invalid")).error
    assert words.replace("PROXY", f"{proxy} ({variable})") in error.message
    assert "hunter2" not in error.message
    assert error.retryable is (status == 503)


async def test_what_the_api_says_through_a_proxy_is_not_put_down_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    where = Where("http://server.invalid")
    body = {"error": {"type": "permission_error", "message": "not yours"}}
    assert "proxy" not in explain_status(403, body, where).message
    monkeypatch.setenv("NO_PROXY", "server.invalid")
    assert "proxy" not in explain_status(403, "No way", where).message


WEB_PAGE = b"""
<!DOCTYPE html><html><head><title>Access denied</title><style>p {color: red}</style></head>
<body><h1>Blocked</h1><script>go()</script><p>Ask the <b>help desk</b> &amp; wait.</p></body></html>"""


@pytest.mark.parametrize("status", [401, 403])
async def test_a_web_page_is_told_by_its_text_and_not_put_down_to_the_key(status: int) -> None:
    async with MessagesServer([Refusal(status, body=WEB_PAGE, content_type="text/html")]) as server:
        message = (await failure(server)).error.message
    assert message == (
        f"The server at {server.url} answered with a web page ({status}); is something in front of it, such as a "
        "firewall, or the base URL wrong? It says: Blocked Ask the help desk & wait."
    )


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<html><head><title>Sign in</title></head><body></body></html>", "Sign in"),
        ("<HTML>a<!-- b -->c<br", "ac"),
        ("<html><script>" + "x" * 9_000, ""),
        ("a < b > c", "a < b > c"),
    ],
)
def test_of_a_web_page_only_what_a_person_reads_is_told(page: str, text: str) -> None:
    assert " ".join(text_of_page(page).split()).replace("a c", "ac") == text


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes its certificate with openssl")
async def test_a_certificate_on_this_machine_is_trusted_by_ssl_cert_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-subj",
        "/CN=localhost",
        "-days",
        "2",
    ]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*make, *names], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 418 X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context) as server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
        error = (await failure(MessagesServer(), base_url=url)).error
        assert f"certificate of {url} is not trusted" in error.message and "SSL_CERT_FILE" in error.message
        assert "SSL_CERT_DIR" in error.message
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert (await failure(MessagesServer(), base_url=url)).error.status == 418
        # The folder counts beside a file that does not have it.
        named = (
            subprocess.run(
                ["openssl", "x509", "-hash", "-noout", "-in", str(certificate)],
                check=True,
                capture_output=True,
            )
            .stdout.decode()
            .strip()
        )
        folder = tmp_path / "folder"
        folder.mkdir()
        (folder / f"{named}.0").write_bytes(certificate.read_bytes())
        other = tmp_path / "other.pem"
        make[make.index("/CN=localhost")] = "/CN=other"
        other_files = ["-keyout", str(tmp_path / "other-key.pem"), "-out", str(other)]
        subprocess.run([*make, *other_files], check=True, capture_output=True)
        monkeypatch.setenv("SSL_CERT_FILE", str(other))
        monkeypatch.setenv("SSL_CERT_DIR", str(folder))
        assert (await failure(MessagesServer(), base_url=url)).error.status == 418


async def test_a_plain_server_on_this_machine_needs_no_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/does/not/exist.pem")
    async with MessagesServer([say("direct")]) as server:
        assert text_of(await collect(model_at(server), ask())) == "direct"


async def test_text_that_is_no_unicode_is_told() -> None:
    async with MessagesServer([say("never")]) as server:
        events = await collect(model_at(server), ask("\ud83d"))
    assert [event.error.kind for event in events] == ["invalid_request"]


# -- silence ---------------------------------------------------------------------------------------------


async def watch(
    server: MessagesServer, clock: FakeClock, steps: list[float], ready: Callable[[list[Any]], bool]
) -> list[Any]:
    """Ask, wait for `ready`, let time pass in steps, and return all events."""
    events: list[Any] = []
    model = model_at(
        server,
        clock=clock,
        stall_limits=StallLimits(first_byte=60, between_bytes=30, content=100, show_every=5),
    )

    async def read() -> None:
        async for event in model.stream(ask()):
            events.append(event)

    async with asyncio.timeout(60):
        task = asyncio.create_task(read())
        while not ready(events):
            await asyncio.sleep(0.002)
        for step in steps:
            clock.advance(step)
            await asyncio.sleep(0.02)
        await task
    return events


async def test_silence_before_the_first_byte_is_shown_and_then_given_up() -> None:
    async with MessagesServer([Silence()]) as server:
        events = await watch(server, FakeClock(), [6, 6, 50], lambda _events: bool(server.requests))
        assert await asyncio.to_thread(server.client_left.wait, 5)
    assert [type(event) for event in events] == [Waiting, Waiting, Failed]
    assert events[0].seconds >= 5
    assert events[1].seconds >= 10
    assert (events[-1].error.kind, events[-1].error.retryable) == ("stall", True)


async def test_pings_keep_the_first_clock_quiet_and_not_the_second() -> None:
    async with MessagesServer([say("Hello", stall_after_events=4, ping_every=0.005)]) as server:
        events = await watch(server, FakeClock(), [4] * 30, lambda events: bool(text_of(events)))
    assert isinstance(events[-1], Failed)
    assert events[-1].error.kind == "stall"
    assert "alive" in events[-1].error.message
    assert text_of(events) == "Hello"
    assert sum(isinstance(event, Waiting) for event in events) >= 4


async def test_a_dead_stream_is_given_up_by_the_first_clock() -> None:
    async with MessagesServer([say("Hello", stall_after_events=4)]) as server:
        events = await watch(server, FakeClock(), [31], lambda events: bool(text_of(events)))
    assert "No sign of life" in events[-1].error.message
    assert text_of(events) == "Hello"


@pytest.mark.parametrize(
    "answer",
    [Silence(), say("Hello", stall_after_events=4), say("Hello", stall_after_events=4, ping_every=0.01)],
)
async def test_cancelling_closes_the_connection_at_once(answer: Any) -> None:
    async with MessagesServer([answer]) as server:
        task = asyncio.create_task(collect(model_at(server), ask()))
        while not server.requests:
            await asyncio.sleep(0.002)
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 20)  # the clocks of the model would take longer
        assert await asyncio.to_thread(server.client_left.wait, 20)
        assert len(asyncio.all_tasks()) == 1


async def test_closing_the_iterator_closes_the_connection() -> None:
    async with MessagesServer([Answer((Text("word " * 1000),), delta=5, delay=0.002)]) as server:
        stream = model_at(server).stream(ask())
        async for event in stream:
            if text_of([event]):
                break
        await stream.aclose()  # type: ignore[attr-defined]
        assert await asyncio.to_thread(server.client_left.wait, 20)
        assert len(asyncio.all_tasks()) == 1


# -- what a server does not take -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "level", "left_out"),
    [
        ("cache_control", "off", "cache_control"),
        ("thinking", "high", "thinking"),
        ("thinking", "off", "thinking"),
        ("output_config", "high", "output_config"),
    ],
)
async def test_a_refused_feature_is_left_out_from_then_on(word: str, level: Any, left_out: str) -> None:
    async with MessagesServer(lambda _body: say("ok"), refused_words=[word]) as server:
        model = model_at(server)
        first = await collect(model, ask(thinking=level))
        second = await collect(model, ask(thinking=level))
        assert left_out in server.bodies[0]
        assert left_out not in server.bodies[-1]
        assert len(server.bodies) == 3
    assert sum(isinstance(event, Notice) for event in first) == 1
    assert not any(isinstance(event, Notice) for event in second)
    assert text_of(first) == text_of(second) == "ok"


async def test_the_room_that_one_conversation_leaves_is_no_limit_for_the_next_one() -> None:
    refusal = Refusal(
        400, message="input length and `max_tokens` exceed context limit: 199000 + 32000 > 200000, try again"
    )
    async with MessagesServer([refusal, say("cut"), say("whole")], strict=False) as server:
        model = model_at(server)
        first = await collect(model, ask())
        second = await collect(model, ask())
        assert [body["max_tokens"] for body in server.bodies] == [32_000, 1000, 32_000]
    assert [event.message for event in first if isinstance(event, Notice)] == [
        "Only 1000 tokens are left for the answer; the answer is limited to that."
    ]
    assert (text_of(first), text_of(second)) == ("cut", "whole")


async def test_a_server_whose_context_is_never_large_enough_is_asked_a_few_times_only() -> None:
    def one_less(body: Any) -> Refusal:
        most = body["max_tokens"]
        return Refusal(400, message=f"exceed context limit: 100 + {most} > {most + 99}")

    async with MessagesServer(one_less, strict=False) as server:
        assert isinstance((await collect(model_at(server), ask()))[-1], Failed)
        assert len(server.requests) == 3


async def test_a_server_that_refuses_everything_is_asked_ever_less() -> None:
    words = ["cache_control", "output_config", "thinking"]
    async with MessagesServer(
        lambda _body: say("ok"),
        refused_words=words,
        only_versions=["2023-06-01"],
        only_api_key_header=True,
        max_tokens=4096,
    ) as server:
        events = await collect(model_at(server), ask(thinking="max"))
        assert server.bodies[-1]["max_tokens"] == 4096
        assert not set(words) & set(server.bodies[-1])
    assert isinstance(events[-1], Done)
    assert sum(isinstance(event, Notice) for event in events) == 6


async def test_a_model_without_adaptive_thinking_gets_a_budget() -> None:
    replies = [Refusal(400, message="adaptive thinking is not supported on this model"), say("ok"), say("ok")]
    async with MessagesServer(replies, strict=False) as server:
        events = await collect(model_at(server), ask(thinking="medium", max_tokens=20_000))
        assert server.bodies[1]["thinking"] == {
            "type": "enabled",
            "budget_tokens": 8192,
            "display": "summarized",
        }
        assert "output_config" not in server.bodies[1]
    assert isinstance(events[-1], Done)


async def test_a_model_that_always_thinks_is_asked_to_think_little_and_to_show_it() -> None:
    async with MessagesServer(lambda _body: say("ok")) as server:
        events = await collect(model_at(server, name="claude-opus-5-5"), ask())
        assert server.bodies[-1]["thinking"] == {"type": "adaptive", "display": "summarized"}
        assert server.bodies[-1]["output_config"] == {"effort": "low"}
    assert text_of(events) == "ok"
    assert sum(isinstance(event, Notice) for event in events) == 1


async def test_a_refusal_about_the_conversation_changes_no_profile() -> None:
    message = "messages.1.content.0: Invalid `signature` in `thinking` block"
    async with MessagesServer([Refusal(400, message=message)], strict=False) as server:
        assert message in (await failure(server)).error.message
        assert len(server.requests) == 1


async def test_a_server_without_a_messages_api_is_told_as_such() -> None:
    async with MessagesServer([Refusal(404, "not_found_error", "no such path: /v1/messages")]) as server:
        error = (await failure(server)).error
    assert "no Messages API" in error.message
    assert "claude-sonnet-5-5" in error.message


async def test_a_refused_token_names_its_own_variable() -> None:
    async with MessagesServer() as server:
        error = (await failure(server, api_key=None, auth_token="wrong")).error
    assert "ANTHROPIC_AUTH_TOKEN" in error.message


async def test_a_profile_can_be_given_beforehand() -> None:
    profile = EndpointProfile(api_key_header=True, anthropic_version=OLDER_VERSION)
    async with MessagesServer([say("ok")], only_versions=["2023-06-01"], only_api_key_header=True) as server:
        events = await collect(model_at(server, profile=profile), ask())
        assert text_of(events) == "ok"
        assert len(server.requests) == 1


async def test_a_limit_of_no_tokens_is_not_believed() -> None:
    async with MessagesServer([Refusal(400, message="max_tokens: 32000 > 0")], strict=False) as server:
        assert (await failure(server)).error.kind == "invalid_request"
        assert len(server.requests) == 1


async def test_a_server_that_is_never_content_is_asked_a_few_times_only() -> None:
    def one_less(body: Any) -> Refusal:
        most = body["max_tokens"]
        return Refusal(400, message=f"max_tokens: {most} > {most - 1}, which is the maximum")

    async with MessagesServer(one_less, strict=False) as server:
        events = await collect(model_at(server), ask())
        assert len(server.requests) == 3
    assert isinstance(events[-1], Failed)
    assert events[-1].error.kind == "invalid_request"


@pytest.mark.parametrize("only_api_key_header", [True, False])
async def test_a_server_that_wants_a_key_where_none_is_set_is_told_so_with_the_ways_to_one(
    only_api_key_header: bool,
) -> None:
    async with MessagesServer([say("ok")], only_api_key_header=only_api_key_header) as server:
        model = model_at(server, api_key=None, key_name="MY_KEY")
        events = await collect(model, ask())
        assert not any(isinstance(event, Notice) for event in events), "no key was sent in another way"
        (failed,) = [event for event in events if isinstance(event, Failed)]
        assert failed.error.kind == "authentication" and KEYLESS in failed.error.message
        assert f"{server.url} wants a key (401)" in failed.error.message
        given = await collect(model, ask(api_key=KEY))
        assert text_of(given) == "ok"
        assert any(isinstance(event, Notice) for event in given) is only_api_key_header


async def test_what_is_not_allowed_without_a_key_is_not_put_down_to_one() -> None:
    async with MessagesServer([Refusal(403, "permission_error", "not yours")], key=None) as server:
        error = (await failure(server, api_key=None, key_name="MY_KEY")).error
    assert error.kind == "permission" and KEYLESS in error.message and "not yours" in error.message
