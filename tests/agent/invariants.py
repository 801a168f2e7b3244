"""What holds for the events of every run, however it went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from agent.core.events import (
    AgentEnd,
    AgentStart,
    Event,
    StepEnd,
    StepStart,
    ToolEnd,
    ToolProgress,
    ToolStart,
    TurnDelta,
    TurnEnd,
    TurnStart,
)
from agent.core.messages import to_messages
from agent.core.turns import ToolCallTurn, ToolResultTurn, Turn
from tests.support.messages_rules import violations


def broken_invariants(events: Sequence[Event], turns: Sequence[Turn]) -> list[str]:
    """Return what is wrong with the events of one run and the conversation after it; empty when all is well."""
    found = []
    if not events or not isinstance(events[0], AgentStart):
        found.append("a run begins with agent_start")
    if [type(event) for event in events].count(AgentEnd) != 1 or not isinstance(events[-1], AgentEnd):
        found.append("a run ends with its one agent_end")
    if [event.seq for event in events] != list(range(len(events))):
        found.append("sequence numbers count without gaps")
    if len({event.run_id for event in events}) != 1:
        found.append("all events carry the run's id")
    if any(one.at > two.at for one, two in pairwise(events)):
        found.append("time goes forward")
    found.extend(_open_and_close(events))
    ended = [event.turn for event in events if isinstance(event, TurnEnd)]
    if isinstance(events[-1], AgentEnd) and list(events[-1].turns) != ended:
        found.append("agent_end holds the turns the run added")
    if list(turns[len(turns) - len(ended) :]) != ended:
        found.append("the conversation ends with the turns the run added")
    calls = Counter(turn.tool_use_id for turn in ended if isinstance(turn, ToolCallTurn))
    results = Counter(turn.tool_use_id for turn in ended if isinstance(turn, ToolResultTurn))
    if any(count > 1 for count in calls.values()):
        found.append("call ids are unique")
    if calls - results:
        found.append(f"calls without a result: {list(calls - results)}")
    if any(count > 1 for count in results.values()):
        found.append("a call has one result")
    faults = violations({"messages": to_messages(turns)})
    if faults:
        found.append(f"the next request breaks the rules: {faults}")
    return found


def _open_and_close(events: Sequence[Event]) -> list[str]:
    """Every start has its end, in a sensible order."""
    found = []
    turns: dict[str, Turn] = {}
    tools: set[str] = set()
    step: int | None = None
    steps = 0
    for event in events:
        if isinstance(event, StepStart):
            steps += 1
            if step is not None or event.step != steps:
                found.append("steps follow one another and count from 1")
            step = event.step
        elif isinstance(event, StepEnd):
            if step != event.step or turns or tools:
                found.append("a step is closed after what is in it")
            step = None
        elif isinstance(event, TurnStart):
            if event.turn.id in turns:
                found.append("a turn starts once")
            turns[event.turn.id] = event.turn
        elif isinstance(event, TurnDelta):
            if event.turn_id not in turns:
                found.append("a delta belongs to an open turn")
        elif isinstance(event, TurnEnd):
            start = turns.pop(event.turn.id, None)
            if start is None or type(start) is not type(event.turn):
                found.append("a turn that ends has started as the same kind")
        elif isinstance(event, ToolStart):
            if event.call.id in tools:
                found.append("a tool starts once")
            tools.add(event.call.id)
        elif isinstance(event, ToolProgress):
            if event.call_id not in tools:
                found.append("progress comes from an open tool")
        elif isinstance(event, ToolEnd):
            if event.call.id not in tools:
                found.append("a tool that ends has started")
            tools.discard(event.call.id)
        elif isinstance(event, AgentEnd) and (turns or tools or step is not None):
            found.append(f"open at agent_end: {list(turns)} {list(tools)} {step}")
    return found
