"""Old outputs go where there are many; what is kept, blessed or fresh stays, and nothing written meanwhile is lost."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from agent.jobs.job import Job
from agent.jobs.job_log import JobLog
from agent.outputs import evaluator as evaluators
from agent.outputs.baseline import bless
from agent.outputs.evaluator import Evaluator, OutputOptions
from agent.outputs.expectations import Verdict
from agent.outputs.output_log import Batch, Output, OutputLog, make_output
from agent.outputs.report import PersonaReport
from personas.changes import SetPrompt
from personas.test_inputs import Expectation
from personas.versions.authorship import USER
from tests.agent.outputs.bench import SONNET, OutputBench, many_inputs

RUBRIC = Expectation(type="llm-rubric", value="Nice.")


def make(bench: OutputBench, number: int, **known: object) -> list[Output]:
    """Store so many outputs of the first input, as the prompt is now."""
    variant, test_input = bench.variant(), bench.persona.test_inputs[0]
    made = [make_output(variant, test_input, text=f"{n}", **known) for n in range(number)]
    for one in made:
        bench.log.append(one)
    return made


def test_old_outputs_go_with_what_belongs_to_them(tmp_path: Path) -> None:
    bench = OutputBench(tmp_path, many_inputs(2))
    path = bench.store.home.outputs / "kind.jsonl"
    for run_id in ("run_old", "run_new"):
        job = Job(id=run_id, kind="outputs", persona_id="kind", session_id="", original_prompt="")
        JobLog(lambda: bench.log).write("started", job)
        made = make(bench, 10, run_id=run_id)
        for one in made:
            bench.log.append_verdict(one.id, RUBRIC, SONNET, Verdict("llm-rubric", None, "pass", ""))
    first = bench.log.read().outputs[0]
    bench.log.keep(first.id)
    other = make_output(bench.variant(), bench.persona.test_inputs[1], text="of another input")
    bench.log.append(other)
    bench.log.append_batch(Batch("msgbatch_open", "", SONNET, (replace(other, id="to-come"),)))
    bench.log.append_batch(Batch("msgbatch_done", "", SONNET, (replace(other, id="here"),)))
    bench.log.end_batch("msgbatch_done", [replace(other, id="here")])
    before = path.read_bytes()
    bench.log.thin(17)
    assert path.read_bytes() == before, "not worth it yet"
    bench.log.thin(5)
    stored = bench.log.read()
    assert [one.id for one in stored.outputs] == [first.id, *(one.id for one in made[5:]), other.id, "here"]
    assert {key[0] for key in stored.verdicts} == {first.id, *(one.id for one in made[5:])}
    assert stored.kept == {first.id} and set(stored.batches) == {"msgbatch_open"}
    assert not bench.log.end_batch("msgbatch_done", [other]), "a late program stores nothing of it again"
    text = path.read_text()
    assert '"run_old"' in text and '"run_new"' in text, "the first output is of the old run"
    bench.log.keep(first.id, kept=False)
    bench.log.thin(1)
    assert '"run_old"' not in path.read_text() and len(bench.log.read().outputs) == 2
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_is_fresh_or_blessed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluators, "THINNED_FROM", 1)
    bench = OutputBench(tmp_path, many_inputs(1))
    blessed = make(bench, 2)[-1]
    bless(bench.store.home, bench.variant(), PersonaReport("kind", ()))
    bench.store.change("kind", SetPrompt("Two."), revision=None, by=USER)
    fresh = make(bench, 2)[-1]
    bench.store.change("kind", SetPrompt("Three."), revision=None, by=USER)
    newest = make(bench, 20)[-3:]
    bench.store.change("kind", SetPrompt("Two."), revision=None, by=USER)
    for kept in (0, 3):
        options = OutputOptions(outputs_kept=kept)
        evaluator = Evaluator(
            bench.store, options, endpoint="", default_model=SONNET, make_model=lambda _name: None
        )  # type: ignore[arg-type, return-value]
        evaluator.thin("kind")
        found = bench.log.read().outputs
        assert len(found) == 24 if kept == 0 else found == [blessed, fresh, *newest]
    bench.path.write_text("broken = [")
    evaluator.thin("kind")
    assert len(bench.log.read().outputs) == 5


def test_what_is_written_meanwhile_is_not_lost(tmp_path: Path) -> None:
    bench = OutputBench(tmp_path, many_inputs(1))
    pattern = make(bench, 40)[0]
    wanted = [
        replace(pattern, id=f"{writer}-{n}", input_id=f"{writer}") for writer in range(3) for n in range(30)
    ]
    begin = threading.Barrier(4)

    def write(writer: int) -> None:
        log = OutputLog(bench.store.home, "kind")  # another program's
        begin.wait()
        for one in wanted:
            if one.input_id == str(writer):
                log.append(one)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for one in writers:
        one.start()
    begin.wait()
    number = 0
    while any(one.is_alive() for one in writers):
        number += 1
        for n in range(8):
            bench.log.append(replace(pattern, id=f"more-{number}-{n}"))
        OutputLog(bench.store.home, "kind").thin(30 if number % 2 else 1, {one.id for one in wanted})
    for one in writers:
        one.join()
    assert {one.id for one in wanted} <= {one.id for one in bench.log.read().outputs}
