"""The person's own command that prints the key: whatever it does is told in a sentence, and it reads nothing of ours."""

from __future__ import annotations

import os

import pytest

from tui.settings.model_factory import key_from_command
from tui.settings.schema import ConfigError


def test_what_is_typed_to_the_program_is_not_for_the_key_command() -> None:
    reading, writing = os.pipe()
    kept = os.dup(0)
    try:
        os.write(writing, b"typed for the program\n")
        os.close(writing)
        os.dup2(reading, 0)
        assert key_from_command('read line; echo "key$line"') == "key"
        assert os.read(0, 100) == b"typed for the program\n"
    finally:
        os.dup2(kept, 0)
        os.close(kept)
        os.close(reading)


@pytest.mark.parametrize("command", ["printf '\\377'", "exit 3", "true", "echo a\0b"])
def test_a_key_command_that_gives_no_key_is_told(command: str) -> None:
    with pytest.raises(ConfigError, match="api_key_command"):
        key_from_command(command)


def test_a_key_command_that_cannot_be_run_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("subprocess.Popen", refuse)
    with pytest.raises(ConfigError, match="cannot be run: Too many open files"):
        key_from_command("echo key")
