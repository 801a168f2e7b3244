"""What is typed while the program starts is there once it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.terminal import Terminal


@pytest.fixture
def personas(tmp_path: Path) -> Path:
    personas = tmp_path / "home" / "personas"
    personas.mkdir(parents=True)
    (personas / "a.toml").write_text('name = "A"\nsystem_prompt = "I am A."\n')
    (tmp_path / "config.toml").write_text("# no first start\n")
    return personas


def start(personas: Path, columns: int, lines: int) -> Terminal:
    folder = personas.parent.parent
    return Terminal(["--home", str(personas.parent), "a"], folder, size=(columns, lines), cold=True)


def test_enter_before_the_first_picture_sends_the_message(personas: Path) -> None:
    with start(personas, 80, 24) as terminal:
        terminal.send("rename it to Zoë\r")
        terminal.until("is now called")
        terminal.send("\x12")  # Ctrl+R
        terminal.until("Recall a message")
        terminal.until("› rename it to Zoë")
    assert 'name = "Zoë"' in (personas / "a.toml").read_text("utf-8")


def test_what_is_typed_before_the_first_picture_is_there_also_if_the_terminal_is_too_small(
    personas: Path,
) -> None:
    with start(personas, 40, 10) as terminal:
        terminal.send("typed ")
        terminal.until("is too small")
        terminal.resize(80, 24)
        terminal.until("› typed")
        terminal.send("ahead")
        terminal.until("typed ahead")
