"""Text that is in conflict with the file when the program is killed is there at the next start."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.terminal import Terminal

F3 = "\x1bOR"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    personas = tmp_path / "home" / "personas"
    personas.mkdir(parents=True)
    (personas / "optimist.toml").write_text('name = "Optimist"\nsystem_prompt = "You see the good side."\n')
    return tmp_path


def start(folder: Path) -> Terminal:
    return Terminal(["--home", str(folder / "home"), "--model", "offline"], folder)


def change_outside(folder: Path, round_: int) -> None:
    path = folder / "home" / "personas" / "optimist.toml"
    path.write_text(f'name = "Optimist"\nsystem_prompt = "Outside, {round_}."\n')


def reach_conflict(terminal: Terminal, folder: Path) -> None:
    """Type, and change the same line outside before it is saved; again where the save was faster."""
    for round_ in range(20):
        terminal.send(f"AAQ{round_} ")
        terminal.until(f"AAQ{round_}")
        change_outside(folder, round_)
        theirs = f"Outside, {round_}."
        conflict = "changed elsewhere in the same lines"
        terminal.until(
            lambda conflict=conflict, theirs=theirs: conflict in terminal.text or theirs in terminal.text
        )
        if conflict in terminal.text:
            return
    raise AssertionError(f"no conflict came\n{terminal.text}")


def test_a_text_in_conflict_outlives_the_program(folder: Path) -> None:
    with start(folder) as terminal:
        terminal.until("You see")
        terminal.until("saved")
        terminal.send(F3)
        terminal.until("Esc chat")
        reach_conflict(terminal, folder)
        terminal.send("ZZZ ")
        terminal.until("ZZZ")
        state = folder / "state" / "persona-editor"  # nothing can be saved when it is killed: it was before
        terminal.until(lambda: any(b"ZZZ" in path.read_bytes() for path in state.glob("drafts.db*")))
        terminal.process.kill()
        terminal.ended()
    with start(folder) as terminal:
        terminal.until("ZZZ")
        terminal.until("changed elsewhere in the same lines")
        assert "Outside" in (folder / "home" / "personas" / "optimist.toml").read_text()
