"""Two variants on the same test inputs: what broke, what was fixed, and how sure that is."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agent.outputs.bisect_run import differing_versions
from agent.outputs.output_log import Stored
from agent.outputs.report import InputReport, PersonaReport, verdicts_of
from agent.outputs.statistics import Finding, compare
from agent.outputs.variant import Variant
from personas.errors import UnknownVersion
from personas.persona import Persona, TestInput
from personas.store import Store
from personas.versions.authorship import Version
from personas.versions.merge import unified_diff

if TYPE_CHECKING:
    from agent.outputs.evaluation import Evaluation
    from agent.outputs.evaluator import Evaluator


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: what it is called, and the reports on its inputs."""

    name: str
    variant: Variant
    reports: Sequence[InputReport]
    stored: Stored
    judge_model: str | None

    def record(self, report: InputReport, test_input: TestInput) -> dict[str, Any] | None:
        """Return the first output of an input as a record, with its verdicts."""
        if not report.outputs:
            return None
        output = report.outputs[min(report.outputs)]
        return output.to_record(verdicts_of(self.stored, output, test_input, self.judge_model))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both sides, input by input."""

    inputs: Sequence[TestInput]
    a: Side
    b: Side
    finding: Finding

    def to_record(self) -> dict[str, Any]:
        """Return the shape of `compare --json`."""
        rows = [
            {
                "id": test_input.id,
                "a": self.a.record(before, test_input),
                "b": self.b.record(after, test_input),
                "verdicts": [before.verdict, after.verdict],
                "passed": [before.passed, after.passed],
                "samples": [before.samples, after.samples],
            }
            for test_input, before, after in self.rows()
        ]
        found = self.finding
        return {
            "a": self.a.name,
            "b": self.b.name,
            "sentence": found.sentence,
            "p": found.p,
            "broke": found.broke,
            "fixed": found.fixed,
            "inputs": rows,
        }

    def rows(self) -> list[tuple[TestInput, InputReport, InputReport]]:
        """Return each input with its two reports."""
        return list(zip(self.inputs, self.a.reports, self.b.reports, strict=True))


def compare_sides(inputs: Sequence[TestInput], a: Side, b: Side) -> Comparison:
    """Compare two sides; inputs without a verdict on both are shown and not counted."""
    return Comparison(inputs, a, b, compare(_pairs(inputs, a, b)))


def compare_all(comparisons: Iterable[Comparison]) -> Finding:
    """Return what several comparisons show together."""
    return compare([pair for one in comparisons for pair in _pairs(one.inputs, one.a, one.b)])


def _pairs(inputs: Sequence[TestInput], a: Side, b: Side) -> list[tuple[list[bool], list[bool]]]:
    return [
        (before.sample_passes, after.sample_passes)
        for test_input, before, after in zip(inputs, a.reports, b.reports, strict=True)
        if test_input.expect
    ]


def compare_evaluations(
    names: Sequence[str], evaluations: Sequence[Evaluation], reports: Sequence[PersonaReport]
) -> Comparison:
    """Compare two evaluations of the same inputs, each with its name and its report."""
    a, b = (
        Side(name, one.variant, report.inputs, one.stored, one.judge_model)
        for name, one, report in zip(names, evaluations, reports, strict=True)
    )
    return compare_sides(evaluations[0].inputs, a, b)


def version_variants(
    evaluator: Evaluator, persona: Persona, a: str | int | None, b: str | int | None, *, fixed: bool
) -> tuple[Variant, Variant]:
    """Return two versions of a persona: `a`, else one as told below, and `b`, else the text as it is now.

    Without `a` it is the version of `default_before`; where nothing changed in the prompt since, the last one before it
    that has another prompt.

    Args:
        evaluator: with the person's settings.
        persona: as it is now.
        a, b: numbers or names of versions.
        fixed: whether the text as it is now is stored as a version, for a run.

    Raises:
        PersonaError: there is no such version, or it is broken.
    """
    first = a if a is not None else default_before(evaluator.store, persona.id)
    before = evaluator.variant(persona, version=first)
    after = evaluator.variant(persona, version=b, fixed=fixed and b is None)
    if a is None and before.prompt == after.prompt:
        known = differing_versions(evaluator.store, persona.id, after, before.version)
        for other, same in itertools.pairwise(known[-2:]):
            before = replace(other, version=_before(evaluator.store.log(persona.id), same.version))
    return before, after


def output_diff(before: InputReport, after: InputReport) -> str:
    """Return the difference of the first outputs of both, empty where there is none or one has no output."""
    if not (before.outputs and after.outputs):
        return ""
    texts = [one.outputs[min(one.outputs)].text for one in (before, after)]
    if texts[0] == texts[1]:
        return ""
    before_text, after_text = (text if text.endswith("\n") else text + "\n" for text in texts)
    return unified_diff(before_text, after_text, "a", "b")


def default_before(store: Store, persona_id: str) -> int:
    """Return the version a comparison begins with: the last named one, or the one before the agent's last run.

    Where there is neither, it is the one before the last change; 0 is the first text.

    Raises:
        PersonaError: the versions cannot be read.
    """
    log = store.log(persona_id)  # newest first
    current = store.current_version(persona_id)
    if named := next((one.number for one in log if one.name and one.number != current), None):
        return named
    if not current:
        raise UnknownVersion(f"{persona_id} has no versions yet: nothing has been changed.")
    run = next((one.by.run_id for one in log if one.by.kind == "agent" and one.by.run_id), None)
    of_run = [one.number for one in log if run is not None and one.by.run_id == run]
    first = min(of_run, default=current)
    return _before(log, first)


def around_unit(log: Sequence[Version], unit: str) -> tuple[int, int] | None:
    """Return the versions before and after what a unit of undo changed, such as an agent's run; None: it has none."""
    numbers = [one.number for one in log if one.unit == unit and one.role == "change"]
    return (_before(log, min(numbers)), max(numbers)) if numbers else None


def _before(log: Sequence[Version], number: int) -> int:
    """Return the number of the text before a change."""
    return max((one.number for one in log if one.number < number and one.role != "kept"), default=0)
