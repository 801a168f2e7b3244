"""What is found, recalled and undone: the turn that was looked for, the draft that was there, the order of things."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.chat.chat import Chat
from agent.models.scripted import ScriptedModel, ToolUse, answer
from personas.store import Store
from tests.support.program import Program, make_store, program

NAME = ToolUse("update_persona_name", {"name": "Sunny"})


pytestmark = pytest.mark.usefixtures("quick_typing")


async def test_the_cursor_of_reading_mode_stands_on_the_turn_that_was_found(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer("A needle."), answer("Another message.")) as p:
        await p.run_to_end("first")
        await p.run_to_end("second")
        await p.press("ctrl+f")
        await p.answer("needle")
        await p.until(lambda: p.main.conversation.panel_controller.reading)
        assert p.main.conversation.view.cursor_text() == "A needle."
        await p.press("ctrl+f")
        await p.answer("nowhere at all")
        await p.notified("Not found")
        assert p.main.conversation.panel_controller.reading, "it was read before that"


@pytest.fixture
async def long_ago(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A home with a conversation of which the program reads only the end at first."""
    monkeypatch.setattr("agent.transcript.session_store.RECENT_TURNS", 4)
    store = make_store(tmp_path)
    chat = Chat(store, "one", ScriptedModel([answer(f"answer {n}") for n in range(30)]))
    chat.load()
    for number in range(30):
        await chat.send(f"message {number}.")
    await chat.close()
    return store


async def test_what_was_said_long_ago_is_found_too(long_ago: Store) -> None:
    async with program(long_ago) as p:
        view = p.main.conversation.view
        await p.press("ctrl+f")
        await p.answer("message 1.")
        await p.notified("1 found")
        assert p.main.conversation.panel_controller.reading and view.cursor_text() == "message 1."
        await p.until(lambda: any("message 1." in view.render_line(y).text for y in range(view.size.height)))


async def test_the_first_turn_is_the_first_of_all_and_who_reads_on_stays_where_they_are(
    long_ago: Store,
) -> None:
    async with program(long_ago) as p:
        view = p.main.conversation.view
        await p.press("ctrl+o", "ctrl+o", "k")
        assert view.cursor_text() == "message 29."
        await p.main.conversation.history.load_older()
        assert len(view.layout_model.entries) == 60 and view.cursor_text() == "message 29."
        assert view.following
        await p.press("g")
        await p.until(lambda: view.cursor == 0 and view.scroll_offset.y == 0)
        assert view.cursor_text() == "message 0."
        await p.press("G")
        await p.until(lambda: view.cursor == 59 and view.following)
        assert view.cursor_text() == "answer 29", "what is copied is what is seen"


async def test_a_draft_is_not_lost_to_a_message_that_is_recalled(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer("Yes.")) as p:
        await p.run_to_end("alpha")
        p.main.focus_chat()
        p.main.chat_bar.set_draft("unsent draft")
        await p.press("ctrl+r")
        await p.until(lambda: p.app.screen is not p.main)
        await p.press("enter")
        await p.until(lambda: p.app.screen is p.main and p.main.chat_bar.draft == "alpha")
        await p.press("ctrl+c")
        assert p.main.chat_bar.draft == "unsent draft"


async def saved(p: Program, words: str, name: str) -> None:
    await p.until(lambda: (p.store.get("one").system_prompt, p.store.get("one").name) == (words, name))


async def test_in_the_prompt_undo_takes_typing_back_and_f8_a_run_that_changed_only_the_name(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path, {"one": 'name = "One"\nsystem_prompt = "words"\n'})
    async with program(store, answer(NAME), answer("Done.")) as p:
        p.main.set_focus(p.prompt)
        await p.write("A ")
        await saved(p, "A words", "One")
        await p.run_to_end("call it Sunny")
        await saved(p, "A words", "Sunny")
        p.main.set_focus(p.prompt)
        await p.write("B ")
        await saved(p, "A B words", "Sunny")
        for words in ("A words", "words"):
            await p.press("ctrl+z")
            await saved(p, words, "Sunny")
        await p.press("ctrl+z")
        await p.until(lambda: any("nothing to undo" in message.lower() for message in p.messages))
        await saved(p, "words", "Sunny")
        await p.press("f8")
        await saved(p, "words", "One")
        await p.press("f9")
        await saved(p, "words", "Sunny")
        for words in ("A words", "A B words"):
            await p.press("ctrl+y")
            await saved(p, words, "Sunny")
