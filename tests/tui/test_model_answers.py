"""What is said, on the screen and without one, of answers that do not do what a person may believe they did."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.core.agent import Agent
from agent.core.model import Waiting
from agent.models.local_servers import LocalServer
from agent.models.scripted import Act, ScriptedModel, answer
from tests.support.messages_server import Answer, MessagesServer, call, say
from tests.support.persona_agent import Workplace
from tests.support.program import Gate, GatedModel, make_store, program
from tests.support.screen import drawn
from tests.support.settings import preferences
from tui.cli.agent.stream import JsonPrinter, TextPrinter
from tui.screens.dialogs.connect_dialog import ConnectDialog
from tui.screens.dialogs.picker import Picker

NOTHING = "The model answered with nothing; nothing was changed."
NO_TOOLS = "Its chat template knows no tools: the model can talk, but not change anything."


@pytest.fixture
def llama() -> Iterator[MessagesServer]:
    """A server that tells a chat template without tools, as llama.cpp does."""
    with MessagesServer([say("Your name is now Nova.")]) as server:
        server.props = {"chat_template": "{{ messages }}"}
        yield server


def connected(server: MessagesServer) -> dict[str, str]:
    return {"PERSONA_MODEL": "", "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key}


def chat(place: Workplace, server: MessagesServer, message: str, *options: str) -> Any:
    result = place.run_here("chat", "optimist", message, *options, env=connected(server))
    assert result.returncode == 0, result.stderr
    return result


def words(dialog: Any) -> str:
    """What a dialog says above its rows."""
    return str(dialog.query_one(".dialog-text").render())


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
    assert [turn["content"] for turn in history["turns"]].count(NOTHING) == 2


async def test_the_screen_tells_an_answer_with_nothing_in_it(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer()) as p:
        await p.run_to_end("Are you there?")
        await p.until(lambda: NOTHING in drawn(p.main))


CALL_AS_TEXT = '<tool_call>\n{"name": "update_persona_name", "arguments": {"name": "Nova"}}\n</tool_call>'


def test_a_call_that_the_model_writes_as_text_is_told_to_change_nothing(place: Workplace) -> None:
    with MessagesServer([say(CALL_AS_TEXT), say(CALL_AS_TEXT)]) as server:
        (notice,) = notices(chat(place, server, "Call yourself Nova", "--json"))
        assert notices(chat(place, server, "Do it", "--json")) == [], "it is told once in a conversation"
    assert notice.startswith("Nothing was changed: ") and "as text" in notice


def test_a_model_that_was_never_seen_to_call_a_tool_is_told_once_to_change_nothing(place: Workplace) -> None:
    claim = say("Your name is now Nova.")
    with MessagesServer([claim, claim, call("get_persona", {}), say("Read."), claim]) as server:
        plain = chat(place, server, "Call yourself Nova")
        assert plain.stderr.decode().count("Nothing was changed: claude-sonnet-5-5 called no tool") == 1
        assert server.url in plain.stderr.decode()
        assert notices(chat(place, server, "Do it", "--json")) == []
        chat(place, server, "Read it")
        assert notices(chat(place, server, "Call yourself Nova", "--json", "--new")) == []


def test_of_a_server_that_drops_tools_it_is_told_why(place: Workplace, llama: MessagesServer) -> None:
    (notice,) = notices(chat(place, llama, "Call yourself Nova", "--json"))
    assert notice.endswith(NO_TOOLS)


async def test_the_ways_to_a_model_tell_whether_it_calls_tools(
    tmp_path: Path, llama: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def find() -> list[LocalServer]:
        return [LocalServer("llama.cpp", llama.url, ("a-model",), NO_TOOLS)]

    monkeypatch.setattr("agent.models.local_servers.find_local_servers", find)
    settings = preferences(tmp_path, f'base_url = "{llama.url}"\nmodel = "a-model"\n')
    async with program(make_store(tmp_path), preferences=settings) as p:
        p.main.action_choose_model()
        dialog = await p.dialog(ConnectDialog)
        assert NO_TOOLS in words(dialog)
        dialog.query_one("#choices").select("local")
        await p.press("enter")
        assert NO_TOOLS in words(await p.dialog(Picker))
        await p.press("escape")
        llama.props = {}
        p.main.action_choose_model()
        assert "has not called a tool yet" in words(await p.dialog(ConnectDialog))


SILENCE = [Waiting(5.0), Waiting(10.0)]


class Terminal(io.StringIO):
    """A stderr that is a terminal; `rows` is what stands on it."""

    def isatty(self) -> bool:
        return True

    @property
    def rows(self) -> list[str]:
        rows = []
        for line in self.getvalue().split("\n"):
            cells: list[str] = []
            for piece in line.split("\r"):
                cells[: len(piece)] = piece
            rows.append("".join(cells).rstrip())
        return [row for row in rows if row]


async def printed(printer: Any, *script: Any) -> None:
    """Print a run in which the model says this."""
    agent = Agent(model=ScriptedModel([script]))
    agent.subscribe(printer.feed)
    printer.finish(await agent.prompt("Hi"))


async def test_a_silence_is_counted_in_one_place_that_goes_with_the_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal, seen = Terminal(), list[list[str]]()
    monkeypatch.setattr("sys.stderr", terminal)
    look = Act(lambda: seen.append(terminal.rows))
    await printed(TextPrinter(), Waiting(5.0), look, Waiting(10.0), look, *answer("Hello."))
    assert seen == [["(Waiting for the model, 5 s so far.)"], ["(Waiting for the model, 10 s so far.)"]]
    assert terminal.rows == []
    assert capsys.readouterr().out == "Hello.\n"


@pytest.mark.parametrize("printer", [TextPrinter, JsonPrinter])
async def test_a_silence_is_one_line_where_no_line_can_be_taken_back(
    printer: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    await printed(printer(), *SILENCE, *answer("Hello."))
    out, err = capsys.readouterr()
    assert (out + err).count("Waiting for the model") == 1


async def test_the_screen_counts_a_silence_in_one_place_that_goes_with_the_answer(tmp_path: Path) -> None:
    gate = Gate()
    model = GatedModel([[*SILENCE, gate, *answer("Hello.")]])
    async with program(make_store(tmp_path), model=model) as p:
        await p.say("Hi")
        await p.until(lambda: "waiting for the model" in drawn(p.main))
        assert drawn(p.main).lower().count("waiting for the model") == 1
        gate.set()
        await p.until(lambda: "Hello." in drawn(p.main) and not p.main.conversation.running)
        assert "waiting for the model" not in drawn(p.main).lower()
