"""What a tool's input may be: strictly what its model says, and nothing is dropped without a word."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, RootModel, model_validator

from agent.agent import Agent
from agent.checks import InvalidInput, validate
from agent.models.scripted import ScriptedModel, answer
from agent.tool import Tool, ToolContext
from tests.agent.virtual_time import LoopClock, run_virtually


class Inner(BaseModel):
    a: int = 0


class Loose(BaseModel):
    model_config = ConfigDict(extra="ignore")
    a: int = 0


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    a: int = 0


class Renamed(BaseModel):
    wire: str = Field("", alias="theWire")


class Raw(BaseModel):
    a: int = 0

    @model_validator(mode="before")
    @classmethod
    def old_name(cls, value: Any) -> Any:
        return {"a": value["old"]} if isinstance(value, dict) and "old" in value else value


class Names(RootModel[dict[str, Inner]]):
    pass


def inner_of(value: Any) -> Any:
    return {"a": value["old"]} if isinstance(value, dict) and "old" in value else value


class Outer(BaseModel):
    names: Names = Names({})
    reshaped: Annotated[Inner, BeforeValidator(inner_of)] = Inner()
    one: Inner = Inner()
    many: list[Inner] = []
    by_name: dict[str, Inner] = {}
    loose: Loose = Loose()
    open: Open = Open()
    renamed: Renamed = Renamed()
    raw: Raw = Raw()
    anything: dict[str, Any] = {}


async def act(_given: Any, _ctx: ToolContext) -> str:
    return "done"


OUTER = Tool("act", "d", "l", Outer, act)


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"zz": 1}, "zz"),
        ({"one": {"zz": 1}}, "one.zz"),
        ({"many": [{}, {"zz": 1}]}, "many.1.zz"),
        ({"by_name": {"x": {"zz": 1}}}, "by_name.x.zz"),
        ({"renamed": {"wire": "x"}}, "renamed.wire"),
        ({"names": {"x": {"zz": 1}}}, "names.x.zz"),
    ],
)
def test_a_field_the_model_does_not_know_is_an_error(value: dict[str, Any], where: str) -> None:
    with pytest.raises(InvalidInput, match=f"No such field: {where}"):
        validate(OUTER, value)


@pytest.mark.parametrize(
    "value",
    [
        {"loose": {"zz": 1}},
        {"open": {"zz": 1}},
        {"renamed": {"theWire": "x"}},
        {"raw": {"old": 5}},
        {"reshaped": {"old": 5}},
        {"names": {"x": {"a": 1}}},
        {"anything": {"zz": {"zz": [1]}}},
    ],
)
def test_a_model_may_say_itself_what_becomes_of_other_fields(value: dict[str, Any]) -> None:
    assert isinstance(validate(OUTER, value), Outer)


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
    tools = [OUTER, Tool("open", "d", "l", Open, act), Tool("loose", "d", "l", Loose, act)]
    run_virtually(Agent(model=model, tools=tools, clock=LoopClock()).prompt("Hello"))
    schemas = [spec.input_schema for spec in model.requests[0].tools]
    assert [schema.get("additionalProperties") for schema in schemas] == [False, True, None]
