"""A job: a run as the person sees it. Its data, its states, and the table of what may follow what. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator

from agent.core.model import Usage
from agent.core.turns import new_id, utc_now
from personas.errors import PersonaError

Status = Literal[
    "running",  # at work, between two requests
    "thinking",  # the model answers
    "tool_executing",
    "waiting_user",  # a question is open
    "waiting_approval",  # a call is not made before the person agrees
    "completed",
    "cancelled",
    "error",
    "limit",  # stopped by a limit; can be continued
    "interrupted",  # the program ended under it; can be continued
]
AgentKind = Literal["chat", "task"]
"""The kinds of job in which the agent works on a persona: a message, or a task that goes on until it is done."""

TRANSITIONS: Mapping[Status, frozenset[Status]] = {
    "running": frozenset({"thinking", "cancelled", "limit", "interrupted"}),
    "thinking": frozenset(
        {
            "running",
            "tool_executing",
            "waiting_user",
            "waiting_approval",
            "completed",
            "cancelled",
            "error",
            "limit",
            "interrupted",
        }
    ),
    "tool_executing": frozenset(
        {"thinking", "waiting_approval", "cancelled", "error", "limit", "interrupted"}
    ),
    "waiting_user": frozenset({"thinking", "cancelled", "interrupted"}),
    "waiting_approval": frozenset({"thinking", "tool_executing", "cancelled", "interrupted"}),
    "completed": frozenset(),
    "cancelled": frozenset(),
    "error": frozenset(),
    "limit": frozenset({"running", "cancelled"}),
    "interrupted": frozenset({"running", "cancelled"}),
}
"""What may follow each state; a task begins as `running`."""

WORKING: frozenset[Status] = frozenset({"running", "thinking", "tool_executing"})
WAITING: frozenset[Status] = frozenset({"waiting_user", "waiting_approval"})
RESUMABLE: frozenset[Status] = frozenset({"limit", "interrupted"})
OVER: frozenset[Status] = frozenset({"completed", "cancelled", "error"})

LONGEST_NOTE = 2_000
MOST_NOTES = 50

Line = Annotated[str, Field(max_length=200)]


class ForbiddenTransition(PersonaError):
    """A task cannot go from its state to that one."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, arbitrary_types_allowed=True)


class Approval(_Frozen):
    """A call that waits for the person's word, and exactly what it would change.

    Attributes:
        tool: the tool's name.
        label: what it does, for people.
        diff: unified diff of the persona's texts, computed without writing; empty when nothing is known.
        added, removed: lines of that diff.
        note: what else there is to know, in a sentence; empty for nothing.
    """

    tool: Line
    label: str = ""
    diff: str = ""
    added: int = 0
    removed: int = 0
    note: str = ""


