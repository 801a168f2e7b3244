"""The program ends although its home does not take what is typed: it is found elsewhere, and said where."""

from __future__ import annotations

import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.test_screen import F1, F3, FAULT, IN_ORDER, folder, prompt_file, start

__all__ = ["folder"]


TAKES_LONG_TO_TAKE_DOWN = (
    sys.executable,
    "-c",
    "import atexit, time\n"
    "atexit.register(time.sleep, 600)\n"
    "from tui.app import signals; signals.GRACE = 600.0\n"
    "from tui.cli import main; main()",
)
"""The program in a Python that does not end by itself in the time of a test."""


def test_a_signal_ends_the_program_sooner_than_it_began(folder: Path) -> None:
    began = time.monotonic()
    with start(folder, command=TAKES_LONG_TO_TAKE_DOWN, cold=True) as terminal:
        terminal.until("You see")
        terminal.send(F3)
        terminal.until("Esc chat")
        took = time.monotonic() - began
        terminal.send("Now. ")
        terminal.until("Now. You")
        told = time.monotonic()
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.ended() == 143
        assert time.monotonic() - told < took
        assert terminal.restored and "Now. You see" in prompt_file(folder)


@pytest.mark.parametrize("end", ["SIGTERM", "fault"])
def test_what_a_vanished_home_cannot_take_is_in_a_private_file_that_one_line_names(
    folder: Path, end: str
) -> None:
    with start(folder, command=IN_ORDER if end == "SIGTERM" else FAULT) as terminal:
        terminal.until("saved")
        terminal.send("a DRAFT")
        terminal.until("a DRAFT")
        terminal.send(F3)
        terminal.until("Esc chat")
        terminal.send("TYPED. ")
        terminal.until("TYPED. You")
        shutil.rmtree(folder / "home")
        if end == "SIGTERM":
            terminal.process.send_signal(signal.SIGTERM)
        else:
            terminal.send("more " + F1)
        assert terminal.ended() == (143 if end == "SIGTERM" else 1)
        assert terminal.restored
        said = bytes(terminal.received).rpartition(b"\x1b[?1049l")[2].decode()
    (file,) = (folder / "state" / "persona-editor").glob("unsaved-*.txt")
    assert f"unsaved text is in {file}\r\n" in said
    assert said.count("persona: ") == 1
    assert "TYPED" not in said
    assert file.stat().st_mode & 0o777 == 0o600
    text = file.read_text()
    assert "TYPED." in text
    assert "a DRAFT" in text
    assert "optimist, the system prompt" in text


SLOW = (
    sys.executable,
    "-c",
    "import time; from personas.store import Store; Store.change = lambda *a, **k: time.sleep(600); "
    "from tui.cli import main; main()",
)
"""The program on a disk that takes a change of a file and never comes back."""

HANGS = (
    *SLOW[:2],
    "from tui.drafts.store import DraftStore; DraftStore.save = lambda *a, **k: __import__('time').sleep(600); "
    "from tui.app import shutdown, signals; shutdown.SAVE_WITHIN, signals.GRACE = 0.3, 5.0; " + SLOW[2],
)
"""The same where it does not keep what is typed beside the file either. It has long to write the text elsewhere."""


def test_a_disk_that_hangs_holds_up_neither_the_end_nor_the_text(folder: Path) -> None:
    with start(folder, command=HANGS) as terminal:
        terminal.until("saved")
        terminal.send(F3)
        terminal.until("Esc chat")
        terminal.send("TYPED. ")
        terminal.until("TYPED. You")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.ended() == 143
        assert terminal.restored
        said = bytes(terminal.received).rpartition(b"\x1b[?1049l")[2].decode()
    (file,) = (folder / "state" / "persona-editor").glob("unsaved-*.txt")
    assert f"persona: unsaved text is in {file}\r\n" in said
    assert "TYPED. You see" in file.read_text()


def test_what_a_slow_disk_has_not_stored_at_the_end_is_given_back_at_the_next_start(folder: Path) -> None:
    with start(folder, command=SLOW) as terminal:
        terminal.until("saved")
        terminal.send(F3)
        terminal.until("Esc chat")
        terminal.send("TYPED. ")
        terminal.until("TYPED. You")
        terminal.hang_up()
        assert terminal.process.wait(20) == 129
    assert not [*(folder / "state").rglob("unsaved-*.txt")]
    with start(folder) as terminal:
        terminal.until("TYPED. You")
        terminal.until("Your unsaved")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.ended() == 143
    assert "TYPED. You see" in prompt_file(folder)
