"""The models the persona agent is tested with: embedded, our loopback server, the real service.

The real service is asked both ways: as the program does it, and with the official SDK making the requests.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.messages_server import MessagesServer, ToolUsingBrain
from tests.support.persona_agent import Backend, Workplace

LIVE_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


def live_environment() -> dict[str, str]:
    """The real service's environment; skips the test unless it is asked for and there is a key."""
    keys = {name: os.environ[name] for name in LIVE_KEYS if os.environ.get(name)}
    if os.environ.get("PERSONA_LIVE") != "1" or not keys:
        pytest.skip("the real service is asked only with PERSONA_LIVE=1 and ANTHROPIC_API_KEY set")
    return keys | {
        name: os.environ[name] for name in ("ANTHROPIC_BASE_URL", "PERSONA_MODEL") if name in os.environ
    }


@pytest.fixture(params=["offline", "loopback", "live", "live over the SDK"])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Workplace]:
    home = tmp_path / "home"
    name, _, over_sdk = request.param.partition(" over ")
    live = live_environment() if name == "live" else {}
    if over_sdk:
        from tests.support.sdk_model import SdkModel

        monkeypatch.setattr("agent.models.anthropic.client.AnthropicModel", SdkModel)
    match name:
        case "offline":
            yield Workplace(
                home,
                Backend(name, {"PERSONA_MODEL": "offline"}, here=request.cls.__name__ != "TestPersistence"),
            )
        case "loopback":
            with MessagesServer(ToolUsingBrain()) as server:
                env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key}
                yield Workplace(home, Backend(name, env, here=True))
                assert server.refusals == [], "every request must satisfy the API's rules"
        case _:
            yield Workplace(home, Backend(name, live, here=bool(over_sdk)))
