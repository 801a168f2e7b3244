"""The persona list, the test inputs and the settings: everything one can do to them by keyboard."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from textual.widgets import Input

from agent.models.scripted import Hang, answer
from personas.changes import DeleteTestInput
from personas.versions.authorship import USER
from tests.support.drafts import in_dialog
from tests.support.program import ONE, TWO, ids, make_store, program
from tui.document import debounce
from tui.screens.dialogs import base
from tui.screens.dialogs.base import GRACE
from tui.screens.dialogs.command_palette import CommandPaletteDialog
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.text_prompt import AskLine, AskText
from tui.screens.main.persona_catalog import CatalogReader
from tui.widgets.persona_list import PersonaEntry
from tui.widgets.plain_text import LiteralStatic
from tui.widgets.virtual_list import VirtualList

THREE = (
    TWO.replace("Two", "Three")
    + '\n# about space\n[[test_inputs]]\nid = "space"\ncontent = "How far is the sun?"\n'
)


pytestmark = pytest.mark.usefixtures("quick_typing")


async def test_the_first_persona_is_open_and_of_a_broken_one_under_the_cursor_it_is_said_what_is_wrong(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    store.path("two").write_text('name = "Two"\nsystem_prompt = "[b]"\nname = 1\n')
    async with program(store) as p:
        await p.until(lambda: p.main.personas.entries["two"].error)
        rows = p.main.personas.rows
        await p.until(lambda: [row.tone for row in rows.rows] == ["", "error"])
        assert [row.text for row in rows.rows] == ["One", "two"]
        assert rows.rows[0].current
        below = lambda: str(p.main.personas.border_subtitle)  # noqa: E731
        assert below() == "2"
        rows.focus()
        await p.press("down")
        await p.until(lambda: below() != "2")
        assert p.main.personas.entries["two"].error.startswith(below().rstrip("…"))
        await p.press("up")
        await p.until(lambda: below() == "2")
        await p.press("down", "escape")
        await p.until(lambda: below() == "2")


async def test_an_empty_home_says_how_to_begin(tmp_path: Path) -> None:
    async with program(make_store(tmp_path, {})) as p:
        await p.until(lambda: p.main.personas.rows.empty == "None yet: n makes one")
        await p.say("hello")
        assert p.main.chat_bar.draft == "hello", "what was typed is still there"
        await p.notified("Open a persona first.")


async def test_personas_are_renamed_copied_made_and_filtered_in_the_list_and_one_made_outside_appears(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path, {"one": "# mine\n" + ONE, "two": TWO})) as p:
        rows = p.main.personas.rows

        def names() -> list[str]:
            return [row.text for row in rows.rows]

        p.main.action_go("personas")
        await p.press("r")
        await p.answer("First [/]")
        await p.until(lambda: p.store.get("one").name == "First [/]" == names()[0])
        assert p.main.settings.field("name").raw == "First [/]"
        await p.press("c")
        await p.answer("Copy")
        await p.until(lambda: p.main.documents.id == "copy")
        assert p.file("copy").read_text() == p.file("one").read_text().replace('"First [/]"', '"Copy"')
        assert "# mine" in p.file("copy").read_text()
        await p.press("n")
        await p.answer("Night Owl")
        await p.until(lambda: p.main.documents.id == "night-owl")
        assert "night-owl" in p.main.personas.entries
        p.main.action_go("personas")
        await p.press("slash", "t", "w")
        await p.until(lambda: names() == ["Two"])
        await p.press("enter")
        await p.until(lambda: p.main.documents.id == "two")
        p.main.action_go("personas")
        await p.press("escape")
        await p.until(lambda: len(rows.rows) == 4)
        p.file("new").write_text(ONE.replace("One", "New"))
        await p.until(lambda: names() == ["Copy", "New", "Night Owl", "First [/]", "Two"])


async def test_a_line_that_cannot_be_taken_stays_to_be_mended_and_the_dialog_says_why(tmp_path: Path) -> None:
    long = "x" * 201
    async with program(make_store(tmp_path)) as p:

        def said() -> str:
            return "".join(str(told.render()) for told in p.app.screen.query("#dialog-message"))

        for key, kept in ("n", "New"), ("c", "One (copy)"), ("r", "Renamed"):
            p.main.action_go("personas")
            p.main.personas.rows.select("one")
            await p.press(key)
            base = await p.dialog(AskLine)
            field = base.query_one(Input)
            for typed, why in ("  ", "Enter a name."), (long, "at most 200 characters; this one has 201"):
                field.value = typed
                await p.press("enter")
                await p.until(lambda why=why: why in said())
                assert p.app.screen is base and field.value == typed
            field.value = kept
            await p.until(lambda: not said())
            await p.press("enter")
            await p.until(lambda: p.app.screen is p.main)
            await p.until(lambda kept=kept: kept in [row.text for row in p.main.personas.rows.rows])
        assert not p.messages, "nothing was told of what was mended"
        await p.press("ctrl+f")
        base = await p.dialog(AskLine)
        await p.press("enter")
        await p.until(lambda: "Enter a text to find." in said())


async def test_a_deleted_persona_can_be_brought_back_and_the_list_keeps_the_focus(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        before, rows = p.file("one").read_bytes(), p.main.personas.rows
        p.main.action_go("personas")
        await p.press("x")
        await p.dialog(Confirm)
        await p.press("y")
        await p.until(lambda: p.store.ids() == ["two"] and p.main.documents.id == "two")
        await p.until(lambda: p.main.conversation.current and p.main.conversation.current.persona_id == "two")
        assert p.main.focused is rows
        assert rows.key == "two"
        await p.press("c")
        await p.answer("Copy")
        await p.until(lambda: p.main.documents.id == "copy")
        assert p.main.focused is rows
        await p.press("u")
        deleted = (await p.dialog(Picker)).query_one(VirtualList).rows
        assert [(row.text, row.tail) for row in deleted] == [("One", "one")]
        await p.press("enter")
        await p.until(lambda: p.main.documents.id == "one" and rows.key == "one")
        assert p.main.focused is rows
        assert p.main.chat_bar.draft == ""
        assert p.file("one").read_bytes() == before

        # One that is marked is asked about in the singular and by its name.
        await p.press("space", "x")
        asked = await p.dialog(Confirm)
        assert asked.query_one(".dialog").border_title == "Delete 1 persona?"
        assert "One\n\nIt is kept" in str(asked.query(LiteralStatic).first().visual)
        await p.press("y")
        await p.until(lambda: p.store.ids() == ["copy", "two"])
        await p.notified("Deleted: One.")


async def test_personas_of_the_same_name_are_told_apart_and_the_switcher_finds_all_there_is(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path, {"one": ONE, "one-2": ONE, "two": TWO})
    async with program(store) as p:
        rows = p.main.personas.rows
        await p.until(lambda: [row.text for row in rows.rows] == ["One", "One", "Two"])
        assert [row.head for row in rows.rows] == ["one", "one-2", ""]
        p.main.action_go("personas")
        await p.press("j", "x")
        asked = await p.dialog(Confirm)
        assert asked.query_one(".dialog").border_title == "Delete One (one-2)?"
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        await p.press("ctrl+p")
        matches = (await p.dialog(CommandPaletteDialog)).query_one("#matches", VirtualList)
        assert [row.tail for row in matches.rows] == ["one", "one-2", ""]
        await p.press("t", "w", "o", "enter")
        await p.until(lambda: p.main.documents.id == "two")
        await p.press("f2", "number_sign", "2", "plus", "enter")
        await p.until(lambda: p.app.screen is p.main)
        assert p.main.focused is p.main.tests.rows
        await p.press("ctrl+p", "greater_than_sign")
        await p.write("undo the agent")
        await p.until(lambda: isinstance(p.app.screen, CommandPaletteDialog))
        await p.press("enter")
        await p.until(lambda: p.messages)


async def test_ctrl_home_and_ctrl_end_go_to_the_ends_of_the_text(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        p.main.chat_bar.set_draft("first\nlast")
        for area in p.main.chat_bar.input, p.prompt:
            if area is p.prompt:
                await p.press("f3")
            assert p.main.focused is area
            await p.press("ctrl+home")
            assert area.cursor_location == (0, 0)
            await p.press("ctrl+end")
            assert area.cursor_location == area.document.end != (0, 0)
            await p.press("ctrl+shift+home")
            assert area.selected_text == area.text


async def test_keys_pressed_before_a_question_was_seen_or_in_one_breath_do_not_answer_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Clock:
        now = 100.0
        time = staticmethod(time.time)

        def monotonic(self) -> float:
            return self.now

    async with program(make_store(tmp_path)) as p:

        async def ask(*keys: str) -> None:
            p.main.action_go("personas")
            await p.press("x")
            await p.until(lambda: isinstance(p.app.screen, Confirm))
            await p.press(*keys)

        async def not_answered() -> None:
            assert isinstance(p.app.screen, Confirm)
            p.app.screen.dismiss(None)
            await p.until(lambda: p.app.screen is p.main)

        with monkeypatch.context() as patch:
            patch.setattr(Confirm, "grace", 60.0)
            await ask("y")
            await not_answered()
        with monkeypatch.context() as patch:  # it is not painted yet
            patch.setattr(Confirm, "_appear", lambda self: None)
            patch.setattr(Confirm, "grace", 1e-9)
            await ask("y", "enter")
            await not_answered()

        monkeypatch.setattr(base, "time", clock := Clock())
        await ask()
        await p.until(lambda: p.app.screen._appeared is not None)
        for key in "m", "a", "y", "b", "e", "n", "o":
            clock.now += GRACE * 0.9
            await p.press(key)
        clock.now += GRACE * 0.9
        await p.press("enter")
        assert isinstance(p.app.screen, Confirm)
        clock.now += GRACE * 1.1
        await p.press("n")
        await p.until(lambda: p.app.screen is p.main)
        assert p.store.ids() == ["one", "two"]


async def test_who_deletes_a_persona_is_told_that_the_agent_is_stopped(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer("I begin", Hang())) as p:
        await p.say("go")
        await p.until(lambda: p.main.conversation.running)
        for keys in (("x",), ("space", "x")):
            p.main.action_go("personas")
            await p.press(*keys)
            asked = await p.dialog(Confirm)
            said = str(asked.query(LiteralStatic).first().visual)
            assert "The agent is at work there and is stopped. It is kept as a version" in said
            await p.press("escape")
            await p.until(lambda: p.app.screen is p.main)


async def test_test_inputs_are_added_edited_copied_moved_and_deleted(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"three": THREE})
    async with program(store) as p:
        await p.press("f4", "n")
        await p.dialog(AskText)
        await p.write("Hello")
        await p.press("ctrl+j")
        await p.write("there")
        await p.press("enter")
        await p.until(lambda: [t.content for t in store.get("three").test_inputs][-1] == "Hello\nthere")
        assert p.main.tests.rows.key == store.get("three").test_inputs[-1].id
        p.main.tests.rows.select("space")
        await p.press("f4", "enter")
        await p.write("So: ")
        await p.until(lambda: store.get("three").test_inputs[1].content == "So: How far is the sun?")
        await p.press("f4", "K")
        await p.until(lambda: ids(store.get("three").test_inputs)[:2] == ["space", "sum"])
        await p.press("c")
        await p.until(lambda: len(store.get("three").test_inputs) == 4)
        await p.press("x")
        await p.until(lambda: len(store.get("three").test_inputs) == 3)
        assert "# about space" in p.file("three").read_text()


async def test_what_is_typed_in_a_test_input_is_saved_when_it_is_left_and_kept_when_that_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debounce, "PAUSE", 60)
    store = make_store(tmp_path, {"three": THREE})
    async with program(store) as p:
        await p.press("f4", "enter")
        await p.write("Now: ")
        p.main.tests.rows.select("space")
        await p.until(lambda: store.get("three").test_inputs[0].content == "Now: What is 2+2?")
        assert p.main.tests.editor.raw == "How far is the sun?"
        await p.press("f4", "enter")
        await p.write("Mine: ")
        p.main.documents.take(store.change("three", DeleteTestInput("space"), revision=None, by=USER))
        await p.until(
            lambda: [t.content for t in store.get("three").test_inputs][1:] == ["Mine: How far is the sun?"]
        )


async def test_settings_are_stored_when_a_field_is_left_and_one_changed_elsewhere_meanwhile_is_told(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path)) as p:
        p.main.action_go("settings")
        p.main.settings.field("tags").raw = "demo, [/], demo"
        p.main.settings.field("effort").raw = "high"
        p.main.settings.field("description").focus()
        await p.write("Short")
        await p.press("enter")
        await p.until(lambda: p.store.get("one").description == "Short")
        await p.press("escape")
        await p.main.documents.flush()
        assert p.store.get("one").tags == ("demo", "[/]")
        assert p.store.get("one").model.effort == "high"

        p.main.action_go("settings")
        p.main.settings.field("name").focus()
        await p.write(" mine")
        file = p.file("one")
        file.write_text(file.read_text().replace('"One"', '"[/] Theirs"'))
        await p.notified("Name was changed elsewhere")
        await p.notified("[/] Theirs")
        assert p.main.settings.field("name").raw == "One mine"
        await p.press("enter")
        await p.until(lambda: p.store.get("one").name == "One mine")
        told = [message for message in p.messages if "changed elsewhere" in message]
        assert len(told) == 1


async def test_a_refused_setting_says_why_and_stays_to_be_mended_also_over_a_restart(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store, persona_id="one") as p:
        p.main.action_go("settings")
        field = p.main.settings.field("max_tokens")
        field.focus()
        await p.write("9x9")
        await p.press("enter")
        await p.notified("Max tokens")
        assert field.has_focus and field.raw == "9x9"
        await p.press("left", "backspace", "enter")
        await p.until(lambda: p.store.get("one").model.max_tokens == 99)
        await p.write("x")
        await p.press("enter", "tab")
        await p.until(lambda: not field.has_focus and "x" in field.raw)
        typed = field.raw
        await p.app.shutdown.leave(0)
    async with program(store, persona_id="one") as p:
        await p.notified("Max tokens")
        await p.until(lambda: p.main.settings.field("max_tokens").raw == typed)
        assert p.store.get("one").model.max_tokens == 99


async def test_a_test_input_that_was_begun_is_there_again_after_esc_and_after_a_restart(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path, {"three": THREE})
    async with program(store) as p:
        await p.press("f4", "n")
        await p.dialog(AskText)
        await p.write("Hello")
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        await p.press("f4", "n")
        await p.dialog(AskText)
        await p.write(" you")
        await p.until(lambda: in_dialog(store.home, "three") == "Hello you")
    async with program(store) as p:
        await p.press("f4", "n")
        await p.dialog(AskText)
        await p.press("enter")
        await p.until(lambda: store.get("three").test_inputs[-1].content == "Hello you")
        await p.until(lambda: in_dialog(store.home, "three") == "")


def test_what_an_entry_is_found_by_is_folded_once() -> None:
    looks = []

    class Tags(tuple[str, ...]):
        def __iter__(self) -> Iterator[str]:
            looks.append(1)
            return super().__iter__()

    entry = PersonaEntry("one", "Straße", "", "", Tags(("Ä",)))
    assert entry.matches(["strasse", "ä"]) and not entry.matches(["b"]) and len(looks) == 1


def test_a_key_in_the_switcher_makes_no_row_anew() -> None:
    switcher = CommandPaletteDialog(
        [PersonaEntry("one", "One"), PersonaEntry("two", "Two")], {}, None, [("sum", "What is 2+2?")]
    )
    assert switcher._personas(["o"])[1] is switcher._personas(["tw"])[0]
    assert switcher._tests([])[0] is switcher._tests(["sum", "what"])[0] and switcher._tests(["3"]) == []


async def test_a_test_input_is_copied_from_its_own_persona_whichever_is_open_by_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = TWO.replace("2+2", "3+3")
    async with program(make_store(tmp_path, {"one": TWO, "two": other})) as p:
        editing, commands = p.main.documents, p.main.persona_commands
        assert editing is not None and commands is not None and editing.persona is not None

        async def flush() -> None:
            monkeypatch.undo()
            await p.main.view.open_persona("two")

        for copy in (
            lambda one: commands._duplicate_test_input(one, "sum"),
            lambda one: commands._duplicate_marked_inputs(one, ["sum"]),
        ):
            await p.open("one")
            monkeypatch.setattr(editing, "flush", flush)
            await copy(editing.persona)
        assert [each.content for each in p.store.get("one").test_inputs] == ["What is 2+2?"] * 3


async def test_the_switcher_shows_names_that_are_read_while_it_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, read = threading.Event(), CatalogReader.read

    def slow(listing: CatalogReader, keys: Sequence[str]) -> list[PersonaEntry]:
        go.wait(60)
        return read(listing, keys)

    monkeypatch.setattr(CatalogReader, "read", slow)
    store = make_store(tmp_path, {"one": ONE, "two": TWO, "zz": TWO.replace("Two", "Sunny")})
    async with program(store) as p:
        await p.press("ctrl+p")
        matches = (await p.dialog(CommandPaletteDialog)).query_one("#matches", VirtualList)
        await p.press("down", "down")
        assert [row.text for row in matches.rows][1:] == ["two", "zz"]
        go.set()
        await p.until(lambda: [row.text for row in matches.rows] == ["One", "Two", "Sunny"])
        assert matches.key == "persona zz", "the cursor stays on its row"
        await p.write("sun")
        await p.until(lambda: [row.text for row in matches.rows] == ["Sunny"])
        await p.press("escape")
