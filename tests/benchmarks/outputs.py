"""20,000 stored outputs: how long it takes to read and judge them, and until the newest stand on the screen.

`python -m tests.benchmarks.outputs`
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from agent.outputs.evaluation import Evaluation
from agent.outputs.output_log import OutputLog, make_output
from agent.outputs.variant import variant_now
from tests.agent.outputs.bench import OutputBench, many_inputs
from tests.support.program import make_store, program
from tui.settings.schema import Settings

MANY = 20_000


async def until_shown(outputs: int) -> float:
    """Return the seconds from the start of the program until the last output of each test input is shown."""
    with tempfile.TemporaryDirectory() as folder:
        store = make_store(Path(folder), {"kind": many_inputs(20)})
        log, persona = OutputLog(store.home, "kind"), store.get("kind")
        variant = variant_now(persona, persona.system_prompt, model=None)
        for number in range(outputs):
            made = make_output(variant, persona.test_inputs[number % 20], text=f"Answer {number}. " * 40)
            log.note_job(made.to_record())
        begun = time.perf_counter()
        async with program(store, settings=Settings(model="offline"), first=persona) as p:
            await p.until(lambda: len([row for row in p.main.tests.rows.rows if row.below]) == 20)
            return time.perf_counter() - begun


def screen() -> None:
    """Compare the first screen with 50 outputs and with many."""
    asyncio.run(until_shown(50))  # what is loaded once
    few, many = ([asyncio.run(until_shown(number)) for _ in range(5)] for number in (50, MANY))
    ratio = statistics.median(many) / statistics.median(few)
    print(f"outputs on the screen: {statistics.median(few):.2f} s with 50, x {ratio:.2f} with {MANY:,}")
    assert ratio <= 1.5


def main() -> None:
    screen()
    with tempfile.TemporaryDirectory() as folder:
        text = many_inputs(200) + 'expect = [{ type = "icontains", value = "answer" }]\n'
        bench = OutputBench(Path(folder), text)
        variant, inputs = bench.variant(), bench.persona.test_inputs
        for sample in range(1, 101):
            for one in inputs:
                bench.log.note_job(
                    make_output(variant, one, sample=sample, text="An answer. " * 20).to_record()
                )
        begun = time.perf_counter()
        stored = OutputLog(bench.store.home, "kind").read()
        read = time.perf_counter()
        report = Evaluation(bench.store, variant, inputs, samples=100).report()
        done = time.perf_counter()
        print(
            f"{len(stored.outputs)} outputs: read {read - begun:.2f} s, read and judged {done - read:.2f} s"
        )
        assert len(report.inputs) == 200


if __name__ == "__main__":
    main()
