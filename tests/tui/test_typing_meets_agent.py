"""The agent changes the lines that the person is typing in: nothing is cut off, and both can be chosen from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from personas.changes import Change, DeleteTestInput, SetPrompt, UpdateTestInput
from personas.versions.authorship import Author
from tests.support.program import Program, make_store, program
from tui.document import debounce
from tui.document.conflicts import REPLACED
from tui.screens.dialogs.conflict import ConflictDialog


def make_file(name: str, prompt: str) -> str:
    return f"name = {json.dumps(name)}\nsystem_prompt = {json.dumps(prompt)}\n"


FILE = """name = "One"
system_prompt = \"\"\"
first
second
third
\"\"\"
[[test_inputs]]
id = "sum"
content = "input"
"""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of the editors, in a list of one; typing is saved at once."""
    time = [100.0]
    monkeypatch.setattr(debounce, "PAUSE", 0.02)
    monkeypatch.setattr(debounce, "clock", lambda: time[0])
    return time


def agent(p: Program, change: Change) -> None:
    author = Author("agent", session_id="s", run_id="r1")
    now = p.store.change("one", change, by=author, revision=None)
    assert p.main.documents is not None
    p.main.documents.agent_wrote(now, "r1")


async def typed(p: Program) -> None:
    p.prompt.focus()
    await p.write("mine ")
    await p.until(
        lambda: (
            p.on_disk("one").startswith("mine first")
            and p.state == "saved"
            and p.main.documents.persona.revision == p.store.get("one").revision
        )
    )


async def test_the_line_being_typed_in_stays_and_undo_takes_the_agents_change_back(
    tmp_path: Path, clock: list[float]
) -> None:
    async with program(make_store(tmp_path, {"one": FILE})) as p:
        await typed(p)
        agent(p, SetPrompt("NEW\n"))
        await p.until(lambda: p.state == "conflict")
        await p.notified("The agent changed the lines you are typing in")
        await p.write("words ")
        assert p.prompt.raw == "mine words first\nsecond\nthird\n"
        await p.press("f8")
        await p.until(lambda: p.on_disk("one") == p.prompt.raw == "mine words first\nsecond\nthird\n")
        await p.until(lambda: p.state == "saved")


@pytest.mark.parametrize(("seen", "text"), [(True, "first\nsecond\nthird\n"), (False, "first")])
async def test_a_conflict_with_what_was_written_outside_is_not_said_to_be_the_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: bool, text: str
) -> None:
    monkeypatch.setattr(debounce, "PAUSE", 600.0)
    file = make_file("One", text)
    async with program(make_store(tmp_path, {"one": file})) as p:
        assert p.main.documents is not None
        told: list[str] = []
        monkeypatch.setattr(p.main, "show_message", lambda message, **_: told.append(message))
        p.prompt.focus()
        await p.write("mine ")
        outside = text.replace("first", "OUT first")
        p.file("one").write_text(make_file("One", outside), encoding="utf-8")
        if seen:
            await p.main.documents.read_again()
            await p.until(lambda: p.state == "conflict")
        agent(p, SetPrompt(f"{outside.rstrip()}\nagent\n"))
        await p.until(lambda: p.prompt.conflict is not None and p.prompt.conflict.theirs.endswith("agent\n"))
        agent(p, SetPrompt(f"NEW {outside.rstrip()}\nagent\n"))
        await p.until(lambda: REPLACED in told)
        assert told.count(REPLACED) == 1, "the first change is apart"


async def test_a_new_text_without_what_is_being_typed_is_merged_with_it_where_they_are_apart(
    tmp_path: Path, clock: list[float]
) -> None:
    async with program(make_store(tmp_path, {"one": FILE})) as p:
        await typed(p)
        agent(p, SetPrompt("first\nsecond\n3rd\n"))
        await p.until(lambda: p.on_disk("one") == p.prompt.raw == "mine first\nsecond\n3rd\n")
        await p.until(lambda: p.state == "saved")
        for text in ("mine first\nsecond\nthird\n", "first\nsecond\nthird\n"):
            await p.press("ctrl+z")
            await p.until(lambda text=text: p.on_disk("one") == text)


