"""The agent in a conversation of its own, beside the persona's current one: one thing at a time for each persona."""

from __future__ import annotations

import asyncio

from agent.chat.chat import Chat
from agent.models.scripted import Pause, ScriptedModel, answer
from agent.transcript.session_log import Session
from personas.store import Store
from tests.support.faulty_store import FaultyStore


def own_conversation(store: FaultyStore) -> Store:
    """A store in which the persona's conversation is one that nobody else sees."""
    Session.create(store.home.inside(store.home.sessions), "kept", session_id="own").close()
    return Store(store.home, session_id="own")


async def test_a_message_waits_for_the_agents_work_in_another_conversation_and_says_so(
    store: FaultyStore,
) -> None:
    working = Chat(own_conversation(store), "kept", ScriptedModel([answer("Work", Pause(3600))]))
    waits: list[str] = []
    chat = Chat(store, "kept", ScriptedModel([answer("Hello")]), on_wait=waits.append)
    work = asyncio.create_task(working.send("Work."))
    async with asyncio.timeout(60):
        while not any(turn.type == "user" for turn in working.turns):
            await asyncio.sleep(0.01)
        message = asyncio.create_task(chat.send("Hi."))
        while not waits:
            await asyncio.sleep(0.01)
        working.abort("enough")
        await work
        assert (await message).outcome == "completed"
    assert len(waits) == 1 and "at work for kept in another conversation (pid" in waits[0]
    assert working.session_id == "own" and store.session_of("kept") == chat.session_id != "own"


async def test_a_message_that_waits_can_be_stopped(store: FaultyStore) -> None:
    working = Chat(own_conversation(store), "kept", ScriptedModel([answer("Work", Pause(3600))]))
    waits: list[str] = []
    chat = Chat(store, "kept", ScriptedModel([answer("never")]), on_wait=waits.append)
    work = asyncio.create_task(working.send("Work."))
    async with asyncio.timeout(60):
        while not any(turn.type == "user" for turn in working.turns):
            await asyncio.sleep(0.01)
        message = asyncio.create_task(chat.send("Hi."))
        while not waits:
            await asyncio.sleep(0.01)
        chat.abort("not now")
        end = await message
        working.abort()
        await work
    assert end.outcome == "cancelled" and [turn.type for turn in chat.turns][-1:] != ["assistant_text"]
