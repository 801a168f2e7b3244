"""Reading a TOML text as data: `tomllib` with its sharp edges covered.

Refuses what would cost `tomllib` too much time or stack, and turns its errors into `BrokenFile`.
"""

from __future__ import annotations

import re
import secrets
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from personas.errors import BrokenFile
from personas.toml.escapes import unescaped

MAX_DEPTH = 100
"""How many levels a value may lie below the top of a file, counting every part of a dotted key."""

BOM = "\ufeff"

_TOKEN = re.compile(
    r'(?P<skip>"""[^"\\]*+(?:(?:\\[\s\S]|"{1,2}(?!"))[^"\\]*+)*+"{3,5}'
    r"|'''[^']*+(?:'{1,2}(?!')[^']*+)*+'{3,5}"
    r'|"(?!"")[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"'
    r"|'(?!'')[^'\n]*+'"
    r"|\#[^\n]*+)"
    r"|[\"']|[\[\]{}.=]|,+|\n+"
)
_POSITION = r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z"
_LONG_STRING = 512  # characters; `tomllib` takes a string character by character
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)")  # in any string
_DIGITS_LIMIT = 4300  # Python converts no longer ones; TOML promises 64 bits
_LONG_NUMBER = rf"{_TOKEN.pattern}|(?<!\w)(?P<number>[0-9][0-9_]{{{_DIGITS_LIMIT},}}+)(?![.\w])"

_parsed: ContextVar[dict[str, dict[str, Any]] | None] = ContextVar("parsed", default=None)


@contextmanager
def parsing_once() -> Iterator[None]:
    """Within this block each text is parsed once, however often it is asked for; nobody may change the data."""
    if _parsed.get() is not None:
        yield
        return
    token = _parsed.set({})
    try:
        yield
    finally:
        _parsed.reset(token)


def parse(text: str) -> dict[str, Any]:
    """Return the data of a TOML text; a leading U+FEFF is ignored.

    Raises:
        BrokenFile: the text is not TOML, or nests deeper than `MAX_DEPTH`.
    """
    known = _parsed.get()
    if known is None:
        return _parse(text)
    if text not in known:
        known[text] = _parse(text)
    return known[text]


def _parse(text: str) -> dict[str, Any]:
    long_strings = _look_through(text)
    try:
        if long_strings:
            try:
                return _parse_around(text, long_strings)
            except ValueError:
                pass  # now as it stands, for the right position
        return tomllib.loads(text.removeprefix(BOM))
    except tomllib.TOMLDecodeError as error:
        raise _as_broken_file(str(error), text) from error
    except RecursionError as error:
        raise BrokenFile("The file nests too deeply to be read") from error
    except ValueError as error:
        raise _unreadable_value(text) from error


def _parse_around(text: str, spans: list[tuple[int, int]]) -> dict[str, Any]:
    """Let `tomllib` read the text with a short stand-in for each long string."""
    mark = f"\0{secrets.token_hex(16)}:"
    values: dict[str, str] = {}
    pieces: list[str] = []
    pos = len(BOM) * text.startswith(BOM)
    for start, end in spans:
        quotes = 3 if text.startswith(('"""', "'''"), start) else 1
        value: str | None = text[start + quotes : end - quotes].replace("\r\n", "\n")
        assert value is not None
        if quotes == 3:
            value = value.removeprefix("\n")
        if text[start] == '"':
            value = unescaped(value, block=quotes == 3)
        if value is None:
            continue
        name = f"{mark}{len(values)}"
        values[name] = value
        pieces += (text[pos:start], f'"\\u0000{name[1:]}"')
        pos = end
    return dict(_filled(tomllib.loads("".join([*pieces, text[pos:]])), values))


def _filled(value: Any, strings: dict[str, str]) -> Any:
    """Return parsed data with the stand-ins replaced."""
    if isinstance(value, str):
        return strings.get(value, value)
    if isinstance(value, dict):
        return {key: _filled(item, strings) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, strings) for item in value]
    return value


def _unreadable_value(text: str) -> BrokenFile:
    """Say where a number stands that Python refuses to convert."""
    for token in re.finditer(_LONG_NUMBER, text):
        if token["number"] is not None:
            place = line_and_column(text, token.start())
            return BrokenFile("This number has too many digits", *place)
    return BrokenFile("The file holds a value that cannot be read")


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Return the 1-based line and column of a character offset; a leading U+FEFF has no column."""
    line_start = text.rfind("\n", 0, offset) + 1
    column = offset - line_start + 1
    if line_start == 0 and text.startswith(BOM):
        column = max(column - 1, 1)
    return text.count("\n", 0, offset) + 1, column


def _as_broken_file(message: str, text: str) -> BrokenFile:
    """Take the position out of a tomllib message ("… (at line 3, column 5)")."""
    found = re.search(_POSITION, message)
    if found is None:
        return BrokenFile(message)
    if found[1] is None:
        line, column = line_and_column(text, len(text))
    else:
        line, column = int(found[1]), int(found[2])
    return BrokenFile(message[: found.start()], line, column)


def _look_through(text: str) -> list[tuple[int, int]]:
    """Raise BrokenFile where brackets and key parts add up to more than `MAX_DEPTH` levels.

    One linear pass over the tokens, before `tomllib` sees the text. Where the text stops making sense the
    pass stops: `tomllib` stops there too, and says why.

    Returns:
        Where the long strings stand, as values, that have nothing forbidden in them.
    """
    long_strings: list[tuple[int, int]] = []
    containers: list[tuple[str, int]] = []  # open brackets of a value, each with the depth around it
    table = base = 0  # depth of the current table; depth around the current key
    parts = 1  # parts of the current key
    header_brackets = 0
    in_value = False
    for token in _TOKEN.finditer(text):
        if token.lastgroup == "skip":
            start, end = token.span()
            if end - start >= _LONG_STRING and in_value and _is_sound_string(text, start, end):
                long_strings.append((start, end))
            continue
        mark = token[0][0]
        if mark == ".":
            if in_value:
                continue
            parts += 1
            if base + parts > MAX_DEPTH:
                raise _too_deep(text, token.start())
        elif mark == "=":
            if in_value:
                return []
            if base + parts > MAX_DEPTH:
                raise _too_deep(text, token.start())
            in_value = True
        elif mark == "\n":
            if not containers:
                base, parts, in_value, header_brackets = table, 1, False, 0
        elif mark == ",":
            if not containers:
                return []
            parts, in_value = 1, containers[-1][0] == "["
        elif mark in "[{":
            if not in_value and not containers:
                header_brackets += 1
                if header_brackets > 2 or mark == "{":
                    return []
                base, parts = 0, 1
                continue
            containers.append((mark, base))
            base, parts, in_value = base + parts, 1, mark == "["
            if base + parts > MAX_DEPTH:
                raise _too_deep(text, token.start())
        elif mark in "]}":
            if containers:
                _, base = containers.pop()
                in_value = True
            elif header_brackets:
                table = parts
            else:
                return []
        else:  # a quote that opens no complete string
            return []
    return long_strings


def _is_sound_string(text: str, start: int, end: int) -> bool:
    """Whether a token is a string and not a comment, with nothing forbidden in it."""
    return text[start] != "#" and not _FORBIDDEN.search(text, start, end)


def _too_deep(text: str, offset: int) -> BrokenFile:
    line, column = line_and_column(text, offset)
    return BrokenFile(f"The file nests deeper than {MAX_DEPTH} levels", line, column)
