"""What is pressed between the first picture and the end of the first reading is kept, in order, and done then."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual import events

from agent.models.scripted import answer
from personas.errors import StorageError
from personas.store import Store
from tests.tui.program import ONE, TWO, Program, make_store, program
from tests.tui.test_dialog_answers import at_once
from tests.tui.test_messages_underway import hold_up, said_to
from tui.app import emergency_save as last_resort
from tui.app import type_ahead as held_keys
from tui.app.app import PersonaApp
from tui.document.async_store import Workspace
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.picker import Pick
from tui.screens.dialogs.text_prompt import AskLine
from tui.screens.main import screen as main
from tui.screens.main.catalog import Listing
from tui.screens.main.screen import MainScreen
from tui.widgets.persona_list import PersonaEntry


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_keys, "LONGEST", 30.0)  # the machine may be slow


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


async def test_what_is_typed_for_a_pane_waits_for_it(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with slow(store) as (open_slowly, go):
        async with program(store, persona_id="two", open_store=open_slowly, ready=False) as p:
            await begun(p)
            await p.press(*"ab", "f3", *"QQ")
            p.app.post_message(events.Paste("PASTED"))
            await p.press("f4", "enter", "W", "escape", "c", "tab", "R", "f4", "c")
            assert p.main.chat_bar.draft == "ab"
            go.set()
            await p.until(lambda: p.main.tests.rows.has_focus and len(store.get("two").test_inputs) == 2)
            assert sorted(p.prompt.raw.replace("I am two.", "")) == sorted("QQPASTEDR")
            assert p.prompt.raw.count("QQPASTED") == 1
            await p.until(lambda: "W" in store.get("two").test_inputs[0].content)
            assert p.main.chat_bar.draft == "abc"


async def test_commands_wait_for_what_they_work_on_and_are_done_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    async with program(store, answer("Yes."), persona_id="one") as p:
        await p.run_to_end("first")
    monkeypatch.chdir(tmp_path)  # where an export goes
    told: list[str] = []
    tell = PersonaApp.tell

    def note(app: PersonaApp, message: str, *, error: bool = False) -> None:
        told.append(message)
        tell(app, message, error=error)

    monkeypatch.setattr(PersonaApp, "tell", note)
    monkeypatch.setattr(held_keys, "TELL_AFTER", 0.01)
    read = hold_up(monkeypatch, "one")
    with slow(store) as (open_slowly, go):
        async with program(store, persona_id="one", open_store=open_slowly, ready=False) as p:
            await begun(p)
            await p.press(*"/export", "enter")
            at_once(p, *"/unclear", "enter", "ctrl+n", "f5", "f8", "pageup", "ctrl+f", *"find me")
            await p.told("The persona is still being read")
            go.set()
            await p.until(lambda: p.main.editing is not None and p.main.editing.id == "one")
            await p.pilot.pause()
            assert len(told) == 1 and p.main.chat_bar.draft == ""
            read.set()
            await p.until(lambda: isinstance(p.app.screen, AskLine))
            await p.until(lambda: p.app.screen.query_one("Field").value == "find me")  # type: ignore[attr-defined]
            words = ("conversation is in", "no other conversation", "No other persona", "", "")
            assert all(word in said for word, said in zip(words, told[1:], strict=True)), told
            assert p.main.conversing.panel_shown


@pytest.mark.parametrize(("keys", "dialog"), [("ctrl+r", Pick), ("/clear enter", Confirm)])
async def test_a_dialog_opens_once_the_conversation_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: str, dialog: type
) -> None:
    store = make_store(tmp_path)
    async with program(store, answer("Yes."), persona_id="one") as p:
        await p.run_to_end("first")
    read = hold_up(monkeypatch, "one")
    async with program(store, persona_id="one", ready=False) as p:
        await p.until(lambda: p.main.conversing.shown_id == "one")
        await p.press("f3", "Q")
        await p.until(lambda: "Q" in p.prompt.raw)  # the prompt is there, and waits for nothing
        await p.press("escape", "ctrl+o")
        for word in keys.split():
            await p.press(*([word] if word in ("enter", "ctrl+r") else word))
        assert p.messages == [] and p.app.screen is p.main
        read.set()
        await p.dialog(dialog)
        assert p.main.conversing.panel.state.value == "pinned"


async def test_a_message_behind_a_command_goes_to_the_persona_that_it_opens(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with slow(store) as (open_slowly, go):
        async with program(store, answer("Yes."), persona_id="one", open_store=open_slowly, ready=False) as p:
            await begun(p)
            await p.press(*"/persona two", "enter", *"hello", "enter", "f3", "Q")
            go.set()
            await p.until(lambda: "hello" in said_to(store, "two"))
            await p.until(lambda: "Q" in store.get("two").system_prompt)
            assert "hello" not in said_to(store, "one") and "Q" not in store.get("one").system_prompt


@pytest.mark.parametrize("how", ["command", "switcher"])
async def test_a_message_before_a_command_goes_to_the_persona_that_the_program_began_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    store, load = make_store(tmp_path), threading.Event()

    def load_slowly(*given: Any) -> Any:
        load.wait(60)
        return load_panel(*given)

    load_panel = main._load_panel
    monkeypatch.setattr(main, "_load_panel", load_slowly)
    with slow(store) as (open_slowly, go):
        try:
            async with program(
                store, answer("Yes."), answer("Yes."), persona_id="one", open_store=open_slowly, ready=False
            ) as p:
                await begun(p)
                await p.press(*"for one", "enter")
                go.set()
                await p.until(lambda: p.main.editing is not None and p.main.editing.id == "one")
                if how == "command":
                    await p.press(*"/persona two", "enter", *"for two", "enter")
                else:
                    await p.press("ctrl+p", *"two", "enter", *"for two", "enter")
                await p.pilot.pause()
                load.set()
                await p.until(lambda: "for two" in said_to(store, "two"))
                await p.until(lambda: "for one" in said_to(store, "one"))
                assert "for one" not in said_to(store, "two") and "for two" not in said_to(store, "one")
        finally:
            load.set()


async def test_what_cannot_be_done_gives_its_text_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, refuses = Workspace.ids, True

    async def refuse(space: Workspace) -> list[str]:
        if refuses:
            raise StorageError("Not read: Input/output error.")
        return await ids(space)

    monkeypatch.setattr(Workspace, "ids", refuse)
    monkeypatch.setattr("tui.screens.main.screen.LOOK_EVERY", 0.05)
    store = make_store(tmp_path)
    with slow(store) as (open_slowly, go):
        async with program(store, persona_id="one", open_store=open_slowly, ready=False) as p:
            await begun(p)
            await p.press(*"ab", "f3", *"Q Q", *"/export", "enter")
            go.set()
            await p.told("it stands in the chat bar")
            assert p.main.chat_bar.draft == "ab\nQ Q/export"
            await p.press("f3")
            await p.told("That cannot be done: Not read: Input/output error.")
            await p.press("x", "ctrl+c", *"/export", "enter")
            await p.until(lambda: p.main.chat_bar.draft == "/export")
            refuses = False
            await p.until(lambda: p.main.conversing.talk is not None)
            await p.press("f3", "Q")
            await p.until(lambda: "Q" in store.get("one").system_prompt)


async def test_what_is_typed_for_a_file_that_turns_out_broken_stands_in_the_chat_bar(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"one": ONE + "broken"})
    with slow(store) as (open_slowly, go):
        async with program(store, persona_id="one", open_store=open_slowly, ready=False) as p:
            await begun(p)
            await p.press(*"ab", "f3", *"QQ", "enter", "R", "escape", "c")
            go.set()
            await p.told("it stands in the chat bar")
            assert p.main.chat_bar.draft == "abc\nQQ\nR"


async def test_what_waits_outlives_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, str] = {}
    monkeypatch.setattr(last_resort, "write_texts", kept.update)
    store = make_store(tmp_path, {"two": TWO})
    with slow(store) as (open_slowly, _):
        async with program(store, open_store=open_slowly, ready=False) as p:
            await begun(p)
            await p.press(*"ab", "f3", *"QQ", "f4", "enter", "ctrl+c")
            assert p.app.is_running
            await p.press("ctrl+c")  # as in a program that waits for nothing, twice quits
            await p.until(lambda: not p.app.is_running)
    assert kept == {"the draft": "ab\nQQ"}


async def test_a_question_that_comes_meanwhile_has_its_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Confirm, "grace", 0.0)
    offer, answers = threading.Event(), list[bool]()

    def find() -> Path:
        offer.wait(60)
        return tmp_path

    store = make_store(tmp_path)
    async with program(store, find_offer=find, accept=answers.append, persona_id="one", ready=False) as p:
        await begun(p)
        await p.press("f3", "Q")
        offer.set()
        await p.dialog(Confirm)
        await p.press("y")
        await p.until(lambda: answers == [True])
        await p.until(lambda: "Q" in store.get("one").system_prompt)


async def test_what_needs_nothing_of_the_home_waits_for_nothing(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with slow(store) as (open_slowly, _):
        async with program(store, open_store=open_slowly, ready=False) as p:
            await begun(p)
            await p.press("f1")
            await p.until(lambda: not isinstance(p.app.screen, MainScreen))
            await p.press("escape", *"/he", "tab")
            await p.until(lambda: p.main.chat_bar.draft == "/help")


async def test_a_persona_is_opened_by_its_name_also_before_all_names_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    read = Listing.read

    def read_late(self: Listing, ids: Sequence[str]) -> list[PersonaEntry]:
        assert go.wait(60)
        return read(self, ids)

    monkeypatch.setattr(Listing, "read", read_late)
    store = make_store(tmp_path, {"one": ONE, "other": TWO.replace('"Two"', '"The Sécond"')})
    try:
        async with program(store, persona_id="one") as p:
            p.main.chat_bar.set_draft("/persona the  Sécond".replace("é", "e\u0301"))
            at_once(p, "enter", *"hi")
            await p.pilot.pause()
            go.set()
            await p.until(lambda: p.main.editing is not None and p.main.editing.id == "other")
            await p.until(lambda: p.main.chat_bar.draft == "hi")
            assert p.app.screen is p.main
    finally:
        go.set()


async def test_a_persona_that_is_not_there_is_said_and_what_is_typed_behind_stands_in_the_chat_bar(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path)) as p:
        p.main.chat_bar.set_draft("/persona nobody here")
        at_once(p, "enter", *"hi")
        await p.told("No persona is called nobody here.")
        await p.until(lambda: p.main.chat_bar.draft == "hi")
        assert p.app.screen is p.main
