"""The program as a person meets it: a process in a real terminal."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path

import pytest

from tests.support.terminal import Terminal
from tests.support.terminal_drafts import texts

ESC, F1, F3 = "\x1b", "\x1bOP", "\x1bOR"
FAULT = (
    sys.executable,
    "-c",
    "from tui.screens.main.program_actions import ProgramActions\n"
    "def boom(self): raise RuntimeError('boom sk-abcdefghijklmnop')\n"
    "ProgramActions.action_help = boom\n"
    "from tui.cli import main; main()",
)
"""The program with a fault: F1 is an exception that nobody expects."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    personas = tmp_path / "home" / "personas"
    personas.mkdir(parents=True)
    (personas / "optimist.toml").write_text(
        'name = "Optimist" # mine\nsystem_prompt = """\nYou see the good side.\nBe short.\n"""\n'
    )
    return tmp_path


def start(folder: Path, *more: str, **options: object) -> Terminal:
    arguments = ["--home", str(folder / "home"), "--model", "offline", *more]
    return Terminal(arguments, folder, **options)  # type: ignore[arg-type]


def prompt_file(folder: Path) -> str:
    return (folder / "home" / "personas" / "optimist.toml").read_text()


def test_a_message_changes_the_file_and_the_editor_shows_it(folder: Path) -> None:
    (folder / "config.toml").write_text("panel_seconds = 3.0\n")
    with start(folder) as terminal:
        terminal.until("You see the good side.")
        terminal.until("saved")
        terminal.send("replace short with brief\r")
        terminal.until("Be brief.")
        terminal.until("╭")
        terminal.until("edit_system_prompt")
        assert prompt_file(folder) == (
            'name = "Optimist" # mine\nsystem_prompt = """\nYou see the good side.\nBe brief.\n"""\n'
        )
        terminal.until("hide output")
        terminal.until(lambda: "Agent" not in terminal.text)  # by itself
        terminal.until("edit_system_prompt +1 −1")
        terminal.send("\x0f")  # Ctrl+O
        terminal.until("pinned")
        terminal.send(ESC)
        terminal.until(lambda: "Agent" not in terminal.text)
        terminal.send("\x0f")
        terminal.until("pinned")
        terminal.send("\x1b[19~")  # F8
        terminal.until("Be short.")
        terminal.until(lambda: "Be short." in prompt_file(folder))
        terminal.send("\x03")
        terminal.until("again to quit")
        terminal.send("\x03")
        assert terminal.ended() == 0
        assert terminal.restored


IN_ORDER = (
    sys.executable,
    "-c",
    "from tui.app import signals; signals.GRACE = 600.0; from tui.cli import main; main()",
)
"""The program, not ended by force in the time of a test: it ends in order or not at all."""


def test_a_signal_saves_restores_the_terminal_and_ends_the_program(folder: Path) -> None:
    with start(folder, command=IN_ORDER) as terminal:
        terminal.until("You see")
        terminal.send("\x1bOR")
        terminal.until("Esc chat")
        terminal.send("Now. ")
        terminal.until("Now. You")
        terminal.send("\x1bOS")  # F4
        terminal.until("╭─ Test inputs")
        terminal.send("n")
        terminal.until("New test input")
        terminal.send("begun")
        terminal.until("begun")
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.ended() == 130
        assert terminal.restored
        assert "Now. You see" in prompt_file(folder)
        assert list(texts(folder, "dialog:test input").values()) == ["begun"]


def test_typing_is_saved_by_itself_and_a_lost_terminal_ends_the_program(folder: Path) -> None:
    with start(folder, "open", "optimist", command=IN_ORDER) as terminal:
        terminal.until("You see")
        terminal.send("\x1bOR")
        terminal.until("Esc chat")
        terminal.send("Kept. ")
        terminal.until(lambda: "Kept. You see the good side." in prompt_file(folder))
        terminal.until("saved")
        terminal.hang_up()
        assert terminal.ended() == 129


def test_a_long_paste_arrives_whole_and_sends_nothing(folder: Path) -> None:
    with start(folder) as terminal:
        terminal.until("You see")
        terminal.send("\x1bOR")
        terminal.until("Esc chat")
        text = "".join(f"line {number}\r" for number in range(30_000))
        terminal.paste(text + ESC + "[31m[/]")
        wanted = text.replace("\r", "\n")
        terminal.until(lambda: wanted in prompt_file(folder))
        assert "\\u001B[31m[/]You see" in prompt_file(folder)
        assert not list((folder / "home" / "agent-sessions").glob("*.jsonl"))


def test_no_sequence_from_a_persona_or_a_model_reaches_the_terminal(folder: Path) -> None:
    hostile = (
        'name = "[/] \\u001b]0;owned\\u0007 \\u009b31m"\nsystem_prompt = "\\u001b[5mblink \\u202e [bold]x"\n'
    )
    (folder / "home" / "personas" / "optimist.toml").write_text(hostile)
    with start(folder) as terminal:
        terminal.until("blink")
        terminal.send("show the prompt\r")
        terminal.until("get_persona")
        terminal.until("hide output")
        terminal.process.send_signal(signal.SIGTERM)
        terminal.ended()
        sent = bytes(terminal.received).decode("utf-8", "replace")
        assert "owned" not in re.sub(r"[^\x1b]*", "", sent)
        assert "\x1b]0;owned" not in sent
        assert "\x1b[5m" not in sent
        assert "\x9b" not in sent
        assert "\u202e" not in sent
        assert "[/]" in sent