async def test_who_has_paused_or_left_is_not_typing(tmp_path: Path, clock: list[float]) -> None:
    async with program(make_store(tmp_path, {"one": FILE})) as p:
        await typed(p)
        clock[0] += debounce.TYPING + 1
        agent(p, SetPrompt("NEW\n"))
        await p.until(lambda: p.prompt.raw == "NEW\n" and p.state == "saved")
        await p.write("x")
        p.main.focus_chat()
        await p.until(lambda: p.on_disk("one") == p.prompt.raw and p.state == "saved")
        agent(p, SetPrompt("NEWER\n"))
        await p.until(lambda: p.prompt.raw == "NEWER\n" and p.state == "saved")


async def test_the_same_holds_in_a_test_input(tmp_path: Path, clock: list[float]) -> None:
    async with program(make_store(tmp_path, {"one": FILE})) as p:
        editor = p.main.tests.editor
        editor.focus()
        await p.write("my ")
        await p.until(
            lambda: (
                p.store.get("one").test_inputs[0].content == "my input"
                and not editor.unsaved
                and p.main.documents.persona.revision == p.store.get("one").revision
            )
        )
        agent(p, UpdateTestInput("sum", "other"))
        await p.until(lambda: editor.conflict is not None)
        await p.notified("The test input sum was changed elsewhere")
        assert editor.raw == "my input"
        await p.press("f8")
        await p.until(
            lambda: editor.conflict is None and p.store.get("one").test_inputs[0].content == "my input"
        )


async def test_undo_of_what_is_in_conflict_shows_what_is_stored(
    tmp_path: Path, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path, {"one": FILE})
    async with program(store) as p:
        monkeypatch.setattr(debounce, "PAUSE", 600.0)
        p.prompt.focus()
        await p.write("mine ")
        store.change("one", SetPrompt("OUT\nsecond\nthird\n"), by=Author("user"), revision=None)
        await p.main.documents.read_again(quiet=True)
        await p.until(lambda: p.state == "conflict")
        monkeypatch.setattr(debounce, "PAUSE", 0.02)
        await p.press("ctrl+z")
        await p.until(lambda: p.prompt.raw.startswith("OUT") and p.state == "saved")
        assert p.on_disk("one") == "OUT\nsecond\nthird\n"


@pytest.mark.parametrize("place", ["prompt", "input"])
async def test_undo_takes_a_choice_between_two_texts_back_and_goes_on_to_what_was_there_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(debounce, "PAUSE", 600.0)
    was, out, mine = ("first", "OUT", "mine first") if place == "prompt" else ("input", "OUT", "mine input")
    async with program(make_store(tmp_path, {"one": FILE})) as p:
        editor = p.prompt if place == "prompt" else p.main.tests.editor

        def shows(line: str) -> bool:
            persona = p.store.get("one")
            stored = persona.system_prompt if place == "prompt" else persona.test_inputs[0].content
            return (
                stored.removesuffix("\nsecond\nthird\n") == line
                and stored == editor.raw
                and not editor.unsaved
                and p.main.documents.persona.revision == persona.revision
            )

        for key, states in (
            ("1", [mine, was]),
            ("2", [out, mine, was]),
            ("3", [f"{mine}\n{out}", mine, was]),
        ):
            editor.focus()
            await p.until(lambda: editor.has_focus and shows(was))
            editor.move_cursor((0, 0))
            await p.write("mine ")
            change = (
                SetPrompt(f"{out}\nsecond\nthird\n") if place == "prompt" else UpdateTestInput("sum", out)
            )
            p.store.change("one", change, by=Author("user"), revision=None)
            await p.main.documents.read_again(quiet=True)
            await p.until(lambda: editor.conflict is not None)
            await p.press("f5")
            await p.dialog(ConflictDialog)
            await p.press(key)
            await p.until(lambda states=states: p.app.screen is p.main and shows(states[0]))
            for step, way in (("ctrl+z", states[1:]), ("ctrl+y", states[-2::-1]), ("ctrl+z", states[1:])):
                for state in way:
                    await p.press(step)
                    await p.main.documents.flush()
                    await p.until(lambda state=state: shows(state))


