"""The last line of the screen says what keys do, in every state; each key is pressed to see that it does that."""

from __future__ import annotations

from pathlib import Path

from agent.models.scripted import Hang, ToolUse, answer
from tests.support.program import Program, make_store, program
from tui.chat.panel_state import PanelState
from tui.commands.footer_keys import FooterState, keys_now
from tui.screens.dialogs.help import Help
from tui.settings.schema import Settings
from tui.widgets.footer import KeyLine
from tui.widgets.plain_text import LiteralStatic
from tui.widgets.text.line_input import LineInput

ASK = ToolUse("ask_user", {"question": "Which one?", "options": ["the first", "the second"]})
ROOMY = (240, 50)


async def says(p: Program, *words: str) -> None:
    """Wait until the line has all these "Key word" pairs."""
    line = p.main.query_one(KeyLine)
    await p.until(lambda: all(f" {pair}  " in f" {line.render_line(0).text} " for pair in words))
    told = [key for key, _ in line._keys]
    assert len(set(told)) == len(told), "a key is told twice"


async def test_walking_through_all_states_each_key_does_what_the_line_says(tmp_path: Path) -> None:
    hanging = [*answer("I begin")[:2], Hang()]
    async with program(make_store(tmp_path), hanging, answer(ASK), settings=Settings(), size=ROOMY) as p:
        main, bar, conversation = p.main, p.main.chat_bar, p.main.conversation

        # The chat bar, empty: Tab goes on, Ctrl+O shows, reads, hides.
        await says(p, "Tab panes", "Ctrl+O output")
        await p.press("ctrl+o")
        assert conversation.panel.state is PanelState.PINNED
        await says(p, "Esc hide output", "Ctrl+O read")
        await p.press("ctrl+o")
        assert conversation.panel_controller.reading
        await says(p, "Esc chat", "Ctrl+O hide", "Tab panes", "Enter open", "u undo")
        await p.press("tab")
        await p.until(lambda: main.prompt.has_focus)
        await says(p, "Esc chat", "Ctrl+O read", "Tab panes")
        await p.press("escape")
        await p.until(lambda: p.main.chat_bar.has_keys)
        await p.press("escape")
        assert conversation.panel.state is PanelState.HIDDEN

        # A command that is being written.
        await p.write("/mo")
        await says(p, "Esc close list", "Up Down choose", "Enter use", "Tab complete")
        await p.press("tab")
        assert bar.draft == "/model "
        await says(p, "Enter send", "Tab panes")
        bar.set_draft("")
        await p.write("/h")
        await says(p, "Enter use")
        await p.press("enter")
        await p.dialog(Help)
        await p.press("escape")
        await p.until(lambda: p.app.screen is main)
        await p.write("/")
        await says(p, "Esc close list")
        await p.press("escape")
        assert not bar.commands.display
        await says(p, "Enter send", "Tab panes")
        bar.set_draft("")

        # The lists and fields.
        main.action_go("personas")
        await says(p, "Esc chat", "Enter open", "n new", "/ filter")
        await p.press("slash")
        await says(p, "Esc close filter", "Enter to the list")
        assert not p.main.query_one(KeyLine).render_line(0).text.count("n new")
        await p.write("one")
        await p.press("escape")
        await p.until(lambda: not main.personas.filter_open)
        await says(p, "Enter open", "n new")
        main.action_go("tests")
        await says(p, "Esc chat", "n new", "o output", "e edit")
        main.action_go("settings")
        await p.until(lambda: isinstance(main.focused, LineInput))
        await says(p, "Enter save", "Up Down fields")
        await p.press("down")
        assert main.focused is main.settings.field("description")
        await p.press("escape")
        await p.until(lambda: p.main.chat_bar.has_keys)

        # A run: with a draft Enter steers and Tab queues.
        await p.say("go")
        await p.until(lambda: conversation.running)
        await says(p, "Esc stop", "Tab panes", "Ctrl+O pin")
        await p.write("now")
        await says(p, "Enter steer", "Tab queue")
        await p.press("enter")
        await p.write("later")
        await says(p, "Tab queue")
        await p.press("tab")
        queued = bar.queued
        await p.until(
            lambda: [(one.text, one.later) for one in queued.queued] == [("now", False), ("later", True)]
        )
        await says(p, "Tab panes")
        await p.press("escape")
        await p.until(lambda: not conversation.running)
        assert bar.draft == "now\nlater"
        await says(p, "Enter send", "Tab panes")
        bar.set_draft("")

        # A question: digits pick, Enter answers; with a draft Enter replies.
        await p.say("/task go")
        await p.until(lambda: conversation.question is not None)
        await says(p, "Esc stop", "1-2 pick", "Enter answer", "Tab panes", "Ctrl+O read")
        await p.write("mine")
        await says(p, "Enter reply", "Tab panes")
        bar.set_draft("")
        await p.press("ctrl+o")
        await says(p, "Ctrl+O back", "1-2 pick", "Enter open")
        await p.press("ctrl+o")
        assert p.main.chat_bar.has_keys
        assert conversation.panel.state is PanelState.PINNED
        widget = conversation.panel_controller.panel_view
        assert widget is not None
        await p.until(lambda: widget.box._appeared is not None)
        widget.box._appeared = float("-inf")
        await p.press("1")
        await p.until(lambda: widget.box.choices.picked == 0)
        await p.press("enter")
        await p.until(lambda: conversation.question is None)


