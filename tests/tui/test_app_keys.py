"""What keys do on the main screen: Esc, Ctrl+C, Tab, the panel, runs in other personas, leaving."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.models.scripted import Hang, ToolUse, answer, failed
from tests.support.program import Gate, GatedModel, Program, make_store, program
from tui.app.app import PersonaApp
from tui.chat.panel_state import PanelState
from tui.commands import registry as commands
from tui.screens.actions.screen import ActionList, ActionsScreen, RunList
from tui.screens.dialogs.bisected import ShowBisected
from tui.screens.dialogs.command_palette import CommandPaletteDialog
from tui.screens.dialogs.comparison import ShowComparison
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.conflict import ConflictDialog
from tui.screens.dialogs.diff import ShowDiff
from tui.screens.dialogs.expectations import Expectations
from tui.screens.dialogs.help import Help
from tui.screens.dialogs.picker import PickSeveral
from tui.screens.dialogs.proposal import ShowProposal
from tui.screens.dialogs.quit_dialog import QuitDialog
from tui.screens.dialogs.search_results import SearchResults
from tui.screens.dialogs.settings import ProgramSettings
from tui.screens.dialogs.versions import Versions
from tui.screens.library.screen import DocumentList, LibraryScreen, StageList
from tui.settings.schema import Settings
from tui.widgets.agent_panel import AgentPanel
from tui.widgets.compiled_pane import CompiledText
from tui.widgets.find_bar import FindBar
from tui.widgets.output_pane import OutputPane
from tui.widgets.virtual_list import VirtualList

pytestmark = pytest.mark.usefixtures("quick_typing")


HANGING = answer("I begin", Hang())


async def test_sending_shows_the_panel_and_it_goes_by_itself(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer("Hi."), settings=Settings(panel_seconds=2)) as p:
        await p.run_to_end("hello")
        assert p.main.conversation.panel.state is PanelState.VISIBLE
        await p.until(lambda: p.main.conversation.panel.state is PanelState.HIDDEN)
        assert not p.main.query_one("AgentPanel").display
        assert p.main.focused is p.main.chat_bar.input


async def test_the_output_takes_the_whole_height_by_a_key_the_mouse_and_the_palette_until_it_goes(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path), answer("Hi.")) as p:
        await p.run_to_end("hello")
        panel, stage = p.main.query_one(AgentPanel), p.main.query_one("#stage")

        async def becomes(full: bool) -> None:
            await p.until(lambda: (panel.region == stage.region) is full and panel.region.height > 0)

        await p.press("ctrl+o", "ctrl+o", "f")
        await becomes(True)
        assert (
            p.main.conversation.panel_controller.reading
            and p.main.conversation.panel.state is PanelState.PINNED
        )
        await p.press("f")
        await becomes(False)
        await p.pilot.click(".panel--title", times=2)
        await becomes(True)
        await p.open("two")
        await p.until(lambda: not panel.display)
        await p.open("one")
        await becomes(True)
        await p.press("ctrl+o", "ctrl+o")
        await p.until(lambda: not panel.display)
        assert not p.main.conversation.panel.enlarged
        await p.press("ctrl+o")
        await becomes(False)
        await p.pilot.click(".panel--enlarge")
        await becomes(True)
        assert str(panel.query_one(".panel--enlarge").render()).strip() == "▼"
        await p.press("escape")
        await p.until(lambda: not panel.display)
        await p.press("ctrl+p", "greater_than_sign", *"full height", "enter")
        await becomes(True)


async def test_esc_leaves_a_pane_and_then_hides_the_panel_tab_goes_round_the_panes_and_ctrl_o_round_the_panel(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path), answer("Hi."), answer("Hi.")) as p:
        await p.run_to_end("hello")
        await p.press("f3", "escape")
        assert p.main.focused is p.main.chat_bar.input
        assert p.main.conversation.panel.shown
        await p.press("escape")
        assert not p.main.conversation.panel.shown
        assert p.main.program_actions.escape_meaning() == ("", None)
        await p.until(lambda: p.main.composition_pane.focus_target)
        seen = []
        for _ in range(6):
            await p.press("tab")
            seen.append(p.main.panes.here)
        assert seen == ["prompt", "tests", "composition", "settings", "personas", "chat"]
        await p.press("shift+tab")
        assert p.main.panes.here == "personas"

        await p.run_to_end("hello")
        await p.write("half")
        await p.press("ctrl+o")
        assert p.main.conversation.panel.state is PanelState.PINNED
        await p.press("ctrl+o")
        assert p.main.conversation.panel_controller.reading
        await p.press("k", "j", "k")
        assert p.main.conversation.view.cursor is not None
        assert p.main.chat_bar.draft == "half"
        await p.press("ctrl+o")
        assert p.main.conversation.panel.state is PanelState.HIDDEN
        assert p.main.focused is p.main.chat_bar.input
        await p.write(" done")
        assert p.main.chat_bar.draft == "half done"


async def test_esc_stops_the_run_from_anywhere_and_ctrl_c_copies_then_stops_then_clears_the_draft_then_quits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with program(make_store(tmp_path), HANGING, HANGING) as p:
        await p.say("go")
        await p.until(lambda: p.main.conversation.running)
        await p.until(lambda: any(e.type == "turn_delta" for e in p.main.conversation.current.events))
        await p.press("f3")
        assert p.main.program_actions.escape_meaning()[0] == "stop"
        await p.press("escape")
        await p.until(lambda: not p.main.conversation.running)
        turns = p.main.conversation.current.chat.turns
        assert turns[-1].content == "I begin"
        assert turns[-1].interrupted

        await p.say("go")
        await p.until(lambda: p.main.conversation.running)
        copied: list[str] = []
        monkeypatch.setattr(p.app, "copy", copied.append)
        await p.press("f3", "ctrl+home", "shift+end", "ctrl+c")
        assert copied == ["first line"]
        assert p.on_disk("one").startswith("first line")
        assert p.main.conversation.running
        p.main.focus_chat()
        p.main.chat_bar.set_draft("more")
        await p.press("ctrl+c")
        await p.until(lambda: not p.main.conversation.running)
        assert p.main.chat_bar.draft == "more"
        await p.press("ctrl+c")
        assert p.main.chat_bar.draft == ""
        await p.press("up")
        assert p.main.chat_bar.draft == "more"
        await p.press("ctrl+c", "ctrl+c")
        assert p.app.is_running
        await p.press("ctrl+c")
        await p.until(lambda: p.app.return_code == 0)


async def test_a_run_goes_on_in_the_background_and_is_marked(tmp_path: Path) -> None:
    edit = ToolUse("edit_system_prompt", {"old": "second", "new": "2nd"})
    gate = Gate()
    script = [answer("One", edit), answer("All done.")]
    script[0].insert(3, gate)
    async with program(make_store(tmp_path), model=GatedModel(script)) as p:
        await p.say("go")
        await p.until(lambda: p.main.conversation.running)
        await p.open("two")
        assert set(p.main.conversation.badges) == {"one"}
        assert [row.tail for row in p.main.personas.rows.rows] == ["●", ""]
        gate.set()
        await p.until(lambda: "2nd" in p.on_disk("one"))
        assert p.prompt.raw == "I am two."
        await p.until(lambda: not p.main.conversation.conversations.running)
        assert set(p.main.conversation.badges) == {"one"}, "it has unseen turns"
        await p.press("ctrl+n")
        await p.until(lambda: p.main.documents.id == "one" and p.main.conversation.current is not None)
        assert set(p.main.conversation.badges) == set()
        assert p.main.conversation.panel.shown
        assert len(p.main.conversation.view.layout_model.entries) == 4


async def test_coming_back_in_the_middle_of_an_answer_shows_all_of_it(tmp_path: Path) -> None:
    gate = Gate()
    script = answer("Half of it", " and the rest")
    script.insert(3, gate)
    async with program(make_store(tmp_path), model=GatedModel([script])) as p:
        await p.say("go")
        await p.until(lambda: any(e.type == "turn_delta" for e in p.main.conversation.current.events))
        await p.open("two")
        await p.open("one")
        assert p.main.conversation.running
        gate.set()
        await p.until(lambda: not p.main.conversation.running)
        texts = [entry.text() for entry in p.main.conversation.view.layout_model.entries]
        assert texts == ["go", "Half of it", " and the rest"]


async def test_a_failed_request_is_shown_and_its_panel_waits_for_a_key(tmp_path: Path) -> None:
    script = failed("authentication", "The key [/] is wrong.")
    async with program(make_store(tmp_path), [script], settings=Settings(panel_seconds=0.1)) as p:
        await p.run_to_end("hello")
        assert p.main.conversation.panel.shown
        assert p.main.conversation.panel.next_deadline() is None  # no time hides it
        assert any("The key [/] is wrong." in e.text() for e in p.main.conversation.view.layout_model.entries)
        await p.press("f3")  # a key for the page, none for the chat bar
        await p.until(lambda: not p.main.conversation.panel.shown)


async def test_drafts_the_open_persona_and_why_a_message_failed_are_there_when_one_comes_back(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)

    def told(p: Program) -> list[tuple[str, bool]]:
        entries = p.main.conversation.view.layout_model.entries
        return [(e.text(), e.turn is not None) for e in entries if "The key [/] is wrong." in e.text()]

    why = [("The key [/] is wrong.", True)]
    async with program(store, [failed("authentication", "The key [/] is wrong.")]) as p:
        await p.run_to_end("hello")
        assert told(p) == why
        p.main.chat_bar.set_draft("for one")
        await p.open("two")
        assert told(p) == []
        assert p.main.chat_bar.draft == ""
        await p.open("one")
        await p.until(lambda: told(p) == why)
        await p.open("two")
        p.main.chat_bar.set_draft("for two \x1b[31m[/]")
        await p.app.shutdown.leave(0)
    async with program(store) as p:
        assert p.main.documents.id == "two"
        assert p.main.chat_bar.draft == "for two \x1b[31m[/]"
        await p.open("one")
        assert p.main.chat_bar.draft == "for one"
        await p.until(lambda: told(p) == why)


async def test_a_message_that_could_not_be_sent_comes_back_into_the_chat_bar(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store, answer("never")) as p:
        p.file("one").write_text("name = ")
        await p.run_to_end("hello")
        assert p.main.chat_bar.draft == "hello"
        assert any("broken" in e.text() for e in p.main.conversation.view.layout_model.entries)


async def test_text_sent_during_a_run_steers_it(tmp_path: Path) -> None:
    gate = Gate()
    script = [answer("Let me see", ToolUse("get_persona")), answer("As you wish.")]
    script[0].insert(3, gate)
    async with program(make_store(tmp_path), model=GatedModel(script)) as p:
        await p.say("go")
        await p.until(lambda: p.main.conversation.running)
        await p.say("but shorter")
        gate.set()
        await p.until(lambda: not p.main.conversation.running)
        said = [turn.content for turn in p.main.conversation.current.chat.turns if turn.type == "user"]
        assert said == ["go", "but shorter"]


async def test_slash_commands_do_what_they_say(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer("Hi.")) as p:
        await p.run_to_end("hello")
        await p.say("/persona two")
        await p.until(lambda: p.main.documents.id == "two")
        await p.say("/persona one")
        await p.until(lambda: p.main.conversation.current and p.main.conversation.current.persona_id == "one")
        await p.say("/clear")
        await p.dialog(Confirm)
        await p.press("y")
        await p.until(lambda: not p.main.conversation.current.chat.turns)
        await p.say("/unclear")
        await p.until(lambda: len(p.main.conversation.current.chat.turns) == 2)
        assert [e.text() for e in p.main.conversation.view.layout_model.entries] == ["hello", "Hi."]
        await p.say("/help")
        await p.until(lambda: isinstance(p.app.screen, Help))


async def test_f5_shows_all_that_a_run_changed_and_no_toml(tmp_path: Path) -> None:
    edit = ToolUse("edit_system_prompt", {"old": "first", "new": "[/] 1st"})
    new = ToolUse("create_test_input", {"content": "Say \\ twice"})
    async with program(make_store(tmp_path), answer(edit), answer(new), answer("Done.")) as p:
        await p.run_to_end("change it")
        await p.press("f5")
        dialog = await p.dialog(ShowDiff)
        shown = str(dialog.query_one("#diff").render())
        assert "+[/] 1st line" in shown and "+Say \\ twice" in shown
        assert '"' not in shown and "[[" not in shown


async def test_every_command_has_its_action_and_the_help_names_its_key_however_long_it_is(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path)) as p:
        owners = {
            "anywhere": p.main, "output": p.main, "talk": p.main, "prompt": p.main.prompt, "find": FindBar, "list": VirtualList,
            "personas": p.main.personas, "tests": p.main.tests, "outputs": OutputPane,
            "expectations": Expectations, "dialog": (CommandPaletteDialog, PickSeveral), "found": SearchResults, "page": Help,
            "buttons": Confirm, "bisected": ShowBisected, "conflict": ConflictDialog, "program": ProgramSettings,
            "comparison": ShowComparison, "versions": Versions, "composition": p.main.composition_pane,
            "compiled": CompiledText, "library": DocumentList, "library_document": LibraryScreen,
            "stages": StageList, "proposal": ShowProposal, "actions": ActionList,
            "action_document": ActionsScreen, "runs": RunList,
        }  # fmt: skip
        for command in commands.COMMANDS:
            owner, _, name = command.action.partition("(")[0].rpartition(".")
            found = p.app if owner else owners[command.where]
            some = found if isinstance(found, tuple) else (found,)
            assert any(hasattr(one, f"action_{name}") for one in some), command.id

        for size in (60, 15), (120, 60):
            await p.pilot.resize_terminal(*size)
            await p.press("f1")
            page = await p.dialog(Help)
            keys = str(page.query_one("#help-keys").render()).replace("\n", " ")
            for part, blanks in (("#help-keys", 20), ("#help-names", 24)):
                shown = page.query_one(part)
                await p.until(lambda shown=shown: shown.size.width)
                lines = str(shown.render()).splitlines()
                rows = [line for line in lines if line.startswith(" ")]
                assert max(map(len, rows)) <= shown.size.width, "so none is wrapped a second time"
                assert any(line.startswith(" " * blanks) for line in rows)
            await p.press("escape")
            await p.until(lambda: p.app.screen is p.main)
        assert all(command.title in keys for command in commands.COMMANDS if command.keys)


def test_no_key_that_terminals_own_and_no_key_twice_in_one_place() -> None:
    owned = {"ctrl+b", "ctrl+h", "ctrl+i", "ctrl+m", "ctrl+left_square_bracket", "ctrl+s", "ctrl+q"}
    seen: set[tuple[str, str]] = set()
    for command in commands.COMMANDS:
        for key in filter(None, command.keys.split(",")):
            assert key not in owned
            assert not key.startswith("alt+")
            assert (command.where, key) not in seen
            seen.add((command.where, key))
    assert len({command.id for command in commands.COMMANDS}) == len(commands.COMMANDS)


async def test_older_turns_are_read_when_one_comes_to_the_top(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.transcript.session_store.RECENT_TURNS", 4)
    store = make_store(tmp_path)
    async with program(store, *[answer(f"answer {n}") for n in range(4)]) as p:
        for number in range(4):
            await p.run_to_end(f"message {number}")
    async with program(store, settings=Settings(sent_turns=1)) as p:
        await p.press("ctrl+o")
        entries = p.main.conversation.view.layout_model.entries
        assert "message 0" not in [entry.text() for entry in entries]
        await p.main.conversation.history.load_older()
        texts = [entry.text() for entry in p.main.conversation.view.layout_model.entries]
        assert texts == [text for n in range(4) for text in (f"message {n}", f"answer {n}")]


async def test_no_key_of_textual_ends_the_program_and_quitting_asks_while_the_agent_works(
    tmp_path: Path,
) -> None:
    assert PersonaApp._merged_bindings is not None and not PersonaApp._merged_bindings.key_to_bindings
    async with program(make_store(tmp_path), HANGING) as p:
        await p.say("go")
        await p.until(lambda: p.main.conversation.running)
        await p.write("a draft")
        await p.press("ctrl+q")
        await p.pilot.pause()
        assert p.app.return_code is None and p.main.conversation.running
        assert p.main.chat_bar.draft == "a draft"
        await p.app.action_quit()
        await p.dialog(QuitDialog)
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        assert p.main.conversation.running
        p.main.action_leave()
        await p.dialog(QuitDialog)
        await p.press("s")
        await p.until(lambda: p.app.return_code == 0)
        turns = p.store.home.sessions.glob("*.jsonl")
        assert any("I begin" in path.read_text() for path in turns)
