"""What each piece of a prompt is good for: it is taken out in turn, and the test inputs are run without it.

The outputs of the unchanged prompt show the noise that any two runs differ by; only what stands out of it counts.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any, Literal

from agent.outputs.cost import NOTHING, Estimate
from agent.outputs.evaluation import Evaluation
from agent.outputs.evaluator import Evaluator
from agent.outputs.output_log import OutputLog, Stored
from agent.outputs.prompt_pieces import PromptPiece, pieces_of, without
from agent.outputs.report import InputReport, PersonaReport
from agent.outputs.statistics import REAL, benjamini_hochberg, fisher
from agent.outputs.variant import Variant
from personas.persona import Persona, TestInput

SAMPLES = 8
"""Samples of each input, with and without each piece."""

APART = "coverage"

Finding = Literal["tests fail", "answers change", "nothing notices", "not exercised"]

_SHUFFLES = 5_000
_ENOUGH = 20


@dataclass(frozen=True, slots=True)
class InputResult:
    """What an input has shown with one prompt: whether each sample passed, and what was answered."""

    passes: tuple[bool, ...] = ()
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PieceCoverage:
    """A piece, what was found, and the test inputs that show it."""

    piece: PromptPiece
    finding: Finding
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was found.

    Attributes:
        prompt: the prompt it was found for.
        pieces: in the order of the prompt.
        noise: by input: how many samples of the unchanged prompt passed, of how many, and how far answers differ.
        calls: outputs that were made for it.
        error: why something could not be run, empty where all could.
    """

    prompt: str
    pieces: tuple[PieceCoverage, ...]
    noise: Mapping[str, Mapping[str, Any]]
    calls: int
    error: str = ""

    def to_record(self) -> dict[str, Any]:
        """Return the shape of `coverage --json`."""
        pieces = [
            {"line": one.piece.line, "text": one.piece.text, "finding": one.finding, "inputs": [*one.inputs]}
            for one in self.pieces
        ]
        error = {"error": self.error} if self.error else {}
        return {"pieces": pieces, "noise": dict(self.noise), "calls": self.calls, **error}


