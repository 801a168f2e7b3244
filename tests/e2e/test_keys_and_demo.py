"""`persona keys` and `persona demo` in a real terminal, and without one."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.support.hostile import forbidden_in
from tests.support.persona_agent import Workplace
from tests.support.terminal import Terminal
from tui.commands.registry import COMMANDS


def keys(folder: Path, **options: object) -> Terminal:
    return Terminal(["keys"], folder, **options)  # type: ignore[arg-type]


def row(sent: str, name: str, does: str = "") -> re.Pattern[str]:
    return re.compile(
        rf"^{re.escape(sent)} +{re.escape(name)}" + (f" +{re.escape(does)}" if does else " *$"), re.M
    )


def test_each_key_is_shown_with_its_bytes_its_name_and_what_it_does(tmp_path: Path) -> None:
    with keys(tmp_path, size=(110, 24)) as terminal:
        terminal.until("Press keys")
        terminal.until(lambda: b"\x1b[?2004h" in terminal.received)
        for sent, line in {
            "\x10": row(r"\x10", "ctrl+p", "Switch persona"),
            "\x1b[19~": row(r"\x1b[19~", "f8", "Undo the agent's last run"),
            "\x1b[112;5u": row(r"\x1b[112;5u", "ctrl+p", "Switch persona"),
            "\x1b\r": row(r"\x1b\r", "alt+enter or shift+enter", "Chat bar: New line"),
            "é": row(r"\xc3\xa9", "é", "Written as text"),
            "\x1b": row(r"\x1b", "escape", "Close, stop"),
            "\x00": row(r"\x00", "ctrl+@"),
        }.items():
            terminal.send(sent)
            terminal.until(lambda line=line: line.search(terminal.text))
        terminal.send("q")
        assert terminal.ended() == 0
        assert terminal.restored


def test_a_single_ctrl_c_is_a_key_and_the_second_ends(tmp_path: Path) -> None:
    with keys(tmp_path) as terminal:
        terminal.until(lambda: b"\x1b[?2004h" in terminal.received)
        terminal.send("\x03")
        terminal.until("ctrl+c")
        terminal.send("a")
        terminal.until("Written as text")
        terminal.send("\x03")
        terminal.until(lambda: terminal.text.count("ctrl+c") == 2)
        assert terminal.process.poll() is None
        terminal.send("\x03")
        assert terminal.ended() == 0
        assert terminal.restored


def test_nothing_that_is_pasted_is_obeyed(tmp_path: Path) -> None:
    with keys(tmp_path) as terminal:
        terminal.until(lambda: b"\x1b[?2004h" in terminal.received)
        own = len(terminal.received)
        terminal.paste("\x1b]0;owned\x07 \x9b31m \u202e \x1b[2Jq\x03\x03" + "x" * 5000)
        terminal.until("paste of")
        terminal.send("\x1b]52;c;eA==\x07")
        terminal.send("\udcff".encode("utf-8", "surrogateescape"))
        terminal.until(lambda: rb"\xff" in terminal.received)
        printed = bytes(terminal.received[own:]).decode()
        assert forbidden_in(printed.replace("\r\n", "\n")) == []
        assert terminal.process.poll() is None
        terminal.send("q")
        assert terminal.ended() == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_it_and_restores_the_terminal(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    with keys(tmp_path) as terminal:
        terminal.until(lambda: b"\x1b[?2004h" in terminal.received)
        terminal.process.send_signal(number)
        assert terminal.ended() == code
        assert terminal.restored


def test_a_lost_terminal_ends_it(tmp_path: Path) -> None:
    with keys(tmp_path) as terminal:
        terminal.until(lambda: b"\x1b[?2004h" in terminal.received)
        terminal.hang_up()
        assert terminal.ended() != 0


@pytest.mark.parametrize("command", ["keys", "demo"])
def test_without_a_terminal_the_exit_code_is_2(place: Workplace, command: str) -> None:
    done = place.run(command)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"persona: ")
    assert b"terminal" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_keys_list_prints_every_key_through_a_pipe(place: Workplace, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[keys]\nhelp = "f10"\n', "utf-8")
    done = place.run_here("keys", "--list")
    assert done.returncode == 0, done.stderr
    lines = [line.split("  ") for line in done.stdout.decode().splitlines()]
    told = {(part.strip()) for line in lines for part in line}
    assert {command.title for command in COMMANDS if command.keys} <= told
    assert "F10" in told
    assert "F1" not in told


def test_the_demo_plays_by_itself_and_leaves_nothing(tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    with Terminal(["demo"], tmp_path, {"TMPDIR": str(temporary)}, size=(110, 32)) as terminal:
        terminal.until("recorded run")
        terminal.until("Make it warmer")
        terminal.until("one warm sentence", seconds=20)
        terminal.until("+1 −1")
        terminal.send("\x1b")
        terminal.until("recording has stopped")
        terminal.send("\x03")
        terminal.until("again to quit")
        terminal.send("\x03")
        assert terminal.ended() == 0
        assert terminal.restored
        terminal.until("its folder was deleted")
        assert list(temporary.iterdir()) == []
        assert not (tmp_path / ".local").exists()
        assert not (tmp_path / "homes.json").exists()


def test_what_a_key_does_is_wrapped_below_itself_in_a_small_terminal(tmp_path: Path) -> None:
    with keys(tmp_path, size=(60, 15)) as terminal:
        terminal.until(lambda: b"\x1b[?2004h" in terminal.received)
        terminal.send("\x1b[A")
        below = re.compile(
            r"^\\x1b\[A +up *\n {4}Chat bar: Messages you sent before; \(Shift\+\)Up edits *\n {6}what", re.M
        )
        terminal.until(lambda: below.search(terminal.text))
        terminal.send("q")
        assert terminal.ended() == 0


def test_what_is_no_recording_is_told_in_one_line_and_the_terminal_stays_as_it_was(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(b"\x1b]0;owned\x07{}\n\xff\n")
    with Terminal(["demo", "--session", str(broken)], tmp_path) as terminal:
        assert terminal.ended() == 1
        assert terminal.restored
        assert "holds no recorded session" in " ".join(terminal.text.split())
        assert "Traceback" not in terminal.text
