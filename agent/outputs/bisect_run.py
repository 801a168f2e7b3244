"""Bisects the versions of a persona by one test input, and takes back the change that was found."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent.outputs.bisection import MOST_SAMPLES, Bisection
from agent.outputs.cost import NOTHING, Estimate
from agent.outputs.evaluator import Evaluator
from agent.outputs.output_log import OutputLog, Stored
from agent.outputs.rate_limiter import RateLimiter
from agent.outputs.report import report_input
from agent.outputs.runner import OutputRun
from agent.outputs.statistics import show_rate
from agent.outputs.variant import Variant, effective_prompt, fault_of_input
from personas.changes import SetPrompt
from personas.errors import Conflict, InvalidValue, PersonaError, UnknownVersion
from personas.files.slug import command
from personas.persona import Persona, TestInput
from personas.store import Store
from personas.versions.authorship import USER, Version
from personas.versions.merge import Hunk, stretches, unified_diff


@dataclass(frozen=True, slots=True)
class Probe:
    """What a version has shown."""

    version: int
    passed: int
    samples: int

    @property
    def sentence(self) -> str:
        """It for the person."""
        return f"version {self.version} passes {show_rate(self.passed, self.samples)}"


@dataclass(frozen=True, slots=True)
class Bisected:
    """What a bisection found.

    Attributes:
        good, bad: the versions between which the verdict turned, as far as that is sure.
        decided: whether it is one change.
        hunk: what changed in the prompt between them, as a unified diff; empty where they do not differ in the verdict.
        probes: in the order of the versions.
        before, after: the prompts of both versions.
        sentence: for the person.
        error: why a version could not be run, empty where all could.
    """

    good: int
    bad: int
    decided: bool
    hunk: str
    probes: tuple[Probe, ...]
    before: str
    after: str
    sentence: str
    error: str = ""

    def to_record(self) -> dict[str, Any]:
        """Return the shape of `bisect --json`."""
        probes = [
            {"version": one.version, "passed": one.passed, "samples": one.samples} for one in self.probes
        ]
        return {
            "good": self.good,
            "bad": self.bad,
            "decided": self.decided,
            "version": self.bad if self.decided else None,
            "hunk": self.hunk,
            "probes": probes,
            "sentence": self.sentence,
            **({"error": self.error} if self.error else {}),
        }  # fmt: skip


class BisectRun:
    """The bisection of a persona's versions, prepared from what is stored; nothing is sent by itself.

    Args:
        evaluator: runs outputs.
        persona: whose versions.
        test_input: whose verdict turned.
        samples: at most, of one version.
        good, bad: the ends. By default the first version that has passed so far, and the text as it is now.
        fixed: whether the text as it is now is stored as a version.
        stored: what the persona's log has, see `Evaluation`.

    Raises:
        InvalidValue: the input has no expectations, or cannot be run.
        UnknownVersion: there is no such version.
        PersonaError: the disk refused.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        persona: Persona,
        test_input: TestInput,
        *,
        samples: int | None = None,
        good: str | int | None = None,
        bad: str | int | None = None,
        fixed: bool = False,
        stored: Stored | None = None,
    ) -> None:
        if fault := fault_of_input(test_input):
            raise InvalidValue(f"The test input {test_input.id} cannot be run: {fault}.")
        if not test_input.expect:
            raise InvalidValue(f"The test input {test_input.id} has no expectations, so it has no verdict.")
        self._evaluator = evaluator
        self._persona = persona
        self._input = test_input
        self._most = samples or MOST_SAMPLES
        now = evaluator.variant(persona, fixed=fixed)
        self._stored = stored or OutputLog(evaluator.store.home, persona.id).read()
        self._judge = evaluator.judge_name(persona, now)
        known = differing_versions(evaluator.store, persona.id, now, bad)
        if good is None:
            first = self._first_passing(known)
        else:
            number = evaluator.store.version_number(persona.id, good)
            first = max((at for at, one in enumerate(known) if one.version <= number), default=len(known))
        self.variants = known[first:]

    @property
    def most(self) -> int:
        """The most outputs it looks at."""
        return Bisection(len(self.variants), self._most).budget if len(self.variants) > 1 else 0

    def estimate(self) -> Estimate:
        """Return what it will take at most."""
        if not self.most:
            return NOTHING
        one = self._evaluation(self.variants[-1], self._most, only_missing=False)
        share = one.estimate(self._evaluator.endpoint)
        times = self.most / self._most
        return Estimate(
            math.ceil(share.requests * times), share.dollars * times, math.ceil(share.unpriced * times)
        )

    async def run(
        self,
        pace: RateLimiter,
        on_run: Callable[[OutputRun | None], None] = lambda _run: None,
        on_probe: Callable[[Probe], None] = lambda _probe: None,
    ) -> Bisected:
        """Probe versions until it is decided which one turned the verdict, or cannot be.

        Args:
            pace: how fast.
            on_run: see `Evaluator.run`.
            on_probe: told what a version has shown by now.

        Raises:
            CancelledError: it was stopped; what is done is kept.
            PersonaError: the disk refused.
        """
        search = Bisection(len(self.variants), self._most)
        error = ""
        while not error and (step := search.next()) is not None:
            place, samples = step
            evaluation = await asyncio.to_thread(self._evaluation, self.variants[place], samples)
            report = (await self._evaluator.run(evaluation, pace, on_run)).inputs[0]
            outcomes = [*report.sample_verdicts.values()]
            judged = len(outcomes) - outcomes.count("error")
            search.add(place, outcomes.count("pass"), judged)
            if judged < samples:
                error = report.sentence
            on_probe(self._probe(search, place))
        return self._result(search, error)

    def _evaluation(self, variant: Variant, samples: int, **options: Any) -> Any:
        return self._evaluator.evaluation(
            self._persona,
            variant,
            [self._input],
            samples=samples,
            judge_model=self._judge,
            stored=self._stored,
            **options,
        )

    def _first_passing(self, known: Sequence[Variant]) -> int:
        for at, variant in enumerate(known[:-1]):
            report = report_input(self._stored, variant, self._input, judge_model=self._judge)
            if report.verdict == "pass" and not report.is_outdated:
                return at
        return 0

    def _probe(self, search: Bisection, place: int) -> Probe:
        return Probe(self.variants[place].version, search.passed[place], search.samples[place])

    def _result(self, search: Bisection, error: str) -> Bisected:
        last = len(self.variants) - 1
        good, bad = search.bounds() if last > 0 and search.is_real() else (0, last)
        first, second = self.variants[good], self.variants[bad]
        decided = last > 0 and bad == good + 1 and search.is_real() and not error
        probes = tuple(self._probe(search, at) for at, samples in enumerate(search.samples) if samples)
        if error:
            sentence = f"stopped between version {first.version} and version {second.version}: {error}"
        elif last < 1:
            sentence = "all versions have the same prompt: nothing to search"
        elif decided:
            sentence = f"version {second.version} changed the verdict of {self._input.id}"
        elif search.is_real():
            sentence = (
                f"the verdict of {self._input.id} changed between version {first.version} and version "
                f"{second.version}; it cannot be narrowed down further"
            )
        else:
            sentence = (
                f"{probes[0].sentence}, {probes[-1].sentence}: no real difference, so nothing to search"
            )
        is_found = error or search.is_real()
        names = f"version {first.version}", f"version {second.version}"
        hunk = unified_diff(first.prompt, second.prompt, *names) if is_found else ""
        return Bisected(
            first.version, second.version, decided, hunk, probes, first.prompt, second.prompt, sentence, error
        )


