"""A disk that is slower than the person pauses: no save takes what the one before stores for another's."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.app import App

from personas.changes import DeleteTestInput, SetPrompt, UpdateTestInput
from personas.store import Store
from tests.support.drafts import drafts
from tests.support.faulty_store import Held
from tests.support.program import Program, make_store, program
from tests.support.screen import at_once
from tests.tui.test_typing_meets_agent import TWO_INPUTS, agent, contents
from tui.app import emergency_save, shutdown
from tui.document import debounce
from tui.screens.dialogs.confirm import Confirm
from tui.widgets.text.document_editor import DocumentEditor

pytestmark = pytest.mark.usefixtures("quick_typing")


def kept(store: Store) -> dict[str, str]:
    """What the drafts database keeps of text that is not in its file, by slot."""
    return {draft.slot: draft.text for draft in drafts(store.home)}


async def test_what_is_typed_while_the_last_save_is_under_way_is_no_conflict(tmp_path: Path) -> None:
    async with program(make_store(tmp_path, {"one": TWO_INPUTS})) as p:
        for editor in p.prompt, p.main.tests.editor:
            editor.focus()
            await p.until(lambda editor=editor: editor.has_focus)
            disk = p.store.hold("change")
            for letter in "abc":
                await p.write(letter)
                await p.until(disk.waits.is_set, 20)
                await p.pilot.pause()
                await p.pilot.pause()
            disk.goes_on.set()
            await p.until(lambda editor=editor: not editor.unsaved and p.state == "saved")
            assert editor.conflict is None and p.messages == []
            stored = p.on_disk("one") if editor is p.prompt else contents(p)["a"]
            assert stored == editor.raw and stored.startswith("abc")
            p.store.mend()


async def test_what_is_typed_on_in_a_field_while_its_saves_are_under_way_met_nothing_of_another(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path)) as p:
        field = p.main.settings.field("description")
        field.focus()
        await p.until(lambda: field.has_focus)
        disk = p.store.hold("change")
        for letter in "abc":
            await p.press(letter, "enter")
            await p.until(disk.waits.is_set, 20)
        await p.press("d")
        disk.goes_on.set()
        await p.until(lambda: p.store.get("one").description == "abc")
        await p.press("enter")
        await p.until(lambda: p.store.get("one").description == "abcd")
        assert p.messages == []
        await p.press("e")
        p.file("one").write_text(p.file("one").read_text().replace('"abcd"', '"abc"'))
        await p.notified("Description was changed elsewhere")


@pytest.mark.parametrize("where", ["prompt", "test input"])
async def test_what_is_typed_while_a_run_is_being_undone_meets_nothing_and_is_undone_by_itself(
    tmp_path: Path, where: str
) -> None:
    async with program(make_store(tmp_path, {"one": TWO_INPUTS})) as p:
        editor = p.prompt if where == "prompt" else p.main.tests.editor
        before = editor.raw
        longer = f"of the agent\n{before}"
        agent(p, SetPrompt(longer) if where == "prompt" else UpdateTestInput("a", longer))
        await p.until(lambda: editor.raw == longer)
        editor.focus()
        await p.until(lambda: editor.has_focus)
        editor.move_cursor(editor.document.end)
        disk = p.store.hold("undo")
        p.main.action_undo_agent()
        await p.until(disk.waits.is_set, 20)
        await p.write("xyz")
        disk.goes_on.set()
        await p.until(
            lambda: (
                f"{before}xyz" in (p.on_disk("one"), contents(p)["a"])
                and not editor.unsaved
                and editor.raw == f"{before}xyz"
            )
        )
        assert editor.conflict is None
        assert [message for message in p.messages if "Undone" not in message] == []
        for text in (f"{longer}xyz", longer):
            await p.press("ctrl+z")
            await p.until(lambda text=text: editor.raw == text and not editor.unsaved)  # type: ignore[misc]


async def test_what_is_typed_on_in_a_deleted_test_input_becomes_one_new_one(tmp_path: Path) -> None:
    async with program(make_store(tmp_path, {"one": TWO_INPUTS})) as p:
        editor = p.main.tests.editor
        editor.focus()
        await p.until(lambda: editor.has_focus)
        agent(p, DeleteTestInput("a"))
        await p.notified("deleted the test input a, which you were editing")
        disk = p.store.hold("change")
        for letter in "abc":
            await p.write(letter)
            await p.until(disk.waits.is_set, 20)
            await p.pilot.pause()
            await p.pilot.pause()
        disk.goes_on.set()
        await p.until(lambda: "abcca" in contents(p).values() and not editor.unsaved)
        assert sorted(contents(p).values()) == ["abcca", "cb"]


async def type_on_and_leave(p: Program, first: str, then: str) -> Held:
    """Type in the test input a, type on while that is being saved, and look at the test input b."""
    editor = p.main.tests.editor
    editor.focus()
    await p.until(lambda: editor.has_focus)
    disk = p.store.hold("change")
    await p.write(first)
    await p.until(disk.waits.is_set, 20)
    await p.write(then)
    p.main.tests.rows.select("b")
    await p.until(lambda: p.main.tests.shown == "b")
    return disk


async def test_what_is_typed_in_a_test_input_that_is_shown_anew_goes_on_from_what_is_being_saved(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path, {"one": TWO_INPUTS})) as p:
        tests = p.main.tests
        disk = await type_on_and_leave(p, "A", "AA ")
        tests.rows.select("a")
        await p.until(lambda: tests.shown == "a")
        assert tests.editor.raw == "AAA ca"
        await p.write("BBB ")
        disk.goes_on.set()
        await p.until(lambda: not tests.editor.unsaved)
        assert contents(p)["a"] == tests.editor.raw == "BBB AAA ca"
        assert tests.editor.conflict is None and p.messages == []


async def test_what_another_program_wrote_meanwhile_stays_under_what_is_typed_on(tmp_path: Path) -> None:
    lines = TWO_INPUTS.replace('"ca"', '"ca\\n\\nlast"')
    async with program(make_store(tmp_path, {"one": lines})) as p:
        disk = await type_on_and_leave(p, "A", "AA ")
        p.file("one").write_text(lines.replace("last", "their last"), encoding="utf-8")
        disk.goes_on.set()
        await p.until(lambda: p.main.documents and not p.main.documents.saver.queue)
        assert contents(p) == {"a": "AAA ca\n\ntheir last", "b": "cb"}


@pytest.mark.parametrize("how", ["command", "signal"])
async def test_what_waits_to_be_saved_in_a_test_input_that_was_left_outlives_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    elsewhere: dict[str, str] = {}
    monkeypatch.setattr(shutdown, "SAVE_WITHIN", 0.05)
    monkeypatch.setattr(emergency_save, "write_texts", lambda texts: elsewhere.update(texts))
    store = make_store(tmp_path, {"one": TWO_INPUTS})
    async with program(store) as p:
        disk = await type_on_and_leave(p, "X", "YZ")
        if how == "command":
            p.main.action_leave()
            await p.pilot.pause()
            assert not p.app._exit
            disk.goes_on.set()
            await p.until(lambda: p.app._exit)
            assert contents(p)["a"] == "XYZca"
        else:
            await p.app.shutdown.leave(129)
            assert elsewhere == {} and kept(store) == {"input:a": "XYZca"}
            disk.goes_on.set()


async def test_what_is_typed_behind_an_undo_that_is_being_stored_outlives_a_signal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere: dict[str, str] = {}
    monkeypatch.setattr(shutdown, "SAVE_WITHIN", 0.2)
    monkeypatch.setattr(emergency_save, "write_texts", lambda texts: elsewhere.update(texts))
    store = make_store(tmp_path, {"one": TWO_INPUTS})
    async with program(store) as p:
        p.prompt.focus()
        await p.until(lambda: p.prompt.has_focus)
        await p.write("v")
        await p.until(lambda: "v" in p.on_disk("one") and not p.prompt.unsaved)
        disk = p.store.hold("change")
        at_once(p, "ctrl+z", "W", "W")
        assert await asyncio.to_thread(disk.waits.wait, 20)
        await p.app.shutdown.leave(129)
        assert elsewhere == {} and kept(store)["prompt"].startswith("WW")
        disk.goes_on.set()


@pytest.mark.parametrize(
    ("where", "stored"),  # or it is stored, and the disk does not say so
    [("prompt", False), ("prompt", True), ("test input", True), ("behind a redo", False)],
)
async def test_a_signal_on_a_slow_disk_keeps_what_is_typed_in_the_home_and_the_next_start_stores_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, stored: bool
) -> None:
    elsewhere: dict[str, str] = {}
    monkeypatch.setattr(shutdown, "SAVE_WITHIN", 600.0)  # nothing waits for the disk
    monkeypatch.setattr(shutdown, "FILES_WITHIN", 0.02)
    monkeypatch.setattr(emergency_save, "write_texts", lambda texts: elsewhere.update(texts))
    store = make_store(tmp_path, {"one": TWO_INPUTS})

    def of(program: Program) -> DocumentEditor:
        return program.main.tests.editor if where == "test input" else program.prompt

    async with program(store) as p:
        editor = of(p)
        before = editor.raw
        editor.focus()
        await p.until(lambda: editor.has_focus)
        if where == "behind a redo":
            await p.write("V")
            await p.until(lambda: p.on_disk("one") == f"V{before}")
            await p.press("ctrl+z")
            await p.until(lambda: p.on_disk("one") == before and not p.prompt.unsaved)
        disk = p.store.hold("change", late=stored)
        await p.press("ctrl+y" if where == "behind a redo" else "V")
        await p.until(disk.waits.is_set)
        await p.write("W")
        await p.until(lambda: editor.raw == f"VW{before}")
        await p.app.shutdown.leave(129)
    disk.waits.clear()
    assert elsewhere == {} and list(kept(store).values()) == [f"VW{before}"]
    store.mend()
    async with program(store) as p:
        await p.until(lambda: of(p).raw == f"VW{before}" and not of(p).unsaved)
        await p.until(lambda: kept(store) == {})
        assert p.state == "saved" and of(p).conflict is None
        assert len(store.get("one").test_inputs) == 2
    disk.goes_on.set()


async def test_what_is_typed_behind_an_undo_is_shown_while_that_is_being_stored(tmp_path: Path) -> None:
    async with program(make_store(tmp_path, {"one": TWO_INPUTS})) as p:
        for editor in p.prompt, p.main.tests.editor:
            before = editor.raw

            def shows(text: str, stored: str = "", editor: DocumentEditor = editor) -> bool:
                kept = p.on_disk("one") if editor is p.prompt else contents(p)["a"]
                return editor.raw == text and kept == (stored or text)

            editor.focus()
            await p.until(lambda editor=editor: editor.has_focus)
            await p.write("v")
            await p.until(lambda shows=shows, before=before: shows(f"v{before}"))
            await p.until(lambda editor=editor: not editor.unsaved)
            disk = p.store.hold("change")
            at_once(p, "ctrl+z", "W", "W")
            await p.until(
                lambda disk=disk, shows=shows, before=before: (
                    disk.waits.is_set() and shows(f"WW{before}", f"v{before}")
                )
            )
            at_once(p, "ctrl+z", "x")
            await p.until(lambda shows=shows, before=before: shows(f"x{before}", f"v{before}"))
            disk.goes_on.set()
            await p.until(lambda shows=shows, before=before: shows(f"x{before}"))
            await p.until(lambda editor=editor: not editor.unsaved)
            for key, text in (("ctrl+z", before), ("ctrl+y", f"x{before}")):
                await p.press(key)
                await p.until(lambda shows=shows, text=text: shows(text))
            assert editor.conflict is None
            p.store.mend()


async def test_what_waits_to_be_saved_is_not_thrown_away_and_stored_too(tmp_path: Path) -> None:
    async with program(make_store(tmp_path, {"one": TWO_INPUTS})) as p:
        editor, editing = p.main.tests.editor, p.main.documents
        assert editing is not None
        editor.focus()
        await p.until(lambda: editor.has_focus)
        disk = p.store.hold("change")
        await p.write("X")
        await p.until(disk.waits.is_set, 20)
        await p.write("YZ")
        await p.until(lambda: [slot.text for slot in editing.document.dirty] == ["XYZca"])  # type: ignore[union-attr]
        stashed: list[str] = []
        thrown = asyncio.ensure_future(editing.recovery.discard(stashed.append))
        await p.pilot.pause()
        disk.goes_on.set()
        assert not await thrown
        assert not editing.saver.queue
        assert contents(p)["a"] == editor.raw == "XYZca"
        assert stashed == []


async def test_a_fault_while_the_disk_hangs_ends_the_program_with_what_is_typed_kept_in_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutdown, "SAVE_WITHIN", 0.2)
    elsewhere: dict[str, str] = {}
    monkeypatch.setattr(emergency_save, "write_texts", lambda texts: elsewhere.update(texts))
    store = make_store(tmp_path)
    async with program(store) as p:
        p.prompt.focus()
        await p.until(lambda: p.prompt.has_focus)
        disk = p.store.hold("change")
        monkeypatch.setattr(debounce, "PAUSE", 600.0)
        monkeypatch.setattr(debounce, "LONGEST", 600.0)
        await p.write("x")
        monkeypatch.setattr(App, "_handle_exception", lambda *_: None)
        p.app._handle_exception(RuntimeError("boom"))
        disk.goes_on.set()
        assert elsewhere == {} and kept(store)["prompt"].startswith("xfirst line")


async def test_keys_for_a_test_input_that_a_slow_disk_is_still_deleting_do_nothing(tmp_path: Path) -> None:
    async with program(make_store(tmp_path, {"one": TWO_INPUTS})) as p:
        p.main.tests.rows.focus()
        await p.until(lambda: p.main.tests.rows.has_focus)
        disk, before = p.store.hold("change"), contents(p)
        await p.press("x")
        await p.until(disk.waits.is_set, 20)
        await p.press("c", "J", "K", "x")
        disk.goes_on.set()
        await p.notified("Test input a is deleted.")
        await p.until(lambda: p.main.persona_commands and not p.main.persona_commands._rows.locked())
        assert contents(p) == {"b": before["b"]} and len(p.messages) == 1


async def test_a_test_input_is_moved_as_often_as_that_was_asked_for_while_the_disk_was_slow(
    tmp_path: Path,
) -> None:
    third = f'{TWO_INPUTS}\n[[test_inputs]]\nid = "c"\ncontent = "cc"\n'
    async with program(make_store(tmp_path, {"one": third})) as p:
        p.main.tests.rows.focus()
        await p.until(lambda: p.main.tests.rows.has_focus)
        disk = p.store.hold("change")
        await p.press("J")
        await p.until(disk.waits.is_set, 20)
        await p.press("J")
        disk.goes_on.set()
        await p.until(lambda: list(contents(p)) == ["b", "c", "a"])


async def test_keys_for_a_persona_that_a_slow_disk_is_still_deleting_do_nothing(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        p.main.action_go("personas")
        disk = p.store.hold("delete")
        await p.press("x")
        await p.dialog(Confirm)
        await p.press("y")
        await p.until(disk.waits.is_set, 20)
        for key in "cxr":
            p.main.personas.rows.select("one")
            await p.press(key)
            await p.pilot.pause()
            assert p.app.screen is p.main, key
        disk.goes_on.set()
        await p.notified("One is deleted.")
        assert p.app.screen is p.main and p.store.ids() == ["two"] and len(p.messages) == 1
