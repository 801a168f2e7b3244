"""Settings and budgets of jobs: what a job may use, and metering what it has used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agent.core.clock import Clock, SystemClock, Timer
from agent.core.limits import Limits
from agent.core.model import Model, Usage
from agent.core.turns import NoticeTurn
from agent.jobs.approval_policy import ApprovalRules
from agent.jobs.job import Job
from agent.models.prices import cost

EMBEDDED = "embedded"
"""The endpoint of a model that costs nothing."""


@dataclass(frozen=True, slots=True)
class JobOptions:
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


def job_limits(
    options: JobOptions, model: Model, job: Job, *, may_begin: bool, is_task: Callable[[], bool]
) -> Limits:
    """Return what a run of a task may use up; its time is counted by the task itself.

    Args:
        options: the person's settings.
        model: what answers.
        job: as it is when the run begins.
        may_begin: whether the run is a message that may become a task.
        is_task: whether it has.
    """

    def price(name: str, usage: Usage) -> float | None:
        dollars = cost(name, usage, model.endpoint)
        # None has the run say that the budget cannot hold: that is news once a message has become a task.
        return dollars if dollars is not None or (is_task() and not has_price(model)) else 0.0

    return Limits(
        max_steps=options.max_steps,
        max_duration=None,
        max_tokens=options.max_tokens,
        max_cost=options.max_cost if may_begin or has_price(model) else None,
        price=price,
        spent=job.used.dollars,
        steps_before=job.used.steps,
        tokens_before=job.used.tokens,
        whose="task" if job.kind == "task" else "run",
        min_request_interval=options.request_pause if job.kind == "task" else 0.0,
    )


class Meter:
    """Counts what one run of a task adds to what the task has used up.

    Args:
        job: as it is when the run begins.
        options: the person's settings.
        when_time_is_up: called once when the task has worked as long as it may.
        clock: the time.
    """

    def __init__(
        self,
        job: Job,
        options: JobOptions,
        when_time_is_up: Callable[[], None],
        clock: Clock | None = None,
    ) -> None:
        self._earlier = job.worked_seconds - job.used.seconds  # before its limits were counted anew
        self._counted = Usage()
        self.watch = Stopwatch(
            clock or SystemClock(), options.max_seconds, when_time_is_up, worked=job.used.seconds
        )

    def timed(self, job: Job) -> Job:
        """Return the task with the time it has worked."""
        worked = self.watch.worked
        return job.model_copy(
            update={
                "worked_seconds": self._earlier + worked,
                "used": job.used.model_copy(update={"seconds": worked}),
            }
        )

    def count(self, job: Job, usage: Usage, model: Model) -> Job:
        """Return the task with everything it has used up.

        Args:
            job: as it is now.
            usage: tokens of the run so far.
            model: what answers.
        """
        new = usage.since(self._counted)
        self._counted = usage
        price = cost(model.name, new, model.endpoint)
        used = job.used
        counted = {
            "usage": job.usage + new,
            "cost": None if price is None or job.cost is None else job.cost + price,
            "used": used.model_copy(
                update={"tokens": used.tokens + new.tokens, "dollars": used.dollars + (price or 0.0)}
            ),
        }
        return self.timed(job.model_copy(update=counted))


def with_step(job: Job) -> dict[str, Any]:
    """Return what changes of a task that begins a further step."""
    used = job.used
    return {
        "step_count": job.step_count + 1,
        "used": used.model_copy(update={"steps": used.steps + 1}),
        "current_tool": None,
    }


def budget_notices(options: JobOptions, model: Model, job: Job) -> tuple[NoticeTurn, ...]:
    """Return what is said where a task begins, or goes on with another model, and its budget cannot hold.

    Args:
        options: the person's settings.
        model: what answers.
        job: as it is when the run begins.
    """
    dollars, is_news = options.max_cost, not job.step_count or job.model != model.name
    if dollars is None or job.kind != "task" or not is_news or has_price(model):
        return ()
    text = (
        f"The prices of {model.name} are not known here: the budget of ${dollars:,.2f} cannot stop this task."
    )
    return (NoticeTurn(content=text, kind="budget"),)


def has_price(model: Model) -> bool:
    """Return whether it is known what a model costs."""
    return model.endpoint == EMBEDDED or cost(model.name, Usage(), model.endpoint) is not None