TWO_INPUTS = """name = "One"
system_prompt = "p"
[[test_inputs]]
id = "a"
content = "ca"
[[test_inputs]]
id = "b"
content = "cb"
"""


def contents(p: Program) -> dict[str, str]:
    return {each.id: each.content for each in p.store.get("one").test_inputs}


async def test_what_is_typed_on_in_a_test_input_that_the_agent_deletes_goes_into_no_other(
    tmp_path: Path, clock: list[float]
) -> None:
    async with program(make_store(tmp_path, {"one": TWO_INPUTS})) as p:
        editor = p.main.tests.editor
        editor.focus()
        await p.until(lambda: editor.has_focus)
        await p.write("T1")
        await p.until(lambda: contents(p)["a"] == "T1ca" and not editor.unsaved and p.state == "saved")
        agent(p, DeleteTestInput("a"))
        await p.notified("deleted the test input a, which you were editing")
        assert editor.raw == "T1ca"
        await p.write("T2")
        await p.until(lambda: "T1T2ca" in contents(p).values())
        await p.write("T3")
        await p.until(lambda: "T1T2T3ca" in contents(p).values())
        assert contents(p)["b"] == "cb"
        assert len(contents(p)) == 2
        p.main.tests.rows.focus()
        await p.press("k")
        await p.until(lambda: editor.raw == "cb")


async def test_a_test_input_deleted_elsewhere_comes_back_into_its_editor_or_gives_way_to_the_list(
    tmp_path: Path, clock: list[float]
) -> None:
    async with program(make_store(tmp_path, {"one": TWO_INPUTS})) as p:
        editor, tests = p.main.tests.editor, p.main.tests
        editor.focus()
        await p.until(lambda: editor.has_focus)
        agent(p, DeleteTestInput("a"))
        await p.until(lambda: tests.is_gone)
        await p.press("ctrl+z")
        await p.until(lambda: not tests.is_gone and contents(p) == {"a": "ca", "b": "cb"})
        assert tests.shown == tests.rows.key == "a"
        await p.press("ctrl+y")
        await p.until(lambda: contents(p) == {"b": "cb"} and editor.raw == "cb")
        agent(p, DeleteTestInput("b"))
        await p.until(lambda: tests.is_gone)
        tests.rows.focus()
        await p.until(lambda: not tests.is_gone and not editor.display)


@pytest.mark.parametrize(("place", "key"), [("prompt", "1"), ("prompt", "2"), ("input", "2"), ("input", "3")])
async def test_no_text_is_chosen_unseen_that_was_written_while_the_person_chose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, key: str
) -> None:
    monkeypatch.setattr(debounce, "PAUSE", 600.0)
    async with program(make_store(tmp_path, {"one": FILE})) as p:
        editor, was = (p.prompt, "first") if place == "prompt" else (p.main.tests.editor, "input")

        def holding(text: str) -> str:
            return FILE.replace("first", text) if place == "prompt" else FILE.replace('"input"', f'"{text}"')

        def outside(text: str) -> None:
            p.file("one").write_text(holding(text), encoding="utf-8")

        editor.focus()
        await p.until(lambda: editor.has_focus)
        await p.write("mine ")
        outside("LINE")
        await p.until(lambda: editor.conflict is not None)
        if place == "input":
            await p.main.documents.flush()
            await p.notified("The test input sum was changed elsewhere in the same lines. F5 shows both")
        await p.press("f5")
        first = await p.dialog(ConflictDialog)
        outside("SECOND")
        await p.press(key)
        await p.notified("Your choice was not applied: the text changed again.")
        assert p.app.screen is p.main and editor.conflict is not None
        await p.press("f5")
        second = await p.dialog(ConflictDialog)
        assert second is not first
        assert "SECOND" in second._conflict.theirs and p.file("one").read_text() == holding("SECOND")
        await p.press(key)
        stored = {"1": f"mine {was}", "2": "SECOND", "3": f"mine {was}\nSECOND"}[key]
        if place == "input":
            await p.until(
                lambda: p.store.get("one").test_inputs[0].content == stored and editor.conflict is None
            )
        else:
            await p.until(lambda: p.on_disk("one") == f"{stored}\nsecond\nthird\n" and p.state == "saved")
