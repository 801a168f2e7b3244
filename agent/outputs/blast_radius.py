"""What a change of a library document does to the personas it is a part of: their test inputs on before and after.

The screen and `persona part set --check` use it. Nothing of the change is stored; outputs of it are, so that a test after
saving finds them fresh.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agent.outputs.comparison import Comparison, compare_all, compare_evaluations
from agent.outputs.cost import NOTHING, Estimate
from agent.outputs.evaluation import Evaluation
from agent.outputs.report import PersonaReport
from agent.outputs.statistics import Finding
from agent.outputs.variant import read_runnable
from personas.compiled import Options
from personas.errors import PersonaError
from personas.library.documents import Kind, LibraryDocument
from personas.library.folders import Library
from personas.library_store import LibraryStore
from personas.persona import Persona

if TYPE_CHECKING:
    from agent.outputs.evaluator import Evaluator
    from agent.outputs.rate_limiter import RateLimiter
    from agent.outputs.runner import OutputRun


@dataclass(frozen=True, slots=True)
class Touched:
    """A persona whose effective prompt the change makes another one.

    Attributes:
        stage: the stage of its arc it is tried on; empty: the one it is on.
        comparison: its inputs that have expectations, before and after.
    """

    persona_id: str
    stage: str
    comparison: Comparison

    @property
    def title(self) -> str:
        """Which persona it is, and on which stage, in words."""
        return PersonaReport(self.persona_id, (), stage=self.stage).title

    @property
    def broke(self) -> list[str]:
        """The inputs that passed before and fail after."""
        return self._turned("pass", "fail")

    @property
    def fixed(self) -> list[str]:
        """The inputs that failed before and pass after."""
        return self._turned("fail", "pass")

    @property
    def is_known(self) -> bool:
        """Whether there are verdicts on both sides of all its inputs, on what is there now."""
        return bool(self.comparison.rows()) and not self._unknown

    @property
    def _unknown(self) -> int:
        return sum(a.could_not_run or b.could_not_run for _, a, b in self.comparison.rows())

    @property
    def summary_lines(self) -> list[str]:
        """What came of its inputs, in words."""
        count, turned = len(self.comparison.rows()), (("broke", self.broke), ("fixed", self.fixed))
        lines = [f"{word} {', '.join(ids)}" for word, ids in turned if ids]
        lines += [f"{self._unknown} of {count} without a verdict"] if self._unknown else []
        return lines or ["nothing broke" if count else "no test input has expectations"]

    def _turned(self, before: str, after: str) -> list[str]:
        return [one.id for one, a, b in self.comparison.rows() if (a.verdict, b.verdict) == (before, after)]

    def to_record(self) -> dict[str, Any]:
        """Return it as a JSON object: what `compare --json` prints, with id and stage."""
        stage = {"stage": self.stage} if self.stage else {}
        return {"id": self.persona_id, **stage, **self.comparison.to_record()}


@dataclass(frozen=True, slots=True)
class BlastReport:
    """What came of it.

    Attributes:
        touched: the personas that were tried.
        broken: those whose file cannot be run.
        finding: over all inputs of all personas.
    """

    touched: Sequence[Touched]
    broken: Sequence[PersonaReport]
    finding: Finding

    @property
    def sentence(self) -> str:
        """What it comes to, as a sentence without a full stop."""
        return self.finding.sentence if self.touched or self.broken else "no persona's prompt changes"

    @property
    def exit_code(self) -> int:
        """4 where something could not be run, 1 where an input broke, else 0."""
        reports = [
            report
            for one in self.touched
            for side in (one.comparison.a, one.comparison.b)
            for report in side.reports
        ]
        if self.broken or any(one.could_not_run for one in reports):
            return 4
        return 1 if any(one.broke for one in self.touched) else 0

    def to_record(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        personas = [*(one.to_record() for one in self.touched), *(one.to_record() for one in self.broken)]
        found = self.finding
        counts = {"broke": found.broke, "fixed": found.fixed}
        return {"sentence": self.sentence, "p": found.p, **counts, "personas": personas}


class BlastRadius:
    """The evaluations on both sides, prepared from what is stored; making it may block, and sends nothing.

    A persona is tried on the stage it is on. Where the change does not touch that, it is tried on each stage of its arc
    that is touched.

    Args:
        evaluator: with the person's settings.
        changed: the document as it would be.
        fixed: whether the personas' texts as they are now are stored as versions, for a run.
        samples: beats the files.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        changed: LibraryDocument,
        *,
        fixed: bool = False,
        samples: int | None = None,
    ) -> None:
        self._evaluator = evaluator
        self._documents = _WithChange(Library(evaluator.store.home), changed)
        self._pairs: list[tuple[str, Evaluation, Evaluation]] = []  # each with its stage
        self._broken: list[PersonaReport] = []
        for persona_id in LibraryStore(evaluator.store).touched(changed.kind, changed.name):
            try:
                self._add(read_runnable(evaluator.store, persona_id), fixed, samples)
            except PersonaError as error:
                self._broken.append(PersonaReport(persona_id, (), str(error)))

    def _add(self, persona: Persona, fixed: bool, samples: int | None) -> None:
        arc = None if persona.arc is None else self._documents.get(("arc", persona.arc.name))
        inputs = [one for one in persona.test_inputs if one.expect]
        for stage in ("", *(one.name for one in (arc.stages if arc else ()))):
            options = Options(stage=stage or None)
            before = self._evaluator.variant(persona, fixed=fixed, options=options)
            after = replace(before, prompt=options.assemble(persona, self._documents).text)
            if before.prompt == after.prompt:
                continue
            sides = before, after
            evaluations = [self._evaluator.evaluation(persona, one, inputs, samples=samples) for one in sides]
            self._pairs.append((stage, evaluations[0], evaluations[1]))
            if not stage:
                break

    @property
    def persona_ids(self) -> list[str]:
        """The personas that are tried, each once."""
        return list(dict.fromkeys(one.variant.persona_id for _, one, _ in self._pairs))

    @property
    def missing(self) -> int:
        """How many outputs are not there yet."""
        return sum(len(side.plan.trials) for _, *pair in self._pairs for side in pair)

    def estimate(self) -> Estimate:
        """Return what running what is missing, and judging it, will take."""
        sides = (side for _, *pair in self._pairs for side in pair)
        return sum((one.estimate(self._evaluator.endpoint) for one in sides), NOTHING)

    async def run(
        self, pace: RateLimiter, on_run: Callable[[OutputRun | None], None] = lambda _run: None
    ) -> None:
        """Run what is missing on both sides and have it judged, see `Evaluator.run`.

        Raises:
            CancelledError: it was stopped; what is done is kept.
            PersonaError: the disk refused.
        """
        for _, before, after in self._pairs:
            for one in (before, after):
                await self._evaluator.run(one, pace, on_run)

    def report(self) -> BlastReport:
        """Return the verdicts on what is there."""
        touched = [
            Touched(
                before.variant.persona_id,
                stage,
                compare_evaluations(("before", "after"), (before, after), (before.report(), after.report())),
            )
            for stage, before, after in self._pairs
        ]
        return BlastReport(touched, self._broken, compare_all(one.comparison for one in touched))


@dataclass(frozen=True, slots=True)
class _WithChange:
    """The library as it would be."""

    library: Library
    changed: LibraryDocument

    def get(self, key: tuple[Kind, str], /) -> LibraryDocument | None:
        """Return a document, None where there is none."""
        return self.changed if key == (self.changed.kind, self.changed.name) else self.library.get(key)
