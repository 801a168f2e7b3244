"""Runs against the loopback server: storms of refusals, a stop in the middle, what is missing, what is outdated."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from agent.core.model import BlockDelta, BlockStart, Done, Failed, ModelError, Usage
from agent.jobs.job_log import fold
from agent.jobs.runner import JobRunner
from agent.models.anthropic.client import AnthropicModel
from agent.outputs.agent_controls import AgentOutputs
from agent.outputs.evaluator import Evaluator, OutputOptions
from agent.outputs.output_log import Output, outdated
from agent.outputs.rate_limiter import RateLimiter
from agent.outputs.runner import OutputEnd, OutputRun, OutputStart, OutputText
from agent.transcript.job_records import last_job
from personas.changes import SetModel, SetName, SetPrompt
from personas.errors import InvalidValue, StorageError
from personas.versions.authorship import USER
from tests.agent.outputs.bench import SONNET, OutputBench, Storm, answer_of, many_inputs, until
from tests.support.examples import examples
from tests.support.messages_answers import Refusal, say
from tests.support.messages_server import MessagesServer


def expected(output: Output, prompts: dict[int, str]) -> str:
    return f"{prompts[output.version]} / question {output.input_id[1:]}"


@pytest.mark.parametrize("seed", range(1, 1 + examples(1)))
async def test_a_storm_of_refusals_loses_and_falsifies_nothing(tmp_path: Path, seed: int) -> None:
    bench = OutputBench(tmp_path, many_inputs(60))
    before = bench.variant()
    bench.store.change("kind", SetPrompt("Two."), revision=None, by=USER)
    after = bench.variant()
    prompts = {before.version: "One.", after.version: "Two."}
    storm = Storm(seed)
    trials = [*bench.plan(before).trials, *bench.plan(after).trials]
    with MessagesServer(storm) as server:
        made = await bench.run(server, trials, jobs=8).go()
    assert {429, 529} <= set(storm.refused), "there was a storm"
    assert len(made) == 120 and not [one.error for one in made if one.error]
    stored = bench.log.read().outputs
    assert {(one.version, one.input_id) for one in stored} == {
        (number, f"n{i}") for number in prompts for i in range(60)
    } and len(stored) == 120
    assert all(one.text == expected(one, prompts) for one in stored)
    assert 2 <= server.busiest <= 8 and len(server.bodies) == 120 + len(storm.refused)


async def test_after_a_429_nothing_is_asked_before_its_time_and_no_attempt_is_used_up(tmp_path: Path) -> None:
    bench = OutputBench(tmp_path, many_inputs(12))
    times: list[float] = []
    refusals = 9

    def brain(body: dict[str, Any]) -> Any:
        times.append(asyncio.get_running_loop().time())  # the server's own loop; its clock is the same
        if len(times) <= refusals:
            return Refusal(429, "rate_limit_error", "slow down", {"retry-after": "0.3"})
        return say(answer_of(body))

    with MessagesServer(brain) as server:
        model = AnthropicModel(SONNET, api_key=server.key, base_url=server.url)
        pace = RateLimiter(3, retries=0)
        run = OutputRun(bench.log, bench.plan(bench.variant()).trials, lambda _v: model, pace, jobs=3)
        made = await run.go()
    assert len(made) == 12 and not [one.error for one in made if one.error]
    gaps = [later - sooner for sooner, later in pairwise(times[: refusals + 1])]
    assert sum(gap >= 0.25 for gap in gaps) >= refusals - 2, "only those under way together come closer"


async def test_a_server_that_is_down_is_told_and_the_run_ends(tmp_path: Path) -> None:
    bench = OutputBench(tmp_path, many_inputs(6))
    with MessagesServer(lambda _body: Refusal(529, "overloaded_error", "Overloaded")) as server:
        made = await asyncio.wait_for(bench.run(server, bench.plan(bench.variant()).trials).go(), 60)
    assert len(made) == 6 and all(one.error and not one.text for one in made)
    assert len(bench.plan(bench.variant(), only_missing=True).trials) == 6, "an error is still missing"


async def test_a_stop_ends_at_once_keeps_what_is_done_and_the_rest_is_run_later(tmp_path: Path) -> None:
    bench = OutputBench(tmp_path, many_inputs(30))
    runner = JobRunner()
    with MessagesServer(lambda body: say(answer_of(body), delay=0.01)) as server:
        run = bench.run(server, bench.plan(bench.variant()).trials)
        await runner.until_begun(run, runner.launch(run, run.go()))
        await until(lambda: len(run.outputs) >= 7)
        begun = asyncio.get_running_loop().time()
        assert runner.stop(run.job.id)
        made = await runner.wait(run.job.id)
        assert asyncio.get_running_loop().time() - begun < 2
        assert run.job.status == "cancelled" and 7 <= len(made) < 30
        found = last_job(bench.log._journal)
        job = fold(found, "kind", "") if found else None
        assert job is not None and (job.kind, job.status) == ("outputs", "cancelled")
        rest = bench.plan(bench.variant(), only_missing=True)
        assert len(rest.trials) == 30 - len(made) and len(rest.reused) == len(made)
        await bench.run(server, rest.trials).go()
    stored = bench.log.read().outputs
    assert len(stored) == 30 and len({one.input_id for one in stored}) == 30


async def test_an_output_is_told_only_once_it_is_stored(tmp_path: Path) -> None:
    bench = OutputBench(tmp_path, many_inputs(3))
    on_disk: list[bool] = []
    with MessagesServer(lambda body: say(answer_of(body))) as server:
        run = bench.run(server, bench.plan(bench.variant(), samples=2).trials)
        run._on_event = lambda event: (
            bench.events.append(event),
            isinstance(event, OutputEnd)
            and on_disk.append(event.output.id in {one.id for one in bench.log.read().outputs}),
        )
        await run.go()
    assert on_disk == [True] * 6
    assert sum(isinstance(event, OutputStart) for event in bench.events) == 6
    texts = [event.text for event in bench.events if isinstance(event, OutputText)]
    assert "".join(texts).count("question") == 6
    assert {(one.input_id, one.sample) for one in run.outputs} == {
        (f"n{i}", s) for i in range(3) for s in (1, 2)
    }


async def test_a_dropped_answer_begins_anew(tmp_path: Path) -> None:
    bench = OutputBench(tmp_path, many_inputs(1))
    with MessagesServer([say("Half an ans", drop_after_events=5), say("Whole.")]) as server:
        made = await bench.run(server, bench.plan(bench.variant()).trials).go()
    assert [one.text for one in made] == ["Whole."]
    kinds = [type(event).__name__ for event in bench.events]
    assert kinds.count("OutputStart") == 2 and kinds[-1] == "OutputEnd"


async def test_a_full_disk_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = OutputBench(tmp_path, many_inputs(5))

    def refuse(_output: Output) -> None:
        raise StorageError("The disk is full.")

    with MessagesServer(lambda body: say(answer_of(body))) as server:
        run = bench.run(server, bench.plan(bench.variant()).trials)
        monkeypatch.setattr(bench.log, "append", refuse)
        with pytest.raises(StorageError):
            await run.go()
    assert bench.events and not run.outputs


async def test_what_makes_an_output_outdated(tmp_path: Path) -> None:
    bench = OutputBench(tmp_path, many_inputs(1) + 'expect = [{ type = "contains", value = "One" }]\n')
    with MessagesServer(lambda body: say(answer_of(body))) as server:
        [made] = await bench.run(server, bench.plan(bench.variant()).trials).go()

    def reasons(model: str | None = SONNET) -> list[str]:
        return outdated(made, bench.variant(model=model), bench.persona.test_inputs[0])

    whole = bench.path.read_text()
    assert reasons() == []
    bench.path.write_text(whole.replace('"One"', '"Two"').replace("[[", "# a comment\n[["))
    assert reasons() == [], "an expectation or a comment needs no run"
    bench.store.change("kind", SetName("Kindest"), revision=None, by=USER)
    assert reasons() == [], "nor does a display name"
    bench.path.write_text(whole.replace('"One."', '"One!"'))
    assert reasons() == ["prompt"]
    bench.store.change("kind", SetPrompt("One."), revision=None, by=USER)
    assert reasons() == [], "as it was: fresh again"
    bench.path.write_text(whole.replace("question 0", "question zero"))
    assert reasons() == ["input"]
    bench.path.write_text(whole)
    assert reasons("claude-haiku-5-5") == ["model"] and reasons(None) == []
    bench.store.change("kind", SetModel(effort="high"), revision=None, by=USER)
    assert reasons() == reasons(None) == ["settings"]


async def test_a_run_sends_the_persona_as_the_host_would(tmp_path: Path) -> None:
    bench = OutputBench(
        tmp_path,
        'name = "Ann"\nsystem_prompt = "You are {{char}}, {{user}} is here; {{other}} stays."\n[model]\n'
        'effort = "low"\nmax_tokens = 77\n[[test_inputs]]\nid = "n"\nmessages = [\n{ role = "user", content = "Hi {{CHAR}}" },\n'
        '{ role = "assistant", content = "Hello" },\n{ role = "user", content = "Bye" },\n]\n',
    )
    with MessagesServer(lambda _body: say("Bye.")) as server:
        [made] = await bench.run(server, bench.plan(bench.variant()).trials).go()
    body = server.bodies[0]
    assert body["system"] == "You are Ann, User is here; {{other}} stays." and body["max_tokens"] == 77
    assert [one["content"] for one in body["messages"]] == ["Hi Ann", "Hello", "Bye"]
    assert "tools" not in body and body["output_config"] == {"effort": "low"}
    assert made.version == bench.variant().version and made.usage.output_tokens == 17 and made.cost is None


async def test_a_broken_input_is_left_out_and_the_rest_runs(tmp_path: Path) -> None:
    bench = OutputBench(tmp_path, many_inputs(2) + 'expect = [{ type = "no such type" }]\n')
    made = bench.plan(bench.variant())
    assert [trial.test_input.id for trial in made.trials] == ["n0"]
    assert "no such type" in made.faults["n1"] and "line 10" in made.faults["n1"]


class PricedModel:
    """Answers at Anthropic's own prices, without a network; the first attempt of all is lost on the way."""

    name, endpoint = SONNET, "https://api.anthropic.com"

    def __init__(self) -> None:
        self.asked = 0

    async def stream(self, _request: Any) -> Any:
        self.asked += 1
        if self.asked == 1:
            yield Failed(ModelError("network", "lost", retryable=True), Usage(1_000_000, 0))
            return
        yield BlockStart(0, "text")
        yield BlockDelta(0, "Yes.")
        yield Done("end_turn", Usage(1_000_000, 100_000))


