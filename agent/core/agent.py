"""The agent: a conversation with its model and tools, its queues and its listeners, around the stateless loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, Literal

from agent.core.clock import Clock, SystemClock
from agent.core.errors import AgentBusy, EmptyMessage
from agent.core.event_bus import EventBus, Listener
from agent.core.events import AgentEnd, Event, Outcome, ToolEnd, ToolStart, TurnDelta, TurnEnd, TurnStart
from agent.core.limits import Limits
from agent.core.loop import Loop, find_continuation
from agent.core.loop_config import (
    AbortController,
    AgentContext,
    AgentState,
    ConvertToLlm,
    GetApiKey,
    LoopConfig,
    MoreTools,
    OnLaunch,
    OnSteer,
    ToolExecution,
    TransformContext,
    WhenDone,
    WhenFailed,
    WhenIdle,
)
from agent.core.model import Model, ModelError, ThinkingLevel, Usage
from agent.core.retry import RetryPolicy
from agent.core.tool import AfterToolCall, BeforeToolCall, Tool
from agent.core.turns import (
    AssistantTextTurn,
    NoticeTurn,
    ThinkingTurn,
    Turn,
    UserTurn,
    new_id,
)

__all__ = ["Agent", "AgentBusy", "AgentState", "Listener", "QueueMode", "as_message"]

QueueMode = Literal["one_at_a_time", "all"]


def as_message(said: str | UserTurn, known: Collection[str] = ()) -> UserTurn:
    """Return the one user turn of something that is said.

    Args:
        said: words, or a turn.
        known: ids that are taken: what is said again is a turn of its own.

    Raises:
        TypeError: it is something else.
        EmptyMessage: it has no words.
    """
    turn: UserTurn = _checked(UserTurn(content=said) if isinstance(said, str) else said, UserTurn)
    return replace(turn, id=new_id("turn")) if turn.id in known else turn


def _as_prompts(said: str | Turn | Sequence[Turn], known: Collection[str]) -> list[Turn]:
    """Return the turns of a prompt, of an empty list none; arguments and errors as for `as_message`."""
    if isinstance(said, str):
        said = UserTurn(content=said)
    taken = set(known)
    prompts: list[Turn] = []
    for given in said if isinstance(said, list | tuple) else [said]:
        turn = _checked(given, Turn)
        if turn.id in taken:
            turn = replace(turn, id=new_id("turn"))
        taken.add(turn.id)
        prompts.append(turn)
    return prompts


def _checked(said: object, kind: Any) -> Any:
    if not isinstance(said, kind) or (isinstance(said, UserTurn) and not isinstance(said.content, str)):
        raise TypeError(f"A text or a turn can be said, not {said!r:.60}.")
    if isinstance(said, UserTurn) and not said.content.strip():
        raise EmptyMessage("There is nothing to say: a message needs words.")
    return said


class _Queue:
    """User turns that wait for their moment."""

    def __init__(self) -> None:
        self.turns: list[UserTurn] = []

    def take(self, mode: QueueMode) -> list[UserTurn]:
        """Remove and return what one delivery brings: the oldest, or all."""
        count = 1 if mode == "one_at_a_time" else len(self.turns)
        taken, self.turns = self.turns[:count], self.turns[count:]
        return taken

    def withdraw(self, turn_id: str) -> UserTurn | None:
        """Remove and return one turn, None when it is not here."""
        found = next((turn for turn in self.turns if turn.id == turn_id), None)
        self.turns = [turn for turn in self.turns if turn is not found]
        return found


class Agent:
    """An agent with state. All its methods belong to the thread of its event loop.

    Model, tools, thinking level, system prompt and hooks are looked at when a run starts; changes apply to
    the next one. Besides the constructor's arguments these attributes may be set: `system_prompt`, `model`,
    `thinking`, `tools`, `turns` (idle only), `steering_mode`, `follow_up_mode`, `on_steer`, `tool_execution`,
    `limits`, `session_id`, `max_tokens`, `retry`, `grace`, `listener_grace`, `more_tools`, `when_idle`,
    `when_failed`, `when_done`, `on_launch`, `make_left_open`, and the functions.

    Args:
        model: where answers come from.
        tools: what it may call.
        system_prompt: sent with every request.
        turns: the conversation so far.
        thinking: how much the model may think.
        transform_context: `turns -> turns`, applied for each request, before the conversion.
        convert_to_llm: `turns -> messages`; by default the conversion with repair of `agent.core.messages`.
        get_api_key: asked for every request.
        before_tool_call: may block a call or change its input; see `agent.core.tool.HookContext`.
        after_tool_call: may replace a call's output.
        on_steer: whether steering skips the calls that have not started or waits for the whole batch.
        steering_mode: how many steering messages one delivery brings.
        follow_up_mode: likewise for follow-ups.
        tool_execution: side by side, or one after the other.
        limits: what one run may use up.
        session_id: forwarded to model and tools.
        clock: the time, and calls at a later time.
    """

    def __init__(
        self,
        *,
        model: Model,
        tools: Sequence[Tool] = (),
        system_prompt: str = "",
        turns: Iterable[Turn] = (),
        thinking: ThinkingLevel = "off",
        transform_context: TransformContext | None = None,
        convert_to_llm: ConvertToLlm | None = None,
        get_api_key: GetApiKey | None = None,
        before_tool_call: BeforeToolCall | None = None,
        after_tool_call: AfterToolCall | None = None,
        on_steer: OnSteer = "skip_remaining",
        steering_mode: QueueMode = "one_at_a_time",
        follow_up_mode: QueueMode = "one_at_a_time",
        tool_execution: ToolExecution = "parallel",
        limits: Limits = Limits(),  # noqa: B008 - immutable
        session_id: str | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.model = model
        self.tools: Sequence[Tool] = tuple(tools)
        self.system_prompt = system_prompt
        self.thinking: ThinkingLevel = thinking
        self.transform_context = transform_context
        self.convert_to_llm = convert_to_llm
        self.get_api_key = get_api_key
        self.before_tool_call = before_tool_call
        self.after_tool_call = after_tool_call
        self.on_steer: OnSteer = on_steer
        self.tool_execution: ToolExecution = tool_execution
        self.limits = limits
        self.session_id = session_id
        self.max_tokens: int | None = None
        self.retry = RetryPolicy()
        self.grace = 0.05
        self.listener_grace: float | None = None
        self.more_tools: MoreTools | None = None
        self.when_idle: WhenIdle | None = None
        self.when_failed: WhenFailed | None = None
        self.when_done: WhenDone | None = None
        self.make_left_open = False
        self.on_launch: OnLaunch | None = None
        self._clock: Clock = clock or SystemClock()
        self._turns: list[Turn] = list(turns)
        self._turns_seen: tuple[Turn, ...] | None = None
        self._steering = _Queue()
        self._follow_up = _Queue()
        self.steering_mode: QueueMode = steering_mode
        self.follow_up_mode: QueueMode = follow_up_mode
        self._bus = EventBus(self._see)
        self._task: asyncio.Task[AgentEnd] | None = None
        self._abort_controller: AbortController | None = None
        self._streaming: dict[str, tuple[Turn, list[str]]] = {}
        self._pending: dict[str, None] = {}
        self._error: ModelError | None = None

    # State

    @property
    def state(self) -> AgentState:
        """What the agent is and does now."""
        return AgentState(
            system_prompt=self.system_prompt,
            model=self.model,
            thinking=self.thinking,
            tools=tuple(self.tools),
            turns=self.turns,
            is_streaming=self.is_streaming,
            streaming_turn=self._streaming_turn(),
            pending_tool_calls=frozenset(self._pending),
            error=self._error,
        )

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The finished turns of the conversation."""
        if self._turns_seen is None:
            self._turns_seen = tuple(self._turns)
        return self._turns_seen

    @turns.setter
    def turns(self, turns: Iterable[Turn]) -> None:
        self._refuse_while_busy("The conversation cannot be replaced")
        self._turns = list(turns)
        self._turns_seen = None

    @property
    def is_streaming(self) -> bool:
        """Whether a run is active."""
        return self._task is not None and not self._task.done()

    # Running

    async def prompt(self, said: str | Turn | Sequence[Turn]) -> AgentEnd:
        """Say something and run until idle; return how the run ended.

        Cancelling this call aborts the run and waits until it has settled. `prompt([])` says nothing: it goes on as
        `continue_()` does and rejects what that rejects.

        Raises:
            AgentBusy: a run is active.
            TypeError: what is said is neither text nor turns.
            EmptyMessage: a message without words.
            NothingToContinue: nothing is said, and there is nothing to go on from.
        """
        self._refuse_while_busy("A message cannot be sent")
        prompts = _as_prompts(said, self._known_ids())
        if not prompts:
            return await self.continue_()
        return await self._run(prompts, *self._prepared(), poll_first=True)

    async def continue_(self) -> AgentEnd:
        """Run on from where the conversation stands; return how the run ended.

        Raises:
            AgentBusy: a run is active.
            NothingToContinue: the conversation is empty or complete, and nothing is queued.
        """
        self._refuse_while_busy("The conversation cannot be continued")
        prepared = self._prepared()  # raises what is wrong before anything leaves the queues
        prompts = find_continuation(self._turns, [self._take_steering, self._take_follow_up])
        return await self._run(prompts, *prepared, poll_first=not prompts)

    def abort(
        self, reason: str = "", *, outcome: Outcome = "cancelled", notice: NoticeTurn | None = None
    ) -> None:
        """Stop the active run at once; it settles within the grace period. Idle, this does nothing.

        Args:
            reason: why.
            outcome: how the run is said to have ended: `cancelled`, or `limit`.
            notice: what the conversation says about it, as the run's last turn.
        """
        if self._abort_controller is not None:
            self._abort_controller.abort(reason, outcome=outcome, notice=notice)

    def cancel_tool(self, call_id: str) -> bool:
        """Cancel one open tool call (the id of its turn, or its wire id); return whether there was one."""
        return self._abort_controller is not None and self._abort_controller.cancel_tool(call_id)

    @property
    def usage(self) -> Usage:
        """Tokens of the active run's requests so far; none when idle."""
        return self._abort_controller.usage if self._abort_controller is not None else Usage()

    async def wait_for_idle(self) -> None:
        """Return when no run is active and the listeners of `agent_end` have finished.

        What the run itself waits for (a listener, a tool, a hook) must not wait for it.
        """
        while self._task is not None and not self._task.done():
            await asyncio.wait({self._task})

    def reset(self) -> None:
        """Forget the conversation, the queues and the error.

        Raises:
            AgentBusy: a run is active.
        """
        self._refuse_while_busy("The agent cannot be reset")
        self._turns, self._turns_seen = [], None
        self.clear_all_queues()
        self._error = None

    # Queues

    def steer(self, said: str | UserTurn) -> UserTurn:
        """Queue a message for the working agent: delivered after the tool that runs, or with the next step.

        Raises:
            TypeError: it is neither text nor a user turn.
            EmptyMessage: it has none.
        """
        return self._enqueue(self._steering, said)

    def follow_up(self, said: str | UserTurn) -> UserTurn:
        """Queue a message for when the agent would otherwise be idle.

        Raises:
            TypeError: it is neither text nor a user turn.
            EmptyMessage: it has none.
        """
        return self._enqueue(self._follow_up, said)

    @property
    def steering_queue(self) -> tuple[UserTurn, ...]:
        """What waits as steering, oldest first."""
        return tuple(self._steering.turns)

    @property
    def follow_up_queue(self) -> tuple[UserTurn, ...]:
        """What waits as follow-up, oldest first."""
        return tuple(self._follow_up.turns)

    def clear_steering_queue(self) -> list[UserTurn]:
        """Empty the queue and return what was in it."""
        return self._steering.take("all")

    def clear_follow_up_queue(self) -> list[UserTurn]:
        """Empty the queue and return what was in it."""
        return self._follow_up.take("all")

    def clear_all_queues(self) -> list[UserTurn]:
        """Empty both queues and return what was in them, steering first."""
        return self._steering.take("all") + self._follow_up.take("all")

    def withdraw(self, turn_id: str) -> UserTurn | None:
        """Take a queued message back; None when it was delivered already."""
        return self._steering.withdraw(turn_id) or self._follow_up.withdraw(turn_id)

    # Listening

    def subscribe(self, listener: Listener, *, first: bool = False) -> Callable[[], None]:
        """Call `listener` (plain or async) with every event from now on, after those subscribed earlier.

        With `first` it comes before them: the log, so that nobody hears what is not kept.

        It is awaited before the run goes on. What it raises is reported once and changes nothing. Once the run
        is stopped it has `listener_grace` seconds; then it is cancelled and not waited for again in this run.

        Returns:
            A function that unsubscribes it.
        """
        return self._bus.subscribe(listener, first=first)

    # Inside

    def _refuse_while_busy(self, what: str) -> None:
        if self.is_streaming:
            raise AgentBusy(f"{what} while the agent works; wait for it or stop it first.")

    def _enqueue(self, queue: _Queue, said: str | UserTurn) -> UserTurn:
        turn = as_message(said, self._known_ids())
        queue.turns.append(turn)
        return turn

    def _take_steering(self) -> list[UserTurn]:
        return self._steering.take(self.steering_mode)

    def _take_follow_up(self) -> list[UserTurn]:
        return self._follow_up.take(self.follow_up_mode)

    def _known_ids(self) -> set[str]:
        """The ids of all turns there are, said or queued."""
        return {turn.id for turn in (*self._turns, *self._steering.turns, *self._follow_up.turns)}

    def _prepared(self) -> tuple[AgentContext, LoopConfig]:
        """What a run that begins now starts from and how it goes; raises what is wrong with the settings."""
        tools, turns = tuple(self.tools), tuple(self._turns)
        context = AgentContext(system_prompt=self.system_prompt, turns=turns, tools=tools)
        settings = {one.name: getattr(self, one.name) for one in fields(LoopConfig) if one.name in vars(self)}
        return context, LoopConfig(
            **settings,
            get_steering=self._take_steering,
            get_follow_up=self._take_follow_up,
            take_undelivered=self.clear_all_queues,
            clock=self._clock,
        )

    async def _run(
        self, prompts: Sequence[Turn], context: AgentContext, config: LoopConfig, *, poll_first: bool
    ) -> AgentEnd:
        """Start the run in a task of its own and wait for it."""
        self._error = None
        self._abort_controller = controller = config.abort_controller
        loop = Loop(context, config, self._bus)
        self._task = task = loop.start(self._go(loop, prompts, poll_first=poll_first))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            controller.abort("the caller was cancelled")
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({task})
            raise

    async def _go(self, loop: Loop, prompts: Sequence[Turn], *, poll_first: bool) -> AgentEnd:
        try:
            return await loop.go(prompts, poll_first=poll_first)
        finally:
            self._streaming.clear()
            self._pending.clear()
            self._task = self._abort_controller = None

    def _see(self, event: Event) -> None:
        """Update the state, before the listeners hear of the event."""
        if isinstance(event, TurnDelta):
            if (streaming := self._streaming.get(event.turn_id)) is not None:
                streaming[1].append(event.text)
        elif isinstance(event, TurnStart):
            self._streaming[event.turn.id] = (event.turn, [])
        elif isinstance(event, TurnEnd):
            self._streaming.pop(event.turn.id, None)
            self._turns.append(event.turn)
            self._turns_seen = None
        elif isinstance(event, ToolStart):
            self._pending[event.call.id] = None
        elif isinstance(event, ToolEnd):
            self._pending.pop(event.call.id, None)
        elif isinstance(event, AgentEnd):
            self._error = event.error

    def _streaming_turn(self) -> Turn | None:
        if not self._streaming:
            return None
        turn, parts = next(reversed(self._streaming.values()))
        if isinstance(turn, AssistantTextTurn | ThinkingTurn):
            return replace(turn, content="".join(parts))
        return turn
