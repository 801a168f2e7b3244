"""Text that cannot be saved: kept on disk, put back at the next start, settled when it is saved."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from personas.changes import AddTestInput, SetName
from personas.errors import StorageError
from personas.store import Store
from personas.versions.authorship import USER
from tests.support.drafts import leave_behind, unsaved
from tests.support.program import ONE, TWO, Program, make_store, program
from tui.document import debounce, document
from tui.drafts.draft import PROMPT
from tui.drafts.store import DraftStore
from tui.drafts.unsaved_text import UnsavedText
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.conflict import ConflictDialog
from tui.screens.main import screen

WHOLE = 'name = "One"\nsystem_prompt = """\nfirst line\nsecond line\nthird line\n"""\n'
BROKEN = "<<<<<<< mine\n" + WHOLE
FILES = {"one": ONE, "two": TWO} | {key: ONE.replace("One", key.upper()) for key in "bcd"}
"""Personas that are alike: each step of a walk has one that nobody has changed."""


@pytest.fixture(autouse=True)
def quick(quick_typing: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debounce, "LONGEST", 60)


def left(store: Store, persona_id: str = "one") -> dict[str, tuple[str, str]]:
    """What would be found on the disk if every program ended now: what each text grew from, and the text."""
    return unsaved(store.home, persona_id)


def refuse(*_: object, **__: object) -> None:
    raise StorageError("Could not write: the disk is full; free some space and try again.")


async def reach_conflict(p: Program, typed: str = "my ") -> None:
    """Type something in a line that is changed outside before it is saved."""
    with pytest.MonkeyPatch.context() as slow:
        slow.setattr(debounce, "PAUSE", 60)
        await p.press("f3")
        await p.write(typed)
        file = p.file(p.main.documents.id)
        file.write_text(file.read_text().replace("first", "their"))
        await p.until(lambda: p.state == "conflict")


# -- in the program -----------------------------------------------------------------------------------------


async def test_a_conflict_and_what_is_typed_over_a_broken_file_are_kept_and_what_would_be_lost_is_said(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path, FILES)
    async with program(store, persona_id="one") as p:
        await reach_conflict(p)
        await p.until(lambda: left(store) and left(store)[PROMPT][1].startswith("my first line"))
        await p.write("own ")
        await p.until(lambda: left(store)[PROMPT][1].startswith("my own first line"))
        assert left(store)[PROMPT][0] == "first line\nsecond line\nthird line\n"
        p.main.documents.take(store.change("one", SetName("Uno"), by=USER, revision=None))
        assert left(store)[PROMPT][1].startswith("my own first")
        p.main.action_leave()
        dialog = await p.dialog(Confirm)
        assert "lose" not in dialog._question
        assert "offered at the next start" in dialog._explanation
        await p.press("n")
        await p.until(lambda: p.app.screen is p.main)
        p.prompt.focus()
        await p.press(*["backspace"] * len("my own "))
        await p.until(lambda: p.state == "saved" and not left(store))
        assert p.prompt.raw.startswith("their line")

        await p.open("b")  # over a file that breaks
        await break_file(p)
        await p.write("own ")
        assert p.prompt.raw.startswith("my own first line")
        await p.until(lambda: left(store, "b").get(PROMPT, ("", ""))[1].startswith("my own first"))
        assert "is kept" in str(p.main.prompt_pane.banner.render())
        await p.open("two")
        assert p.on_disk("two") == "I am two."
        await p.open("b")
        assert p.state == "broken"
        assert p.prompt.raw.startswith("my own first line")
        p.file("b").write_text(WHOLE.replace("third", "3rd"))
        await p.until(lambda: p.on_disk("b") == "my own first line\nsecond line\n3rd line\n")
        await p.until(lambda: p.state == "saved" and not left(store, "b"))

        await p.open("c")  # the disk keeps nothing
        disk = pytest.MonkeyPatch()
        disk.setattr(DraftStore, "save", refuse)
        await reach_conflict(p)
        await p.notified("Could not save your draft to disk")
        p.main.action_leave()
        dialog = await p.dialog(Confirm)
        assert "lose" in dialog._question
        await p.press("n")
        await p.until(lambda: p.app.screen is p.main)
        disk.undo()
        await p.until(lambda: p.main.documents.would_lose() == [])
        assert left(p.store, "c")[PROMPT][1].startswith("my ")


async def test_an_unsaved_text_is_back_after_a_restart_as_the_conflict_it_is_or_saved(tmp_path: Path) -> None:
    store = make_store(tmp_path, FILES)
    base = store.get("one").system_prompt
    for key, was, text in (
        ("one", base, base.replace("first", "my first")),  # meets a change
        ("b", base, base.replace("third", "3rd")),  # meets nothing
        ("c", "first line\n", base),  # was saved before the end
        ("d", base, base.replace("first", "my first")),  # over a file that broke
    ):
        leave_behind(store.home, PROMPT, was, text, key)
    for key, word in ("one", "their"), ("b", "1st"):
        store.path(key).write_text(store.path(key).read_text().replace("first", word))
    store.path("d").write_text(BROKEN)
    async with program(store, persona_id="one") as p:
        await p.until(lambda: p.state == "conflict")
        assert p.prompt.raw.startswith("my first line")
        assert p.on_disk("one").startswith("their line")
        await p.notified("is back")
        await p.press("f5")
        await p.dialog(ConflictDialog)
        await p.press("1")
        await p.until(lambda: p.state == "saved" and not left(store))
        assert p.prompt.raw == p.on_disk("one") and p.prompt.raw.startswith("my first line")

        p.app.clear_notifications()
        await p.open("b")
        await p.until(lambda: p.on_disk("b") == "1st line\nsecond line\n3rd line\n")
        await p.until(lambda: p.state == "saved" and not left(store, "b"))
        await p.notified("is back")

        p.app.clear_notifications()
        await p.open("c")
        await p.until(lambda: not left(store, "c"))
        assert p.state == "saved"
        assert p.messages == []

        await p.open("d")
        assert p.state == "broken"
        assert p.prompt.raw.startswith("my first line")
        p.file("d").write_text(WHOLE.replace("first", "their"))
        await p.until(lambda: p.state == "conflict")
        assert p.prompt.raw.startswith("my first line")


# -- a broken file ------------------------------------------------------------------------------------------


async def break_file(p: Program, typed: str = "my ") -> None:
    """Type something, and break the file outside before it is saved."""
    with pytest.MonkeyPatch.context() as slow:
        slow.setattr(debounce, "PAUSE", 60)
        await p.press("f3")
        await p.write(typed)
        p.file(p.main.documents.id).write_text(BROKEN)
        await p.until(lambda: p.state == "broken")


async def test_a_file_that_was_broken_from_the_start_takes_no_keys_and_says_so_once(tmp_path: Path) -> None:
    async with program(make_store(tmp_path, {"one": BROKEN})) as p:
        await p.press("f3")
        await p.write("abc")
        assert p.prompt.raw == ""
        await p.notified("This cannot be edited")
        p.app.clear_notifications()
        await p.write("def")
        await p.pilot.pause()
        assert not any("This cannot be edited" in message for message in p.messages)


async def test_what_is_saved_is_no_change_of_another_program_while_the_disk_takes_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "LOOK_EVERY", 600.0)
    go, write = threading.Event(), UnsavedText.write

    def write_slowly(texts: UnsavedText) -> str:
        go.wait(60)
        return write(texts)

    async with program(make_store(tmp_path)) as p:
        editing = p.main.documents
        monkeypatch.setattr(UnsavedText, "write", write_slowly)
        await p.press("f3")
        await p.write("n")
        await p.until(lambda: p.on_disk("one").startswith("nfirst"))
        await editing.workspace.settled()
        p.prompt.insert("ew ")
        await editing.read_again()
        assert p.prompt.conflict is None
        go.set()
        await p.until(lambda: p.on_disk("one").startswith("new first"))
        assert not any("changed outside" in message for message in p.messages)


# -- a file that is gone ------------------------------------------------------------------------------------


@pytest.fixture
def time_of(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock that tells how long a file is gone: its first element."""
    now = [100.0]
    monkeypatch.setattr(document, "clock", lambda: now[0])
    return now


