"""The prompt editor and its file: saved by itself, merged, never overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import Paste

from agent.models.scripted import ToolUse, answer
from personas.changes import SetPrompt, UpdateTestInput
from personas.persona import Persona
from personas.versions.authorship import USER
from tests.support.program import ONE, Program, make_store, program
from tests.support.screen import at_once
from tui.document import debounce, document
from tui.screens.dialogs.conflict import ConflictDialog
from tui.widgets.text import document_editor


@pytest.fixture(autouse=True)
def quick(quick_typing: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debounce, "LONGEST", 60)
    monkeypatch.setattr(document_editor, "FRESH", 600)


async def test_typing_is_saved_on_a_pause_without_one_and_when_the_editor_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'name = "One" # mine\n# why\nsystem_prompt = """\nfirst\nlast\n"""\n'
    now = 100.0
    async with program(make_store(tmp_path, {"one": text})) as p:
        await p.press("f3")
        await p.write("so ")
        await p.until(lambda: p.on_disk("one") == "so first\nlast\n")
        await p.until(lambda: p.state == "saved")
        assert p.file("one").read_text() == text.replace("first", "so first")

        p.prompt.post_message(Paste("\x1b[2J\x1b]52;c;AAAA\x07[/]\r\nnext "))
        await p.until(lambda: p.on_disk("one").startswith("so \x1b[2J\x1b]52;c;AAAA\x07[/]\nnext first"))
        drawn = "".join(s.text for y in range(5) for s in p.prompt.render_line(y))
        assert "\x1b" not in drawn
        assert "[/]" in drawn

        monkeypatch.setattr(debounce, "PAUSE", 6_000)
        monkeypatch.setattr(debounce, "LONGEST", 7_000)
        monkeypatch.setattr(debounce, "clock", lambda: now)
        await p.write("a")
        now += 6_000
        await p.write("b")
        assert p.state == "unsaved"
        now += 2_000
        await p.write("c")
        await p.until(lambda: "next abcfirst" in p.on_disk("one"))

        await p.write("x")
        assert p.state == "unsaved"
        await p.press("escape")
        await p.until(lambda: "next abcxfirst" in p.on_disk("one"))


async def test_looking_leaves_the_file_alone_and_hidden_characters_survive_an_edit_elsewhere_in_the_text(
    tmp_path: Path,
) -> None:
    odd = 'name = "One"\r\nsystem_prompt = "a\\r\\n\\u2028b\\u0000c\\u001b[31m\\u0085d"\r\n'
    store = make_store(tmp_path, {"one": odd})
    async with program(store) as p:
        await p.press("f3", "right", "end", "down", "escape")
        await p.main.documents.flush()
        assert p.file("one").read_bytes() == odd.encode()
        assert store.log("one") == []
        await p.press("f3", "ctrl+home")
        await p.write("!")
        await p.until(lambda: p.on_disk("one") == "!a\r\n\u2028b\x00c\x1b[31m\x85d")


async def test_edits_from_outside_are_shown_what_was_opened_is_kept_and_a_deleted_persona_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [ONE.replace("second", word) for word in ("second", "other", "third")]
    store = make_store(tmp_path)
    async with program(store) as p:
        for text in texts[1:]:
            await p.pilot.pause()
            p.file("one").write_text(text)
            await p.until(lambda text=text: p.prompt.raw in text)
            assert p.prompt._fresh == {1}
            await p.notified("changed outside")
        versions = store.log("one")
        assert [store.version_text("one", number) for number in range(len(versions) + 1)] == texts

        monkeypatch.setattr(document, "GONE_AFTER", 0.05)
        p.file("one").unlink()
        await p.until(lambda: p.main.documents.persona is None)
        await p.until(lambda: list(p.main.personas.entries) == ["two"])
        await p.notified("deleted outside")


async def test_a_merge_conflict_in_the_prompt_is_noted_until_it_is_resolved(tmp_path: Path) -> None:
    marks = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n"
    store = make_store(tmp_path, {"one": f'name = "One"\nsystem_prompt = """\n{marks}"""\n'})
    async with program(store) as p:
        banner = p.main.prompt_pane.banner
        await p.until(lambda: "merge conflict, lines 3 to 7 of the file." in str(banner.render()))
        await p.press("f3")
        p.main.prompt.select_all()
        await p.write("a")
        await p.until(lambda: p.on_disk("one") == "a" and not banner.display)


async def test_an_agents_edit_shows_at_once_and_is_highlighted(tmp_path: Path) -> None:
    edit = ToolUse("edit_system_prompt", {"old": "second line", "new": "2nd line"})
    async with program(make_store(tmp_path), answer(edit), answer("Done.")) as p:
        await p.run_to_end("change it")
        assert p.prompt.raw == "first line\n2nd line\nthird line\n"
        assert p.prompt._fresh == {1}
        assert p.state == "saved"
        p.prompt.end_flash()
        assert p.prompt._fresh == frozenset()


async def test_text_typed_before_a_message_is_saved_before_the_agent_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debounce, "PAUSE", 60)
    async with program(make_store(tmp_path), answer(ToolUse("get_persona")), answer("I see.")) as p:
        await p.press("f3")
        await p.write("typed ")
        await p.run_to_end("what do you see?")
        assert p.on_disk("one").startswith("typed first line")


async def meet(p: Program, theirs: str) -> None:
    """Type in a line that is changed outside to `theirs`."""
    first = p.on_disk("one").splitlines()[0]
    await p.press("f3", "ctrl+home")
    await p.write("my ")
    p.file("one").write_text(p.file("one").read_text().replace(first, theirs))
    await p.until(lambda: p.state == "conflict")


async def test_an_outside_edit_of_the_same_line_shows_both_and_what_is_chosen_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debounce, "PAUSE", 60)
    async with program(make_store(tmp_path)) as p:
        await meet(p, "their line")
        await p.press("f5")
        dialog = await p.dialog(ConflictDialog)
        assert p.state == "conflict"
        assert p.prompt.raw.startswith("my first line"), "what is typed stays"
        assert p.on_disk("one").startswith("their line"), "what is on disk stays"
        assert str(dialog.query_one("#text-ours").render()) == "my first line"
        assert str(dialog.query_one("#text-theirs").render()) == "their line"
        await p.press("3")
        await p.until(lambda: p.on_disk("one") == "my first line\ntheir line\nsecond line\nthird line\n")
        await p.until(lambda: p.state == "saved")

        await meet(p, "another line")
        await p.press("f5")
        await p.dialog(ConflictDialog)
        await p.press("escape")  # put off: both are kept, and it is said
        await p.until(lambda: p.app.screen is p.main)
        assert p.state == "conflict"
        assert p.main.prompt_pane.banner.display
        assert p.main.documents.not_saved() == ["one"]
        await p.press("f5")
        await p.dialog(ConflictDialog)
        await p.press("1")
        await p.until(lambda: p.state == "saved")
        assert p.prompt.raw == p.on_disk("one")
        assert p.on_disk("one").startswith("my my first line\n")

        await meet(p, "a third line")
        await p.press("f5")
        await p.dialog(ConflictDialog)
        p.file("one").write_text(p.file("one").read_text().replace("third line", "fourth line", 1))
        at_once(p, "1", *"own ")  # too late: what is typed behind it goes into the text
        await p.notified("Your choice was not applied: the text changed again.")
        await p.until(lambda: p.prompt.raw.startswith("my own my my first"))
        assert p.app.screen is p.main
        assert p.state == "conflict"
        assert p.on_disk("one").startswith("a fourth line")
        await p.press("f5")
        dialog = await p.dialog(ConflictDialog)
        assert str(dialog.query_one("#text-theirs").render()) == "a fourth line"
        await p.press("2")
        await p.until(lambda: p.state == "saved")
        assert p.prompt.raw == p.on_disk("one")
        assert p.on_disk("one").startswith("a fourth line\n")


async def test_an_agents_edit_is_merged_with_text_typed_meanwhile_or_shown_beside_it_in_the_same_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debounce, "PAUSE", 60)
    store = make_store(tmp_path)
    async with program(store) as p:

        def edit(prompt: str) -> None:
            p.main.documents.take(store.change("one", SetPrompt(prompt), revision=None, by=USER))

        await p.press("f3")
        await p.write("my ")
        assert p.state == "unsaved"
        edit("first line\nsecond line\nlast line\n")
        assert p.prompt.raw == "my first line\nsecond line\nlast line\n"
        assert p.prompt.cursor_location == (0, 3)
        await p.press("escape")
        await p.until(lambda: p.on_disk("one") == "my first line\nsecond line\nlast line\n")

        await p.press("f3", "ctrl+home")
        await p.write("all ")
        edit("its line\nsecond line\nlast line\n")
        assert p.state == "conflict"
        assert p.prompt.raw.startswith("all my first line")
        await p.write("version 2 of ")  # no dialog opens by itself over a person who types
        await p.main.documents.flush()
        await p.until(lambda: p.state == "conflict")
        assert p.app.screen is p.main
        assert p.prompt.raw.startswith("all version 2 of my first line")
        await p.press("f5")
        await p.dialog(ConflictDialog)
        await p.press("1")
        await p.until(lambda: p.on_disk("one") == "all version 2 of my first line\nsecond line\nlast line\n")
        await p.until(lambda: p.state == "saved")

        await p.press("f3", "ctrl+home")
        await p.write("not ")
        edit("its line\n")
        await p.press("f5")
        await p.dialog(ConflictDialog)
        await p.press("2")
        await p.until(lambda: p.state == "saved")
        assert p.on_disk("one") == "its line\n"
        texts = [store.version_text("one", version.number) for version in store.log("one")]
        assert any("not all version 2" in text for text in texts), "what was not taken is a version"


async def test_what_cannot_be_saved_is_kept_over_a_visit_to_another_persona(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        store.refuse("change")
        await p.press("f3")
        await p.write("precious ")
        await p.until(lambda: p.state == "failed")
        await p.notified("disk is full")
        await p.open("two")
        assert p.main.documents.not_saved() == ["one"]
        store.mend()
        await p.open("one")
        assert p.prompt.raw.startswith("precious first line")
        await p.open("two")
        await p.until(lambda: p.on_disk("one").startswith("precious first line"))
        assert p.main.documents.not_saved() == []


async def test_a_broken_file_is_shown_with_its_error_and_opens_when_mended(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"one": 'name = "One"\nsystem_prompt = "a\n'})
    async with program(store) as p:
        assert p.state == "broken"
        banner = str(p.main.prompt_pane.banner.render())
        assert "line 2" in banner
        await p.press("f3")
        await p.write("x")
        assert p.prompt.raw == ""
        p.file("one").write_text('name = "One"\nsystem_prompt = "whole"\n')
        await p.until(lambda: p.state == "saved")
        assert p.prompt.raw == "whole"
        assert not p.main.prompt_pane.banner.display


TESTED = 'name = "T"\n[[test_inputs]]\nid = "sum"\ncontent = "What is 2+2?"\n'


async def test_a_test_input_changed_on_both_sides_is_chosen_and_no_word_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debounce, "PAUSE", 60)
    store = make_store(tmp_path, {"t": TESTED})
    async with program(store) as p:
        for key, mine, theirs in ("1", "Mine ", "Theirs 2+2?"), ("2", "My ", "Their 3+3?"):
            before = store.get("t").test_inputs[0].content
            await p.press("f4", "enter", "ctrl+home")
            await p.write(mine)
            change = UpdateTestInput("sum", theirs)
            p.main.documents.take(store.change("t", change, revision=None, by=USER))
            assert p.main.tests.editor.raw == mine + before
            await p.press("escape")
            await p.notified("changed elsewhere")
            assert p.app.screen is p.main, "no dialog opens by itself"
            await p.press("f5")
            dialog = await p.dialog(ConflictDialog)
            assert p.messages == [] and not dialog.query("#dialog-message"), (
                "what told of it is not in its way"
            )
            await p.press(key)
            chosen = mine + before if key == "1" else theirs
            await p.until(lambda chosen=chosen: [t.content for t in store.get("t").test_inputs] == [chosen])
            await p.until(lambda: not p.main.tests.editor.unsaved)
            assert p.main.tests.editor.raw == chosen
            texts = [store.version_text("t", version.number) for version in store.log("t")]
            assert any(mine + before in text for text in [*texts, p.file("t").read_text()])


async def test_what_is_written_while_the_file_is_read_is_noticed_too(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    read, later = store.get, [""]

    def read_and_be_late(persona_id: str) -> Persona:
        persona = read(persona_id)
        if persona_id == "one" and later:
            p.file("one").write_text(ONE.replace("first", later.pop()))
        return persona

    async with program(store, persona_id="two") as p:
        store.get = read_and_be_late  # type: ignore[method-assign]
        later[:] = ["the last"]
        await p.open("one")
        await p.until(lambda: p.prompt.raw.startswith("the last line"))
        later[:] = ["the very last"]
        p.file("one").write_text(ONE.replace("first", "another"))
        await p.until(lambda: p.prompt.raw.startswith("the very last line"))
