"""Runs in the provider's batches: each result is stored once, whoever picks it up and whenever it is cut off."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.core.model import Usage
from agent.models.anthropic.batches import BatchStatus, read_results
from agent.models.anthropic.client import AnthropicModel
from agent.models.anthropic.error_mapping import Where, explain_event
from agent.outputs.batches import Batches, BatchFailed, _filled
from agent.outputs.output_log import Batch, OutputLog
from agent.outputs.report import IN_BATCH, report_input
from personas.errors import StorageError
from personas.files.journal import Journal
from tests.agent.outputs.bench import SONNET, OutputBench, answer_of, many_inputs
from tests.support.messages_answers import Page, Refusal, Reply, Silence, say
from tests.support.messages_server import MessagesServer


def brain(body: dict[str, Any]) -> Reply:
    """Answers; the request of the last input expires, and that of the one before it is refused."""
    question = body["messages"][-1]["content"]
    if "stream" not in body and question == "question 3":
        return Silence()
    if "stream" not in body and question == "question 2":
        return Refusal(400, message="no")
    return say(answer_of(body))


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer(brain) as running:
        yield running


class HurriedClock:
    """Time passes as soon as somebody waits for it; remembers how long they wanted to wait."""

    def __init__(self, on_wait: Callable[[int], object]) -> None:
        self.waits: list[float] = []
        self._on_wait = on_wait

    def now(self) -> float:
        return 0.0

    def call_later(self, seconds: float, callback: Any) -> asyncio.Handle:
        self.waits.append(seconds)
        self._on_wait(len(self.waits))
        return asyncio.get_running_loop().call_soon(callback)


class Room:
    """A persona with four inputs, whose batches go to the server; `batches` is what one program has of them."""

    def __init__(self, folder: Path, server: MessagesServer) -> None:
        self.bench = OutputBench(folder, many_inputs(4))
        self.server = server
        self.ends_at = 1  # the so many-th question
        self.clock = HurriedClock(self.end)
        self.statuses: list[BatchStatus] = []

    def end(self, question: int) -> None:
        self.server.batches_end = question >= self.ends_at

    def batches(self, log: OutputLog | None = None) -> Batches:
        model = AnthropicModel(SONNET, api_key=self.server.key, base_url=self.server.url)
        return Batches(
            log or OutputLog(self.bench.store.home, "kind"),
            lambda _name: model,
            on_status=self.statuses.append,
            clock=self.clock,
        )

    async def submit(self) -> None:
        await self.batches().submit(self.bench.plan(self.bench.variant()).trials)

    def outcomes(self) -> dict[str, str]:
        stored = self.bench.log.read().outputs
        assert len(stored) == len({one.id for one in stored})
        return {one.input_id: one.text or str(one.error) for one in stored}


@pytest.fixture
def room(tmp_path: Path, server: MessagesServer) -> Room:
    return Room(tmp_path, server)


INPUTS = {"n0", "n1", "n2", "n3"}


async def test_a_batch_is_followed_and_its_results_are_stored(room: Room) -> None:
    room.ends_at = 9
    batches = room.batches()
    await batches.submit(room.bench.plan(room.bench.variant()).trials)
    told: list[str] = []
    made = await batches.follow(lambda output: told.append(output.input_id))
    assert room.clock.waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert [(one.done, one.total) for one in room.statuses] == [(0, 4), (4, 4)], "told where it changes"
    found = room.outcomes()
    assert list(found.values())[:2] == ["One. / question 0", "One. / question 1"]
    assert "no" in found["n2"] and "expired" in found["n3"]
    assert told == [one.input_id for one in made] == ["n0", "n1", "n2", "n3"]
    assert made[0].usage.output_tokens == 17 and made[0].seconds is None and made[0].version == 0
    assert not room.bench.log.read().batches
    missing = room.bench.plan(room.bench.variant(), only_missing=True)
    assert [one.test_input.id for one in missing.trials] == ["n2", "n3"], "errors are run again"


async def test_what_an_open_batch_will_bring_is_not_missing(room: Room, server: MessagesServer) -> None:
    server.batches_end = False
    await room.submit()
    assert await room.batches().pick_up() == []
    plan = room.bench.plan(room.bench.variant(), only_missing=True)
    assert not plan.trials and plan.in_batches == 4
    assert len(room.bench.plan(room.bench.variant(), only_missing=True, samples=2).trials) == 4
    report = report_input(room.bench.log.read(), room.bench.variant(), room.bench.persona.test_inputs[0])
    assert (report.verdict, report.reason) == ("error", IN_BATCH)
    room.bench.path.write_text(many_inputs(4, "Two."))
    assert len(room.bench.plan(room.bench.variant(), only_missing=True).trials) == 4, "it asks another prompt"


async def test_two_programs_pick_up_each_result_once(room: Room) -> None:
    await room.submit()
    found = await asyncio.gather(*(room.batches().pick_up() for _ in range(4)))
    assert sorted(len(one) for one in found) == [0, 0, 0, 4]
    assert set(room.outcomes()) == INPUTS


@pytest.mark.parametrize("records", range(5))
async def test_who_is_killed_while_storing_results_leaves_the_rest_to_the_next(
    room: Room, records: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    await room.submit()
    left = records
    append = Journal.append

    def fail_after(self: Journal, record: dict[str, Any], *, sync: bool = False) -> None:
        nonlocal left
        if left == 0:
            raise StorageError("killed")
        left -= 1
        append(self, record, sync=sync)

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "append", fail_after)
        with pytest.raises(StorageError):
            await room.batches().pick_up()
    assert len(room.outcomes()) == records and room.bench.log.read().batches
    assert len(await room.batches().pick_up()) == 4
    assert set(room.outcomes()) == INPUTS
    written = (room.bench.store.home.outputs / "kind.jsonl").read_text().count('"type":"output"')
    assert written == 4 + 4, "four in the batch's record, and each of them once with its answer"


async def test_a_stop_while_a_batch_is_made_still_stores_its_id(room: Room, server: MessagesServer) -> None:
    batches = room.batches()
    submitting = asyncio.ensure_future(batches.submit(room.bench.plan(room.bench.variant()).trials))
    while not server.requests:
        await asyncio.sleep(0.001)
    submitting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await submitting
    assert len(server.batches) == len(room.bench.log.read().batches) == 1


async def test_what_a_model_does_not_take_is_learned_before_and_a_wrong_key_is_told(room: Room) -> None:
    trials = room.bench.plan(room.bench.variant(model="claude-opus-5-5")).trials
    model = AnthropicModel("claude-opus-5-5", api_key=room.server.key, base_url=room.server.url)
    batches = Batches(room.bench.log, lambda _name: model, clock=room.clock)
    await batches.submit(trials)  # this model always thinks, and refuses to be told not to
    assert [bool(one.text) for one in await batches.follow()] == [True, True, False, False]
    stranger = AnthropicModel(SONNET, api_key="wrong", base_url=room.server.url)
    with pytest.raises(BatchFailed, match="key"):
        await Batches(room.bench.log, lambda _name: stranger).submit(trials)
    assert len(room.server.batches) == 1 and not room.bench.log.read().batches
    room.server._create_batch = lambda _body: Refusal(404, "not_found_error")  # type: ignore[method-assign]
    with pytest.raises(BatchFailed, match="has no Message Batches"):
        await batches.submit(trials)


async def test_a_batch_that_cannot_be_asked_for_stays_open_until_its_results_are_gone(room: Room) -> None:
    outputs = replace(await first_batch(room), id="msgbatch_unknown")
    room.bench.log.append_batch(outputs)
    with pytest.raises(BatchFailed, match="msgbatch_unknown could not be picked up"):
        await room.batches().pick_up()
    assert set(room.bench.log.read().batches) == {"msgbatch_unknown"}, "another key may know it"
    old = tuple(
        replace(one, id=f"old-{one.id}", started_at="2026-01-01T00:00:00.000Z") for one in outputs.outputs
    )
    room.bench.log.append_batch(replace(outputs, outputs=old))
    room.bench.log.append_batch(replace(outputs, id="msgbatch_elsewhere", endpoint="http://elsewhere"))
    assert len(await room.batches().pick_up()) == 4
    assert set(room.bench.log.read().batches) == {"msgbatch_elsewhere"}


async def first_batch(room: Room) -> Batch:
    await room.submit()
    [batch] = room.bench.log.read().batches.values()
    await room.batches().pick_up()
    return batch


@pytest.mark.parametrize("answer", [Page(b"<html>"), Page(b"[1]"), Refusal(503, "api_error", "later")])
async def test_a_faulty_answer_about_a_batch_falsifies_nothing(
    room: Room, server: MessagesServer, answer: Reply
) -> None:
    await room.submit()
    with pytest.MonkeyPatch.context() as patched:
        batch = server._batch
        patched.setattr(server, "_batch", lambda name, wanted="": answer if wanted else batch(name))
        if isinstance(answer, Refusal):
            assert await room.batches().pick_up() == [], "it may be there later"
        else:
            with pytest.raises(BatchFailed):
                await room.batches().pick_up()
    assert not room.bench.log.read().outputs and len(await room.batches().pick_up()) == 4


def test_results_are_read_whatever_they_hold() -> None:
    def explain(error: object) -> Any:
        return explain_event(error, Where())

    lines = [
        {"custom_id": "a", "result": {"type": "succeeded", "message": {"content": [
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "x\ud800"}, {"type": "text", "text": "y"},
            {"type": "tool_use"}, 7], "stop_reason": "end_turn", "usage": {"input_tokens": 3, "output_tokens": "x"}}}},
        {"custom_id": "b", "result": {"type": "succeeded", "message": {"content": "no list"}}},
        {"custom_id": "c", "result": {"type": "canceled"}},
        {"custom_id": "d", "result": 3},
    ]  # fmt: skip
    found = read_results("\n\n".join(json.dumps(one) for one in lines).encode(), explain)
    assert (found["a"].text, found["a"].thinking, found["a"].usage) == ("x\ufffdy", "hm", Usage(3))
    assert all(found[name].error for name in "bcd")
    for damaged in (b'{"custom_id": "a"', b"{}", b"7"):
        with pytest.raises(ValueError):
            read_results(damaged, explain)


async def test_a_batch_costs_half(room: Room) -> None:
    batch = await first_batch(room)
    official = replace(batch, endpoint="https://api.anthropic.com")
    [result] = read_results(
        json.dumps({"custom_id": "x", "result": {"type": "succeeded", "message": {
            "content": [], "stop_reason": "end_turn", "usage": {"input_tokens": 1_000_000, "output_tokens": 100_000}}}}
        ).encode(),
        lambda error: explain_event(error, Where()),
    ).values()  # fmt: skip
    assert _filled(batch.outputs[0], result, official).cost == pytest.approx(1.5)
    assert _filled(batch.outputs[0], result, batch).cost is None
