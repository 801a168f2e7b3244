"""What takes the keys away from a text never lets letters act as commands, nor go into another text."""

from __future__ import annotations

from pathlib import Path

import pytest

from personas.changes import DeleteTestInput
from personas.versions.authorship import USER
from tests.support.program import Program, make_store, program
from tests.tui.test_typing_meets_agent import TWO_INPUTS, agent, contents
from tui.document import document

pytestmark = pytest.mark.usefixtures("quick_typing")


async def go_into(p: Program, typed: str = "") -> None:
    """Go to the content of the first test input, and type."""
    p.main.tests.editor.focus()
    await p.until(lambda: p.main.tests.editor.has_focus)
    await p.write(typed)


def break_it(p: Program) -> str:
    """Break the file outside; return what it held."""
    whole = p.file("one").read_text(encoding="utf-8")
    p.file("one").write_text(f"{whole}broken = [\n", encoding="utf-8")
    return whole


async def test_who_types_in_a_test_input_or_a_field_types_on_while_the_file_is_broken(tmp_path: Path) -> None:
    async with program(make_store(tmp_path, {"one": TWO_INPUTS})) as p:
        await go_into(p, "M ")
        await p.until(lambda: contents(p)["a"] == "M ca" and p.state == "saved")
        whole = break_it(p)
        await p.write("wxn")
        await p.until(lambda: p.state == "broken")
        await p.write("xnJ")
        await p.notified("What you type is kept")
        await p.until(lambda: [slot.text for slot in p.main.documents.document.dirty] == ["M wxnxnJca"])
        p.file("one").write_text(whole, encoding="utf-8")
        await p.write("xx")
        await p.until(lambda: contents(p) == {"a": "M wxnxnJxxca", "b": "cb"})
        await p.until(lambda: not p.main.documents.not_saved())
        assert p.app.screen is p.main and p.main.tests.editor.has_focus

        field = p.main.settings.field("description")
        field.focus()
        await p.until(lambda: field.has_focus)
        await p.write("ab")
        whole = break_it(p)
        await p.until(lambda: p.state == "broken")
        await p.write("xn")
        await p.notified("What you type is kept")
        await p.press("f3")
        await p.until(lambda: field.disabled)
        p.file("one").write_text(whole, encoding="utf-8")
        await p.until(lambda: p.store.get("one").description == "abxn" and not field.disabled)


async def test_a_file_that_breaks_between_two_looks_is_no_deleted_test_input(tmp_path: Path) -> None:
    async with program(make_store(tmp_path, {"one": TWO_INPUTS})) as p:
        for place, editor in (("prompt", p.prompt), ("input", p.main.tests.editor)):
            editor.focus()
            await p.until(lambda editor=editor: editor.has_focus)
            with pytest.MonkeyPatch.context() as blind:
                blind.setattr(p.main.documents, "look", p.main.documents.write_drafts)
                whole = break_it(p)
                await p.write("M")
                await p.until(lambda: p.main.documents.not_saved())
                assert editor.conflict is None, place
                p.file("one").write_text(whole, encoding="utf-8")
            await p.write("N")
            await p.until(lambda: p.state == "saved" and not p.main.documents.not_saved())
        assert p.on_disk("one") == "MNp" and contents(p) == {"a": "MNca", "b": "cb"}


async def test_the_last_test_input_goes_and_the_list_gets_no_keys(tmp_path: Path) -> None:
    async with program(make_store(tmp_path, {"one": TWO_INPUTS})) as p:
        p.store.change("one", DeleteTestInput("a"), by=USER, revision=None)
        await p.main.documents.read_again(quiet=True)
        await go_into(p)
        agent(p, DeleteTestInput("b"))
        await p.until(lambda: p.main.tests.is_gone)
        await p.press("ctrl+z", "ctrl+y")
        await p.until(lambda: not contents(p) and p.main.tests.shown is None)
        await p.write("nx")
        await p.notified("No test input is open")
        assert p.app.screen is p.main and p.main.focused is p.main.tests.editor
        await p.press("ctrl+z")
        await p.until(lambda: p.main.tests.shown == "b")
        await p.write("N")
        await p.until(lambda: contents(p) == {"b": "Ncb"})


