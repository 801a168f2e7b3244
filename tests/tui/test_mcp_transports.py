"""`persona mcp` as a process: what reaches it over HTTP, what its streams carry, what it needs, what clients paste."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import httpx2
import pytest

from tests.support.forked import ROOT
from tests.support.persona_agent import Workplace


def state_of(place: Workplace) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(place.home.parent / "state")}


def token_of(place: Workplace) -> str:
    kept = place.home.parent / "state" / "persona-editor" / "mcp.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    token: str = json.loads(kept.read_text())["token"]
    return token


@contextmanager
def server(place: Workplace, *flags: str) -> Iterator[subprocess.Popen[str]]:
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = place.start("mcp", *flags, env=state_of(place), cwd=ROOT, text=True, **pipes)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def http_server(place: Workplace) -> Iterator[tuple[str, str]]:
    """Run a server on a free port, give its address and its token, and end it."""
    with server(place, "--http", "--port", "0") as process:
        assert process.stderr is not None
        url, header = (process.stderr.readline().strip() for _ in range(2))
        yield url, header.removeprefix("Authorization: Bearer ")
        process.terminate()
        assert process.communicate(timeout=60) == ("", "")


def check_guarded(place: Workplace, url: str, token: str) -> None:
    """Check that a server answers on this machine those who have the token, and no foreign page."""
    accepted = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
    }

    def status(**headers: str) -> int:
        ask = {"jsonrpc": "2.0", "id": 1, "method": "prompts/list"}
        return httpx2.post(url, json=ask, headers=accepted | headers).status_code

    assert url.startswith("http://127.0.0.1:") and url.endswith("/mcp")
    assert status() == status(Origin=url.removesuffix("/mcp")) == 200
    for wrong in ("", f"Bearer {token}x", f"Basic {token}"):
        assert status(Authorization=wrong) == 401
    assert status(Host="rebound.example") == 421
    assert status(Host=f"127.0.0.1.rebound.example:{httpx2.URL(url).port}") == 421
    assert status(Origin="http://rebound.example") == status(Origin="null") == 403
    assert httpx2.post(url, content=b"x" * (17 << 20), headers=accepted).status_code == 413
    assert token == token_of(place)
    files = [path for path in place.home.rglob("*") if path.is_file()]
    assert [path for path in files if token.encode() in path.read_bytes()] == []


def test_stdout_carries_the_protocol_alone_whatever_comes_in(place: Workplace) -> None:
    def message(number: int, method: str, **parameters: object) -> str:
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}) + "\n"

    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    half = message(2, "tools/call", name="get_agent_part", arguments={"name": "\ud800"})
    with server(place) as process:
        assert process.stdin is not None and process.stdout is not None
        for line in (
            "no JSON\n",
            message(1, "initialize", **about),
            half,
            "[" * 5_000 + "\n",
            "\0\n",
            "{}\n",
            '"\xff\n',
        ):
            process.stdin.write(line)
        process.stdin.write(message(3, "tools/list"))
        process.stdin.flush()
        answers = {}
        while 3 not in answers:
            answered = json.loads(process.stdout.readline())
            assert answered["jsonrpc"] == "2.0"
            answers[answered.get("id")] = answered
        assert len(answers[3]["result"]["tools"]) == 8
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == ("", "")
        assert process.returncode == -signal.SIGINT


def test_a_taken_port_and_a_missing_package_are_told_in_one_line(place: Workplace) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = place.run_here("mcp", "--http", "--port", str(port), env=state_of(place))
    assert done.returncode == 1 and f"Port {port} cannot be used".encode() in done.stderr
    without = {name: module for name, module in sys.modules.items() if not name.startswith("tui.mcp.")}
    with mock.patch.dict(sys.modules, without | {"mcp_types": None}, clear=True):  # type: ignore[dict-item]
        done = place.run_here("mcp")
    assert done.returncode == 1 and b"pip install 'mcp>=2.3,<3'" in done.stderr


@pytest.mark.parametrize("client", ["claude", "codex", "cursor"])
def test_what_a_client_is_to_paste_starts_or_reaches_the_server(place: Workplace, client: str) -> None:
    def config(*flags: str) -> dict[str, object]:
        done = place.run_here("mcp", "--print-config", client, *flags, env=state_of(place))
        text = done.stdout.decode()
        found = tomllib.loads(text) if client == "codex" else json.loads(text)
        entry: dict[str, object] = found["mcp_servers" if client == "codex" else "mcpServers"]["persona"]
        return entry

    started = config("--read-only")
    assert os.access(str(started["command"]), os.X_OK)
    assert started["args"][-4:] == ["--home", str(place.home.resolve()), "mcp", "--read-only"]  # type: ignore[index]
    reached = config("--http", "--port", "4711")
    assert reached["url"] == "http://127.0.0.1:4711/mcp"
    headers = reached["http_headers" if client == "codex" else "headers"]
    assert headers == {"Authorization": f"Bearer {token_of(place)}"}
