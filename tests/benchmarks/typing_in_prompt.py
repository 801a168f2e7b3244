"""What a key costs in prompts of 1 KB, 100 KB and 1 MB, and what an idle program costs.

python -m tests.benchmarks.typing_in_prompt
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from textual import events

from tests.support.program import make_store, program

KEYS = 40


async def measure(size: int) -> tuple[float, float]:
    """Return milliseconds of CPU a key, and the share of a core while nothing happens."""
    text = "word word word word word\\n" * (size // 25)
    with tempfile.TemporaryDirectory() as name:
        store = make_store(Path(name), {"a": f'name = "A"\nsystem_prompt = "{text}"\n'})
        async with program(store, size=(140, 40), frames=True) as running:
            await running.press("f3")
            running.prompt.move_cursor((running.prompt.document.line_count // 2, 3))
            await running.pilot.pause(0.3)
            begun = time.process_time()
            for _ in range(KEYS):
                running.app.post_message(events.Key("x", "x"))
                await asyncio.sleep(0.05)
            key = (time.process_time() - begun) / KEYS * 1000
            await running.until(lambda: running.state == "saved", 20)
            begun = time.process_time()
            await asyncio.sleep(2)
            return key, (time.process_time() - begun) / 2


def main() -> None:
    """Measure and print."""
    for size in (1_000, 100_000, 1_000_000):
        key, idle = asyncio.run(measure(size))
        print(f"{size:>9} characters: {key:5.1f} ms a key, idle {idle:.1%} of a core")


if __name__ == "__main__":
    main()