async def test_a_persona_deleted_outside_leaves_no_list_with_the_keys_and_tab_leads_past_panes_that_take_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path, {"one": TWO_INPUTS, "two": ""}), persona_id="one") as p:
        await go_into(p)
        monkeypatch.setattr(document, "GONE_AFTER", 0.0)
        whole = p.file("one").read_text(encoding="utf-8")
        p.file("one").unlink()
        await p.until(lambda: p.main.documents.id is None)
        await p.write("nx")
        assert p.app.screen is p.main and p.main.focused is p.main.tests.editor
        p.file("one").write_text(whole, encoding="utf-8")
        await p.until(lambda: p.main.documents.id == "one")
        await p.write("xx")
        await p.until(lambda: contents(p) == {"a": "xxca", "b": "cb"})

        p.file("one").unlink()
        await p.until(lambda: p.main.documents.id is None)
        p.main.focus_chat()
        there = ["prompt", "tests", "composition", "personas"]
        for size in (80, 24), (120, 30):
            await p.pilot.resize_terminal(*size)
            for key, panes in ("tab", there), ("shift+tab", there[::-1]):
                passed = []
                for _ in range(5):
                    await p.press(key)
                    passed.append(p.main.panes.here)
                assert passed == [*panes, "chat"]


async def test_a_terminal_that_gets_smaller_or_loses_the_focus_takes_the_keys_from_no_text(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path, {"one": TWO_INPUTS}), size=(120, 30)) as p:
        await go_into(p)
        for size, seen, kept in ((80, 24), "xn", "xnxxca"), ((20, 5), "", "xnxxxxca"):
            await p.pilot.resize_terminal(*size)
            await p.until(lambda size=size: p.app.size == size)
            await p.write(seen)
            await p.pilot.resize_terminal(120, 30)
            await p.write("xx")
            await p.until(lambda kept=kept: contents(p) == {"a": kept, "b": "cb"})
        p.app.app_focus = False
        await p.until(lambda: p.main.focused is None)
        agent(p, DeleteTestInput("a"))
        await p.until(lambda: p.main.tests.is_gone)
        p.app.app_focus = True
        await p.write("yn")
        await p.until(lambda: sorted(contents(p).values()) == ["cb", "xnxxxxynca"])


async def test_a_key_that_can_do_nothing_says_why(tmp_path: Path) -> None:
    async with program(make_store(tmp_path, {"one": TWO_INPUTS})) as p:
        p.main.tests.rows.focus()
        break_it(p)
        await p.until(lambda: p.state == "broken")
        for key in "ncxKJ":
            await p.press(key)
            await p.notified("This cannot be edited: the file is broken")
            p.app.clear_notifications()
        p.file("one").unlink()
        await p.until(lambda: p.main.documents.document.missing_since is not None)
        p.main.documents.close()
        for press, why in (("n", "Open a persona first."), ("ctrl+z", "brings back a deleted one")):
            await p.press(press)
            await p.notified(why)


async def test_letters_for_a_test_input_that_was_broken_from_the_start_are_refused_until_it_is_mended(
    tmp_path: Path,
) -> None:
    twice = TWO_INPUTS.replace('id = "b"', 'id = ""')
    async with program(make_store(tmp_path, {"one": twice})) as p:
        assert p.state == "broken" and p.main.tests.shown == "a"
        await go_into(p, "xn")
        await p.notified("This cannot be edited: the file is broken")
        p.app.clear_notifications()
        await p.write("x")
        await p.pilot.pause()
        assert p.messages == []
        p.file("one").write_text(TWO_INPUTS, encoding="utf-8")
        await p.until(lambda: p.state == "saved")
        await p.write("xn")
        await p.until(lambda: contents(p) == {"a": "xnca", "b": "cb"})


async def test_letters_in_a_content_that_cannot_be_edited_are_no_commands(tmp_path: Path) -> None:
    async with program(make_store(tmp_path, {"one": TWO_INPUTS.replace("ca", "c\U0010f000")})) as p:
        await go_into(p, "xnJ ")
        await p.pilot.pause()
        assert len(contents(p)) == 2 and p.app.screen is p.main and not p.main.tests.rows.marked
