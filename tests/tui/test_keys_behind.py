"""What is pressed behind a command that leads elsewhere waits until it is there, however long a disk takes."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from textual import events

from agent.models.scripted import answer
from personas.errors import StorageError
from personas.store import Store
from tests.tui.program import Program, make_store, program
from tests.tui.test_dialog_answers import at_once
from tests.tui.test_messages_underway import said_to
from tui.app import emergency_save as last_resort
from tui.app import type_ahead as held_keys
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.help import Help

SLOW = "What you asked for takes a while"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_keys, "LONGEST", 0.1)
    monkeypatch.setattr(held_keys, "LONGEST_CLOSING", 0.05)
    monkeypatch.setattr(held_keys, "SLOW_AFTER", 0.2)
    monkeypatch.setattr(Confirm, "grace", 0.0)


class SlowDisk:
    """Lets one thing that the store does for a persona wait, and fail if that is wanted."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, what: str, about: str = "") -> None:
        self.goes_on, self.refuses = threading.Event(), False
        do = getattr(Store, what)

        def slowly(store: Store, first: Any, *arguments: Any, **named: Any) -> Any:
            if about in ("", first):
                self.goes_on.wait(60)
                if self.refuses:
                    raise StorageError("Input/output error.")
            return do(store, first, *arguments, **named)

        monkeypatch.setattr(Store, what, slowly)


def keys_of(words: str) -> list[str]:
    """Return keys as they are pressed: names stand between spaces, a text between quotes."""
    keys: list[str] = []
    for word in words.split():
        keys += word.strip("'").replace("_", " ") if word.startswith("'") else [word]
    return keys


async def go_to_list(p: Program) -> None:
    p.main.action_go("personas")
    await p.until(lambda: p.main.personas.rows.has_focus)


@pytest.mark.parametrize("way", ["ctrl+p 'two' enter", "'/persona_two' enter", "list down enter"])
async def test_what_is_pressed_behind_a_change_of_persona_is_for_that_persona(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    store = make_store(tmp_path)
    async with program(store, answer("Yes."), persona_id="one") as p:
        before = p.file("one").read_text()
        if way.startswith("list"):
            await go_to_list(p)
            way = way.removeprefix("list")
        disk = SlowDisk(monkeypatch, "get", "two")
        at_once(p, *keys_of(f"{way} 'hello' enter f3"))
        p.app.post_message(events.Paste("PASTED"))
        at_once(p, *keys_of("f4 enter 'W'"))
        await p.told(SLOW)
        assert p.main.editing is not None and p.main.editing.id == "one"
        disk.goes_on.set()
        await p.until(lambda: "hello" in said_to(store, "two"))
        await p.until(lambda: "PASTED" in p.on_disk("two") and "W" in store.get("two").test_inputs[0].content)
        assert p.file("one").read_text() == before and "hello" not in said_to(store, "one")


@pytest.mark.parametrize(
    ("keys", "what", "about", "opened"),
    [
        ("n 'Three' enter", "create", "Three", "three"),
        ("c end '_3' enter", "create", "One (copy) 3", "one-copy-3"),
        ("x y", "delete", "one", "two"),
        ("c enter", "get", "one", "one-copy"),
    ],
)
async def test_so_is_what_is_pressed_behind_a_deed_that_opens_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: str, what: str, about: str, opened: str
) -> None:
    async with program(make_store(tmp_path), persona_id="one") as p:
        before = p.file("one").read_text()
        await go_to_list(p)
        disk = SlowDisk(monkeypatch, what, about)
        at_once(p, *keys_of(f"{keys} f3 'QQQ'"))
        await p.told(SLOW)
        assert p.main.editing is not None and p.main.editing.id == "one"
        disk.goes_on.set()
        await p.until(lambda: p.main.editing is not None and p.main.editing.id == opened)
        await p.until(lambda: "QQQ" in p.on_disk(opened))
        assert what == "delete" or p.file("one").read_text() == before


@pytest.mark.parametrize(
    ("keys", "what", "about"),
    [
        ("ctrl+p 'two' enter", "get", "two"),
        ("'/new' enter 'Three' enter", "create", "Three"),
        ("list x y", "delete", "one"),
    ],
)
async def test_what_was_typed_for_what_does_not_come_stands_in_the_chat_bar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: str, what: str, about: str
) -> None:
    store = make_store(tmp_path)
    async with program(store, persona_id="one") as p:
        if keys.startswith("list"):
            await go_to_list(p)
            keys = keys.removeprefix("list")
        disk = SlowDisk(monkeypatch, what, about)
        disk.refuses = True
        at_once(p, *keys_of(f"{keys} f3 'QQQ' enter"))
        p.app.post_message(events.Paste("PASTED"))
        await p.told(SLOW)
        disk.goes_on.set()
        await p.told("it stands in the chat bar")
        assert any("Input/output error." in message for message in p.messages)
        assert p.main.chat_bar.draft == "QQQ\nPASTED" and "QQQ" not in p.prompt.raw
        assert p.app.screen is p.main and store.ids() == ["one", "two"]


