"""Frozen dataclasses that are made quickly: a run makes a dozen of them in every step."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, TypeVar

CONVERT = "convert"
"""In the metadata of a field: the function that makes of an argument what the field is to hold."""

Kind = TypeVar("Kind", bound=type[Any])


def quick(cls: Kind) -> Kind:
    """Give a frozen dataclass with slots an `__init__` that fills its slots directly, with the same arguments.

    A field whose metadata say how to `CONVERT` it holds what that function returns for the argument.

    The one of `dataclasses` looks each field up by name to set it, which takes twice as long.

    Args:
        cls: the class; a decorator above `@dataclass(frozen=True, slots=True)`. All its fields are arguments.

    Raises:
        TypeError: it is no such class.
    """
    positional: list[str] = []
    keyword: list[str] = []
    body: list[str] = []
    names: dict[str, Any] = {"_UNSET": MISSING}
    for place in fields(cls):
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
        (keyword if place.kw_only else positional).append(argument)
        value = name
        if (convert := place.metadata.get(CONVERT)) is not None:
            names[f"_convert_{name}"] = convert
            value = f"_convert_{name}({name})"
        body.append(f"_set_{name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    arguments = ["self", *positional, *(["*", *keyword] if keyword else [])]
    exec(f"def __init__({', '.join(arguments)}):\n " + "\n ".join(body or ["pass"]), names)
    made = names["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    made.__annotations__ = cls.__init__.__annotations__
    cls.__init__ = made
    return cls
