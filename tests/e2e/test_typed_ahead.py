"""What is typed while the program starts is there once it has."""

from __future__ import annotations

from pathlib import Path

from tests.support.terminal import Terminal


def test_what_is_typed_before_the_first_picture_stands_in_the_chat_bar(tmp_path: Path) -> None:
    personas = tmp_path / "home" / "personas"
    personas.mkdir(parents=True)
    (personas / "a.toml").write_text('name = "A"\nsystem_prompt = "I am A."\n')
    (tmp_path / "config.toml").write_text("# no first start\n")
    with Terminal(["--home", str(tmp_path / "home"), "a"], tmp_path) as terminal:
        terminal.send("typed ")
        terminal.until("I am A.")
        terminal.send("ahead")
        terminal.until("typed ahead")


def test_enter_before_the_first_picture_sends_the_message(tmp_path: Path) -> None:
    personas = tmp_path / "home" / "personas"
    personas.mkdir(parents=True)
    (personas / "a.toml").write_text('name = "A"\nsystem_prompt = "I am A."\n')
    (tmp_path / "config.toml").write_text("# no first start\n")
    with Terminal(["--home", str(tmp_path / "home"), "a"], tmp_path) as terminal:
        terminal.send("rename it to Zoë\r")
        terminal.until("is now called")
        terminal.send("\x12")  # Ctrl+R
        terminal.until("Recall a message")
        terminal.until("› rename it to Zoë")
    assert 'name = "Zoë"' in (personas / "a.toml").read_text("utf-8")


def test_what_is_typed_before_the_first_picture_of_a_terminal_that_is_too_small_is_there_in_a_larger_one(
    tmp_path: Path,
) -> None:
    personas = tmp_path / "home" / "personas"
    personas.mkdir(parents=True)
    (personas / "a.toml").write_text('name = "A"\nsystem_prompt = "I am A."\n')
    (tmp_path / "config.toml").write_text("# no first start\n")
    with Terminal(["--home", str(tmp_path / "home"), "a"], tmp_path, size=(40, 10)) as terminal:
        terminal.send("typed ahead")
        terminal.until("is too small")
        terminal.resize(80, 24)
        terminal.until("typed ahead")
