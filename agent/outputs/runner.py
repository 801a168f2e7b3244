"""Runs test inputs: a kind of job that asks for each sample, stores what came, and then tells it.

An output is on the disk before anybody hears of it. A stop ends at once and keeps what is stored; what is missing is
run later.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent.core.model import Model, Usage
from agent.core.turns import new_id, utc_now
from agent.jobs.job import Job, Status, move
from agent.jobs.job_log import JobLog
from agent.models.prices import cost
from agent.outputs.model_reply import ModelReply
from agent.outputs.output_log import Output, OutputLog, Stored, make_output
from agent.outputs.rate_limiter import RateLimiter, at_once
from agent.outputs.variant import Variant, fault_of_input, samples_of
from personas.persona import TestInput

KIND = "outputs"


@dataclass(frozen=True)
class PlannedSample:
    """One output that is to be made: a sample of a test input, from a variant."""

    variant: Variant
    test_input: TestInput
    sample: int


@dataclass(frozen=True, slots=True)
class OutputStart:
    """A request for an output leaves; what came of an earlier attempt at it is void."""

    trial: PlannedSample


@dataclass(frozen=True, slots=True)
class OutputText:
    """More text of an output."""

    trial: PlannedSample
    text: str


@dataclass(frozen=True, slots=True)
class OutputEnd:
    """An output is stored."""

    trial: PlannedSample
    output: Output


OutputEvent = OutputStart | OutputText | OutputEnd


@dataclass(frozen=True, slots=True)
class RunStart:
    """A run has these outputs to make."""

    trials: Sequence[PlannedSample]


@dataclass(frozen=True, slots=True)
class RunEnd:
    """A run is over: what is not stored of its outputs will not come."""

    trials: Sequence[PlannedSample]


RunEvent = RunStart | OutputEvent | RunEnd


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run has to make, and what there is already.

    Attributes:
        trials: to be run.
        reused: fresh outputs that need no run.
        faults: why an input cannot be run, by its id.
        in_batches: how many outputs an open batch will bring.
    """

    trials: tuple[PlannedSample, ...]
    reused: tuple[Output, ...]
    faults: Mapping[str, str]
    in_batches: int = 0


def plan(
    stored: Stored,
    variant: Variant,
    inputs: Sequence[TestInput],
    *,
    samples: int | None = None,
    only_missing: bool = False,
) -> Plan:
    """Return what is to be run of these inputs."""
    trials: list[PlannedSample] = []
    reused: list[Output] = []
    faults: dict[str, str] = {}
    in_batches = 0
    for test_input in inputs:
        if fault := fault_of_input(test_input):
            faults[test_input.id] = fault
            continue
        wanted = samples_of(test_input, samples)
        fresh = stored.fresh(variant, test_input, wanted) if only_missing else {}
        reused += fresh.values()
        missing = [n for n in range(1, wanted + 1) if n not in fresh]
        awaited = stored.in_batches(variant, test_input) if only_missing else set()
        in_batches += len(awaited.intersection(missing))
        trials += [PlannedSample(variant, test_input, n) for n in missing if n not in awaited]
    return Plan(tuple(trials), tuple(reused), faults, in_batches)