def test_a_key_that_was_given_away_or_has_no_effect_is_not_told() -> None:
    keys = keys_now(FooterState("chat"), {"pane.next": "", "output.toggle": "f10"})
    assert ("F10", "output") in keys
    assert "panes" not in [word for _, word in keys]
    assert ("Ctrl+Z", "undo") in keys
    assert "undo" not in [word for _, word in keys_now(FooterState("chat", undoes=False))]


async def test_at_80_columns_undo_and_help_are_told_whatever_the_model_is_called(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), settings=Settings(), size=(80, 24)) as p:
        p.app.model_name = "hf.co/somebody/a-model-of-a-very-long-name-indeed-GGUF:Q4_K_M"
        await p.until(lambda: p.main.settings.focus_target)
        for go in "chat", "prompt", "tests", "personas", "settings", "output":
            if go == "output":
                p.main.focus_chat()
                await p.press("ctrl+o", "ctrl+o")
            elif go != "chat":
                p.main.action_go(go)
            p.main.show_keys()
            await says(p, "Ctrl+Z undo", "F1 help")
            assert p.main.query_one(KeyLine).render_line(0).text.rstrip().endswith(":Q4_K_M")


async def test_the_help_goes_on_below_itself_where_a_line_is_too_short(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), settings=Settings(), size=(80, 24)) as p:
        await p.press("f1")
        shown = (await p.dialog(Help)).query_one("#help-keys", LiteralStatic)
        for columns in 60, 80, 160:
            await p.pilot.resize_terminal(columns, 24)
            await p.until(lambda columns=columns: p.app.size.width == columns)
            await p.pilot.pause()
            text = str(shown.visual)
            assert all(len(line) <= shown.size.width for line in text.split("\n"))
            assert "queue it for later" in " ".join(text.split())


async def test_at_80_columns_the_keys_of_panes_have_the_room_of_what_was_spent(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer("Done."), settings=Settings(), size=(80, 24)) as p:
        p.app.model_name = "claude-sonnet-5-5"
        await p.run_to_end("go")
        await p.until(lambda: " tok" in p.main.query_one(KeyLine).render_line(0).text)
        await p.press("f4")
        await says(p, "Ctrl+T run", "Ctrl+Z undo", "F1 help", "o output")
        assert " tok" not in p.main.query_one(KeyLine).render_line(0).text
