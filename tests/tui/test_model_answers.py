"""What is said, on the screen and without one, of answers that do not do what a person may believe they did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agent.models.scripted import answer
from tests.messages_server import Answer, MessagesServer, say
from tests.persona_agent import Workplace
from tests.tui.program import make_store, program
from tests.tui.test_app_layout import drawn

NOTHING = "The model answered with nothing; nothing was changed."


def connected(server: MessagesServer) -> dict[str, str]:
    return {"PERSONA_MODEL": "", "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key}


def chat(place: Workplace, server: MessagesServer, message: str, *options: str) -> Any:
    result = place.run_here("chat", "optimist", message, *options, env=connected(server))
    assert result.returncode == 0, result.stderr
    return result


def notices(result: Any) -> list[str]:
    events = [json.loads(line) for line in result.stdout.splitlines()]
    return [event["content"] for event in events if event["type"] == "notice"]


def test_an_answer_with_nothing_in_it_is_told_once_and_stored(place: Workplace) -> None:
    with MessagesServer([Answer(()), Answer(()), say("Here I am.")]) as server:
        assert notices(chat(place, server, "Are you there?", "--json")) == [NOTHING]
        plain = chat(place, server, "And now?")
        assert plain.stdout == b"" and plain.stderr.decode().count(NOTHING) == 1
        chat(place, server, "Still?")
        (message,) = server.bodies[-1]["messages"]
    assert [block["text"] for block in message["content"]] == ["Are you there?", "And now?", "Still?"]
    history = json.loads(place.run_here("history", "optimist", "--json").stdout)
    assert [turn["content"] for turn in history["turns"] if turn["type"] == "notice"] == [NOTHING] * 2


async def test_the_screen_tells_an_answer_with_nothing_in_it(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer()) as p:
        await p.run_to_end("Are you there?")
        await p.until(lambda: NOTHING in drawn(p.main))
