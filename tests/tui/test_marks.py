"""Several rows marked by Space, and what is then done to all of them, asked once."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.models.scripted import Hang, answer
from tests.support.program import make_store, program
from tests.support.screen import drawn
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.picker import Picker
from tui.widgets.virtual_list import MARK

THREE = {name: f'name = "{name.title()}"\nsystem_prompt = "I am {name}."\n' for name in ("a", "b", "c")}
INPUTS = 'name = "A"\nsystem_prompt = ""\n' + "".join(
    f'[[test_inputs]]\nid = "{name}"\ncontent = "content {name}"\n' for name in ("x", "y", "z")
)


async def test_marked_personas_are_deleted_after_one_question_and_none_of_them_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path, THREE)
    async with program(store) as p:
        opened: list[str] = []
        there = p.main.documents.open

        async def watched(persona_id: str, made: object = None) -> bool:
            opened.append(persona_id)
            return await there(persona_id, made)  # type: ignore[arg-type]

        monkeypatch.setattr(p.main.documents, "open", watched)
        p.main.action_go("personas")
        await p.press("space", "space")
        assert p.main.personas.rows.marked == ["a", "b"]
        assert drawn(p.main).count(MARK) == 2
        await p.press("x")
        dialog = await p.dialog(Confirm)
        assert "Delete 2 personas?" in drawn(dialog)
        await p.press("y")
        await p.until(lambda: store.ids() == ["c"])
        await p.until(lambda: p.main.documents.id == "c")
        assert p.main.personas.rows.marked == [] and opened == ["c"]
        assert len(await p.main.documents.workspace.deleted()) == 2


async def test_a_no_keeps_the_marks_and_space_and_escape_take_them_away_once_the_agent_is_stopped(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path, THREE)
    async with program(store, [*answer("I begin")[:2], Hang()]) as p:
        rows = p.main.personas.rows
        await p.say("go")
        await p.until(lambda: p.main.conversation.tasks.can_stop)
        p.main.action_go("personas")
        await p.press("space", "escape")
        await p.until(lambda: not p.main.conversation.running)
        assert rows.marked == ["a"]
        await p.press("escape")
        assert rows.marked == []
        rows.select("a")
        await p.press("space", "up", "space")
        assert rows.marked == []
        await p.press("space")
        marked = rows.marked
        await p.press("x")
        await p.dialog(Confirm)
        await p.press("n")
        await p.until(lambda: p.app.screen is p.main)
        assert store.ids() == ["a", "b", "c"]
        assert len(marked) == 1 and rows.marked == marked
        assert "clear the marks" in drawn(p.main)
        await p.press("escape")
        assert rows.marked == [] and rows.has_focus


async def test_marked_personas_are_copied_without_a_question(tmp_path: Path) -> None:
    store = make_store(tmp_path, THREE)
    async with program(store) as p:
        p.main.action_go("personas")
        await p.press("space", "down", "space", "c")
        await p.until(lambda: len(store.ids()) == 5)
        assert {store.get(key).name for key in store.ids()} >= {"A (copy)", "C (copy)"}


async def test_marked_test_inputs_are_copied_and_deleted_and_undo_brings_them_back(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"a": INPUTS})

    def contents() -> list[str]:
        return [test_input.content for test_input in store.get("a").test_inputs]

    async with program(store) as p:
        p.main.action_go("tests")
        await p.press("space", "space", "c")
        await p.until(lambda: len(contents()) == 5)
        p.main.tests.rows.select("x")
        await p.press("space", "space", "x")
        await p.dialog(Confirm)
        await p.press("y")
        await p.until(lambda: contents() == ["content z", "content x", "content y"])
        p.main.action_undo()
        await p.until(lambda: len(contents()) > 3)


async def test_marked_test_inputs_are_moved_or_copied_to_a_persona_and_one_undo_takes_both_back(
    tmp_path: Path,
) -> None:
    expected = INPUTS.replace('content = "content y"', 'content = "content y" # why\nsamples = 2')
    other = '[[test_inputs]]\nid = "y"\ncontent = "here already"\n'
    store = make_store(tmp_path, {"a": expected, "b": other, "c": 'name = "Cc"\n'})

    def ids(persona_id: str) -> list[str]:
        return [test_input.id for test_input in store.get(persona_id).test_inputs]

    async with program(store) as p:
        p.main.action_go("tests")
        await p.press("space", "space", "m")
        assert "Move 2 test inputs to" in drawn(await p.dialog(Picker))
        await p.press("b", "enter")
        await p.notified("2 test inputs moved to b. Ctrl+Z undoes it.")
        assert (ids("a"), ids("b")) == (["z"], ["y", "x", "y-2"]) and "# why\nsamples = 2" in store.text("b")
        await p.until(lambda: [row.key for row in p.main.tests.rows.rows] == ["z"])
        assert p.main.tests.rows.marked == []
        await p.press("ctrl+z")
        await p.notified("also in b")
        assert (store.text("a"), store.text("b")) == (expected, other)

        await p.until(lambda: len(p.main.tests.rows.rows) == 3)
        p.main.tests.rows.select("y")
        await p.say("/copy")
        assert "Copy y to" in drawn(await p.dialog(Picker))
        await p.press("down", "enter")
        await p.notified("1 test input copied to Cc. Ctrl+Z there undoes it.")
        assert (ids("a"), ids("c")) == (["x", "y", "z"], ["y"])
