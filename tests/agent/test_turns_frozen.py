"""What turns and events hold never changes, whatever the application does with what it gave them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from agent.core.agent import Agent
from agent.core.events import Event, ToolEnd
from agent.core.tool import ChangeInput, NoInput, Tool, ToolContext, ToolOutput
from agent.core.turns import (
    CustomTurn,
    ToolCallTurn,
    ToolResultTurn,
    Turn,
    UserTurn,
    freeze,
    nesting_exceeds,
    thaw,
)
from agent.models.scripted import ScriptedModel, ToolUse, answer
from agent.transcript.turn_records import from_record, to_record
from tests.support.virtual_time import LoopClock, run_virtually

plain = st.one_of(
    st.text(), st.characters(categories=["Cs"]), st.integers(), st.booleans(), st.none(), st.floats()
)
values = st.recursive(plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=6)
objects = st.dictionaries(st.sampled_from(["name", "count", "other", "ratio"]), plain | values, max_size=4)


def given() -> dict[str, Any]:
    return {"list": [1], "dict": {"a": [2]}, "set": {3}, "bytes": bytearray(b"4")}


def spoil(value: dict[str, Any]) -> None:
    value["list"].append(9)
    value["dict"]["a"].append(9)
    value["set"].add(9)
    value["bytes"].extend(b"9")
    value["new"] = 9


def made_of(value: Any) -> list[Turn]:
    return [
        CustomTurn(type="mine", fields=value),
        ToolCallTurn(tool_use_id="c", tool_name="look", input=value),
        ToolResultTurn(tool_use_id="c", output="", details=value),
    ]


@pytest.mark.parametrize("wrap", [dict, MappingProxyType])
def test_a_turn_keeps_what_it_was_made_of(wrap: Any) -> None:
    value = given()
    turns = made_of(wrap(value))
    before = [repr(turn) for turn in turns]
    spoil(value)
    assert [repr(turn) for turn in turns] == before


def test_a_frozen_turn_can_be_kept_and_read_again() -> None:
    for turn in made_of({"list": [1, {"a": None}], "set": {2, 1}}):
        record = to_record(turn)
        assert from_record(record) == turn
        assert [1, 2] in ({**record, **record.get("input", {}), **record.get("details", {})}).values()


def test_an_event_that_names_the_input_that_ran_never_changes() -> None:
    async def act(_given: NoInput, _ctx: ToolContext) -> ToolOutput:
        return ToolOutput(output="done", details={"a": 1})

    agent = Agent(
        model=ScriptedModel([answer(ToolUse("act")), answer("ok")]),
        tools=[Tool("act", "d", "l", NoInput, act)],
        before_tool_call=lambda _context: ChangeInput({}),
        clock=LoopClock(),
    )
    refused: list[str] = []

    def change(event: Event) -> None:
        if isinstance(event, ToolEnd):
            try:
                event.details["a"] = "changed"  # type: ignore[index]
            except TypeError:
                refused.append(event.call.tool_name)

    agent.subscribe(change)
    run_virtually(agent.prompt([UserTurn(content="Hi")]))
    results = [turn.details for turn in agent.turns if isinstance(turn, ToolResultTurn)]
    assert results == [{"a": 1, "ran_with": {}}] and refused == ["act"]


@drawn(value=objects)
def test_a_frozen_input_is_a_copy_all_the_way_down(value: dict[str, Any]) -> None:
    turn = ToolCallTurn(tool_use_id="a", tool_name="look", input=value)
    assert type(turn.input) is MappingProxyType
    before = repr(turn.input)
    thawed = thaw(turn.input)
    assert type(thawed) is dict
    assert repr(thawed) == repr(value)
    value["new"] = thawed["new"] = 1
    assert repr(turn.input) == before


@drawn(value=objects, levels=st.integers(0, 4))
def test_nesting_is_counted_the_same_in_a_frozen_and_in_a_plain_object(
    value: dict[str, Any], levels: int
) -> None:
    def depth(item: Any) -> int:
        if isinstance(item, dict | list):
            return 1 + max(map(depth, item.values() if isinstance(item, dict) else item), default=0)
        return 0

    assert (
        nesting_exceeds(value, levels)
        == nesting_exceeds(freeze(value), levels)
        == (depth(value) > levels + 1)
    )
