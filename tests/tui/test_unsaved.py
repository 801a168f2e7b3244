"""Text that cannot be saved: kept on disk, put back at the next start, settled when it is saved."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from personas.changes import AddTestInput, SetName, SetPrompt
from personas.errors import StorageError
from personas.store import Store
from personas.versions.authorship import USER
from tests.support.drafts import drafts, leave_behind, unsaved
from tests.support.program import ONE, Program, make_store, program
from tui.document import debounce
from tui.document import document as gone
from tui.document.missing_file import last_text, text_of
from tui.drafts.draft import PROMPT
from tui.drafts.store import DraftStore
from tui.drafts.unsaved_text import UnsavedText
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.conflict import ConflictDialog
from tui.screens.main import screen as main


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
        p.file("one").write_text(p.file("one").read_text().replace("first", "their"))
        await p.until(lambda: p.state == "conflict")


# -- in the program -----------------------------------------------------------------------------------------


async def test_a_conflict_is_kept_with_what_is_typed_on_and_with_its_file_until_it_is_typed_away(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        await reach_conflict(p)
        await p.until(lambda: left(store) and left(store)[PROMPT][1].startswith("my first line"))
        await p.write("own ")
        await p.until(lambda: left(store)[PROMPT][1].startswith("my own first line"))
        assert left(store)[PROMPT][0] == "first line\nsecond line\nthird line\n"
        p.main.documents.take(store.change("one", SetName("Uno"), by=USER, revision=None))
        await p.until(lambda: drafts(store.home)[0].file == p.file("one").read_text())
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


async def test_an_unsaved_text_is_back_as_the_conflict_it_is_after_a_restart(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        await reach_conflict(p)
        await p.until(lambda: left(store))
    async with program(store) as p:
        await p.until(lambda: p.state == "conflict")
        assert p.prompt.raw.startswith("my first line")
        assert p.on_disk("one").startswith("their line")
        await p.told("is back")
        await p.press("f5")
        await p.dialog(ConflictDialog)
        await p.press("1")
        await p.until(lambda: p.state == "saved" and not left(store))
        assert p.prompt.raw == p.on_disk("one") and p.prompt.raw.startswith("my first line")


async def test_an_unsaved_text_that_meets_nothing_is_saved_after_a_restart(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    base = store.get("one").system_prompt
    leave_behind(store.home, PROMPT, base, base.replace("third", "3rd"))
    path = store.path("one")
    path.write_text(path.read_text().replace("first", "1st"))
    async with program(store) as p:
        await p.until(lambda: p.on_disk("one") == "1st line\nsecond line\n3rd line\n")
        await p.until(lambda: p.state == "saved" and not left(store))
        await p.told("is back")


async def test_what_was_saved_before_the_end_is_not_said_to_be_unsaved(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    leave_behind(store.home, PROMPT, "first line\n", store.get("one").system_prompt)
    async with program(store) as p:
        await p.until(lambda: not left(store))
        assert p.state == "saved"
        assert p.messages == []


async def test_quitting_says_what_would_be_lost_where_the_disk_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path)) as p:
        monkeypatch.setattr(DraftStore, "save", refuse)
        await reach_conflict(p)
        await p.told("Could not save your draft to disk")
        p.main.action_leave()
        dialog = await p.dialog(Confirm)
        assert "lose" in dialog._question
        await p.press("n")
        await p.until(lambda: p.app.screen is p.main)
        monkeypatch.undo()
        await p.until(lambda: p.main.documents.would_lose() == [])
        assert left(p.store)[PROMPT][1].startswith("my ")


# -- a broken file ------------------------------------------------------------------------------------------

WHOLE = 'name = "One"\nsystem_prompt = """\nfirst line\nsecond line\nthird line\n"""\n'
BROKEN = "<<<<<<< mine\n" + WHOLE


async def break_file(p: Program, typed: str = "my ") -> None:
    """Type something, and break the file outside before it is saved."""
    with pytest.MonkeyPatch.context() as slow:
        slow.setattr(debounce, "PAUSE", 60)
        await p.press("f3")
        await p.write(typed)
        p.file("one").write_text(BROKEN)
        await p.until(lambda: p.state == "broken")


async def test_typing_goes_on_over_a_file_that_broke_and_is_merged_once_it_is_mended(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        await break_file(p)
        await p.write("own ")
        assert p.prompt.raw.startswith("my own first line")
        await p.until(lambda: left(store).get(PROMPT, ("", ""))[1].startswith("my own first"))
        assert "is kept" in str(p.main.prompt_pane.banner.render())
        await p.open("two")
        assert p.on_disk("two") == "I am two."
        await p.open("one")
        assert p.state == "broken"
        assert p.prompt.raw.startswith("my own first line")
        p.file("one").write_text(WHOLE.replace("third", "3rd"))
        await p.until(lambda: p.on_disk("one") == "my own first line\nsecond line\n3rd line\n")
        await p.until(lambda: p.state == "saved" and not left(store))


async def test_a_text_typed_over_a_broken_file_is_back_after_a_restart(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        await break_file(p)
        await p.until(lambda: left(store))
    async with program(store) as p:
        assert p.state == "broken"
        assert p.prompt.raw.startswith("my first line")
        p.file("one").write_text(WHOLE.replace("first", "their"))
        await p.until(lambda: p.state == "conflict")
        assert p.prompt.raw.startswith("my first line")


async def test_a_file_that_was_broken_from_the_start_takes_no_keys_and_says_so_once(tmp_path: Path) -> None:
    async with program(make_store(tmp_path, {"one": BROKEN})) as p:
        await p.press("f3")
        await p.write("abc")
        assert p.prompt.raw == ""
        await p.told("This cannot be edited")
        p.app.clear_notifications()
        await p.write("def")
        await p.pilot.pause()
        assert not any("This cannot be edited" in message for message in p.messages)


async def test_what_is_saved_is_no_change_of_another_program_while_the_disk_takes_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "LOOK_EVERY", 600.0)
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
    monkeypatch.setattr(gone, "clock", lambda: now[0])
    return now


async def lose_file(p: Program, typed: str = "my ") -> None:
    """Type something, and take the file away before it is saved."""
    with pytest.MonkeyPatch.context() as slow:
        slow.setattr(debounce, "PAUSE", 60)
        await p.press("f3")
        await p.write(typed)
        p.file("one").unlink()
        await p.until(lambda: p.main.documents.document.missing_since is not None)


async def test_a_file_that_is_gone_for_a_moment_changes_nothing(tmp_path: Path, time_of: list[float]) -> None:
    async with program(make_store(tmp_path)) as p:
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


async def test_a_persona_with_nothing_unsaved_is_open_again_when_its_file_is_back(
    tmp_path: Path, time_of: list[float]
) -> None:
    async with program(make_store(tmp_path)) as p:
        content = p.file("one").read_text()
        p.file("one").unlink()
        await p.until(lambda: p.main.documents.document.missing_since is not None)
        time_of[0] += 3
        await p.until(lambda: p.main.documents.persona is None)
        await p.told("deleted outside")
        p.file("one").write_text(content.replace("second", "2nd"))
        await p.until(lambda: p.main.documents.id == "one")
        assert "2nd line" in p.prompt.raw


async def test_text_typed_into_a_file_that_is_gone_stays_and_is_merged_when_it_is_back(
    tmp_path: Path, time_of: list[float]
) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        content = p.file("one").read_text()
        await lose_file(p)
        time_of[0] += 3
        await p.until(lambda: p.state == "gone")
        await p.until(lambda: "The file is missing" in str(p.main.prompt_pane.banner.render()))
        await p.write("own ")
        await p.until(lambda: left(store)[PROMPT][1].startswith("my own first line"))
        p.file("one").write_text(content.replace("third", "3rd"))
        await p.until(lambda: p.on_disk("one") == "my own first line\nsecond line\n3rd line\n")
        await p.until(lambda: p.state == "saved" and not left(store))


async def test_a_file_that_is_gone_is_written_back_with_everything_it_held(
    tmp_path: Path, time_of: list[float]
) -> None:
    text = '# mine\nname = "One" # my name\ntags = ["a"]\nsystem_prompt = "first line"\n'
    store = make_store(tmp_path, {"one": text, "two": 'name = "Two"\n'})
    async with program(store) as p:
        await p.press("f3")
        await p.write("so ")
        await p.until(lambda: p.on_disk("one").startswith("so first"))
        text = p.file("one").read_text()
        await p.main.documents.look()
        await lose_file(p)
        time_of[0] += 3
        await p.until(lambda: p.state == "gone")
        await p.press("f5")
        await p.dialog(Confirm)
        await p.pilot.click("#confirm")
        await p.until(lambda: p.state == "saved" and not left(store))
        assert p.file("one").read_text() == text.replace("first line", "my first line")


async def test_leaving_a_persona_whose_file_is_gone_keeps_the_text_for_the_next_start(
    tmp_path: Path, time_of: list[float]
) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        await lose_file(p)
        time_of[0] += 3
        await p.until(lambda: p.state == "gone")
        await p.open("two")
        assert left(store)[PROMPT][1].startswith("my first line")
        await p.main.remember()
    async with program(store) as p:
        assert p.main.documents.id == "two"
        p.main.action_write_back()
        await p.dialog(Confirm)
        assert p.state == "gone"
        assert p.prompt.raw.startswith("my first line")
        await p.press("y")
        await p.until(lambda: p.state == "saved" and not left(store))
        assert p.on_disk("one").startswith("my first line")
        await p.until(lambda: p.main.conversation.current is not None)


async def test_a_persona_that_lost_its_file_is_open_at_the_next_start(
    tmp_path: Path, time_of: list[float]
) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        await lose_file(p)
        time_of[0] += 3
        await p.until(lambda: p.state == "gone" and left(store))
        await p.main.remember()
    async with program(store, ready=False) as p:
        await p.until(lambda: p.main.documents is not None and p.state == "gone")
        assert p.prompt.raw.startswith("my first line")


async def test_what_was_saved_is_in_a_file_that_is_written_back_after_a_restart(
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
        await p.main.documents.write_back()
        await p.until(lambda: p.state == "saved" and not left(store))
        assert p.file("one").read_text() == text.replace("so first", "so my first")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_what_a_file_held_last_is_known_whoever_wrote_it(tmp_path: Path, mark: str) -> None:
    store = make_store(tmp_path, {"one": mark + ONE})
    persona = store.change("one", SetPrompt("second"), by=USER, revision=None)
    second = store.path("one").read_text(encoding="utf-8")
    assert second.startswith(mark)
    assert text_of(store, persona) == second
    store.path("one").unlink()
    assert text_of(store, persona) == second
    assert last_text(store, "one", "") == second
    assert last_text(store, "one", mark + ONE) == second
    assert last_text(store, "one", "# read outside\n") == "# read outside\n"
    assert last_text(store, "two", "kept") == "kept"


# -- test inputs --------------------------------------------------------------------------------------------

TESTED = """name = "One"
[[test_inputs]]
id = "sum"
content = "What is 2+2?"
[[test_inputs]]
id = "other"
content = "Else."
"""


def contents(store: Store) -> list[str]:
    return [test_input.content for test_input in store.get("one").test_inputs]


async def reach_conflict_in_input(p: Program) -> None:
    with pytest.MonkeyPatch.context() as slow:
        slow.setattr(debounce, "PAUSE", 60)
        await p.press("f4", "enter")
        await p.write("My ")
        p.file("one").write_text(TESTED.replace("What is", "Their"))
        await p.until(lambda: p.main.tests.editor.conflict is not None)


async def test_a_test_input_in_conflict_is_put_off_and_kept(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"one": TESTED})
    async with program(store) as p:
        await reach_conflict_in_input(p)
        await p.write("own ")
        await p.until(lambda: left(store).get("input:sum") == ("What is 2+2?", "My own What is 2+2?"))
        await p.press("f5")
        await p.dialog(ConflictDialog)
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        assert p.main.tests.editor.raw == "My own What is 2+2?"
        assert contents(store) == ["Their 2+2?", "Else."]
    async with program(store) as p:
        await p.until(lambda: contents(store) == ["Their 2+2?", "Else.", "My own What is 2+2?"])
        await p.until(lambda: not left(store))
        await p.told("is back")


async def test_leaving_a_test_input_in_conflict_keeps_both_contents(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"one": TESTED})
    async with program(store) as p:
        await reach_conflict_in_input(p)
        p.main.tests.rows.select("other")
        await p.until(lambda: contents(store) == ["Their 2+2?", "Else.", "My What is 2+2?"])
        await p.until(lambda: not left(store))
        assert p.main.tests.editor.raw == "Else."


async def test_a_test_input_typed_over_a_broken_file_is_saved_once_it_is_mended(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"one": TESTED})
    async with program(store) as p:
        with pytest.MonkeyPatch.context() as slow:
            slow.setattr(debounce, "PAUSE", 60)
            await p.press("f4", "enter")
            await p.write("My ")
            p.file("one").write_text("<<<<\n" + TESTED)
            await p.until(lambda: p.state == "broken")
        await p.press("escape")
        await p.main.documents.flush()
        p.file("one").write_text(TESTED)
        await p.until(lambda: contents(store) == ["My What is 2+2?", "Else."])
        await p.until(lambda: not left(store))


async def test_a_text_that_the_editor_cannot_hold_says_why_no_letter_comes(tmp_path: Path) -> None:
    hidden = f'name = "One"\nsystem_prompt = "a{chr(0x10F001)}"\n\n[[test_inputs]]\nid = "a"\ncontent = "b{chr(0x10F001)}"\n'
    async with program(make_store(tmp_path, {"one": hidden, "two": hidden}), persona_id="two") as p:
        for persona_id, editor in ("one", p.prompt), ("two", p.main.tests.editor):
            await p.open(persona_id)
            editor.focus()
            await p.until(lambda editor=editor: editor.has_focus)
            await p.press("x")
            await p.told("it contains characters the editor uses as placeholders. Ctrl+G opens the file")
            p.app.clear_notifications()