async def test_what_a_run_costs_is_counted_over_all_attempts(tmp_path: Path) -> None:
    bench = OutputBench(tmp_path, many_inputs(2))
    pace = RateLimiter(1, backoff=0.01)
    model = PricedModel()
    first, second = (
        OutputRun(bench.log, [trial], lambda _v: model, pace, jobs=1)
        for trial in bench.plan(bench.variant()).trials
    )
    [made] = await first.go()
    assert made.text == "Yes." and made.cost == pytest.approx(3.0), "of the answer alone"
    assert first.cost == pace.cost == pytest.approx(5.0) and first.usage.input_tokens == 2_000_000
    await second.go()
    assert pace.cost == pytest.approx(8.0)


async def test_the_agents_runs_stay_within_their_budget(tmp_path: Path) -> None:
    bench = OutputBench(tmp_path, many_inputs(2))
    model = PricedModel()
    evaluator = Evaluator(
        bench.store, OutputOptions(agent_dollars=7.0), endpoint=model.endpoint, default_model=SONNET,
        make_model=lambda _name: model,
    )  # fmt: skip
    outputs = AgentOutputs(bench.store, "kind", lambda: evaluator)
    told = await outputs.run(["n0"], None, None)
    assert told["inputs"][0]["outputs"][0]["text"] == "Yes." and model.asked == 2
    with pytest.raises(InvalidValue, match=r"\$5\.00 of the budget of \$7\.00 for runs is already spent"):
        await outputs.run([], 3, None)
    assert model.asked == 2


def test_an_output_is_kept_and_let_go(tmp_path: Path) -> None:
    log = OutputBench(tmp_path, many_inputs(1)).log
    for kept in (True, False, True):
        log.keep("a", kept=kept)
    log.keep("b")
    log.keep("b", kept=False)
    assert log.read().kept == {"a"}


def test_damaged_and_hostile_records_are_left_out(tmp_path: Path) -> None:
    bench = OutputBench(tmp_path, many_inputs(1))
    good = Output(input_id="n0", input_hash="a", prompt_hash="b", settings_hash="c", text="kept")
    bench.log.append(good)
    record = good.to_record()
    for name, value in [
        ("sample", "1"),
        ("text", 3),
        ("usage", None),
        ("cost", True),
        ("cost", 10**400),
        ("usage", {"output_tokens": 10**400}),
        ("version", 10**400),
        ("seconds", "x"),
        ("id", ""),
    ]:
        bench.log._journal.append({**record, "id": "x", name: value})
    path = tmp_path / "home" / "outputs" / "kind.jsonl"
    path.write_bytes(path.read_bytes() + b'{"type": "output", "id": "cut off')
    bench.log.append(good)
    assert [one.text for one in bench.log.read().outputs] == ["kept"]
