"""What somebody else wrote is never replaced unseen: a tool replaces a whole text only as the model knows it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agent.chat.chat import Chat
from agent.core.turns import ToolResultTurn
from agent.models.offline import OfflineModel
from agent.models.scripted import Act, ScriptedModel, ToolUse, answer
from agent.transcript.user_edits import KnownPersona, content_hash
from personas.changes import AddTestInput
from personas.files.home import open_home
from personas.persona import TestInput
from personas.store import Store
from personas.versions.authorship import USER


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(open_home(tmp_path / "home", {"PERSONA_CONFIG": str(tmp_path / "config.toml")}))
    store.create("Wren", system_prompt="First line.\n")
    store.change("wren", AddTestInput("2+2?", "sum"), revision=None, by=USER)
    return store


def by_hand(store: Store, old: str, new: str) -> None:
    path = store.path("wren")
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def content(store: Store) -> str:
    return store.get("wren").test_inputs[0].content


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


def change(content: str) -> ToolUse:
    return ToolUse("update_test_input", {"id": "sum", "content": content})


LOOK = ToolUse("list_test_inputs")
DELETE = ToolUse("delete_test_input", {"id": "sum"})
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


@pytest.mark.parametrize("reader", [LOOK, ToolUse("get_test_input", {"id": "sum"}), change("1+1?")])
@pytest.mark.parametrize("write", [change("3+3?"), DELETE])
async def test_a_test_input_that_was_changed_by_hand_is_replaced_only_once_it_is_told(
    store: Store, reader: ToolUse, write: ToolUse
) -> None:
    def edit() -> None:
        by_hand(store, content(store), "What is 2+2, by hand?")

    _read, refused, made = await call(store, answer(reader), answer(Act(edit), write), answer(write))
    assert refused.is_error and "changed since" in refused.output
    assert '"What is 2+2, by hand?"' in refused.output
    assert not made.is_error
    assert "by hand" not in store.text("wren")


async def test_a_long_content_is_not_told_but_read_again(store: Store) -> None:
    edit = partial(by_hand, store, "2+2?", "by hand " * 1000)
    results = await call(
        store,
        answer(LOOK),
        answer(Act(edit), DELETE),
        answer(DELETE),
        answer(ToolUse("get_test_input", {"id": "sum"})),
        answer(DELETE),
    )
    assert [result.is_error for result in results] == [False, True, True, False, False]
    assert "get_test_input" in results[1].output and len(results[1].output) < 300


@pytest.mark.parametrize("write", [change("3+3?"), DELETE, REPLACE])
async def test_what_the_model_never_read_may_be_replaced(store: Store, write: ToolUse) -> None:
    (made,) = await call(store, answer(write))
    assert not made.is_error


async def test_what_is_written_by_hand_during_the_call_is_not_replaced_even_unread(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    once_before(monkeypatch, store, "change", lambda: by_hand(store, "2+2?", "By hand?"))
    (refused,) = await call(store, answer(change("3+3?")))
    assert refused.is_error and '"By hand?"' in refused.output


async def test_what_the_model_wrote_or_took_back_itself_is_not_stale(store: Store) -> None:
    added = ToolUse("create_test_input", {"content": "Hello?"})
    results = await call(
        store,
        answer(LOOK),
        answer(added),
        answer(change("3+3?")),
        answer(change("4+4?")),
        answer(ToolUse("update_test_input", {"id": "hello", "content": "Bye?"})),
        answer(DELETE),
    )
    assert not any(result.is_error for result in results)
    undone, *results = await call(store, answer(ToolUse("undo")), answer(change("5+5?")), answer(DELETE))
    assert undone.output.endswith('The test input "sum" says again: "2+2?"')
    assert not any(result.is_error for result in results)


async def test_what_comes_back_by_another_hand_under_a_deleted_id_is_another_content(store: Store) -> None:
    add = AddTestInput("By hand?", "sum")

    def edit() -> None:
        store.change("wren", add, revision=None, by=USER)

    results = await call(store, answer(LOOK), answer(DELETE), answer(Act(edit), change("3+3?")))
    assert [result.is_error for result in results] == [False, False, True]


async def test_a_prompt_the_model_took_its_own_change_of_back_from_is_not_stale(store: Store) -> None:
    results = await call(
        store, answer(ToolUse("get_persona")), answer(REPLACE), answer(ToolUse("undo")), answer(REPLACE)
    )
    assert not any(result.is_error for result in results)


def test_what_was_seen_is_remembered_and_a_damaged_memory_remembers_nothing(store: Store) -> None:
    seen = KnownPersona("Wren", "r", "First line.\n")
    (test_input,) = store.get("wren").test_inputs
    seen.record_input(test_input)
    seen.save(store, "s")
    assert KnownPersona.load(store, "s") == seen
    path = store.home.state / "seen-s.json"
    path.write_text(path.read_text().replace(content_hash(test_input), "other"))
    assert KnownPersona.load(store, "s").inputs == {"sum": "other"}
    path.write_text('{"prompt": "p", "inputs": {"sum": 3}}')
    assert KnownPersona.load(store, "s") == KnownPersona(prompt="p")


def test_what_was_told_of_a_hand_edit_is_known(store: Store) -> None:
    seen = KnownPersona(prompt="First line.\n")
    seen.record_input(TestInput(id="sum", content="2+2?"))
    by_hand(store, "2+2?", "By hand?")
    store.change("wren", AddTestInput("never read", "new"), revision=None, by=USER)
    seen.refresh(store.get("wren"))
    assert seen.inputs == {"sum": content_hash(TestInput(id="sum", content="By hand?"))}
    unread = KnownPersona()
    unread.refresh(store.get("wren"))
    assert unread == KnownPersona()


async def test_the_offline_model_says_what_is_there_and_goes_on_from_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = Chat(store, "wren", OfflineModel())
    once_before(monkeypatch, store, "change", lambda: by_hand(store, "2+2?", "By hand?"))
    await chat.send('change the test input "sum" to "3+3?"')
    assert "By hand?" in chat.turns[-1].content and "Ask me again" in chat.turns[-1].content
    assert content(store) == "By hand?"
    by_hand(store, "By hand?", "By hand again?")
    await chat.send('change the test input "sum" to "3+3?"')
    assert content(store) == "3+3?"
