"""Up in the chat bar before the conversation is read: it leads to what was sent once that is known."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from agent.chat.chat import Chat
from agent.models.scripted import answer
from personas.store import Store
from tests.support.program import make_store, program


async def test_up_waits_for_the_conversation_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    async with program(store, answer("Yes."), answer("Yes."), answer("Yes.")) as p:
        await p.run_to_end("first")
        await p.run_to_end("second")
        await p.open("two")
        await p.run_to_end("to another")
    go, load = threading.Event(), Chat.load

    def slowly(chat: Chat) -> None:
        go.wait(60)
        load(chat)

    monkeypatch.setattr(Chat, "load", slowly)
    async with program(store, persona_id="one", ready=False) as p:
        bar = p.main.chat_bar
        await p.until(lambda: p.main.documents is not None and bar.input.has_focus)
        await p.press("up", "up")
        assert bar.draft == ""
        go.set()
        await p.until(lambda: bar.draft == "first")
        await p.press("down", "down")
        go.clear()
        await p.pilot.pause()
        p.main.start(p.main.view.open_persona("two"))
        await p.until(lambda: p.main.documents is not None and p.main.documents.id == "two")
        await p.until(lambda: not p.main.conversation.settled.is_set())
        await p.press("up")
        assert bar.draft == "", "what was said to another is not shown"
        await p.press("x")
        go.set()
        await p.until(p.main.conversation.settled.is_set)
        assert bar.draft == "x", "a key behind it takes it back"
        await p.press("backspace", "up")
        assert bar.draft == "to another"


async def test_up_waits_for_the_home_to_be_read(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store, answer("Yes."), answer("Yes.")) as p:
        await p.run_to_end("first")
        await p.run_to_end("second")
    go = threading.Event()

    def open_slowly() -> Store:
        go.wait(60)
        return store

    async with program(store, persona_id="one", open_store=open_slowly, ready=False) as p:
        bar = p.main.chat_bar
        await p.until(lambda: bar.input.has_focus)
        await p.press("up", "up")
        assert bar.draft == ""
        go.set()
        await p.until(lambda: bar.draft == "first")
