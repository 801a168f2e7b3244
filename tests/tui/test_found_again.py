"""What is found, recalled and undone: the turn that was looked for, the draft that was there, the order of things."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.models.scripted import ToolUse, answer
from tests.tui.program import Program, make_store, program
from tui.widgets import text_editor

NAME = ToolUse("update_persona_name", {"name": "Sunny"})


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_editor, "PAUSE", 0.02)


async def test_the_cursor_of_reading_mode_stands_on_the_turn_that_was_found(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer("A needle."), answer("Another message.")) as p:
        await p.run_to_end("first")
        await p.run_to_end("second")
        await p.press("ctrl+f")
        await p.answer("needle")
        await p.until(lambda: p.main.conversing.reading)
        assert p.main.conversing.view.cursor_text() == "A needle."
        await p.press("ctrl+f")
        await p.answer("nowhere at all")
        await p.told("Not found")
        assert p.main.conversing.reading, "it was read before that"


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


async def test_a_run_that_changed_only_the_name_is_undone_in_its_place_from_the_prompt(
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
        back = [("A words", "Sunny"), ("A words", "One"), ("words", "One")]
        for state in back:
            await p.press("ctrl+z")
            await saved(p, *state)
        await p.press("ctrl+z")
        await p.until(lambda: any("nothing to undo" in message.lower() for message in p.messages))
        await saved(p, "words", "One")
        for state in [*back[1::-1], ("A B words", "Sunny")]:
            await p.press("ctrl+y")
            await saved(p, *state)
