"""What is sent to a real terminal: colours, signs, mouse, bell, columns of every script."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.e2e.test_screen_updates import settle
from tests.support.cells import Cells, each_alone, old_and_plain
from tests.support.terminal import Terminal

FILE = 'name = "Optimist"\nsystem_prompt = """\nYou see the good in things.\nBe short.\n"""\n'
SGR = re.compile(rb"\x1b\[([\d;:]*)m")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    personas = tmp_path / "home" / "personas"
    personas.mkdir(parents=True)
    (personas / "optimist.toml").write_text(FILE)
    (personas / "two.toml").write_text('name = "Two"\n')
    return tmp_path


def start(folder: Path, settings: str = "", **options: object) -> Terminal:
    (folder / "config.toml").write_text(settings)
    return Terminal(["--home", str(folder / "home")], folder, **options)  # type: ignore[arg-type]


def codes(sent: bytes) -> set[int]:
    """Return the numbers of all SGR sequences."""
    return {int(number) for found in SGR.findall(sent) for number in re.split(rb"[;:]", found) if number}


def at_work(terminal: Terminal) -> None:
    """Show conversation, diff, list, dialog."""
    terminal.until("You see")
    terminal.send("replace short with brief\r")
    terminal.until("Be brief.")
    terminal.until("hide output")
    terminal.send("\x10")  # Ctrl+P
    terminal.until("Switch persona")
    settle(terminal)


WITHOUT_COLOURS = {0, 1, 2, 3, 4, 7, 9}


def test_by_setting_there_are_no_colours_our_signs_are_ascii_the_mouse_is_left_alone_and_what_is_chosen_is_seen(
    folder: Path,
) -> None:
    settings = 'colours = "none"\nglyphs = "ascii"\nmouse = false\n'
    with start(folder, settings, size=(120, 30)) as terminal:
        at_work(terminal)
        assert codes(bytes(terminal.received)) <= WITHOUT_COLOURS
        assert b"\x1b[?1000h" not in terminal.received
        sent = bytes(terminal.received).decode()
        assert "“short”" in sent, "what the agent writes stays"
        assert sent.translate(dict.fromkeys(map(ord, "“”"))).isascii()
        row = next(y for y, line in enumerate(terminal.screen.display) if "Two" in line and "|" in line)
        chosen = [
            y
            for y in range(row - 3, row + 2)
            if any(terminal.screen.buffer[y][x].reverse for x in range(120))
        ]
        assert chosen, "the chosen row of a list is seen"


def test_borders_stay_where_they_are_in_a_terminal_with_other_widths_of_emoji(folder: Path) -> None:
    sign = "👍🏽❤️🏳️‍🌈 नमस्ते"
    prompts = {"many": "first\n" * 8 + f"{sign * 9}\n{sign} x\n", "none": "second\n" * 12}
    for name, prompt in prompts.items():
        text = f'name = "{sign * (name == "many")} {name}"\nsystem_prompt = """\n{prompt}"""\n'
        (folder / "home" / "personas" / f"{name}.toml").write_text(text)
    with Terminal(["--home", str(folder / "home"), "many"], folder, size=(120, 24)) as terminal:
        for word, keys in (("first", "/persona none\r"), ("second", "")):
            terminal.until(word)
            terminal.until("saved")
            settle(terminal)
            for widths in (each_alone, old_and_plain):
                cells = Cells(120, 24, widths)
                cells.feed(bytes(terminal.received).decode())
                corners = [x for x, sign in enumerate(cells.rows[0]) if sign and sign in "╭╮"][:4]
                for y, row in enumerate(cells.rows[1:20]):
                    edges = corners if y > 5 else corners[:3]  # a message may lie over the last
                    assert [row[x] for x in edges] == ["│"] * len(edges), (widths, row)
            terminal.send(keys)


def test_sixteen_colours_are_the_terminals_own_and_the_end_of_a_run_is_told_while_it_is_not_in_front(
    folder: Path,
) -> None:
    told = b"\x1b]9;The agent is done"
    with start(folder, 'colours = "16"\nnotify = "desktop"\nnotify_after = 0\n') as terminal:
        at_work(terminal)
        sent = codes(bytes(terminal.received))
        assert not sent & {38, 48}
        assert sent & {*range(30, 38), *range(90, 98)}
        assert told not in terminal.received
        terminal.send("\x1b")
        terminal.until(lambda: "Switch persona" not in terminal.text)
        terminal.send("rename it to Sunny\r\x1b[O")  # sent, and the terminal loses the focus
        terminal.until("Sunny")
        terminal.until(lambda: told in terminal.received)


def test_text_of_every_script_keeps_the_columns_and_enter_with_a_modifier_is_a_new_line(folder: Path) -> None:
    prompt = "\u05e9\u05dc\u05d5\u05dd stop.\ne\u0301e\u0301 stop.\n\u0645\u064f\u062d\u064e stop.\n\u6f22\u5b57 stop.\n"
    (folder / "home" / "personas" / "optimist.toml").write_text(
        f'name = "Optimist"\nsystem_prompt = """\n{prompt}"""\n'
    )
    with start(folder, size=(120, 30)) as terminal:
        terminal.until("stop.")
        terminal.until("saved")
        lines = [line for line in terminal.screen.display if "stop." in line]
        assert len(lines) == 4
        columns = {
            tuple(x for x in range(120) if terminal.screen.buffer[y][x].data == "│")
            for y, line in enumerate(terminal.screen.display)
            if "stop." in line
        }
        assert len(columns) == 1, columns
        terminal.send("aaa\x1b[27;2;13~bbb\x1b[27;5;13~ccc\x1b[13;2uddd")

        def row(text: str) -> int:
            return next((y for y, line in enumerate(terminal.screen.display) if text in line), -9)

        terminal.until(
            lambda: [row(text) - row("aaa") for text in ("aaa", "bbb", "ccc", "ddd")] == [0, 1, 2, 3]
        )


def test_the_mouse_is_given_back_and_taken_again_while_the_program_runs(folder: Path) -> None:
    with start(folder, size=(100, 40)) as terminal:
        terminal.until("You see")
        terminal.send("/settings\r")
        terminal.until("Settings of the program")

        def setting() -> str:
            """Return the name of the setting at the cursor."""
            found = re.search(r"│ › (\w+)", terminal.text)
            return found[1] if found else ""

        terminal.until(setting)
        while (at := setting()) != "mouse":
            terminal.send("j")
            terminal.until(lambda at=at: setting() not in ("", at))  # type: ignore[misc]
        for wanted, switch in (("false", b"\x1b[?1000l"), ("true", b"\x1b[?1000h")):
            before = len(terminal.received)
            terminal.send("\r")
            terminal.until(lambda: switch in terminal.received[before:])  # noqa: B023 - called in this turn
            terminal.until(lambda: f"mouse = {wanted}" in (folder / "config.toml").read_text())  # noqa: B023
            terminal.until("takes the mouse")
