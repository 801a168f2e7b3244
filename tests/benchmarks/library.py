"""What commands on the library cost with 2,000 parts and 500 personas, against the same with 20 of each.

python -m tests.benchmarks.library [ROUNDS]

In seconds of a processor, start of the program included; both homes take turns. LIBRARY wants at most 1.5 times.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from personas.files.home import open_home

SMALL, LARGE = (20, 20), (2_000, 500)
"""Parts and personas."""
TYPES = ("tone", "goal", "voice", "context")
COMMANDS = {
    "list": ("part", "list"),
    "filter": ("part", "list", "--type", "voice", "--tag", "rare"),
    "users": ("part", "users", "part-0"),
    "compile": ("compile", "persona-0"),
    "manifest": ("manifest", "persona-0"),
}


def build(root: Path, parts: int, personas: int) -> None:
    """Make a home of so many parts and personas; each persona links eight parts."""
    home = open_home(root)
    for folder in (home.personas, home.library):
        for path in folder.rglob("*.toml"):
            path.unlink()
    for number in range(parts):
        tags = '"rare"' if number % 50 == 2 else '"common"'
        (home.library / "parts" / f"part-{number}.toml").write_text(
            f'type = "{TYPES[number % 4]}"\ndescription = "The part {number}"\nsummary = "Short."\n'
            f'tags = [{tags}]\ncontent = """\n{"You say what is so. " * 20}\n"""\n'
        )
    for number in range(personas):
        links = "".join(f'\n[[parts]]\nname = "part-{(number + 7 * one) % parts}"\n' for one in range(8))
        (home.personas / f"persona-{number}.toml").write_text(
            f'name = "P{number}"\nsystem_prompt = """\n{"You are careful. " * 40}\n"""\n{links}'
        )


def _seconds(root: Path, arguments: tuple[str, ...]) -> float:
    started = sum(os.times()[2:4])
    command = [sys.executable, "-m", "tui", "--home", str(root), *arguments]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return sum(os.times()[2:4]) - started


def main() -> None:
    """Print the median of each command in both homes, and the ratio."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with tempfile.TemporaryDirectory() as folder:
        roots = [Path(folder) / "small", Path(folder) / "large"]
        for root, size in zip(roots, (SMALL, LARGE), strict=True):
            build(root, *size)
        for label, arguments in COMMANDS.items():
            taken = [[_seconds(root, arguments) for root in roots] for _ in range(rounds)]
            small, large = (statistics.median(one) for one in zip(*taken, strict=True))
            print(f"  {label:10} {small:6.2f} s   {large:6.2f} s   {large / small:.2f}")


if __name__ == "__main__":
    main()
