"""Frozen dataclasses that are made quickly: a run makes two dozen of them in every step."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, Self, TypeVar

CONVERT = "convert"
"""In the metadata of a field: the function that makes of an argument what the field is to hold."""


class Quick:
    """What `quick` makes quick: also by `make`, which costs half of what the class does."""

    __slots__ = ()

    @classmethod
    def make(cls, *values: Any, **named: Any) -> Self:
        """Return one of just this class; arguments in the order of the fields, all of them by place or by name."""
        raise NotImplementedError  # `quick` puts another in its place


Kind = TypeVar("Kind", bound=type[Quick])


def quick(cls: Kind) -> Kind:
    """Give a frozen dataclass with slots an `__init__` that fills its slots directly, with the same arguments.

    The one of `dataclasses` looks each field up by name to set it, which takes twice as long. A field whose
    metadata say how to `CONVERT` it holds what that function returns for the argument.

    Args:
        cls: the class; a decorator above `@dataclass(frozen=True, slots=True)`. All its fields are arguments.

    Raises:
        TypeError: it is no such class.
    """
    positional: list[str] = []
    keyword: list[str] = []
    in_order: list[str] = []
    body: list[str] = []
    names: dict[str, Any] = {"_UNSET": MISSING, "_new": object.__new__, "_class": cls}
    for place in fields(cls):  # type: ignore[arg-type]
        name = place.name
        if not place.init or not hasattr(getattr(cls, name, None), "__set__"):
            raise TypeError(f"{cls.__name__}.{name} has no slot, or is no argument")
        names[f"_set_{name}"] = getattr(cls, name).__set__
        argument = name
        if place.default is not MISSING:
            names[f"_default_{name}"] = place.default
            argument = f"{name}=_default_{name}"
        elif place.default_factory is not MISSING:
            names[f"_make_{name}"] = place.default_factory
            argument = f"{name}=_UNSET"
            body.append(f"if {name} is _UNSET: {name} = _make_{name}()")
        if argument == name and in_order and in_order[-1] != in_order[-1].partition("=")[0]:
            raise TypeError(f"{cls.__name__}.{name} has no default, behind a field that has one")
        in_order.append(argument)
        (keyword if place.kw_only else positional).append(argument)
        value = name
        if (convert := place.metadata.get(CONVERT)) is not None:
            names[f"_convert_{name}"] = convert
            value = f"_convert_{name}({name})"
        body.append(f"_set_{name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    arguments = ["self", *positional, *(["*", *keyword] if keyword else [])]
    lines = "\n ".join(body or ["pass"])
    exec(f"def __init__({', '.join(arguments)}):\n {lines}", names)
    exec(f"def make({', '.join(in_order)}):\n self = _new(_class)\n {lines}\n return self", names)
    for name in ("__init__", "make"):
        names[name].__qualname__, names[name].__module__ = f"{cls.__qualname__}.{name}", cls.__module__
    names["__init__"].__annotations__ = cls.__init__.__annotations__
    names["make"].__doc__ = Quick.make.__doc__
    cls.__init__ = names["__init__"]  # type: ignore[method-assign]
    cls.make = staticmethod(names["make"])  # type: ignore[method-assign]
    return cls
