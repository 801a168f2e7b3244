"""One timeline of undo: what was typed and what the agent did, in the order it happened."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from agent.models.scripted import ToolUse, answer
from tests.support.faulty_store import FaultyStore
from tests.support.program import ONE, TWO, Program, make_store, program
from tui.screens.dialogs.conflict import ConflictDialog

TEXT = "first line\nsecond line\nthird line\n"


pytestmark = pytest.mark.usefixtures("quick_typing")


def edits(*pairs: tuple[str, str]) -> list[list[object]]:
    """Answers that make these edits one after the other, then say so."""
    return [
        *[answer(ToolUse("edit_system_prompt", {"old": old, "new": new})) for old, new in pairs],
        answer("Done."),
    ]


async def shows(p: Program, persona_id: str, text: str) -> None:
    await p.until(lambda: p.prompt.raw == text and p.on_disk(persona_id) == text and p.state == "saved")


def home(root: Path) -> FaultyStore:
    """Personas that are alike: each step of a walk has one that nobody has changed."""
    return make_store(
        root, {"one": ONE, "two": TWO} | {key: ONE.replace("One", key.upper()) for key in "bcd"}
    )


async def test_a_run_is_one_step_and_f8_takes_it_back_and_keeps_what_was_typed_since(tmp_path: Path) -> None:
    undone = [answer(ToolUse("undo", {})), answer("Undone.")]
    script = [
        *(*edits(("third", "3rd")), *edits(("third", "3rd")), *edits(("third", "3rd")), *undone),
        *edits(("second", "2nd"), ("third", "3rd")),
    ]
    changed = TEXT.replace("second", "2nd").replace("third", "3rd")
    async with program(home(tmp_path), *script, persona_id="one") as p:
        await p.run_to_end("change it")
        await p.press("f3")
        await p.write("my ")
        await p.press("f8")
        await p.until(lambda: p.on_disk("one") == "my first line\nsecond line\nthird line\n")
        await p.until(lambda: p.prompt.raw == "my first line\nsecond line\nthird line\n")
        await p.press("f9")
        await p.until(lambda: p.on_disk("one") == p.prompt.raw == "my first line\nsecond line\n3rd line\n")
        await p.press("ctrl+z")
        await p.until(lambda: p.on_disk("one") == p.prompt.raw == "first line\nsecond line\n3rd line\n")
        await p.press("f8")
        await p.until(lambda: p.on_disk("one") == p.prompt.raw == TEXT)

        await p.open("b")  # they cancel out, wherever the focus is
        await p.run_to_end("change it")
        run = TEXT.replace("third", "3rd")
        await p.press("f8")
        await shows(p, "b", TEXT)
        await p.press("f9")
        await shows(p, "b", run)
        await p.notified("Redone")
        await p.press("f3")
        await p.write("B")
        await shows(p, "b", "B" + run)
        for _ in range(2):
            await p.press("f8")
            await shows(p, "b", "B" + TEXT)
            await p.press("f9")
            await shows(p, "b", "B" + run)
        await p.press("ctrl+z")
        await shows(p, "b", run)

        await p.open("c")  # what the agent undid is one step too
        run = TEXT.replace("third", "3rd")
        await p.run_to_end("change it")
        await shows(p, "c", run)
        await p.run_to_end("undo that")
        await shows(p, "c", TEXT)
        await p.press("f3")
        for key, text in (("ctrl+z", run), ("ctrl+z", TEXT), ("ctrl+y", run), ("ctrl+y", TEXT)):
            await p.press(key)
            await shows(p, "c", text)

        await p.open("d")  # one undo too many changes nothing, and all can be done again
        await p.press("f3")
        await p.write("A")
        await shows(p, "d", "A" + TEXT)
        await p.run_to_end("change it")
        run = "A" + changed
        await p.press("f3")
        await p.write("B")
        await shows(p, "d", "AB" + changed)
        for text in (run, "A" + TEXT, TEXT):
            await p.press("ctrl+z")
            await shows(p, "d", text)
        for _ in range(3):
            p.app.clear_notifications()
            await p.press("ctrl+z")
            await p.notified("nothing to undo")
            await shows(p, "d", TEXT)
        for text in ("A" + TEXT, run, "AB" + changed):
            await p.press("ctrl+y")
            await shows(p, "d", text)


async def test_f8_shows_both_where_what_was_typed_touches_the_run_and_meets_what_is_written_meanwhile(
    tmp_path: Path,
) -> None:
    async with program(
        home(tmp_path), *edits(("first", "1st")), *edits(("first", "1st")), persona_id="one"
    ) as p:
        await p.run_to_end("change it")
        await p.press("f3")
        await p.write("my ")
        await p.until(lambda: p.on_disk("one").startswith("my 1st line"))
        await p.press("f8")
        dialog = await p.dialog(ConflictDialog)
        assert "Place 1 of 1, line 1 " in str(dialog.query_one("#conflict-where").render())
        assert dialog._conflict.theirs == p.prompt.raw, "the text, not the file"
        assert p.on_disk("one").startswith("my 1st line")
        await p.press("1")
        await p.until(lambda: p.on_disk("one") == TEXT)
        await p.until(lambda: p.prompt.raw == TEXT)

        await p.open("b")

        def write(old: str, new: str) -> None:
            text = p.file("b").read_text(encoding="utf-8")
            p.file("b").write_text(text.replace(old, new), encoding="utf-8")

        await p.run_to_end("change it")
        write("1st", "my 1st")
        await p.until(lambda: p.prompt.raw.startswith("my 1st line"))
        await p.press("f8")
        first = await p.dialog(ConflictDialog)
        write('name = "B"', 'name = "B"\ndescription = "Meanwhile"')
        write("my 1st", "our 1st")
        await p.press("1")
        await p.until(lambda: p.app.screen not in (first, p.main))
        await p.dialog(ConflictDialog)
        assert p.on_disk("b").startswith("our 1st line")
        write("Meanwhile", "Later")
        await p.press("1")
        await p.until(lambda: p.on_disk("b") == p.prompt.raw == TEXT)
        assert p.store.get("b").description == "Later"


async def test_ctrl_z_undoes_what_came_last_also_in_a_list_and_where_the_editor_knows_no_more(
    tmp_path: Path,
) -> None:
    store = home(tmp_path)
    script = [
        answer(ToolUse("update_persona_name", {"name": "Renamed"})),
        answer(ToolUse("create_test_input", {"content": "new"})),
        *edits(("second", "2nd")),
        *(
            *edits(("second", "2nd")),
            answer(ToolUse("create_test_input", {"content": "new"})),
            answer("Added."),
        ),
    ]
    async with program(store, *script, persona_id="one") as p:
        before = p.file("one").read_text()
        await p.run_to_end("change much")
        assert store.get("one").name == "Renamed"
        await p.press("f3", "ctrl+z")
        await p.until(lambda: p.on_disk("one") == p.prompt.raw == TEXT)
        assert store.get("one").name == "Renamed"
        await p.press("f8")
        await p.until(lambda: p.file("one").read_text() == before)
        assert not p.main.tests.rows.rows
        assert p.main.settings.field("name").raw == "One"
        await p.notified("Undone")

        await p.open("b")  # a run that left the prompt alone is undone first
        await p.run_to_end("change the prompt")
        await p.run_to_end("add a test input")
        p.main.personas.rows.focus()
        await p.press("ctrl+z")
        await p.until(lambda: not p.store.get("b").test_inputs)
        assert "2nd" in p.prompt.raw
        await p.press("ctrl+z")
        await p.until(lambda: p.prompt.raw == TEXT and p.on_disk("b") == TEXT)
        await p.press("ctrl+y")
        await p.until(lambda: "2nd" in p.prompt.raw and "2nd" in p.on_disk("b"))

        await p.open("c")  # nothing to undo
        name = p.store.get("c").name
        assert name != "c"
        for key, whose in (("f8", "of the agent's "), ("ctrl+z", "")):
            p.prompt.focus()
            await p.press(key)
            await p.notified(f"There is nothing {whose}to undo in {name}.")
        assert p.on_disk("c") == TEXT

        await p.open("d")  # a paste that is longer than the editor
        await p.press("f3")
        p.prompt.post_message(events.Paste("line\n" * 300))
        await p.until(lambda: p.on_disk("d") == "line\n" * 300 + TEXT)
        await p.press("ctrl+z")
        await p.until(lambda: p.on_disk("d") == TEXT)

        await p.open("two")
        await p.press("f4", "x")
        await p.until(lambda: not p.store.get("two").test_inputs)
        await p.press("ctrl+z")
        await p.until(lambda: p.store.get("two").test_inputs)
        await p.until(lambda: len(p.main.tests.rows.rows) == 1)
    async with program(store, persona_id="b") as p:
        await p.press("f3", "ctrl+z")
        await p.until(lambda: p.prompt.raw == TEXT)
        assert p.on_disk("b") == TEXT
        await p.press("ctrl+y")
        await p.until(lambda: "2nd" in p.prompt.raw)
