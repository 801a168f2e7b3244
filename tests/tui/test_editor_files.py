"""The persona's file in an editor: what it saved over a change made meanwhile, and what comes of both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from personas.changes import EditPrompt
from personas.versions.authorship import Author
from tests.support.program import ONE, Program, make_store, program
from tui.document.merge import MergeConflict, merge_files
from tui.external_editor.process import ExternalEditor
from tui.screens.dialogs.conflict import ConflictDialog

AGENT = Author("agent", "a", "r")


def agents(old: str) -> str:
    """What the agent writes in place of a word."""
    return f"{old} (agent)"


def test_two_files_that_can_be_read_do_not_become_one_that_cannot() -> None:
    base = 'name = "One"\n\n\nsystem_prompt = "x"\n'
    first, second = "description = 'a'\n" + base, base + "description = 'b'\n"
    assert isinstance(merge_files(base, first, second), MergeConflict)
    assert isinstance(merge_files(base, first + "= broken\n", base), str)


async def edits(
    p: Program, monkeypatch: pytest.MonkeyPatch, write: Callable[[str], str], *, agent: bool = False
) -> None:
    """Open an editor that reads its copy, waits until the agent has changed the first line, and saves."""

    async def edit(_self: object, _app: object, copy: Path) -> bool:
        text = copy.read_text()
        if agent:
            p.store.change("one", EditPrompt("first", agents("first")), revision=None, by=AGENT)
        copy.write_bytes(write(text).encode("utf-8", "surrogateescape"))
        return True

    monkeypatch.setattr(ExternalEditor, "run", edit)
    p.main.prompt.focus()
    await p.until(lambda: not p.main.chat_bar.has_keys)
    p.main.action_external_editor()


INPUTS = "".join(f'[[test_inputs]]\nid = "{one}"\ncontent = "{one * 3}"\n' for one in "abc")


@pytest.mark.parametrize("given", [ONE + INPUTS, "not UTF-8: \udcff", "x = ["])
async def test_what_the_editor_wrote_is_a_version_and_one_undo_whatever_the_file_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    content = given.encode("utf-8", "surrogateescape")
    store = make_store(tmp_path)
    store.path("one").write_bytes(content)
    async with program(store) as p:
        written = ["x = [[", "", ONE, (ONE + INPUTS).replace("aaa", "aab")]
        for number, text in enumerate(written):
            await edits(p, monkeypatch, lambda _copy, text=text: text)
            await p.until(lambda text=text: p.file("one").read_bytes() == text.encode())
            kept = p.store.log("one")
            assert len(kept) == number + 1 and (kept[0].by.kind, kept[0].reason) == ("user", "edited by hand")
        assert p.store.version_content("one", 0) == content
        assert not list(store.home.state.glob("one.*"))
        if given == ONE + INPUTS:  # undo breaks no file
            p.main.personas.rows.focus()
            await p.press("ctrl+z")
            await p.notified("Undone: your edit (file")


async def test_a_copy_that_cannot_be_taken_over_stays_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path)) as p:
        await edits(p, monkeypatch, lambda _copy: "not UTF-8: \udcff")
        await p.notified("not UTF-8 text; your text is kept in")
        (copy,) = p.store.home.state.glob("one.*")
        assert copy.read_bytes() == b"not UTF-8: \xff" and p.file("one").read_text() == ONE
        await edits(p, monkeypatch, lambda copy: copy.replace("third", "3rd"))
        await p.notified(f"left its text in {copy}")
        await p.until(lambda: "3rd" in p.prompt.raw)

        def delete(copy: str) -> str:
            p.file("one").unlink()
            return copy.replace("3rd", "4th")

        await edits(p, monkeypatch, delete)
        await p.notified("Not saved: There is no persona 'one'")
        assert any("4th" in left.read_text("latin-1") for left in p.store.home.state.glob("one.*"))


async def test_what_the_editor_saved_and_what_the_agent_did_after_that_are_two_steps_of_undo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path)) as p:
        await edits(p, monkeypatch, lambda copy: copy.replace("third", "third (editor)"))
        await p.until(lambda: "(editor)" in p.prompt.raw)
        now = p.store.change("one", EditPrompt("first", agents("first")), revision=None, by=AGENT)
        p.main.documents.agent_wrote(now, "r")  # type: ignore[union-attr]
        p.main.personas.rows.focus()
        await p.press("ctrl+z")
        await p.until(lambda: p.on_disk("one") == "first line\nsecond line\nthird (editor) line\n")
        await p.press("ctrl+z")
        await p.until(lambda: p.on_disk("one") == "first line\nsecond line\nthird line\n")


async def test_what_was_written_outside_is_a_step_of_undo_in_the_editor(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        p.file("one").write_text(ONE.replace("first", "1st"))
        await p.until(lambda: p.prompt.raw.startswith("1st line"))
        await p.press("f3", "ctrl+z")
        await p.until(lambda: p.prompt.raw.startswith("first line") and p.on_disk("one") == p.prompt.raw)


async def test_what_the_agent_did_while_the_editor_was_open_is_merged_and_undone_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path)) as p:
        await edits(p, monkeypatch, lambda copy: copy.replace("third", "third (editor)"), agent=True)
        both = "first (agent) line\nsecond line\nthird (editor) line\n"
        await p.until(lambda: p.prompt.raw == both and p.on_disk("one") == both)
        await p.notified("while your editor was open were merged")
        p.main.personas.rows.focus()
        await p.press("ctrl+z")
        await p.until(lambda: p.on_disk("one") == "first (agent) line\nsecond line\nthird line\n")


async def test_where_the_editor_and_the_agent_touch_the_person_chooses_and_the_log_has_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, in_file in (
        ("2", "first (agent) line"),
        ("1", "first (editor) line"),
        ("escape", "first (agent) line"),
    ):
        async with program(make_store(tmp_path / key)) as p:
            await edits(p, monkeypatch, lambda copy: copy.replace("first", "first (editor)"), agent=True)
            await p.dialog(ConflictDialog)
            assert "(agent)" in p.on_disk("one") and not list(p.store.home.state.glob("one.*"))
            await p.press(key)
            await p.until(
                lambda wanted=in_file: p.app.screen is p.main and p.on_disk("one").startswith(wanted)
            )
            await p.until(lambda: p.prompt.raw == p.on_disk("one"))
            texts = [p.store.version_text("one", version.number) for version in p.store.log("one")]
            assert any("(editor)" in text for text in texts) and any("(agent)" in text for text in texts)
            if key == "escape":
                await p.notified("kept as a version: persona log one")
