"""The limits of a run: how many steps, how long, how much, and how often the same call may fail; what it has spent."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

from agent.core.model import Usage
from agent.core.turns import ToolCallTurn, thaw


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a run may use up, and bounds of its parts.

    Steps, duration, tokens, cost and repeats end the run with a notice and the outcome `limit` when they are reached.
    The others hold back, cut or give up one request, tool, hook or output.

    Attributes:
        max_steps: requests answered; with 0 none is made, and what was said goes back to the caller.
        max_duration: seconds from start to end, waiting for the user included.
        max_tokens: tokens in and out, summed over the steps; None for no budget.
        max_cost: in the unit of `price`; None for no budget.
        price: `(model name, usage of one request) -> cost`, None where it is unknown. A budget that cannot
            hold, because it is unknown or there is no such function, is said so once, as a notice.
        spent: what counts towards `max_cost` from before this run; with what is used up already, no request is made.
        steps_before: likewise towards `max_steps`.
        tokens_before: likewise towards `max_tokens`.
        whose: what the sentences call that which may use so much: a `run`, or what goes on over several.
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
    spent: float = 0.0
    steps_before: int = 0
    tokens_before: int = 0
    whose: str = "run"
    min_request_interval: float = 0.0
    max_parallel_tools: int = 8
    max_repeats: int = 3
    max_silence: float | None = 20 * 60.0
    hook_timeout: float | None = None
    max_output: int = 200_000


def reached(limits: Limits, *, steps: int, usage: Usage, cost: float = 0.0) -> str | None:
    """Return the sentence that says which limit forbids a further step, or None when none does.

    Args:
        limits: of the run.
        steps: how many it has made.
        usage: tokens of all its requests.
        cost: of all its requests, as far as it is known, and what was spent before.
    """
    if limits.max_steps <= 0:
        return "Nothing was asked: this run may take no steps."
    steps += limits.steps_before
    if steps >= limits.max_steps:
        return f"Stopped after {steps} step{'' if steps == 1 else 's'}, the most one {limits.whose} may take."
    if limits.max_tokens is not None:
        used = limits.tokens_before + usage.tokens
        if used >= limits.max_tokens:
            return f"Stopped after {used:,} tokens; one {limits.whose} may use {limits.max_tokens:,}."
    if limits.max_cost is not None and limits.price is not None and cost >= limits.max_cost:
        return f"Stopped at a cost of {cost:.2f}; one {limits.whose} may cost {limits.max_cost:.2f}."
    return None


class Spending:
    """What a run costs: each request is priced by itself, since prices depend on the length of a prompt.

    Attributes:
        cost: so far, as far as prices are known.
    """

    def __init__(self, limits: Limits, model: str) -> None:
        self.cost = limits.spent
        self._limits = limits
        self._model = model
        self._is_known = limits.max_cost is None or limits.price is not None
        self._notified = False

    def add(self, usage: Usage) -> None:
        """Count one request.

        Raises:
            Exception: whatever the price function raised; TypeError when it gave no number.
        """
        price = self._limits.price
        if self._limits.max_cost is None or price is None:
            return
        cost = price(self._model, usage)
        if cost is None:
            self._is_known = False
        elif isinstance(cost, int | float) and isfinite(cost):
            self.cost += cost
        else:
            raise TypeError(f"a price must be a number or None, not {cost!r:.60}")

    def unknown_price(self) -> str | None:
        """Return, once, the sentence that the budget cannot hold, when that is so."""
        if self._is_known or self._notified:
            return None
        self._notified = True
        return (
            f"The prices of {self._model} are not known here: the cost budget of {self._limits.max_cost:,.2f} "
            "cannot stop this run."
        )


def shorten(text: str, limit: int) -> str:
    """Return `text`, or when it is longer than `limit` characters its head and tail with a note between."""
    if len(text) <= limit:
        return text
    head, tail = limit - limit // 3, limit // 3
    left_out = len(text) - head - tail
    return f"{text[:head]}\n[… {left_out:,} characters left out …]\n{text[len(text) - tail :]}"


class RepeatWatch:
    """Counts for each call with its input how often in a row it has failed.

    Its count starts again when it succeeds, when it is absent from a whole step, and when a tool works that
    the step before did not call: then the model tries something else and gets on.
    """

    def __init__(self, max_repeats: int) -> None:
        self._max = max_repeats
        self._counts: dict[str, int] = {}
        self._here: dict[str, int] = {}  # likewise, of this step alone
        self._tools: set[str] = set()  # called in this step
        self._tools_before: set[str] | None = None  # called in the step before

    def end_step(self) -> None:
        """A step is over: what did not fail in it has no longer failed in a row."""
        if self._counts:
            self._counts = {key: count for key, count in self._counts.items() if key in self._here}
            self._here = {}
        self._tools_before, self._tools = self._tools, set()

    def record(self, call: ToolCallTurn, *, is_error: bool, raw: str = "") -> str | None:
        """Note one result; return the sentence that ends the run when it was one failure too many.

        Args:
            call: the call.
            is_error: whether it failed.
            raw: the input as it came, by which calls whose input could not be read differ.
        """
        self._tools.add(call.tool_name)
        if not is_error and not self._counts:
            return None  # nothing to forget, and a key takes its time
        given = raw if call.fault else json.dumps(thaw(call.input), sort_keys=True)
        key = f"{call.tool_name} {bool(call.fault)} {given}"
        if not is_error:
            self._counts.pop(key, None)
            self._here.pop(key, None)
            if self._tools_before is not None and call.tool_name not in self._tools_before:
                self._counts = dict(self._here)
            return None
        self._here[key] = self._here.get(key, 0) + 1
        self._counts[key] = count = self._counts.get(key, 0) + 1
        if count < self._max:
            return None
        return f"Stopped because {call.tool_name} failed {count} times in a row with the same input."
