"""The events of a run, in the order in which they come. All are immutable and carry run id and number.

agent_start
  step_start
    [turn_start turn_end of each prompt, steering or follow-up turn that opens the step]
    [model_notice: what the model has to say of its request, at any time until its answer is whole]
    [retry_wait: before each further attempt at a request that failed]
    per block of the answer:  turn_start turn_delta* turn_end
    [turn_start turn_end of a notice: that the answer was a refusal]
    per tool call:            tool_start tool_progress* tool_end, turn_start turn_end of its result
  step_end
  [turn_start turn_end of a notice: that a cost budget cannot hold, or why the run ends, a limit for example]
agent_end
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from agent.core.model import ModelError, Usage
from agent.core.turns import ToolCallTurn, ToolResultTurn, Turn, UserTurn

Outcome = Literal["completed", "cancelled", "failed", "truncated", "refused", "limit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    """`seq` counts from 0 without gaps within a run; `at` is monotonic seconds."""

    run_id: str
    seq: int
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStart(_Event):
    type: ClassVar[str] = "agent_start"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStart(_Event):
    """A request to the model is about to be made. `step` counts from 1."""

    type: ClassVar[str] = "step_start"
    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStart(_Event):
    """A turn begins. `turn` is its first state (empty content for a streamed block)."""

    type: ClassVar[str] = "turn_start"
    turn: Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDelta(_Event):
    """More of the streamed turn `turn_id`: text, thinking text, or raw JSON of a call's input."""

    type: ClassVar[str] = "turn_delta"
    turn_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnd(_Event):
    """A turn is finished and part of the conversation; `turn` has the id of its `turn_start`."""

    type: ClassVar[str] = "turn_end"
    turn: Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStart(_Event):
    """A call enters preflight. `input` is what the model sent."""

    type: ClassVar[str] = "tool_start"
    call: ToolCallTurn
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProgress(_Event):
    type: ClassVar[str] = "tool_progress"
    call_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnd(_Event):
    """A call has ended; `duration` in seconds. `details["ran_with"]`: its input, where a hook changed it."""

    type: ClassVar[str] = "tool_end"
    call: ToolCallTurn
    output: str
    is_error: bool
    duration: float
    details: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnd(_Event):
    type: ClassVar[str] = "step_end"
    step: int
    stop_reason: str
    usage: Usage
    tool_results: tuple[ToolResultTurn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryWait(_Event):
    """The request failed and is tried again in `delay` seconds; `attempt` counts from 1."""

    type: ClassVar[str] = "retry"
    attempt: int
    delay: float
    error: ModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelNotice(_Event):
    """The model's side has something to say that is no turn (silence so far, a dropped feature).

    `waiting`: set when the message is about silence, in seconds so far.
    """

    type: ClassVar[str] = "model_notice"
    message: str
    waiting: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEnd(_Event):
    """The run is over. Exactly one for every `agent_start`.

    Attributes:
        turns: the turns this run added, in order.
        outcome: how it ended.
        stop_reason: the last stop reason of the model, or "".
        reason: why the run was stopped, for `cancelled` and a limit that cut it short.
        error: what failed, for outcome `failed`.
        usage: summed over the steps, failed and cancelled ones too.
        steps: how many requests were answered or cut.
        undelivered: queued user turns that were not delivered; the caller gets them back.
    """

    type: ClassVar[str] = "agent_end"
    turns: tuple[Turn, ...]
    outcome: Outcome
    stop_reason: str = ""
    reason: str = ""
    error: ModelError | None = None
    usage: Usage = Usage()  # noqa: RUF009 - immutable
    steps: int = 0
    undelivered: tuple[UserTurn, ...] = ()


Event = (
    AgentStart
    | StepStart
    | TurnStart
    | TurnDelta
    | TurnEnd
    | ToolStart
    | ToolProgress
    | ToolEnd
    | StepEnd
    | RetryWait
    | ModelNotice
    | AgentEnd
)
