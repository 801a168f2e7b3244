"""What is plain is handled a quicker way than what may be anything; both come to the same."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, RootModel

import agent.core.tool_validation as checks
from agent.core.bounded_await import is_awaitable
from agent.core.model import MOST_TOKENS, Usage, usage_of
from agent.core.response_assembler import _STRICT_JSON, parse_input
from agent.core.tool import Tool
from agent.core.tool_validation import InvalidInput, validate
from agent.core.turns import ToolCallTurn, freeze, nesting_exceeds, thaw

plain = st.one_of(
    st.text(), st.characters(categories=["Cs"]), st.integers(), st.booleans(), st.none(), st.floats()
)
values = st.recursive(plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=6)
objects = st.dictionaries(st.sampled_from(["name", "count", "other", "ratio"]), plain | values, max_size=4)


class Kept(BaseModel):
    name: str | None = None
    count: int | float | bool | None = None
    ratio: float = 0.5


class Closed(BaseModel, extra="forbid"):
    name: str = ""
    count: int = 0


class Whole(RootModel[dict[str, Any]]):
    pass


def _outcome(form: type[BaseModel], value: Mapping[str, Any]) -> object:
    try:
        return repr(validate(Tool("look", "d", "Look", form, None), value))  # type: ignore[arg-type]
    except InvalidInput as error:
        return str(error)


@pytest.mark.parametrize("form", [Kept, Closed, Whole])
@given(value=objects)
def test_an_input_validates_the_same_either_way(form: type[BaseModel], value: dict[str, Any]) -> None:
    quick = _outcome(form, freeze(value))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "_easily_written", lambda _value: None)
        patch.setattr(checks, "_holds_all", lambda *_given: False)
        assert quick == _outcome(form, freeze(value))


@given(value=objects)
def test_a_frozen_input_is_a_copy_all_the_way_down(value: dict[str, Any]) -> None:
    turn = ToolCallTurn(tool_use_id="a", tool_name="look", input=value)
    assert type(turn.input) is MappingProxyType
    before = repr(turn.input)
    thawed = thaw(turn.input)
    assert type(thawed) is dict
    assert repr(thawed) == repr(value)
    value["new"] = thawed["new"] = 1
    assert repr(turn.input) == before


@given(value=objects, levels=st.integers(0, 4))
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


@given(
    text=st.one_of(
        st.builds(json.dumps, values),
        st.builds(
            lambda value, end: json.dumps(value) + end, objects, st.sampled_from([" ", "\n", "}", "x", "{}"])
        ),
        st.text(alphabet='{}[]":,0a \\'),
    )
)
def test_json_is_read_the_same_wherever_it_begins_and_ends(text: str) -> None:
    try:
        wanted: object = _STRICT_JSON.decode(text)
    except ValueError as error:
        wanted = str(error)
    value, fault = parse_input(text)
    if not text.strip():
        assert (value, fault) == ({}, "")
    elif isinstance(wanted, str) and not fault:
        pytest.fail(f"{text!r} was taken: {value!r}")
    elif isinstance(wanted, str):
        assert wanted in fault or "must be a JSON object" in fault
    elif not fault:
        assert repr(value) == repr(wanted)


@pytest.mark.parametrize("made", ["coroutine", "generator", "decorated", "future", "plain", "class"])
async def test_what_can_be_awaited_is_told_as_python_tells_it(made: str) -> None:
    import asyncio
    import types

    async def coroutine() -> None: ...

    @types.coroutine
    def decorated() -> Any:
        yield

    class Holds:
        __await__ = None

    value: Any = {
        "coroutine": coroutine,
        "generator": lambda: (number for number in range(3)),
        "decorated": decorated,
        "future": asyncio.get_running_loop().create_future,
        "plain": list,
        "class": lambda: Holds,
    }[made]()
    assert is_awaitable(value) == inspect.isawaitable(value)
    if inspect.iscoroutine(value) or inspect.isgenerator(value):
        value.close()


@pytest.mark.parametrize("count", [-1, True, 1.0, "1", None, MOST_TOKENS + 1])
@pytest.mark.parametrize("place", range(4))
def test_an_impossible_count_is_no_report(count: Any, place: int) -> None:
    counts: list[Any] = [1, 2, 3, MOST_TOKENS]
    assert usage_of(Usage(*counts)) == Usage(*counts)
    counts[place] = count
    assert usage_of(Usage(*counts)) == Usage()
