"""Reading a TOML text as data: `tomllib` with its sharp edges covered.

Refuses what would cost `tomllib` too much time or stack, and turns its errors into `BrokenFile`.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from personas.errors import BrokenFile

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
_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")


def parse(text: str) -> dict[str, Any]:
    """Return the data of a TOML text; a leading U+FEFF is ignored.

    Raises:
        BrokenFile: the text is not TOML, or nests deeper than `MAX_DEPTH`.
    """
    _refuse_depth(text)
    try:
        return tomllib.loads(text.removeprefix(BOM))
    except tomllib.TOMLDecodeError as error:
        raise _as_broken_file(str(error), text) from error
    except RecursionError as error:
        raise BrokenFile("The file nests too deeply to be read") from error
    except ValueError as error:  # for example an integer of more digits than Python converts
        raise BrokenFile(f"The file holds a value that cannot be read: {error}") from error


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Return the 1-based line and column of a character offset; a leading U+FEFF has no column."""
    line_start = text.rfind("\n", 0, offset) + 1
    column = offset - line_start + 1
    if line_start == 0 and text.startswith(BOM):
        column = max(column - 1, 1)
    return text.count("\n", 0, offset) + 1, column


def _as_broken_file(message: str, text: str) -> BrokenFile:
    """Take the position out of a tomllib message ("… (at line 3, column 5)")."""
    found = _POSITION.search(message)
    if found is None:
        return BrokenFile(message)
    if found[1] is None:
        line, column = line_and_column(text, len(text))
    else:
        line, column = int(found[1]), int(found[2])
    return BrokenFile(message[: found.start()], line, column)


def _refuse_depth(text: str) -> None:
    """Raise BrokenFile where brackets and key parts add up to more than `MAX_DEPTH` levels.

    One linear pass over the tokens, before `tomllib` sees the text. Where the text stops making sense the
    pass stops: `tomllib` stops there too, and says why.
    """
    containers: list[tuple[str, int]] = []  # open brackets of a value, each with the depth around it
    table = base = 0  # depth of the current table; depth around the current key
    parts = 1  # parts of the current key
    header_brackets = 0
    in_value = False
    for token in _TOKEN.finditer(text):
        if token.lastgroup == "skip":
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
                return
            if base + parts > MAX_DEPTH:
                raise _too_deep(text, token.start())
            in_value = True
        elif mark == "\n":
            if not containers:
                base, parts, in_value, header_brackets = table, 1, False, 0
        elif mark == ",":
            if not containers:
                return
            parts, in_value = 1, containers[-1][0] == "["
        elif mark in "[{":
            if not in_value and not containers:
                header_brackets += 1
                if header_brackets > 2 or mark == "{":
                    return
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
                return
        else:  # a quote that opens no complete string
            return


def _too_deep(text: str, offset: int) -> BrokenFile:
    line, column = line_and_column(text, offset)
    return BrokenFile(f"The file nests deeper than {MAX_DEPTH} levels", line, column)
