"""The models the persona agent is tested with: embedded, the SDK against our loopback server, the real service."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.messages_server import MessagesServer, ToolUsingBrain
from tests.persona_agent import Backend, Workplace

LIVE_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


def live_environment() -> dict[str, str]:
    """The real service's environment; skips the test unless it is asked for and there is a key."""
    keys = {name: os.environ[name] for name in LIVE_KEYS if os.environ.get(name)}
    if os.environ.get("PERSONA_LIVE") != "1" or not keys:
        pytest.skip("the real service is asked only with PERSONA_LIVE=1 and ANTHROPIC_API_KEY set")
    return keys | {
        name: os.environ[name] for name in ("ANTHROPIC_BASE_URL", "PERSONA_MODEL") if name in os.environ
    }


@pytest.fixture(params=["offline", "loopback", "live"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workplace]:
    home = tmp_path / "home"
    match request.param:
        case "offline":
            yield Workplace(home, Backend("offline", {"PERSONA_MODEL": "offline"}))
        case "loopback":
            with MessagesServer(ToolUsingBrain()) as server:
                env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key}
                yield Workplace(home, Backend("loopback", env, here=True))
                assert server.refusals == [], "every request must satisfy the API's rules"
        case _:
            yield Workplace(home, Backend("live", live_environment()))
