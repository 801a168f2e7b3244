"""The first start in a real terminal: greeted once, and a pasted key that no byte sent to the terminal holds."""

from __future__ import annotations

import time
from pathlib import Path

from tests.support.messages_server import KEY, MessagesServer, call, say
from tests.support.terminal import Terminal

SECRET = "sk-ant-secret-of-this-test-0123456789"


def new_home(folder: Path) -> dict[str, str]:
    return {"PERSONA_HOME": str(folder / "home"), "PERSONA_MODEL": ""}


def let_be(terminal: Terminal, seconds: float) -> None:
    """Let time go by: a dialog takes no key in its first moments."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        terminal.read(0.05)


def test_the_first_start_greets_once_and_one_may_begin_at_once(tmp_path: Path) -> None:
    env = new_home(tmp_path)
    with Terminal([], tmp_path, env) as terminal:
        terminal.until("Welcome")
        terminal.until("Begin with the offline model")
        let_be(terminal, 0.5)
        terminal.send("\r")
        terminal.until(lambda: "Welcome" not in terminal.text)
        let_be(terminal, 1.3)  # what is remembered is written once a second
        terminal.send("\x03\x03")
        assert terminal.ended() == 0
    with Terminal([], tmp_path, env) as terminal:
        terminal.until("saved")
        let_be(terminal, 0.5)
        assert "Welcome" not in terminal.text


def test_a_pasted_key_is_never_sent_back_and_never_written(tmp_path: Path) -> None:
    with MessagesServer([say("ready"), call("report", {"word": "ready"}), say("Hello.")]) as server:
        env = {**new_home(tmp_path), "ANTHROPIC_BASE_URL": server.url}
        with Terminal([], tmp_path, env, size=(100, 30)) as terminal:
            terminal.until("saved")
            terminal.send("/model\r")
            terminal.until("Paste a key")
            let_be(terminal, 0.5)
            terminal.send("\r")
            terminal.until("is not shown")
            terminal.paste(SECRET)
            terminal.until("••••")
            terminal.send("\r")
            terminal.until("did not work")  # the server knows another key
            let_be(terminal, 0.5)
            terminal.send("n")
            terminal.until(lambda: "did not work" not in terminal.text)
            terminal.send("/model\r")
            terminal.until("Paste a key")
            let_be(terminal, 0.5)
            terminal.send("\r")
            terminal.until("is not shown")
            terminal.paste(KEY)
            terminal.send("\r")
            terminal.until("kept until you quit")
            terminal.send("hello\r")
            terminal.until("Hello.")
            let_be(terminal, 0.5)  # a run that is not over yet would be stopped by the first Ctrl+C
            terminal.send("\x03\x03")
            assert terminal.ended() == 0
            for key in (SECRET, KEY):
                assert key.encode() not in terminal.received
    for file in tmp_path.rglob("*"):
        if file.is_file():
            text = file.read_bytes()
            assert SECRET.encode() not in text, file
            assert KEY.encode() not in text, file
