"""What is typed into a test input outlives everything that keeps it from being saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from personas.changes import AddTestInput
from personas.errors import StorageError
from personas.store import Store
from tests.support.drafts import unsaved
from tests.support.program import ONE, Program, make_store, program
from tui.document import debounce, document
from tui.screens.dialogs.confirm import Confirm
from tui.screens.main import screen

TWO = (
    'name = "Two"\nsystem_prompt = "I am two."\n\n[[test_inputs]]\nid = "sum"\ncontent = "What is 2+2?"\n\n'
    '[[test_inputs]]\nid = "other"\ncontent = "Other"\n'
)


pytestmark = pytest.mark.usefixtures("quick_typing")


def refuse(monkeypatch: pytest.MonkeyPatch, *kinds: type) -> None:
    """Have the disk refuse changes of these kinds, without any all of them."""
    change = Store.change

    def full(self: Store, persona_id: str, what: object, **named: object) -> object:
        if not kinds or isinstance(what, kinds):
            raise StorageError("The disk is full; nothing was written.")
        return change(self, persona_id, what, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "change", full)


async def type_in(p: Program, input_id: str, text: str) -> None:
    tests = p.main.tests
    tests.rows.focus()
    tests.rows.select(input_id)
    await p.until(lambda: tests.shown == input_id)
    tests.action_edit()
    await p.pilot.pause()
    tests.editor.move_cursor(tests.editor.document.end)
    await p.write(text)


async def leave(p: Program) -> None:
    p.main.tests.rows.focus()
    p.main.tests.rows.select("other")
    await p.until(lambda: p.main.tests.shown == "other")


def contents(p: Program, persona_id: str = "two") -> list[str]:
    return [each.content for each in p.store.get(persona_id).test_inputs]


async def test_what_could_not_be_saved_is_typed_on_or_a_new_test_input_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path, {"one": ONE, "two": TWO, "three": TWO})
    async with program(store, persona_id="two") as p:
        with monkeypatch.context() as slow:
            slow.setattr(debounce, "PAUSE", 60)
            await type_in(p, "sum", " mine")
        p.file("two").write_text(TWO.replace("2+2", "3+3"), encoding="utf-8")
        with monkeypatch.context() as disk:
            refuse(disk, AddTestInput)
            await leave(p)
            await p.notified("The disk is full")
        await p.open("one")
        await p.open("two")
        await p.until(lambda: contents(p) == ["What is 3+3?", "Other", "What is 2+2? mine"])
        assert p.main.documents is not None
        await p.until(lambda: p.main.documents and not p.main.documents.not_saved())

        await p.open("three")

        def kept() -> list[str]:
            return [text for _, text in unsaved(store.home, "three").values()]

        with monkeypatch.context() as disk:
            refuse(disk)
            await type_in(p, "sum", " first")
            await leave(p)
            await p.until(lambda: kept() == ["What is 2+2? first"])
            await type_in(p, "sum", " then")
            await p.until(lambda: kept() == ["What is 2+2? first then"])
        await p.write("!")
        await p.until(lambda: contents(p, "three") == ["What is 2+2? first then!", "Other"])
        await p.until(lambda: kept() == [])


async def test_what_is_typed_in_a_test_input_that_goes_before_a_look_is_one_new_one_and_typed_on_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "LOOK_EVERY", 600.0)
    cases = [("another id", ""), ("another id", "list"), ("deleted", ""), ("deleted", "chat")]
    async with program(make_store(tmp_path, dict.fromkeys("abcd", TWO))) as p:
        for key, (outside, leaving) in zip("abcd", cases, strict=True):
            await p.open(key)
            p.app.clear_notifications()
            with monkeypatch.context() as slow:
                slow.setattr(debounce, "PAUSE", 60)
                await type_in(p, "sum", " mine")
            rest = ["Other"]
            if outside == "deleted":
                text = TWO.replace('[[test_inputs]]\nid = "sum"\ncontent = "What is 2+2?"\n\n', "")
            else:
                text, rest = TWO.replace('"sum"', '"bb"'), ["What is 2+2?", "Other"]
            p.file(key).write_text(text, encoding="utf-8")
            if leaving == "list":
                p.main.tests.rows.focus()
            elif leaving == "chat":
                p.main.focus_chat()
            else:
                await p.write("!")
            whole = "What is 2+2? mine" + "!" * (not leaving)
            await p.notified("What you typed is kept as a new one")
            await p.until(
                lambda key=key, rest=rest, whole=whole: (
                    contents(p, key) == [*rest, whole] and not p.main.documents.not_saved()
                )
            )
            if not leaving:
                await p.write(" rest")
                await p.until(
                    lambda key=key, rest=rest, whole=whole: contents(p, key) == [*rest, f"{whole} rest"]
                )
            await p.main.documents.flush()
            await p.main.documents.read_again()
            assert contents(p, key) == [*rest, whole + " rest" * (not leaving)]


async def test_a_file_that_goes_while_one_types_in_a_test_input_is_offered_to_be_written_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = [100.0]
    monkeypatch.setattr(document, "clock", lambda: time[0])
    async with program(make_store(tmp_path, {"two": TWO})) as p:
        with monkeypatch.context() as slow:
            slow.setattr(debounce, "PAUSE", 60)
            await type_in(p, "sum", " mine")
        p.file("two").unlink()
        await p.write("!")
        await p.until(
            lambda: p.main.documents.document.missing_since is not None and p.main.documents.not_saved()
        )
        assert p.messages == []
        time[0] += 3
        await p.notified("The file is missing. What you typed is kept. F5 restores it.")
        p.main.tests.rows.focus()
        await p.press("c")
        await p.notified("the file of this persona is missing")
        await p.press("f5")
        dialog = await p.dialog(Confirm)
        dialog.dismiss(True)
        await p.until(lambda: p.file("two").exists() and contents(p) == ["What is 2+2? mine!", "Other"])
        assert not any("list" in message for message in p.messages)
