"""What the core costs, against a floor measured in the same run: a bare async generator of as many objects.

    python -m tests.benchmarks.core

Per text delta and per step with one tool, with 1 and 5 listeners; runs of 50 and 500 steps, without and with the
transform of the program's own conversations, the conversion of the conversation to messages taken out and shown by
itself, per turn; time from abort to idle in six places; time to open a session of 100 and of 10,000 turns.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from agent.chat.chat import ChatOptions
from agent.core.agent import Agent
from agent.core.events import Event
from agent.core.limits import Limits
from agent.core.loop_config import TransformContext
from agent.core.messages import to_messages
from agent.core.model import BlockDelta, BlockEnd, BlockEvent, BlockStart, Done, Request
from agent.core.tool import Tool, ToolContext
from agent.core.turns import AssistantTextTurn, ToolCallTurn, ToolResultTurn, Turn, UserTurn
from agent.models.scripted import Hang, Pause, ScriptedModel, ToolUse, answer, failed
from agent.transcript.context_window import context_window
from agent.transcript.session_log import Session

ENDLESS = Limits(max_steps=1_000_000)


class Look(BaseModel, extra="forbid"):
    """Input of the one tool."""

    place: str


async def look(given: Look, _ctx: ToolContext) -> str:
    """Return at once."""
    return "nothing in " + given.place


LOOK = Tool("look", "Look somewhere.", "Look", Look, look)


class Talker:
    """Sends one text of many deltas, suspending now and then as a socket would."""

    name, endpoint = "talker", "embedded"

    def __init__(self, deltas: int) -> None:
        self.deltas = deltas

    async def stream(self, _request: Request) -> AsyncIterator[BlockEvent]:
        """One text block."""
        yield BlockStart(0, "text")
        for _ in range(self.deltas):
            yield BlockDelta(0, "word ")
        yield BlockEnd(0)
        yield Done("end_turn")


class Caller:
    """Calls the tool in every step but the last."""

    name, endpoint = "caller", "embedded"

    def __init__(self, steps: int) -> None:
        self.left = steps

    async def stream(self, _request: Request) -> AsyncIterator[BlockEvent]:
        """One call, or the last word."""
        self.left -= 1
        if not self.left:
            yield Done("end_turn")
            return
        yield BlockStart(0, "tool_call", f"call_{self.left}", "look")
        yield BlockDelta(0, '{"place": "here"}')
        yield BlockEnd(0, input_json='{"place": "here"}')
        yield Done("tool_use")


def agent_for(model: Any, listeners: int, transform: TransformContext | None = None) -> Agent:
    """An agent that listens `listeners` times."""
    agent = Agent(model=model, tools=[LOOK], limits=ENDLESS, transform_context=transform)
    for _ in range(listeners):
        agent.subscribe(_listener())
    return agent


def _listener() -> Callable[[Event], None]:
    count = 0

    def listen(_event: Event) -> None:
        nonlocal count
        count += 1

    return listen


async def floor(objects: int) -> float:
    """CPU seconds for passing objects through a bare async generator."""

    async def numbers() -> AsyncIterator[int]:
        for number in range(objects):
            yield number

    began = time.process_time()
    async for _ in numbers():
        pass
    return time.process_time() - began


async def deltas(count: int, listeners: int) -> float:
    """CPU seconds for one text of `count` deltas."""
    agent = agent_for(Talker(count), listeners)
    began = time.process_time()
    await agent.prompt("go")
    return time.process_time() - began


def as_a_chat_sends() -> TransformContext:
    """The transform of the program's own conversations, with its default setting."""
    most = ChatOptions().sent_turns
    return lambda turns: context_window(turns, most)


def nothing(_turns: Sequence[Turn]) -> list[dict[str, str]]:
    """A conversion that costs nothing."""
    return [{"role": "user", "content": "go"}]


async def steps(
    count: int, listeners: int, transform: TransformContext | None = None, *, converts: bool = True
) -> float:
    """CPU seconds for a run of `count` steps with one tool each."""
    agent = agent_for(Caller(count), listeners, transform)
    if not converts:
        agent.convert_to_llm = nothing
    began = time.process_time()
    end = await agent.prompt("go")
    assert end.steps == count, end
    return time.process_time() - began


