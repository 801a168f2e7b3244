"""Validation of tools: their input strictly, their output in type and length."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, Protocol, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    PlainValidator,
    RootModel,
    ValidationError,
    WrapValidator,
)

from agent.core.errors import InvalidInput, PersonaError
from agent.core.limits import shorten
from agent.core.redaction import text_of
from agent.core.tool import ToolOutput
from agent.core.turns import DEEPEST, freeze, nesting_exceeds, thaw

log = logging.getLogger(__name__)

_JSON = json.JSONEncoder(allow_nan=False)
_RESHAPING = (BeforeValidator, PlainValidator, WrapValidator)
_EXACT = 2**53
"""Up to here every whole number is a float."""
_SURE_DIGITS = 16
"""A float with more significant digits than these may have been rounded when it was read."""


class HasInput(Protocol):
    """Something with a name that takes an input, such as a tool."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def input(self) -> type[BaseModel]:
        """The model of its input."""


def validate(tool: HasInput, value: Mapping[str, Any]) -> BaseModel:
    """Return the tool's own validated copy of an input, strictly: nothing is turned into another type or dropped.

    A field the model does not know is an error, unless the model says itself what becomes of such fields
    (`extra` in its configuration, or a validator that sees the raw input).

    Raises:
        InvalidInput: it does not fit.
    """
    try:
        if nesting_exceeds(value, DEEPEST):
            raise InvalidInput(f"Invalid input for {tool.name}: nested deeper than {DEEPEST} levels.")
        validated = tool.input.model_validate_json(_JSON.encode(thaw(value)), strict=True)
        if unlike := list(_unlike(validated, value, ""))[:8]:
            raise InvalidInput(f"Invalid input for {tool.name}. {'; '.join(unlike)}.")
        return validated
    except ValidationError as error:
        faults = [
            f"{'.'.join(str(part) for part in fault['loc']) or 'input'}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_context=False, include_input=False)[:8]
        ]
        raise InvalidInput(f"Invalid input for {tool.name}. {'; '.join(faults)}.") from None
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"Invalid input for {tool.name}: {text_of(error)}.") from None


def _unlike(validated: object, given: object, path: str) -> Iterator[str]:
    """Yield where what was given is not all there any more, or is there as something else.

    Args:
        validated: what validation made of it.
        given: the value as it was read from JSON.
        path: where both are, with a dot behind it.
    """
    if isinstance(validated, RootModel):
        yield from _unlike(validated.root, given, path)
    elif isinstance(given, Mapping):
        yield from _unlike_object(validated, given, path)
    elif isinstance(given, list | tuple):
        if isinstance(validated, list | tuple):
            for index, (inner, item) in enumerate(zip(validated, given, strict=False)):
                yield from _unlike(inner, item, f"{path}{index}.")
    elif (words := _rounded(validated, given)) is not None:
        yield f"{path.removesuffix('.') or 'input'}: {words}"


def _unlike_object(validated: object, given: Mapping[str, Any], path: str) -> Iterator[str]:
    """The same for a JSON object."""
    if isinstance(validated, Mapping):
        if len(validated) < len(given):
            yield from (_no_such_field(path, key) for key in given if key not in validated)
        elif any(key not in validated for key in given):  # the keys have become another type
            validated = dict(zip(given, validated.values(), strict=True))
        for key, item in given.items():
            if key in validated:
                yield from _unlike(validated[key], item, f"{path}{key}.")
        return
    kind: Any = type(validated)
    fields = _fields(kind)
    if fields is not None:
        yield from (_no_such_field(path, key) for key in given if key not in fields)
        for key, (name, is_plain) in fields.items():
            if key in given and (is_plain or isinstance(given[key], Mapping | list | tuple)):
                yield from _unlike(getattr(validated, name, None), given[key], f"{path}{key}.")


def _no_such_field(path: str, key: object) -> str:
    return f"No such field: {path}{key}"


def _rounded(validated: object, given: object) -> str | None:
    """What is wrong where a number or a truth value became another one; None where it did not."""
    if type(given) is bool:
        if isinstance(validated, int | float | Decimal) and type(validated) is not bool:
            return "a number is wanted, not true or false"
    elif type(given) is float:
        if isinstance(validated, Decimal) and len(Decimal(repr(given)).as_tuple().digits) > _SURE_DIGITS:
            return "more digits than a JSON number carries; send it as text"
        if isinstance(validated, int) and validated == given:
            return "a whole number is wanted, without a decimal point"
    elif type(given) is int and isinstance(validated, float) and abs(given) > _EXACT and given != validated:
        return "this whole number is too large to be kept exactly"
    return None


