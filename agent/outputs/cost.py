"""What a run will cost, estimated before it begins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.core.model import Usage
from agent.models.anthropic.request_body import length_of
from agent.models.prices import cost, show_cost
from agent.outputs.output_log import Stored
from agent.outputs.runner import PlannedSample

CHARACTERS_PER_TOKEN = 3.5
USUAL_ANSWER = 500
"""Tokens of an answer where the input has no output yet."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run takes.

    Attributes:
        requests: how many requests.
        dollars: of those whose price is known.
        unpriced: requests whose price is unknown.
    """

    requests: int
    dollars: float
    unpriced: int

    def __add__(self, other: Estimate) -> Estimate:
        """Return both together."""
        return Estimate(
            self.requests + other.requests, self.dollars + other.dollars, self.unpriced + other.unpriced
        )

    def times(self, share: float) -> Estimate:
        """Return it at a share of the price."""
        return Estimate(self.requests, self.dollars * share, self.unpriced)

    def must_ask(self, confirm_dollars: float, confirm_requests: int) -> bool:
        """Return whether the person is asked first: above a cost, or above a number where the cost is unknown."""
        return self.dollars > confirm_dollars or self.unpriced > confirm_requests

    def sentence(self) -> str:
        """Return it for the person: `24 requests, about $0.05`."""
        many = f"{self.requests} request{'' if self.requests == 1 else 's'}"
        known = f"about {show_cost(self.dollars)}" if self.requests > self.unpriced else ""
        unknown = f"{self.unpriced} of them at an unknown price" if self.unpriced else ""
        return ", ".join(part for part in (many, known, unknown) if part)


NOTHING = Estimate(0, 0.0, 0)


def estimate(trials: Sequence[PlannedSample], stored: Stored, endpoint: str) -> Estimate:
    """Return what these outputs will take, going by the answers that are stored."""
    usual = {one.input_id: one.usage.output_tokens for one in stored.outputs if one.usage.output_tokens}
    total = NOTHING
    for trial in trials:
        sent = int(length_of(trial.variant.request(trial.test_input)) / CHARACTERS_PER_TOKEN)
        answer = usual.get(trial.test_input.id, USUAL_ANSWER)
        answer = min(answer, trial.variant.max_tokens or answer)
        total += _of_request(trial.variant.model or "", sent, answer, endpoint)
    return total


def estimate_judging(characters: Iterable[int], judge: str, endpoint: str) -> Estimate:
    """Return what so many judgements will take, each of so many characters."""
    total = NOTHING
    for length in characters:
        total += _of_request(judge, int((length + 1_500) / CHARACTERS_PER_TOKEN), 120, endpoint)
    return total


def _of_request(model: str, sent: int, answer: int, endpoint: str) -> Estimate:
    dollars = cost(model, Usage(input_tokens=sent, output_tokens=answer), endpoint)
    return Estimate(1, dollars or 0.0, 0 if dollars is not None else 1)
