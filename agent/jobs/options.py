"""What the person's settings say about tasks, and the clock that counts a task's work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from agent.core.clock import Clock, Timer
from agent.jobs.approval_policy import ApprovalRules


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """What the person's settings say about tasks.

    Attributes:
        approval: which calls are asked for.
        max_steps: model answers until a task stops by itself. This and the next three are counted over all its
            questions and programs, anew only when the person has it continue.
        max_seconds: of work; the time it waits for the person is not counted.
        max_tokens: tokens in and out, None for no budget.
        max_cost: US dollars, None for no budget; holds only where prices are known.
        request_pause: least seconds between the starts of two requests.
        idle_steps: answers of words alone in a row that end a task.
        at_once: tasks that may run at one time.
        begin_by_themselves: whether the agent may turn a message into a task.
    """

    approval: ApprovalRules = field(default_factory=ApprovalRules)
    max_steps: int = 50
    max_seconds: float = 30 * 60.0
    max_tokens: int | None = None
    max_cost: float | None = None
    request_pause: float = 0.2
    idle_steps: int = 3
    at_once: int = 10
    begin_by_themselves: bool = False


class Stopwatch:
    """Counts the seconds of work, not those of waiting, and calls once when they are used up.

    Args:
        clock: the time.
        seconds: how long.
        then: what to call.
        worked: seconds that were counted before.
    """

    def __init__(self, clock: Clock, seconds: float, then: Callable[[], None], worked: float = 0.0) -> None:
        self._clock = clock
        self._left = seconds
        self._then = then
        self._since: float | None = None
        self._timer: Timer | None = None
        self._worked = worked

    @property
    def worked(self) -> float:
        """Seconds counted so far."""
        running = 0.0 if self._since is None else self._clock.now() - self._since
        return self._worked + running

    def go(self) -> None:
        """Count on."""
        if self._since is None:
            self._since = self._clock.now()
            self._timer = self._clock.call_later(max(0.0, self._left - self._worked), self._then)

    def halt(self) -> None:
        """Count no more until `go`."""
        self._worked = self.worked
        self._since = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
