"""Escapes of TOML's basic strings, decoded and written for a whole string in a few passes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

# Not compiled here: most starts meet no escape.
_ESCAPE = r'\\(?:[btnfr"]|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})'
_LINE_END = r"\\[ \t]*+\n[ \t\n]*+"
_ALL_VALID = (
    r'(?:[^\\]++|\\(?:[btnfr"\\]|u(?![Dd][89A-Fa-f])[0-9A-Fa-f]{4}'
    r"|U00(?!00[Dd][89A-Fa-f])(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4}|[ \t]*+\n))*+"
)
_NAMED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"'}
_SPARES = [chr(code) for code in range(0x0E, 0x20)]  # forbidden in a file, so only an escape can mean one
CONTROL = r"[\x00-\x08\x0b-\x1f\x7f]"
"""What TOML takes in no string."""

HIDDEN = (
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufeff\ufff9-\ufffb\U000e0000-\U000e01ef]"
)
"""What would stand in a file without being seen, or turn round how the rest of its line is read."""

_ANY = r"\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]{2}|[\s\S])"
_KINDS_LIMIT = 64
_HABITS_LIMIT = 256


def unescaped(body: str, *, block: bool) -> str | None:
    """Return what the inside of a basic string stands for, or None where that is for `tomllib` to say.

    Args:
        body: without its quotes, line ends as LF, no control characters but tabs and newlines.
        block: whether it stood in three quotes, where a backslash swallows the line's end.
    """
    if "\\" not in body:
        return body
    if not re.fullmatch(_ALL_VALID, body):
        return None
    spare = next((mark for mark in _SPARES if not _may_mean(body, mark)), None)
    if spare is None:
        return None
    text = body.replace("\\\\", spare)  # every backslash that is left starts another escape
    if re.search(_LINE_END, text):
        if not block:
            return None
        text = re.sub(_LINE_END, "", text)
    for _ in range(_KINDS_LIMIT):
        found = re.search(_ESCAPE, text)
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


def habits(body: str, decode: Callable[[str], str]) -> dict[str, str]:
    """Return which characters the inside of a basic string never shows as themselves, with how it writes them.

    Quotes, backslashes, newlines and plain ASCII are not among them: how those are written depends on where they stand.

    Args:
        body: without its quotes.
        decode: returns what an escape stands for.
    """
    if "\\" not in body:
        return {}
    bare = re.sub(_ANY, "", body)
    found = {
        decode(escape): escape for escape in sorted(set(re.findall(_ANY, body)), reverse=True)[:_HABITS_LIMIT]
    }
    return {
        sign: escape
        for sign, escape in found.items()
        if len(sign) == 1 and sign != "\n" and not " " <= sign <= "~" and sign not in bare
    }


def with_hidden_escaped(text: str, written: Mapping[str, str]) -> str:
    r"""Return the text with what would not be seen in a file, but tab and newline, as `\r` or `\uXXXX`.

    Args:
        text: the inside of a basic string, its backslashes and quotes escaped.
        written: what `habits` says of the string that is replaced.
    """
    for sign, escape in written.items():
        text = text.replace(sign, escape)
    return re.sub(HIDDEN, lambda found: _escape_of(found[0]), text)


@cache
def _escape_of(hidden: str) -> str:
    code = ord(hidden)
    return "\\r" if code == 0x0D else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
