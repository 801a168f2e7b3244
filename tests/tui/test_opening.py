"""A persona and a dialog are there before the disk has answered: what is typed then is for them, and nothing is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.models.scripted import answer
from personas.errors import StorageError
from personas.store import Store
from tests.support.program import Program, make_store, program
from tests.support.screen import at_once
from tests.tui.test_outbox import hold_up, said_to
from tui.app import emergency_save
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.text_prompt import AskLine
from tui.screens.main.persona_catalog import CatalogReader


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


@contextmanager
def slow(store: Store) -> Iterator[tuple[Callable[[], Store], threading.Event]]:
    """A way to open the home that waits for the event."""
    go = threading.Event()

    def open_slowly() -> Store:
        go.wait(60)
        return store

    try:
        yield open_slowly, go
    finally:
        go.set()


async def begun(p: Program) -> None:
    await p.until(lambda: p.main.is_mounted and p.main.chat_bar.input.has_focus)


async def go_to_list(p: Program) -> None:
    p.main.action_go("personas")
    await p.until(lambda: p.main.personas.rows.has_focus)


# -- another persona ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["switcher", "command", "list"])
async def test_what_is_typed_behind_a_change_of_persona_is_for_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    store = make_store(tmp_path)
    async with program(store, answer("Yes."), persona_id="one") as p:
        before = p.file("one").read_text()
        if way == "list":
            await go_to_list(p)
        keys = {
            "switcher": ["ctrl+p", *"two", "enter"],
            "command": [*"/persona two", "enter"],
            "list": ["down", "enter"],
        }[way]
        disk = SlowDisk(monkeypatch, "get", "two")
        at_once(p, *keys, *"hello", "enter", "f3", *"QQ")
        await p.until(lambda: p.prompt.raw == "QQ")
        assert p.main.documents is not None and (p.main.documents.id, p.state) == ("two", "reading")
        disk.goes_on.set()
        await p.until(lambda: "hello" in said_to(store, "two"))
        await p.until(lambda: p.on_disk("two") == "QQI am two.")
        assert p.prompt.cursor_location == (0, 2)
        assert p.file("one").read_text() == before and "hello" not in said_to(store, "one")


@pytest.mark.parametrize(
    ("keys", "what", "about", "opened"),
    [
        (["n", *"Three", "enter"], "create", "Three", "three"),
        (["c", "end", *"3", "enter"], "create", "One (copy)3", "one-copy-3"),
        (["x", "y"], "delete", "one", "two"),
    ],
)
async def test_what_is_typed_behind_what_makes_or_deletes_a_persona_is_for_the_one_that_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: list[str], what: str, about: str, opened: str
) -> None:
    monkeypatch.setattr(Confirm, "grace", 0.0)
    async with program(make_store(tmp_path), persona_id="one") as p:
        before = p.file("one").read_text()
        await go_to_list(p)
        disk = SlowDisk(monkeypatch, what, about)
        at_once(p, *keys, "f3", *"QQQ")
        await p.until(lambda: "QQQ" in p.prompt.raw)
        disk.goes_on.set()
        await p.until(lambda: p.main.documents is not None and p.main.documents.id == opened)
        await p.until(lambda: "QQQ" in p.on_disk(opened))
        assert what == "delete" or p.file("one").read_text() == before


async def test_what_was_typed_for_a_persona_that_cannot_be_opened_is_kept_until_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    async with program(store, persona_id="one") as p:
        with monkeypatch.context() as patch:
            disk = SlowDisk(patch, "get", "two")
            disk.refuses = True
            at_once(p, "ctrl+p", *"two", "enter", "f3", *"QQQ")
            await p.until(lambda: p.prompt.raw == "QQQ")
            disk.goes_on.set()
            await p.notified("Input/output error.")
            await p.until(lambda: p.main.conversation.shown_id == "one")
            assert p.main.documents is not None and p.main.documents.id == "one"
            assert p.prompt.raw.startswith("first line")
        await p.open("two")
        await p.until(lambda: p.on_disk("two") == "QQQI am two.")
        assert "QQQ" not in p.on_disk("one")


async def test_what_was_typed_for_a_persona_that_cannot_be_made_stands_in_the_chat_bar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    async with program(store, persona_id="one") as p:
        disk = SlowDisk(monkeypatch, "create", "Three")
        disk.refuses = True
        at_once(p, *"/new", "enter", *"Three", "enter", *"said", "enter", "f3", *"QQQ")
        await p.until(lambda: p.prompt.raw == "QQQ")
        disk.goes_on.set()
        await p.notified("Your text is in the chat bar")
        await p.until(lambda: p.main.chat_bar.draft == "said\nQQQ")
        assert p.main.documents is not None and p.main.documents.id == "one" and store.ids() == ["one", "two"]


async def test_esc_right_behind_an_opening_closes_it(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), persona_id="one") as p:
        at_once(p, "ctrl+p", *"two", "escape", *"hi")
        await p.until(lambda: p.main.chat_bar.draft == "hi")
        assert p.app.screen is p.main and p.main.documents is not None and p.main.documents.id == "one"


# -- the first moments --------------------------------------------------------------------------------------


async def test_what_is_typed_before_the_home_is_read_goes_into_the_first_persona(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with slow(store) as (open_slowly, go):
        async with program(store, answer("Yes."), persona_id="two", open_store=open_slowly, ready=False) as p:
            await begun(p)
            await p.press(*"hello", "enter", *"ab")
            at_once(p, "f3", *"QQ")
            await p.until(lambda: p.prompt.raw == "QQ")
            assert p.main.chat_bar.draft == "ab"
            go.set()
            await p.until(lambda: p.on_disk("two") == "QQI am two.")
            await p.until(lambda: "hello" in said_to(store, "two"))
            assert p.main.chat_bar.draft == "ab"


async def test_a_persona_chosen_in_the_first_moments_is_shown_once_it_is_known(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with slow(store) as (open_slowly, go):
        async with program(store, persona_id="one", open_store=open_slowly, ready=False) as p:
            await begun(p)
            at_once(p, "ctrl+p", *"two", "enter")
            await p.until(lambda: p.app.screen is not p.main)
            go.set()
            await p.until(lambda: p.main.documents is not None and p.main.documents.id == "two")
            await p.until(lambda: p.app.screen is p.main)


async def test_a_persona_is_opened_by_its_name_also_before_all_names_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, read = threading.Event(), CatalogReader.read
    monkeypatch.setattr(CatalogReader, "read", lambda *given: go.wait(60) and read(*given))
    store = make_store(tmp_path, {"one": 'name = "One"\n', "other": 'name = "The Second"\n'})
    try:
        async with program(store, persona_id="one") as p:
            p.main.chat_bar.set_draft("/persona the  Second")
            await p.press("enter")
            await p.until(lambda: p.app.screen is not p.main)
            go.set()
            await p.until(lambda: p.main.documents is not None and p.main.documents.id == "other")
            await p.until(lambda: p.app.screen is p.main)
    finally:
        go.set()


async def test_what_was_typed_before_the_home_was_read_outlives_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: dict[str, str] = {}
    monkeypatch.setattr(emergency_save, "write_texts", kept.update)
    store = make_store(tmp_path)
    with slow(store) as (open_slowly, _):
        async with program(store, open_store=open_slowly, ready=False) as p:
            await begun(p)
            await p.press("f3", *"QQ", "ctrl+c", "ctrl+c")
            await p.until(lambda: not p.app.is_running)
    assert kept == {"the draft": "QQ"}


async def test_a_dialog_on_the_conversation_is_there_before_that_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    async with program(store, answer("Yes."), persona_id="one") as p:
        await p.run_to_end("first")
    for keys, dialog in ("ctrl+r", Picker), ("ctrl+f", AskLine), ("/clear enter", Confirm):
        with monkeypatch.context() as patch:
            read = hold_up(patch, "one")
            async with program(store, persona_id="one", ready=False) as p:
                await p.until(lambda: p.main.conversation.shown_id == "one")
                for word in keys.split():
                    await p.press(*([word] if "+" in word or word == "enter" else word))
                asked = await p.dialog(dialog)
                read.set()
                await p.until(p.main.conversation.settled.is_set)
                if dialog is Picker:
                    await p.until(lambda asked=asked: asked._rows)
                await p.press(*"first" if dialog is AskLine else (), "enter")
                await p.until(lambda: p.app.screen is p.main)
                if dialog is Picker:
                    assert p.main.chat_bar.draft == "first"
                    p.main.chat_bar.set_draft("")
                elif dialog is AskLine:
                    await p.notified("found")
                else:
                    await p.notified("A new conversation begins")