class Question(_Frozen):
    """What a task waits for.

    Attributes:
        id: names this question; an answer may say which one it means.
        text: the question in words.
        options: what can be picked, possibly nothing.
        tool_use_id: the call that waits.
        approval: the call to agree to, for an approval.
        answer: what the person answered; kept until the conversation holds it.
    """

    id: Line = Field(default_factory=lambda: new_id("question"))
    text: str
    options: tuple[str, ...] = ()
    tool_use_id: str
    approval: Approval | None = None
    answer: str | None = None

    @field_validator("options", mode="before")
    @classmethod
    def _as_tuple(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value


class Used(_Frozen):
    """What counts towards a task's limits: since it began, or since the person last had it continue.

    Attributes:
        steps: model answers.
        tokens: in and out.
        dollars: as far as prices were known.
        seconds: of work.
    """

    steps: int = Field(default=0, ge=0)
    tokens: int = Field(default=0, ge=0)
    dollars: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    seconds: float = Field(default=0.0, ge=0, allow_inf_nan=False)

    @field_validator("dollars", "seconds", mode="before")
    @classmethod
    def _as_float(cls, value: Any) -> Any:
        return float(value) if type(value) is int and abs(value) < 1e15 else value


class Job(_Frozen):
    """One job at one moment; every change makes a new one.

    Attributes:
        id: of the job; all changes of a task are one unit of undo under this name.
        persona_id: whom it is about.
        session_id: the conversation it lives in.
        kind: `chat` ends with the answer, `task` only with `task_complete`.
        proposes: whether its changes are a proposal, see `personas.proposals`.
        status: see `TRANSITIONS`.
        original_prompt: the words that began it.
        prompt_turn_id: the turn that holds them in the conversation.
        scratchpad: what was answered and reported on the way, newest last.
        step_count: model answers so far.
        idle_steps: answers in a row that did nothing.
        started_at, ended_at: UTC ISO 8601; `ended_at` once it is over or stopped by a limit.
        pending: the open question or approval.
        current_tool: the tool that runs.
        error_message: why it failed.
        summary: what `task_complete` said.
        usage: tokens of all its requests.
        cost: US dollars, None where a price is unknown.
        worked_seconds: without the time it waited for the person.
        used: what of all that counts towards its limits.
        model: the model's name.
        left: id of a task that could be continued and that this message leaves as it is; empty for none.
    """

    id: Line = Field(default_factory=lambda: new_id("task"))
    persona_id: str
    session_id: str
    kind: Line = "task"
    proposes: bool = False
    status: Status = "running"
    original_prompt: str
    prompt_turn_id: str = ""
    scratchpad: tuple[str, ...] = ()
    step_count: int = 0
    idle_steps: int = 0
    started_at: Line = Field(default_factory=utc_now)
    ended_at: Line | None = None
    pending: Question | None = None
    current_tool: str | None = None
    error_message: str | None = None
    summary: str | None = None
    usage: Usage = Usage()
    cost: float | None = 0.0
    worked_seconds: float = 0.0
    used: Used = Used()
    model: str = ""
    left: Line = ""

    @field_validator("scratchpad", mode="before")
    @classmethod
    def _as_tuple(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("usage", mode="before")
    @classmethod
    def _as_usage(cls, value: Any) -> Any:
        if isinstance(value, dict) and all(type(count) is int for count in value.values()):
            known = {name: value[name] for name in Usage().to_record() if name in value}
            return Usage(**known)
        return value

    @field_validator("cost", "worked_seconds", mode="before")
    @classmethod
    def _as_float(cls, value: Any) -> Any:
        return float(value) if type(value) is int and abs(value) < 1e15 else value

    @property
    def pending_question(self) -> str | None:
        """The words of the open question, None when nothing is asked, or the answer was given."""
        question = self.pending if self.is_waiting else None
        return question.text if question is not None and question.answer is None else None

    @property
    def is_working(self) -> bool:
        """Whether the agent is at work, as opposed to waiting, stopped or done."""
        return self.status in WORKING

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for an answer or an approval."""
        return self.status in WAITING

    @property
    def is_over(self) -> bool:
        """Whether nothing can follow any more."""
        return self.status in OVER

    @property
    def can_continue(self) -> bool:
        """Whether `continue` is offered."""
        return self.status in RESUMABLE

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with changes, the status not among them: see `move`.

        Raises:
            ForbiddenTransition: another status is asked for.
        """
        if update and "status" in update:
            raise ForbiddenTransition("The status of a task changes only along the table of transitions.")
        return super().model_copy(update=update, deep=deep)

    def to_record(self) -> dict[str, Any]:
        """Return the task as a JSON object."""
        return {**self.model_dump(mode="json"), "usage": self.usage.to_record()}

    def with_note(self, note: str) -> Job:
        """Return the task with a line added to its scratchpad, which keeps the newest only."""
        return self.model_copy(update={"scratchpad": (*self.scratchpad, note[:LONGEST_NOTE])[-MOST_NOTES:]})


def move(job: Job, status: Status, **changes: Any) -> Job:
    """Return the task in another state, with further changes.

    Raises:
        ForbiddenTransition: the table does not allow it.
    """
    if status not in TRANSITIONS[job.status]:
        raise ForbiddenTransition(f"A task that is {job.status} cannot become {status}.")
    return BaseModel.model_copy(job, update={**changes, "status": status})


def way(start: Status, end: Status) -> tuple[Status, ...]:
    """Return the states to go through from one to another: none, the end itself, or `thinking` before it.

    Raises:
        ForbiddenTransition: there is no such way.
    """
    if start == end:
        return ()
    if end in TRANSITIONS[start]:
        return (end,)
    if "thinking" in TRANSITIONS[start] and end in TRANSITIONS["thinking"]:
        return ("thinking", end)
    raise ForbiddenTransition(f"A task that is {start} cannot become {end}.")
