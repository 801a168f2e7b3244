"""What a task may use up, what it has used up, and what is said where its budget of dollars cannot hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.core.clock import Clock, SystemClock
from agent.core.limits import Limits
from agent.core.model import Model, Usage
from agent.core.turns import NoticeTurn
from agent.jobs.job import AgentTask
from agent.jobs.options import Stopwatch, TaskOptions
from agent.models.prices import cost

EMBEDDED = "embedded"
"""The endpoint of a model that costs nothing."""


def task_limits(
    options: TaskOptions, model: Model, task: AgentTask, *, may_begin: bool, is_task: Callable[[], bool]
) -> Limits:
    """Return what a run of a task may use up; its time is counted by the task itself.

    Args:
        options: the person's settings.
        model: what answers.
        task: as it is when the run begins.
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
        spent=task.used.dollars,
        steps_before=task.used.steps,
        tokens_before=task.used.tokens,
        whose="task" if task.mode == "task" else "run",
        min_request_interval=options.request_pause if task.mode == "task" else 0.0,
    )


class Meter:
    """Counts what one run of a task adds to what the task has used up.

    Args:
        task: as it is when the run begins.
        options: the person's settings.
        when_time_is_up: called once when the task has worked as long as it may.
        clock: the time.
    """

    def __init__(
        self,
        task: AgentTask,
        options: TaskOptions,
        when_time_is_up: Callable[[], None],
        clock: Clock | None = None,
    ) -> None:
        self._earlier = task.worked_seconds - task.used.seconds  # before its limits were counted anew
        self._counted = Usage()
        self.watch = Stopwatch(
            clock or SystemClock(), options.max_seconds, when_time_is_up, worked=task.used.seconds
        )

    def timed(self, task: AgentTask) -> AgentTask:
        """Return the task with the time it has worked."""
        worked = self.watch.worked
        return task.model_copy(
            update={
                "worked_seconds": self._earlier + worked,
                "used": task.used.model_copy(update={"seconds": worked}),
            }
        )

    def count(self, task: AgentTask, usage: Usage, model: Model) -> AgentTask:
        """Return the task with everything it has used up.

        Args:
            task: as it is now.
            usage: tokens of the run so far.
            model: what answers.
        """
        new = usage.since(self._counted)
        self._counted = usage
        price = cost(model.name, new, model.endpoint)
        used = task.used
        counted = {
            "usage": task.usage + new,
            "cost": None if price is None or task.cost is None else task.cost + price,
            "used": used.model_copy(
                update={"tokens": used.tokens + new.tokens, "dollars": used.dollars + (price or 0.0)}
            ),
        }
        return self.timed(task.model_copy(update=counted))


def with_step(task: AgentTask) -> dict[str, Any]:
    """Return what changes of a task that begins a further step."""
    used = task.used
    return {
        "step_count": task.step_count + 1,
        "used": used.model_copy(update={"steps": used.steps + 1}),
        "current_tool": None,
    }


def budget_notices(options: TaskOptions, model: Model, task: AgentTask) -> tuple[NoticeTurn, ...]:
    """Return what is said where a task begins, or goes on with another model, and its budget cannot hold.

    Args:
        options: the person's settings.
        model: what answers.
        task: as it is when the run begins.
    """
    dollars, is_news = options.max_cost, not task.step_count or task.model != model.name
    if dollars is None or task.mode != "task" or not is_news or has_price(model):
        return ()
    text = (
        f"The prices of {model.name} are not known here: the budget of ${dollars:,.2f} cannot stop this task."
    )
    return (NoticeTurn(content=text, kind="budget"),)


def has_price(model: Model) -> bool:
    """Return whether it is known what a model costs."""
    return model.endpoint == EMBEDDED or cost(model.name, Usage(), model.endpoint) is not None
