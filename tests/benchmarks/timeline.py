"""How soon the timeline of versions stands: 5,000 versions with 20,000 outputs against 50 with 200.

python -m tests.benchmarks.timeline [VERSIONS]

OUTPUTS.md wants the first screen of many within 1.5 times that of few.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from agent.outputs.output_log import make_output
from agent.outputs.variant import variant_of
from personas.files.journal import encode_record
from personas.files.text_file import sha256
from personas.versions.authorship import Author, Version
from personas.versions.log import to_journal
from tests.support.faulty_store import FaultyStore
from tests.support.program import make_store, program
from tui.screens.dialogs.versions import Versions
from tui.widgets.virtual_list import VirtualList

FEW, MANY = 50, 5_000
OUTPUTS_EACH = 4
RUNS = 7
PERSONA = 'name = "Kind"\nsystem_prompt = "Be kind."\n' + "".join(
    f'\n[[test_inputs]]\nid = "n{i}"\ncontent = "question {i}"\nexpect = [{{ type = "contains", value = "kind" }}]\n'
    for i in range(OUTPUTS_EACH)
)


def build(root: Path, versions: int) -> FaultyStore:
    """Make a home with one persona that has so many versions, each of a run of the agent and with outputs."""
    store = make_store(root, {"kind": PERSONA})
    texts = [sha256(f"{number}".encode()) for number in range(versions)] + [sha256(PERSONA.encode())]
    folder = store.home.versions / "kind"
    folder.mkdir(parents=True)
    with (folder / "journal.jsonl").open("wb") as journal:
        for number in range(1, versions + 1):
            by = Author("agent", "session", f"run_{number}", "make it warmer")
            at = f"2026-{1 + number // 500:02d}-01T10:00:00Z"
            made = Version(number, by, at, "why", texts[number - 1], texts[number], added=1, removed=1)
            journal.write(encode_record(to_journal(made)) + encode_record({"type": "done"}))
    persona = store.get("kind")
    variant = variant_of(store, persona, model=None)
    store.home.outputs.mkdir(exist_ok=True)
    with (store.home.outputs / "kind.jsonl").open("wb") as log:
        for number in range(1, versions + 1):
            for test_input in persona.test_inputs:
                record = make_output(variant, test_input, text="I am kind. " * 40).to_record()
                log.write(encode_record({**record, "version": number}))
    return store


async def measure(store: FaultyStore, versions: int) -> tuple[float, float]:
    """Return the seconds of a processor until the first screen of the timeline stands with its counts, and until all is there."""
    async with program(store, persona_id="kind", size=(160, 50)) as p:
        await p.until(lambda: p.main.outputs.is_complete)
        first, last = [], []
        for _ in range(RUNS):
            begin = time.process_time()
            p.main.version_actions.action_versions()
            while not (isinstance(p.app.screen, Versions) and "✓" in _tail(p.app.screen, 0)):
                await asyncio.sleep(0.001)
            first.append(time.process_time() - begin)
            while len(p.app.screen.query_one(VirtualList).rows) <= versions or "✓" not in _tail(
                p.app.screen, -2
            ):
                await asyncio.sleep(0.001)
            last.append(time.process_time() - begin)
            await p.press("escape")
            await p.until(lambda: p.app.screen is p.main)
        return median(first), median(last)


def _tail(screen: Versions, place: int) -> str:
    found = list(screen.query(VirtualList))
    rows = found[0].rows if found else ()
    return rows[place].tail if len(rows) > 2 else ""


def main() -> None:
    """Print the figures."""
    many = int(sys.argv[1]) if len(sys.argv) > 1 else MANY
    figures = {}
    for versions in (FEW, many):
        with tempfile.TemporaryDirectory() as folder:
            figures[versions] = asyncio.run(measure(build(Path(folder), versions), versions))
        first, last = (seconds * 1_000 for seconds in figures[versions])
        print(f"{versions:>6,} versions: first screen {first:,.0f} ms, all {last:,.0f} ms")
    print(f"first screen: {figures[many][0] / figures[FEW][0]:.2f} times that of {FEW}")


if __name__ == "__main__":
    main()
