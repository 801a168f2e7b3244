"""One variant of a persona on its test inputs: what is missing, what that costs, what the judge is asked, the verdicts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from agent.core.model import Model
from agent.outputs.cost import Estimate, estimate, estimate_judging
from agent.outputs.expectations import RUBRIC
from agent.outputs.output_log import Output, OutputLog, Stored
from agent.outputs.rate_limiter import RateLimiter
from agent.outputs.report import (
    InputReport,
    Judging,
    PersonaReport,
    judge_missing,
    missing_judgements,
    report_input,
)
from agent.outputs.runner import Plan, plan
from agent.outputs.variant import Variant
from personas.persona import TestInput
from personas.store import Store


class Evaluation:
    """Prepared from what is stored; nothing is sent by itself.

    Args:
        store: where the persona lives.
        variant: what is tried.
        inputs: the test inputs, whose expectations count as they are now.
        samples, min_pass: these beat the file.
        judge_model: the name of the model that judges rubrics, None where none is connected.
        only_missing: whether fresh outputs are reused.
        stored: what the log has, where that is known and kept up to date; else it is read.
        run_id: of the run; what it has made in an earlier program is not made again. Empty: a run of its own.
    """

    def __init__(
        self,
        store: Store,
        variant: Variant,
        inputs: Sequence[TestInput],
        *,
        samples: int | None = None,
        min_pass: int | None = None,
        judge_model: str | None = None,
        only_missing: bool = True,
        stored: Stored | None = None,
        run_id: str = "",
    ) -> None:
        self.run_id = run_id
        self.variant = variant
        self._only_missing = only_missing
        self.inputs = tuple(inputs)
        self.log = OutputLog(store.home, variant.persona_id, variant.apart)
        self.judge_model = judge_model
        self.made: list[Output] = []
        self._known, self.stored = stored, stored or Stored()
        self.plan: Plan
        self._samples, self._min_pass = samples, min_pass
        self.reload()

    def reload(self) -> None:
        """Read what is stored again: another evaluation may have run what was missing here.

        Raises:
            PersonaError: the disk refused.
        """
        self.stored = self.log.read() if self._known is None else self._known
        self.plan = plan(
            self.stored,
            self.variant,
            self.inputs,
            samples=self._samples,
            only_missing=self._only_missing,
        )
        if self.run_id:
            made = {
                (one.input_id, one.sample): one for one in self.stored.outputs if one.run_id == self.run_id
            }
            self.made = [one for one in made.values() if one.error is None]
            done = {(one.input_id, one.sample) for one in self.made}
            left = (one for one in self.plan.trials if (one.test_input.id, one.sample) not in done)
            self.plan = replace(self.plan, trials=tuple(left))

    def estimate(self, endpoint: str, share: float = 1.0) -> Estimate:
        """Return what running what is missing, at this share of the price, and judging it will take."""
        total = estimate(self.plan.trials, self.stored, endpoint).times(share)
        if self.judge_model is not None:
            rubrics = [
                len(str(one.value)) + 2_000
                for trial in self.plan.trials
                for one in trial.test_input.expect
                if one.base == RUBRIC
            ]
            rubrics += [len(one.output.text) + len(str(one.rubric.value)) for one in self._to_judge()]
            total += estimate_judging(rubrics, self.judge_model, endpoint)
        return total

    def take(self, made: Sequence[Output]) -> None:
        """Add what a run has made."""
        self.made += made
        self.stored.add(made)

    async def judge(self, model_of: Callable[[str], Model], pace: RateLimiter, jobs: int) -> None:
        """Have the judge say what it was not asked yet; without one nothing is done.

        Raises:
            PersonaError: the disk refused.
        """
        missing = await asyncio.to_thread(self._to_judge)
        if self.judge_model is not None and missing:
            judge = await asyncio.to_thread(model_of, self.judge_model)
            await judge_missing(self.log, self.stored, missing, judge, pace, jobs)

    def report(self) -> PersonaReport:
        """Return the verdicts."""
        made = {(one.input_id, one.sample): one for one in self.made}
        reports: list[InputReport] = [
            report_input(
                self.stored,
                self.variant,
                one,
                samples=self._samples,
                min_pass=self._min_pass,
                judge_model=self.judge_model,
                made=made,
            )
            for one in self.inputs
        ]
        return PersonaReport(self.variant.persona_id, tuple(reports))

    def _to_judge(self) -> list[Judging]:
        if self.judge_model is None:
            return []
        return [
            one
            for test_input, report in zip(self.inputs, self.report().inputs, strict=True)
            for one in missing_judgements(self.stored, report.outputs.values(), test_input, self.judge_model)
        ]
