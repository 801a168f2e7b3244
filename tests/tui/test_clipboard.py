"""Where a copied text goes, and what the person is told."""

from __future__ import annotations

import base64
import sys
from pathlib import Path

import pytest

from tui.terminal.clipboard import OSC52_LIMIT, copy, local_tool, osc52, run_tool

DESKTOP = {"DISPLAY": ":0"}


def no_program(name: str) -> str | None:
    return None


def only_xclip(name: str) -> str | None:
    return f"/usr/bin/{name}" if name == "xclip" else None


def test_a_local_tool_takes_it_where_there_is_one() -> None:
    taken: list[tuple[tuple[str, ...], str]] = []

    def run(command: object, text: str) -> bool:
        taken.append((tuple(command), text))
        return True

    copied = copy("hello", write=None, environment=DESKTOP, run=run, find=only_xclip)
    assert copied.way == "tool"
    assert copied.message == "Copied 5 characters."
    assert taken == [(("xclip", "-selection", "clipboard"), "hello")]


def test_over_ssh_it_goes_to_the_terminal_and_is_not_called_copied() -> None:
    written: list[str] = []
    copied = copy("naïve\n漢", write=written.append, remote=True, environment=DESKTOP, find=only_xclip)
    assert copied.way == "terminal"
    assert copied.message == "Sent 2 lines to the terminal's clipboard."
    payload = base64.b64encode("naïve\n漢".encode()).decode()
    assert written == [f"\x1b]52;c;{payload}\x07"]


def test_a_tool_that_fails_is_followed_by_the_terminal() -> None:
    written: list[str] = []
    copied = copy(
        "x", write=written.append, environment=DESKTOP, run=lambda command, text: False, find=only_xclip
    )
    assert copied.way == "terminal"
    assert len(written) == 1


def test_tmux_is_told_what_it_needs() -> None:
    assert "set-clipboard" in copy("x", write=lambda text: None, remote=True, tmux=True).message


def test_what_is_too_long_for_the_terminal_goes_to_a_file(tmp_path: Path) -> None:
    text = "漢" * OSC52_LIMIT
    copied = copy(text, write=lambda sequence: None, environment={}, folder=tmp_path, find=no_program)
    assert copied.way == "file"
    assert copied.path is not None
    assert copied.path.read_text(encoding="utf-8") == text
    assert str(copied.path) in copied.message


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    copied = copy("x", write=None, environment={}, folder=tmp_path / "missing", find=no_program)
    assert copied.way == "nowhere"
    assert "Could not copy" in copied.message


def test_nothing_is_not_copied() -> None:
    assert copy("", write=None).way == "nowhere"


def test_a_lone_surrogate_does_not_stop_it() -> None:
    assert "\x1b]52" in osc52("a\ud800b")


def test_gnu_screen_gets_it_in_wrapped_pieces() -> None:
    sequence = osc52("x" * 1000, screen=True)
    assert sequence.startswith("\x1bP")
    assert sequence.endswith("\x1b\\")
    assert "".join(piece.removeprefix("\x1bP") for piece in sequence.split("\x1b\\")) == osc52("x" * 1000)


def test_tools_are_asked_only_where_they_reach_a_display() -> None:
    assert local_tool({}, only_xclip) is None
    assert local_tool(DESKTOP, only_xclip) == ("xclip", "-selection", "clipboard")


@pytest.mark.skipif(sys.platform == "win32", reason="uses a POSIX command")
def test_a_real_tool_gets_the_text(tmp_path: Path) -> None:
    target = tmp_path / "taken"
    assert run_tool(["sh", "-c", f"cat > '{target}'"], "naïve")
    assert target.read_text(encoding="utf-8") == "naïve"
    assert not run_tool(["false"], "x")
    assert not run_tool([str(tmp_path / "missing")], "x")
