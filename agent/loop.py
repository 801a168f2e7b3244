"""The stateless loop: prompts and a conversation go in, events come out until the agent is idle.

poll steering
repeat: request, answer, tool calls, poll steering; when nothing is left, poll follow-ups
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel

from agent.answer import Answer, failure
from agent.calls import answer_calls, run_calls
from agent.events import AgentEnd, AgentStart, Event, Outcome, RetryWait, StepEnd, StepStart
from agent.limits import Limits, RepeatWatch, reached
from agent.messages import GO_ON, REFUSED, Conversion, to_messages
from agent.models.base import Model, ModelError, Request, ThinkingLevel, ToolSpec, Usage
from agent.models.retry import GiveUp, RetryPolicy, decide
from agent.models.stalls import Clock, SystemClock
from agent.repair import is_aside, missing_results
from agent.run import Cut, Interrupts, Run, Sink
from agent.tool import AfterToolCall, BeforeToolCall, Tool
from agent.turns import (
    AssistantTextTurn,
    NoticeTurn,
    ThinkingTurn,
    ToolCallTurn,
    ToolResultTurn,
    Turn,
    UserTurn,
)
from personas.errors import PersonaError

log = logging.getLogger(__name__)

OnSteer = Literal["skip_remaining", "finish_batch"]
ToolExecution = Literal["parallel", "sequential"]
TransformContext = Callable[[list[Turn]], "Sequence[Turn] | Awaitable[Sequence[Turn]]"]
ConvertToLlm = Callable[[list[Turn]], "Sequence[Mapping[str, Any]] | Awaitable[Sequence[Mapping[str, Any]]]"]
GetApiKey = Callable[[], "str | Awaitable[str | None] | None"]
Poll = Callable[[], "Sequence[UserTurn] | Awaitable[Sequence[UserTurn]]"]
WhenIdle = Callable[[], Sequence[Turn]]

MOST_PAUSES = 5
"""How often in a row a `pause_turn` is resumed."""


class NothingToContinue(PersonaError):
    """The conversation has nothing the model could go on from."""


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
        take_undelivered: gives what is still queued when the run ends early.
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


def agent_loop(
    prompts: Sequence[Turn], context: AgentContext, config: LoopConfig
) -> AsyncGenerator[Event, None]:
    """Run from new prompts until idle; yield the events, the last being `agent_end`.

    The run waits for its reader at every event. Closing the iterator early aborts the run.
    """
    return _iterate(lambda sink: run_loop(prompts, context, config, sink), config.interrupts)


def agent_loop_continue(context: AgentContext, config: LoopConfig) -> AsyncGenerator[Event, None]:
    """Run on from where the conversation stands; yield the events as `agent_loop` does.

    Raises:
        NothingToContinue: (on reading) the conversation is empty, or complete and nothing is queued.
    """

    async def start(sink: Sink) -> AgentEnd:
        prompts = await find_continuation(context.turns, config.get_steering, config.get_follow_up)
        return await run_loop(prompts, context, config, sink, poll_first=not prompts)

    return _iterate(start, config.interrupts)


async def find_continuation(
    turns: Sequence[Turn], get_steering: Poll | None, get_follow_up: Poll | None
) -> list[UserTurn]:
    """Return the turns with which a conversation goes on: none when its end needs an answer anyway.

    Raises:
        NothingToContinue: there is nothing to go on from.
    """
    last = next((turn for turn in reversed(turns) if not is_aside(turn)), None)
    if last is None:
        raise NothingToContinue("The conversation is empty; there is nothing to continue.")
    if isinstance(last, UserTurn | ToolResultTurn | ToolCallTurn):
        return []
    for poll in (get_steering, get_follow_up):
        if queued := await _poll(poll):
            return queued
    if isinstance(last, ThinkingTurn) or (isinstance(last, AssistantTextTurn) and last.interrupted):
        return [UserTurn(content=GO_ON)]
    raise NothingToContinue("The last answer is complete; send a message to go on.")


async def run_loop(
    prompts: Sequence[Turn],
    context: AgentContext,
    config: LoopConfig,
    sink: Sink,
    *,
    poll_first: bool = True,
) -> AgentEnd:
    """Run until idle, handing each event to `sink`; return the last one.

    Args:
        prompts: what opens the first step.
        context: what the run starts from.
        config: how it goes.
        sink: called with each event; what it returns, if anything, is awaited.
        poll_first: whether steering queued before the run joins the first step.

    Raises:
        CancelledError: the task was cancelled from outside; everything was closed first.
    """
    run = Run(config, sink)
    end = await _Loop(run, context).go(prompts, poll_first=poll_first)
    if run.cancelled_outside:
        raise asyncio.CancelledError
    return end


@dataclass(slots=True)
class _Ending:
    """How a run ends: its outcome, and the notice that says why, if one does."""

    outcome: Outcome
    notice: NoticeTurn | None = None
    error: ModelError | None = None


class _Loop:
    """One run of the loop."""

    def __init__(self, run: Run, context: AgentContext) -> None:
        self._run = run
        self._config = run.config
        self._system_prompt = context.system_prompt
        self._tools = {tool.name: tool for tool in context.tools}
        self._turns = list(context.turns)
        self._ids = {turn.tool_use_id for turn in self._turns if isinstance(turn, ToolCallTurn)}
        self._repeats = RepeatWatch(self._config.limits.max_repeats)
        self._conversion: Conversion | None = None
        self._specs: list[ToolSpec] = []
        self._stop_reason = ""
        self._step_usage = Usage()
        self._truncations = 0
        self._pauses = 0
        self._requested_at: float | None = None
        run.on_turn = self._keep

    async def go(self, prompts: Sequence[Turn], *, poll_first: bool) -> AgentEnd:
        """Run from `agent_start` to `agent_end`."""
        run, config = self._run, self._config
        pending: list[Turn] = list(prompts)
        config.interrupts.attach(run)
        duration = config.limits.max_duration
        timer = None
        if duration is not None:
            reason = f"Stopped after {duration / 60:.3g} minutes, the longest one run may take."
            timer = config.clock.call_later(duration, lambda: run.stop("limit", reason))
        try:
            await run.emit(AgentStart)
            try:
                ending = await self._steps(pending, poll_first=poll_first)
            except Exception as error:
                # a fault of our own still ends the run for everyone
                log.exception("the run broke")
                ending = _Ending("failed", error=failure("The agent", error))
            if ending.notice is not None:
                await run.say(ending.notice)
        finally:
            if timer is not None:
                timer.cancel()
            config.interrupts.detach(run)
        undelivered = [turn for turn in pending if isinstance(turn, UserTurn)]
        if ending.outcome != "completed":
            undelivered.extend(config.take_undelivered())
        fields: dict[str, Any] = {
            "turns": tuple(run.added),
            "outcome": ending.outcome,
            "stop_reason": self._stop_reason,
            "error": ending.error,
            "usage": run.usage,
            "steps": run.step,
            "undelivered": tuple(undelivered),
        }
        end = AgentEnd(**run.stamp(), **fields)
        await run.send(end)
        return end

    async def _steps(self, pending: list[Turn], *, poll_first: bool) -> _Ending:
        """Go step by step; `pending` always holds what opens the next step and was not said yet."""
        run, config = self._run, self._config
        try:
            self._prepare()
            if poll_first:
                pending.extend(await self._ask_for(config.get_steering))
        except Exception as error:  # noqa: BLE001 - tools and functions of the application
            return await self._fail_first_step(pending, failure("The agent", error))
        while True:
            ending, more = await self._step(pending)
            if ending is not None:
                return ending
            try:
                if not more and not pending:
                    pending.extend(await self._ask_for(config.get_follow_up))
                    if not pending and config.when_idle is not None and run.stopped is None:
                        pending.extend(config.when_idle())
                    if not pending:
                        return self._stopped() or _Ending("completed")
                why = reached(config.limits, steps=run.step, usage=run.usage, model=config.model.name)
            except Exception as error:  # noqa: BLE001 - functions of the application
                return _Ending("failed", error=failure("The agent", error))
            if why is not None:
                return _Ending("limit", NoticeTurn(content=why, kind="limit"))
            if (stopped := self._stopped()) is not None:
                return stopped

    async def _step(self, pending: list[Turn]) -> tuple[_Ending | None, bool]:
        """One request, its answer and its calls. Returns how the run ends, or whether the model goes on."""
        run, config = self._run, self._config
        await self._open_step(pending)
        answer = await self._ask()
        self._stop_reason = answer.stop_reason
        results: list[ToolResultTurn] = []
        ending: _Ending | None = None
        ends_run = False
        if (reason := self._why_not_run(answer)) is not None:
            results = await answer_calls(run, answer.calls, reason)
        elif answer.calls:
            poll = self._poll_steering if config.on_steer == "skip_remaining" else None
            batch = await run_calls(run, answer.calls, self._tools, poll)
            results, ends_run = batch.results, batch.ends_run
            pending.extend(batch.steering)
            for call, failed in batch.tried:
                if (why := self._repeats.saw(call, is_error=failed)) is not None:
                    ending = _Ending("limit", NoticeTurn(content=why, kind="limit"))
        await run.emit(
            StepEnd,
            step=run.step,
            stop_reason=answer.stop_reason,
            usage=self._step_usage,
            tool_results=tuple(results),
        )
        ending = self._ending_of(answer) or ending
        if ending is None and not pending:
            try:
                pending.extend(await self._ask_for(config.get_steering))
            except Exception as error:  # noqa: BLE001 - a function of the application
                ending = _Ending("failed", error=failure("The agent", error))
        more = bool(answer.calls) or answer.stop_reason == "pause_turn"
        return self._stopped() or ending, more and not ends_run

    async def _open_step(self, pending: list[Turn]) -> None:
        """Say what opens the step; calls that still have no result are answered first."""
        run = self._run
        run.step += 1
        await run.emit(StepStart, step=run.step)
        if run.step == 1:
            for result in missing_results(self._turns):
                await run.say(result)
        while pending:
            await run.say(pending.pop(0))

    async def _fail_first_step(self, pending: list[Turn], error: ModelError) -> _Ending:
        """What the user said is kept even when nothing can be asked."""
        await self._open_step(pending)
        await self._run.emit(StepEnd, step=self._run.step, stop_reason="", usage=Usage(), tool_results=())
        return _Ending("failed", error=error)

    # The request

    async def _ask(self) -> Answer:
        """Make the request, again where that makes sense, and return what came of it, all turns ended."""
        run, config = self._run, self._config
        failures = 0
        self._step_usage = Usage()
        while True:
            answer = Answer(run, self._ids)
            if await self._is_time():
                await self._attempt(answer)
            await answer.close()
            run.usage += answer.usage
            self._step_usage += answer.usage
            if answer.error is None or answer.shown or run.stopped is not None:
                return answer
            failures += 1
            verdict = decide(answer.error, failures, config.retry, config.random())
            if isinstance(verdict, GiveUp):
                answer.error = verdict.error
                return answer
            await run.emit(RetryWait, attempt=verdict.attempt, delay=verdict.delay, error=answer.error)
            if not await run.sleep_until(config.clock.now() + verdict.delay):
                answer.error = None
                return answer

    async def _attempt(self, answer: Answer) -> None:
        """One attempt at the request."""
        run, config = self._run, self._config
        try:
            request = await self._request()
            if run.stopped is not None:
                return
            self._requested_at = answer.last_at = config.clock.now()
            stream = config.model.stream(request)
            task = asyncio.get_running_loop().create_task(answer.read(stream))
        except Cut as cut:
            if run.stopped is None:
                answer.error = ModelError("client", f"The request could not be prepared: {cut}.")
            return
        except Exception as error:  # noqa: BLE001 - functions of the application
            answer.error = failure("The request", error)
            return
        silence = config.limits.max_silence
        if silence is None:
            await run.watch(task)
        elif await run.watch(task, lambda: answer.last_at + silence) and run.stopped is None:
            message = f"Nothing came from the model for {silence:.0f} s; the request was given up."
            answer.error = ModelError("stall", message, retryable=True)

    async def _request(self) -> Request:
        """The request for the conversation as it stands."""
        run, config = self._run, self._config
        within = config.limits.hook_timeout
        if config.transform_context is None and config.convert_to_llm is None:
            messages: Sequence[Mapping[str, Any]] = self._convert().messages()
        else:
            turns: Sequence[Turn] = list(self._turns)
            if config.transform_context is not None:
                turns = await run.call(config.transform_context, turns, within=within)
            if config.convert_to_llm is not None:
                messages = await run.call(config.convert_to_llm, list(turns), within=within)
            else:
                model = config.model
                messages = to_messages(turns, model=model.name, endpoint=model.endpoint)
        key = None
        if config.get_api_key is not None:
            key = await run.call(config.get_api_key, within=within)
        return Request(
            system=self._system_prompt,
            messages=messages,
            tools=self._specs,
            thinking=config.thinking,
            max_tokens=config.max_tokens,
            session_id=config.session_id,
            api_key=key,
        )

    def _convert(self) -> Conversion:
        """Our own conversion; it looks at each turn of the run once."""
        if self._conversion is None:
            model = self._config.model
            self._conversion = Conversion(model=model.name, endpoint=model.endpoint)
            self._conversion.extend(self._turns)
        return self._conversion

    async def _is_time(self) -> bool:
        """Keep the least time between requests; False when the run was stopped."""
        interval = self._config.limits.min_request_interval
        if self._requested_at is None or interval <= 0:
            return self._run.stopped is None
        return await self._run.sleep_until(self._requested_at + interval)

    # Deciding

    def _why_not_run(self, answer: Answer) -> str | None:
        """Why the calls of this answer may not run, in words for the model."""
        if self._run.stopped is not None:
            return "Cancelled: not run."
        if not answer.complete:
            return "Not run: the answer broke off before it was complete. Send the call again if it still makes sense."
        return _NEVER_RUN.get(answer.stop_reason)

    def _ending_of(self, answer: Answer) -> _Ending | None:
        """Whether this answer ends the run."""
        if answer.error is not None:
            return _Ending("failed", error=answer.error)
        reason = answer.stop_reason
        self._pauses = self._pauses + 1 if reason == "pause_turn" else 0
        self._truncations = self._truncations + 1 if reason == "max_tokens" and answer.calls else 0
        if reason == "refusal":
            text = "The model refused to answer; its answer is kept out of later requests."
            return _Ending("refused", NoticeTurn(content=text, kind=REFUSED))
        if reason == "model_context_window_exceeded":
            text = (
                "The conversation no longer fits the model's context window; shorten it or start a new one."
            )
            return _Ending("truncated", NoticeTurn(content=text, kind="truncated"))
        if reason == "max_tokens" and (not answer.calls or self._truncations >= 2):
            text = "The answer was cut at the model's output limit."
            if answer.calls:
                text = "The answer was cut at the model's output limit twice in a row, in the middle of a tool call."
            return _Ending("truncated", NoticeTurn(content=text, kind="truncated"))
        if self._pauses > MOST_PAUSES:
            text = f"Stopped because the model paused {self._pauses} times in a row."
            return _Ending("limit", NoticeTurn(content=text, kind="limit"))
        return None

    def _stopped(self) -> _Ending | None:
        """The ending of a run that was stopped."""
        if self._run.stopped is None:
            return None
        outcome, reason = self._run.stopped
        notice = self._run.stop_notice
        if notice is None and outcome == "limit":
            notice = NoticeTurn(content=reason, kind="limit")
        return _Ending(outcome, notice)

    # What the loop keeps

    def _prepare(self) -> None:
        self._specs = [
            ToolSpec(tool.name, tool.description, _schema(tool.input)) for tool in self._tools.values()
        ]

    def _keep(self, turn: Turn) -> None:
        self._turns.append(turn)
        self._run.added.append(turn)
        if self._conversion is not None:
            self._conversion.add(turn)

    async def _ask_for(self, poll: Poll | None) -> list[UserTurn]:
        return [] if self._run.stopped is not None else await _poll(poll)

    async def _poll_steering(self) -> list[UserTurn]:
        """Steering during a batch; a poll that fails counts as nothing said, the next one will tell."""
        try:
            return await self._ask_for(self._config.get_steering)
        except Exception:  # noqa: BLE001 - a function of the application
            return []


_NEVER_RUN = {
    "max_tokens": "Not run: the answer was cut at its output limit, so this call may be incomplete. Send it again "
    "with a shorter input, or in several smaller calls.",
    "refusal": "Not run: the answer was refused.",
    "model_context_window_exceeded": "Not run: the conversation no longer fits the context window.",
}


async def _poll(poll: Poll | None) -> list[UserTurn]:
    if poll is None:
        return []
    queued = poll()
    return list(await queued if inspect.isawaitable(queued) else queued)


@lru_cache(maxsize=256)
def _schema(model: type[BaseModel]) -> Mapping[str, Any]:
    return model.model_json_schema()


async def _iterate(
    start: Callable[[Sink], Awaitable[AgentEnd]], interrupts: Interrupts
) -> AsyncGenerator[Event, None]:
    """Run in a task of its own and yield each event; the run goes on once the reader asks for the next."""
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    taken: asyncio.Future[None] | None = None

    def sink(event: Event) -> Awaitable[None] | None:
        nonlocal taken
        if closed:
            return None
        events.put_nowait(event)
        taken = loop.create_future()
        return taken

    closed = False
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(start(sink))
    task.add_done_callback(lambda _task: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
            if taken is not None and not taken.done():
                taken.set_result(None)
        await task
    finally:
        closed = True
        if taken is not None and not taken.done():
            taken.set_result(None)
        if not task.done():
            interrupts.abort("the reader of the events went away")
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(task)