def test_the_persons_editor_gets_the_file_and_the_draft_and_whatever_it_does_the_screen_is_there_again(
    folder: Path,
) -> None:
    editor = folder / "ed.sh"

    def make(script: str) -> None:
        editor.write_text(f"#!/bin/sh\n{script}\n")
        editor.chmod(0o755)

    with start(folder, env={"EDITOR": str(editor)}) as terminal:
        terminal.until("Be short.")
        terminal.send("a draft")
        terminal.until("a draft")
        terminal.send("\x07")  # Ctrl+G
        terminal.until("Cannot start")
        make("echo ready; exec sleep 60")
        for key, number in (("\x03", 2), ("\x1c", 3)):  # Ctrl+C and Ctrl+\, for the editor alone
            before = len(terminal.received)
            terminal.send("\x07")
            terminal.until(lambda: b"ready" in terminal.received[before:])  # noqa: B023 - called in this turn
            terminal.send(key)
            terminal.until(f"signal {number}")
            terminal.send(f" goes on {number}")
            terminal.until(f" goes on {number}")
        terminal.until("a draft goes on 2 goes on 3")
        make("sed -i 's/short/quick/; s/draft/message/' \"$1\"; exit 3")  # it saves, and then fails
        terminal.send("\x07")
        terminal.until("a message goes on 2 goes on 3")
        terminal.until("ended with code 3")
        terminal.send("\x1bOR")
        terminal.until("Esc chat")
        terminal.send("\x07")
        terminal.until("Be quick.")
        terminal.until("saved is shown")
        make("sed -i 's/quick/brief/; s/message/text/' \"$1\"")
        terminal.send("\x07")
        terminal.until("Be brief.")
        assert 'name = "Optimist" # mine' in prompt_file(folder)
        terminal.send(ESC)
        terminal.until(lambda: "Esc chat" not in terminal.text)
        terminal.send("\x07")
        terminal.until("a text goes on 2 goes on 3")


def test_a_killed_program_gives_back_the_draft_and_what_was_typed_in_a_dialog(folder: Path) -> None:
    with start(folder) as terminal:
        terminal.until("saved")
        terminal.send("a draft")
        terminal.until("a draft")
        terminal.send("\x1bOS")  # F4
        terminal.until("╭─ Test inputs")
        terminal.send("n")
        terminal.until("New test input")
        terminal.send("begun")
        terminal.until(lambda: texts(folder, "chat") and texts(folder, "dialog:test input"))
        terminal.process.kill()
        terminal.process.wait()
    with start(folder) as terminal:
        terminal.until("saved")
        terminal.until("a draft")
        terminal.send("\x1bOS")
        terminal.until("╭─ Test inputs")
        terminal.send("n")
        terminal.until("New test input")
        terminal.until("begun")


def test_a_terminal_without_utf8_is_sent_ascii_only_whatever_texts_hold(folder: Path) -> None:
    words = "日本 Ý0;titleÜ “e\u0301” 👍🏽 Û2J."  # letters whose bytes begin sequences of 8 bits
    path = folder / "home" / "personas" / "optimist.toml"
    path.write_text(prompt_file(folder).replace("You see", f"{words}\nYou see"))
    with start(folder, env={"LANG": "C", "LC_ALL": "C"}) as terminal:
        terminal.until('???? ?0;title? "?" ?? ?2J.')
        terminal.send("\x1bOR\x1b[1;5H\x1b[F\x7f!")  # F3, the first line, its end
        terminal.until("?2J!")
        terminal.send("\x1b")
        terminal.until(lambda: words.replace("2J.", "2J!") in prompt_file(folder))
        terminal.send(f"rename it to '{words}'\r")
        terminal.until('called "????')
        terminal.send("\x1b[15~")  # F5, the last change
        terminal.until("<U+00DD>0;title<U+00DC>")
        terminal.send("\x1b")
        terminal.until(lambda: "<U+00DD>" not in terminal.text)
        terminal.send("replace short with brief\r")
        terminal.until("Be brief.")
        terminal.until("hide output")
        assert "+- ???? ?0;" in terminal.text
        terminal.send("\x10")  # Ctrl+P
        terminal.until("Switch persona")
        assert bytes(terminal.received).isascii()


def test_a_fault_becomes_one_line_a_log_and_a_restored_terminal_and_takes_no_text_along(folder: Path) -> None:
    with start(folder, command=FAULT) as terminal:
        terminal.until("You see")
        terminal.until("saved")
        terminal.send("\x1bOR")  # F3
        terminal.until("Esc chat")
        terminal.send("Typed. ")
        terminal.until("Typed. You")
        terminal.send(ESC)
        terminal.until(lambda: "Esc chat" not in terminal.text)
        terminal.send("to the last LETTER")
        terminal.until("last LETTER")
        terminal.send(F1)
        assert terminal.ended() == 1
        assert terminal.restored
        terminal.until("persona: unexpected RuntimeError: boom")
        assert "Typed. You see" in prompt_file(folder)
        assert list(texts(folder, "chat").values()) == ["to the last LETTER"]
        assert b"Traceback" not in terminal.received
        assert b"sk-abc" not in terminal.received
        log = (folder / "state" / "persona-editor" / "fault.log").read_text()
        assert "Traceback" in log
        assert "sk-abc" not in log


def test_without_a_terminal_it_says_so(folder: Path) -> None:
    import subprocess

    from tests.support.forked import ROOT

    done = subprocess.run(
        [sys.executable, "-m", "tui", "--home", str(folder / "home")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("persona: ")
    assert done.stderr.count("\n") == 1
