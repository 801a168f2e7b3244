"""What a run starts from and how it goes: the arguments of the stateless loop."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agent.interrupts import Interrupts
from agent.limits import Limits
from agent.models.base import Model, ThinkingLevel
from agent.models.retry import RetryPolicy
from agent.models.stalls import Clock, SystemClock
from agent.tool import AfterToolCall, BeforeToolCall, Tool
from agent.turns import Turn, UserTurn

OnSteer = Literal["skip_remaining", "finish_batch"]
ToolExecution = Literal["parallel", "sequential"]
TransformContext = Callable[[list[Turn]], "Sequence[Turn] | Awaitable[Sequence[Turn]]"]
ConvertToLlm = Callable[[list[Turn]], "Sequence[Mapping[str, Any]] | Awaitable[Sequence[Mapping[str, Any]]]"]
GetApiKey = Callable[[], "str | Awaitable[str | None] | None"]
Poll = Callable[[], "Sequence[UserTurn] | Awaitable[Sequence[UserTurn]]"]
WhenIdle = Callable[[], Sequence[Turn]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentContext:
    """What a run starts from."""

    system_prompt: str = ""
    turns: Sequence[Turn] = ()
    tools: Sequence[Tool] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopConfig:
    """How a run goes. All functions may be plain or async.

    Attributes:
        model: where answers come from; `thinking` and `max_tokens` go into each request.
        transform_context: `turns -> turns`, for one request only, before the conversion.
        convert_to_llm: `turns -> messages`; by default our own conversion with its repair.
        get_api_key: asked before every request.
        before_tool_call, after_tool_call: see `HookContext`.
        get_steering, get_follow_up: give the user turns to deliver now, each turn once.
        when_idle: asked when the model has nothing left to do and nobody queued anything; what it gives opens
            a further step, nothing ends the run.
        take_undelivered: gives what is still queued when the run ends, for example because a tool ended it.
        interrupts: how the outside aborts the run or cancels a tool.
        grace: seconds that cancelled code has to end before the run settles without it.
        random: a number from 0 to 1, for jitter.
    """

    model: Model
    thinking: ThinkingLevel = "off"
    max_tokens: int | None = None
    session_id: str | None = None
    transform_context: TransformContext | None = None
    convert_to_llm: ConvertToLlm | None = None
    get_api_key: GetApiKey | None = None
    before_tool_call: BeforeToolCall | None = None
    after_tool_call: AfterToolCall | None = None
    get_steering: Poll | None = None
    get_follow_up: Poll | None = None
    when_idle: WhenIdle | None = None
    take_undelivered: Callable[[], Sequence[UserTurn]] = tuple
    on_steer: OnSteer = "skip_remaining"
    tool_execution: ToolExecution = "parallel"
    limits: Limits = Limits()  # noqa: RUF009 - immutable
    retry: RetryPolicy = RetryPolicy()  # noqa: RUF009 - immutable
    clock: Clock = field(default_factory=SystemClock)
    interrupts: Interrupts = field(default_factory=Interrupts)
    grace: float = 0.05
    random: Callable[[], float] = random.random