def differing_versions(
    store: Store, persona_id: str, now: Variant, last: str | int | None = None
) -> list[Variant]:
    """Return the variants of a persona's versions, oldest first, without those whose prompt is that of the one before.

    Versions that are not stored any more, or are broken, are left out.

    Args:
        store: where the persona lives.
        persona_id: which.
        now: the variant of the text as it is now; inputs and settings are taken from there.
        last: the last version; None: the text as it is now.

    Raises:
        UnknownVersion: there is no such version.
    """
    end = now.version if last is None else store.version_number(persona_id, last)
    log = [
        one for one in store.log(persona_id) if one.sha is not None and one.role not in ("kept", "snapshot")
    ]
    prompts: dict[str | None, str | None] = {}  # by the hash of the whole text
    found: list[Variant] = []
    versions: list[tuple[int, str | None, int | Version]] = [(0, None, 0)]
    versions += [(one.number, one.sha, one) for one in reversed(log)]
    for number, sha, version in versions:
        if number > end:
            break
        if sha not in prompts:
            prompts[sha] = _prompt(store, persona_id, version)
        prompt = prompts[sha]
        if prompt is not None and (not found or found[-1].prompt != prompt):
            found.append(replace(now, prompt=prompt, version=number))
    if last is None and (not found or found[-1].prompt != now.prompt):
        found.append(now)
    return found


def _prompt(store: Store, persona_id: str, version: int | Version) -> str | None:
    try:
        persona = store.at_version(persona_id, version)
    except UnknownVersion:
        return None
    if persona.error is not None and not persona.system_prompt:
        return None
    return effective_prompt(store.home, persona)


def revert(store: Store, persona_id: str, found: Bisected) -> tuple[Persona, int]:
    """Take back the change that was found, as a change of its own; what was written since stays.

    Returns:
        The persona, and how many places of the change stay because they were written over since.

    Raises:
        Conflict: all of it was; nothing was changed.
        PersonaError: what changed are links, not the prompt; see also `Store.change`.
    """
    persona = store.get(persona_id)
    now = persona.system_prompt
    before, after = found.before, found.after
    if persona.is_linked:  # those are effective prompts
        before, after = (
            store.at_version(persona_id, number).system_prompt for number in (found.good, found.bad)
        )
        if before == after:
            raise PersonaError(
                f"Version {found.bad} of {persona_id} changed links, not the prompt; "
                f"`{command('undo', persona_id)} {found.bad}` undoes it."
            )
    parts = list(stretches(after, now, before))
    text = "".join(part.ours if isinstance(part, Hunk) else part for part in parts)
    if text == now:
        raise Conflict(
            f"Version {found.bad} of {persona_id} cannot be reverted: all of it was changed since.",
            base=after, ours=before, theirs=now,
        )  # fmt: skip
    reason = f"Revert the prompt's change of version {found.bad}"
    changed = store.change(
        persona_id, SetPrompt(text), revision=persona.revision, by=USER, reason=reason, own_unit=True
    )
    return changed, sum(isinstance(part, Hunk) for part in parts)


def left_places(number: int) -> str:
    """Return how a revert tells the places that stay, empty for none."""
    if number == 1:
        return "; 1 place that was written over since stays"
    return f"; {number} places that were written over since stay" if number else ""
