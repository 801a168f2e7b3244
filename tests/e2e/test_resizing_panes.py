"""A pane made narrower in a real terminal: the prompt is wrapped anew and no word is cut off."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.terminal import Terminal

PROMPT = " ".join(f"word{number}" for number in range(100))


def words(terminal: Terminal) -> list[str]:
    """The words of the prompt as they stand in its pane."""
    return [word for word in terminal.text.replace("│", " ").split() if word.startswith("word")]


def test_every_word_of_the_prompt_is_there_at_every_width(tmp_path: Path) -> None:
    (tmp_path / "home" / "personas").mkdir(parents=True)
    (tmp_path / "home" / "personas" / "one.toml").write_text(f'name = "One"\nsystem_prompt = "{PROMPT}"\n')
    env = {"PERSONA_HOME": str(tmp_path / "home")}
    with Terminal([], tmp_path, env, size=(160, 30)) as terminal:
        terminal.until(lambda: words(terminal) == PROMPT.split())
        terminal.until("Max tokens")  # the last thing that is put on the screen
        before = terminal.text
        for key in ("\x1b[17~", "\x1b[17~", "\x1b[18~", "\x1b[24~", "\x1b[24~"):  # F6 F6 F7 F12 F12
            terminal.send(key)
            terminal.until(lambda before=before: terminal.text != before)
            terminal.until(lambda: words(terminal) == PROMPT.split())
            before = terminal.text
