"""Plays a declared scenario: a scripted model, tools with delays, and who interrupts when, in virtual time.

A scenario is a table with these keys, all but `name` optional:

    name, covers, differs   what it is about, the sentence it covers, where the peer decides otherwise
    say                     what is said: a text, or a list of several turns; "continue" = continue_()
    then                    further things said after the run, each a run of its own
    turns                   the conversation before, as records (`type` and the fields of that kind)
    answers                 the model's answers, each a list of parts:
                              "text"  {call, input, id, raw, open}  {think, signature, redacted}
                              {pause} {hang} {raise} {stop} {usage} {fail, message, retryable, retry_after, status}
                              {events = [...]} raw block events: ["start", 0, "text"], ["delta", 0, "…"], ["end", 0]
    chunk                   characters of a delta
    tools                   by name: {delay, output, error, progress, sequential, control, destructive, timeout,
                              stubborn, terminate, late_progress, returns}; `input` is {text: str = ""}
    before, after           hooks by tool name: {block} {change} {raise} {delay} {replace}
    do                      a list of {on = "token", nth = 1, …} or {at = seconds, …} with one of
                              steer, follow_up, abort, cancel_tool, queue_before = true
    price                   what each request costs
    agent                   further attributes of the agent; `limits`, `retry` tables of their fields
    convert, transform, key functions that fail or mark: "raise", "hang", "drop_first", "note"
    linger                  seconds that go by after the last run, for what it left behind
    events                  the expected events of the last run as tokens (see `tokens`)
    expect                  outcome, texts, results, undelivered, requests, steps, elapsed, notice, error, turns, …
                            `logged` is what was logged once the last run had settled
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from agent.core.agent import Agent
from agent.core.events import (
    AgentEnd,
    Event,
    ModelNotice,
    RetryWait,
    StepStart,
    ToolEnd,
    ToolProgress,
    ToolStart,
    TurnDelta,
    TurnEnd,
    TurnStart,
)
from agent.core.limits import Limits
from agent.core.model import BlockDelta, BlockEnd, BlockEvent, BlockStart, Done, Notice, Usage, Waiting
from agent.core.retry import RetryPolicy
from agent.core.tool import Block, ChangeInput, HookContext, Tool, ToolContext, ToolOutput
from agent.core.turns import Turn, UserTurn
from agent.models.scripted import Cue, Hang, Pause, Raise, ScriptedModel, Thought, ToolUse, answer, failed
from agent.transcript.turn_records import from_record
from tests.support.virtual_time import LoopClock, run_virtually


class TextInput(BaseModel, extra="forbid"):
    """Input of every tool in a scenario."""

    text: str = ""
    count: int | None = None


SHORT = {
    "assistant_text": "text",
    "tool_call": "call",
    "tool_result": "result",
}


@dataclass
class Played:
    """What came of a scenario: the last run, and what led there."""

    agent: Agent
    model: ScriptedModel
    runs: list[list[Event]]
    ends: list[AgentEnd]
    executed: list[str]
    elapsed: float
    logged: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)


def tokens(events: Sequence[Event]) -> list[str]:
    """Return events in short form: `text` for a whole turn in one piece, else `+text ~text -text`."""
    result: list[str] = []
    kinds: dict[str, str] = {}
    latest = ""  # the turn all tokens since its start belong to
    for event in events:
        if isinstance(event, TurnStart):
            latest = event.turn.id
            kinds[latest] = SHORT.get(event.turn.type, event.turn.type)
            result.append("+" + kinds[latest])
        elif isinstance(event, TurnDelta):
            token = "~" + kinds[event.turn_id]
            if result[-1] != token or latest != event.turn_id:
                result.append(token)
            latest = latest if latest == event.turn_id else ""
        elif isinstance(event, TurnEnd):
            kind = kinds[event.turn.id]
            cut = "…" if getattr(event.turn, "interrupted", False) else ""
            if latest == event.turn.id:
                del result[len(result) - 1 - result[::-1].index("+" + kind) :]
                result.append(kind + cut)
            else:
                result.append("-" + kind + cut)
            latest = ""
        elif isinstance(event, ToolStart):
            latest = ""
            result.append("tool_start:" + event.call.tool_name)
        elif isinstance(event, ToolEnd):
            result.append("tool_end:" + event.call.tool_name + ("!" if event.is_error else ""))
        elif isinstance(event, ToolProgress):
            result.append("progress:" + event.text)
        elif isinstance(event, RetryWait | ModelNotice | StepStart):
            result.append(event.type)
        elif isinstance(event, AgentEnd):
            result.append("agent_end:" + event.outcome)
        else:
            result.append(event.type)
    return result


def play(scenario: Mapping[str, Any]) -> Played:
    """Play a scenario to its end."""
    return run_virtually(_play(scenario))


async def _play(scenario: Mapping[str, Any]) -> Played:
    loop = asyncio.get_running_loop()
    model = ScriptedModel([_script(parts, scenario.get("chunk", 0)) for parts in scenario.get("answers", [])])
    executed: list[str] = []
    limits = {**scenario.get("agent", {}).get("limits", {})}
    if "price" in scenario:
        limits["price"] = lambda _name, _usage: scenario["price"]
    options = {
        key: value for key, value in scenario.get("agent", {}).items() if key not in ("limits", "retry")
    }
    late = {key: options.pop(key) for key in ("grace", "max_tokens") if key in options}
    agent = Agent(
        model=model,
        tools=[_tool(name, spec, executed) for name, spec in scenario.get("tools", {}).items()],
        turns=[from_record(record) for record in scenario.get("turns", [])],
        limits=Limits(**limits),
        clock=LoopClock(),
        before_tool_call=_before(scenario["before"]) if "before" in scenario else None,
        after_tool_call=_after(scenario["after"]) if "after" in scenario else None,
        transform_context=_transform(scenario.get("transform")),
        convert_to_llm=_convert(scenario.get("convert")),
        get_api_key=_key(scenario.get("key")),
        **options,
    )
    for name, value in late.items():
        setattr(agent, name, value)
    agent.retry = RetryPolicy(**scenario.get("agent", {}).get("retry", {}))
    runs: list[list[Event]] = []
    played = Played(agent, model, runs, [], executed, 0.0)
    agent.subscribe(lambda event: _note(played, event))
    actions = list(scenario.get("do", []))
    for action in actions:
        if action.get("before"):
            _act(played, action)
        elif "at" in action:
            loop.call_later(action["at"], _act, played, action)
    counts: dict[int, int] = {}

    def watch(event: Event) -> None:
        token = tokens_of(event, played)
        for index, action in enumerate(actions):
            if action.get("on") == token:
                counts[index] = counts.get(index, 0) + 1
                if counts[index] == action.get("nth", 1):
                    _act(played, action)

    agent.subscribe(watch)
    for said in [scenario.get("say", "Hello"), *scenario.get("then", [])]:
        began = loop.time()
        if said == "continue":
            played.ends.append(await agent.continue_())
        elif isinstance(said, list):
            played.ends.append(await agent.prompt([UserTurn(content=text) for text in said]))
        else:
            played.ends.append(await agent.prompt(said))
        played.elapsed = loop.time() - began
        await agent.wait_for_idle()
    if "linger" in scenario:
        with _logged(played.logged):
            await asyncio.sleep(scenario["linger"])
    for _ in range(20):  # what was left behind by purpose ends on its last cancellation
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.sleep(0)
    return played


class _Kept(logging.Handler):
    """Keeps what is logged."""

    def __init__(self, messages: list[str]) -> None:
        super().__init__()
        self._messages = messages

    def emit(self, record: logging.LogRecord) -> None:
        self._messages.append(record.getMessage())


@contextmanager
def _logged(messages: list[str]) -> Iterator[None]:
    """Keep what the core logs meanwhile."""
    log, handler = logging.getLogger("agent"), _Kept(messages)
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(level)
        log.removeHandler(handler)


def tokens_of(event: Event, played: Played) -> str:
    """One event as a token of its own, never joined with its neighbours."""
    if isinstance(event, TurnStart | TurnEnd):
        sign = "+" if isinstance(event, TurnStart) else "-"
        kind = SHORT.get(event.turn.type, event.turn.type)
        played.names[event.turn.id] = kind
        return sign + kind
    if isinstance(event, TurnDelta):
        return "~" + played.names[event.turn_id]
    if isinstance(event, ToolEnd):
        return "tool_end:" + event.call.tool_name
    return tokens([event])[0]


def _note(played: Played, event: Event) -> None:
    if event.seq == 0:
        played.runs.append([])
    played.runs[-1].append(event)


def _act(played: Played, action: Mapping[str, Any]) -> None:
    agent = played.agent
    if "steer" in action:
        agent.steer(action["steer"])
    if "follow_up" in action:
        agent.follow_up(action["follow_up"])
    if "abort" in action:
        agent.abort(action["abort"])
    if "cancel_tool" in action:
        event = next(
            event
            for event in reversed(played.runs[-1])
            if isinstance(event, ToolStart) and event.call.tool_name == action["cancel_tool"]
        )
        assert agent.cancel_tool(event.call.id)


class Unspeakable(Exception):
    """Raises when it is asked what it says: `raise = "unspeakable"` in a scenario."""

    def __str__(self) -> str:
        raise RuntimeError("no words for it")


def _error(words: str) -> Exception:
    return Unspeakable() if words == "unspeakable" else RuntimeError(words)


def _script(parts: Sequence[Any], chunk: int) -> list[BlockEvent | Cue]:
    said: list[Any] = []
    stop, usage = "", None
    ending: list[BlockEvent | Cue] | None = None
    for part in parts:
        if isinstance(part, str):
            said.append(part)
        elif "call" in part:
            said.append(
                ToolUse(
                    part["call"],
                    part.get("input", {}),
                    part.get("id", ""),
                    part.get("raw"),
                    not part.get("open"),
                )
            )
        elif "think" in part:
            said.append(Thought(part["think"], part.get("signature", "signed"), part.get("redacted", "")))
        elif "pause" in part:
            said.append(Pause(part["pause"]))
        elif "stop" in part:
            stop = part["stop"]
        elif "usage" in part:
            usage = Usage(**part["usage"])
        elif "raise" in part:
            ending = [Raise(_error(part["raise"]))]
        elif "hang" in part:
            ending = [Hang(part["hang"])]
        elif "cut" in part:
            ending = []
        elif "fail" in part:
            details = {key: part[key] for key in ("retry_after", "status") if key in part}
            retryable = part.get("retryable", False)
            ending = [failed(part["fail"], part.get("message", "It failed."), retryable=retryable, **details)]
        elif "events" in part:
            return [_raw(*event) for event in part["events"]]
        else:
            raise ValueError(f"no such part: {part}")
    events = answer(*said, stop_reason=stop, usage=usage, chunk=chunk)
    return events if ending is None else [*events[:-1], *ending]


def _raw(kind: str, *values: Any) -> BlockEvent:
    if kind == "start":
        return BlockStart(*values)
    if kind == "delta":
        return BlockDelta(*values)
    if kind == "end":
        return BlockEnd(values[0], *values[1:2], complete=values[2] if len(values) > 2 else True)
    if kind == "done":
        return Done(*values)
    if kind == "notice":
        return Notice(*values)
    if kind == "waiting":
        return Waiting(*values)
    raise ValueError(kind)


def _tool(name: str, spec: Mapping[str, Any], executed: list[str]) -> Tool:
    async def execute(given: TextInput, ctx: ToolContext) -> Any:
        executed.append(name + (":" + given.text if given.text else ""))
        for text in spec.get("progress", []):
            ctx.on_progress(text)
        if "late_progress" in spec:
            asyncio.get_running_loop().call_later(spec["late_progress"], ctx.on_progress, "too late")
        ignore = spec.get("stubborn", 0)
        ends = asyncio.get_running_loop().time() + spec.get("delay", 0)
        while (left := ends - asyncio.get_running_loop().time()) > 0:
            try:
                await asyncio.sleep(left)
            except asyncio.CancelledError:
                ignore -= 1
                if ignore < 0:
                    raise
        if "raise" in spec:
            raise _error(spec["raise"])
        if spec.get("cancels_itself"):
            raise asyncio.CancelledError
        if "returns" in spec:
            return spec["returns"]
        output = spec.get("output", f"{name} done")
        if "error" in spec or "terminate" in spec or "details" in spec:
            return ToolOutput(
                output=spec.get("error", output),
                is_error="error" in spec,
                terminate=spec.get("terminate", False),
                details=spec.get("details"),
            )
        return output

    return Tool(
        name,
        f"The tool {name}.",
        name,
        TextInput,
        execute,
        sequential=spec.get("sequential", False),
        control=spec.get("control", False),
        timeout=spec.get("timeout"),
        settles_within=spec.get("settles_within"),
    )


def _before(hooks: Mapping[str, Any]) -> Any:
    async def before(context: HookContext) -> Any:
        spec = hooks.get(context.tool.name, {})
        if "mutate" in spec:
            context.input.text = spec["mutate"]  # type: ignore[attr-defined]
        if "delay" in spec:
            await asyncio.sleep(spec["delay"])
        if "raise" in spec:
            raise _error(spec["raise"])
        if "block" in spec:
            return Block(spec["block"])
        if "change" in spec:
            return ChangeInput(spec["change"])
        return spec.get("answer")

    return before


def _after(hooks: Mapping[str, Any]) -> Any:
    async def after(context: HookContext) -> ToolOutput | None:
        spec = hooks.get(context.tool.name, {})
        if "delay" in spec:
            await asyncio.sleep(spec["delay"])
        if "raise" in spec:
            raise _error(spec["raise"])
        if "replace" in spec:
            return ToolOutput(output=spec["replace"], is_error=spec.get("is_error", False))
        return None

    return after


def _transform(kind: str | None) -> Any:
    async def transform(turns: list[Turn]) -> list[Turn]:
        if kind == "raise":
            raise RuntimeError("no context")
        if kind == "hang":
            await asyncio.sleep(1e6)
        if kind == "drop_first":
            return turns[1:]
        return [UserTurn(content="noted"), *turns]

    return None if kind is None else transform


def _convert(kind: str | None) -> Any:
    def convert(turns: list[Turn]) -> list[dict[str, Any]]:
        if kind == "raise":
            raise RuntimeError("no words")
        return [{"role": "user", "content": "|".join(getattr(turn, "content", turn.type) for turn in turns)}]

    return None if kind is None else convert


def _key(kind: str | None) -> Any:
    count = 0

    async def key() -> str:
        nonlocal count
        if kind == "raise":
            raise RuntimeError("locked")
        count += 1
        return f"key-{count}"

    return None if kind is None else key