class CoverageRun:
    """The coverage of a prompt, prepared from what is stored; nothing is sent by itself.

    Args:
        evaluator: makes evaluations.
        persona: whose prompt.
        variant: the unchanged prompt.
        inputs: what to try it with.
        samples: of each input.
        stored: what the persona's log has, see `Evaluation`.

    Attributes:
        pieces: of the prompt.
        evaluations: of the unchanged prompt, and of it without each piece; to be run in this order.
        missing: inputs that are left out, since no model is connected and their outputs are not all stored.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        persona: Persona,
        variant: Variant,
        inputs: Sequence[TestInput],
        *,
        samples: int | None = None,
        stored: Stored | None = None,
    ) -> None:
        self._prompt, self._endpoint = variant.prompt, evaluator.endpoint
        self.pieces = pieces_of(variant.prompt)
        log = OutputLog(evaluator.store.home, variant.persona_id, APART)
        known = log.read()

        def prepare(inputs: Sequence[TestInput]) -> list[Evaluation]:
            options: dict[str, Any] = {"samples": samples or SAMPLES}
            others = [
                replace(variant, prompt=without(variant.prompt, piece), apart=APART) for piece in self.pieces
            ]
            return [
                evaluator.evaluation(persona, variant, inputs, stored=stored, **options),
                *(evaluator.evaluation(persona, one, inputs, stored=known, **options) for one in others),
            ]

        self.evaluations = prepare(inputs)
        self.missing: tuple[str, ...] = ()
        if not evaluator.is_connected:
            missing = {trial.test_input.id for one in self.evaluations for trial in one.plan.trials}
            self.missing = tuple(one.id for one in inputs if one.id in missing)
            self.evaluations = prepare([one for one in inputs if one.id not in missing])
        elif known.outputs and not any(one.plan.reused for one in self.evaluations[1:]):
            log.clear()  # the prompt is another by now: none of them is of use any more

    def estimate(self) -> Estimate:
        """Return what it will take."""
        return sum((one.estimate(self._endpoint) for one in self.evaluations), NOTHING)

    def found(self, reports: Sequence[PersonaReport]) -> Coverage:
        """Return what the reports on the evaluations show. Takes a moment."""
        shown = [{each.id: _shown(each) for each in report.inputs} for report in reports]
        found = findings(shown[0], shown[1:])
        return Coverage(
            prompt=self._prompt,
            pieces=tuple(PieceCoverage(piece, *one) for piece, one in zip(self.pieces, found, strict=True)),
            noise={
                input_id: {
                    "passed": sum(one.passes),
                    "samples": len(one.passes),
                    "difference": difference(one.texts),
                }
                for input_id, one in shown[0].items()
            },
            calls=sum(len(one.made) for one in self.evaluations),
            error=next(
                (f"{one.id}: {one.reason}" for each in reports for one in each.inputs if one.reason), ""
            ),
        )


def _shown(report: InputReport) -> InputResult:
    """Return what a report shows; what could not be run or judged shows nothing."""
    passes = [one == "pass" for one in report.sample_verdicts.values() if one != "error"]
    texts = [one.text for one in report.outputs.values() if one.error is None]
    return InputResult(tuple(passes) if report.expectations else (), tuple(texts))


def findings(
    unchanged: Mapping[str, InputResult], pieces: Sequence[Mapping[str, InputResult]]
) -> list[tuple[Finding, tuple[str, ...]]]:
    """Return for each piece what its absence does, and to which inputs. Pure.

    At most 5 % of what stands out is chance (Benjamini-Hochberg over every piece and input, half for each question).
    """
    fails: dict[tuple[int, str], float] = {}
    changes: dict[tuple[int, str], float] = {}
    for place, piece in enumerate(pieces):
        for input_id, before in unchanged.items():
            after = piece.get(input_id, InputResult())
            if before.passes and after.passes:
                fails[place, input_id] = fisher(
                    sum(before.passes), len(before.passes), sum(after.passes), len(after.passes), one_sided=True
                )  # fmt: skip
            if before.texts and after.texts:
                changes[place, input_id] = change(before.texts, after.texts)
    limits = [(family, benjamini_hochberg([*family.values()], REAL / 2)) for family in (fails, changes)]
    found: list[tuple[Finding, tuple[str, ...]]] = []
    for place in range(len(pieces)):
        failing, changing = (
            tuple(key[1] for key, p in family.items() if key[0] == place and p <= most)
            for family, most in limits
        )
        if failing:
            found.append(("tests fail", failing))
        elif changing:
            found.append(("answers change", changing))
        else:
            is_tried = any(key[0] == place for key in fails)
            found.append(("nothing notices" if is_tried else "not exercised", ()))
    return found


def change(before: Sequence[str], after: Sequence[str], seed: int = 0) -> float:
    """Return the probability that two groups of texts differ so much by chance, by shuffling which is whose."""
    words = [_words(text) for text in (*before, *after)]
    apart = [[_apart(one, other) for other in words] for one in words]
    rows, whole = [sum(row) for row in apart], sum(map(sum, apart)) / 2
    many, few = len(before), len(after)

    def distance(group: Sequence[int]) -> float:
        """Return the distance between the groups, less the one within each."""
        own = 0.0
        for i in group:
            row = apart[i]
            for j in group:
                own += row[j]
        own /= 2
        between = sum(rows[i] for i in group) - 2 * own
        other = whole - own - between
        return 2 * between / (many * few) - 2 * own / many**2 - 2 * other / few**2

    seen = distance(range(many)) - 1e-12
    sample = random.Random(seed).sample
    hits = 0
    for shuffles in range(1, _SHUFFLES + 1):
        hits += distance(sample(range(many + few), many)) >= seen
        if hits == _ENOUGH:  # it is chance; more shuffles would only say so again
            return hits / shuffles
    return (hits + 1) / (_SHUFFLES + 1)


def difference(texts: Sequence[str]) -> float:
    """Return how far texts differ from each other on average, from 0 to 1: the share of words that they do not share."""
    pairs = [_apart(one, other) for one, other in combinations([_words(text) for text in texts], 2)]
    return round(sum(pairs) / len(pairs), 3) if pairs else 0.0


def _words(text: str) -> frozenset[str]:
    """Return the words and the pairs of words of a text."""
    words = text.casefold().split()
    return frozenset([*words, *map(" ".join, pairwise(words))])


def _apart(one: frozenset[str], other: frozenset[str]) -> float:
    both = len(one | other)
    return 1 - len(one & other) / both if both else 0.0
