"""A stretch of a conversation that only grows: a list to whoever gets it, taken without copying.

What comes of a stretch for one request can be carried on for the next, however long it is: two of them are
compared by where they begin and end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from typing import Any, overload

from agent.core.turns import Turn

Place = tuple[list[Turn], int, int]
"""A list, and where in it a stretch begins and ends."""


class Stretch(MutableSequence[Turn]):
    """The turns from `start` to before `stop` of a list that is only ever added to.

    It may be changed like any list: it is then a list of its own, and the conversation stays as it is.

    Args:
        source: the list.
        start: where the stretch begins.
        stop: where it ends; by default where the list ends now.
    """

    __slots__ = ("_own", "_source", "_start", "_stop")

    def __init__(self, source: list[Turn], start: int = 0, stop: int | None = None) -> None:
        self._source = source
        self._start = start
        self._stop = len(source) if stop is None else stop
        self._own: list[Turn] | None = None

    @property
    def place(self) -> Place | None:
        """The list, begin and end; None once the stretch was changed."""
        return (self._source, self._start, self._stop) if self._own is None else None

    def __len__(self) -> int:
        return self._stop - self._start if self._own is None else len(self._own)

    @overload
    def __getitem__(self, index: int) -> Turn: ...
    @overload
    def __getitem__(self, index: slice) -> MutableSequence[Turn]: ...
    def __getitem__(self, index: int | slice) -> Turn | MutableSequence[Turn]:
        if self._own is not None:
            return self._own[index]
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                return Stretch(self._source, self._start + start, self._start + max(start, stop))
            return self.copy()[index]
        length = len(self)
        at = index + length if index < 0 else index
        if not 0 <= at < length:
            raise IndexError("no turn at this place")
        return self._source[self._start + at]

    def __iter__(self) -> Iterator[Turn]:
        return iter(self.copy() if self._own is None else self._own)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._changed()[index] = value

    def __delitem__(self, index: int | slice) -> None:
        del self._changed()[index]

    def insert(self, index: int, value: Turn) -> None:
        """Put a turn before the one at `index`."""
        self._changed().insert(index, value)

    def append(self, value: Turn) -> None:
        """Put a turn at the end."""
        self._changed().append(value)

    def sort(self, **how: Any) -> None:
        """Order the turns; arguments as for `list.sort`."""
        self._changed().sort(**how)

    def copy(self) -> list[Turn]:
        """Return the turns as a list."""
        return self._source[self._start : self._stop] if self._own is None else self._own.copy()

    def __add__(self, others: Iterable[Turn]) -> list[Turn]:
        return [*self, *others]

    def __radd__(self, others: Iterable[Turn]) -> list[Turn]:
        return [*others, *self]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Stretch):
            return (self.place is not None and self.place == other.place) or self.copy() == other.copy()
        return self.copy() == other if isinstance(other, list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.copy())

    def _changed(self) -> list[Turn]:
        if self._own is None:
            self._own = self.copy()
        return self._own


def place_of(turns: Sequence[Turn]) -> Place | None:
    """Return list, begin and end of an unchanged stretch; None for any other sequence."""
    return turns.place if type(turns) is Stretch else None