_Fields = Mapping[str, tuple[str, bool]]


@lru_cache(maxsize=256)
def _fields(kind: type) -> _Fields | None:
    """The names under which a model or a dataclass takes its fields, each with its attribute and whether a
    plain value is there as it was given.

    None where it is neither, where it says itself what becomes of other fields, or where that cannot be known.
    """
    decorators = getattr(kind, "__pydantic_decorators__", None)
    if decorators is None:
        return _fields_of_dataclass(kind)
    config: Mapping[str, Any] = getattr(kind, "model_config", None) or getattr(
        kind, "__pydantic_config__", {}
    )
    if "extra" in config or any(it.info.mode != "after" for it in decorators.model_validators.values()):
        return None
    reshaped, checked = (
        {
            name
            for it in decorators.field_validators.values()
            if (it.info.mode == "after") == is_after
            for name in it.info.fields
        }
        for is_after in (False, True)
    )
    forms = getattr(kind, "__pydantic_fields__", {})
    fields = {name: (name, False) for name in getattr(kind, "__dataclass_fields__", {}) if name not in forms}
    for name, form in forms.items():
        alias = form.validation_alias or form.alias
        if alias is not None and not isinstance(alias, str):
            return None  # several, or a path: it takes more names than can be known here
        free = name in reshaped or "*" in reshaped or any(isinstance(it, _RESHAPING) for it in form.metadata)
        after = (
            name in checked or "*" in checked or any(isinstance(it, AfterValidator) for it in form.metadata)
        )
        fields[alias or name] = ("" if free else name, not free and not after)
        if config.get("populate_by_name") or config.get("validate_by_name"):
            fields[name] = fields[alias or name]
    return fields


def _fields_of_dataclass(kind: Any) -> _Fields | None:
    """`_fields` of a dataclass that is none of pydantic's own, or has been none so far."""
    names: Mapping[str, object] | None = getattr(kind, "__dataclass_fields__", None)
    if names is None or "extra" in getattr(kind, "__pydantic_config__", {}):
        return None
    try:
        hints = get_type_hints(kind, include_extras=True)
    except Exception:  # noqa: BLE001 - annotations of foreign code; pydantic has read them in its own way
        return None
    if any(hasattr(hint, "__metadata__") for hint in hints.values()):
        return None  # perhaps an alias or a validator
    return {name: (name, True) for name in names}


def describe(error: BaseException) -> str:
    """A failure in words for the model: our own sentences as they are, others with their type."""
    text = text_of(error).strip()
    if isinstance(error, TimeoutError) and not text:
        return "it took too long"
    return text if isinstance(error, PersonaError) else f"{type(error).__name__}: {text}".rstrip(": ")


def as_output(value: Any, limit: int) -> ToolOutput:
    """What a tool returned: checked, bounded, and such that the tool cannot change it any more.

    Details are for the screen alone: such as are not a mapping are left out, with a word in the log.

    Raises:
        TypeError: it is neither text nor a `ToolOutput` with text.
    """
    if isinstance(value, str):
        return ToolOutput(output=shorten(value, limit))
    if not isinstance(value, ToolOutput) or not isinstance(value.output, str):
        raise TypeError(f"a tool must return text or a ToolOutput, this one returned {type(value).__name__}")
    return ToolOutput(
        output=shorten(value.output, limit),
        is_error=bool(value.is_error),
        details=_frozen_details(value.details),
        terminate=bool(value.terminate),
    )


def _frozen_details(details: object) -> Mapping[str, Any] | None:
    if details is None:
        return None
    try:
        if isinstance(details, Mapping):
            frozen: Mapping[str, Any] = freeze(details)
            return frozen
        problem = type(details).__name__
    except Exception as error:  # noqa: BLE001 - a mapping of foreign code, or one that holds itself
        problem = type(error).__name__
    log.error(
        "the details of a tool's output are not a mapping of JSON values and were left out: %s", problem
    )
    return None
