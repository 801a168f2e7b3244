"""JSON of other programs as plain data: what JSON does not have, keys given twice and depth without end are refused. Pure."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, NoReturn

from personas.formats.text import text_of
from personas.formats.types import Unreadable

_MOST_DIGITS = 18


def load_json(content: bytes | str) -> Any:
    """Return the data of a JSON text; a number too large for TOML is its text.

    Raises:
        Unreadable: it is not JSON, or says a key twice in one object.
    """
    text = content if isinstance(content, str) else text_of(content)
    try:
        return json.loads(
            text, parse_int=_integer, parse_float=_number, parse_constant=_refused, object_pairs_hook=_object
        )
    except json.JSONDecodeError as error:
        raise Unreadable(f"it is not JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise Unreadable("it nests too deeply to be read") from None


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MOST_DIGITS else digits


def _number(text: str) -> float | str:
    value = float(text)
    return value if abs(value) != float("inf") else text


def _refused(word: str) -> NoReturn:
    raise Unreadable(f"it is not JSON: {word} is not a number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise Unreadable(f"an object has the key {twice[:60]!r} twice")
    return found


def is_json_object(content: bytes) -> bool:
    """Whether a file begins as a JSON object does; nothing of it is read."""
    return content[:100].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
