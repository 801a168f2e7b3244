"""When a failed request is worth another attempt, and how long to wait before it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent.core.model import ErrorKind, ModelError

NEVER: frozenset[ErrorKind] = frozenset(
    {"authentication", "permission", "not_found", "invalid_request", "too_large", "spend_limit", "client"}
)
NEVER_STATUS = frozenset({400, 401, 402, 403, 404, 413, 422})


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How patient the loop is with a server.

    Attributes:
        retries: further attempts after the first.
        base: seconds before the first of them; each further wait doubles.
        longest: the most our own back-off waits, in seconds.
        longest_asked: the most a server's `retry-after` is followed; beyond it the run fails and says so.
    """

    retries: int = 4
    base: float = 1.0
    longest: float = 30.0
    longest_asked: float = 60.0


@dataclass(frozen=True, slots=True)
class Wait:
    """Try again in `delay` seconds; `attempt` is the number of the retry, from 1."""

    attempt: int
    delay: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Do not try again; `error` is what the person is shown."""

    error: ModelError


def decide(error: ModelError, failures: int, policy: RetryPolicy, jitter: float) -> Wait | GiveUp:
    """Return what to do after the `failures`-th failed attempt of a request (counted from 1).

    Args:
        error: why the attempt failed.
        failures: attempts that failed so far.
        policy: how patient to be.
        jitter: a random number from 0 to 1; spreads the attempts of many programs.
    """
    if not error.retryable or error.kind in NEVER or error.status in NEVER_STATUS:
        return GiveUp(error)
    if failures > policy.retries:
        made = f" ({failures} attempts were made.)" if failures > 1 else ""
        return GiveUp(replace(error, message=error.message + made))
    asked = error.retry_after
    if asked is None or asked != asked or asked < 0:  # absent, or not a number of seconds at all
        delay = min(policy.longest, policy.base * 2 ** (failures - 1))
        return Wait(failures, delay * (0.75 + 0.5 * jitter))
    if asked > policy.longest_asked:
        wait = f"The server asks to wait {asked:,.0f} seconds; send the message again after that."
        return GiveUp(replace(error, message=f"{error.message} {wait}"))
    return Wait(failures, min(policy.longest_asked, asked + jitter * min(1.0, 0.1 * asked + 0.1)))
