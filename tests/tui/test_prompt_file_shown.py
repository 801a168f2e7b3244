"""A persona whose prompt has a file of its own, in the program: typed, changed by the agent and outside, missing, deleted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest.mock import ANY

import pytest

from agent.models.scripted import ToolUse, answer
from personas.changes import SetPrompt
from personas.external_writes import know
from personas.persona import read_persona
from personas.versions.authorship import Author
from tests.support.faulty_store import FaultyStore
from tests.support.program import make_store, program
from tui.document import debounce
from tui.document.missing_file import persona_without_file, write_back
from tui.external_editor.process import ExternalEditor
from tui.recording.locate import persona_at_start
from tui.recording.recorded_session import Recording
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.conflict import ConflictDialog

TOML = 'name = "One"\nsystem_prompt_file = "prompts/one.md"\n'
HEAD = "---\nname: one  # kept\n---\n"
EDIT = ToolUse("edit_system_prompt", {"old": "second", "new": "2nd"})


def make(root: Path) -> tuple[FaultyStore, Path]:
    store = make_store(root, {"one": TOML})
    file = store.home.root / "prompts" / "one.md"
    file.parent.mkdir()
    file.write_text(f"{HEAD}first\nsecond\nthird\n")
    return store, file


async def test_both_files_are_edited_as_one_persona(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, file = make(tmp_path)
    async with program(store, answer(EDIT), answer("Done.")) as p:
        await p.press("f3")
        assert p.prompt.raw == "first\nsecond\nthird\n"
        await p.write("my ")
        await p.main.documents.flush()
        assert file.read_text() == f"{HEAD}my first\nsecond\nthird\n"
        await p.run_to_end("Write numbers.")
        await p.until(lambda: p.prompt.raw == "my first\n2nd\nthird\n")
        assert file.read_text() == f"{HEAD}my first\n2nd\nthird\n" and p.file("one").read_text() == TOML
        file.write_text(file.read_text().replace("third", "3rd").replace("kept", "changed"))
        await p.main.documents.look()
        await p.notified("changed outside")
        await p.press("f8")
        await p.until(lambda: p.prompt.raw == "my first\nsecond\n3rd\n")
        assert "name: one  # changed" in file.read_text()

        async def edit(_self: object, _app: object, prompt: Path, toml: Path) -> bool:
            assert [prompt.suffix, toml.suffix] == [".md", ".toml"], "the prompt first"
            prompt.write_text(prompt.read_text().replace("second", "by hand"))
            toml.write_text(TOML.replace("One", "Uno"))
            return True

        monkeypatch.setattr(ExternalEditor, "run", edit)
        await p.press("f3", "ctrl+g")
        await p.until(lambda: p.prompt.raw == "my first\nby hand\n3rd\n" and store.get("one").name == "Uno")
        assert [one.reason for one in store.log("one")][:2] == ["edited by hand"] * 2
        p.main.personas.rows.focus()
        await p.press("ctrl+z")
        await p.notified("Undone: your edit (file")
        assert p.file("one").read_text() == TOML and "second" in file.read_text()


async def test_a_conflict_is_chosen_from_and_a_missing_file_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, file = make(tmp_path)
    async with program(store) as p:
        with monkeypatch.context() as slow:
            slow.setattr(debounce, "PAUSE", 60)
            await p.press("f3")
            await p.write("my ")
            file.write_text(file.read_text().replace("first", "theirs"))
            await p.until(lambda: p.state == "conflict")
            await p.press("f5")
            await p.dialog(ConflictDialog)
            await p.press("2")
            await p.until(lambda: p.state == "saved" and p.prompt.raw.startswith("theirs"))
        file.unlink()
        await p.main.documents.look()
        await p.until(lambda: "prompts/one.md is missing" in str(p.main.prompt_pane.banner.render()))
        assert p.prompt.raw == "theirs\nsecond\nthird\n"
        await p.write("anew ")
        await p.main.documents.flush()
        assert file.read_text() == HEAD + p.prompt.raw and "anew " in p.prompt.raw
        assert store.get("one").error is None
        await p.until(lambda: not p.main.prompt_pane.banner.display)


async def test_deleting_says_that_the_file_with_the_prompt_stays(tmp_path: Path) -> None:
    store, file = make(tmp_path)
    async with program(store) as p:
        p.main.personas.rows.focus()
        await p.press("x")
        dialog = await p.dialog(Confirm)
        await p.until(lambda: "prompts/one.md, which has its prompt, stays" in dialog._explanation)
        await p.press("y")
        await p.notified("prompts/one.md, which has its prompt, stays")
        assert file.exists() and not p.file("one").exists()


def test_a_personas_file_that_is_gone_comes_back_and_a_recording_has_the_prompt(tmp_path: Path) -> None:
    store, file = make(tmp_path)
    persona = store.get("one")
    know(store, "one")
    p = store.path("one")
    p.unlink()
    assert persona_without_file(store, "one", "") == replace(persona, revision=ANY)
    write_back(store, persona)
    assert p.read_text() == TOML and file.read_text().startswith(HEAD)
    for run in ("first", "second"):
        store.change("one", SetPrompt(run), revision=None, by=Author("agent", run, run))
    for session, prompt in (("first", persona.system_prompt), ("second", "first"), ("none", "second")):
        found = persona_at_start(Recording("one", (), session), store.home)[1] or ""
        assert read_persona("one", found.encode()).system_prompt == prompt
