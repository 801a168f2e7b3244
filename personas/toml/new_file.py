"""The text of a TOML file that is new: values first, then tables under headers of their own, as a person would write them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from personas.errors import InvalidValue
from personas.toml.parse import parse
from personas.toml.render import plain, render_key, render_value


def new_text(fields: Mapping[str, Any], *, in_braces: Collection[str] = ()) -> str:
    """Return a TOML text that reads back as `fields`.

    Args:
        fields: plain data, tables last.
        in_braces: top keys, lists of tables, of whose elements all that is in them is written as values.

    Raises:
        InvalidValue: TOML cannot say it.
    """
    fields = plain(fields)
    text = "\n".join(_lines((), fields, in_braces)).strip("\n") + "\n"
    if parse(text) != fields:
        raise InvalidValue("It holds a value that TOML cannot represent.")
    return text


def _lines(path: tuple[str, ...], table: Mapping[str, Any], in_braces: Collection[str]) -> Iterator[str]:
    inner = (
        {}
        if path[:1] and path[0] in in_braces
        else {key: one for key, one in table.items() if _is_under_headers(one)}
    )
    yield from (f"{render_key(key)} = {render_value(one)}" for key, one in table.items() if key not in inner)
    for key, value in inner.items():
        header = ".".join(map(render_key, (*path, key)))
        for one in value if isinstance(value, list) else [value]:
            if isinstance(value, list):
                yield from ("", f"[[{header}]]")
            elif not one or not all(map(_is_under_headers, one.values())):
                yield from ("", f"[{header}]")
            yield from _lines((*path, key), one, in_braces)


def _is_under_headers(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, dict) for one in value)
    return isinstance(value, dict)
