"""The agent's tools write to a slow disk: typing and painting go on, and all that was done can be undone as ever."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.models.scripted import Act, ToolUse, answer
from agent.tools import spec as tool_spec
from tests.support.program import ONE, TWO, Program, make_store, program
from tests.support.slow_fsync import SlowFsync
from tui.document.async_store import AsyncStore

EDIT = ToolUse("edit_system_prompt", {"old": "second line", "new": "better line"})
LATER = ToolUse("edit_system_prompt", {"old": "third line", "new": "last line"})


FILES = {"one": ONE, "two": TWO} | {key: ONE.replace("One", key.upper()) for key in "bc"}


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> SlowFsync:
    return SlowFsync(monkeypatch)


async def blocked(p: Program, disk: SlowFsync) -> None:
    """Have the agent begin a write that waits for the disk, with the person in the prompt."""
    disk.waits.clear()
    await p.say("go")
    await p.until(lambda: disk.waits.is_set() or disk.on_loop)
    assert not disk.on_loop
    p.prompt.focus()
    await p.until(lambda: p.prompt.has_focus)


async def over(p: Program) -> None:
    await p.until(lambda: not p.main.conversation.running)


def results(p: Program) -> list[str]:
    talk = p.main.conversation.current
    assert talk is not None
    return [turn.output for turn in talk.shown if turn.type == "tool_result"]  # type: ignore[union-attr]


async def test_keys_are_taken_and_shown_while_a_tool_waits_for_the_disk(
    tmp_path: Path, disk: SlowFsync
) -> None:
    async with program(make_store(tmp_path), answer(Act(disk.hold), EDIT), answer("done"), frames=True) as p:
        await blocked(p, disk)
        await p.write("typed ")
        assert p.prompt.raw == "typed first line\nsecond line\nthird line\n"
        painted = "".join(strip.text for strip in p.prompt.render_lines(p.prompt.region.reset_offset))
        assert "typed first line" in painted and not results(p)
        disk.let_go()
        await over(p)
        both = "typed first line\nbetter line\nthird line\n"
        await p.until(lambda: p.on_disk("one") == p.prompt.raw == both and p.state == "saved")
        await p.press("ctrl+z", "ctrl+z")
        await p.until(lambda: p.on_disk("one") == p.prompt.raw == "first line\nsecond line\nthird line\n")


async def test_what_is_typed_or_undone_while_a_tool_writes_waits_for_that(
    tmp_path: Path, disk: SlowFsync
) -> None:
    held = (answer(Act(disk.hold), EDIT), answer("done"))
    script = [*held, *held, answer(EDIT), answer(Act(disk.hold), LATER), answer("done")]
    async with program(make_store(tmp_path, FILES), *script, persona_id="one") as p:
        editing = p.main.documents
        assert editing is not None
        await blocked(p, disk)
        await p.write("typed ")
        saving = asyncio.ensure_future(editing.flush())
        await p.until(lambda: editing.workspace._writers == 2)
        disk.let_go()
        await over(p)
        await saving
        both = "typed first line\nbetter line\nthird line\n"
        await p.until(lambda: p.on_disk("one") == p.prompt.raw == both and p.state == "saved")
        assert not [message for message in p.messages if "outside" in message or "elsewhere" in message]
        await p.press("f8")
        await p.until(lambda: p.on_disk("one") == p.prompt.raw == both.replace("better", "second"))
        await p.press("f9")
        await p.until(lambda: p.on_disk("one") == p.prompt.raw == both)
        await p.press("ctrl+z")  # what came last to the screen
        await p.until(lambda: p.on_disk("one") == p.prompt.raw == both.replace("better", "second"))
        await p.press("ctrl+z")
        await p.until(lambda: p.on_disk("one") == p.prompt.raw == "first line\nsecond line\nthird line\n")

        await p.open("b")  # the lines that the tool is changing: to be chosen from
        await blocked(p, disk)
        await p.press("down")
        await p.write("my ")
        disk.let_go()
        await over(p)
        await p.until(lambda: p.state == "conflict")
        assert p.prompt.raw == "first line\nmy second line\nthird line\n"
        assert p.on_disk("b") == "first line\nbetter line\nthird line\n"
        await p.press("f8")
        await p.until(lambda: p.on_disk("b") == p.prompt.raw == "first line\nmy second line\nthird line\n")
        await p.until(lambda: p.state == "saved")

        await p.open("c")  # a press of undo in a list
        await blocked(p, disk)
        await p.until(lambda: "better line" in p.prompt.raw)
        p.main.personas.rows.focus()
        await p.press("ctrl+z")
        disk.let_go()
        await over(p)
        await p.until(lambda: p.on_disk("c") == p.prompt.raw == "first line\nsecond line\nthird line\n")
        await p.press("ctrl+y")
        await p.until(lambda: p.on_disk("c") == p.prompt.raw == "first line\nbetter line\nlast line\n")


async def test_who_stops_or_opens_another_persona_during_a_write_finds_it_done(
    tmp_path: Path, disk: SlowFsync, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = (answer(Act(disk.hold), EDIT), answer("done"))
    script = [held[0], *held, held[0]]  # a run that is stopped asks for no second answer
    async with program(make_store(tmp_path, FILES), *script, persona_id="one") as p:
        await blocked(p, disk)
        p.main.focus_chat()
        await p.press("escape")
        await p.pilot.pause()
        assert p.main.conversation.running
        disk.let_go()
        await over(p)
        assert "better line" in p.on_disk("one") and "better line" in p.prompt.raw
        assert results(p)[0].startswith("The system prompt is changed.")
        assert p.main.conversation.activity.trace_text().startswith("edit_system_prompt +1 −1 ·")
        await p.press("f8")
        await p.until(lambda: "second line" in p.on_disk("one") and "second line" in p.prompt.raw)

        await p.open("c")  # another is opened meanwhile
        await blocked(p, disk)
        await p.open("two")
        disk.let_go()
        await p.until(lambda: "better line" in p.on_disk("c"))
        await p.open("c")
        assert "better line" in p.prompt.raw
        await p.press("f8")
        await p.until(lambda: "second line" in p.on_disk("c") and "second line" in p.prompt.raw)

        await p.open("b")  # a write that ends after its run is the agent's step in the editor
        monkeypatch.setattr(tool_spec, "SETTLES_WITHIN", 0.0)
        await blocked(p, disk)
        p.main.focus_chat()
        await p.press("escape")
        await p.until(lambda: results(p))
        assert "it may have taken effect" in results(p)[0]
        talk, editing = p.main.conversation.current, p.main.documents
        assert talk is not None and editing is not None and "second line" in p.prompt.raw
        disk.let_go()
        await over(p)
        await p.until(lambda: "better line" in p.prompt.raw)
        assert p.state == "saved" and not [message for message in p.messages if "outside" in message]
        await p.press("f8")
        await p.until(lambda: "second line" in p.on_disk("b") and "second line" in p.prompt.raw)


async def test_writes_take_turns_and_each_is_heard_before_the_next(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    workspace, order = AsyncStore(store), list[str]()

    async def write(name: str) -> None:
        await workspace.write_then(
            lambda: order.append(f"write {name}"), lambda _: order.append(f"hear {name}")
        )

    first = asyncio.ensure_future(write("first"))
    second = asyncio.ensure_future(write("second"))
    third = asyncio.ensure_future(write("third"))
    await asyncio.sleep(0)
    assert workspace.writing
    first.cancel()
    second.cancel()
    await asyncio.wait([first, second, third])
    await workspace.settled()
    assert order == ["write first", "hear first", "write third", "hear third"] and not workspace.writing
