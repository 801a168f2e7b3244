"""What somebody else wrote is never replaced unseen: a tool replaces a whole text only as the model knows it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.chat import Chat
from agent.models.scripted import ScriptedModel, ToolUse, answer
from agent.turns import ToolResultTurn
from personas.home import open_home
from personas.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(open_home(tmp_path / "home", {"PERSONA_CONFIG": str(tmp_path / "config.toml")}))
    store.create("Wren", system_prompt="First line.\n")
    return store


def by_hand(store: Store, old: str, new: str) -> None:
    path = store.path("wren")
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


async def call(store: Store, *answers: Any) -> list[ToolResultTurn]:
    """Let the model answer, and then be done; return the results of its calls."""
    chat = Chat(store, "wren", ScriptedModel([*answers, answer("done")]))
    chat.load()
    before = len(chat.turns)
    await chat.send("go")
    return [turn for turn in chat.turns[before:] if isinstance(turn, ToolResultTurn)]


def once_before(monkeypatch: pytest.MonkeyPatch, store: Store, name: str, act: Callable[[], None]) -> None:
    """Let something happen right before a method of the store is called next."""
    method = getattr(store, name)

    def first(*args: Any, **named: Any) -> Any:
        monkeypatch.setattr(store, name, method)
        act()
        return method(*args, **named)

    monkeypatch.setattr(store, name, first)


REPLACE = ToolUse("update_system_prompt", {"system_prompt": "All new.\n"})


@pytest.mark.parametrize(("moment", "is_read"), [("writer", True), ("change", True), ("change", False)])
async def test_a_prompt_written_by_hand_during_the_call_is_not_replaced(
    store: Store, monkeypatch: pytest.MonkeyPatch, moment: str, is_read: bool
) -> None:
    if is_read:
        await call(store, answer(ToolUse("get_persona")))
    once_before(monkeypatch, store, moment, lambda: by_hand(store, "First", "Mine"))
    (refused,) = await call(store, answer(REPLACE))
    assert refused.is_error and "get_persona" in refused.output
    assert store.get("wren").system_prompt == "Mine line.\n"


async def test_what_is_written_elsewhere_during_the_call_holds_nothing_up(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await call(store, answer(ToolUse("get_persona")))
    once_before(monkeypatch, store, "change", lambda: by_hand(store, '"Wren"', '"Robin"'))
    (result,) = await call(store, answer(REPLACE))
    assert not result.is_error
    assert (store.get("wren").name, store.get("wren").system_prompt) == ("Robin", "All new.\n")
