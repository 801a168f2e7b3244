"""A pane made narrower in a real terminal: the prompt is wrapped anew and no word is cut off."""

from __future__ import annotations

from pathlib import Path

from tests.support.terminal import Terminal

F6, F7, F12 = "\x1b[17~", "\x1b[18~", "\x1b[24~"
PROMPT = " ".join(f"word{number}" for number in range(100))


def words(terminal: Terminal) -> list[str]:
    """The words of the prompt as they stand in its pane."""
    return [
        word
        for word in terminal.text.replace("│", " ").split()
        if word.startswith("word") and word[4:5].isdigit()
    ]


def width(terminal: Terminal) -> int:
    """The columns of the prompt's pane."""
    top = terminal.text.splitlines()[0]
    return top.index("╮", top.index("One ·")) - top.index("╭─ One ·") + 1


def test_every_word_of_the_prompt_is_there_at_every_width(tmp_path: Path) -> None:
    (tmp_path / "home" / "personas").mkdir(parents=True)
    (tmp_path / "home" / "personas" / "one.toml").write_text(f'name = "One"\nsystem_prompt = "{PROMPT}"\n')
    (tmp_path / "config.toml").write_text("")  # no first start, which has something to say
    env = {"PERSONA_HOME": str(tmp_path / "home")}
    with Terminal([], tmp_path, env, size=(160, 30)) as terminal:
        terminal.until(lambda: words(terminal) == PROMPT.split())
        terminal.until("Max tokens")  # the last thing that is put on the screen
        for key, columns in ((F6, 80), (F6, 76), (F7, 80), (F12, 160), (F12, 80)):
            terminal.send(key)
            terminal.until(lambda columns=columns: width(terminal) == columns)
            terminal.until(lambda: words(terminal) == PROMPT.split())
