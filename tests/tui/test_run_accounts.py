"""What a run tells: a fault in it without secrets, and what it cost at the price of the model that answered."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from agent.core.model import Usage
from agent.models.offline import OfflineModel
from agent.models.prices import cost
from agent.models.scripted import answer
from tests.support.program import Gate, GatedModel, Program, make_store, program
from tui.screens.dialogs.confirm import Confirm
from tui.terminal.secrets import keep_out
from tui.widgets.footer import KeyLine


async def test_a_fault_in_a_run_is_told_without_secrets_and_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("tui.terminal.secrets._typed", set())
    keep_out("typed-as-a-key-123")

    async def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("bad header: Bearer sk-verysecret123456, typed-as-a-key-123")

    async with program(make_store(tmp_path), answer("Yes.")) as p:
        p.main.conversation.conversations.runner.start = fail  # type: ignore[union-attr, method-assign, assignment]
        await p.run_to_end("hello")
        log = tmp_path / "state" / "persona-editor" / "fault.log"
        await p.until(log.exists)
        told = "\n".join(entry.text() for entry in p.main.conversation.view.layout_model.entries)
        assert "RuntimeError: bad header: " in told
        assert p.main.chat_bar.draft == "hello"
        await p.until(lambda: "RuntimeError" in log.read_text())
    for text in (told, log.read_text()):
        assert "verysecret" not in text and "typed-as-a-key" not in text


async def test_a_run_costs_what_the_model_takes_that_answered_it(tmp_path: Path) -> None:
    class Priced(GatedModel):
        name = "claude-opus-5-5"
        endpoint = "https://api.anthropic.com"

    gate, usage = Gate(), Usage(input_tokens=1_000_000, output_tokens=1_000_000)
    model = Priced([[gate, *answer("Yes.", usage=usage)]])
    async with program(make_store(tmp_path), model=model) as p:
        await p.say("hello")
        await p.until(lambda: model.requests)
        p.app._take_model(OfflineModel())
        gate.set()
        await p.until(lambda: not p.main.conversation.running)
        price, talk = cost("claude-opus-5-5", usage, model.endpoint), p.main.conversation.current
        assert price and talk is not None and talk.cost == price


async def test_no_key_looks_on_the_disk_where_nothing_was_said_yet(tmp_path: Path) -> None:
    looked: list[str] = []
    store = make_store(tmp_path)
    store.watch("session_of", lambda: looked.append(threading.current_thread().name))
    async with program(store) as p:
        p.main.action_go("prompt")
        await p.until(lambda: p.prompt.has_focus)
        looked.clear()
        await p.write("abc")
        p.main.focus_chat()
        await p.write("abc")
        assert threading.main_thread().name not in looked


async def test_the_line_at_the_bottom_tells_what_the_open_conversation_took(tmp_path: Path) -> None:
    def took(p: Program) -> str:
        return str(p.main.query_one(KeyLine)._note).partition(" · ")[2]

    answers = [answer("Yes.", usage=Usage(output_tokens=tokens)) for tokens in (252, 30)]
    async with program(make_store(tmp_path), *answers) as p:
        await p.run_to_end("hello")
        await p.until(lambda: took(p) == "252 tok")
        p.main.action_clear_conversation()
        await p.dialog(Confirm)
        await p.press("y")
        await p.until(lambda: took(p) == "")
        await p.run_to_end("hello again")
        await p.until(lambda: took(p) == "30 tok")
        p.main.action_unclear_conversation()
        await p.until(lambda: took(p) == "252 tok")
