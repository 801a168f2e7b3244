"""Records that are made quickly are made as `dataclasses` would make them."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace
from typing import Any

import pytest

from agent.core.fast_dataclass import CONVERT, quick


@dataclass(frozen=True, slots=True, kw_only=True)
class _Base:
    number: int


@quick
@dataclass(frozen=True, slots=True)
class Record(_Base):
    name: str
    words: tuple[str, ...] = ("a",)
    made: list[int] = field(default_factory=list, kw_only=True)
    shape: tuple[int, ...] = field(default=(), metadata={CONVERT: tuple}, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name.strip())


def test_arguments_defaults_and_what_comes_after_are_those_of_the_dataclass() -> None:
    record = Record(" x ", number=1)
    assert record == Record(number=1, name="x", words=("a",), made=[])
    assert record.made is not Record("x", number=1).made
    assert repr(record) == "Record(number=1, name='x', words=('a',), made=[], shape=())"
    assert replace(record, words=("b",)).words == ("b",)
    assert copy.deepcopy(record) == pickle.loads(pickle.dumps(record)) == record


def test_a_field_holds_what_is_made_of_its_argument() -> None:
    sides: Any = [2, 3]
    record = Record("x", number=1, shape=sides)
    assert record.shape == (2, 3)
    assert replace(record, shape=[4]).shape == (4,)


@pytest.mark.parametrize(
    ("arguments", "keywords"), [((), {"number": 1}), (("x",), {}), (("x", (), 3), {"number": 1})]
)
def test_wrong_arguments_are_refused(arguments: tuple[object, ...], keywords: dict[str, object]) -> None:
    with pytest.raises(TypeError, match="__init__"):
        Record(*arguments, **keywords)  # type: ignore[arg-type]


def test_it_stays_frozen() -> None:
    record = Record("x", number=1)
    with pytest.raises(FrozenInstanceError):
        record.name = "y"  # type: ignore[misc]


def test_what_has_no_slots_is_refused() -> None:
    with pytest.raises(TypeError, match="no slot"):

        @quick
        @dataclass(frozen=True)
        class _Loose:
            name: str
