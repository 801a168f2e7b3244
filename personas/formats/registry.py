"""All formats, in the order in which a file is shown to them; each module is imported on use."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from personas.errors import InvalidValue
from personas.formats.types import Format

MODULES = (
    "card",
    "lorebook",
    "characters",
    "promptfoo",
    "llm",
    "ollama",
    "prompty",
    "openwebui",
    "prompts_csv",
    "aichat",
    "inspect_task",
    "skill",
    "fabric",
    "codex",
    "claude",
    "markdown",
)
"""The modules of this package that have `FORMATS`. Who knows a file by a mark of its own comes before who guesses."""


@cache
def formats() -> tuple[Format, ...]:
    """Return all formats, in the order in which they are asked."""
    return tuple(one for module in MODULES for one in import_module(f"personas.formats.{module}").FORMATS)


def format_named(name: str) -> Format:
    """Return the format of a name.

    Raises:
        InvalidValue: there is none; the message names them all.
    """
    for one in formats():
        if one.name == name:
            return one
    raise InvalidValue(f"There is no format {name!r}; there are {', '.join(one.name for one in formats())}.")


def format_of(content: bytes, name: str) -> Format | None:
    """Return the format of a file, None where no format knows it.

    Args:
        content, name: see `Format.read`.
    """
    return next((one for one in formats() if one.read is not None and one.fits(content, name)), None)
