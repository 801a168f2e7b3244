"""Keys that come in one read, as over a slow line: each takes effect where and when it was pressed."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.test_looks import folder, start
from tests.support.terminal import Terminal

__all__ = ["folder"]

F3, CTRL_HOME, LEFT, ESC = "\x1bOR", "\x1b[1;5H", "\x1b[D", "\x1b"
MANGLED = f"abc\x7f\x7fde{LEFT}X"
WRITTEN = "adXe"


def prompt_of(folder: Path) -> str:
    return (folder / "home" / "personas" / "optimist.toml").read_text()


def put_away(terminal: Terminal) -> None:
    terminal.send("\x03")
    terminal.until("Ask for")


def test_keys_of_one_read_are_heard_in_their_order_where_they_lead(folder: Path) -> None:
    with start(folder) as terminal:
        terminal.until("You see")
        terminal.until("Ask for")
        terminal.send("\x10")  # Ctrl+P: a field of a dialog
        terminal.until("Switch persona")
        terminal.send(f"two\x7f\x7f\x7f{MANGLED}")
        terminal.until(WRITTEN)
        terminal.send(ESC)
        terminal.until(lambda: WRITTEN not in terminal.text)
        terminal.send(f"{MANGLED}\x1b[F " * 4)  # the chat bar
        terminal.until(" ".join([WRITTEN] * 4))
        put_away(terminal)
        terminal.send(F3 + CTRL_HOME + f"{MANGLED}\x1b[C\r" * 4)  # the prompt, right behind its key
        terminal.until(lambda: prompt_of(folder).count(f"{WRITTEN}\n") == 4)
        lines = prompt_of(folder).split('"""\n')[1].splitlines()
        assert lines[:4] == [WRITTEN] * 4 and lines[4] == "You see the good in things."
        assert not any(WRITTEN in line for line in terminal.text.splitlines() if "›" in line)
        before = prompt_of(folder)
        terminal.send(f"{ESC}h")  # as tmux sends Esc and a letter
        terminal.send("ello")
        terminal.until("› hello")
        put_away(terminal)
        terminal.send(F3)
        terminal.until("Esc chat")
        terminal.send(f"{ESC}1 please make the tone warmer and shorter, thanks")
        terminal.until("› 1 please make the tone warmer and shorter, thanks")
        assert prompt_of(folder) == before
        put_away(terminal)
        terminal.send("\x1bOSncxde\r")  # F4, and a new test input: no commands
        terminal.until(lambda: 'content = "cxde"' in prompt_of(folder))
        assert prompt_of(folder).count("[[test_inputs]]") == 1
        terminal.send("\x10two\r")  # a dialog, a name right behind its key
        terminal.until("None yet. Press n")
        terminal.until("Ask for")
