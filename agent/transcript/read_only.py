"""JSON objects and arrays that cannot be changed, yet are dicts and lists to every encoder.

Messages and tools are shared by all requests of a run; nobody who is handed them may change the next request.
A copy of them (`copy`, `deepcopy`, `dict(…)`, slices) is an ordinary one that may be changed.
"""

from __future__ import annotations

from typing import Any, NoReturn


def _refuse(self: object, *_args: object, **_kwargs: object) -> NoReturn:
    """Refuse the change.

    Raises:
        TypeError: always.
    """
    raise TypeError("what a request holds is read-only; change a copy of it")


class ReadOnlyDict(dict[str, Any]):
    """A JSON object; what it holds is to be read-only as well."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class ReadOnlyList(list[Any]):
    """A JSON array; what it holds is to be read-only as well."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = pop = remove = clear = sort = reverse = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)