async def lose_file(p: Program, typed: str = "my ") -> None:
    """Type something, and take the file away before it is saved."""
    with pytest.MonkeyPatch.context() as slow:
        slow.setattr(debounce, "PAUSE", 60)
        await p.press("f3")
        await p.write(typed)
        p.file(p.main.documents.id).unlink()
        await p.until(lambda: p.main.documents.document.missing_since is not None)


async def test_a_file_that_is_gone_for_a_moment_changes_nothing_and_one_that_comes_back_is_merged(
    tmp_path: Path, time_of: list[float]
) -> None:
    text = '# mine\nname = "D" # my name\ntags = ["a"]\nsystem_prompt = "first line"\n'
    store = make_store(tmp_path, FILES | {"d": text})
    async with program(store, persona_id="one") as p:
        content = p.file("one").read_bytes()
        p.file("one").unlink()
        await p.until(lambda: p.main.documents.document.missing_since is not None)
        time_of[0] += 1.9
        await p.main.documents.look()
        assert p.main.documents.id == "one"
        p.file("one").write_bytes(content)
        await p.until(lambda: p.main.documents.document.missing_since is None)
        assert p.state == "saved"
        assert not any("deleted" in message for message in p.messages)

        await p.open("b")  # with nothing unsaved
        content = p.file("b").read_text()
        p.file("b").unlink()
        await p.until(lambda: p.main.documents.document.missing_since is not None)
        time_of[0] += 3
        await p.until(lambda: p.main.documents.persona is None)
        await p.notified("deleted outside")
        p.file("b").write_text(content.replace("second", "2nd"))
        await p.until(lambda: p.main.documents.id == "b")
        assert "2nd line" in p.prompt.raw

        await p.open("c")  # with text that is typed
        content = p.file("c").read_text()
        await lose_file(p)
        time_of[0] += 3
        await p.until(lambda: p.state == "gone")
        await p.until(lambda: "The file is missing" in str(p.main.prompt_pane.banner.render()))
        await p.write("own ")
        await p.until(lambda: left(store, "c")[PROMPT][1].startswith("my own first line"))
        p.file("c").write_text(content.replace("third", "3rd"))
        await p.until(lambda: p.on_disk("c") == "my own first line\nsecond line\n3rd line\n")
        await p.until(lambda: p.state == "saved" and not left(store, "c"))

        await p.open("d")  # written back
        await p.press("f3")
        await p.write("so ")
        await p.until(lambda: p.on_disk("d").startswith("so first"))
        text = p.file("d").read_text()
        await p.main.documents.look()
        await lose_file(p)
        time_of[0] += 3
        await p.until(lambda: p.state == "gone")
        await p.press("f5")
        await p.dialog(Confirm)
        await p.pilot.click("#confirm")
        await p.until(lambda: p.state == "saved" and not left(store, "d"))
        assert p.file("d").read_text() == text.replace("first line", "my first line")


