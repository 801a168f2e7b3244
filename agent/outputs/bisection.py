"""Which version turned a verdict: what to probe next, and how sure the answer is. Pure.

A version passes at a rate, which changes once between the two ends. Each place of that change has a probability by all
that was seen, so that one unlucky probe is outweighed by later ones.
"""

from __future__ import annotations

import math
from itertools import accumulate

from agent.outputs.statistics import fisher

MOST_SAMPLES = 15
"""Samples of one version, if nothing else is said; twice as many where the last versions cannot be told apart."""
FEWEST_SAMPLES = 5
"""With fewer, no difference of two versions is real."""

_SURE = 0.98
_LOOKS = 0.01, 0.04  # the ends are compared twice: together at most 5 % of false alarms
_STEP = 3


class Bisection:
    """A bisection at work: `next` says what to probe, `add` takes what was seen.

    Args:
        versions: how many there are; the first and the last are the ends.
        most: samples of one version.

    Attributes:
        passed, samples: of each version.
    """

    def __init__(self, versions: int, most: int = MOST_SAMPLES) -> None:
        self.passed = [0] * versions
        self.samples = [0] * versions
        self._most = max(most, FEWEST_SAMPLES)

    @property
    def budget(self) -> int:
        """The most samples it takes of all versions together."""
        return self._most * (3 + math.ceil(math.log2(len(self.samples))))

    def add(self, version: int, passed: int, samples: int) -> None:
        """Take what a version has shown in all by now."""
        self.passed[version], self.samples[version] = passed, samples

    def next(self) -> tuple[int, int] | None:
        """Return which version to probe, and how many samples of it there shall be; None at the end."""
        ends = 0, len(self.samples) - 1
        if ends[1] < 1:
            return None
        if not self.is_real():
            for wanted in (FEWEST_SAMPLES, self._most):
                for version in ends:
                    if self.samples[version] < wanted:
                        return version, wanted
            return None
        behind = self._behind()
        good, bad = _bounds(behind)
        left = self.budget - sum(self.samples)
        if bad == good + 1 or left <= 0:
            return None
        for most in (self._most, 2 * self._most):
            open_ones = [v for v in range(good, bad + 1) if self.samples[v] < most]
            if open_ones:
                version = min(open_ones, key=lambda v: (abs(behind[v] - 0.5), v))
                return version, self.samples[version] + min(_STEP, most - self.samples[version], left)
        return None

    def is_real(self) -> bool:
        """Return whether the two ends differ."""
        fewest = min(self.samples[0], self.samples[-1])
        if fewest < FEWEST_SAMPLES:
            return False
        p = fisher(self.passed[0], self.samples[0], self.passed[-1], self.samples[-1])
        return p < (_LOOKS[1] if fewest >= self._most else _LOOKS[0])

    def bounds(self) -> tuple[int, int]:
        """Return the last version that is surely before the change, and the first that is surely behind it."""
        return _bounds(self._behind())

    def _behind(self) -> list[float]:
        """Return for each version how likely the change is at it or before it."""
        passed, samples = list(accumulate(self.passed)), list(accumulate(self.samples))
        logs = [
            _log_beta(p, n - p) + _log_beta(passed[-1] - p, samples[-1] - n - passed[-1] + p)
            for p, n in zip(passed[:-1], samples[:-1], strict=True)
        ]
        top = max(logs)
        weights = [math.exp(one - top) for one in logs]
        whole = sum(weights)
        return [0.0, *accumulate(one / whole for one in weights)]


def _bounds(behind: list[float]) -> tuple[int, int]:
    tail = (1 - _SURE) / 2
    good = max(version for version, mass in enumerate(behind) if mass <= tail)
    return good, next(version for version, mass in enumerate(behind) if mass >= 1 - tail)


def _log_beta(passed: int, failed: int) -> float:
    """Return how likely so many passes and fails are where nothing is known of the rate."""
    return math.lgamma(passed + 0.5) + math.lgamma(failed + 0.5) - math.lgamma(passed + failed + 1)
