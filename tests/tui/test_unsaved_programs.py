"""Several programs on one home: each keeps its own unsaved text, and every one of them is given back."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from personas.files.home import Home
from personas.files.unsaved_texts import beginning
from tests.tui.program import make_store, program
from tui.app.ui_state import Remembered, recall, remember
from tui.drafts.unsaved_edits import PROMPT, Unsaved, UnsavedTexts, read_kept
from tui.screens.main import screen as main
from tui.widgets.text import document_editor as text_editor

TEXT = "first line\nsecond line\nthird line\n"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_editor, "PAUSE", 0.02)
    monkeypatch.setattr(main, "LOOK_EVERY", 0.12)


def leave_behind(home: Home, text: str, field: str = PROMPT, base: str = TEXT) -> None:
    """Leave a text on the disk as a program does that is killed."""
    texts = UnsavedTexts(home)
    texts.hold("one", field, base, text)
    assert texts.write_down() == ""
    texts.close()


def on_disk(home: Home) -> list[str]:
    return sorted(kept.unsaved.text for kept in read_kept(home, beginning("one")))


def test_two_programs_never_overwrite_each_others_text(tmp_path: Path) -> None:
    home = make_store(tmp_path).home
    first, second = UnsavedTexts(home), UnsavedTexts(home)
    first.hold("one", PROMPT, "", "mine")
    second.hold("one", PROMPT, "", "yours")
    assert first.write_down() == second.write_down() == ""
    assert on_disk(home) == ["mine", "yours"]
    second.let_go("one", PROMPT)
    second.write_down()
    assert on_disk(home) == ["mine"]


def test_the_text_of_a_program_that_runs_is_left_to_it_and_taken_over_once_it_ended(tmp_path: Path) -> None:
    home = make_store(tmp_path).home
    first, second = UnsavedTexts(home), UnsavedTexts(home)
    first.hold("one", PROMPT, "", "mine")
    first.write_down()
    assert second.find("one") == {}
    assert second.rest("one") == []
    first.close()
    assert second.find("one") == {PROMPT: Unsaved("", "mine")}
    assert UnsavedTexts(home).find("one") == {}
    assert list(home.locks.glob("writer-*"))
    second.close()
    assert list(home.locks.glob("writer-*")) == []


def test_only_one_of_many_programs_takes_a_text_over(tmp_path: Path) -> None:
    home = make_store(tmp_path).home
    for number in range(20):
        leave_behind(home, f"text {number}", field=f"test:{number}")
    programs = [UnsavedTexts(home) for _ in range(4)]
    threads = [threading.Thread(target=texts.find, args=("one",)) for texts in programs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [value.text for texts in programs for value in texts.find("one").values()]
    assert sorted(found) == sorted(f"text {number}" for number in range(20))


def test_a_text_without_a_writer_is_found_too(tmp_path: Path) -> None:
    home = make_store(tmp_path).home
    leave_behind(home, "old")
    (path,) = home.state.glob("unsaved-*")
    path.rename(path.with_name(path.name[: -len("-0123456789abcdef.json")] + ".json"))
    assert UnsavedTexts(home).find("one") == {PROMPT: Unsaved(TEXT, "old")}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a process made by fork")
def test_the_lock_goes_with_a_program_that_is_killed(tmp_path: Path) -> None:
    home = make_store(tmp_path).home
    ready, wait = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        texts = UnsavedTexts(home)
        texts.hold("one", PROMPT, "", "mine")
        texts.write_down()
        os.write(ready[1], b"x")
        os.read(wait[0], 1)
        os._exit(9)
    os.read(ready[0], 1)
    assert UnsavedTexts(home).find("one") == {}
    os.write(wait[1], b"x")
    os.waitpid(child, 0)
    assert UnsavedTexts(home).find("one") == {PROMPT: Unsaved("", "mine")}


def test_what_two_programs_remember_of_the_screen_is_whole_at_every_moment(tmp_path: Path) -> None:
    home = make_store(tmp_path).home
    texts = {str(number): str(number) * 50_000 for number in range(3)}

    def write(persona_id: str) -> None:
        for _ in range(20):
            assert remember(home, Remembered(persona_id, {persona_id: texts[persona_id]}))

    threads = [threading.Thread(target=write, args=(persona_id,)) for persona_id in texts]
    write("0")
    for thread in threads:
        thread.start()
    looks = 0
    while any(thread.is_alive() for thread in threads) or not looks:
        found = recall(home)
        assert found.drafts == {found.persona_id: texts[found.persona_id]}
        looks += 1
    for thread in threads:
        thread.join()


async def test_texts_of_two_programs_that_were_killed_are_merged_where_they_do_not_touch(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    leave_behind(store.home, TEXT.replace("first", "1st"))
    leave_behind(store.home, TEXT.replace("third", "3rd"))
    async with program(store) as p:
        await p.until(lambda: p.on_disk("one") == "1st line\nsecond line\n3rd line\n")
        await p.until(lambda: on_disk(store.home) == [] and p.state == "saved")
        assert p.prompt.raw == p.on_disk("one")


async def test_of_texts_that_touch_one_is_shown_and_the_other_kept_as_a_version(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    leave_behind(store.home, TEXT.replace("first", "1st"))
    leave_behind(store.home, TEXT.replace("first", "One"))
    async with program(store) as p:
        await p.until(lambda: on_disk(store.home) == [])
        await p.told("kept as a version")
        kept = [store.version_text("one", version.number) for version in store.log("one")]
        everything = [*kept, p.on_disk("one")]
        assert any("1st line" in text for text in everything)
        assert any("One line" in text for text in everything)


async def test_test_inputs_and_settings_of_two_programs_are_all_given_back(tmp_path: Path) -> None:
    file = 'name = "One"\n[[test_inputs]]\nid = "sum"\ncontent = "What?"\n'
    store = make_store(tmp_path, {"one": file})
    for text in ("Mine?", "Yours?"):
        leave_behind(store.home, text, "test:sum", "What?")
    for text in ("a", "b"):
        leave_behind(store.home, text, "set:description", "")
    async with program(store) as p:
        await p.until(lambda: on_disk(store.home) == [])
        contents = sorted(test_input.content for test_input in store.get("one").test_inputs)
        assert contents == ["Mine?", "Yours?"]
        kept = "".join(store.version_text("one", version.number) for version in store.log("one"))
        for value in ("a", "b"):
            assert f'description = "{value}"' in kept + store.text("one")
        assert p.state == "saved"
