"""What a tool's input may be: strictly what its model says, and nothing is dropped without a word."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import IntEnum
from typing import Annotated, Any, Literal

import pydantic.dataclasses
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    RootModel,
    model_validator,
)
from typing_extensions import TypedDict

from agent.core.agent import Agent
from agent.core.errors import InvalidInput
from agent.core.response_assembler import parse_input
from agent.core.tool import Tool, ToolContext
from agent.core.tool_validation import validate
from agent.models.scripted import ScriptedModel, answer
from tests.support.virtual_time import LoopClock, run_virtually


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


class Sort(IntEnum):
    A = 1


@dataclass
class Plain:
    a: int = 0
    deep: Inner = field(default_factory=Inner)


@pydantic.dataclasses.dataclass
class Typed:
    a: int = 0


class Keyed(TypedDict, total=False):
    a: int


class Exact(BaseModel):
    plain: Plain = Plain()
    typed: Typed = Typed()
    keyed: Keyed = {}
    numbered: dict[int, Plain] = {}
    one: Literal[1, "a"] = 1
    sort: Sort = Sort.A
    size: float = 0.0
    price: Decimal = Decimal(0)
    rounded: Annotated[int | float, AfterValidator(round)] = 0
    flag: bool = False


EXACT = Tool("act", "d", "l", Exact, act)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ('{"plain": {"a": 1, "zz": 2}}', "No such field: plain.zz"),
        ('{"plain": {"deep": {"zz": 2}}}', "No such field: plain.deep.zz"),
        ('{"typed": {"zz": 2}}', "No such field: typed.zz"),
        ('{"keyed": {"a": 1, "zz": 2}}', "No such field: keyed.zz"),
        ('{"numbered": {"1": {"zz": 2}}}', "No such field: numbered.1.zz"),
        ('{"one": true}', "one: a number is wanted"),
        ('{"one": 1.0}', "one: a whole number is wanted"),
        ('{"sort": true}', "sort: a number is wanted"),
        ('{"size": 9007199254740993}', "size: this whole number is too large"),
        ('{"price": 12345678901234567890.123}', "price: more digits"),
    ],
)
def test_nothing_is_dropped_rounded_or_made_another_type_whatever_the_form_of_the_input(
    raw: str, words: str
) -> None:
    value, fault = parse_input(raw)
    assert not fault
    with pytest.raises(InvalidInput, match=words):
        validate(EXACT, value)


@pytest.mark.parametrize(
    "value",
    [
        {"plain": {"a": 1, "deep": {"a": 2}}, "typed": {"a": 1}, "keyed": {"a": 1}},
        {"numbered": {"1": {"a": 2}, "2": {}}},
        {"one": 1, "sort": 1, "size": 3, "price": 0.1, "flag": True},
        {"one": "a", "size": 2**60, "price": "12345678901234567890.123"},
        {"price": 123456789012345678901234567890, "rounded": 2.0},
    ],
)
def test_what_is_kept_exactly_passes(value: dict[str, Any]) -> None:
    assert isinstance(validate(EXACT, value), Exact)


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
