"""The verdicts on a persona's outputs: each expectation of each sample, each input, all of them together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agent.core.model import Model
from agent.outputs.expectations import RUBRIC, Outcome, Verdict, check, decide, of_all, verdict_of
from agent.outputs.judge import judge_rubric
from agent.outputs.output_log import Output, OutputLog, Stored, outdated, rubric_hash, stored_verdict
from agent.outputs.rate_limiter import RateLimiter, at_once
from agent.outputs.statistics import show_rate
from agent.outputs.variant import Variant, fault_of_input, needed_of, samples_of
from personas.persona import Persona, TestInput
from personas.test_inputs import Expectation

InputVerdict = Literal["pass", "fail", "error", "none"]
_IN_WORDS: dict[InputVerdict, str] = {
    "pass": "passed",
    "fail": "failed",
    "error": "could not be run",
    "none": "without expectations",
}
NO_OUTPUT = "there is no output of it yet"
IN_BATCH = "its output is in a batch that is not done yet"
NOT_JUDGED = "no model has judged it yet"


@dataclass(frozen=True, slots=True)
class Judging:
    """One rubric that a judge is to be asked about one output."""

    output: Output
    test_input: TestInput
    rubric: Expectation


@dataclass(frozen=True)
class InputReport:
    """What came of one test input.

    Attributes:
        id: of the input.
        verdict: `none` where it has no expectations.
        passed, samples: how many samples passed, of how many.
        is_outdated: whether an output was made from something else than there is now.
        expectations: the verdict on each, over all samples.
        outputs: what was judged, by sample.
        reason: why it could not be run, empty where it could.
    """

    id: str
    verdict: InputVerdict
    passed: int
    samples: int
    is_outdated: bool
    expectations: tuple[Verdict, ...]
    outputs: Mapping[int, Output]
    sample_verdicts: Mapping[int, Outcome]
    reason: str = ""

    @property
    def could_not_run(self) -> bool:
        """Whether something about it is missing, so that no verdict on the prompt as it is can be trusted."""
        return self.verdict == "error" or self.is_outdated or bool(self.reason)

    @property
    def is_broken(self) -> bool:
        """Whether it cannot be run as it is written."""
        return bool(self.reason) and not self.outputs and self.reason != NO_OUTPUT

    @property
    def is_open(self) -> bool:
        """Whether its verdict waits for a judge or for more outputs: an error that nothing has caused."""
        reasons = {one.reason.partition(" (")[0] for one in self.expectations if one.verdict == "error"}
        is_error = self.verdict == "error" and self.reason in ("", NO_OUTPUT)
        return is_error and reasons <= {NOT_JUDGED, NO_OUTPUT}

    @property
    def sample_passes(self) -> list[bool]:
        """Whether each sample passed; one that could not be judged is none."""
        return [one == "pass" for one in self.sample_verdicts.values() if one != "error"]

    @property
    def sentence(self) -> str:
        """Why its verdict is what it is, as a clause."""
        failing = [one for one in self.expectations if one.verdict == self.verdict != "pass"]
        words = self.reason or "; ".join(f"{one.type}: {one.reason}" for one in failing)
        is_judged = self.verdict not in ("none", "error")
        rate = show_rate(self.passed, self.samples) if self.samples > 1 and is_judged else ""
        if self.verdict == "none" and not words:
            words = "no expectations"
        parts = (rate, words, "outdated" if self.is_outdated else "")
        return ", ".join(part for part in parts if part)

    def to_record(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "id": self.id,
            "verdict": self.verdict,
            "passed": self.passed,
            "samples": self.samples,
            "outdated": self.is_outdated,
            "expectations": [one.to_record() for one in self.expectations],
            **({"reason": self.reason} if self.reason else {}),
        }


@dataclass(frozen=True, slots=True)
class PersonaReport:
    """What came of all test inputs of a persona; `error` says why its file cannot be run.

    Attributes:
        stage: of its arc, where its stages are tried one by one.
    """

    id: str
    inputs: tuple[InputReport, ...]
    error: str = ""
    stage: str = ""

    @property
    def title(self) -> str:
        """Whose it is, in words."""
        return f"{self.id}, stage {self.stage}" if self.stage else self.id

    @property
    def summary(self) -> str:
        """How many inputs have which verdict, or why the file cannot be run."""
        counts = ((self.count(verdict), words) for verdict, words in _IN_WORDS.items())
        return self.error or ", ".join(f"{n} {words}" for n, words in counts if n) or "no test inputs"

    def count(self, verdict: InputVerdict) -> int:
        """Return how many inputs have this verdict; a broken file is one error."""
        return sum(one.verdict == verdict for one in self.inputs) + int(
            verdict == "error" and bool(self.error)
        )

    def to_record(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        counts = {"passed": self.count("pass"), "failed": self.count("fail"), "errors": self.count("error")}
        error = {"error": self.error} if self.error else {}
        stage = {"stage": self.stage} if self.stage else {}
        return {"id": self.id, **stage, "inputs": [one.to_record() for one in self.inputs], **counts, **error}


def exit_code(reports: Sequence[PersonaReport]) -> int:
    """Return 4 where something could not be run, 1 where an expectation failed, else 0."""
    if any(report.error for report in reports):
        return 4
    inputs = [one for report in reports for one in report.inputs]
    if any(one.could_not_run for one in inputs):
        return 4
    return 1 if any(one.verdict == "fail" for one in inputs) else 0


def judge_name(persona: Persona, setting: str, model: str | None) -> str | None:
    """Return the name of the model that judges a persona's rubrics: its own, the setting's, else the run's."""
    return persona.judge or setting or model


