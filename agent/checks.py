"""What goes into a tool and comes out of it, checked: the input strictly, the output bounded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError

from agent.limits import shorten
from agent.tool import Tool, ToolOutput
from agent.turns import DEEPEST, freeze, nesting_exceeds, thaw


class InvalidInput(Exception):
    """The input does not validate; the message is for the model."""


def validate(tool: Tool, value: Mapping[str, Any]) -> BaseModel:
    """Return the tool's own validated copy of an input, strictly: nothing is turned into another type.

    Raises:
        InvalidInput: it does not fit.
    """
    try:
        if nesting_exceeds(value, DEEPEST):
            raise InvalidInput(f"Invalid input for {tool.name}: nested deeper than {DEEPEST} levels.")
        return tool.input.model_validate_json(json.dumps(thaw(value)), strict=True)
    except ValidationError as error:
        faults = [
            f"{'.'.join(str(part) for part in fault['loc']) or 'input'}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_context=False, include_input=False)[:8]
        ]
        raise InvalidInput(f"Invalid input for {tool.name}. {'; '.join(faults)}.") from None
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"Invalid input for {tool.name}: {error}.") from None


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
