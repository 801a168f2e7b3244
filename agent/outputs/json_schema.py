"""The part of JSON Schema that expectations need, and JSON found within a text. Pure, but for patterns."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agent.outputs import regex

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}
_KNOWN = frozenset(
    {
        *("type", "enum", "const", "properties", "required", "additionalProperties", "items", "minItems"),
        *("maxItems", "minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum"),
        *("exclusiveMaximum", "anyOf", "allOf", "oneOf", "not"),
        *("$schema", "$id", "title", "description", "default", "examples", "format"),
    }
)
_MOST_READ = 2_000_000  # characters of a text that are read in vain, where JSON might begin
_TOO_DEEP = 5_000  # of them, where it is nested too deeply
_BOUNDS: tuple[tuple[str, str, Callable[[Any, Any], bool]], ...] = (
    ("minimum", "less than", operator.lt),
    ("maximum", "more than", operator.gt),
    ("exclusiveMinimum", "not more than", operator.le),
    ("exclusiveMaximum", "not less than", operator.ge),
)


class SchemaError(Exception):
    """The schema cannot be used; the message is a clause."""


def parse_json(text: str) -> Any:
    """Return the value a text is.

    Raises:
        ValueError: it is not JSON.
    """
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def json_within(text: str) -> Iterator[Any]:
    """Yield the objects and arrays that stand in a text, outermost ones first."""
    decode = json.JSONDecoder(parse_constant=_refuse).raw_decode
    at = read = 0
    while read < _MOST_READ:
        starts = [place for sign in "{[" if (place := text.find(sign, at)) >= 0]
        if not starts:
            return
        at = min(starts)
        try:
            value, at = decode(text, at)
        except (ValueError, RecursionError) as error:
            read += 10 + (error.pos - at if isinstance(error, json.JSONDecodeError) else _TOO_DEEP)
            at += 1
        else:
            yield value


def violation(value: Any, schema: Any, where: str = "it") -> str:
    """Return the first thing that breaks a schema, as a clause; empty where it holds.

    Raises:
        SchemaError: the schema says what is not understood.
        RegexError: a pattern in it cannot be searched.
    """
    if isinstance(schema, bool):
        return "" if schema else f"{where} is not allowed"
    if not isinstance(schema, dict):
        raise SchemaError("holds something else than a table in its schema")
    if unknown := sorted(set(schema) - _KNOWN):
        raise SchemaError(f"uses {unknown[0]!r} in its schema, which is not supported")
    try:
        return next(_violations(value, schema, where), "")
    except (TypeError, AttributeError, KeyError, RecursionError):
        raise SchemaError("has a wrong value in its schema") from None


def _violations(value: Any, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    if "type" in schema:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(_is_of(value, kind) for kind in kinds):
            yield f"{where} is not {' or '.join(kinds)}"
            return
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        yield f"{where} is none of {json.dumps(schema['enum'])}"
    if "const" in schema and not _same(value, schema["const"]):
        yield f"{where} is not {json.dumps(schema['const'])}"
    if isinstance(value, dict):
        yield from _of_object(value, schema, where)
    elif isinstance(value, list):
        yield from _of_size(value, schema, where, "Items", "items")
        if "items" in schema:
            for number, item in enumerate(value):
                yield from _one(violation(item, schema["items"], f"{where}[{number}]"))
    elif isinstance(value, str):
        yield from _of_size(value, schema, where, "Length", "characters")
        if "pattern" in schema and not regex.search(schema["pattern"], value):
            yield f"{where} does not match {schema['pattern']}"
    elif _is_of(value, "number"):
        for key, words, breaks in _BOUNDS:
            if key in schema and breaks(value, schema[key]):
                yield f"{where} is {words} {schema[key]}"
    yield from _combined(value, schema, where)


def _of_object(value: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{where} has no {name!r}"
    for name, item in value.items():
        below = schema.get("additionalProperties", True) if name not in properties else properties[name]
        yield from _one(violation(item, below, f"{where}.{name}"))


def _of_size(value: Any, schema: Mapping[str, Any], where: str, key: str, what: str) -> Iterator[str]:
    if len(value) < schema.get(f"min{key}", 0):
        yield f"{where} has less than {schema[f'min{key}']} {what}"
    if len(value) > schema.get(f"max{key}", len(value)):
        yield f"{where} has more than {schema[f'max{key}']} {what}"


def _combined(value: Any, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    for below in schema.get("allOf", ()):
        yield from _one(violation(value, below, where))
    for key in ("anyOf", "oneOf"):
        if key in schema:
            held = sum(not violation(value, below, where) for below in schema[key])
            if not held or (key == "oneOf" and held > 1):
                yield f"{where} is {'none' if not held else 'more than one'} of what {key} allows"
    if "not" in schema and not violation(value, schema["not"], where):
        yield f"{where} is what it must not be"


def _one(fault: str) -> Iterator[str]:
    if fault:
        yield fault


def _is_of(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    if kind not in _TYPES:
        raise SchemaError(f"names the type {kind!r} in its schema, which does not exist")
    return isinstance(value, _TYPES[kind])


def _same(value: Any, other: Any) -> bool:
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
