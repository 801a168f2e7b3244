"""The line above the chat bar says what the agent did last, as it is now."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.models.scripted import ToolUse, answer
from tests.tui.program import make_store, program

EDIT = answer(ToolUse("edit_system_prompt", {"old": "first line", "new": "1st line"}))
END = {"chat": answer("Done."), "task": answer(ToolUse("task_complete", {"summary": "Done."}))}


@pytest.mark.parametrize("mode", ["chat", "task"])
async def test_it_knows_of_undo_and_of_runs_without_a_tool(tmp_path: Path, mode: str) -> None:
    async with program(make_store(tmp_path), EDIT, END[mode], answer("Hello.")) as p:
        conversing = p.main.conversing
        await p.run_to_end("/task change it" if mode == "task" else "change it")
        did = conversing.trace_text()
        assert did.startswith("edit_system_prompt +1 −1 ·" if mode == "chat" else "task_complete ·")
        for key, told in (("f8", "the agent's run is undone ·"), ("f9", did.partition(" ·")[0] + " ·")):
            await p.press(key)
            await p.until(lambda told=told: conversing.trace_text().startswith(told))  # type: ignore[misc]
        await p.press("f3", "ctrl+z")
        await p.until(lambda: conversing.trace_text().startswith("the agent's run is undone ·"))
        await p.run_to_end("hello")
        assert conversing.trace_text() == ""


async def test_one_change_has_one_count(tmp_path: Path) -> None:
    update = ToolUse("update_test_input", {"id": "note", "content": "hey"})
    files = {"one": 'name = "One"\n[[test_inputs]]\nid = "note"\ncontent = """\nhello\nyou\n"""\n'}
    async with program(make_store(tmp_path, files), answer(update), answer("Done.")) as p:
        await p.run_to_end("change it")
        assert p.main.conversing.trace_text().startswith("update_test_input +1 −2 ·")
        await p.press("f8")
        await p.told("Undone: the agent's run (test input note +1 −2)")


async def test_undo_goes_on_before_a_task_that_was_undone_out_of_its_turn(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    second = answer(ToolUse("edit_system_prompt", {"old": "third line", "new": "3rd line"}))
    async with program(store, EDIT, END["chat"], second, END["task"]) as p:
        await p.run_to_end("change it")
        p.prompt.move_cursor((1, 0))
        p.prompt.focus()
        await p.write("x")
        await p.run_to_end("/task change it")
        await p.press("f8")
        await p.until(lambda: "third line" in p.prompt.raw)
        await p.press("f3", "ctrl+z")
        await p.until(lambda: "xsecond" not in p.prompt.raw)
        assert "1st line" in p.prompt.raw
