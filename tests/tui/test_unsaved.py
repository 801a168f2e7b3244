"""Text that cannot be saved: kept on disk, put back at the next start, settled when it is saved."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from personas.changes import AddTestInput, SetName, SetPrompt
from personas.errors import StorageError
from personas.files.home import Home
from personas.files.unsaved_texts import beginning
from personas.store import Store
from personas.versions.authorship import USER
from tests.tui.program import ONE, Program, make_store, program
from tui.document import missing_file as gone
from tui.drafts.unsaved_edits import PROMPT, Unsaved, UnsavedTexts, read_kept
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.conflict import ChooseText
from tui.screens.main import screen as main
from tui.widgets.text import document_editor as text_editor


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_editor, "PAUSE", 0.02)
    monkeypatch.setattr(text_editor, "LONGEST", 60)
    monkeypatch.setattr(main, "LOOK_EVERY", 0.12)


def left(store: Store, persona_id: str = "one") -> dict[str, Unsaved]:
    """What would be found on the disk if every program ended now."""
    return {kept.field: kept.unsaved for kept in read_kept(store.home, beginning(persona_id))}


async def reach_conflict(p: Program, typed: str = "my ") -> None:
    """Type something in a line that is changed outside before it is saved."""
    with pytest.MonkeyPatch.context() as slow:
        slow.setattr(text_editor, "PAUSE", 60)
        await p.press("f3")
        await p.write(typed)
        p.file("one").write_text(p.file("one").read_text().replace("first", "their"))
        await p.until(lambda: p.state == "conflict")


# -- the texts on disk ------------------------------------------------------------------------------------


def test_what_is_held_is_found_by_the_next_program_until_it_is_let_go(tmp_path: Path) -> None:
    home = make_store(tmp_path).home
    texts = UnsavedTexts(home)
    texts.hold("one", PROMPT, "a\n", "b\r\n\u2028\x00ü")
    texts.hold("ö" * 80, "test:x/../y", "", "t")
    assert texts.due
    assert texts.write_down() == ""
    assert not texts.due
    assert UnsavedTexts(home).find("one") == {}, "it belongs to a program that runs"
    assert UnsavedTexts(home).find_ids() == []
    texts.close()
    assert left(Store(home)) == {PROMPT: Unsaved("a\n", "b\r\n\u2028\x00ü")}
    assert sorted(UnsavedTexts(home).find_ids()) == ["one", "ö" * 80]
    assert {path.stat().st_mode & 0o777 for path in home.state.glob("unsaved-*")} == {0o600}
    texts = UnsavedTexts(home)
    assert texts.find("one") == {PROMPT: Unsaved("a\n", "b\r\n\u2028\x00ü")}
    assert texts.find("ö" * 80) == {"test:x/../y": Unsaved("", "t")}
    assert not texts.due
    texts.let_go("one", PROMPT, "not this one")
    assert texts.held("one") == Unsaved("a\n", "b\r\n\u2028\x00ü")
    texts.let_go("one", PROMPT)
    assert texts.write_down() == ""
    assert left(Store(home)) == {}
    assert len(list(home.state.glob("unsaved-*"))) == 1


def test_a_disk_that_refuses_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = make_store(tmp_path).home
    texts = UnsavedTexts(home)
    texts.hold("one", PROMPT, "", "x")
    with monkeypatch.context() as full:
        full.setattr("tui.drafts.unsaved_edits.replace_file", _refuse)
        assert "disk is full" in texts.write_down()
    assert texts.due
    assert texts.at_risk("one")
    assert texts.write_down() == ""
    assert not texts.at_risk("one")
    texts.close()
    assert UnsavedTexts(home).find("one") == {PROMPT: Unsaved("", "x")}


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"[]", b"{}", b"[" * 100_000, b'{"persona_id": "two", "field": "prompt", "text": "x"}'],
)
def test_what_a_stranger_left_there_is_not_taken(tmp_path: Path, content: bytes) -> None:
    home = make_store(tmp_path).home
    _kept_file(home).write_bytes(content)
    assert UnsavedTexts(home).find("one") == {}
    assert UnsavedTexts(home).find_ids() == []


def test_a_link_out_of_the_home_is_neither_read_nor_written(tmp_path: Path) -> None:
    home = make_store(tmp_path).home
    path = _kept_file(home)
    outside = tmp_path / "outside.json"
    path.rename(outside)
    before = outside.read_bytes()
    path.symlink_to(outside)
    texts = UnsavedTexts(home)
    assert texts.find("one") == {}
    texts.hold("one", PROMPT, "", "new")
    texts.write_down()
    texts.let_go("one", PROMPT)
    texts.write_down()
    assert outside.read_bytes() == before
    assert path.is_symlink()


def test_the_folder_of_kept_texts_may_not_lead_out_of_the_home(tmp_path: Path) -> None:
    home = make_store(tmp_path).home
    texts = UnsavedTexts(home)
    home.state.rename(tmp_path / "outside")
    home.state.symlink_to(tmp_path / "outside")
    texts.hold("one", PROMPT, "", "new")
    assert texts.write_down() != ""
    assert list((tmp_path / "outside").glob("unsaved-*")) == []


def test_half_characters_and_wrong_types_are_made_harmless(tmp_path: Path) -> None:
    home = make_store(tmp_path).home
    path = _kept_file(home)
    record = json.loads(path.read_text()) | {"base": 7, "text": "a\ud800b"}
    path.write_text(json.dumps(record))
    assert UnsavedTexts(home).find("one") == {PROMPT: Unsaved("", "a?b")}


def _kept_file(home: Home) -> Path:
    texts = UnsavedTexts(home)
    texts.hold("one", PROMPT, "", "x")
    texts.write_down()
    texts.close()
    (path,) = home.state.glob("unsaved-*")
    return path


def _refuse(*_: object, **__: object) -> None:
    raise StorageError("Could not write: the disk is full; free some space and try again.")


# -- in the program -----------------------------------------------------------------------------------------


async def test_a_conflict_is_kept_at_once_and_with_what_is_typed_on(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        await reach_conflict(p)
        await p.until(lambda: left(store) and left(store)[PROMPT].text.startswith("my first line"))
        await p.write("own ")
        await p.until(lambda: left(store)[PROMPT].text.startswith("my own first line"))
        assert left(store)[PROMPT].base == "first line\nsecond line\nthird line\n"


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
        await p.dialog(ChooseText)
        await p.press("2")
        await p.until(lambda: p.state == "saved" and not left(store))
        assert p.prompt.raw == p.on_disk("one")


async def test_an_unsaved_text_that_meets_nothing_is_saved_after_a_restart(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    texts = UnsavedTexts(store.home)
    base = store.get("one").system_prompt
    texts.hold("one", PROMPT, base, base.replace("third", "3rd"))
    texts.write_down()
    texts.close()
    path = store.path("one")
    path.write_text(path.read_text().replace("first", "1st"))
    async with program(store) as p:
        await p.until(lambda: p.on_disk("one") == "1st line\nsecond line\n3rd line\n")
        await p.until(lambda: p.state == "saved" and not left(store))
        await p.told("is back")


async def test_what_was_saved_before_the_end_is_not_said_to_be_unsaved(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    texts = UnsavedTexts(store.home)
    texts.hold("one", PROMPT, "first line\n", store.get("one").system_prompt)
    texts.write_down()
    texts.close()
    async with program(store) as p:
        await p.until(lambda: not left(store))
        assert p.state == "saved"
        assert p.messages == []


async def test_keeping_mine_settles_it(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        await reach_conflict(p)
        await p.until(lambda: left(store))
        await p.press("f5")
        await p.dialog(ChooseText)
        await p.press("1")
        await p.until(lambda: p.state == "saved" and not left(store))
        assert p.on_disk("one").startswith("my first line")


async def test_quitting_says_that_the_text_is_kept(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        await reach_conflict(p)
        p.main.action_leave()
        dialog = await p.dialog(Confirm)
        shown = " ".join(str(part.render()) for part in dialog.query("DialogText Static, DialogText"))
        assert "lose" not in dialog._question
        assert "offered at the next start" in dialog._explanation, shown
        await p.press("n")
        await p.until(lambda: p.app.screen is p.main)


async def test_quitting_says_what_would_be_lost_where_the_disk_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path)) as p:
        monkeypatch.setattr("tui.drafts.unsaved_edits.replace_file", _refuse)
        await reach_conflict(p)
        await p.told("nowhere but on the screen")
        p.main.action_leave()
        dialog = await p.dialog(Confirm)
        assert "lose" in dialog._question
        await p.press("n")
        await p.until(lambda: p.app.screen is p.main)
        monkeypatch.undo()
        monkeypatch.setattr(main, "LOOK_EVERY", 0.12)
        await p.until(lambda: p.main.editing.would_lose() == [])
        assert left(p.store)[PROMPT].text.startswith("my ")


async def test_text_that_is_typed_away_again_is_kept_no_longer(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        await reach_conflict(p, "my ")
        await p.until(lambda: left(store))
        await p.press(*["backspace"] * 3)
        await p.until(lambda: p.state == "saved" and not left(store))
        assert p.prompt.raw.startswith("their line")


# -- a broken file ------------------------------------------------------------------------------------------

WHOLE = 'name = "One"\nsystem_prompt = """\nfirst line\nsecond line\nthird line\n"""\n'
BROKEN = "<<<<<<< mine\n" + WHOLE


async def break_file(p: Program, typed: str = "my ") -> None:
    """Type something, and break the file outside before it is saved."""
    with pytest.MonkeyPatch.context() as slow:
        slow.setattr(text_editor, "PAUSE", 60)
        await p.press("f3")
        await p.write(typed)
        p.file("one").write_text(BROKEN)
        await p.until(lambda: p.state == "broken")


async def test_typing_goes_on_over_a_file_that_broke_and_is_merged_once_it_is_mended(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        await break_file(p)
        await p.write("own ")
        assert p.prompt.raw.startswith("my own first line")
        await p.until(lambda: left(store).get(PROMPT, Unsaved("", "")).text.startswith("my own first"))
        assert "is kept" in str(p.main.query_one("#prompt-banner").render())
        p.file("one").write_text(WHOLE.replace("third", "3rd"))
        await p.until(lambda: p.on_disk("one") == "my own first line\nsecond line\n3rd line\n")
        await p.until(lambda: p.state == "saved" and not left(store))


async def test_switching_away_from_a_broken_file_and_back_keeps_what_was_typed(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        await break_file(p)
        await p.open("two")
        assert p.on_disk("two") == "I am two."
        await p.open("one")
        assert p.state == "broken"
        assert p.prompt.raw.startswith("my first line")
        p.file("one").write_text(WHOLE)
        await p.until(lambda: p.on_disk("one").startswith("my first line"))
        await p.until(lambda: not left(store))


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
        await p.told("Nothing can be typed")
        p.app.clear_notifications()
        await p.write("def")
        await p.pilot.pause()
        assert not any("Nothing can be typed" in message for message in p.messages)


async def test_what_is_saved_is_no_deed_of_another_program_while_the_disk_takes_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "LOOK_EVERY", 600.0)
    go, write_down = threading.Event(), UnsavedTexts.write_down

    def write_down_slowly(texts: UnsavedTexts) -> str:
        go.wait(60)
        return write_down(texts)

    async with program(make_store(tmp_path)) as p:
        editing = p.main.editing
        monkeypatch.setattr(UnsavedTexts, "write_down", write_down_slowly)
        editing.unsaved.hold("two", PROMPT, "", "kept")
        await p.press("f3")
        await p.write("n")
        await p.until(lambda: p.on_disk("one").startswith("nfirst"))
        await editing.workspace.settled()
        p.prompt.insert("ew ")
        await editing.read_again()
        assert p.prompt.clash is None
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
        slow.setattr(text_editor, "PAUSE", 60)
        await p.press("f3")
        await p.write(typed)
        p.file("one").unlink()
        await p.until(lambda: p.main.editing._absence.noted)


async def test_a_file_that_is_gone_for_a_moment_changes_nothing(tmp_path: Path, time_of: list[float]) -> None:
    async with program(make_store(tmp_path)) as p:
        content = p.file("one").read_bytes()
        p.file("one").unlink()
        await p.until(lambda: p.main.editing._absence.noted)
        time_of[0] += 1.9
        await p.main.editing.look()
        assert p.main.editing.id == "one"
        p.file("one").write_bytes(content)
        await p.until(lambda: not p.main.editing._absence.noted)
        assert p.state == "saved"
        assert not any("deleted" in message for message in p.messages)


async def test_a_persona_with_nothing_unsaved_is_open_again_when_its_file_is_back(
    tmp_path: Path, time_of: list[float]
) -> None:
    async with program(make_store(tmp_path)) as p:
        content = p.file("one").read_text()
        p.file("one").unlink()
        await p.until(lambda: p.main.editing._absence.noted)
        time_of[0] += 3
        await p.until(lambda: p.main.editing.persona is None)
        await p.told("deleted outside")
        p.file("one").write_text(content.replace("second", "2nd"))
        await p.until(lambda: p.main.editing.id == "one")
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
        await p.until(lambda: "The file is gone" in str(p.main.query_one("#prompt-banner").render()))
        await p.write("own ")
        await p.until(lambda: left(store)[PROMPT].text.startswith("my own first line"))
        p.file("one").write_text(content.replace("third", "3rd"))
        await p.until(lambda: p.on_disk("one") == "my own first line\nsecond line\n3rd line\n")
        await p.until(lambda: p.state == "saved" and not left(store))


@pytest.mark.parametrize("changed_before", [False, True])
async def test_a_file_that_is_gone_is_written_back_with_everything_it_held(
    tmp_path: Path, time_of: list[float], changed_before: bool
) -> None:
    text = '# mine\nname = "One" # my name\ntags = ["a"]\nsystem_prompt = "first line"\n'
    store = make_store(tmp_path, {"one": text, "two": 'name = "Two"\n'})
    async with program(store) as p:
        if changed_before:
            await p.press("f3")
            await p.write("so ")
            await p.until(lambda: p.on_disk("one").startswith("so first"))
            text = p.file("one").read_text()
        await p.main.editing.look()
        await lose_file(p)
        time_of[0] += 3
        await p.until(lambda: p.state == "gone")
        await p.press("f5")
        await p.dialog(Confirm)
        await p.pilot.click("#deed")
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
        assert left(store)[PROMPT].text.startswith("my first line")
        await p.main.conversing.remember()
    async with program(store) as p:
        assert p.main.editing.id == "two"
        p.main.action_write_back()
        await p.dialog(Confirm)
        assert p.state == "gone"
        assert p.prompt.raw.startswith("my first line")
        await p.press("y")
        await p.until(lambda: p.state == "saved" and not left(store))
        assert p.on_disk("one").startswith("my first line")
        await p.until(lambda: p.main.conversing.talk is not None)


async def test_a_persona_that_lost_its_file_is_open_at_the_next_start(
    tmp_path: Path, time_of: list[float]
) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        await lose_file(p)
        time_of[0] += 3
        await p.until(lambda: p.state == "gone" and left(store))
        await p.main.conversing.remember()
    async with program(store, ready=False) as p:
        await p.until(lambda: p.main.editing is not None and p.state == "gone")
        assert p.prompt.raw.startswith("my first line")


async def test_what_was_saved_is_in_a_file_that_is_written_back_after_a_restart(
    tmp_path: Path, time_of: list[float]
) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        await p.press("f3")
        await p.write("so ")
        await p.until(lambda: p.on_disk("one").startswith("so first"))
        p.main.editing.take(store.change("one", AddTestInput("precious"), by=USER, revision=None))
        text = p.file("one").read_text()
        await lose_file(p)
        time_of[0] += 3
        await p.until(lambda: p.state == "gone" and left(store))
        await p.main.conversing.remember()
    async with program(store, ready=False) as p:
        await p.until(lambda: p.main.editing is not None and p.state == "gone")
        await p.main.editing.write_back()
        await p.until(lambda: p.state == "saved" and not left(store))
        assert p.file("one").read_text() == text.replace("so first", "so my first")


async def test_what_is_kept_goes_with_the_file_as_it_is_now(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        await reach_conflict(p)
        await p.until(lambda: left(p.store))
        p.main.editing.take(p.store.change("one", SetName("Uno"), by=USER, revision=None))
        await p.until(lambda: left(p.store)[PROMPT].file == p.file("one").read_text())
        assert left(p.store)[PROMPT].text.startswith("my first")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_what_a_file_held_last_is_known_whoever_wrote_it(tmp_path: Path, mark: str) -> None:
    store = make_store(tmp_path, {"one": mark + ONE})
    persona = store.change("one", SetPrompt("second"), by=USER, revision=None)
    second = store.path("one").read_text(encoding="utf-8")
    assert second.startswith(mark)
    assert gone.text_of(store, persona) == second
    store.path("one").unlink()
    assert gone.text_of(store, persona) == second
    assert gone.last_text(store, "one", "") == second
    assert gone.last_text(store, "one", mark + ONE) == second
    assert gone.last_text(store, "one", "# read outside\n") == "# read outside\n"
    assert gone.last_text(store, "two", "kept") == "kept"


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
        slow.setattr(text_editor, "PAUSE", 60)
        await p.press("f4", "enter")
        await p.write("My ")
        p.file("one").write_text(TESTED.replace("What is", "Their"))
        await p.until(lambda: p.main.tests.editor.clash is not None)


async def test_a_test_input_in_conflict_is_put_off_and_kept(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"one": TESTED})
    async with program(store) as p:
        await reach_conflict_in_input(p)
        await p.write("own ")
        await p.until(lambda: left(store).get("test:sum") == Unsaved("What is 2+2?", "My own What is 2+2?"))
        await p.press("f5")
        await p.dialog(ChooseText)
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
            slow.setattr(text_editor, "PAUSE", 60)
            await p.press("f4", "enter")
            await p.write("My ")
            p.file("one").write_text("<<<<\n" + TESTED)
            await p.until(lambda: p.state == "broken")
        await p.press("escape")
        await p.main.editing.flush()
        p.file("one").write_text(TESTED)
        await p.until(lambda: contents(store) == ["My What is 2+2?", "Else."])
        await p.until(lambda: not left(store))


@pytest.mark.parametrize("where", ["prompt", "test input"])
async def test_a_text_that_the_editor_cannot_hold_says_why_no_letter_comes(
    tmp_path: Path, where: str
) -> None:
    hidden = f'name = "One"\nsystem_prompt = "a{chr(0x10F001)}"\n\n[[test_inputs]]\nid = "a"\ncontent = "b{chr(0x10F001)}"\n'
    async with program(make_store(tmp_path, {"one": hidden})) as p:
        editor = p.prompt if where == "prompt" else p.main.tests.editor
        editor.focus()
        await p.until(lambda: editor.has_focus)
        await p.press("x")
        await p.told("this text holds signs that stand for hidden characters here. Ctrl+G opens the file")
