"""A terminal that takes nothing, as over a connection that hangs: the program goes on, ends when told to, and shows
everything as soon as the terminal takes something again."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.e2e.test_screen import folder, prompt_file, start
from tests.e2e.test_screen_updates import WHOLE, settle
from tests.support.messages_answers import Answer, Call, Text
from tests.support.messages_server import MessagesServer, say
from tests.support.terminal import Terminal
from tests.support.terminal_drafts import texts

__all__ = ["folder"]

SOON_BEHIND = (
    sys.executable,
    "-c",
    "from tui.terminal.textual_compat import nonblocking_writer; nonblocking_writer.BEHIND = 5_000; from tui.cli import main; main()",
)
"""The program, which takes a terminal to be behind early."""

LONG = "x y z " * 4_000
EDIT = Call("edit_system_prompt", {"old": "Be short.", "new": "Be brief."})


def begin(folder: Path, server: MessagesServer) -> Terminal:
    """Start the program, send it a message, and from the first words of the answer on read no more."""
    env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key}
    more = ("--model", "claude-sonnet-5-5")
    (folder / "config.toml").write_text("panel_seconds = 600.0\n")  # it stays while one looks twice
    terminal = start(folder, *more, env=env, size=(140, 40), command=SOON_BEHIND)
    terminal.until("saved")
    terminal.send("go on\r")
    terminal.until("x y z")
    return terminal


def unread(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until a condition holds, while nobody reads the terminal."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def draft(folder: Path) -> str:
    return "".join(texts(folder, "chat").values())


def test_the_agent_goes_on_and_the_screen_is_whole_when_the_terminal_takes_something_again(
    folder: Path,
) -> None:
    answers = [Answer((Text(LONG), EDIT), delay=0.001, delta=60), say("It is brief now, and that is ALL.")]
    with MessagesServer(lambda _body: answers.pop(0)) as server, begin(folder, server) as terminal:
        unread(lambda: "Be brief." in prompt_file(folder))
        unread(lambda: not answers)
        terminal.until("that is ALL.")
        terminal.until(lambda: "▌" not in terminal.text)  # what is told for a moment only
        drawn = settle(terminal)
        assert "Be brief." in drawn
        assert "Be short." not in drawn
        received = len(terminal.received)
        terminal.send("\x0c")  # Ctrl+L
        terminal.until(lambda: len(terminal.received) > received + WHOLE)
        assert settle(terminal) == drawn


def test_what_is_typed_is_saved_and_a_signal_ends_the_program_though_the_terminal_takes_nothing(
    folder: Path,
) -> None:
    with (
        MessagesServer([Answer((Text(LONG * 50),), delay=0.001, delta=60)]) as server,
        begin(folder, server) as terminal,
    ):
        unread(lambda: terminal.is_full)
        terminal.send("a DRAFT", reading=False)
        unread(lambda: "a DRAFT" in draft(folder))
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.process.wait(30) == 143
        terminal.read()
        assert terminal.restored


def test_a_program_that_was_stopped_and_goes_on_shows_its_screen_again(folder: Path) -> None:
    with start(folder) as terminal:
        terminal.until("saved")
        settle(terminal)
        for stop, chat, word in (
            (signal.SIGTSTP, "Ask for a change", "a WORD"),
            (signal.SIGSTOP, "a WORD", " another"),
        ):
            terminal.process.send_signal(stop)
            state = Path(f"/proc/{terminal.process.pid}/stat")
            terminal.until(lambda state=state: state.read_text().rpartition(")")[2].split()[0] == "T")
            terminal.read()
            terminal.as_the_shell_has_it()
            terminal.process.send_signal(signal.SIGCONT)
            for seen in ("You see the good side.", "saved ─╯", chat, "F1 help"):
                terminal.until(seen)
            terminal.send(word)
            terminal.until(word)
            settle(terminal)
        terminal.until(lambda: "a WORD another" in draft(folder))  # a terminal of lines echoes it too
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.ended() == 143
        assert terminal.restored
