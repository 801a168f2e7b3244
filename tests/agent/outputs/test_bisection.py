"""Bisection and coverage are right as often as they claim: simulations of models of known rates, with fixed seeds."""

from __future__ import annotations

import random

import pytest

from agent.outputs.bisection import Bisection
from agent.outputs.coverage import InputResult, change, difference, findings
from agent.outputs.prompt_pieces import pieces_of, without
from agent.outputs.statistics import benjamini_hochberg, fisher


def bisected(good: float, bad: float, versions: int, chance: random.Random) -> tuple[str, int]:
    """Bisect versions of known rates; return how that ended, and how many samples it took."""
    search, place = Bisection(versions), chance.randrange(versions - 1)
    while (step := search.next()) is not None:
        version, wanted = step
        rate = good if version <= place else bad
        passed = sum(chance.random() < rate for _ in range(wanted - search.samples[version]))
        search.add(version, search.passed[version] + passed, wanted)
    taken = sum(search.samples)
    assert taken <= search.budget
    if not search.is_real():
        return "not real", taken
    first, last = search.bounds()
    if not first <= place < last:
        return "wrong", taken
    return "right" if last == first + 1 else "interval", taken


@pytest.mark.parametrize(
    ("good", "bad", "found"), [(1.0, 0.0, 1.0), (0.95, 0.2, 0.95), (0.2, 0.95, 0.95), (0.8, 0.3, 0.3)]
)
def test_the_right_version_or_an_honest_interval_over_64_versions(
    good: float, bad: float, found: float
) -> None:
    chance, ends = random.Random(5), []
    for _ in range(100):
        ends.append(bisected(good, bad, 64, chance))
    counts = {name: sum(end == name for end, _ in ends) for name in ("right", "wrong")}
    assert counts["wrong"] <= 5 and counts["right"] >= 100 * found
    if (good, bad) == (1.0, 0.0):
        assert max(taken for _, taken in ends) <= 28, (
            "where nothing is left to chance a few samples are enough"
        )


@pytest.mark.parametrize("rate", [0.5, 0.9])
def test_a_verdict_that_did_not_turn_is_called_real_in_at_most_one_of_twenty(rate: float) -> None:
    chance = random.Random(6)
    ends = [bisected(rate, rate, versions, chance)[0] for versions in (2, 64) for _ in range(100)]
    assert len([end for end in ends if end != "not real"]) <= 10


def test_few_versions_are_bisected_too() -> None:
    assert Bisection(1).next() is None and Bisection(0).next() is None
    assert [bisected(1, 0, versions, random.Random(1))[0] for versions in (2, 3, 4)] == ["right"] * 3


def test_probabilities_are_those_of_the_books() -> None:
    assert fisher(8, 8, 0, 8) == pytest.approx(2 / 12870)
    assert fisher(8, 8, 0, 8, one_sided=True) == pytest.approx(1 / 12870)
    assert fisher(3, 4, 1, 4) == pytest.approx(0.4857, abs=1e-4) and fisher(4, 4, 4, 4) == 1
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == 0.04 and benjamini_hochberg([0.03, 0.9]) == 0
    assert benjamini_hochberg([]) == 0


WORDS = [f"w{n}" for n in range(60)]


def shown(chance: random.Random, rate: float, *more: str) -> InputResult:
    """Return eight samples of a model of this rate, whose answers are so many words by chance, and some more."""
    texts = tuple(" ".join([*chance.sample(WORDS, 25), *more]) for _ in range(8))
    return InputResult(tuple(chance.random() < rate for _ in range(8)), texts)


def test_a_piece_without_effect_is_found_out_in_at_most_one_of_twenty_prompts() -> None:
    chance, alarms = random.Random(7), 0
    for trial in range(20):
        rate = (0.5, 0.9)[trial % 2]
        unchanged = {name: shown(chance, rate) for name in "ab"}
        found = findings(unchanged, [{name: shown(chance, rate) for name in "ab"} for _ in range(4)])
        alarms += any(finding != "nothing notices" for finding, _ in found)
    assert alarms <= 1


def test_the_four_findings_are_told_apart() -> None:
    chance = random.Random(8)
    unchanged = {name: shown(chance, 1) for name in "ab"}
    other = {f"x{n}": n for n in range(12)}
    found = findings(
        unchanged,
        [
            {"a": shown(chance, 0), "b": shown(chance, 1)},
            {"a": shown(chance, 1), "b": shown(chance, 1, *other)},
            {"a": shown(chance, 1), "b": shown(chance, 1)},
            {"a": InputResult()},  # a request that failed is no finding
        ],
    )
    assert found == [
        ("tests fail", ("a",)), ("answers change", ("b",)), ("nothing notices", ()), ("not exercised", ()),
    ]  # fmt: skip
    without_expectations = {name: InputResult((), one.texts) for name, one in unchanged.items()}
    assert findings(without_expectations, [without_expectations]) == [("not exercised", ())]


def test_answers_that_never_differ_by_chance_show_every_change() -> None:
    assert change(["Yes."] * 8, ["Yes. Why?"] * 8) < 0.002 and change(["Yes."] * 8, ["Yes."] * 8) == 1
    assert difference(["a b", "a b"]) == 0 and difference(["a", "b"]) == 1 and difference(["a"]) == 0


PROMPT = """\
You are X.
More.

# Rules
Intro:
- one
  more
  - nested
- two
```
code

- no
```

## Sub
Only one.

# Last
a

b
"""


def test_a_prompt_falls_into_sections_paragraphs_and_bullets() -> None:
    pieces = pieces_of(PROMPT)
    assert [(piece.line, piece.end) for piece in pieces] == [
        (1, 2), (4, 17), (5, 5), (6, 8), (9, 14), (16, 17), (19, 22), (20, 20), (22, 22),
    ]  # fmt: skip
    assert pieces[3].text == "- one\n  more\n  - nested"
    assert without(PROMPT, pieces[0]).startswith("# Rules\n")
    assert "Intro:\n- two\n" in without(PROMPT, pieces[3])
    assert "\n\n\n" not in "".join(without(PROMPT, piece) for piece in pieces)
    assert pieces_of("") == pieces_of("One line.") == [], "what is the whole prompt is not taken out"
    assert len(pieces_of("- a\r\n- b\r\n")) == 2 and pieces_of("```\nopen\n\n- a") == []