async def test_esc_ends_the_waiting_and_gives_the_text_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path), persona_id="one") as p:
        disk = SlowDisk(monkeypatch, "get", "two")
        at_once(p, *keys_of("ctrl+p 'two' enter f3 'QQQ'"))
        await p.told(SLOW)
        await p.press("R")
        assert p.main.chat_bar.draft == ""
        await p.press("escape")
        await p.told("What you typed stands in the chat bar.")
        assert p.main.chat_bar.draft == "QQQR"
        await p.press("S")
        assert p.main.chat_bar.draft == "QQQRS"
        disk.goes_on.set()
        await p.open("one")
        await p.pilot.pause()
        assert p.main.editing is not None and p.main.editing.id == "one" and p.main.chat_bar.draft == "QQQRS"
        at_once(p, *keys_of("ctrl+p 'two' enter f3 'T'"))
        await p.until(lambda: "T" in p.on_disk("two"))


async def test_a_new_persona_that_is_not_waited_for_is_made_and_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    async with program(store, persona_id="one") as p:
        disk = SlowDisk(monkeypatch, "create", "Three")
        at_once(p, *keys_of("'/new' enter 'Three' enter"))
        await p.told(SLOW)
        await p.press("escape", "a")
        await p.told("not waited for")
        disk.goes_on.set()
        await p.until(lambda: "three" in p.main.personas.entries)
        await p.pilot.pause()
        assert p.main.editing is not None and p.main.editing.id == "one" and p.main.chat_bar.draft == "a"


async def test_esc_that_came_in_one_read_with_the_command_keeps_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path), persona_id="one") as p:
        disk = SlowDisk(monkeypatch, "get", "two")
        at_once(p, *keys_of("ctrl+p 'two' enter f3 'Q' escape 'hi'"))
        await p.told(SLOW)
        disk.goes_on.set()
        await p.until(lambda: p.main.chat_bar.draft == "hi" and "Q" in p.on_disk("two"))


async def test_ctrl_c_works_while_something_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: dict[str, str] = {}
    monkeypatch.setattr(last_resort, "write_texts", kept.update)
    async with program(make_store(tmp_path), persona_id="one") as p:
        disk = SlowDisk(monkeypatch, "get", "two")
        at_once(p, *keys_of("ctrl+p 'two' enter f3 'QQQ'"))
        await p.told(SLOW)
        await p.press("ctrl+c")
        await p.told("again to quit")
        await p.press("ctrl+c")
        await p.until(lambda: not p.app.is_running)
        disk.goes_on.set()
    assert "QQQ" not in p.on_disk("one") + p.on_disk("two")
    async with program(p.store, persona_id="one") as p:
        assert p.main.chat_bar.draft == "QQQ"


async def test_a_dialog_that_comes_meanwhile_has_its_keys_and_takes_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path), persona_id="one") as p:
        disk = SlowDisk(monkeypatch, "get", "two")
        at_once(p, *keys_of("ctrl+p 'two' enter f3 'Q'"))
        await p.told(SLOW)
        p.main.action_help()
        await p.dialog(Help)
        disk.goes_on.set()
        await p.until(lambda: p.main.editing is not None and p.main.editing.id == "two")
        assert isinstance(p.app.screen, Help) and "Q" not in p.prompt.raw
        await p.press("escape")
        await p.until(lambda: "Q" in p.on_disk("two"))


async def test_a_message_behind_a_change_of_model_goes_to_that_model(tmp_path: Path) -> None:
    go, made = threading.Event(), list[str]()
    from agent.models.scripted import ScriptedModel

    models = {name: ScriptedModel([answer("Yes.")]) for name in ("", "other")}

    def make(name: str) -> ScriptedModel:
        if name:
            go.wait(60)
        made.append(name)
        return models[name]

    store = make_store(tmp_path)
    async with program(store, make_model=make, persona_id="one") as p:
        at_once(p, *keys_of("'/model_other' enter 'hello' enter"))
        await p.told(SLOW)
        assert "hello" not in said_to(store, "one")
        go.set()
        await p.until(lambda: "hello" in said_to(store, "one"))
        await p.until(lambda: models["other"].requests)
        assert not models[""].requests
