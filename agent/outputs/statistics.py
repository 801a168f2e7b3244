"""How sure a difference is: intervals and exact tests in plain Python, and their words. Pure.

Repeats of one input are not independent, so two versions are compared input by input.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

REAL = 0.05
"""Below this probability a difference is called real."""

_Z = 1.959963984540054  # of the 95 % interval
_MOST_EXACT = 14  # inputs whose signs are all tried; beyond that a sample of them is
_FLIPS = 20_000
_MOST_MORE = 200


def wilson(passed: int, samples: int) -> tuple[float, float]:
    """Return the 95 % interval of a rate of which `passed` of `samples` were seen."""
    if samples == 0:
        return 0.0, 1.0
    rate, square = passed / samples, _Z * _Z
    middle = (rate + square / (2 * samples)) / (1 + square / samples)
    spread = rate * (1 - rate) / samples + square / (4 * samples * samples)
    half = _Z * math.sqrt(spread) / (1 + square / samples)
    return max(0.0, middle - half), min(1.0, middle + half)


def show_rate(passed: int, samples: int) -> str:
    """Return a rate as the person reads it: `5 of 5 (57 to 100 %)`."""
    low, high = wilson(passed, samples)
    return f"{passed} of {samples} ({low * 100:.0f} to {high * 100:.0f} %)"


def mcnemar(broke: int, fixed: int) -> float:
    """Return the exact two-sided probability of so uneven a split of changed verdicts, if both were as likely."""
    changed = broke + fixed
    tail = sum(math.comb(changed, k) for k in range(min(broke, fixed) + 1))
    return min(1.0, 2 * tail / float(2**changed))


def fisher(
    passed: int, samples: int, other_passed: int, other_samples: int, *, one_sided: bool = False
) -> float:
    """Return the exact probability of so uneven a split of passes, if both had the same rate.

    One-sided: of so many passes of the first, and more.
    """
    all_passed, whole = passed + other_passed, samples + other_samples
    ways = {
        k: math.comb(samples, k) * math.comb(other_samples, all_passed - k)
        for k in range(max(0, all_passed - other_samples), min(samples, all_passed) + 1)
    }
    found = sum(way for k, way in ways.items() if (k >= passed if one_sided else way <= ways[passed]))
    return found / math.comb(whole, all_passed)


def benjamini_hochberg(probabilities: Sequence[float], share: float = REAL) -> float:
    """Return the probability up to which findings count, so that at most this share of them is chance; 0: none does."""
    ordered = sorted(probabilities)
    return max((p for rank, p in enumerate(ordered, 1) if p <= share * rank / len(ordered)), default=0.0)


def sign_flip(differences: Sequence[float], seed: int = 0) -> float:
    """Return the two-sided probability of so large a sum of differences, if each could as well be negative."""
    values = [value for value in differences if value]
    seen = abs(sum(values)) - 1e-12
    if len(values) <= _MOST_EXACT:
        sums = [abs(sum(s * v for s, v in zip(signs, values, strict=True)))
                for signs in product((1, -1), repeat=len(values))]  # fmt: skip
        return sum(one >= seen for one in sums) / len(sums)
    choose = random.Random(seed).choice
    extreme = sum(abs(sum(choose((value, -value)) for value in values)) >= seen for _ in range(_FLIPS))
    return (extreme + 1) / (_FLIPS + 1)


@dataclass(frozen=True, slots=True)
class Finding:
    """What two versions show on the same inputs.

    Attributes:
        broke, fixed: inputs that pass less often, and more often, in the second version.
        p: the probability of that by chance.
        sentence: for the person.
    """

    broke: int
    fixed: int
    p: float
    sentence: str

    @property
    def is_real(self) -> bool:
        """Whether the difference is called real."""
        return self.p < REAL


def compare(pairs: Sequence[tuple[Sequence[bool], Sequence[bool]]]) -> Finding:
    """Compare two versions: for each input whether each sample passed, in the first and in the second one."""
    pairs = [(before, after) for before, after in pairs if before and after]
    changes = [sum(after) / len(after) - sum(before) / len(before) for before, after in pairs]
    broke, fixed = sum(one < 0 for one in changes), sum(one > 0 for one in changes)
    is_single = all(len(before) == len(after) == 1 for before, after in pairs)
    p = mcnemar(broke, fixed) if is_single else sign_flip(changes)
    return Finding(broke, fixed, p, _sentence(broke, fixed, p, len(pairs), changes))


def _sentence(broke: int, fixed: int, p: float, inputs: int, changes: Sequence[float]) -> str:
    if not inputs:
        return "nothing to compare: no input has a verdict in both"
    counts = f"broke {broke}, fixed {fixed}"
    if not broke and not fixed:
        return f"{counts}: no difference seen on {inputs} input{'' if inputs == 1 else 's'}"
    if p < REAL:
        return f"{counts}: real (p {p:.3f})" if p >= 0.0005 else f"{counts}: real (p < 0.001)"
    more = more_to_decide(broke, fixed)
    if mcnemar(0, broke + fixed) >= REAL:
        return f"{counts}: too few to tell; {more} more that change the same way would decide"
    hint = f"; {more} more the same way would decide" if more is not None else ""
    return f"{counts}: may be chance (p {p:.2f}){hint}"


def more_to_decide(broke: int, fixed: int) -> int | None:
    """Return how many more changed inputs, all in the direction of most of them, would make it real; None: too many."""
    low, high = sorted((broke, fixed))
    return next((more for more in range(_MOST_MORE) if mcnemar(low, high + more) < REAL), None)