class OutputRun:
    """One run at work, see `JobRun`.

    Args:
        log: where the outputs of the persona are kept.
        trials: what to run.
        model_of: the model for a variant.
        pace: how fast.
        on_event: hears what happens, in order.
        jobs: requests at once.
        run_id: its id; empty: a new one.

    Attributes:
        outputs: what was made, in the order it was stored.
        usage: tokens of all attempts.
    """

    def __init__(
        self,
        log: OutputLog,
        trials: Sequence[PlannedSample],
        model_of: Callable[[Variant], Model],
        pace: RateLimiter,
        *,
        on_event: Callable[[OutputEvent], None] = lambda _event: None,
        jobs: int = 4,
        run_id: str = "",
    ) -> None:
        self.job = Job(
            id=run_id or new_id("run"),
            kind=KIND,
            persona_id=trials[0].variant.persona_id if trials else "",
            session_id="",
            original_prompt=f"Run {len(trials)} outputs.",
            model=(trials[0].variant.model or "") if trials else "",
        )
        self.begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.outputs: list[Output] = []
        self._log = log
        self._job_log = JobLog(lambda: log)
        self._left = deque(trials)
        self._total = len(trials)
        self._model_of = model_of
        self._pace = pace
        self._before = pace.usage, pace.cost  # of runs before this one
        self._on_event = on_event
        self._jobs = jobs
        self._working: asyncio.Task[None] | None = None
        self._status: Status = "completed"

    @property
    def usage(self) -> Usage:
        """Tokens of all its attempts so far."""
        return self._pace.usage.since(self._before[0])

    @property
    def cost(self) -> float | None:
        """Dollars of all its attempts so far, None where a price is unknown."""
        before, now = self._before[1], self._pace.cost
        return None if before is None or now is None else now - before

    @property
    def is_stopped(self) -> bool:
        """Whether it was ended before everything was run."""
        return self._status in ("cancelled", "interrupted")

    async def go(self) -> list[Output]:
        """Run everything; return what was made. Stopped, it returns what is stored by then.

        Raises:
            PersonaError: the disk refused.
        """
        await asyncio.to_thread(self._job_log.write, "started", self.job, sync=True)
        self._working = asyncio.ensure_future(at_once(min(self._jobs, self._total), self._next))
        self.begun.set_result(None)
        self._change("thinking")
        if self._status != "completed":  # stopped while it began
            self._working.cancel()
        try:
            await asyncio.shield(self._working)
        except asyncio.CancelledError:
            self._working.cancel()
            await asyncio.wait({self._working})
            if self._status == "completed":
                self._status = "interrupted"
                raise
        except BaseException:
            self._status = "error"
            raise
        finally:
            if self._status != "interrupted":  # one that was left has no end, and can be gone on with
                await asyncio.to_thread(
                    self._job_log.write_quietly, "ended", self.job, sync=True, outcome=self._status
                )
        return self.outputs

    def stop(self, _reason: str = "") -> None:
        """End it at once, for good; what is stored stays."""
        self._end("cancelled")

    def interrupt(self, _reason: str) -> None:
        """End it at once for a program that ends."""
        self._end("interrupted")

    def suspend(self) -> bool:
        """It never waits for the person."""
        return False

    def announce_end(self) -> None:
        """Tell how it ended."""
        self._change(self._status)

    def _end(self, status: Status) -> None:
        if self._status == "completed":
            self._status = status
        if self._working is not None:
            self._working.cancel()

    async def _next(self) -> bool:
        """Make one output; return whether there was one to make."""
        if not self._left:
            return False
        trial = self._left.popleft()
        model = self._model_of(trial.variant)
        began, started_at = time.monotonic(), utc_now()

        def start() -> None:
            nonlocal began, started_at
            began, started_at = time.monotonic(), utc_now()
            self._on_event(OutputStart(trial))

        reply = await self._pace.ask(
            model,
            trial.variant.request(trial.test_input),
            on_start=start,
            on_text=lambda text: self._on_event(OutputText(trial, text)),
        )
        output = replace(
            self._output(trial, reply, cost(model.name, reply.usage, model.endpoint)),
            started_at=started_at,
            seconds=round(time.monotonic() - began, 3),
        )
        await self._store(trial, output)
        return True

    def _output(self, trial: PlannedSample, reply: ModelReply, dollars: float | None) -> Output:
        known: dict[str, Any] = {"sample": trial.sample, "run_id": self.job.id, "usage": reply.usage}
        if reply.error is not None:
            return make_output(trial.variant, trial.test_input, error=reply.error.message, **known)
        return make_output(
            trial.variant,
            trial.test_input,
            text=reply.text,
            thinking=reply.thinking,
            stop_reason=reply.stop_reason,
            cost=dollars,
            **known,
        )

    async def _store(self, trial: PlannedSample, output: Output) -> None:
        """Store an output and tell it, also when the run is stopped meanwhile."""
        storing = asyncio.ensure_future(asyncio.to_thread(self._log.append, output))
        try:
            await asyncio.shield(storing)
        except asyncio.CancelledError:
            await asyncio.wait({storing})
            if storing.exception() is None:
                self._emit(trial, output)
            raise
        self._emit(trial, output)

    def _emit(self, trial: PlannedSample, output: Output) -> None:
        self.outputs.append(output)
        self._on_event(OutputEnd(trial, output))
        self.job = self.job.model_copy(
            update={"step_count": len(self.outputs), "usage": self.usage, "cost": self.cost}
        )

    def _change(self, status: Status) -> None:
        self.job = move(self.job, status)
