"""What tokens cost at Anthropic's own API, from one dated table; where it does not say, the answer is None."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.core.model import Usage
from agent.models.anthropic.endpoint import OFFICIAL, is_official


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens.

    Attributes:
        input, output: fresh input, and output.
        cache_write: input that is written to the five-minute cache.
        cache_read: input that is read from the cache.
        up_to: the largest prompt in tokens (cached ones too) this price is for, or None.
    """

    input: float
    output: float
    cache_write: float
    cache_read: float
    up_to: int | None = None


# As published on 2026-11-27. One model may have several prices, the one for the shortest prompts first.
PRICES: dict[str, tuple[Price, ...]] = {
    "claude-haiku-5-5": (
        Price(0.10, 0.50, 0.125, 0.01, up_to=100_000),
        Price(0.50, 2.50, 0.625, 0.05),
    ),
    "claude-sonnet-5-5": (Price(2.0, 10.0, 2.50, 0.10),),
    "claude-opus-5-5": (Price(4.0, 20.0, 5.0, 0.20),),
    "claude-fable-5-1": (Price(10.0, 50.0, 12.50, 0.25),),
    "claude-fable-5": (Price(10.0, 50.0, 12.50, 1.0),),
    "claude-sonnet-5": (Price(2.0, 10.0, 2.50, 0.20),),
    "claude-opus-5": (Price(5.0, 25.0, 6.25, 0.50),),
    "claude-opus-4-8": (Price(5.0, 25.0, 6.25, 0.50),),
    "claude-opus-4-7": (Price(5.0, 25.0, 6.25, 0.50),),
    "claude-opus-4-6": (Price(5.0, 25.0, 6.25, 0.50),),
    "claude-opus-4-5": (Price(5.0, 25.0, 6.25, 0.50),),
    "claude-haiku-4-5": (Price(1.0, 5.0, 1.25, 0.10),),
}


def cost(model: str, usage: Usage, endpoint: str = OFFICIAL) -> float | None:
    """Return what one request cost in US dollars, or None where the price is unknown.

    Args:
        model: the name on the wire; a date behind it (`-20251101`) makes no difference.
        usage: the tokens of that one request, not of a run: prices depend on the length of a prompt.
        endpoint: a server other than Anthropic's has prices of its own, which are unknown.
    """
    prices = PRICES.get(re.sub(r"-20\d{6}$", "", model))
    if prices is None or not is_official(endpoint):
        return None
    prompt = usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
    price = next((one for one in prices if one.up_to is None or prompt <= one.up_to), None)
    if price is None:
        return None
    return (
        usage.input_tokens * price.input
        + usage.output_tokens * price.output
        + usage.cache_creation_input_tokens * price.cache_write
        + usage.cache_read_input_tokens * price.cache_read
    ) / 1_000_000


def show_cost(dollars: float | None) -> str:
    """Return a cost as the person reads it: `$0.01`, `<$0.01`, or `unknown cost`."""
    if dollars is None:
        return "unknown cost"
    if 0 < dollars < 0.005:
        return "<$0.01"
    return f"${dollars:,.2f}"


def spent_parts(usage: Usage, cost: float | None) -> list[str]:
    """Return tokens and cost in words, as far as there are any; an unknown price is not named."""
    total = (
        usage.input_tokens
        + usage.output_tokens
        + usage.cache_creation_input_tokens
        + usage.cache_read_input_tokens
    )
    parts = [f"{short_count(total)} tok"] if total else []
    return [*parts, show_cost(cost)] if cost else parts


def short_count(number: int) -> str:
    """Return `950`, `1.2k`, `3.4M`."""
    for size, sign in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.1f}{sign}"
    return str(number)
