"""How long it takes to read and judge 20,000 stored outputs of 200 inputs: `python -m tests.benchmarks.outputs`."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from agent.outputs.evaluation import Evaluation
from agent.outputs.output_log import OutputLog, make_output
from tests.agent.outputs.bench import OutputBench, many_inputs


def main() -> None:
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
