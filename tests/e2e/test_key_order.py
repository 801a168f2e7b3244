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


def at_once(terminal: Terminal, *texts: str) -> None:
    terminal.until("You see")
    terminal.until("Ask for")
    terminal.send("".join(texts))


def test_keys_of_one_read_are_heard_in_their_order_in_the_chat_bar(folder: Path) -> None:
    with start(folder) as terminal:
        at_once(terminal, f"{MANGLED}\x1b[F " * 10)
        terminal.until(" ".join([WRITTEN] * 10))


def test_keys_of_one_read_are_heard_in_their_order_in_the_prompt(folder: Path) -> None:
    with start(folder) as terminal:
        at_once(terminal, F3, CTRL_HOME, f"{MANGLED}\x1b[C\r" * 10)
        terminal.until(lambda: prompt_of(folder).count(f"{WRITTEN}\n") == 10)
        lines = prompt_of(folder).split('"""\n')[1].splitlines()
        assert lines[:10] == [WRITTEN] * 10 and lines[10] == "You see the good in things."


def test_what_is_typed_right_behind_the_key_of_a_pane_goes_there(folder: Path) -> None:
    with start(folder) as terminal:
        at_once(terminal, F3, "ZZ")
        terminal.until(lambda: "ZZ" in prompt_of(folder))
        assert not any("ZZ" in line for line in terminal.text.splitlines() if "›" in line)


def test_what_is_typed_right_behind_the_key_of_a_dialog_goes_into_the_dialog(folder: Path) -> None:
    with start(folder) as terminal:
        at_once(terminal, "\x10two\r")  # Ctrl+P, a name, Enter
        terminal.until("Two · system prompt")
        assert "you  two" not in terminal.text


def test_letters_behind_the_key_of_a_new_test_input_are_its_text_and_no_commands(folder: Path) -> None:
    with start(folder) as terminal:
        at_once(terminal, "\x1bOS", "ncxde\r")  # F4
        terminal.until(lambda: 'content = "cxde"' in prompt_of(folder))
        assert prompt_of(folder).count("[[test_inputs]]") == 1


def test_esc_and_a_letter_that_tmux_sends_as_one_leave_the_pane_for_the_chat_bar(folder: Path) -> None:
    with start(folder) as terminal:
        at_once(terminal, F3, "x")
        terminal.until(lambda: "x" in prompt_of(folder).split('"""')[1])
        terminal.send(f"{ESC}h")
        terminal.send("ello")
        terminal.until("› hello")
        assert "hello" not in prompt_of(folder)


def test_a_field_of_a_dialog_hears_keys_in_their_order(folder: Path) -> None:
    with start(folder) as terminal:
        at_once(terminal, "\x10")
        terminal.until("Switch persona")
        terminal.send(f"two\x7f\x7f\x7f{MANGLED}")
        terminal.until(WRITTEN)


def test_a_paste_without_marks_is_one_draft_of_which_no_line_is_sent(folder: Path) -> None:
    with start(folder) as terminal:
        at_once(terminal, "".join(f"line {number} of a longer text\r" for number in range(1_000)))
        terminal.until("line 999 of")
        terminal.send(CTRL_HOME)
        terminal.until("› line 0 of")


def test_esc_and_a_long_text_of_one_read_go_to_the_chat_bar(folder: Path) -> None:
    with start(folder) as terminal:
        at_once(terminal, F3, CTRL_HOME)
        terminal.until("Esc chat")
        before = prompt_of(folder)
        terminal.send(f"{ESC}1 please make the tone warmer and shorter, thanks")
        terminal.until("› 1 please make the tone warmer and shorter, thanks")
        assert prompt_of(folder) == before


def test_a_paste_without_marks_and_with_escapes_is_one_draft_too(folder: Path) -> None:
    with start(folder) as terminal:
        at_once(terminal, "".join(f"line {number} \x1b[31mred\r" for number in range(200)))
        terminal.until("line 199 red")
        terminal.send(CTRL_HOME)
        terminal.until("› line 0 red")