async def test_a_persona_that_lost_its_file_is_open_at_the_next_start_and_written_back_with_what_was_saved(
    tmp_path: Path, time_of: list[float]
) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        await p.press("f3")
        await p.write("so ")
        await p.until(lambda: p.on_disk("one").startswith("so first"))
        p.main.documents.take(store.change("one", AddTestInput("precious"), by=USER, revision=None))
        text = p.file("one").read_text()
        await lose_file(p)
        time_of[0] += 3
        await p.until(lambda: p.state == "gone" and left(store))
        await p.main.remember()
    async with program(store, ready=False) as p:
        await p.until(lambda: p.main.documents is not None and p.state == "gone")
        assert p.prompt.raw.startswith("so my first line")
        await p.open("two")
        assert left(store)[PROMPT][1].startswith("so my first line")
        await p.main.remember()
    async with program(store) as p:
        assert p.main.documents.id == "two"
        p.main.action_write_back()
        await p.dialog(Confirm)
        assert p.state == "gone"
        assert p.prompt.raw.startswith("so my first line")
        await p.press("y")
        await p.until(lambda: p.state == "saved" and not left(store))
        assert p.file("one").read_text() == text.replace("so first", "so my first")
        await p.until(lambda: p.main.conversation.current is not None)


# -- test inputs --------------------------------------------------------------------------------------------

