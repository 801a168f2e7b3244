"""How fast the requests of a run leave: so many at once, and all of them slower when the server says so."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from agent.core.clock import Clock, SystemClock
from agent.core.model import Model, ModelError, Request, Usage
from agent.core.retry import GiveUp, RetryPolicy, decide
from agent.models.prices import cost
from agent.outputs.model_reply import ModelReply, request

LONGEST_ASKED = 600.0
"""Seconds; a server that asks to wait longer ends the run."""
MOST_PAUSES = 30
"""So many pauses in a row, with no answer between them, end the run."""

_OVERLOADED = ("rate_limit", "overloaded")


class RateLimiter:
    """Shared by all requests of a run, also those to judges. Belongs to one event loop.

    Args:
        jobs: requests at once.
        retries: further attempts of one request. Refusals for rate are no failures of the request; twice as many
            overloads in a row, with no answer between them, end the run.
        backoff: seconds before the first of them; each further wait doubles.
        clock: the time.

    Attributes:
        usage: tokens of all attempts.
        cost: of all attempts in US dollars, None where a price is unknown.
    """

    def __init__(
        self,
        jobs: int = 4,
        *,
        retries: int = 4,
        backoff: float = 1.0,
        clock: Clock | None = None,
    ) -> None:
        self.usage = Usage()
        self.cost: float | None = 0.0
        self._jobs = self._limit = max(1, jobs)
        self._policy = RetryPolicy(retries=retries, base=backoff, longest_asked=LONGEST_ASKED)
        self._clock = clock or SystemClock()
        self._active = 0
        self._answered = 0  # since the limit was changed
        self._pauses = 0  # in a row, with no answer between them
        self._overloads = 0  # of these pauses, those that no 429 asked for
        self._resume_at = 0.0
        self._gave_up: ModelError | None = None
        self._waiting: list[Callable[[], None]] = []

    async def ask(
        self,
        model: Model,
        asked: Request,
        *,
        on_start: Callable[[], None] = lambda: None,
        on_text: Callable[[str], None] = lambda _text: None,
    ) -> ModelReply:
        """Make a request, again where that makes sense; `on_start` is called before each attempt."""
        failures = 0
        while True:
            async with self._turn():
                if self._gave_up is not None:
                    return ModelReply(error=self._gave_up)
                on_start()
                reply = await request(model, asked, on_text)
                self._count(model, reply.usage)
                error = reply.error
                if error is None:
                    self._succeed()
                    return reply
                is_refusal = error.kind in _OVERLOADED and error.retryable
                if is_refusal:
                    self._slow_down(error)
            if is_refusal:
                continue
            failures += 1
            verdict = decide(error, failures, self._policy, random.random())
            if isinstance(verdict, GiveUp):
                reply.error = verdict.error
                return reply
            await self._wait(verdict.delay, until_changed=False)

    def _count(self, model: Model, usage: Usage) -> None:
        self.count(usage, cost(model.name, usage, model.endpoint) if usage.tokens else 0.0)

    def count(self, usage: Usage, dollars: float | None) -> None:
        """Add what a request took, at a cost that may be unknown."""
        self.usage += usage
        self.cost = None if self.cost is None or dollars is None else self.cost + dollars

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Wait until a request may leave, and count it as long as it runs."""
        while self._gave_up is None:
            wait = self._resume_at - self._clock.now()
            if wait <= 0 and self._active < self._limit:
                break
            await self._wait(wait if wait > 0 else None)
        self._active += 1
        try:
            yield
        finally:
            self._active -= 1
            self._wake()

    def _slow_down(self, error: ModelError) -> None:
        """Let nobody ask before the server wants it, and then fewer at once."""
        now = self._clock.now()
        if now >= self._resume_at:  # the first of those that were under way together
            self._pauses += 1
            self._overloads += error.kind == "overloaded" or error.retry_after is None
            self._limit, self._answered = max(1, self._limit // 2), 0
        asked = error.retry_after
        if asked is not None and asked > LONGEST_ASKED:
            self._gave_up = replace(
                error, message=f"{error.message} The server asks to wait {asked:,.0f} seconds."
            )
        elif self._overloads > 2 * self._policy.retries or self._pauses >= MOST_PAUSES:
            self._gave_up = replace(
                error, message=f"{error.message} (It was so after each of {self._pauses} pauses.)"
            )
        backoff = min(self._policy.longest, self._policy.base * 2 ** min(self._pauses - 1, 10))
        delay = asked if asked else backoff * (0.75 + 0.5 * random.random())
        self._resume_at = max(self._resume_at, now + delay)
        self._wake()

    def _succeed(self) -> None:
        self._pauses = self._overloads = 0
        self._answered += 1
        if self._answered >= self._limit and self._limit < self._jobs:
            self._limit, self._answered = self._limit + 1, 0

    async def _wait(self, seconds: float | None, *, until_changed: bool = True) -> None:
        """Wait `seconds` (None: without limit); with `until_changed` also end when the pace changes."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def wake() -> None:
            if not over.done():
                over.set_result(None)

        timer = None if seconds is None else self._clock.call_later(seconds, wake)
        if until_changed:
            self._waiting.append(wake)
        try:
            await over
        finally:
            if timer is not None:
                timer.cancel()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for wake in waiting:
            wake()


async def at_once(many: int, work: Callable[[], Awaitable[bool]]) -> None:
    """Call `work` from so many tasks until it returns False; what one raises ends all of them.

    Raises:
        BaseException: what `work` raised first.
    """

    async def go_on() -> None:
        while await work():
            pass

    tasks = [asyncio.ensure_future(go_on()) for _ in range(max(1, many))]
    try:
        await asyncio.gather(*tasks)
    except Exception:  # a cancellation of ours has cancelled them already
        for task in tasks:
            task.cancel()
        raise
    finally:
        await asyncio.wait(tasks)
