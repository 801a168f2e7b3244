"""A conversation that was cut anywhere opens again, and its next request satisfies the API's rules."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path

import pytest

from agent.chat.chat import Chat
from agent.models.anthropic.client import AnthropicModel
from personas.files.home import open_home
from personas.store import Store
from tests.e2e import kill
from tests.support.messages_server import MessagesServer, ToolUsingBrain, say


def test_kill_9_at_random_points_loses_nothing_acknowledged(tmp_path: Path) -> None:
    assert sum(kill.run(tmp_path, runs=2, seed=20).values()) == 2


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Path, bytes]:
    """A real session with text, calls and results; the store, its file, and the file's bytes."""
    store = Store(open_home(tmp_path_factory.mktemp("recorded") / "home"))
    store.create("Cut", system_prompt="You are cut.\n")
    with MessagesServer(ToolUsingBrain()) as server:
        chat = Chat(store, "cut", AnthropicModel(api_key=server.key, base_url=server.url))

        async def talk() -> None:
            await chat.send("Show me all test inputs and add a new one about coding")
            await chat.send("Change the name to 'Cut Twice'")

        asyncio.run(talk())
    path = store.home.sessions / f"{store.session_of('cut')}.jsonl"
    return store, path, path.read_bytes()


def ask_on(store: Store, cuts: list[tuple[str, bytes]], path: Path) -> list[str]:
    """Continue the session from each of these states; return what the strict server refused, and where."""
    found: list[str] = []
    with MessagesServer(lambda _body: say("fine")) as server:
        model = AnthropicModel(api_key=server.key, base_url=server.url)

        async def go() -> None:
            for label, content in cuts:
                path.write_bytes(content)
                chat = Chat(store, "cut", model)
                chat.load()
                end = await chat.send("And now?")
                if end.outcome != "completed" or server.refusals:
                    found.append(f"{label}: {end.outcome} {server.refusals}")
                    server.refusals.clear()

        asyncio.run(go())
        assert len(server.bodies) == len(cuts), "every state must have led to a request"
    return found


def test_cut_at_every_record_and_inside_records(recorded: tuple[Store, Path, bytes]) -> None:
    store, path, whole = recorded
    ends = [index + 1 for index, byte in enumerate(whole) if byte == 0x0A]
    choose = random.Random(5)
    places = sorted({*ends, *(end - 1 for end in ends), *choose.sample(range(len(whole)), 20)})
    assert len(places) > 40
    assert ask_on(store, [(f"byte {at}", whole[:at]) for at in places], path) == []


def test_any_record_missing_doubled_or_torn(recorded: tuple[Store, Path, bytes]) -> None:
    store, path, whole = recorded
    lines = whole.splitlines(keepends=True)
    cuts = [
        (f"without {json.loads(line)['type']} {at}", b"".join(lines[:at] + lines[at + 1 :]))
        for at, line in enumerate(lines)
    ]
    cuts += [(f"doubled {at}", b"".join([*lines[: at + 1], *lines[at:]])) for at in range(len(lines))]
    cuts += [
        (f"torn {at}", b"".join([*lines[:at], lines[at][: len(lines[at]) // 2], b"\n", *lines[at + 1 :]]))
        for at in range(len(lines))
    ]
    cuts += [
        ("reversed", b"".join([lines[0], *reversed(lines[1:])])),
        ("empty", b""),
        ("NULs", b"\0" * 4096 + whole),
    ]
    assert ask_on(store, cuts, path) == []
