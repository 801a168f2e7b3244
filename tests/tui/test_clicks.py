"""What the screen says of keys, models and fields can be clicked as well."""

from __future__ import annotations

from pathlib import Path

from agent.models.scripted import answer
from tests.support.program import Program, make_store, program
from tests.support.screen import click, drawn
from tests.support.settings import preferences
from tui.chat.panel_state import PanelState
from tui.commands.registry import COMMANDS, key_called, key_name
from tui.screens.dialogs.command_palette import CommandPaletteDialog
from tui.screens.dialogs.connect_dialog import ConnectDialog
from tui.screens.dialogs.diff import ShowDiff
from tui.screens.dialogs.help import Help
from tui.screens.dialogs.settings import ProgramSettings
from tui.widgets.footer import KeyLine
from tui.widgets.text.line_input import LineInput


def told_of_keys(p: Program) -> str:
    return p.main.query_one(KeyLine).render_line(0).text


def test_a_key_is_called_back_by_what_is_written_of_it() -> None:
    keys = [key for command in COMMANDS for key in command.keys.split(",") if key]
    assert [key for key in keys if key_called(key_name(key)) != key] == []
    assert key_called("1-3") == ""


async def test_a_click_on_a_key_in_the_last_line_presses_it(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer("Done."), size=(200, 40)) as p:
        await click(p, "Ctrl+P personas")
        await p.dialog(CommandPaletteDialog)
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        await click(p, "panes")
        await p.until(lambda: p.prompt.has_focus)
        await click(p, "Esc chat")
        await p.until(lambda: p.main.chat_bar.has_keys)
        await p.run_to_end("hello")
        await p.until(lambda: "Ctrl+O pin" in told_of_keys(p))
        await click(p, "Ctrl+O pin")
        await p.until(lambda: p.main.conversation.panel.state is PanelState.PINNED)
        await click(p, "Ctrl+O read")  # the panel is not clicked away by it
        await p.until(lambda: p.main.conversation.panel_controller.reading)
        await click(p, "Esc chat")
        await p.until(lambda: not p.main.conversation.panel_controller.reading)
        await click(p, "Esc hide output")
        await p.until(lambda: p.main.conversation.panel.state is PanelState.HIDDEN)


async def test_a_click_on_a_list_s_keys_a_label_the_model_s_name_or_what_closes_a_dialog(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path), preferences=preferences(tmp_path), size=(200, 40)) as p:

        async def back() -> None:
            await p.until(lambda: p.app.screen is p.main)

        await click(p, p.main.conversation.note, at=2)
        await p.dialog(ConnectDialog)
        await p.press("escape")
        await back()
        p.main.action_switch_persona()
        dialog = await p.dialog(CommandPaletteDialog)
        await p.pilot.click(dialog.query_one(LineInput))
        assert p.app.screen is dialog, "a click into a field closes nothing"
        await p.press("escape")
        await back()
        for kind, show in {
            Help: p.main.action_help,
            ShowDiff: lambda: p.app.push_screen(ShowDiff("A change", "+a")),
            ProgramSettings: p.main.action_program_settings,
        }.items():
            show()
            await p.dialog(kind)
            await p.until(lambda: "Esc closes" in drawn(p.app.screen))
            await click(p, "Esc closes", at=5)
            await back()
        await p.until(lambda: p.main.settings.focus_target)
        p.main.action_go("prompt")
        await click(p, "Description")
        await p.write("kind")
        assert p.main.settings.field("description").raw == "kind"
        p.main.action_go("personas")
        await p.until(lambda: "/ filter" in told_of_keys(p))
        await click(p, "/ filter")
        await p.until(lambda: p.main.personas.filter_open)


async def test_under_a_dialog_the_last_line_tells_of_no_keys(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), preferences=preferences(tmp_path), size=(60, 15)) as p:
        await p.press("ctrl+o")
        assert "hide output" in told_of_keys(p)
        p.main.action_program_settings()
        await p.dialog(ProgramSettings)
        await p.until(lambda: "Esc" not in told_of_keys(p) and "Tab" not in told_of_keys(p))
        assert p.main.conversation.note in told_of_keys(p)
        p.main.view.show_state()
        assert "Esc" not in told_of_keys(p)
        await p.press("escape")
        await p.until(lambda: "hide output" in told_of_keys(p))
