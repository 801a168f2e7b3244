"""Whatever keys a person chose: those are what the screens, the help, the footer and the messages name, and what works."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from string import ascii_lowercase, digits

from agent.models.scripted import ToolUse, answer
from tests.support.dialogs import DIALOGS
from tests.support.program import Program, make_store, program
from tests.support.screen import drawn_in
from tui.cli.program.key_probe import meaning
from tui.commands.footer_keys import FooterState, keys_now
from tui.commands.keymap import check_keys
from tui.commands.registry import COMMANDS, HELP_ONLY_KEYS, help_rows, hint, key_name, keys_of, sentence
from tui.screens.dialogs.command_palette import CommandPaletteDialog
from tui.screens.dialogs.diff import ShowDiff
from tui.screens.dialogs.help import Help
from tui.screens.main.program_actions import ProgramActions
from tui.settings.schema import Settings

ODD = {
    command.id: key
    for command, key in zip(
        COMMANDS,
        [f"{before}+{letter}" for before in ("alt", "ctrl+alt", "alt+shift", "ctrl+alt+shift", "ctrl+shift") for letter in (*ascii_lowercase, *digits, *(f"f{number}" for number in range(1, 13)))],
        strict=False,
    )
}  # fmt: skip
"""For every command a key that none has by default."""

WRITING = {
    "Enter",
    "Ctrl+J",
    "Up",
    "Down",
    "Left",
    "Right",
    "PgUp",
    "PgDn",
    "1",
    "2",
    "3",
    "/",
    "Space",
    "Home",
    "End",
}
"""What writing, numbers and buttons need and is named whatever a keymap says; some are words as well."""
OLD = {key_name(key) for command in COMMANDS for key in keys_of(command)} - WRITING


def named(text: str) -> set[str]:
    """Which of the keys that no command has any more a text names."""
    return OLD & set(re.findall(r"[^\s│╭╮╰╯─,.;:()…]+", text))


def screen_of(p: Program) -> str:
    strips = p.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def test_every_command_can_be_moved_to_an_odd_key() -> None:
    assert len(ODD) == len(COMMANDS)
    keymap, odd = check_keys(ODD)
    assert (keymap, odd) == (ODD, [])


def test_help_footer_and_persona_keys_name_no_key_that_was_moved() -> None:
    told = {key for _, rows in help_rows(ODD) for keys, _ in rows for key in keys.split()}
    constant = {key_name(key.strip()) for _, keys, _ in HELP_ONLY_KEYS for key in keys.split(",")}
    assert told & (OLD | {"Home", "End", "Space", "Left", "Right"}) - constant == set()
    assert "(Ctrl+O" not in str(help_rows(ODD))
    assert "Ctrl+Z" not in str(help_rows(ODD))
    for place in (
        "chat",
        "commands",
        "output",
        "talk",
        "prompt",
        "tests",
        "personas",
        "filter",
        "settings",
        "anywhere",
    ):
        keys = keys_now(FooterState(place, "stop", has_draft=True, queues=True), ODD)  # type: ignore[arg-type]
        assert not {key for told, _ in keys for key in told.split()} & OLD, place
    assert meaning("y", keymap=ODD) == ""
    assert meaning(ODD["output.copy"], keymap=ODD) == "Reading the agent's output: Copy it"


def test_what_a_key_is_told_for_is_left_out_where_there_is_none() -> None:
    parts = hint({"ask.yes": ""}, "Enter chooses", "", ("ask.yes", "yes"), ("ask.no", "no"))
    assert parts == [("Enter chooses", "enter"), ("n no", "n")]
    assert sentence("edit.undo", {"edit.undo": ""}, "{} brings it back.", "Undo brings it back.") == (
        "Undo brings it back."
    )


async def test_no_screen_and_no_dialog_names_a_key_that_was_moved(tmp_path: Path) -> None:
    settings = Settings(keys=dict(ODD))
    ask = ToolUse("ask_user", {"question": "Which one?", "options": ["the first", "the second"]})
    async with program(make_store(tmp_path), answer(ask), settings=settings, size=(160, 50)) as p:
        for place in ("personas", "tests", "prompt", "settings"):
            p.main.action_go(place)
            await p.pilot.pause()
            assert named(screen_of(p)) == set(), place
        p.main.focus_chat()
        await p.say("/task go")
        await p.until(lambda: "stops the task" in screen_of(p))
        assert named(screen_of(p)) == set()
        await p.press(ODD["output.toggle"])
        await p.until(
            lambda: p.main.conversation.panel_controller.reading and "goes back to answer" in screen_of(p)
        )
        assert named(screen_of(p)) == set()
        for kind, make in DIALOGS.items():
            dialog = make("Word.", tmp_path)
            p.app.push_screen(dialog)
            await p.until(lambda dialog=dialog: p.app.screen is dialog)
            await p.pilot.pause()
            assert named(drawn_in(dialog)) <= ({"x"} if kind is Help else set()), kind
            dialog.dismiss(None)
            await p.until(lambda: p.app.screen is p.main)


async def test_the_key_that_opens_a_dialog_closes_it_wherever_it_was_moved(tmp_path: Path) -> None:
    keys = {"help": "f10", "persona.switch": "f11", "edit.compare": "f2"}
    async with program(make_store(tmp_path), settings=Settings(keys=keys)) as p:
        for key, kind in (("f10", Help), ("f11", CommandPaletteDialog)):
            await p.press(key)
            await p.dialog(kind)
            await p.press(key)
            await p.until(lambda: p.app.screen is p.main)
        dialog = ShowDiff("what", "+one")
        p.app.push_screen(dialog)
        await p.until(lambda: p.app.screen is dialog)
        await p.press("f2")
        await p.until(lambda: p.app.screen is p.main)


async def test_the_keys_of_reading_lists_and_dialogs_can_be_moved(tmp_path: Path) -> None:
    keys, odd = check_keys(
        {"output.previous": "p", "rows.down": "f10", "list.new": "j", "ask.yes": "Y", "ask.no": ""}
    )
    assert odd == []
    keys |= {"output.find_next": "f9", "output.find_previous": ""}
    async with program(make_store(tmp_path), answer("Hi."), settings=Settings(keys=keys)) as p:
        await p.run_to_end("hello")
        p.main.conversation.panel_controller.start_reading()
        await p.until(lambda: p.main.conversation.panel_controller.reading)
        last = p.main.conversation.view.cursor
        assert last
        await p.press("k")
        assert p.main.conversation.view.cursor == last
        await p.press("p")
        await p.until(lambda: p.main.conversation.view.cursor == last - 1)
        await p.main.action_find()
        await p.answer("Hi")
        await p.notified("1 found. F9 goes to the next.")
        p.main.action_go("personas")
        await p.until(lambda: p.main.personas.rows.has_focus)
        await p.press("f10")
        await p.until(lambda: p.main.personas.rows.cursor == 1)
        await p.press("x")
        await p.until(lambda: "Y yes · Esc closes" in screen_of(p))


def test_a_key_of_all_lists_is_kept_from_one_list_and_taken_from_it_with_a_word() -> None:
    keymap, odd = check_keys({"list.new": "j", "list.copy": "o"})
    assert keymap == {"list.copy": "o"}
    assert odd == [("list.new", "[keys] j is on rows.down already, so not on list.new")]
    keymap, odd = check_keys({"list.new": "j", "rows.down": "down"})
    assert (keymap, odd) == ({"rows.down": "down", "list.new": "j"}, [])
    keymap, odd = check_keys({"rows.open": "n", "help": "y"})
    assert (keymap["list.new"], keymap["tests.new"]) == ("", "")
    assert sum("takes n from" in told for _, told in odd) == 2
    assert check_keys({"ask.yes": "j", "output.copy": "c"})[1] == [], (
        "they never meet what has the key elsewhere"
    )


def test_the_readme_tells_ten_keys_and_all_that_escape_does() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    table = readme.partition("## Ten keys\n")[2].partition("\n## ")[0]
    assert len(re.findall(r"^\| (?!key \||---)", table, re.MULTILINE)) == 10
    (escape,) = re.findall(r"^\| Esc \| (.*) \|$", table, re.MULTILINE)
    words = {
        "close filter": "closes a popup",
        "close list": "closes a popup",
        "close": "closes a popup",
        "stop": "stops the agent",
        "clear the marks": "",
        "chat": "goes back to the chat bar",
        "hide output": "hides the output",
    }
    meanings = re.findall(r'return "(.+?)"', inspect.getsource(ProgramActions.escape_meaning))
    assert set(meanings) == set(words)
    assert all(told in escape for told in words.values())
