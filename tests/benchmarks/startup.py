"""How long until a person sees something, against a bare Textual app started in turn in the same run.

    python -m tests.benchmarks.startup [--runs 9]

First paint in a real pseudo-terminal: with the examples, and with 10,000 personas; then whole commands against
`python -c pass`. Ratios are medians over pairs.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from personas.home import open_home
from tests.e2e.terminal import ROOT, Terminal

BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("Ask for a change")
Bare().run()
"""
SIGN = "Ask for a change"


def first_paint(folder: Path, command: Sequence[str], home: Path | None) -> float:
    """Seconds from the start of the process until the sign stands on the screen."""
    env = {"PERSONA_HOME": str(home)} if home else {}
    started = time.perf_counter()
    with Terminal([], folder, env, size=(120, 40), command=command) as terminal:
        terminal.until(SIGN, seconds=60)
        return time.perf_counter() - started


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
    program = [sys.executable, "-m", "tui", "--model", "offline"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        few, many = folder / "few", folder / "many"
        open_home(few)
        open_home(many)
        for number in range(10_000):
            (many / "personas" / f"persona-{number:05}.toml").write_text(
                f'name = "Persona {number}"\nsystem_prompt = "You are number {number}."\n', encoding="utf-8"
            )
        bare = [sys.executable, "-c", BARE]
        rows = [
            ("first paint, examples", lambda: first_paint(folder, program, few)),
            ("first paint, 10,000 personas", lambda: first_paint(folder, program, many)),
        ]
        for label, measure in rows:
            took, floor, ratio = pairs(runs, measure, lambda: first_paint(folder, bare, None))
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