def conversion(turns: int) -> float:
    """CPU seconds for the messages of a conversation of so many turns, the best of some rounds."""
    conversation: list[Turn] = []
    for number in range(turns // 4):
        conversation.append(UserTurn(content=f"question {number} " + "word " * 20))
        conversation.append(AssistantTextTurn(content="answer " + "word " * 60))
        conversation.append(
            ToolCallTurn(tool_use_id=f"call_{number}", tool_name="look", input={"place": "here"})
        )
        conversation.append(ToolResultTurn(tool_use_id=f"call_{number}", output="word " * 20))
    times = []
    for _ in range(20):
        began = time.process_time()
        to_messages(conversation)
        times.append(time.process_time() - began)
    return min(times)


async def steps_on_disk(count: int, folder: Path) -> float:
    """Seconds for a run of `count` steps that is recorded, each step forced to the disk."""
    agent = agent_for(Caller(count), 0)
    session = Session.create(folder, "p")
    agent.subscribe(session.record)
    began = time.perf_counter()
    await agent.prompt("go")
    return time.perf_counter() - began


async def abort_to_idle(where: str, rounds: int = 15) -> float:
    """Median seconds from `abort()` to idle."""

    async def stubborn(_given: Look, _ctx: ToolContext) -> str:
        for _ in range(20):
            try:
                await asyncio.sleep(0.2)
            except asyncio.CancelledError:
                continue
        return "late"

    async def sleepy(_given: Look, _ctx: ToolContext) -> str:
        await asyncio.sleep(60)
        return "late"

    call = ToolUse("look", {"place": "x"})
    scripts: dict[str, list[Any]] = {
        "connecting": [[Pause(60)]],
        "mid-stream": [[*answer("text")[:-1], Hang()]],
        "stream that ignores it": [[*answer("text")[:-1], Hang(1)]],
        "a tool that sleeps": [answer(call)],
        "a tool that swallows it": [answer(call)],
        "waiting for a retry": [[failed("overloaded", retryable=True, retry_after=50)]],
    }
    tool = Tool("look", "d", "l", Look, stubborn if "swallows" in where else sleepy)
    times = []
    for _ in range(rounds):
        model = ScriptedModel(scripts[where])
        agent = Agent(model=model, tools=[tool])
        task = asyncio.ensure_future(agent.prompt("go"))
        await asyncio.sleep(0.02)
        began = time.perf_counter()
        agent.abort()
        await agent.wait_for_idle()
        times.append(time.perf_counter() - began)
        assert (await task).outcome == "cancelled"
        assert len(model.requests) == 1
    return statistics.median(times)


def session_of(folder: Path, turns: int) -> Path:
    """A stored session."""
    session = Session.create(folder, "p", session_id=f"s{turns}")
    for number in range(turns // 2):
        session.add(UserTurn(content=f"question {number} " + "word " * 20))
        session.add(AssistantTextTurn(content=f"answer {number} " + "word " * 60))
    session.close()
    return session.path


def opening(*paths: Path) -> list[float]:
    """Median seconds to open each session, opened in turns: a machine that changes its pace changes it for all."""
    times: list[list[float]] = [[] for _ in paths]
    for _ in range(101):
        for path, taken in zip(paths, times, strict=True):
            began = time.perf_counter()
            Session.open(path)
            taken.append(time.perf_counter() - began)
    return [statistics.median(taken) for taken in times]


def main() -> None:
    """Print everything."""

    def best(make: Callable[[], Any], rounds: int = 3) -> float:
        return min(asyncio.run(make()) for _ in range(rounds))

    count = 20_000

    def beside_floor(make: Callable[[], Any], number: int) -> tuple[float, float]:
        """Seconds for one of `number`, the best of some rounds, and how often that holds the floor measured around it."""
        pairs = [(asyncio.run(make()) / number, asyncio.run(floor(count)) / count) for _ in range(4)]
        return min(cost for cost, _ in pairs), statistics.median(cost / bare for cost, bare in pairs)

    def print_step(label: str, number: int, make: Callable[[], Any]) -> None:
        cost, times = beside_floor(make, number)
        print(
            f"step, {label}, {number:5} steps {cost * 1e3:8.4f} ms   ({times:.0f} x floor; budget 1.5 ms without conversion)"
        )

    print(f"floor                      {best(lambda: floor(count)) / count * 1e6:8.2f} µs per object")
    for listeners in (1, 5):
        cost, times = beside_floor(lambda n=listeners: deltas(count, n), count)
        print(
            f"text delta, {listeners} listeners    {cost * 1e6:8.2f} µs   ({times:.0f} x floor; budget 15 µs)"
        )
    for number in (50, 500):
        for listeners in (1, 5):
            print_step(
                f"{listeners} listeners, without conversion",
                number,
                lambda c=number, n=listeners: steps(c, n, converts=False),
            )
        print_step("1 listener", number, lambda c=number: steps(c, 1))
        print_step("as a chat sends", number, lambda c=number: steps(c, 1, as_a_chat_sends()))
    for turns in (100, 2_000):
        cost = conversion(turns) / turns
        print(f"conversion of {turns:5} turns  {cost * 1e6:8.2f} µs per turn   (budget 50 µs)")
    for where in (
        "connecting",
        "mid-stream",
        "stream that ignores it",
        "a tool that sleeps",
        "a tool that swallows it",
        "waiting for a retry",
    ):
        print(
            f"abort to idle, {where:24} {asyncio.run(abort_to_idle(where)) * 1e3:8.1f} ms   (budget 150 ms)"
        )
    with tempfile.TemporaryDirectory() as folder:
        cost = asyncio.run(steps_on_disk(300, Path(folder))) / 300
        print(f"step with its log on disk  {cost * 1e3:8.4f} ms   (no budget: 9 appends and a sync)")
        short, long = opening(*(session_of(Path(folder), turns) for turns in (100, 10_000)))
    print(
        f"open 100 / 10,000 turns    {short * 1e3:.2f} / {long * 1e3:.2f} ms   ({long / short:.2f} x; budget 1.5 x)"
    )


if __name__ == "__main__":
    main()
