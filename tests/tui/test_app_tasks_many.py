"""Personas with tasks at once on one screen: each conversation is its own, and the screen answers its keys."""

from __future__ import annotations

import asyncio
import json
import re
import statistics
import time
from pathlib import Path
from typing import Any

import pytest
from textual import events

from agent.core.model import BlockDelta, BlockEnd, BlockStart, Done, Model, Request
from agent.core.turns import UserTurn
from agent.models.anthropic.client import AnthropicModel
from agent.models.scripted import Pause, ScriptedModel
from tests.support.messages_server import Answer, Call, MessagesServer, Text
from tests.support.program import Program, make_store, program
from tui.settings.schema import Settings

TEN = [f"p{number}" for number in range(10)]
IDS = TEN[:5]
FILES = {name: f'name = "{name}"\nsystem_prompt = "I am {name}."\n' for name in TEN}
STOPPED = "p4"
ENDLESS = "word " * 40
SLOW = 0.01
NOISE = 0.016
"""Seconds of work from a key to its letter that nobody sees: one frame."""


pytestmark = pytest.mark.usefixtures("own_settings_file")


def whose(messages: Any) -> tuple[str, int]:
    """Return the persona a request is about, and how many answers it had before."""
    found = re.search(r"task for (p\d)", json.dumps(messages, default=dict))
    assert found is not None
    return found[1], sum(message["role"] == "assistant" for message in messages)


def edit_of(name: str) -> dict[str, str]:
    return {"old": f"I am {name}.", "new": f"I am {name}, changed."}


def served(body: dict[str, Any]) -> Answer:
    name, step = whose(body["messages"])
    if step == 0:
        text = "".join(f"{name} word {number} " for number in range(30))
        return Answer(blocks=(Text(text), Call("edit_system_prompt", edit_of(name))), delta=10, delay=0.005)
    if name == STOPPED:
        return Answer(blocks=(Text(ENDLESS),), stall_after_events=4)
    return Answer(blocks=(Call("task_complete", {"summary": f"{name} is done."}),))


async def begin_all(p: Program, ids: list[str]) -> None:
    """Begin a task about each persona, one after the other, as a person would."""
    for name in ids:
        await p.open(name)
        await p.until(
            lambda name=name: p.main.conversation.current and p.main.conversation.current.persona_id == name
        )
        await p.say(f"/task task for {name}")
        await p.until(lambda: p.main.conversation.running or p.main.conversation.current.task is not None)  # type: ignore[union-attr]


async def all_over(p: Program) -> None:
    talks = p.main.conversation.conversations
    assert talks is not None
    await p.until(lambda: len(talks.running) == 1)
    await p.open(STOPPED)
    await p.until(lambda: p.main.conversation.running)
    await p.until(lambda: any("word word" in text for text in shown(p)))
    await p.press("escape")
    await p.until(lambda: not talks.running)


def shown(p: Program) -> list[str]:
    p.main.conversation.view.draw_frame()
    return [entry.text() for entry in p.main.conversation.view.layout_model.entries]


async def check_all(p: Program) -> None:
    """Every conversation on the screen and on disk holds exactly its own turns."""
    for name in IDS:
        await p.open(name)
        await p.until(
            lambda name=name: p.main.conversation.current and p.main.conversation.current.persona_id == name
        )
        talk = p.main.conversation.current
        assert talk is not None and talk.chat is not None and talk.task is not None
        text = "\n".join(shown(p))
        assert set(re.findall(r"\bp\d\b", text)) == {name}
        said = [turn.content for turn in talk.chat.turns if isinstance(turn, UserTurn)]
        assert said == [f"task for {name}"]
        ids = [turn.id for turn in talk.chat.turns]
        assert len(ids) == len(set(ids))
        assert talk.task.status == ("cancelled" if name == STOPPED else "completed")
        assert p.on_disk(name) == f"I am {name}, changed."
        session = p.store.session_of(name)
        stored = (p.store.home.sessions / f"{session}.jsonl").read_text(encoding="utf-8")
        assert set(re.findall(r"\bp\d\b", stored)) == {name}


async def echo(p: Program) -> float:
    """Return the seconds of work from a key to the letter drawn in the chat bar.

    What the processor did for this program, not what a clock showed: other programs may want the machine too.
    """
    before = p.main.chat_bar.draft
    begun = time.process_time()
    p.app.post_message(events.Key("x", "x"))
    while p.main.chat_bar.draft == before:
        await asyncio.sleep(0.0005)
    drawn = asyncio.Event()
    p.app.screen.call_after_refresh(drawn.set)
    await drawn.wait()
    return time.process_time() - begun


def loopback(server: MessagesServer) -> Model:
    return AnthropicModel("claude-sonnet-5-5", api_key=server.key, base_url=server.url)


async def test_each_of_several_has_its_own_turns_and_stopping_one_leaves_the_others(tmp_path: Path) -> None:
    with MessagesServer(served) as server:
        async with program(
            make_store(tmp_path, FILES),
            model=loopback(server),
            settings=Settings(task_pause=0.0),
            size=(80, 24),
        ) as p:
            await begin_all(p, IDS)
            await all_over(p)
            await check_all(p)
        assert server.refusals == []


async def test_keys_are_heard_while_ten_tasks_are_at_work(tmp_path: Path) -> None:
    def endless(request: Request) -> Any:
        words = [part for number in range(6000) for part in (BlockDelta(0, f"word {number} "), Pause(SLOW))]
        return [BlockStart(0, "text"), *words, BlockEnd(0), Done("end_turn")]

    async with program(
        make_store(tmp_path, FILES), model=ScriptedModel([endless] * 10), size=(80, 24), frames=True
    ) as p:
        p.main.focus_chat()
        idle = []
        for _ in range(15):
            idle.append(await echo(p))
            await asyncio.sleep(0.01)
        p.main.chat_bar.set_draft("")
        await begin_all(p, TEN)
        at_rest, at_work = statistics.median(idle), float("inf")
        for _ in range(5):
            busy = []
            for _ in range(20):
                busy.append(await echo(p))
                await asyncio.sleep(0.02)
            at_work = min(at_work, statistics.median(busy))
            if at_work <= max(2 * at_rest, NOISE):
                break
        print(f"key to letter: {at_rest * 1000:.1f} ms idle, {at_work * 1000:.1f} ms with ten tasks")
        assert at_work <= max(2 * at_rest, NOISE)
        assert len(p.main.conversation.runs.working) == 10
