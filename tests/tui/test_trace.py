"""The line above the chat bar says what the agent did last, as it is now."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.models.scripted import ToolUse, answer
from tests.support.program import Gate, GatedModel, Program, make_store, program
from tui.settings.schema import Settings

EDIT = answer(ToolUse("edit_system_prompt", {"old": "first line", "new": "1st line"}))
END = {"chat": answer("Done."), "task": answer(ToolUse("task_complete", {"summary": "Done."}))}


def trace(p: Program) -> str:
    return p.main.conversation.activity.trace_text()


@pytest.mark.parametrize("mode", ["chat", "task"])
async def test_it_knows_of_undo_and_of_runs_without_a_tool(tmp_path: Path, mode: str) -> None:
    async with program(make_store(tmp_path), EDIT, END[mode], answer("Hello.")) as p:
        conversation = p.main.conversation
        await p.run_to_end("/task change it" if mode == "task" else "change it")
        did = conversation.activity.trace_text()
        assert did.startswith("edit_system_prompt +1 −1 ·")
        for key, told in (("f8", ""), ("f9", did.partition(" ·")[0])):
            await p.press(key)
            await p.until(lambda told=told: conversation.activity.trace_text().partition(" ·")[0] == told)  # type: ignore[misc]
        await p.press("f8")
        await p.until(lambda: not conversation.activity.trace_text())
        await p.run_to_end("hello")
        assert conversation.activity.trace_text() == ""


async def test_what_a_run_changed_stands_over_what_it_did_afterwards(tmp_path: Path) -> None:
    looks = [answer(ToolUse(look)) for look in ("get_persona", "keep_output_visible")]
    no_such = ToolUse("edit_system_prompt", {"old": "nowhere", "new": "x"})
    async with program(make_store(tmp_path), EDIT, *looks, answer(no_such), END["chat"]) as p:
        await p.run_to_end("change it")
        assert trace(p).startswith("edit_system_prompt +1 −1 ·")


async def test_several_changes_of_a_run_are_counted_together(tmp_path: Path) -> None:
    new = ToolUse("create_test_input", {"content": "a\nb"})
    async with program(
        make_store(tmp_path), EDIT, answer(new), answer(ToolUse("get_persona")), END["chat"]
    ) as p:
        await p.run_to_end("change it")
        assert trace(p).startswith("2 changes +3 −1 ·")


async def test_a_call_that_the_person_stopped_is_nothing_that_failed(tmp_path: Path) -> None:
    settings = Settings(approval="ask-all", task_pause=0.0)
    async with program(make_store(tmp_path), EDIT, settings=settings) as p:
        await p.say("change it")
        await p.until(lambda: p.main.conversation.question is not None)
        p.main.conversation.tasks.stop()
        await p.until(lambda: not p.main.conversation.running)
        assert trace(p).startswith("edit_system_prompt not run ·")


async def test_a_run_that_changes_something_after_it_was_undone_is_not_undone(tmp_path: Path) -> None:
    gate, second = Gate(), answer(ToolUse("edit_system_prompt", {"old": "third line", "new": "3rd line"}))
    async with program(make_store(tmp_path), model=GatedModel([EDIT, [gate, *second], END["chat"]])) as p:
        await p.say("change it")
        await p.until(lambda: "1st line" in p.prompt.raw)
        await p.press("f8")
        await p.until(lambda: not trace(p))
        gate.set()
        await p.until(lambda: not p.main.conversation.running)
        assert p.on_disk("one") == "first line\nsecond line\n3rd line\n"
        assert trace(p).startswith("edit_system_prompt +1 −1 ·")
        await p.press("f8")
        await p.until(lambda: not trace(p))


async def test_one_change_has_one_count(tmp_path: Path) -> None:
    update = ToolUse("update_test_input", {"id": "note", "content": "hey"})
    files = {"one": 'name = "One"\n[[test_inputs]]\nid = "note"\ncontent = """\nhello\nyou\n"""\n'}
    async with program(make_store(tmp_path, files), answer(update), answer("Done.")) as p:
        await p.run_to_end("change it")
        assert p.main.conversation.activity.trace_text().startswith("update_test_input +1 −2 ·")
        await p.press("f8")
        await p.notified("Undone: the agent's run (test input note +1 −2)")


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
