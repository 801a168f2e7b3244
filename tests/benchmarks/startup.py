"""How long until a person sees something, against a bare Textual app started in turn in the same run.

    python -m tests.benchmarks.startup [--runs 9]

In a real pseudo-terminal, with the examples and with 10,000 personas: the first paint (anything on the screen), the
first paint with the persona's text, the chat bar (one may type), and the names in the list. Then whole commands against `python -c pass`. Ratios are
medians over pairs. The terminal is not emulated: drawing a full screen here takes as long as a part of what is measured.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from personas.files.home import open_home
from tests.benchmarks.screen import Watched
from tests.support.forked import ROOT
from tests.support.terminal import Terminal

BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("Ask for a change")
Bare().run()
"""
CONTROL = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[P\]].*?(?:\x07|\x1b\\)|\x1b.|[\x00-\x20]", re.DOTALL)
"""What a terminal shows nothing of."""


def anything(terminal: Terminal) -> bool:
    """Whether the screen shows anything."""
    return bool(CONTROL.sub(b"", bytes(terminal.received)))


def chat_bar(terminal: Terminal) -> bool:
    """Whether the chat bar is there; the cursor stands on its first letter."""
    return b"sk for a change" in terminal.received


def text(terminal: Terminal) -> bool:
    """Whether the prompt of the persona that comes first is shown."""
    return b"You are a line editor." in terminal.received or b"You are number 0." in terminal.received


def names(terminal: Terminal) -> bool:
    """Whether the list shows what a persona is called; the row of an example changes by single letters only."""
    return b"Quite another" in terminal.received


def shown(
    sign: Callable[[Terminal], bool], folder: Path, command: Sequence[str], home: Path | None
) -> Callable[[], float]:
    """Return what measures the seconds from the start of the process until the sign stands on the screen."""

    def measure() -> float:
        env = {"PERSONA_HOME": str(home)} if home else {}
        started = time.perf_counter()
        with Watched([], folder, env, size=(120, 40), command=command, cold=True) as terminal:
            terminal.until(lambda: sign(terminal), seconds=60)
            return time.perf_counter() - started

    return measure


def whole(command: Sequence[str], folder: Path, home: Path) -> float:
    """Seconds a command takes from start to end."""
    started = time.perf_counter()
    subprocess.run(
        command,
        check=True,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        env={"PERSONA_HOME": str(home), "PERSONA_CONFIG": str(folder / "c.toml"), "PYTHONPATH": str(ROOT)},
    )
    return time.perf_counter() - started


def pairs(runs: int, a: Callable[[], float], floor: Callable[[], float]) -> tuple[float, float, float]:
    """Median of a, of the floor, and of their ratio pair by pair; one warm-up of each."""
    a(), floor()
    measured = [(a(), floor()) for _ in range(runs)]
    return (
        statistics.median(first for first, _ in measured),
        statistics.median(second for _, second in measured),
        statistics.median(first / second for first, second in measured),
    )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    program = [sys.executable, "-m", "tui"]  # its model is offline: `Terminal` says so
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        few, many = folder / "few", folder / "many"
        open_home(few)
        (few / "personas" / "last.toml").write_text('name = "Quite another"\n', encoding="utf-8")
        open_home(many)
        for number in range(10_000):
            (many / "personas" / f"persona-{number:05}.toml").write_text(
                f'name = "Persona {number}"\nsystem_prompt = "You are number {number}."\n', encoding="utf-8"
            )
        bare = [sys.executable, "-c", BARE]
        floor_of = shown(anything, folder, bare, None)
        for label, home, sign in (
            ("first paint, examples", few, anything),
            ("first paint with text, examples", few, text),
            ("first paint with text, 10,000", many, text),
            ("chat bar, examples", few, chat_bar),
            ("names, examples", few, names),
        ):
            took, floor, ratio = pairs(runs, shown(sign, folder, program, home), floor_of)
            print(f"{label:32} {took * 1000:7.0f} ms   bare Textual {floor * 1000:5.0f} ms   {ratio:5.2f} x")
        for label, arguments in (("--help", ["--help"]), ("list", ["list"]), ("show", ["show", "optimist"])):
            command = [sys.executable, "-m", "tui", *arguments]
            took, floor, ratio = pairs(
                runs,
                lambda command=command: whole(command, folder, few),
                lambda: whole([sys.executable, "-c", "pass"], folder, few),
            )
            print(
                f"persona {label:24} {took * 1000:7.0f} ms   bare Python  {floor * 1000:5.0f} ms   {ratio:5.2f} x"
            )


if __name__ == "__main__":
    main()