def verdicts_of(
    stored: Stored, output: Output, test_input: TestInput, judge_model: str | None
) -> list[Verdict]:
    """Return the verdict on each expectation of one output; a rubric that nobody judged yet is an error."""
    if output.error is not None:
        return [verdict_of(one, "error", output.error) for one in test_input.expect]
    found = []
    for expectation in test_input.expect:
        if expectation.base != RUBRIC:
            found.append(check(expectation, output.facts))
            continue
        known = stored_verdict(stored, output, expectation, judge_model)
        found.append(known or verdict_of(expectation, "error", NOT_JUDGED))
    return found


def outcome_so_far(output: Output, verdicts: Sequence[Verdict]) -> InputVerdict:
    """Return the verdict on one output by these on each expectation: `none` without any, and while it waits for a judge."""
    outcome = _outcome(output, verdicts)
    errors = {one.reason for one in verdicts if one.verdict == "error"}
    is_open = output.error is None and (not verdicts or (outcome == "error" and errors == {NOT_JUDGED}))
    return "none" if is_open else outcome


def _outcome(output: Output, verdicts: Sequence[Verdict]) -> Outcome:
    return "error" if output.error is not None else of_all(one.verdict for one in verdicts)


def missing_judgements(
    stored: Stored, outputs: Iterable[Output], test_input: TestInput, judge_model: str
) -> list[Judging]:
    """Return the rubrics that this judge has not judged."""
    return [
        Judging(output, test_input, one)
        for output in outputs
        if output.error is None
        for one in test_input.expect
        if one.base == RUBRIC and stored_verdict(stored, output, one, judge_model) is None
    ]


async def judge_missing(
    log: OutputLog,
    stored: Stored,
    missing: Sequence[Judging],
    judge_model: Model,
    pace: RateLimiter,
    jobs: int,
) -> None:
    """Ask the judge; verdicts are stored and added to `stored`, errors only added, so that they are asked again.

    Raises:
        PersonaError: the disk refused.
    """
    left = deque(missing)

    async def next_one() -> bool:
        if not left:
            return False
        one = left.popleft()
        verdict = await judge_rubric(pace, judge_model, one.test_input, one.rubric, one.output)
        if verdict.verdict != "error":
            await asyncio.to_thread(log.append_verdict, one.output.id, one.rubric, judge_model.name, verdict)
        stored.verdicts[one.output.id, rubric_hash(one.rubric), judge_model.name] = verdict
        return True

    await at_once(min(jobs, len(left)), next_one)


def report_input(
    stored: Stored,
    variant: Variant,
    test_input: TestInput,
    *,
    samples: int | None = None,
    min_pass: int | None = None,
    judge_model: str | None = None,
    made: Mapping[tuple[str, int], Output] | None = None,
    outdated_too: bool = False,
) -> InputReport:
    """Return the verdict on one test input.

    Args:
        stored: what the log has.
        variant: what the outputs must have been made from.
        test_input: the input.
        samples, min_pass: these beat the file.
        judge_model: whose verdicts on rubrics count; None: anybody's.
        made: what this very run made, by input and sample, which counts before what is stored, also an error.
        outdated_too: where there is no fresh output an outdated one is judged, and told to be so; always so without
            a model.
    """
    wanted = samples_of(test_input, samples)
    needed = needed_of(test_input, wanted, min_pass)
    outputs = stored.fresh(variant, test_input, wanted)
    if outdated_too or variant.model is None:
        outputs = {**stored.newest(test_input, wanted), **outputs}
    for (input_id, sample), output in (made or {}).items():
        if input_id == test_input.id and sample <= wanted:
            outputs[sample] = output
    reason = fault_of_input(test_input)
    errors = [one.error for one in outputs.values() if one.error is not None]
    if not reason and (errors or len(outputs) < wanted):
        in_batch = stored.in_batches(variant, test_input)
        reason = errors[0] if errors else IN_BATCH if in_batch else NO_OUTPUT
    by_sample = {
        sample: verdicts_of(stored, outputs[sample], test_input, judge_model) for sample in sorted(outputs)
    }
    of_sample = {sample: _outcome(outputs[sample], verdicts) for sample, verdicts in by_sample.items()}
    missing: list[Outcome] = ["error"] * (wanted - len(outputs))
    verdict: InputVerdict = decide([*of_sample.values(), *missing], needed)
    if test_input.error is not None:
        verdict = "error"
    elif not test_input.expect and verdict != "error":
        verdict = "none"
    return InputReport(
        id=test_input.id,
        verdict=verdict,
        passed=0 if verdict == "none" else sum(one == "pass" for one in of_sample.values()),
        samples=wanted,
        is_outdated=any(outdated(one, variant, test_input) for one in outputs.values()),
        expectations=tuple(_over_samples(test_input, list(by_sample.values()), needed)),
        outputs=outputs,
        sample_verdicts=of_sample,
        reason=reason if verdict == "error" else "",
    )


def _over_samples(test_input: TestInput, samples: Sequence[Sequence[Verdict]], needed: int) -> list[Verdict]:
    """Return the verdict on each expectation over all samples, with the reason of the first that has it."""
    found = []
    for place, expectation in enumerate(test_input.expect):
        verdicts = [verdicts[place] for verdicts in samples]
        if not verdicts:
            found.append(verdict_of(expectation, "error", NO_OUTPUT))
            continue
        outcome = decide((one.verdict for one in verdicts), min(needed, len(verdicts)))
        reason = next((one.reason for one in verdicts if one.verdict == outcome), verdicts[0].reason)
        if len(verdicts) > 1:
            reason += f" ({sum(one.verdict == 'pass' for one in verdicts)} of {len(verdicts)} pass)"
        found.append(verdict_of(expectation, outcome, reason))
    return found
