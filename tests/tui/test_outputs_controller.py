"""What the program knows of a persona's outputs while it is open: read, run, judged anew when something changes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.models.anthropic.client import AnthropicModel
from agent.outputs.batches import Batches
from agent.outputs.output_log import OutputLog, make_output
from agent.outputs.runner import plan
from agent.outputs.variant import variant_of
from tests.agent.outputs.bench import SONNET, many_inputs
from tests.support.messages_answers import call as call_tool
from tests.support.persona_brain import PersonaBrain
from tests.support.program import make_store, program
from tui.outputs.controller import FIRST_READ, OutputsController
from tui.settings.schema import Settings
from tui.widgets import run_strip

FILE = 'name = "Kind"\nsystem_prompt = "Be kind."\n' + "".join(
    f'\n[[test_inputs]]\nid = "n{i}"\ncontent = "question {i}"\nexpect = [{{ type = "contains", value = "kind" }}]\n'
    for i in range(3)
)


@pytest.fixture
def brain() -> PersonaBrain:
    return PersonaBrain()


@pytest.fixture
def settings(brain: PersonaBrain) -> Iterator[Settings]:
    with brain.connected() as settings:
        yield settings


def verdicts(outputs: OutputsController) -> list[tuple[str, bool]]:
    """Return the verdict on each test input, and whether it is outdated."""
    assert outputs.persona is not None
    reports = [outputs.report(one.id) for one in outputs.persona.test_inputs]
    return [(one.verdict, one.is_outdated) for one in reports if one is not None]


async def test_outputs_are_run_and_outdated_by_what_changes(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path, {"kind": FILE})
    async with program(store, settings=settings) as p:
        outputs = p.main.outputs
        await outputs.run()
        await p.until(lambda: verdicts(outputs) == [("pass", False)] * 3)
        assert [one.text for one in outputs.outputs_of("n1")] == ["Be kind. / question 1"]
        strip = p.main.output_actions.strip
        assert "Run: 3/3" in str(strip.content) and strip.display
        monkeypatch.setattr(run_strip, "ENDED_SECONDS", 0.01)
        strip.show_end("Run: 3/3")
        await p.until(lambda: not strip.display)
        # by hand, unsaved when the next run begins
        p.prompt.focus()
        await p.write("cruel")
        await outputs.run(["n0"])
        await p.until(lambda: verdicts(outputs) == [("pass", False), ("pass", True), ("pass", True)])
        assert (
            outputs.outputs_of("n0")[0].text.startswith("cruel") and outputs.outputs_of("n0")[0].version == 1
        )
        assert outputs.outdated(outputs.outputs_of("n1")[0]) == ["prompt"]
        # undone: what was made before is fresh again, and counts
        await p.press("ctrl+z")
        await p.until(lambda: verdicts(outputs) == [("pass", False)] * 3)
        assert len(outputs.outputs_of("n0")) == 2
        # outside: an input, an expectation and the settings
        text = FILE.replace("question 1", "question one").replace('value = "kind"', 'value = "rude"', 1)
        p.file("kind").write_text(text)
        await p.until(lambda: verdicts(outputs) == [("fail", False), ("pass", True), ("pass", False)])
        p.file("kind").write_text(text + "\n[model]\nmax_tokens = 100\n")
        await p.until(lambda: verdicts(outputs) == [("fail", True), ("pass", True), ("pass", True)])
        assert outputs.outdated(outputs.outputs_of("n1")[0]) == ["input", "settings"]


async def test_a_run_is_stopped_and_what_is_stored_stays(
    tmp_path: Path, settings: Settings, brain: PersonaBrain
) -> None:
    store = make_store(tmp_path, {"kind": FILE})
    async with program(store, settings=settings) as p:
        outputs = p.main.outputs
        await outputs.run(["n0"])
        brain.gate.clear()
        running = p.main.start(outputs.run())
        await p.until(lambda: outputs.streaming("n2"))
        assert outputs.progress is not None and outputs.progress.parts[0] == "0/3"
        await outputs.run(["n1"])
        await p.notified("There is nothing to run.")
        assert outputs.stop()
        await running
        assert outputs.progress is None and not outputs.streaming("n2") and not outputs.stop()
        assert "Stopped: 0/3" in str(p.main.output_actions.strip.content)
        assert [one.text for one in outputs.outputs_of("n0")] == ["Be kind. / question 0"]


async def test_what_is_asked_for_again_is_sent_once(
    tmp_path: Path, settings: Settings, brain: PersonaBrain
) -> None:
    store = make_store(tmp_path, {"kind": FILE})
    async with program(store, settings=settings) as p:
        outputs = p.main.outputs
        brain.gate.clear()
        twice = [p.main.start(outputs.run()) for _ in range(2)]  # as by a key that was pressed twice
        await p.until(lambda: brain.asked)
        await twice[1]
        await p.notified("There is nothing to run.")
        # what looks at outputs that are being made, as a comparison that was closed and opened again, waits for them
        persona = store.get("kind")
        missing = outputs.evaluator.evaluation(
            persona, outputs.evaluator.variant(persona), stored=outputs.stored
        )
        waiting = p.main.start(outputs.evaluate([missing]))
        await p.until(lambda: outputs.progress is not None and outputs.progress.total == 6)
        brain.gate.set()
        await asyncio.wait({*twice, waiting})
        assert [report.count("pass") for report in waiting.result()] == [3]
        assert sorted(brain.asked) == ["question 0", "question 1", "question 2"]


async def test_what_others_run_is_seen(tmp_path: Path, settings: Settings, brain: PersonaBrain) -> None:
    store = make_store(tmp_path, {"kind": FILE})
    agent = AnthropicModel(SONNET, base_url=settings.base_url)
    log, persona = OutputLog(store.home, "kind"), store.get("kind")
    trials = plan(log.read(), variant_of(store, persona, model=SONNET), persona.test_inputs).trials
    await Batches(log, lambda _name: agent).submit(trials[2:])
    await agent.close()
    async with program(store, model=agent, settings=settings) as p:
        outputs = p.main.outputs
        await p.until(lambda: [one.text for one in outputs.outputs_of("n2")] == ["Be kind. / question 2"])
        brain.calls = [call_tool("run_test_inputs", {"ids": ["n0"]})]
        await p.run_to_end("try n0")
        await p.until(lambda: [one.text for one in outputs.outputs_of("n0")] == ["Be kind. / question 0"])
        variant = outputs.evaluator.variant_now(store.get("kind"))
        of_another = make_output(variant, store.get("kind").test_inputs[1], text="kind, from elsewhere")
        log.append(of_another)
        await p.until(lambda: outputs.outputs_of("n1") == [of_another])
        await p.until(lambda: [one for one, _ in verdicts(outputs)] == ["pass"] * 3)


async def test_without_a_model_nothing_is_run(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"kind": FILE})
    async with program(store, first=store.get("kind")) as p:
        p.main.start(p.main.outputs.run())
        await p.notified("/model connects one. Without one, o at a test input and then v takes an answer")
        assert p.main.outputs.progress is None


async def test_the_newest_outputs_are_there_before_all_are_read(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"kind": many_inputs(2), "other": FILE})
    log, persona = OutputLog(store.home, "kind"), store.get("kind")
    async with program(store, persona_id="other") as p:
        variant = p.main.outputs.evaluator.variant_now(persona)
        for number in range(FIRST_READ + 10):
            log.note_job(make_output(variant, persona.test_inputs[number % 2], text=f"{number}").to_record())
        await p.open("kind")
        await p.until(lambda: p.main.outputs.is_complete)
        assert len(p.main.outputs.outputs_of("n0")) == FIRST_READ // 2 + 5
        await p.until(lambda: (state := p.main.outputs.state("n1")) is not None and state.last is not None)
        state = p.main.outputs.state("n1")
        assert state is not None and state.last is not None and state.last.text == str(FIRST_READ + 9)
