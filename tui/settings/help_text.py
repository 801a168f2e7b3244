"""The settings as a person reads and writes them: what each is for, what it may be, its value as text. Pure."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from itertools import pairwise
from typing import Any, Literal, get_origin, get_type_hints

from tui.settings.schema import ConfigError, Settings, all_rules, check_values

Kind = Literal["text", "whole", "number", "switch", "choice", "table"]

AT_NEXT_MESSAGE = frozenset(
    {
        *("thinking", "max_tokens", "sent_turns", "retries", "max_steps", "max_minutes"),
        *("approval", "approval_of", "tasks_at_once", "tasks_begin_themselves"),
        *("task_tokens", "task_dollars", "task_pause"),
    }
)
"""What a run begins with: a change holds from the next message."""


@cache
def explanations() -> dict[str, str]:
    """Return by setting what stands below its field in the class."""
    tree = ast.parse(inspect.getsource(Settings))
    body = tree.body[0].body  # type: ignore[attr-defined]  # a class
    found: dict[str, str] = {}
    for node, below in pairwise(body):
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
        ):
            paragraphs = inspect.cleandoc(str(below.value.value)).split("\n\n")
            found[node.target.id] = "\n\n".join(" ".join(lines.split("\n")) for lines in paragraphs)
    return found


def names() -> list[str]:
    """Return all settings in the order of the class."""
    return list(Settings._fields)


@cache
def kind(name: str) -> Kind:
    """Return what sort of value a setting has."""
    if all_rules()[name].choices:
        return "choice"
    hint = get_type_hints(Settings)[name]
    kinds: dict[Any, Kind] = {bool: "switch", int: "whole", float: "number", dict: "table"}
    return kinds.get(get_origin(hint) or hint, "text")


def shown(value: object) -> str:
    """Return a value as it stands in the list."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} = {item}" for name, item in value.items()) or "–"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) or "–"


def written(name: str, text: str) -> Any:
    """Return the value that a text stands for.

    Raises:
        ConfigError: it stands for none of this setting; the message says what would.
    """
    text = text.strip()
    value: Any = text
    try:
        if kind(name) == "whole":
            value = int(text)
        elif kind(name) == "number":
            value = float(text.replace(",", "."))
    except ValueError:
        raise ConfigError(
            f"{name} must be {'a whole number' if kind(name) == 'whole' else 'a number'}"
        ) from None
    if isinstance(value, float) and not value < float("inf"):
        raise ConfigError(f"{name} must be a number")
    check_values({name: value})
    return value
