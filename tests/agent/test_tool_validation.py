"""What a tool's input may be: strictly what its model says, and nothing is dropped without a word."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from agent.core.agent import Agent
from agent.core.errors import InvalidInput
from agent.core.response_assembler import parse_input
from agent.core.tool import Tool, ToolContext
from agent.core.tool_validation import validate
from agent.models.scripted import ScriptedModel, answer
from tests.support.virtual_time import LoopClock, run_virtually


class Inner(BaseModel):
    a: int = 0


class Outer(BaseModel):
    one: Inner = Inner()
    many: list[Inner] = []
    by_name: dict[str, Inner] = {}
    renamed: str = Field("", alias="theWire")
    anything: dict[str, Any] = {}


async def act(_given: Any, _ctx: ToolContext) -> str:
    return "done"


OUTER = Tool("act", "d", "l", Outer, act)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"zz": 1}, "zz: No such field"),
        ({"many": [{}, {"zz": 1}]}, "many.1.zz: No such field"),
        ({"by_name": {"x": {"zz": 1}}}, "by_name.x.zz: No such field"),
        ({"renamed": "x"}, "renamed: No such field"),
        ({"one": {"a": True}}, "one.a: Input should be a valid integer"),
        ({"one": {"a": 1.0}}, "one.a: Input should be a valid integer"),
        ({"one": {"a": "1"}}, "one.a: Input should be a valid integer"),
        ({"one": {"a": None}}, "one.a: Input should be a valid integer"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(value: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        validate(OUTER, value)


def test_what_fits_is_kept() -> None:
    value = {"theWire": "x", "anything": {"zz": {"zz": [1, 2.0]}}, "by_name": {"x": {"a": 1}}}
    assert validate(OUTER, value).model_dump(exclude_unset=True, by_alias=True) == value


@given(st.dictionaries(st.sampled_from(["a", "b", "A", ""]), st.integers(-9, 9)))
def test_only_the_known_fields_pass(value: dict[str, int]) -> None:
    tool = Tool("act", "d", "l", Inner, act)
    if set(value) <= {"a"}:
        assert validate(tool, value) == Inner(**value)
    else:
        with pytest.raises(InvalidInput):
            validate(tool, value)


def test_the_model_is_told_that_other_fields_are_not_taken() -> None:
    model = ScriptedModel([answer("ok")])
    run_virtually(Agent(model=model, tools=[OUTER], clock=LoopClock()).prompt("Hello"))
    assert model.requests[0].tools[0].input_schema["additionalProperties"] is False


@pytest.mark.parametrize("digits", ["1e999", "-1e999", "1" + "0" * 400 + ".0"])
def test_a_number_too_large_to_be_one_is_no_valid_input(digits: str) -> None:
    value, fault = parse_input(f'{{"f": [{digits}]}}')
    assert value == {}
    assert "too large for a number" in fault
    assert len(fault) < 200


def test_large_and_small_numbers_stay_what_they_are() -> None:
    assert parse_input('{"a": 1e308, "b": -1e-400, "c": 123456789012345678901234567890}') == (
        {"a": 1e308, "b": -0.0, "c": 123456789012345678901234567890},
        "",
    )
