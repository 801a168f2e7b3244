"""The prompt editor and its file: saved by itself, merged, never overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.models.scripted import ToolUse, answer
from personas.changes import SetPrompt
from personas.persona import Persona
from personas.versions.authorship import USER
from tests.support.program import ONE, Program, make_store, program
from tests.support.screen import at_once
from tui.document import debounce
from tui.document import document as gone
from tui.screens.dialogs.conflict import ConflictDialog
from tui.widgets.text import document_editor


@pytest.fixture(autouse=True)
def quick(quick_typing: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debounce, "LONGEST", 60)
    monkeypatch.setattr(document_editor, "FRESH", 600)


async def test_typing_is_saved_on_a_pause_and_changes_one_line_of_the_file(tmp_path: Path) -> None:
    text = 'name = "One" # mine\n# why\nsystem_prompt = """\nfirst\nlast\n"""\n'
    store = make_store(tmp_path, {"one": text})
    async with program(store) as p:
        await p.press("f3")
        await p.write("so ")
        await p.until(lambda: p.on_disk("one") == "so first\nlast\n")
        await p.until(lambda: p.state == "saved")
        assert p.file("one").read_text() == text.replace("first", "so first")


async def test_leaving_the_editor_saves_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debounce, "PAUSE", 60)
    async with program(make_store(tmp_path)) as p:
        await p.press("f3")
        await p.write("x")
        assert p.state == "unsaved"
        await p.press("escape")
        await p.until(lambda: p.on_disk("one").startswith("xfirst"))


async def test_looking_without_typing_leaves_the_file_alone(tmp_path: Path) -> None:
    odd = 'name = "One"\r\nsystem_prompt = "a\\r\\n\\u2028b\\u0000 \\u001b[31m"\r\n'
    store = make_store(tmp_path, {"one": odd})
    async with program(store) as p:
        await p.press("f3", "right", "end", "down", "escape")
        await p.main.documents.flush()
        assert p.file("one").read_bytes() == odd.encode()
        assert store.log("one") == []


async def test_the_text_that_was_opened_is_kept_when_others_change_the_file(tmp_path: Path) -> None:
    texts = [f'name = "One"\nsystem_prompt = "{word}"\n' for word in ("first", "second", "third")]
    store = make_store(tmp_path, {"one": texts[0]})
    async with program(store) as p:
        for text in texts[1:]:
            await p.pilot.pause()
            p.file("one").write_text(text)
            await p.until(lambda text=text: p.main.prompt.raw in text)
    versions = store.log("one")
    assert [store.version_text("one", number) for number in range(len(versions) + 1)] == texts


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


async def test_hidden_characters_survive_an_edit_elsewhere_in_the_text(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"one": 'system_prompt = "a\\r\\nb\\u2028c\\u001b[31m\\u0085d"\n'})
    async with program(store) as p:
        await p.press("f3")
        await p.write("!")
        await p.until(lambda: p.on_disk("one") == "!a\r\nb\u2028c\x1b[31m\x85d")


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


async def test_an_agents_edit_is_merged_with_text_typed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debounce, "PAUSE", 60)
    store = make_store(tmp_path)
    async with program(store) as p:
        await p.press("f3")
        await p.write("my ")
        assert p.state == "unsaved"
        changed = store.change(
            "one", SetPrompt("first line\nsecond line\nlast line\n"), revision=None, by=USER
        )
        p.main.documents.take(changed)
        assert p.prompt.raw == "my first line\nsecond line\nlast line\n"
        assert p.prompt.cursor_location == (0, 3)
        await p.press("escape")
        await p.until(lambda: p.on_disk("one") == "my first line\nsecond line\nlast line\n")


async def test_an_edit_from_outside_is_noticed_and_shown(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        text = p.file("one").read_text()
        p.file("one").write_text(text.replace("second", "other"))
        await p.until(lambda: "other line" in p.prompt.raw)
        assert p.prompt._fresh == {1}
        await p.told("changed outside")


async def meet(p: Program) -> None:
    """Type in a line that is changed outside."""
    await p.press("f3")
    await p.write("my ")
    p.file("one").write_text(p.file("one").read_text().replace("first", "their"))
    await p.until(lambda: p.state == "conflict")


async def test_an_outside_edit_of_the_same_line_shows_both_to_choose_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debounce, "PAUSE", 60)
    async with program(make_store(tmp_path)) as p:
        await meet(p)
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


@pytest.mark.parametrize(("key", "first"), [("1", "my first line"), ("2", "their line")])
async def test_choosing_one_side_stores_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, first: str
) -> None:
    monkeypatch.setattr(debounce, "PAUSE", 60)
    async with program(make_store(tmp_path)) as p:
        await meet(p)
        await p.press("f5")
        await p.dialog(ConflictDialog)
        await p.press(key)
        await p.until(lambda: p.state == "saved")
        assert p.on_disk("one").splitlines()[0] == first
        assert p.prompt.raw == p.on_disk("one")


async def test_what_is_typed_behind_a_choice_that_came_too_late_goes_into_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debounce, "PAUSE", 60)
    async with program(make_store(tmp_path)) as p:
        await meet(p)
        await p.press("f5")
        await p.dialog(ConflictDialog)
        p.file("one").write_text(p.file("one").read_text().replace("their", "another"))
        at_once(p, "1", *"own")
        await p.told("Your choice was not applied: the text changed again.")
        await p.until(lambda: p.prompt.raw.startswith("my own"))
        assert p.app.screen is p.main
        assert p.state == "conflict"
        assert p.on_disk("one").startswith("another")
        await p.press("f5")
        dialog = await p.dialog(ConflictDialog)
        assert str(dialog.query_one("#text-theirs").render()) == "another line"


async def test_putting_a_conflict_off_keeps_both_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debounce, "PAUSE", 60)
    async with program(make_store(tmp_path)) as p:
        await meet(p)
        await p.press("f5")
        await p.dialog(ConflictDialog)
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        assert p.state == "conflict"
        assert p.main.prompt_pane.banner.display
        assert p.main.documents.not_saved() == ["one"]
        await p.press("f5")
        await p.dialog(ConflictDialog)
        await p.press("2")
        await p.until(lambda: p.state == "saved")


async def test_an_agents_edit_that_meets_typing_in_the_same_line_shows_both(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(debounce, "PAUSE", 60)
    store = make_store(tmp_path)
    async with program(store) as p:
        await p.press("f3")
        await p.write("my ")
        changed = store.change(
            "one", SetPrompt("its line\nsecond line\nthird line\n"), revision=None, by=USER
        )
        p.main.documents.take(changed)
        assert p.state == "conflict"
        assert p.prompt.raw.startswith("my first line")
        await p.press("f5")
        await p.dialog(ConflictDialog)
        await p.press("1")
        await p.until(lambda: p.on_disk("one") == "my first line\nsecond line\nthird line\n")


async def test_what_cannot_be_saved_is_kept_over_a_visit_to_another_persona(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store) as p:
        store.refuse("change")
        await p.press("f3")
        await p.write("precious ")
        await p.until(lambda: p.state == "failed")
        await p.told("disk is full")
        await p.open("two")
        assert p.main.documents.not_saved() == ["one"]
        store.mend()
        await p.open("one")
        assert p.prompt.raw.startswith("precious first line")
        await p.open("two")
        await p.until(lambda: p.on_disk("one").startswith("precious first line"))
        assert p.main.documents.not_saved() == []


async def test_a_persona_deleted_outside_is_told_and_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path)) as p:
        monkeypatch.setattr(gone, "GONE_AFTER", 0.05)
        p.file("one").unlink()
        await p.until(lambda: p.main.documents.persona is None)
        await p.until(lambda: list(p.main.personas.entries) == ["two"])
        await p.told("deleted outside")


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


async def test_a_paste_of_escapes_is_kept_and_never_drawn_raw(tmp_path: Path) -> None:
    from textual import events

    async with program(make_store(tmp_path)) as p:
        await p.press("f3")
        p.prompt.post_message(events.Paste("\x1b[2J\x1b]52;c;AAAA\x07[/]\r\nnext "))
        await p.until(lambda: p.on_disk("one").startswith("\x1b[2J\x1b]52;c;AAAA\x07[/]\nnext first"))
        drawn = "".join(s.text for y in range(5) for s in p.prompt.render_line(y))
        assert "\x1b" not in drawn
        assert "[/]" in drawn


TESTED = 'name = "T"\n[[test_inputs]]\nid = "sum"\ncontent = "What is 2+2?"\n'


@pytest.mark.parametrize(
    ("key", "contents"),
    [
        ("1", ["Mine What is 2+2?"]),
        ("2", ["Theirs 2+2?"]),
    ],
)
async def test_a_test_input_changed_on_both_sides_is_chosen_and_no_word_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, contents: list[str]
) -> None:
    from personas.changes import UpdateTestInput

    monkeypatch.setattr(debounce, "PAUSE", 60)
    store = make_store(tmp_path, {"t": TESTED})
    async with program(store) as p:
        await p.press("f4", "enter")
        await p.write("Mine ")
        p.main.documents.take(
            store.change("t", UpdateTestInput("sum", "Theirs 2+2?"), revision=None, by=USER)
        )
        assert p.main.tests.editor.raw == "Mine What is 2+2?"
        await p.press("escape")
        await p.told("changed elsewhere")
        assert p.app.screen is p.main, "no dialog opens by itself"
        await p.press("f5")
        dialog = await p.dialog(ConflictDialog)
        assert p.messages == [] and not dialog.query("#dialog-message"), "what told of it is not in its way"
        await p.press(key)
        await p.until(lambda: [t.content for t in store.get("t").test_inputs] == contents)
        await p.until(lambda: not p.main.tests.editor.unsaved)
        assert p.main.tests.editor.raw in contents
        texts = [store.version_text("t", version.number) for version in store.log("t")]
        assert any("Mine What is 2+2?" in text for text in [*texts, p.file("t").read_text()])


async def test_no_dialog_opens_by_itself_over_a_person_who_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debounce, "PAUSE", 60)
    store = make_store(tmp_path)
    async with program(store) as p:
        await p.press("f3")
        await p.write("my ")
        p.main.documents.take(store.change("one", SetPrompt("its line\n"), revision=None, by=USER))
        await p.write("version 2 of it ")
        await p.main.documents.flush()
        await p.until(lambda: p.state == "conflict")
        assert p.app.screen is p.main
        assert p.prompt.raw.startswith("my version 2 of it first line")


async def test_a_text_that_is_not_taken_is_kept_as_a_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debounce, "PAUSE", 60)
    store = make_store(tmp_path)
    async with program(store) as p:
        await p.press("f3")
        await p.write("my ")
        p.main.documents.take(store.change("one", SetPrompt("its line\n"), revision=None, by=USER))
        await p.press("f5")
        await p.dialog(ConflictDialog)
        await p.press("2")
        await p.until(lambda: p.state == "saved")
        assert p.on_disk("one") == "its line\n"
        texts = [store.version_text("one", version.number) for version in store.log("one")]
        assert any("my first line" in text for text in texts)


async def test_typing_without_a_pause_is_saved_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(debounce, "PAUSE", 6_000)
    monkeypatch.setattr(debounce, "LONGEST", 7_000)
    monkeypatch.setattr(debounce, "clock", lambda: now)
    async with program(make_store(tmp_path)) as p:
        await p.press("f3")
        await p.write("a")
        now += 6_000
        await p.write("b")
        assert p.state == "unsaved"
        now += 2_000
        await p.write("c")
        await p.until(lambda: p.on_disk("one").startswith("abcfirst"))


@pytest.mark.parametrize("opened", [False, True])
async def test_what_is_written_while_the_file_is_read_is_noticed_too(tmp_path: Path, opened: bool) -> None:
    store = make_store(tmp_path)
    read, later = store.get, [ONE.replace("first", "the last")]

    def read_and_be_late(persona_id: str) -> Persona:
        persona = read(persona_id)
        if persona_id == "one" and later:
            p.file("one").write_text(later.pop())
        return persona

    async with program(store, persona_id="two" if opened else "one") as p:
        store.get = read_and_be_late  # type: ignore[method-assign]
        if opened:
            await p.open("one")
        else:
            p.file("one").write_text(ONE.replace("first", "another"))
        await p.until(lambda: p.prompt.raw.startswith("the last line"))
