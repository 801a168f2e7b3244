"""Validation of tools: their input strictly, their output in type and length."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from pydantic import BaseModel, ValidationError

from agent.core.errors import InvalidInput, PersonaError
from agent.core.limits import shorten
from agent.core.redaction import text_of
from agent.core.tool import ToolOutput
from agent.core.turns import DEEPEST, freeze, nesting_exceeds, thaw

_JSON = json.JSONEncoder(allow_nan=False)


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

    Raises:
        InvalidInput: it does not fit; a field that its model does not know does not fit either.
    """
    try:
        if nesting_exceeds(value, DEEPEST):
            raise InvalidInput(f"Invalid input for {tool.name}: nested deeper than {DEEPEST} levels.")
        return tool.input.model_validate_json(_JSON.encode(thaw(value)), strict=True, extra="forbid")
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)[:8]
        words = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'input'}: "
            f"{'No such field' if fault['type'] == 'extra_forbidden' else fault['msg']}"
            for fault in faults
        )
        raise InvalidInput(f"Invalid input for {tool.name}. {words}.") from None
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"Invalid input for {tool.name}: {text_of(error)}.") from None


def describe(error: Exception) -> str:
    """A failure in words for the model: our own sentences as they are, others with their type."""
    text = text_of(error).strip()
    if isinstance(error, TimeoutError) and not text:
        return "it took too long"
    return text if isinstance(error, PersonaError) else f"{type(error).__name__}: {text}".rstrip(": ")


def as_output(value: Any, limit: int) -> ToolOutput:
    """What a tool returned: checked, bounded, and such that the tool cannot change it any more.

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
        details=None if value.details is None else freeze(value.details),
        terminate=bool(value.terminate),
    )
