"""The limits of a run: how many steps, how long, how much, and how often a call may fail the same way."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from agent.models.base import Usage
from agent.turns import ToolCallTurn, thaw


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a run may use up. Reaching a limit ends it with a notice and the outcome `limit`.

    Attributes:
        max_steps: requests answered; with 0 none is made, and what was said goes back to the caller.
        max_duration: seconds from start to end, waiting for the user included.
        max_tokens: tokens in and out, summed over the steps; None for no budget.
        max_cost: in the unit of `price`; None for no budget.
        price: `(model name, usage) -> cost`, None where it is unknown (then the cost budget cannot hold).
        min_request_interval: seconds between the starts of two requests.
        max_parallel_tools: tools that run at one time.
        max_repeats: times in a row the same call with the same input may fail.
        max_silence: seconds without any event from the model until the request is given up; the model's own
            stall clocks are finer, this one holds for any model.
        hook_timeout: seconds a hook, or one of the functions given to the agent, may take; None waits (for
            an approval, say).
        max_output: characters of a tool's output that are kept; the middle of a longer one is left out.
    """

    max_steps: int = 50
    max_duration: float | None = 30 * 60.0
    max_tokens: int | None = None
    max_cost: float | None = None
    price: Callable[[str, Usage], float | None] | None = None
    min_request_interval: float = 0.0
    max_parallel_tools: int = 8
    max_repeats: int = 3
    max_silence: float | None = 20 * 60.0
    hook_timeout: float | None = None
    max_output: int = 200_000


def reached(limits: Limits, *, steps: int, usage: Usage, model: str) -> str | None:
    """Return the sentence that says which limit forbids a further step, or None when none does."""
    if limits.max_steps <= 0:
        return "Nothing was asked: this run may take no steps."
    if steps >= limits.max_steps:
        return f"Stopped after {steps} steps, the most one run may take."
    if limits.max_tokens is not None:
        used = (
            usage.input_tokens
            + usage.output_tokens
            + usage.cache_creation_input_tokens
            + usage.cache_read_input_tokens
        )
        if used >= limits.max_tokens:
            return f"Stopped after {used:,} tokens; one run may use {limits.max_tokens:,}."
    if limits.max_cost is not None and limits.price is not None:
        cost = limits.price(model, usage)
        if cost is not None and cost >= limits.max_cost:
            return f"Stopped at a cost of {cost:.2f}; one run may cost {limits.max_cost:.2f}."
    return None


def shorten(text: str, limit: int) -> str:
    """Return `text`, or when it is longer than `limit` characters its head and tail with a note between."""
    if len(text) <= limit:
        return text
    head, tail = limit - limit // 3, limit // 3
    left_out = len(text) - head - tail
    return f"{text[:head]}\n[… {left_out:,} characters left out …]\n{text[len(text) - tail :]}"


class RepeatWatch:
    """Counts how often in a row the same call with the same input has failed."""

    def __init__(self, max_repeats: int) -> None:
        self._max = max_repeats
        self._last = ""
        self._count = 0

    def saw(self, call: ToolCallTurn, *, is_error: bool, raw: str = "") -> str | None:
        """Note one result; return the sentence that ends the run when it was one failure too many.

        Args:
            call: the call.
            is_error: whether it failed.
            raw: the input as it came, which tells apart calls whose input could not be read.
        """
        if not is_error:
            self._last, self._count = "", 0
            return None
        given = raw if call.fault else json.dumps(thaw(call.input), sort_keys=True)
        key = f"{call.tool_name} {bool(call.fault)} {given}"
        self._count = self._count + 1 if key == self._last else 1
        self._last = key
        if self._count < self._max:
            return None
        return f"Stopped because {call.tool_name} failed {self._count} times in a row with the same input."
