"""AgentOutputs: runs, reads and compares outputs of one persona for the agent's tools, with the person's settings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from personas.errors import InvalidValue
from personas.store import Store

# The others are loaded when the agent first runs something, not before the first request of every conversation.
if TYPE_CHECKING:
    from agent.outputs.evaluation import Evaluation
    from agent.outputs.evaluator import Evaluator
    from agent.outputs.report import InputReport, PersonaReport

PROPOSED = "proposed"
"""Where outputs of a prompt are that a run proposes, see `Variant.apart`."""
LONGEST_SHOWN = 600
"""Characters of an output in the result of a run; `get_output` has the whole."""
NO_MODEL = "No model is connected that answers as the persona; the owner connects one with /model."


class AgentOutputs:
    """Runs test inputs for the agent, see `OutputControls`.

    Args:
        store: where the persona lives; during a run that proposes, where it is read as proposed.
        persona_id: which one.
        evaluator_of: returns what runs them; called in threads and in the loop.
        budget: US dollars that its runs may cost together; None: what the settings say.

    Attributes:
        spent: US dollars since its budget began, as far as prices were known.
    """

    def __init__(
        self,
        store: Store,
        persona_id: str,
        evaluator_of: Callable[[], Evaluator],
        *,
        budget: float | None = None,
    ) -> None:
        self.store = store
        self._persona_id = persona_id
        self._evaluator_of = evaluator_of
        self._used: Evaluator | None = None
        self._budget = budget
        self.spent = 0.0

    @property
    def _evaluator(self) -> Evaluator:
        self._used = self._evaluator_of()
        return self._used

    def begin_budget(self) -> None:
        """The agent begins to work: what its runs cost together is counted from now on."""
        self.spent = 0.0

    def asks_first(self, ids: Sequence[str]) -> bool:
        """Return whether so many inputs are more than the agent runs unasked. Reads the disk."""
        number = len(set(ids)) or len(self.store.get(self._persona_id).test_inputs)
        return number > self._evaluator.options.runs_unasked

    async def run(self, ids: Sequence[str], samples: int | None, version: int | str | None) -> Any:
        """Run what has no fresh output; return verdicts and outputs.

        Raises:
            PersonaError: there is no model, no such input or version, or the disk refuses.
        """
        evaluation = await self._prepared(ids, samples, version)
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
        from agent.outputs.output_log import OutputLog

        for apart in ("", PROPOSED):
            stored = await asyncio.to_thread(OutputLog(self.store.home, self._persona_id, apart).read)
            if (one := next((one for one in stored.outputs if one.id == output_id), None)) is not None:
                return {"id": one.id, "input_id": one.input_id, "sample": one.sample, "version": one.version,
                        "model": one.model, "text": one.text, "error": one.error}  # fmt: skip
        raise InvalidValue(f"There is no output {output_id!r}.")

    async def compare(self, a: int | str, b: int | str | None) -> Any:
        """Compare two versions, running what is missing.

        Raises:
            PersonaError: as `run`.
        """
        from agent.outputs.comparison import compare_evaluations

        evaluations = [await self._prepared((), None, version) for version in (a, b)]
        reports = [await self._evaluate(one) for one in evaluations]
        found = compare_evaluations(
            [f"version {one.variant.version}" for one in evaluations], evaluations, reports
        )
        rows = [{"id": test_input.id, "a": _shown(before), "b": _shown(after)}
                for test_input, before, after in found.rows()]  # fmt: skip
        return {"a": found.a.name, "b": found.b.name, "sentence": found.finding.sentence, "inputs": rows}

    async def _evaluate(self, evaluation: Evaluation) -> PersonaReport:
        """Run an evaluation within the budget.

        Raises:
            InvalidValue: it would go beyond that.
            PersonaError: the disk refused.
        """
        budget = self._budget or self._evaluator.options.agent_dollars
        expected = await asyncio.to_thread(evaluation.estimate, self._evaluator.endpoint)
        if budget is not None and expected.dollars and self.spent + expected.dollars > budget:
            raise InvalidValue(
                f"This would take {expected.sentence()}; ${self.spent:,.2f} of the budget of ${budget:,.2f} for runs "
                "is already spent."
            )
        pace = self._evaluator.pace()
        try:
            return await self._evaluator.run(evaluation, pace)
        finally:
            self.spent += pace.cost or 0.0

    async def close(self) -> None:
        """Close the connections of the models that were used, where nobody else uses them."""
        if self._used is not None:
            await self._used.close()

    async def _prepared(
        self, ids: Sequence[str], samples: int | None, version: int | str | None
    ) -> Evaluation:
        await self._evaluator.pick_up(self._persona_id)
        return await asyncio.to_thread(self._prepare, ids, samples, version)

    def _prepare(self, ids: Sequence[str], samples: int | None, version: int | str | None) -> Evaluation:
        from agent.outputs.variant import chosen_inputs, effective_prompt, read_runnable

        if not self._evaluator.is_connected:
            raise InvalidValue(NO_MODEL)
        persona = read_runnable(self.store, self._persona_id)
        inputs = chosen_inputs(persona, ids)
        variant = self._evaluator.variant(persona, version=version, fixed=version is None)
        if version is None and self.store.home.instead:
            variant = replace(variant, prompt=effective_prompt(self.store.home, persona), apart=PROPOSED)
        return self._evaluator.evaluation(persona, variant, inputs, samples=samples)


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
