"""The person's own keys: what the table may say, and that screen, footer, help and palette go by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.program import make_store, program
from tui.cli.program.key_probe import meaning
from tui.commands.footer_keys import FooterState, keys_now
from tui.commands.keymap import check_keys, normal, refusal
from tui.commands.registry import COMMANDS, first_key, help_rows
from tui.screens.dialogs.command_palette import CommandPaletteDialog
from tui.screens.dialogs.help import Help, _page
from tui.settings.schema import Settings, load_settings


def test_the_default_keys_would_all_be_accepted() -> None:
    for command in COMMANDS:
        for key in filter(None, command.keys.split(",")):
            allowed = command.where == "dialog" or command.id in (
                "pane.next",
                "pane.previous",
                "back",
                "copy",
                "find.replace_all",  # in a field of one line, which has no new lines
            )
            assert allowed or refusal(key, command) == "", (command.id, key)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        *(("Ctrl+P", "ctrl+p"), ("/", "slash"), ("ctrl+[", "ctrl+left_square_bracket"), ("F10", "f10")),
        *(
            ("K", "K"),
            ("Esc", "escape"),
            ("PgUp", "pageup"),
            ("control+x", "ctrl+x"),
            ("shift+Up", "shift+up"),
        ),
    ],
)
def test_keys_may_be_written_as_people_write_them(written: str, name: str) -> None:
    assert normal(written) == name


@pytest.mark.parametrize(
    "key", ["ctrl+b", "ctrl+h", "ctrl+i", "ctrl+m", "ctrl+[", "ctrl+s", "Ctrl+Q", "ctrl+j"]
)
def test_a_key_that_the_terminal_owns_is_refused_with_the_reason(key: str) -> None:
    keymap, odd = check_keys({"output.toggle": key})
    assert keymap == {}
    assert len(odd) == 1
    assert odd[0][0] == "output.toggle"
    assert "cannot have" in odd[0][1]
    assert odd[0][1].rpartition(": ")[2]


@pytest.mark.parametrize("key", ["a", "space", "enter", "backspace", "up", "/", "A"])
def test_a_key_that_writing_needs_cannot_work_everywhere(key: str) -> None:
    assert check_keys({"help": key})[0] == {}
    assert check_keys({"list.new": "a"})[0] == {"list.new": "a"}


@pytest.mark.parametrize("key", ["hyper+x", "ctrl+pudding", "f25", "ctrl+"])
def test_what_is_no_key_is_said(key: str) -> None:
    keymap, odd = check_keys({"help": key})
    assert keymap == {}
    assert len(odd) == 1


@pytest.mark.parametrize(
    "key",
    [
        "ctrl+\x1b",
        "\x9b",
        "ctrl+\u202e",
        "\u200b",
        "\u0301",
        "ctrl+\ue000",
        "\xad",
        "shift+\x07",
        "\ufe0f",
    ],
)
def test_what_cannot_be_shown_is_no_key_and_is_named_by_its_number(key: str) -> None:
    keymap, odd = check_keys({"list.new": key})
    assert keymap == {}
    ((_, said),) = odd
    assert said.endswith("there is no such key") and said.isprintable() and f"<U+{ord(key[-1]):04X}>" in said
    assert check_keys({"list.new": "é"})[0] == {"list.new": "é"}


def test_help_shows_keys_without_what_a_terminal_would_obey() -> None:
    shown = _page({"help": "ctrl+\x1b]0;x\x07\u202e"}, 70).plain
    assert "\x1b" not in shown and "\u202e" not in shown


def test_an_unknown_command_is_said_with_the_nearest() -> None:
    keymap, odd = check_keys({"output.togle": "f10"})
    assert keymap == {}
    assert "did you mean 'output.toggle'" in odd[0][1]


def test_a_key_that_another_command_has_by_default_goes_over_to_the_one_that_is_named() -> None:
    keymap, odd = check_keys({"conversation.clear": "ctrl+o"})
    assert keymap == {"conversation.clear": "ctrl+o", "output.toggle": ""}
    assert odd == [("conversation.clear", "[keys] conversation.clear takes Ctrl+O from output.toggle")]


def test_of_two_that_want_one_key_the_first_has_it() -> None:
    keymap, odd = check_keys({"help": "f10", "redraw": "f10,f11"})
    assert keymap == {"help": "f10", "redraw": "f11"}
    assert "F10 is on help already" in odd[0][1]


def test_two_may_change_keys_with_each_other_and_one_key_may_do_two_things_in_two_places() -> None:
    assert check_keys({"help": "f3", "pane.prompt": "f1"}) == ({"help": "f3", "pane.prompt": "f1"}, [])
    assert check_keys({"list.new": "a", "tests.new": "a"}) == ({"list.new": "a", "tests.new": "a"}, [])


def test_names_without_quotes_lists_of_keys_and_nothing_at_all_are_understood(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[keys]\noutput.toggle = ["F10", "f11"]\nhelp = ""\n"pane.nowhere" = "f1"\nquit = 3\n')
    loaded = load_settings({"PERSONA_CONFIG": str(path)})
    assert loaded.settings.keys == {"output.toggle": "f10,f11", "help": ""}
    unknown, wrong = loaded.warnings
    assert unknown.startswith(f"{path}:4: [keys] there is no command 'pane.nowhere'")
    assert wrong.startswith(f"{path}:5: [keys] quit must be a key")


def test_footer_help_and_persona_keys_go_by_the_keymap() -> None:
    keymap = {"output.toggle": "f10", "help": ""}
    assert ("F10", "output") in keys_now(FooterState("anywhere"), keymap)
    assert "help" not in [word for _, word in keys_now(FooterState("anywhere"), keymap)]
    assert ("F10", "Show the agent's output, read it, hide it") in dict(help_rows(keymap))["Anywhere"]
    assert first_key("help", keymap) == ""
    assert meaning("ctrl+o", keymap=keymap) == ""
    assert "output" in meaning("f10", keymap=keymap)


async def test_the_screen_goes_by_the_keymap(tmp_path: Path) -> None:
    keys, _ = check_keys({"help": "f10", "conversation.clear": "f1", "quit": "ctrl+w", "list.new": "a"})
    async with program(make_store(tmp_path), settings=Settings(keys=keys)) as p:
        await p.press("f10")
        await p.until(lambda: isinstance(p.app.screen, Help))
        assert "F10" in str(p.app.screen.query_one("#help-keys").render())
        await p.press("escape")
        await p.press("f1")
        await p.until(lambda: "The conversation is empty." in p.messages)
        await p.press("ctrl+p", "greater_than_sign", *"quit")
        await p.until(lambda: isinstance(p.app.screen, CommandPaletteDialog))
        rows = p.app.screen.query_one("#matches").rows
        assert [(row.text, row.head) for row in rows] == [("Quit", "Ctrl+W")]
        await p.press("escape")
        await p.press("ctrl+w")
        await p.until(lambda: p.app.return_code == 0)
