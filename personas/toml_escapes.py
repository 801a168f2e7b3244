"""Escapes of TOML's basic strings, many at once: a whole string in a few passes instead of mark by mark."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r'\\(?:[btnfr"]|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})')
_LINE_END = re.compile(r"\\[ \t]*+\n[ \t\n]*+")
_ALL_VALID = re.compile(
    r'(?:[^\\]++|\\(?:[btnfr"\\]|u(?![Dd][89A-Fa-f])[0-9A-Fa-f]{4}'
    r"|U00(?!00[Dd][89A-Fa-f])(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4}|[ \t]*+\n))*+"
)
_NAMED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"'}
_SPARES = [chr(code) for code in range(0x0E, 0x20)]  # forbidden in a file, so only an escape can mean one
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_KINDS_LIMIT = 64


def unescaped(body: str, *, block: bool) -> str | None:
    """Return what the inside of a basic string stands for, or None where that is for `tomllib` to say.

    Args:
        body: without its quotes, line ends as LF, no control characters but tabs and newlines.
        block: whether it stood in three quotes, where a backslash swallows the line's end.
    """
    if "\\" not in body:
        return body
    if not _ALL_VALID.fullmatch(body):
        return None
    spare = next((mark for mark in _SPARES if not _may_mean(body, mark)), None)
    if spare is None:
        return None
    text = body.replace("\\\\", spare)  # every backslash that is left starts another escape
    if _LINE_END.search(text):
        if not block:
            return None
        text = _LINE_END.sub("", text)
    for _ in range(_KINDS_LIMIT):
        found = _ESCAPE.search(text)
        if found is None:
            return text.replace(spare, "\\")
        kind = found[0]
        value = _NAMED[kind[1]] if kind[1] in _NAMED else chr(int(kind[2:], 16))
        text = text.replace(kind, spare if value == "\\" else value)
    return None


def _may_mean(body: str, mark: str) -> bool:
    code = f"{ord(mark):02X}"
    return any(
        f"\\{start}{digits}" in body
        for start in ("u00", "U000000")
        for digits in {code, code.lower(), code.title()}
    )


def with_controls_escaped(text: str) -> str:
    r"""Return the text with its control characters but tab and newline as `\r` or `\uXXXX`."""
    while found := CONTROL.search(text):
        mark = found[0]
        text = text.replace(mark, "\\r" if mark == "\r" else f"\\u{ord(mark):04X}")
    return text
