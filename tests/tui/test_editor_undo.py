"""One timeline of undo: what was typed and what the agent did, in the order it happened."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.models.scripted import ToolUse, answer
from tests.support.program import make_store, program
from tui.screens.dialogs.conflict import ConflictDialog

TEXT = "first line\nsecond line\nthird line\n"


pytestmark = pytest.mark.usefixtures("quick_typing")


def edits(*pairs: tuple[str, str]) -> list[list[object]]:
    """Answers that make these edits one after the other, then say so."""
    return [
        *[answer(ToolUse("edit_system_prompt", {"old": old, "new": new})) for old, new in pairs],
        answer("Done."),
    ]


async def test_undoing_a_run_in_the_editor_takes_its_text_back_and_f8_the_rest(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    script = [
        answer(ToolUse("update_persona_name", {"name": "Renamed"})),
        answer(ToolUse("create_test_input", {"content": "new"})),
        *edits(("second", "2nd")),
    ]
    async with program(store, *script) as p:
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
        await p.told("Undone")


async def test_f8_keeps_what_was_typed_since(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), *edits(("third", "3rd"))) as p:
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


async def test_f8_shows_both_where_what_was_typed_touches_the_run(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), *edits(("first", "1st"))) as p:
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


async def test_what_is_written_while_both_are_shown_for_an_undo_is_merged_or_met_again(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path), *edits(("first", "1st"))) as p:

        def write(old: str, new: str) -> None:
            text = p.file("one").read_text(encoding="utf-8")
            p.file("one").write_text(text.replace(old, new), encoding="utf-8")

        await p.run_to_end("change it")
        write("1st", "my 1st")
        await p.until(lambda: p.prompt.raw.startswith("my 1st line"))
        await p.press("f8")
        first = await p.dialog(ConflictDialog)
        write('name = "One"', 'name = "One"\ndescription = "Meanwhile"')
        write("my 1st", "our 1st")
        await p.press("1")
        await p.until(lambda: p.app.screen not in (first, p.main))
        await p.dialog(ConflictDialog)
        assert p.on_disk("one").startswith("our 1st line")
        write("Meanwhile", "Later")
        await p.press("1")
        await p.until(lambda: p.on_disk("one") == p.prompt.raw == TEXT)
        assert p.store.get("one").description == "Later"


async def test_undo_goes_on_in_the_store_where_the_editor_knows_no_more(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store, *edits(("second", "2nd"))) as p:
        await p.run_to_end("change it")
    async with program(store) as p:
        await p.press("f3", "ctrl+z")
        await p.until(lambda: p.prompt.raw == TEXT)
        assert p.on_disk("one") == TEXT
        await p.press("ctrl+y")
        await p.until(lambda: "2nd" in p.prompt.raw)


async def test_nothing_to_undo_is_said(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        name = p.store.get("one").name
        assert name != "one"
        for key, whose in (("f8", "of the agent's "), ("ctrl+z", "")):
            p.prompt.focus()
            await p.press(key)
            await p.told(f"There is nothing {whose}to undo in {name}.")
        assert p.on_disk("one") == TEXT


async def test_undo_after_a_paste_longer_than_the_editor(tmp_path: Path) -> None:
    from textual import events

    async with program(make_store(tmp_path)) as p:
        await p.press("f3")
        p.prompt.post_message(events.Paste("line\n" * 300))
        await p.until(lambda: p.on_disk("one") == "line\n" * 300 + TEXT)
        await p.press("ctrl+z")
        await p.until(lambda: p.on_disk("one") == TEXT)


async def test_undo_in_a_list_undoes_the_last_change_of_the_persona(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), persona_id="two") as p:
        await p.press("f4", "x")
        await p.until(lambda: not p.store.get("two").test_inputs)
        await p.press("ctrl+z")
        await p.until(lambda: p.store.get("two").test_inputs)
        await p.until(lambda: len(p.main.tests.rows.rows) == 1)


async def test_a_run_that_left_the_prompt_alone_is_undone_first_and_the_prompts_step_stays(
    tmp_path: Path,
) -> None:
    script = [
        *edits(("second", "2nd")),
        answer(ToolUse("create_test_input", {"content": "new"})),
        answer("Added."),
    ]
    async with program(make_store(tmp_path), *script) as p:
        await p.run_to_end("change the prompt")
        await p.run_to_end("add a test input")
        p.main.personas.rows.focus()
        await p.press("ctrl+z")
        await p.until(lambda: not p.store.get("one").test_inputs)
        assert "2nd" in p.prompt.raw
        await p.press("ctrl+z")
        await p.until(lambda: p.prompt.raw == TEXT and p.on_disk("one") == TEXT)
        await p.press("ctrl+y")
        await p.until(lambda: "2nd" in p.prompt.raw and "2nd" in p.on_disk("one"))


async def test_a_run_is_one_step_one_undo_too_many_changes_nothing_and_all_can_be_done_again(
    tmp_path: Path,
) -> None:
    changed = TEXT.replace("second", "2nd").replace("third", "3rd")
    async with program(make_store(tmp_path), *edits(("second", "2nd"), ("third", "3rd"))) as p:

        async def shows(text: str) -> None:
            await p.until(lambda: p.prompt.raw == text and p.on_disk("one") == text and p.state == "saved")

        await p.press("f3")
        await p.write("A")
        await shows("A" + TEXT)
        await p.run_to_end("change it")
        run = "A" + changed
        await p.press("f3")
        await p.write("B")
        await shows("AB" + changed)
        for text in (run, "A" + TEXT, TEXT):
            await p.press("ctrl+z")
            await shows(text)
        for _ in range(3):
            p.app.clear_notifications()
            await p.press("ctrl+z")
            await p.told("nothing to undo")
            await shows(TEXT)
        for text in ("A" + TEXT, run, "AB" + changed):
            await p.press("ctrl+y")
            await shows(text)


async def test_f8_and_f9_cancel_out_wherever_the_focus_is(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), *edits(("third", "3rd"))) as p:

        async def shows(text: str) -> None:
            await p.until(lambda: p.prompt.raw == text and p.on_disk("one") == text and p.state == "saved")

        await p.run_to_end("change it")
        run = TEXT.replace("third", "3rd")
        await p.press("f8")
        await shows(TEXT)
        await p.press("f9")
        await shows(run)
        await p.told("Redone")
        await p.press("f3")
        await p.write("B")
        await shows("B" + run)
        for _ in range(2):
            await p.press("f8")
            await shows("B" + TEXT)
            await p.press("f9")
            await shows("B" + run)
        await p.press("ctrl+z")
        await shows(run)


async def test_what_the_agent_undid_is_one_step_too(tmp_path: Path) -> None:
    script = [*edits(("third", "3rd")), answer(ToolUse("undo", {})), answer("Undone.")]
    async with program(make_store(tmp_path), *script) as p:

        async def shows(text: str) -> None:
            await p.until(lambda: p.prompt.raw == text and p.on_disk("one") == text and p.state == "saved")

        run = TEXT.replace("third", "3rd")
        await p.run_to_end("change it")
        await shows(run)
        await p.run_to_end("undo that")
        await shows(TEXT)
        await p.press("f3")
        for key, text in (("ctrl+z", run), ("ctrl+z", TEXT), ("ctrl+y", run), ("ctrl+y", TEXT)):
            await p.press(key)
            await shows(text)
