"""The light colouring of a prompt: headings, lists, code, emphasis, tags and `{{macros}}`, line by line."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import lru_cache

from rich.style import Style
from rich.text import Text

LONGEST = 2_000
"""Characters of a line that are looked at; a longer line is plain beyond them."""

_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_LIST_MARK = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s")
_INLINE = re.compile(
    r"(?P<macro>\{\{[^{}\n]{1,80}\}\})"
    r"|(?P<code>`[^`\n]{1,200}`)"
    r"|(?P<strong>\*\*[^*\n]{1,200}\*\*)"
    r"|(?P<mark></?[A-Za-z][\w:-]{0,60}[^<>\n]{0,100}>)"
)


def style_row(shown: Text, line: str, start: int, end: int, style_of: Callable[[str], Style]) -> None:
    """Colour `shown`, which has a character for each of `line[start:end]`."""
    if start >= LONGEST:
        return
    for first, last, part in parts_of(line[:LONGEST]):
        if first < end and last > start:
            shown.stylize(style_of(part), max(first, start) - start, min(last, end) - start)


@lru_cache(maxsize=512)  # a line is asked for once for each row it is wrapped to, at each key
def parts_of(line: str) -> tuple[tuple[int, int, str], ...]:
    """Return (start, end, kind) of what is coloured in a line, a later one over those before; a heading has no end."""
    parts: list[tuple[int, int, str]] = []
    if _HEADING.match(line):
        parts.append((0, sys.maxsize, "heading"))
    elif found := _LIST_MARK.match(line):
        parts.append((found.start(), found.end(), "mark"))
    parts += [(found.start(), found.end(), found.lastgroup or "mark") for found in _INLINE.finditer(line)]
    return tuple(parts)
