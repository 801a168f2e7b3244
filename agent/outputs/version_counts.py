"""How many test inputs passed in each version of a persona, from what is stored; nothing is run or asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from agent.outputs.expectations import Outcome, decide
from agent.outputs.output_log import Output, Stored
from agent.outputs.report import InputVerdict, outcome_so_far, verdicts_of
from agent.outputs.variant import needed_of
from personas.persona import TestInput


@dataclass(frozen=True, slots=True)
class VersionCounts:
    """Test inputs by their verdict in one version; `unjudged` have outputs and no expectations, or wait for a judge."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    unjudged: int = 0


def count_versions(
    stored: Stored, numbers: Collection[int], inputs: Sequence[TestInput], judge_model: str | None
) -> dict[int, VersionCounts]:
    """Return the verdicts on what was made from these versions, by the expectations as they are now.

    Of each sample the newest answer counts, and an error only where there is none.
    """
    made: dict[int, dict[str, dict[int, Output]]] = {}
    for output in stored.outputs:
        if output.version in numbers:
            samples = made.setdefault(output.version, {}).setdefault(output.input_id, {})
            if output.error is None or output.sample not in samples:
                samples[output.sample] = output

    def verdict(samples: Mapping[int, Output], test_input: TestInput) -> InputVerdict:
        if not test_input.expect:
            return "none"
        found = [
            outcome_so_far(one, verdicts_of(stored, one, test_input, judge_model)) for one in samples.values()
        ]
        outcomes: list[Outcome] = ["error" if one == "none" else one for one in found]
        decided = decide(outcomes, needed_of(test_input, len(outcomes)))
        return "none" if decided == "error" and "error" not in found else decided

    counts = {}
    for number, by_input in made.items():
        verdicts = [verdict(by_input[one.id], one) for one in inputs if one.id in by_input]
        counts[number] = VersionCounts(*(verdicts.count(one) for one in ("pass", "fail", "error", "none")))
    return counts
