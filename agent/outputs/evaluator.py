"""Prepares and runs evaluations with the person's settings: which model, which judge, at what pace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agent.core.model import Model
from agent.models.anthropic.batches import BatchStatus
from agent.outputs.baseline import blessed_hashes
from agent.outputs.batches import Batches
from agent.outputs.evaluation import Evaluation
from agent.outputs.output_log import OutputLog
from agent.outputs.rate_limiter import RateLimiter
from agent.outputs.report import PersonaReport, judge_name
from agent.outputs.runner import OutputRun, RunEnd, RunEvent, RunStart
from agent.outputs.variant import EffectivePrompts, Macros, Variant, variant_now, variant_of
from personas.errors import PersonaError
from personas.persona import Persona, TestInput
from personas.store import Store
from personas.test_inputs import MOST_SAMPLES

if TYPE_CHECKING:
    from personas.compiled import Options

THINNED_FROM = 1_000_000
"""Bytes of a log of outputs from which on old ones are dropped."""


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """What the person's settings say about runs.

    Attributes:
        macros: what `{{user}}` and `{{char}}` stand for.
        jobs: requests at once.
        retries: further attempts of one request.
        judge_model: who judges rubrics; empty: the model that is tried.
        agent_dollars: what the agent's runs may cost together, where prices are known; None: no budget.
        outputs_kept: how many outputs of an input stay; 0: all.
        runs_unasked: inputs the agent may run outside of a task without being asked.
    """

    macros: Macros = field(default_factory=Macros)
    jobs: int = 4
    retries: int = 4
    judge_model: str = ""
    runs_unasked: int = 3
    agent_dollars: float | None = None
    outputs_kept: int = 0


class Evaluator:
    """What evaluations of one home have in common.

    Args:
        store: where the personas live.
        options: the person's settings.
        endpoint: the server that is asked.
        default_model: the model of personas that name none; None where no model is connected.
        forced_model: the model of all personas, whatever they name.
        make_model: makes the model of a name; may block.
        on_event: hears of every run, in order.
    """

    def __init__(
        self,
        store: Store,
        options: OutputOptions,
        *,
        endpoint: str,
        default_model: str | None,
        forced_model: str | None = None,
        make_model: Callable[[str], Model],
        on_event: Callable[[RunEvent], None] = lambda _event: None,
    ) -> None:
        self.store = store
        self.options = options
        self.endpoint = endpoint
        self._default_model = default_model
        self._forced_model = forced_model
        self._make_model = make_model
        self._on_event = on_event
        self._models: dict[str, Model] = {}
        self._prompts = EffectivePrompts(store.home)

    @property
    def is_connected(self) -> bool:
        """Whether there is a model that can answer as a persona."""
        return self._default_model is not None

    def model(self, name: str) -> Model:
        """Return the model of this name; made once."""
        if name not in self._models:
            self._models[name] = self._make_model(name)
        return self._models[name]

    def model_of(self, variant: Variant) -> Model:
        """Return the model a variant is run on."""
        return self.model(variant.model or "")

    def pace(self) -> RateLimiter:
        """Return a pace for the requests that belong together."""
        return RateLimiter(self.options.jobs, retries=self.options.retries)

    def variant(
        self,
        persona: Persona,
        *,
        version: str | int | None = None,
        model: str | None = None,
        fixed: bool = False,
        options: Options | None = None,
    ) -> Variant:
        """Return a variant of a persona, see `variant_of`; `model` beats what the persona and the settings name."""
        return variant_of(
            self.store,
            persona,
            model=self._model_name(persona, model),
            version=version,
            macros=self.options.macros,
            fixed=fixed,
            options=options,
        )

    def variant_now(self, persona: Persona, options: Options | None = None) -> Variant:
        """Return a persona as it is now, for judging outputs, see `variant_now`; `options` as in `variant`."""
        prompt = self._prompts.of(persona, options)
        return variant_now(persona, prompt, model=self._model_name(persona), macros=self.options.macros)

    def _model_name(self, persona: Persona, model: str | None = None) -> str | None:
        name = model or self._forced_model or persona.model.name or self._default_model
        return name if self.is_connected else None

    def judge_name(self, persona: Persona, variant: Variant) -> str | None:
        """Return the name of the model that judges rubrics, None where none is connected."""
        return judge_name(persona, self.options.judge_model, variant.model) if variant.model else None

    def evaluation(
        self,
        persona: Persona,
        variant: Variant,
        inputs: Sequence[TestInput] | None = None,
        *,
        judge_model: str | None = None,
        **options: Any,
    ) -> Evaluation:
        """Return the evaluation of a variant on a persona's test inputs, all where none are given."""
        return Evaluation(
            self.store,
            variant,
            persona.test_inputs if inputs is None else inputs,
            judge_model=judge_model or self.judge_name(persona, variant),
            **options,
        )

    def batches(
        self, persona_id: str, on_status: Callable[[BatchStatus], None] = lambda _status: None
    ) -> Batches:
        """Return the batches of a persona."""
        return Batches(OutputLog(self.store.home, persona_id), self.model, on_status=on_status)  # type: ignore[arg-type]  # a model that is connected has them

    async def pick_up(
        self, persona_id: str, on_error: Callable[[PersonaError], object] = lambda _error: None
    ) -> None:
        """Store what open batches of a persona have brought; `tell` hears what keeps it from that."""
        if self.is_connected:
            try:
                await self.batches(persona_id).pick_up()
            except PersonaError as error:
                on_error(error)

    def thin(self, persona_id: str) -> None:
        """Drop old outputs of a persona where there are many; where the disk refuses, they stay.

        The newest of its prompt as it is stay, and the baseline's.
        """
        log = OutputLog(self.store.home, persona_id)
        if self.options.outputs_kept and (stamp := log.stamp) and stamp[1] >= THINNED_FROM:
            with suppress(PersonaError):
                self._thin(log, persona_id)

    def _thin(self, log: OutputLog, persona_id: str) -> None:
        persona, stored = self.store.get(persona_id), log.read()
        variant, blessed = self.variant(persona), blessed_hashes(self.store.home, persona_id)
        needed = {
            one.id
            for test_input in persona.test_inputs
            for one in stored.fresh(variant, test_input, MOST_SAMPLES).values()
        } | {
            one.id
            for one in {
                (one.input_id, one.sample): one
                for one in stored.outputs
                if (one.prompt_hash, one.settings_hash) == blessed and one.error is None
            }.values()
        }
        log.thin(self.options.outputs_kept, needed)

    async def run(
        self,
        evaluation: Evaluation,
        pace: RateLimiter,
        on_run: Callable[[OutputRun | None], None] = lambda _run: None,
    ) -> PersonaReport:
        """Run what is missing, have it judged, and return the verdicts; cancelled, what is done stays.

        Args:
            evaluation: what to run.
            pace: how fast.
            on_run: told the run at work, which can be stopped, and None once there is none.

        Raises:
            CancelledError: the run was stopped.
            PersonaError: the disk refused.
        """
        await asyncio.to_thread(evaluation.reload)
        if trials := evaluation.plan.trials:
            await asyncio.to_thread(self.model_of, trials[0].variant)
            run = OutputRun(
                evaluation.log,
                trials,
                self.model_of,
                pace,
                on_event=self._on_event,
                jobs=self.options.jobs,
                run_id=evaluation.run_id,
            )
            self._on_event(RunStart(trials))
            on_run(run)
            try:
                evaluation.take(await run.go())
            finally:
                on_run(None)
                self._on_event(RunEnd(trials))
            if run.is_stopped:
                raise asyncio.CancelledError
        return await self.judge(evaluation, pace)

    async def run_batches(
        self, evaluations: Sequence[Evaluation], pace: RateLimiter, on_status: Callable[[BatchStatus], None]
    ) -> None:
        """Run what is missing of all in batches, which begin together; cancelled, the batches go on.

        Raises:
            PersonaError: a provider does not take a batch, or the disk refused.
        """
        batches = [self.batches(one.variant.persona_id, on_status) for one in evaluations]
        for one, its in zip(evaluations, batches, strict=True):
            if one.plan.trials:
                await its.submit(one.plan.trials)
        for one, its in zip(evaluations, batches, strict=True):
            one.made += await its.follow(lambda output: pace.count(output.usage, output.cost))
            await asyncio.to_thread(one.reload)
            await self.judge(one, pace)

    async def judge(self, evaluation: Evaluation, pace: RateLimiter) -> PersonaReport:
        """Have what is there judged, and return the verdicts; old outputs go where there are many.

        Raises:
            PersonaError: the disk refused.
        """
        await evaluation.judge(self.model, pace, self.options.jobs)
        report = await asyncio.to_thread(evaluation.report)
        await asyncio.to_thread(self.thin, report.id)
        return report

    async def close(self) -> None:
        """Close the connections of the models that were used."""
        for model in self._models.values():
            if (close := getattr(model, "close", None)) is not None:
                await close()
