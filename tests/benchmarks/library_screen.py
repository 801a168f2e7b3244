"""How soon the library stands on the screen with 2,000 parts and 500 personas, against 20 of each.

python -m tests.benchmarks.library_screen

In seconds of a processor until the rows of the parts stand, and until all is read and its users are counted. LIBRARY wants
the first at most 1.5 times.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median

from personas.files.home import open_home
from tests.benchmarks.library import LARGE, SMALL, build
from tests.support.faulty_store import FaultyStore
from tests.support.program import program
from tui.screens.library.screen import LibraryScreen

RUNS = 7


async def measure(root: Path, parts: int) -> tuple[float, float]:
    """Return the seconds until the rows stand, and until who uses them is counted too."""
    store = FaultyStore(open_home(root))
    async with program(store, persona_id="persona-0", size=(160, 50)) as p:
        rows, users = [], []
        for _ in range(RUNS):
            begin = time.process_time()
            p.main.open_library("part")
            while not (isinstance(p.app.screen, LibraryScreen) and p.app.screen.is_shown):
                await asyncio.sleep(0.001)
            place = p.app.screen
            while len(place.rows.rows) < parts:
                await asyncio.sleep(0.001)
            rows.append(time.process_time() - begin)
            while not (place.rows.rows[0].text and place.rows.rows[0].tail):
                await asyncio.sleep(0.001)
            users.append(time.process_time() - begin)
            place.dismiss(None)
            await p.until(lambda: p.app.screen is p.main)
        return median(rows), median(users)


def main() -> None:
    """Print the figures."""
    figures = {}
    for size in (SMALL, LARGE):
        with tempfile.TemporaryDirectory() as folder:
            build(Path(folder), *size)
            figures[size] = asyncio.run(measure(Path(folder), size[0]))
        first, last = (seconds * 1_000 for seconds in figures[size])
        print(f"{size[0]:>6,} parts, {size[1]:>3} personas: rows {first:,.0f} ms, with users {last:,.0f} ms")
    print(f"rows: {figures[LARGE][0] / figures[SMALL][0]:.2f} times")


if __name__ == "__main__":
    main()
