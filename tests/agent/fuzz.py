"""Random runs: scripts of answers and faults, tools of every temper, and interruptions at every await.

    python -m tests.agent.fuzz --runs 10000 --seed 1

Each run must keep the invariants, lose nothing the user said, leave no task behind but those it had to leave,
wait for its longest duration only while something else is outstanding, and leave a log that opens, whole or cut at any byte, into a conversation whose next request is valid.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from agent.core import cancellation
from agent.core.agent import Agent, AgentBusy
from agent.core.events import AgentEnd, Event, ToolStart
from agent.core.limits import Limits
from agent.core.loop import NothingToContinue
from agent.core.messages import to_messages
from agent.core.model import BlockEvent, Request
from agent.core.retry import RetryPolicy
from agent.core.tool import Block, HookContext
from agent.core.turns import ToolCallTurn, ToolResultTurn, Turn, UserTurn
from agent.models.scripted import ScriptedModel, answer
from agent.transcript.session_log import Session
from agent.transcript.turn_records import to_record
from tests.agent.invariants import broken_invariants
from tests.agent.scenario import _after, _before, _script, _tool
from tests.support.long_form import long_form
from tests.support.messages_rules import violations
from tests.support.virtual_time import LoopClock, VirtualLoop

HANGS = 1e7
"""Seconds that stand for ever."""

UNSEEN: list[str] = []
"""What asyncio would have written to the terminal, of this run or, found late, of one before it."""

TOOL_NAMES = ("a", "b", "c", "ctl", "task_complete")


class Broken(AssertionError):
    """A run broke an invariant."""


class _Model(ScriptedModel):
    """Follows its script; some of its streams take for ever to close."""

    rng: random.Random
    slow_closes = 0.0

    async def stream(self, request: Request) -> AsyncIterator[BlockEvent]:
        """Follow the next answer of the script."""
        hangs = self.rng.random() < self.slow_closes
        try:
            async for event in super().stream(request):
                yield event
        finally:
            if hangs:
                await asyncio.sleep(HANGS)


class _Strikes:
    """Aborts that came while a run was active, and how many requests had left by then."""

    def __init__(self, agent: Agent, model: ScriptedModel) -> None:
        self._agent = agent
        self._model = model
        self._requests: int | None = None

    def note(self) -> None:
        """An abort comes now."""
        if self._agent.is_streaming and self._requests is None:
            self._requests = len(self._model.requests)

    def check(self) -> None:
        """The run is over: after its abort no further request left."""
        if self._requests is not None and len(self._model.requests) > self._requests:
            raise Broken("a request left after an abort")
        self._requests = None


class _DurationClock(LoopClock):
    """Knows the timers of the runs' longest duration."""

    def __init__(self, duration: float) -> None:
        self._duration = duration
        self._timers: set[asyncio.TimerHandle] = set()

    def call_later(self, seconds: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        timer = super().call_later(seconds, callback)
        if seconds == self._duration:
            self._timers.add(timer)
        return timer

    def is_duration(self, timer: asyncio.TimerHandle) -> bool:
        return timer in self._timers


def fuzz_one(seed: int, folder: Path) -> str:
    """Play one random run; return its outcome.

    Raises:
        Broken: something that must hold did not.
    """
    rng = random.Random(seed)
    loop = VirtualLoop()
    loop.set_exception_handler(lambda _loop, context: UNSEEN.append(f"seed {seed}: {context['message']}"))
    try:
        outcome = loop.run_until_complete(_fuzz(rng, folder / f"fuzz{seed}.jsonl", loop))
        if UNSEEN:
            raise Broken(f"nobody looked at it: {UNSEEN.pop()}")
        return outcome
    except Broken as broken:
        raise Broken(f"seed {seed}: {broken}") from None
    except Exception as error:
        raise Broken(f"seed {seed}: {type(error).__name__}: {error}") from error
    finally:
        loop.close()


async def _fuzz(rng: random.Random, path: Path, loop: VirtualLoop) -> str:
    model = _Model([_random_answer(rng) for _ in range(rng.randint(1, 6))] + [answer("end")])
    model.rng, model.slow_closes = rng, rng.choice([0.0, 0.0, 0.3])
    executed: list[str] = []
    duration = rng.choice([3.001, 1800.001])  # like no other wait
    clock = _DurationClock(duration)
    loop.watch_jumps(clock.is_duration)
    agent = Agent(
        model=model,
        tools=[_tool(name, _random_tool(rng, name), executed) for name in TOOL_NAMES],
        clock=clock,
        before_tool_call=_before(_random_hooks(rng)) if rng.random() < 0.3 else None,
        after_tool_call=_after(_random_hooks(rng)) if rng.random() < 0.3 else None,
        on_steer=rng.choice(["skip_remaining", "finish_batch"]),
        steering_mode=rng.choice(["one_at_a_time", "all"]),
        follow_up_mode=rng.choice(["one_at_a_time", "all"]),
        tool_execution=rng.choice(["parallel", "sequential"]),
        limits=Limits(
            max_steps=rng.choice([2, 5, 50]),
            max_duration=duration,
            max_parallel_tools=rng.choice([1, 2, 8]),
            min_request_interval=rng.choice([0.0, 0.5]),
            max_silence=50.0,
        ),
    )
    agent.retry = RetryPolicy(retries=rng.randint(0, 2))
    strikes = _Strikes(agent, model)
    checked = agent.before_tool_call
    chatty = rng.choice([0.0, 0.0, 0.3])

    async def before(context: HookContext) -> Any:
        if rng.random() < chatty:  # the person answers an approval with a message
            queued.append(f"q{len(queued)}")
            agent.steer(queued[-1])
            if rng.random() < 0.5:
                return Block("no")
        return await checked(context) if checked is not None else None  # type: ignore[misc]

    if checked is not None or chatty:
        agent.before_tool_call = before
    path.unlink(missing_ok=True)
    session = Session.create(path.parent, "p", session_id=path.stem)
    runs: list[list[tuple[Event, str]]] = []
    queued: list[str] = []
    chance = rng.choice([0.0, 0.02, 0.1, 0.5])
    slowness = rng.choice([0.0, 0.1, 0.5])
    hanging = rng.choice([0.0, 0.0, 0.0, 0.01])
    first: list[Turn] = []
    said: str | list[Turn] = "Hello"
    if rng.random() < 0.1:  # the application answers a call that was left open
        asked = UserTurn(content="before")
        first = [asked, *[ToolCallTurn(tool_use_id=f"open{n}", tool_name="a", input={}) for n in (0, 1)]]
        said = [ToolResultTurn(tool_use_id="open1", output="given"), UserTurn(content="Hello")]
        agent.turns = first
        for turn in first:
            session.add(turn)

    async def listen(event: Event) -> None:
        if event.seq == 0:
            runs.append([])
        runs[-1].append((event, repr(event)))
        sync = session.record(event)
        if sync is not None:
            sync.close()  # type: ignore[attr-defined]
        if rng.random() < slowness:
            await asyncio.sleep(rng.choice([0, 0, 0.1, 1.5]))
        if rng.random() < hanging:
            await asyncio.sleep(HANGS)
        if rng.random() < chance:
            _interrupt(rng, agent, event, queued, strikes)
        if rng.random() < 0.01:
            raise RuntimeError("a listener")

    agent.subscribe(listen)
    task: asyncio.Task[AgentEnd] = loop.create_task(agent.prompt(said))
    if rng.random() < 0.6:

        def abort() -> None:
            strikes.note()
            agent.abort("fuzz")

        strike = rng.choice([abort, abort, task.cancel])
        loop.at_tick(loop.ticks + rng.choice([2, 3, 4, rng.randint(2, 30), rng.randint(2, 150)]), strike)
    outcomes = []
    heard = ["Hello"]
    for round_number in range(rng.randint(1, 3)):
        try:
            end: AgentEnd | None = await task
        except asyncio.CancelledError:
            end = None
        except NothingToContinue:
            break
        if agent.is_streaming:
            raise Broken("idle only after the run is over")
        strikes.check()
        if end is not None:
            outcomes.append(end.outcome)
        text = f"round {round_number}"
        if rng.random() < 0.5:
            task = loop.create_task(agent.prompt(text))
            heard.append(text)
        else:
            task = loop.create_task(agent.continue_())
    else:
        with contextlib.suppress(asyncio.CancelledError, NothingToContinue, AgentBusy):
            await task
    await agent.wait_for_idle()
    strikes.check()
    _check(agent, runs, queued, heard, first)
    await _check_tasks()
    _check_log(rng, agent, session, path)
    session.close()
    path.unlink()
    return outcomes[0] if outcomes else "cancelled"


def _check(
    agent: Agent,
    runs: list[list[tuple[Event, str]]],
    queued: list[str],
    said: list[str],
    first: list[Turn],
) -> None:
    turns = list(first)
    gone_back = []
    for run in runs:
        events = [event for event, _ in run]
        if any(repr(event) != before for event, before in run):
            raise Broken("a kept event changed")
        if not isinstance(events[-1], AgentEnd):
            raise Broken(f"the run ended with {events[-1].type}")
        turns.extend(events[-1].turns)
        gone_back.extend(turn.content for turn in events[-1].undelivered)
        if faults := broken_invariants(events, turns):
            raise Broken("; ".join(faults))
    if list(agent.turns) != turns:
        raise Broken("the conversation is what the runs added")
    if first and runs:
        given = [
            turn.output
            for turn in turns
            if getattr(turn, "tool_use_id", "") == "open1" and hasattr(turn, "output")
        ]
        if given != ["given"]:
            raise Broken(f"a result the application gave is the call's result: {given}")
    delivered = [turn.content for turn in turns if isinstance(turn, UserTurn)]
    waiting = [turn.content for turn in (*agent.steering_queue, *agent.follow_up_queue)]
    if Counter(text for text in delivered + gone_back + waiting if text.startswith("q")) != Counter(queued):
        raise Broken("something the user queued vanished or was said twice")
    if any(text not in delivered for text in said[: len(runs)] if text == "Hello" and runs):
        raise Broken("a prompt vanished")


async def _check_tasks() -> None:
    """Only what ignored its cancellation may still be there."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    if strays := left - cancellation.detached:
        raise Broken(f"tasks left behind: {strays}")
    for _ in range(50):
        if not left:
            return
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=0.01)
        left = asyncio.all_tasks() - {asyncio.current_task()}
    raise Broken("a task that was left behind never ends")


def _check_log(rng: random.Random, agent: Agent, session: Session, path: Path) -> None:
    kept = Session.open(path)
    if kept.problems:
        raise Broken(f"the log has problems: {kept.problems}")
    if [to_record(turn) for turn in kept.turns] != [to_record(turn) for turn in agent.turns]:
        raise Broken("the log is what happened")
    content = path.read_bytes()
    for _ in range(3):
        path.write_bytes(content[: rng.randint(content.index(b"\n") + 1, len(content))])
        cut = Session.open(path)
        if faults := violations({"messages": to_messages(cut.turns)}):
            raise Broken(f"a cut log makes an invalid request: {faults}")


def _interrupt(rng: random.Random, agent: Agent, event: Event, queued: list[str], strikes: _Strikes) -> None:
    kind = rng.choice(["steer", "steer", "follow_up", "abort", "cancel_tool", "busy", "set"])
    if kind in ("steer", "follow_up"):
        text = f"q{len(queued)}"
        queued.append(text)
        (agent.steer if kind == "steer" else agent.follow_up)(text)
    elif kind == "abort" and not isinstance(event, AgentEnd):
        strikes.note()
        agent.abort("fuzz")
    elif kind == "cancel_tool" and isinstance(event, ToolStart):
        agent.cancel_tool(event.call.id)
    elif kind == "busy":
        try:
            agent.reset()
        except AgentBusy:
            return
        raise Broken("a reset during a run must be refused")
    elif kind == "set":
        agent.system_prompt = "changed"
        agent.thinking = "high"


def _random_answer(rng: random.Random) -> list[Any]:
    if rng.random() < 0.1:
        return _random_events(rng)
    parts: list[Any] = []
    for _ in range(rng.randint(0, 4)):
        draw = rng.random()
        if draw < 0.35:
            parts.append(rng.choice(["text", "", " ", "more text\n", "\ud800", "long " * 20]))
        elif draw < 0.8:
            call: dict[str, Any] = {"call": rng.choice([*TOOL_NAMES, "a", "b", "unknown"])}
            if rng.random() < 0.3:
                call["raw"] = rng.choice(
                    ["", "{", "[]", '{"text": 1}', '{"text": "\\ud800"}', "nul", '{"count": 1e999}']
                )
            else:
                call["input"] = {"text": rng.choice(["x", "y", ""])}
            call["id"] = rng.choice(["", "same", "x y", f"id{rng.randint(0, 9)}"])
            call["open"] = rng.random() < 0.1
            parts.append(call)
        elif draw < 0.9:
            parts.append({"think": "hm", "signature": rng.choice(["", "sig"])})
        else:
            parts.append({"pause": rng.choice([0, 0.1, 5])})
    draw = rng.random()
    if draw < 0.1:
        parts.append({"fail": "server", "retryable": rng.random() < 0.7, "retry_after": rng.choice([1, 100])})
    elif draw < 0.15:
        parts.append({"cut": True})
    elif draw < 0.2:
        parts.append({"raise": rng.choice(["boom", "unspeakable"])})
    elif draw < 0.25:
        parts.append({"hang": rng.choice([0, 1, 5])})
    elif draw < 0.4:
        stops = [
            "max_tokens",
            "refusal",
            "pause_turn",
            "model_context_window_exceeded",
            "strange",
            "end_turn",
        ]
        parts.append({"stop": rng.choice(stops)})
    return _script(parts, rng.choice([0, 0, 1, 7]))


def _random_events(rng: random.Random) -> list[Any]:
    """Events as no model should send them."""
    kinds = ["text", "thinking", "tool_call"]
    events = []
    for _ in range(rng.randint(0, 12)):
        block = rng.randint(0, 3)
        events.append(
            rng.choice(
                [
                    ["start", block, rng.choice(kinds), rng.choice(["", "same"]), rng.choice(["a", ""])],
                    ["delta", block, rng.choice(["", "x", "{"])],
                    ["end", block, rng.choice(["", "{}", "{"]), rng.random() < 0.8],
                    ["notice", "hm"],
                    ["waiting", 1.0],
                    ["done", rng.choice(["end_turn", "tool_use", ""])],
                    ["start", 0, "image"],
                ]
            )
        )
    return _script([{"events": events}], 0)


def _random_tool(rng: random.Random, name: str) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "delay": rng.choice([0, 0, 0.1, 2, 100]),
        "sequential": rng.random() < 0.1,
        "control": name == "ctl",
        "stubborn": rng.choice([0, 0, 0, 1, 5]),
    }
    if rng.random() < 0.2:
        spec["timeout"] = rng.choice([0.05, 1.0])
    if rng.random() < 0.2:
        spec["settles_within"] = rng.choice([0.5, 2.0])
    if rng.random() < 0.3:
        spec["progress"] = ["one", "two"]
    if rng.random() < 0.1:
        spec["late_progress"] = 0.1
    spec.update(
        rng.choice(
            [
                {},
                {},
                {"raise": "broken"},
                {"raise": "unspeakable"},
                {"error": "no"},
                {"terminate": True},
                {"returns": None},
                {"cancels_itself": True},
                {"output": ""},
            ]
        )
    )
    return spec


def _random_hooks(rng: random.Random) -> dict[str, Any]:
    choices: list[dict[str, Any]] = [
        {},
        {"block": "no"},
        {"raise": "hook"},
        {"raise": "unspeakable"},
        {"delay": 1},
        {"delay": 1000},
        {"change": {"text": "z"}},
        {"change": {"text": 1}},
        {"replace": "other"},
    ]
    return {name: rng.choice(choices) for name in TOOL_NAMES}


def run(folder: Path, runs: int, seed: int) -> Counter[str]:
    """Play so many random runs; return how many ended in which way.

    Raises:
        Broken: something that must hold did not; it says for which seed.
    """
    logging.getLogger("agent").setLevel(logging.CRITICAL)
    return Counter(fuzz_one(number, folder) for number in range(seed, seed + runs))


if __name__ == "__main__":
    long_form(run, __doc__, runs=1000)
