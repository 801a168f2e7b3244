"""Runs handed to the provider's Message Batches, at half the price.

A batch is stored as soon as it has an id. Once it has ended, whoever looks first stores its results, each of them once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from agent.core.clock import Clock, SystemClock
from agent.core.model import Request
from agent.core.turns import new_id
from agent.models.anthropic.batches import BatchResult, BatchStatus
from agent.models.anthropic.error_mapping import ModelFailure
from agent.models.prices import cost
from agent.outputs.output_log import Batch, Output, OutputLog, make_output
from agent.outputs.runner import PlannedSample
from personas.errors import PersonaError

PRICE = 0.5
"""What a request in a batch costs, as a share of its usual price."""
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds before the status is asked for; the wait doubles each time."""
KEPT_FOR = timedelta(days=29)
"""How long the provider keeps results."""


class BatchFailed(PersonaError):
    """The provider does not take a batch, or does not say what came of it."""


class BatchModel(Protocol):
    """A model whose provider has batches; all of these raise `ModelFailure`."""

    name: str
    endpoint: str

    async def create_batch(self, requests: Mapping[str, Request]) -> BatchStatus: ...

    async def batch(self, batch_id: str) -> BatchStatus: ...

    async def batch_results(self, batch_id: str) -> Mapping[str, BatchResult]: ...


class Batches:
    """The batches of one persona.

    Args:
        log: where they and their results are stored.
        model_of: the model of a name.
        on_status: hears how far a batch is, whenever that is another than before.
        clock: the time between two questions.
    """

    def __init__(
        self,
        log: OutputLog,
        model_of: Callable[[str], BatchModel],
        *,
        on_status: Callable[[BatchStatus], None] = lambda _status: None,
        clock: Clock | None = None,
    ) -> None:
        self._log = log
        self._model_of = model_of
        self._on_status = on_status
        self._emitted: dict[str, BatchStatus] = {}
        self._clock = clock or SystemClock()

    async def submit(self, trials: Sequence[PlannedSample]) -> None:
        """Make a batch of these outputs, all of one variant. Once the provider has it, its id is stored, come what may.

        Raises:
            BatchFailed: the provider does not take it.
            PersonaError: the disk refused.
        """
        submitting = asyncio.ensure_future(self._submit(trials))
        try:
            await asyncio.shield(submitting)
        except asyncio.CancelledError:
            await asyncio.wait({submitting})
            raise

    async def _submit(self, trials: Sequence[PlannedSample]) -> None:
        model, run_id = await asyncio.to_thread(self._model_of, trials[0].variant.model or ""), new_id("run")
        outputs = [
            make_output(one.variant, one.test_input, sample=one.sample, run_id=run_id) for one in trials
        ]
        requests = {
            output.id: trial.variant.request(trial.test_input)
            for output, trial in zip(outputs, trials, strict=True)
        }
        try:
            status = await model.create_batch(requests)
        except ModelFailure as failure:
            problem = failure.error
        else:
            batch = Batch(status.id, model.endpoint, model.name, tuple(outputs))
            await asyncio.to_thread(self._log.append_batch, batch)
            self._emit(status)
            return
        raise BatchFailed(f"The batch could not be made: {problem.message}")

    async def pick_up(self) -> list[Output]:
        """Store the results of the batches that have ended; return them, also the errors among them.

        Batches of another server are left alone, and so are those that cannot be asked for at the moment.

        Raises:
            BatchFailed: a provider will not say what came of a batch; the other batches have been asked for.
            PersonaError: the disk refused.
        """
        brought: list[Output] = []
        problem = ""
        for batch in await self._open():
            model = self._model_of(batch.model)
            results: Mapping[str, BatchResult] | None = None
            try:
                status = await model.batch(batch.id)
                self._emit(status)
                if status.has_ended:
                    results = await model.batch_results(batch.id)
            except ModelFailure as failure:
                if failure.error.kind == "not_found" and _is_forgotten(batch):
                    results = {}
                elif not failure.error.retryable:
                    problem = f"The batch {batch.id} could not be picked up: {failure.error.message}"
            if results is not None:
                outputs = [_filled(one, results.get(one.id), batch) for one in batch.outputs]
                if await asyncio.to_thread(self._log.end_batch, batch.id, outputs):
                    brought += outputs
        if problem:
            raise BatchFailed(problem)
        return brought

    async def follow(self, on_brought: Callable[[Output], None] = lambda _output: None) -> list[Output]:
        """Wait until no batch is open; return the results that were stored here.

        Args:
            on_brought: hears each of them, once it is stored.

        Raises:
            PersonaError: as `pick_up`.
        """
        found: list[Output] = []
        wait = FIRST_WAIT
        while await self._open():
            over = asyncio.Event()
            timer = self._clock.call_later(wait, over.set)
            try:
                await over.wait()
            finally:
                timer.cancel()
            wait = min(2 * wait, LONGEST_WAIT)
            for output in await self.pick_up():
                found.append(output)
                on_brought(output)
        return found

    def _emit(self, status: BatchStatus) -> None:
        if self._emitted.get(status.id) != status:
            self._emitted[status.id] = status
            self._on_status(status)

    async def _open(self) -> list[Batch]:
        def read() -> list[Batch]:
            there = self._log.read().batches.values()
            return [one for one in there if self._model_of(one.model).endpoint == one.endpoint]

        return await asyncio.to_thread(read)


def _filled(output: Output, result: BatchResult | None, batch: Batch) -> Output:
    """Return an output with what came of its request."""
    if result is None:
        return replace(output, error="The batch brought no result of this request.")
    if result.error is not None:
        return replace(output, usage=result.usage, error=result.error)
    price = cost(batch.model, result.usage, batch.endpoint)
    return replace(
        output,
        text=result.text,
        thinking=result.thinking,
        stop_reason=result.stop_reason,
        usage=result.usage,
        cost=None if price is None else price * PRICE,
    )


def _is_forgotten(batch: Batch) -> bool:
    """Whether the provider has dropped the results of a batch by now."""
    made = max((one.started_at for one in batch.outputs), default="")
    return made < (datetime.now(UTC) - KEPT_FOR).isoformat()
