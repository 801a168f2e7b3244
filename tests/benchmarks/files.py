"""What an edit of a persona's file costs, against writing as many bytes atomically in the same run.

python -m tests.benchmarks.files
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from personas.changes import AddTestInput, EditPrompt, SetName, SetPrompt
from personas.files.home import open_home
from personas.files.text_file import replace_file
from personas.store import Store
from personas.toml.edit import set_value
from personas.toml.parse import parse
from personas.versions.authorship import USER


def median_of(action: Callable[[], object], times: int = 7) -> float:
    """Median seconds of an action, after one warm-up."""
    action()
    took = []
    for _ in range(times):
        started = time.perf_counter()
        action()
        took.append(time.perf_counter() - started)
    return statistics.median(took)


def measure(size: int, store: Store) -> None:
    """Print the figures for a prompt of `size` characters."""
    line = 'You are careful; quotes " and back\\slashes, “curly” ones and emoji 🙂 stay as they are.\n'
    prompt = (line * (size // len(line) + 1))[:size] + "the end.\n"
    persona = store.create(f"size {size}", system_prompt=prompt)
    text = store.text(persona.id)
    content = text.encode()
    count = iter(range(1_000_000))
    floor = median_of(lambda: replace_file(store.home.state / "floor", content, root=store.home.root))
    parsing = median_of(lambda: parse(text))

    def change(make: Callable[[int], object]) -> float:
        return median_of(lambda: store.change(persona.id, make(next(count)), revision=None, by=USER))  # type: ignore[arg-type]

    rows = {
        "edit in memory (set the prompt)": median_of(
            lambda: set_value(text, ("system_prompt",), f"{next(count)}\n{prompt}")
        ),
        "change the name": change(lambda n: SetName(f"name {n}")),
        "replace the whole prompt": change(lambda n: SetPrompt(f"{n}\n{prompt}")),
        "edit the last line of the prompt": change(
            lambda n: EditPrompt(
                "the end.\n" if not n % 2 else "THE END.\n", "THE END.\n" if not n % 2 else "the end.\n"
            )
        ),
        "add a test input": change(lambda n: AddTestInput(f"question {n}")),
    }
    print(
        f"\nprompt of {size:,} characters: atomic write {floor * 1000:.1f} ms, one parse {parsing * 1000:.1f} ms"
    )
    for label, took in rows.items():
        print(f"  {label:34} {took * 1000:8.1f} ms   {took / floor:6.1f} x the bare write")


def main() -> None:
    """Print the figures for a usual, a long and a huge prompt."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(open_home(Path(folder) / "home", {"PERSONA_CONFIG": str(Path(folder) / "config.toml")}))
        for size in (2_000, 100_000, 1_000_000):
            measure(size, store)


if __name__ == "__main__":
    main()
