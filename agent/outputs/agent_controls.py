"""What the agent's tools on outputs act on: runs for one persona, with the person's settings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.core.model import Model
from agent.outputs.comparison import Side, compare_sides
from agent.outputs.evaluation import Evaluation
from agent.outputs.output_log import OutputLog
from agent.outputs.pace import Pace
from agent.outputs.report import InputReport, PersonaReport, judge_name
from agent.outputs.runner import OutputRun
from agent.outputs.variant import Macros, Variant, chosen_inputs, read_runnable, variant_of
from personas.errors import InvalidValue
from personas.persona import Persona
from personas.store import Store

LONGEST_SHOWN = 600
"""Characters of an output in the result of a run; `get_output` has the whole."""
NO_MODEL = "No model is connected that answers as the persona; the owner connects one with /model."


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """What the person's settings say about runs.

    Attributes:
        macros: what `{{user}}` and `{{char}}` stand for.
        jobs: requests at once.
        retries: further attempts of one request.
        judge_model: who judges rubrics; empty: the model that is tried.
        runs_unasked: inputs the agent may run outside of a task without being asked.
    """

    macros: Macros = field(default_factory=Macros)
    jobs: int = 4
    retries: int = 4
    judge_model: str = ""
    runs_unasked: int = 3


class AgentOutputs:
    """Runs test inputs for the agent, see `OutputControls`.

    Args:
        store: where the persona lives.
        persona_id: which one.
        model_name: the name of the model a persona is tried on, None where none is connected.
        model: the model of that name.
        options: the person's settings.
    """

    def __init__(
        self,
        store: Store,
        persona_id: str,
        *,
        model_name: Callable[[Persona], str | None],
        model: Callable[[str], Model],
        options: OutputOptions,
    ) -> None:
        self._store = store
        self._persona_id = persona_id
        self._model_name = model_name
        self._make_model = model
        self._models: dict[str, Model] = {}
        self._options = options

    def asks_first(self, ids: Sequence[str]) -> bool:
        """Return whether so many inputs are more than the agent runs unasked. Reads the disk."""
        number = len(set(ids)) or len(self._store.get(self._persona_id).test_inputs)
        return number > self._options.runs_unasked

    async def run(self, ids: Sequence[str], samples: int | None, version: int | str | None) -> Any:
        """Run what has no fresh output; return verdicts and outputs.

        Raises:
            PersonaError: there is no model, no such input or version, or the disk refuses.
        """
        evaluation = await asyncio.to_thread(self._prepare, ids, samples, version)
        report = await self._evaluate(evaluation)
        counts = {
            "passed": report.count("pass"),
            "failed": report.count("fail"),
            "errors": report.count("error"),
        }
        return {
            "version": evaluation.variant.version,
            **counts,
            "inputs": [_shown(one) for one in report.inputs],
        }

    async def output(self, output_id: str) -> Any:
        """Return one stored output whole.

        Raises:
            InvalidValue: there is none of this id.
        """
        stored = await asyncio.to_thread(OutputLog(self._store.home, self._persona_id).read)
        for one in stored.outputs:
            if one.id == output_id:
                return {"id": one.id, "input_id": one.input_id, "sample": one.sample, "version": one.version,
                        "model": one.model, "text": one.text, "error": one.error}  # fmt: skip
        raise InvalidValue(f"There is no output {output_id!r}.")

    async def compare(self, a: int | str, b: int | str | None) -> Any:
        """Compare two versions, running what is missing.

        Raises:
            PersonaError: as `run`.
        """
        sides = []
        for version in (a, b):
            evaluation = await asyncio.to_thread(self._prepare, (), None, version)
            reports = (await self._evaluate(evaluation)).inputs
            name = f"version {evaluation.variant.version}"
            sides.append(Side(name, evaluation.variant, reports, evaluation.stored, evaluation.judge_model))
        found = compare_sides(evaluation.inputs, *sides)
        rows = [{"id": test_input.id, "a": _shown(before), "b": _shown(after)}
                for test_input, before, after in found.rows()]  # fmt: skip
        return {"a": sides[0].name, "b": sides[1].name, "sentence": found.finding.sentence, "inputs": rows}

    def _prepare(self, ids: Sequence[str], samples: int | None, version: int | str | None) -> Evaluation:
        persona = read_runnable(self._store, self._persona_id)
        name = self._model_name(persona)
        if name is None:
            raise InvalidValue(NO_MODEL)
        inputs = chosen_inputs(persona, ids)
        variant = variant_of(
            self._store,
            persona,
            model=name,
            version=version,
            macros=self._options.macros,
            fixed=version is None,
        )
        judge = judge_name(persona, self._options.judge_model, name)
        return Evaluation(self._store, variant, inputs, samples=samples, judge_model=judge)

    async def _evaluate(self, evaluation: Evaluation) -> PersonaReport:
        """Run what is missing and have it judged; return the verdicts. Cancelled, it keeps what is done."""
        pace = Pace(self._options.jobs, retries=self._options.retries)
        if evaluation.plan.trials:
            run = OutputRun(
                evaluation.log, evaluation.plan.trials, self._model_of, pace, jobs=self._options.jobs
            )
            evaluation.take(await run.go())
        await evaluation.judge(self._model, pace, self._options.jobs)
        return await asyncio.to_thread(evaluation.report)

    async def close(self) -> None:
        """Close the connections of the models that were used."""
        for model in self._models.values():
            if (close := getattr(model, "close", None)) is not None:
                await close()

    def _model(self, name: str) -> Model:
        if name not in self._models:
            self._models[name] = self._make_model(name)
        return self._models[name]

    def _model_of(self, variant: Variant) -> Model:
        return self._model(variant.model or "")


def _shown(report: InputReport) -> dict[str, Any]:
    """Return a report for the model: verdicts, and outputs cut to what it needs to see."""
    outputs = [
        {
            "id": one.id,
            "sample": sample,
            "text": one.text[:LONGEST_SHOWN],
            "cut": len(one.text) > LONGEST_SHOWN,
        }
        for sample, one in sorted(report.outputs.items())
        if one.error is None
    ]
    return {**report.to_record(), "outputs": outputs}
