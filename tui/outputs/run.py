"""One run that the person has asked for: what it does, how far it is, and how it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from agent.core.model import Usage
    from agent.outputs.output_log import Output
    from agent.outputs.rate_limiter import RateLimiter
    from agent.outputs.runner import OutputRun, PlannedSample

Result = TypeVar("Result")
Attend = Callable[["OutputRun | None"], None]
"""Is told the run at work, and None once there is none."""
Work = Callable[["RateLimiter", Attend], Coroutine[Any, Any, Result]]


class OutputKey(NamedTuple):
    """Which output is being made: of which sample of a test input, from which prompt and model."""

    persona_id: str
    input_id: str
    sample: int
    prompt_hash: str
    model: str | None

    @classmethod
    def of(cls, trial: PlannedSample) -> OutputKey:
        """Return the key of an output that is to be made."""
        variant = trial.variant
        return cls(variant.persona_id, trial.test_input.id, trial.sample, variant.prompt_hash, variant.model)


class Progress(NamedTuple):
    """How far runs are.

    Attributes:
        done, total: outputs.
        failed: of those done, how many do not hold what is expected.
        errors: of those done, how many could not be run.
        usage, cost: of all requests; the cost is None where a price is unknown.
        is_judging: whether all outputs are there, and a model judges them.
        work: what they are for; empty where they are just run.
    """

    done: int
    total: int
    failed: int
    errors: int
    usage: Usage
    cost: float | None
    is_judging: bool = False
    work: str = ""

    @property
    def parts(self) -> list[str]:
        """It in words: `7/12`, `2 failed`, `14k tok`, `$0.05`."""
        from agent.models.prices import spent_parts

        found = [f"{self.work}: {self.done}/{self.total}".removeprefix(": ")]
        found += [f"{self.failed} failed"] if self.failed else []
        found += [f"{self.errors} could not be run"] if self.errors else []
        found += ["judging"] if self.is_judging else []
        return found + spent_parts(self.usage, self.cost)


class RunAtWork(Generic[Result]):
    """A run that the person has asked for, of one or several evaluations.

    Args:
        work: what is done.
        total: returns how many outputs it makes at most.
        pace: how fast.
        name: what it is for, see `Progress`.

    Attributes:
        made: the outputs that are stored.
        task: the work.
    """

    def __init__(
        self, work: Work[Result], total: Callable[[], int], pace: RateLimiter, name: str = ""
    ) -> None:
        self.made: list[Output] = []
        self.name = name
        self._total = total
        self._current: OutputRun | None = None
        self.task: asyncio.Task[Result] = asyncio.ensure_future(work(pace, self._attend))

    @property
    def total(self) -> int:
        """How many outputs it makes at most."""
        return self._total()

    @property
    def is_judging(self) -> bool:
        """Whether all outputs are there."""
        return self._current is None and len(self.made) == self.total

    def take(self, output: Output) -> None:
        """An output is stored, of this run or of another one."""
        if self._current is not None and output.run_id == self._current.job.id:
            self.made.append(output)

    def stop(self) -> None:
        """End it at once, for good."""
        if self._current is not None:
            self._current.stop()
        else:
            self.task.cancel()

    def _attend(self, run: OutputRun | None) -> None:
        self._current = run
