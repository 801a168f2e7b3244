"""A talk with personas themselves: /talk, what is sent and shown, Esc, columns, failures, test inputs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.outputs.ensemble import EnsembleLog
from personas.test_inputs import Message
from tests.support.drafts import recall
from tests.support.hostile import ESCAPES, forbidden_in
from tests.support.messages_answers import Refusal, say
from tests.support.messages_server import MessagesServer
from tests.support.program import Program, make_store, program
from tests.support.screen_svg import draw, rows_of
from tests.support.settings import preferences
from tui.external_editor.process import ExternalEditor
from tui.screens.dialogs.picker import PickSeveral
from tui.widgets.plain_text import LiteralButton
from tui.widgets.talk_panel import TalkPanel
from tui.widgets.virtual_list import VirtualList

EVIL = "".join(ESCAPES[name] for name in ("clear screen", "title", "bidi override", "bell"))
ANN = 'name = "Ann"\nsystem_prompt = "ann"\n'
FILES = {
    "ann": ANN,
    "bob": ANN.replace("nn", "ob").replace("A", "B").replace("a", "b"),
    "cy": 'name = "Cy"\n',
}


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer(lambda body: say(f"**{body['system']}** answers")) as running:
        yield running


@asynccontextmanager
async def talking(
    folder: Path, server: MessagesServer | None, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Program]:
    env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key} if server is not None else {}
    known = preferences(folder, 'retries = 0\nmodel = "claude-sonnet-5-5"\n' if server else "", env)
    files = FILES | {"bob": 'name = "Bob"\nsystem_prompt = "bob"\n'}
    async with program(make_store(folder, files), size=size, persona_id="ann", preferences=known) as p:
        await p.until(
            lambda: "bob" in p.main.personas.entries and p.main.personas.entries["bob"].name == "Bob"
        )
        yield p


def seen(p: Program) -> str:
    return "\n".join(row.rstrip() for row in rows_of(draw(p.app)))


def heard(body: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["role"], one["content"]) for one in body["messages"]]


async def say_in_talk(p: Program, text: str) -> None:
    """Send a message in the talk, and wait until whoever answers has."""
    talk = p.main.talk.talk
    assert p.main.bar is p.main.talk.bar and talk._conversation is not None
    said = talk._conversation.said
    before = len(said)
    p.main.bar.set_draft(text)
    await p.press("enter")
    await p.until(lambda: len(said) > before and not (talk.answering or talk._saying.locked()))


async def begin(p: Program, command: str = "/talk") -> None:
    await p.say(command)
    await p.until(lambda: p.main.bar is p.main.talk.bar and p.main.talk.talk._conversation is not None)


async def test_a_talk_is_the_personas_own_and_leads_back_to_the_agent(
    tmp_path: Path, server: MessagesServer
) -> None:
    async with talking(tmp_path, server) as p:
        p.main.chat_bar.set_draft("for the agent")
        p.main.action_talk()
        await p.until(lambda: p.main.focused is p.main.bar.input and p.main.bar is p.main.talk.bar)
        assert "─ Talk to Ann" not in seen(p) and seen(p).count("Talk to Ann") == 2, "title and placeholder"
        p.main.action_go("prompt")
        await p.press("ctrl+end")
        await p.write(", and kind")  # not saved yet: it is before it is asked
        await p.press("escape")
        assert p.main.focused is p.main.bar.input, "Esc leads back to the talk first"
        await say_in_talk(p, "Hello")
        assert server.bodies[-1]["system"] == "ann, and kind" and p.on_disk("ann") == "ann, and kind"
        assert heard(server.bodies[-1]) == [("user", "Hello")] and "tools" not in server.bodies[-1]
        lines = [line.strip("│▎ ") for line in seen(p).splitlines()]
        at = lines.index("you  Hello")
        assert lines[at : at + 4] == ["you  Hello", "", "Ann", "ann, and kind answers"]
        await say_in_talk(p, "More")
        assert [role for role, _ in heard(server.bodies[-1])] == ["user", "assistant", "user"]
        p.main.bar.set_draft("half a thought")
        await p.main.conversation.drafts.store()
        assert recall(p.store.home).drafts["ann"] == "for the agent\nhalf a thought", "no crash takes it"
        p.main.bar.set_draft("")
        await p.press("escape")
        assert p.main.bar is p.main.chat_bar and p.main.focused is p.main.chat_bar.input
        assert "Talk to" not in seen(p) and p.main.chat_bar.draft == "for the agent"
        await begin(p)
        assert "you  More" in seen(p), "it goes on with the last one"
        await p.write("/new")
        await p.press("enter")
        await p.until(lambda: "you  More" not in seen(p) and p.main.talk.talk._conversation is not None)
        await say_in_talk(p, "Anew")
        assert heard(server.bodies[-1]) == [("user", "Anew")]
        await p.open("bob")
        assert p.main.bar is p.main.chat_bar, "another persona ends the talk"


async def test_several_answer_in_columns_or_below_each_other_in_turn_or_at_once(
    tmp_path: Path, server: MessagesServer
) -> None:
    async with talking(tmp_path, server) as p:
        await begin(p, "/talk ann, Bob")
        assert "Talk to Ann, Bob · in turn" in seen(p)
        await say_in_talk(p, "Hello")
        assert heard(server.bodies[1]) == [("user", "Hello\n\nAnn: **ann** answers")]
        row = next(row for row in seen(p).splitlines() if "ann answers" in row)
        assert "bob answers" in row, "side by side"
        await p.pilot.resize_terminal(60, 24)
        await p.until(lambda: "bob answers" in seen(p) and "ann answers" in seen(p))
        row = next(row for row in seen(p).splitlines() if "ann answers" in row)
        assert "bob answers" not in row and seen(p).count("you  Hello") == 1, "one below the other"
        assert await p.pilot.click(p.main.bar.query_one(".chat--task"))
        await p.until(lambda: "· at once" in seen(p))
        await say_in_talk(p, "Again")
        assert sorted(heard(body)[-1][1] for body in server.bodies[2:]) == [
            "Again",
            "Bob: **bob** answers\n\nAgain",
        ]
        await p.press("escape")
        await begin(p, "/talk bob")
        assert "you  Hello" not in seen(p), "the talk with both is another one"
        await p.press("escape")
        await p.say("/talk nobody,ann")
        await p.notified("No persona is called nobody")
        p.main.action_talk_to_several()
        dialog = await p.dialog(PickSeveral)
        await p.press("home", "space", "space", "enter")
        await p.until(lambda: p.main.talk.talk.ids == ("ann", "bob"))
        assert dialog not in p.app.screen_stack and "you  Again" in seen(p), "what marks chose goes on"


async def test_what_fails_or_is_stopped_is_told_and_asked_again(
    tmp_path: Path, server: MessagesServer
) -> None:
    server._brain = lambda body: Refusal(400, message=f"no {EVIL}")
    async with talking(tmp_path, server) as p:
        await begin(p)
        await say_in_talk(p, f"Hello {EVIL}")
        assert "✗ Ann:" in seen(p) and "/continue asks again" in seen(p) and forbidden_in(seen(p)) == []
        server._brain = lambda body: replace(say(f"I am {EVIL} here. " * 9), stall_after_events=6)
        await p.press("enter") if p.main.bar.draft else await p.pilot.click(
            p.main.bar.query_one(".chat--act")
        )
        await p.until(lambda: "I am" in seen(p))
        p.main.bar.set_draft("And?")
        await p.press("enter")
        await p.notified("Wait for the answer")
        assert p.main.bar.draft == "And?" and len(server.requests) == 2
        await p.press("escape")
        await p.until(lambda: not p.main.talk.talk.answering)
        assert "[interrupted]" in seen(p) and "Stopped." in seen(p) and forbidden_in(seen(p)) == []
        assert p.main.bar.draft == "And?"
        server._brain = lambda body: say("At last.")
        p.main.bar.set_draft("/continue")
        await p.press("enter")
        await p.until(lambda: "At last." in seen(p))
        assert [role for role, _ in heard(server.bodies[-1])] == ["user"]
        last = EnsembleLog(p.store.home).last(["ann"])
        assert last is not None and [one.text for one in last.said][1:] == ["At last."]


async def test_without_a_model_nothing_is_sent_and_it_is_said_how_to_connect_one(tmp_path: Path) -> None:
    async with talking(tmp_path, None) as p:
        await begin(p)
        assert "No model is connected" in seen(p)
        p.main.bar.set_draft("Hello")
        await p.press("enter")
        await p.notified("/model connects one")
        assert p.main.bar.draft == "Hello" and EnsembleLog(p.store.home).last() is None


async def test_a_message_becomes_a_test_input_by_key_and_by_mouse(
    tmp_path: Path, server: MessagesServer
) -> None:
    async with talking(tmp_path, server) as p:
        await begin(p)
        await p.press("ctrl+o", "t")
        await p.notified("Nothing was said yet")
        await p.press("escape")
        for text in ("First", "Second", "Third"):
            await say_in_talk(p, text)
        await p.press("ctrl+o", "k", "k", "t")  # from the last answer to the one before
        await p.until(lambda: len(p.store.get("ann").test_inputs) == 1)
        made = p.store.get("ann").test_inputs[0]
        assert made.id == "second" and made.messages == (
            Message(role="user", content="First"),
            Message(role="assistant", content="**ann** answers"),
            Message(role="user", content="Second"),
        )
        await p.press("escape")
        assert p.main.focused is p.main.bar.input
        panel = p.main.query_one(TalkPanel)
        panel.reading.scroll_to(y=0)
        await p.pilot.pause()
        await p.pilot.click(panel.reading, offset=(8, 0))

        async def press(name: str) -> None:
            await p.pilot.click(next(one for one in panel.query(LiteralButton) if one.name == name))

        await press("test")
        await p.until(lambda: len(p.store.get("ann").test_inputs) == 2)
        assert (
            p.store.get("ann").test_inputs[1].content == "First"
            and not p.store.get("ann").test_inputs[1].messages
        )
        await press("clear")
        await p.until(lambda: "you  First" not in seen(p))
        await press("leave")
        await p.until(lambda: p.main.bar is p.main.chat_bar)
        await p.press("ctrl+z")
        await p.until(lambda: len(p.store.get("ann").test_inputs) == 1)
        assert p.main.panes.widget(type(p.main.tests)).rows is not None and isinstance(
            p.main.tests.rows, VirtualList
        )


async def test_the_editor_is_for_the_message_of_the_talk(
    tmp_path: Path, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def edit(_self: object, _app: object, path: Path) -> bool:
        assert path.read_text() == "Hel"
        path.write_text("Hello")
        return True

    monkeypatch.setattr(ExternalEditor, "run", edit)
    async with talking(tmp_path, server) as p:
        p.main.chat_bar.set_draft("for the agent")
        p.main.action_talk()
        await p.until(lambda: p.main.focused is p.main.bar.input and p.main.bar is p.main.talk.bar)
        await p.write("Hel")
        await p.press("ctrl+g")
        await p.until(lambda: p.main.bar.draft == "Hello")
        assert p.main.chat_bar.draft == "for the agent"
