"""What goes into a tool and comes out of it, checked: the input strictly, the output bounded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, BeforeValidator, PlainValidator, RootModel, ValidationError, WrapValidator

from agent.limits import shorten
from agent.tool import Tool, ToolOutput
from agent.turns import DEEPEST, freeze, nesting_exceeds, thaw

_RESHAPING = (BeforeValidator, PlainValidator, WrapValidator)


class InvalidInput(Exception):
    """The input does not validate; the message is for the model."""


def validate(tool: Tool, value: Mapping[str, Any]) -> BaseModel:
    """Return the tool's own validated copy of an input, strictly: nothing is turned into another type or dropped.

    A field the model does not know is an error, unless the model says itself what becomes of such fields
    (`extra` in its configuration, or a validator that sees the raw input).

    Raises:
        InvalidInput: it does not fit.
    """
    try:
        if nesting_exceeds(value, DEEPEST):
            raise InvalidInput(f"Invalid input for {tool.name}: nested deeper than {DEEPEST} levels.")
        validated = tool.input.model_validate_json(json.dumps(thaw(value)), strict=True)
        if dropped := list(_dropped(validated, value, ""))[:8]:
            raise InvalidInput(f"Invalid input for {tool.name}. No such field: {', '.join(dropped)}.")
        return validated
    except ValidationError as error:
        faults = [
            f"{'.'.join(str(part) for part in fault['loc']) or 'input'}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_context=False, include_input=False)[:8]
        ]
        raise InvalidInput(f"Invalid input for {tool.name}. {'; '.join(faults)}.") from None
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"Invalid input for {tool.name}: {error}.") from None


def _dropped(validated: object, given: object, path: str) -> Iterator[str]:
    """Yield where a field was given that a model does not know and would drop without a word."""
    if isinstance(validated, RootModel):
        yield from _dropped(validated.root, given, path)
    elif isinstance(validated, BaseModel) and isinstance(given, Mapping):
        names = _names(type(validated))
        if names is not None:
            yield from (f"{path}{key}" for key in given if key not in names)
            for key, name in names.items():
                if key in given and name is not None:
                    yield from _dropped(getattr(validated, name), given[key], f"{path}{key}.")
    elif isinstance(validated, list | tuple) and isinstance(given, list | tuple):
        for index, (inner, item) in enumerate(zip(validated, given, strict=False)):
            yield from _dropped(inner, item, f"{path}{index}.")
    elif isinstance(validated, Mapping) and isinstance(given, Mapping):
        for key, item in given.items():
            yield from _dropped(validated.get(key), item, f"{path}{key}.")


@lru_cache(maxsize=256)
def _names(model: type[BaseModel]) -> Mapping[str, str | None] | None:
    """The names under which a model takes its fields, each with its attribute.

    None for an attribute that need not look like its input; None at all where the model says itself what
    becomes of other fields.
    """
    config = model.model_config
    decorators = model.__pydantic_decorators__
    if "extra" in config or any(it.info.mode != "after" for it in decorators.model_validators.values()):
        return None
    reshaped = {
        name
        for it in decorators.field_validators.values()
        if it.info.mode != "after"
        for name in it.info.fields
    }
    names: dict[str, str | None] = {}
    for name, form in model.model_fields.items():
        alias = form.validation_alias or form.alias
        if alias is not None and not isinstance(alias, str):
            return None  # several, or a path: it takes more names than can be told here
        free = name in reshaped or "*" in reshaped or any(isinstance(it, _RESHAPING) for it in form.metadata)
        names[alias or name] = None if free else name
        if config.get("populate_by_name") or config.get("validate_by_name"):
            names[name] = names[alias or name]
    return names


def describe(error: BaseException) -> str:
    """A failure in words for the model: our own sentences as they are, others with their type."""
    text = str(error).strip()
    if isinstance(error, TimeoutError) and not text:
        return "it took too long"
    return (
        text
        if type(error).__module__ == "personas.errors"
        else f"{type(error).__name__}: {text}".rstrip(": ")
    )


def as_output(value: Any, limit: int) -> ToolOutput:
    """What a tool returned: checked, bounded, and such that the tool cannot change it any more."""
    if isinstance(value, str):
        return ToolOutput(output=shorten(value, limit))
    if not isinstance(value, ToolOutput) or not isinstance(value.output, str):
        raise TypeError(f"a tool must return text or a ToolOutput, this one returned {type(value).__name__}")
    return replace(value, output=shorten(value.output, limit), details=freeze(value.details))
