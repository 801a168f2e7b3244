"""The arguments of the stateless loop: what a run starts from, how it goes; and the state an agent shows."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

from agent.core.clock import Clock, SystemClock
from agent.core.events import Outcome
from agent.core.limits import Limits
from agent.core.model import Model, ModelError, ThinkingLevel, Usage
from agent.core.retry import RetryPolicy
from agent.core.tool import AfterToolCall, BeforeToolCall, Tool
from agent.core.turns import NoticeTurn, ToolCallTurn, Turn, UserTurn

if TYPE_CHECKING:
    from agent.core.run import Run

OnSteer = Literal["skip_remaining", "finish_batch"]
ToolExecution = Literal["parallel", "sequential"]
TransformContext = Callable[[list[Turn]], "Sequence[Turn] | Awaitable[Sequence[Turn]]"]
ConvertToLlm = Callable[[list[Turn]], "Sequence[Mapping[str, Any]] | Awaitable[Sequence[Mapping[str, Any]]]"]
GetApiKey = Callable[[], "str | Awaitable[str | None] | None"]
Poll = Callable[[], Sequence[UserTurn]]
OnLaunch = Callable[[ToolCallTurn, "Mapping[str, Any] | None"], object]
WhenIdle = Callable[[], Sequence[Turn]]
MoreTools = Callable[[], Sequence[Tool]]
WhenFailed = Callable[[ModelError], "NoticeTurn | None"]
WhenDone = Callable[[tuple[Turn, ...]], "NoticeTurn | Awaitable[NoticeTurn | None] | None"]


def one_of(name: str, value: object, choices: Any) -> None:
    """Check a setting against its `Literal`.

    Raises:
        ValueError: it is none of these words; the message names them.
    """
    allowed = get_args(choices)
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, not {value!r:.60}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentContext:
    """What a run starts from."""

    system_prompt: str = ""
    turns: Sequence[Turn] = ()
    tools: Sequence[Tool] = ()


class AbortController:
    """How the outside reaches into the run that uses it: ends it, or one of its tools.

    One run at a time may use it; it belongs to the thread of the event loop.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self._outcome: Outcome = "cancelled"
        self._notice: NoticeTurn | None = None
        self._run: Run | None = None

    def abort(
        self, reason: str = "", *, outcome: Outcome = "cancelled", notice: NoticeTurn | None = None
    ) -> None:
        """End the run with this outcome, at once, wherever it is. Later calls change nothing.

        Args:
            reason: why.
            outcome: `cancelled`, or `limit` when a limit of the application was reached.
            notice: what the conversation says about it, as the run's last turn.
        """
        if self.reason is None:
            self.reason = reason or "stopped by the user"
            self._outcome, self._notice = outcome, notice
            if self._run is not None:
                self._run.stop(outcome, self.reason, notice)

    def cancel_tool(self, call_id: str) -> bool:
        """End one tool without ending the run; return whether a call of this id was open."""
        return self._run is not None and self._run.cancel_call(call_id)

    @property
    def usage(self) -> Usage:
        """Tokens of all requests of the run so far."""
        return self._run.usage if self._run is not None else Usage()

    def attach(self, run: Run) -> None:
        """Reach into `run` from now on; an abort that came before counts."""
        self._run = run
        if self.reason is not None:
            run.stop(self._outcome, self.reason, self._notice)

    def detach(self, run: Run) -> None:
        """The run is over; the next one starts without its abort."""
        if self._run is run:
            self._run = self.reason = self._notice = None
            self._outcome = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopConfig:
    """How a run goes. Functions may be plain or async where nothing else is said.

    Attributes:
        model: where answers come from; `thinking` and `max_tokens` go into each request.
        transform_context: `turns -> turns`, for one request only, before the conversion.
        convert_to_llm: `turns -> messages`; by default our own conversion with its repair.
        get_api_key: asked before every request. No message about a failure holds the key; of what this raises
            a message has only the type, but for a `PersonaError`, whose words it has.
        before_tool_call, after_tool_call: see `HookContext`.
        on_launch: called with a call right before its tool runs, and with the input a hook gave in place of
            the model's, or None; plain only. When it raises, or the run is stopped in it, the tool does not run.
        get_steering, get_follow_up: give the user turns to deliver now, each turn once; plain only.
        more_tools: asked before each step, and before its calls are run, which tools there are beside those of the run;
            plain only.
        when_idle: asked when the model has said words alone and there is no steering; what it gives opens a
            further step. As long as it gives something the agent is not done, and follow-ups wait; plain only.
        when_failed: asked when the run fails; gives the notice that says so in the conversation, or None; plain only.
        when_done: asked when the run completes, with the turns it added; gives the notice that says what the person
            should know of them, or None.
        make_left_open: whether calls of the last answer that have no result are made before the first request;
            else they are answered with an error.
        take_undelivered: gives what is still queued when the run ends, for example because a tool ended it;
            plain only.
        abort_controller: how the outside aborts the run or cancels a tool.
        grace: seconds that cancelled code has to end before the run settles without it.
        listener_grace: seconds that each listener has in all once the run is stopped, and once more for the last
            event; `grace` when None.
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
    on_launch: OnLaunch | None = None
    get_steering: Poll | None = None
    get_follow_up: Poll | None = None
    more_tools: MoreTools | None = None
    when_idle: WhenIdle | None = None
    when_failed: WhenFailed | None = None
    when_done: WhenDone | None = None
    make_left_open: bool = False
    take_undelivered: Callable[[], Sequence[UserTurn]] = tuple
    on_steer: OnSteer = "skip_remaining"
    tool_execution: ToolExecution = "parallel"
    limits: Limits = Limits()  # noqa: RUF009 - immutable
    retry: RetryPolicy = RetryPolicy()  # noqa: RUF009 - immutable
    clock: Clock = field(default_factory=SystemClock)
    abort_controller: AbortController = field(default_factory=AbortController)
    grace: float = 0.05
    listener_grace: float | None = None
    random: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        one_of("on_steer", self.on_steer, OnSteer)
        one_of("tool_execution", self.tool_execution, ToolExecution)
        one_of("thinking", self.thinking, ThinkingLevel)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentState:
    """What an agent is and does at one moment; later changes do not show in it.

    Attributes:
        turns: the finished turns of the conversation.
        is_streaming: whether a run is active.
        streaming_turn: the turn being streamed, with what came of it so far, or None.
        pending_tool_calls: ids of the call turns between `tool_start` and `tool_end`.
        error: why the last run failed, or None.
    """

    system_prompt: str
    model: Model
    thinking: ThinkingLevel
    tools: tuple[Tool, ...]
    turns: tuple[Turn, ...]
    is_streaming: bool
    streaming_turn: Turn | None
    pending_tool_calls: frozenset[str]
    error: ModelError | None
