"""Whether Enter begins a task is seen at the chat bar, whatever is typed, and is switched there."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.models.scripted import Hang, ToolUse, answer
from tests.support.program import Program, make_store, program
from tui.settings.schema import Settings
from tui.widgets.chat_bar import ChatBar

DONE = ToolUse("task_complete", {"summary": "Done."})
SIZES = [(60, 15), (80, 24), (160, 50)]


def signs(p: Program) -> tuple[str, str]:
    bar = p.main.query_one(ChatBar)
    return tuple(str(bar.query_one(name).label) for name in (".chat--act", ".chat--task"))  # type: ignore


def row(p: Program) -> str:
    """The chat bar as it stands on the screen."""
    area = p.main.chat_bar.input.region
    strips = p.app.screen._compositor.render_strips()
    return "".join(segment.text for segment in strips[area.y])


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_task_mode_is_seen_while_something_is_typed_and_switched_by_mouse(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    quick = Settings(task_pause=0.0)
    async with program(make_store(tmp_path), answer("A."), answer(DONE), settings=quick, size=size) as p:
        await p.run_to_end("something, so that there is output to show")
        await p.press("escape")
        await p.until(lambda: "Show output" in row(p))
        await p.write("x" * 40)
        assert signs(p) == ("Send", "○ task") and "Send" in row(p) and "○ task" in row(p)
        assert await p.pilot.click(".chat--task")
        await p.until(lambda: signs(p) == ("Start task", "● task"))
        await p.pilot.pause()
        shown = row(p)
        assert "Start task" in shown and "● task" in shown and "Show output" in shown
        assert p.main.chat_bar.input.region.width >= 16 and p.main.chat_bar.region.width == size[0]
        assert p.main.focused is p.main.chat_bar.input and p.main.chat_bar.draft == "x" * 40
        assert await p.pilot.click(".chat--act")
        await p.until(lambda: p.main.conversation.current.task.status == "completed")  # type: ignore[union-attr]
        task = p.main.conversation.current.task  # type: ignore[union-attr]
        assert task is not None and task.kind == "task"
        await p.until(lambda: signs(p) == ("Start task", "● task"))
        assert await p.pilot.click(".chat--task")
        await p.until(lambda: signs(p) == ("Send", "○ task"))


async def test_the_switch_follows_the_palette_and_is_not_there_while_it_changes_nothing(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path), [*answer("I")[:2], Hang()]) as p:
        p.main.action_task_mode()
        await p.until(lambda: signs(p) == ("Start task", "● task"))
        await p.open("two")
        assert signs(p) == ("Start task", "● task"), "it holds for every persona"
        await p.say("go")
        await p.until(lambda: signs(p)[0] == "Stop")
        assert not p.main.chat_bar.query_one(".chat--task").display
        await p.press("escape")
        await p.until(lambda: signs(p)[0] == "Start task")
        assert p.main.chat_bar.query_one(".chat--task").display


async def test_it_can_be_told_in_ascii(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), settings=Settings(glyphs="ascii")) as p:
        assert signs(p)[1] == "[ ] task"
        p.main.action_task_mode()
        await p.until(lambda: signs(p)[1] == "[x] task")
