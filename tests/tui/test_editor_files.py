"""The persona's file in an editor: what it saved over a change made meanwhile, and what comes of both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from personas.changes import EditPrompt
from personas.persona import read_persona
from personas.versions.authorship import Author
from tests.support.program import ONE, Program, make_store, program
from tui.document.merge import MergeConflict
from tui.external_editor.persona_file import hand_out, merge_files, take_back, with_what_was_taken
from tui.external_editor.process import ExternalEditor
from tui.screens.dialogs.conflict import ConflictDialog

AGENT = Author("agent", "a", "r")


def agents(old: str) -> str:
    """What the agent writes in place of a word."""
    return f"{old} (agent)"


def test_an_older_copy_takes_nothing_away_where_it_does_not_touch_however_often_it_is_saved() -> None:
    given = "".join(f"{number}\n" for number in range(9))
    first, second = (given.replace("2", "two", 1), given.replace("2", "two", 1).replace("6", "six"))
    writes = [(given.replace("0", agents("0")), first), (first.replace("8", agents("8")), second)]
    now = second.replace("4", agents("4"))
    wanted = now.replace("0", agents("0")).replace("8", agents("8"))
    assert with_what_was_taken(given, writes, now) == wanted


def test_an_editor_that_read_the_file_anew_is_left_as_it_wrote_it() -> None:
    agent = "a\nb (agent)\nc\n"
    assert with_what_was_taken("a\nb\nc\n", [(agent, agent + "d\n")], agent + "d\n") == agent + "d\n"


def test_changes_of_the_same_lines_are_told_with_both_texts() -> None:
    met = with_what_was_taken("a\nb\n", [("a\nagent\n", "a\neditor\n")], "a\neditor\n")
    assert isinstance(met, MergeConflict)
    assert (met.ours, met.theirs) == ("a\neditor\n", "a\nagent\n")


def test_two_files_that_can_be_read_do_not_become_one_that_cannot() -> None:
    base = 'name = "One"\n\n\nsystem_prompt = "x"\n'
    first, second = "description = 'a'\n" + base, base + "description = 'b'\n"
    assert isinstance(merge_files(base, first, second), MergeConflict)
    assert isinstance(merge_files(base, first + "= broken\n", base), str)


def test_what_was_taken_away_is_put_back_as_a_version_of_its_own(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    handed = hand_out(store, "one")
    assert handed is not None
    assert take_back(store, handed) is None
    store.change("one", EditPrompt("first", agents("first")), revision=None, by=AGENT)
    store.path("one").write_text(ONE.replace("third", "third (editor)"))
    assert take_back(store, handed) is not None
    wanted = ONE.replace("first", agents("first")).replace("third", "third (editor)")
    assert store.path("one").read_text() == wanted
    assert [version.by.kind for version in store.log("one")] == ["user", "user", "agent"]
    assert take_back(store, handed) is None


def _is_broken(content: bytes) -> bool:
    return read_persona("one", content).error is not None


INPUTS = "".join(f'[[test_inputs]]\nid = "{one}"\ncontent = "{one * 3}"\n' for one in "abc")


@pytest.mark.parametrize(
    "written", [b'name = "T2"\n', b"", b"x = [", b"\xff", (ONE + INPUTS).replace("aaa", "aab").encode()]
)
async def test_what_the_editor_did_is_kept_and_one_step_of_undo_whatever_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: bytes
) -> None:
    async with program(make_store(tmp_path, {"one": ONE + INPUTS})) as p:
        given = p.file("one").read_bytes()

        async def edit(_self: object, _app: object, path: Path, **_more: object) -> bool:
            path.write_bytes(b"half of it")
            await p.main.documents.look()  # type: ignore[union-attr]
            path.write_bytes(written)
            return True

        monkeypatch.setattr(ExternalEditor, "run", edit)
        await p.press("f3", "ctrl+g")
        await p.until(lambda: p.store.log("one") and not p.main.documents.in_hand)  # type: ignore[union-attr]
        (kept,) = p.store.log("one")
        assert (kept.by.kind, kept.reason) == ("user", "edited by hand")
        assert p.store.version_text("one", 0).encode() == given
        p.main.personas.rows.focus()
        await p.press("ctrl+z")
        await p.told("Undone: your edit (file")
        assert p.file("one").read_bytes() == given
        await p.until(lambda: p.prompt.raw.startswith("first line"))
        if not _is_broken(written):  # redo breaks no file
            await p.press("ctrl+y")
            await p.until(lambda: p.file("one").read_bytes() == written)


async def test_what_the_editor_saved_and_what_the_agent_did_after_that_are_two_steps_of_undo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path)) as p:

        async def edit(_self: object, _app: object, path: Path, **_more: object) -> bool:
            path.write_text(path.read_text().replace("third", "third (editor)"))
            now = p.store.change("one", EditPrompt("first", agents("first")), revision=None, by=AGENT)
            p.main.documents.agent_wrote(now, "r")  # type: ignore[union-attr]
            return True

        monkeypatch.setattr(ExternalEditor, "run", edit)
        await p.press("f3", "ctrl+g")
        await p.until(lambda: "(editor)" in p.prompt.raw and not p.main.documents.in_hand)  # type: ignore[union-attr]
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


async def edits(p: Program, monkeypatch: pytest.MonkeyPatch, write: Callable[[str], str]) -> None:
    """Open an editor that reads the file, waits until the agent has changed its first line, and saves its copy."""

    async def edit(_self: object, _app: object, path: Path, **_more: object) -> bool:
        copy = path.read_text()
        p.store.change("one", EditPrompt("first", agents("first")), revision=None, by=AGENT)
        path.write_text(write(copy))
        return True

    monkeypatch.setattr(ExternalEditor, "run", edit)
    p.main.prompt.focus()
    await p.until(lambda: not p.main.chat_bar.has_keys)
    p.main.action_external_editor()


async def test_what_the_agent_did_while_the_editor_was_open_is_merged_and_undone_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path)) as p:
        await edits(p, monkeypatch, lambda copy: copy.replace("third", "third (editor)"))
        both = "first (agent) line\nsecond line\nthird (editor) line\n"
        await p.until(lambda: p.prompt.raw == both and p.on_disk("one") == both)
        await p.told("saved an older copy")
        p.main.personas.rows.focus()
        await p.press("ctrl+z")
        await p.until(lambda: p.on_disk("one") == "first line\nsecond line\nthird (editor) line\n")


async def test_where_the_editor_and_the_agent_touch_the_person_chooses_and_the_log_has_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path)) as p:
        await edits(p, monkeypatch, lambda copy: copy.replace("first", "first (editor)"))
        await p.dialog(ConflictDialog)
        assert "(editor)" in p.on_disk("one")
        await p.press("2")
        await p.until(lambda: p.prompt.raw.startswith("first (agent) line"))
        await p.until(lambda: p.on_disk("one") == p.prompt.raw)
        texts = [p.store.version_text("one", version.number) for version in p.store.log("one")]
        assert any("(editor)" in text for text in texts) and any("(agent)" in text for text in texts)
