"""`u` in reading mode undoes what the run of the turn under the cursor changed, whatever was done since."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.models.scripted import Script, ToolUse, answer
from tests.support.program import Program, make_store, program

FIRST, SECOND = "first line", "third line"


DONE = answer(ToolUse("task_complete", {"summary": "Done."}))


def edit(old: str, new: str, end: Script | None = None) -> list[Script]:
    """A run that edits the prompt."""
    return [
        answer(ToolUse("edit_system_prompt", {"old": old, "new": new})),
        end or answer(f"It is {new} now."),
    ]


async def read_at(p: Program, words: str) -> None:
    """Read the output, the cursor on the last turn with these words."""
    conversation = p.main.conversation
    if not conversation.panel_controller.reading:
        conversation.panel_controller.start_reading()
    view = conversation.view
    entries = view.layout_model.entries
    place = max(at for at, entry in enumerate(entries) if words in entry.text())
    view.move_cursor(place - (view.cursor or 0))
    assert words in view.cursor_text()


def with_words(*words: str) -> str:
    return "".join(f"{word}\n" for word in words)


@pytest.mark.parametrize("mode", ["chat", "task"])
async def test_u_undoes_the_run_of_the_turn_under_the_cursor(tmp_path: Path, mode: str) -> None:
    store = make_store(tmp_path)
    end = DONE if mode == "task" else answer("There it is.")
    runs = [*edit(FIRST, "1st line", end), *edit(SECOND, "3rd line", end), end]
    async with program(store, *runs, size=(110, 40)) as p:
        begin = "/task " if mode == "task" else ""
        for message in ("say 1st", "say 3rd", "look"):
            await p.run_to_end(f"{begin}{message}")
        await p.until(lambda: p.on_disk("one") == with_words("1st line", "second line", "3rd line"))

        await read_at(p, "look")
        await p.press("u")
        await p.notified("changed nothing")

        await read_at(p, "say 1st")
        await p.press("u")
        await p.notified("Undone: the agent's run")
        assert p.on_disk("one") == with_words("first line", "second line", "3rd line")
        assert p.prompt.raw == p.on_disk("one")

        await p.press("u")
        await p.notified("undone already")
        assert p.on_disk("one") == with_words("first line", "second line", "3rd line")

        p.main.action_redo_agent()
        await p.until(lambda: p.on_disk("one") == with_words("1st line", "second line", "3rd line"))


async def test_u_undoes_the_run_of_a_turn_that_an_earlier_program_left(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store, *edit(FIRST, "1st line"), *edit(SECOND, "3rd line")) as p:
        await p.run_to_end("say 1st")
        await p.run_to_end("say 3rd")
    async with program(store) as p:
        await read_at(p, "It is 1st line now.")
        await p.press("u")
        await p.until(lambda: p.on_disk("one") == with_words("first line", "second line", "3rd line"))
