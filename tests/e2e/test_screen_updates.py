"""What goes to a real terminal: only what changes, and what it leaves is what a whole painting would show."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from tests.support.terminal import Terminal

WHOLE = 2_000
"""Bytes that less than a whole painting does not send after Ctrl+L, and a whole one exceeds."""

LONG = "".join(f"line {number} of a long prompt\n" for number in range(300))
KEYS = {
    "the prompt": "\x1bOR",
    "typing": "some words",
    "a page down": "\x1b[6~",
    "the test inputs": "\x1bOS",
    "help": "\x1bOP",
    "out of help": "\x1b",
    "out of the pane": "\x1b",
    "a message": "add 'Be brief.' to the system prompt\r",
    "the panel": "\x0f",
    "reading": "\x0f",
    "up two turns": "kk",
    "open it": "\r",
    "out of reading": "\x0f",
    "the switcher": "\x10",
    "out of it": "\x1b",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    personas = tmp_path / "home" / "personas"
    personas.mkdir(parents=True)
    (personas / "a.toml").write_text(f'name = "A"\nsystem_prompt = """\n{LONG}"""\n')
    (tmp_path / "config.toml").write_text(
        'repaint = "changed"\n'
    )  # no first start: it would greet at some moment
    return tmp_path


def settle(terminal: Terminal, seconds: float = 0.35) -> str:
    """Wait until nothing more comes for a while in which the program sleeps; return the screen."""
    quiet = time.monotonic()
    end = quiet + 60
    while time.monotonic() - quiet < seconds and time.monotonic() < end:
        before = len(terminal.received)
        terminal.read()
        if len(terminal.received) != before or terminal.is_at_work:
            quiet = time.monotonic()
    return terminal.text


def begin(terminal: Terminal) -> None:
    """Wait until the program stands there, greeted and without a message over it."""
    terminal.until("line 1 of a long prompt")
    settle(terminal)
    terminal.until(lambda: "▌" not in terminal.text)
    settle(terminal)


def test_the_screen_is_as_if_it_was_painted_whole(folder: Path) -> None:
    with Terminal(["--home", str(folder / "home"), "a"], folder, size=(120, 30)) as terminal:
        begin(terminal)
        for what, keys in KEYS.items():
            before = terminal.text
            terminal.send(keys)
            terminal.until(lambda before=before: terminal.text != before)  # type: ignore[misc]
            if what == "typing":
                terminal.until("unsaved")
                terminal.until("· saved")
            if what == "a message":
                terminal.until("Be brief.")
                terminal.until(lambda: "●" not in terminal.text)
            settle(terminal, 0.35 if what == "a message" else 0.15)
            received, drawn = len(terminal.received), terminal.text
            terminal.send("\x0c")  # Ctrl+L
            terminal.until(lambda received=received: len(terminal.received) > received + WHOLE)  # type: ignore[misc]
            assert drawn == settle(terminal, 0.15), what


def test_a_letter_in_a_long_prompt_sends_its_row_and_an_idle_program_nothing(folder: Path) -> None:
    sent = {}
    for repaint, letters in (("changed", "жю"), ("all", "щя")):
        (folder / "config.toml").write_text(f'repaint = "{repaint}"\n')
        with Terminal(["--home", str(folder / "home"), "a"], folder, size=(120, 30)) as terminal:
            begin(terminal)
            terminal.send("\x1bOR")
            settle(terminal)
            sent[repaint] = min(save_letter(terminal, letter) for letter in letters)
            if repaint == "changed":
                before = len(terminal.received)
                terminal.read(0.5)
                assert not terminal.received[before:]
    assert sent["changed"] * 5 < sent["all"]


def save_letter(terminal: Terminal, letter: str) -> int:
    """Type a letter, wait until it is saved and shown; return how many bytes came.

    The list of personas is drawn once more when a folder was seen to change: take the least of several letters.
    """
    before = len(terminal.received)
    terminal.send(letter)
    terminal.until(letter)
    terminal.until("unsaved")
    terminal.until("· saved")
    settle(terminal)
    return len(terminal.received) - before


def test_a_terminal_without_a_size_settles_and_shows_what_is_typed(folder: Path) -> None:
    command = ("sh", "-c", 'stty cols 0 rows 0; exec "$0" -m tui "$@"', sys.executable)
    with Terminal(["--home", str(folder / "home"), "a"], folder, command=command) as terminal:
        begin(terminal)
        terminal.send("hello")
        terminal.until("hello")
        settle(terminal)
        before = len(terminal.received)
        terminal.read(0.5)
        assert len(terminal.received) - before < WHOLE


@pytest.mark.parametrize("command", ["open", "demo"])
def test_a_dumb_terminal_is_told_what_works_there(folder: Path, command: str) -> None:
    with Terminal(["--home", str(folder / "home"), command], folder, {"TERM": "dumb"}) as terminal:
        assert terminal.ended() == 2
        assert terminal.received.count(b"\n") == 1
        assert "persona chat" in terminal.text