TESTED = """name = "One"
[[test_inputs]]
id = "sum"
content = "What is 2+2?"
[[test_inputs]]
id = "other"
content = "Else."
"""


def contents(store: Store, persona_id: str = "one") -> list[str]:
    return [test_input.content for test_input in store.get(persona_id).test_inputs]


async def reach_conflict_in_input(p: Program) -> None:
    with pytest.MonkeyPatch.context() as slow:
        slow.setattr(debounce, "PAUSE", 60)
        await p.press("f4", "enter")
        await p.write("My ")
        p.file(p.main.documents.id).write_text(TESTED.replace("What is", "Their"))
        await p.until(lambda: p.main.tests.editor.conflict is not None)


async def test_a_test_input_in_conflict_or_over_a_broken_file_is_put_off_and_kept(tmp_path: Path) -> None:
    store = make_store(tmp_path, dict.fromkeys(("one", "b", "c"), TESTED))
    async with program(store, persona_id="c") as p:
        await reach_conflict_in_input(p)
        p.main.tests.rows.select("other")
        await p.until(lambda: contents(store, "c") == ["Their 2+2?", "Else.", "My What is 2+2?"])
        await p.until(lambda: not left(store, "c"))
        assert p.main.tests.editor.raw == "Else."

        await p.open("b")
        with pytest.MonkeyPatch.context() as slow:
            slow.setattr(debounce, "PAUSE", 60)
            await p.press("f4", "enter")
            await p.write("My ")
            p.file("b").write_text("<<<<\n" + TESTED)
            await p.until(lambda: p.state == "broken")
        await p.press("escape")
        await p.main.documents.flush()
        p.file("b").write_text(TESTED)
        await p.until(lambda: contents(store, "b") == ["My What is 2+2?", "Else."])
        await p.until(lambda: not left(store, "b"))

        await p.open("one")
        await reach_conflict_in_input(p)
        await p.write("own ")
        await p.until(lambda: left(store).get("input:sum") == ("What is 2+2?", "My own What is 2+2?"))
        await p.press("f5")
        await p.dialog(ConflictDialog)
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        assert p.main.tests.editor.raw == "My own What is 2+2?"
        assert contents(store) == ["Their 2+2?", "Else."]
    async with program(store, persona_id="one") as p:
        await p.until(lambda: contents(store) == ["Their 2+2?", "Else.", "My own What is 2+2?"])
        await p.until(lambda: not left(store))
        await p.notified("is back")


async def test_a_text_that_the_editor_cannot_hold_says_why_no_letter_comes(tmp_path: Path) -> None:
    hidden = f'name = "One"\nsystem_prompt = "a{chr(0x10F001)}"\n\n[[test_inputs]]\nid = "a"\ncontent = "b{chr(0x10F001)}"\n'
    async with program(make_store(tmp_path, {"one": hidden, "two": hidden}), persona_id="two") as p:
        for persona_id, editor in ("one", p.prompt), ("two", p.main.tests.editor):
            await p.open(persona_id)
            editor.focus()
            await p.until(lambda editor=editor: editor.has_focus)
            await p.press("x")
            await p.notified("it contains characters the editor uses as placeholders. Ctrl+G opens the file")
            p.app.clear_notifications()
