"""What is said of a difference is true as often as it claims: known values, and simulations with fixed seeds."""

from __future__ import annotations

import random

import pytest

from agent.outputs.statistics import compare, mcnemar, more_to_decide, show_rate, sign_flip, wilson


def test_intervals_are_those_of_the_books() -> None:
    assert show_rate(5, 5) == "5 of 5 (57 to 100 %)"
    assert show_rate(0, 10) == "0 of 10 (0 to 28 %)"
    low, high = wilson(8, 10)
    assert (round(low, 3), round(high, 3)) == (0.490, 0.943)
    assert wilson(0, 0) == (0.0, 1.0)


def test_changed_verdicts_are_weighed_exactly() -> None:
    assert mcnemar(0, 0) == 1 and mcnemar(3, 0) == 0.25
    assert mcnemar(8, 0) == pytest.approx(2 / 256) and mcnemar(5, 5) == 1


def single(broke: int, fixed: int, same: int) -> list[tuple[list[bool], list[bool]]]:
    return [([True], [False])] * broke + [([False], [True])] * fixed + [([True], [True])] * same


@pytest.mark.parametrize(
    ("broke", "fixed", "words"),
    [
        (3, 0, "broke 3, fixed 0: too few to tell; 3 more that change the same way would decide"),
        (8, 0, "broke 8, fixed 0: real (p 0.008)"),
        (0, 20, "broke 0, fixed 20: real (p < 0.001)"),
        (0, 0, "broke 0, fixed 0: no difference seen on 4 inputs"),
        (5, 4, "may be chance (p 1.00)"),
    ],
)
def test_the_sentence_says_how_sure_it_is(broke: int, fixed: int, words: str) -> None:
    assert words in compare(single(broke, fixed, 4)).sentence


def test_how_many_more_would_decide_is_the_least_number() -> None:
    for broke, fixed in ((1, 0), (3, 0), (4, 2), (5, 4)):
        more = more_to_decide(broke, fixed)
        assert more and mcnemar(broke + more, fixed) < 0.05 <= mcnemar(broke + more - 1, fixed)


def test_signs_are_flipped_exactly_or_by_a_sample() -> None:
    assert sign_flip([1] * 6) == 2 / 64 and sign_flip([]) == 1 and sign_flip([1, -1]) == 1
    assert sign_flip([0.5] * 30) < 0.001
    assert sign_flip([1, -1] * 15) > 0.5


def false_alarms(inputs: int, samples: int, trials: int, seed: int) -> float:
    """How often two versions of the same rates are called different."""
    chance = random.Random(seed)
    alarms = 0
    for _ in range(trials):
        pairs = []
        for _ in range(inputs):
            rate = chance.choice((0.2, 0.5, 0.8, 0.95))
            one, other = ([chance.random() < rate for _ in range(samples)] for _ in range(2))
            pairs.append((one, other))
        alarms += compare(pairs).is_real
    return alarms / trials


@pytest.mark.parametrize(
    ("inputs", "samples", "trials"), [(12, 1, 600), (40, 1, 300), (8, 5, 200), (12, 3, 100)]
)
def test_no_difference_is_called_real_in_at_most_one_of_twenty(
    inputs: int, samples: int, trials: int
) -> None:
    assert false_alarms(inputs, samples, trials, seed=7) <= 0.05


def test_a_clear_difference_is_found() -> None:
    chance = random.Random(11)
    found = 0
    for _ in range(40):
        pairs = [
            ([chance.random() < 0.9 for _ in range(5)], [chance.random() < 0.2 for _ in range(5)])
            for _ in range(12)
        ]
        found += compare(pairs).is_real
    assert found >= 39


def test_the_interval_holds_the_true_rate() -> None:
    chance = random.Random(3)
    for rate in (0.1, 0.5, 0.9):
        held = 0
        for _ in range(1000):
            low, high = wilson(sum(chance.random() < rate for _ in range(20)), 20)
            held += low <= rate <= high
        assert held >= 930
