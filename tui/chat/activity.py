"""What an agent does right now, in a few words, and how a task that ended is summed up. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tui.terminal.sanitise import one_line

if TYPE_CHECKING:
    from agent.core.events import Event
    from agent.jobs.job import Job

Doing = Literal["thinking", "writing", "calling", "tool", "retrying", "silent"]


class Activity:
    """Follows the events of a run.

    Attributes:
        doing: what the run is at.
        tool: the tool that runs, or whose call is being written.
        since: when it began with that, on the clock of the events.
        until: when a failed request is tried again.
        answers: how many answers of the model began.
    """

    def __init__(self, since: float = 0.0) -> None:
        self.doing: Doing = "thinking"
        self.tool = ""
        self.since = since
        self.until = 0.0
        self.answers = 0

    def hear(self, event: Event) -> None:
        """Take an event into account."""
        match event.type:
            case "agent_start":
                self.answers = 0
                self._begin("thinking", event.at)
            case "step_start":
                self.answers += 1
                self._begin("thinking", event.at)
            case "turn_start":
                self._turn_began(event)
            case "tool_start":
                self._begin("tool", event.at, event.call.tool_name)  # type: ignore[union-attr]
            case "tool_end":
                self._begin("thinking", event.at)
            case "retry":
                self._begin("retrying", event.at)
                self.until = event.at + event.delay  # type: ignore[union-attr]
            case "model_notice" if event.waiting is not None:  # type: ignore[union-attr]
                if self.doing != "silent":
                    self._begin("silent", event.at - event.waiting)  # type: ignore[union-attr]
            case "turn_delta" if self.doing in ("retrying", "silent"):
                self._begin("writing", event.at)
            case _:
                pass

    def _turn_began(self, event: Event) -> None:
        turn = event.turn  # type: ignore[union-attr]
        if turn.type == "assistant_text":
            self._begin("writing", event.at)
        elif turn.type == "thinking":
            self._begin("thinking", event.at)
        elif turn.type == "tool_call":
            self._begin("calling", event.at, turn.tool_name)  # type: ignore[union-attr]

    def _begin(self, doing: Doing, at: float, tool: str = "") -> None:
        self.doing, self.since, self.tool = doing, at, tool

    def text(self, now: float) -> str:
        """Return it in words, with the seconds it has taken so far; `now` on the clock of the events."""
        if self.doing == "retrying":
            left = self.until - now
            return f"retrying in {max(1, round(left))} s" if left > 0 else "trying again"
        name = one_line(self.tool, 40)
        words = {"tool": name, "calling": f"{name}…", "silent": "waiting for the model"}.get(
            self.doing, self.doing
        )
        seconds = int(now - self.since)
        return f"{words} {seconds} s" if seconds >= 2 else words


class WorkTime:
    """The seconds of work of a task, those in which it waits for the person left out.

    Attributes:
        before: seconds of work before `since`.
        since: when it began to work, on any clock; None while it waits.
    """

    def __init__(self) -> None:
        self.before = 0.0
        self.since: float | None = None

    def begin(self, now: float, before: float = 0.0) -> None:
        """Work begins; `before`: what was worked in earlier programs."""
        self.before, self.since = before, now

    def see(self, waits: bool, now: float) -> None:
        """The task waits for the person now, or it does not."""
        if waits and self.since is not None:
            self.before, self.since = self.seconds(now), None
        elif not waits and self.since is None:
            self.since = now

    def seconds(self, now: float) -> float:
        """Return the seconds up to now."""
        return self.before if self.since is None else self.before + now - self.since


def activity_line(activity: Activity, task: Job | None, elapsed: float, now: float) -> str:
    """Return what goes on as one line: the step, what it is at, how long in all, tokens and cost.

    Args:
        activity: of the run.
        task: what is known of it.
        elapsed: seconds of work, without those it waited for the person.
        now: the time, on the clock of the events.
    """
    if task is not None and task.is_waiting:
        return "waits for your answer"
    if task is not None and task.is_over:
        task = None  # the one before: what begins now is no task yet
    parts = []
    step = task.step_count if task is not None and task.kind == "task" else 0
    if step:
        parts.append(f"step {step}")
    doing, at_this = activity.text(now), now - activity.since
    if elapsed - at_this < 2:
        doing = doing.removesuffix(f" {int(at_this)} s")  # the same seconds as in all
    parts.append(doing)
    if elapsed >= 1:
        parts.append(duration(elapsed))
    if task is not None:
        from agent.models.prices import spent_parts

        parts += spent_parts(task.usage, task.cost)
    return " · ".join(parts)


def ending_line(task: Job) -> str:
    """Return how a task ended: what became of it, steps, time of work, tokens, cost."""
    from agent.models.prices import spent_parts

    words = {
        "completed": "Task complete",
        "cancelled": "Task stopped",
        "error": "Task failed",
        "limit": "Task stopped by a limit",
        "interrupted": "Task interrupted",
    }
    steps = f"{task.step_count} step{'' if task.step_count == 1 else 's'}"
    parts = [words.get(task.status, task.status), steps, duration(task.worked_seconds)]
    return " · ".join([*parts, *spent_parts(task.usage, task.cost)])


def duration(seconds: float) -> str:
    """Return `12 s`, `3 min 5 s`, `2 h 10 min`."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
